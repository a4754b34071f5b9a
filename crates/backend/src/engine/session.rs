//! The session: which settings, functions and resources every query gets. None of it comes from outside.

use std::sync::Arc;

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::Result as DfResult;
use datafusion::execution::SessionStateDefaults;
use datafusion::execution::context::SessionState;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::planner::TypePlanner;
use datafusion::prelude::SessionConfig;
use datafusion::sql::sqlparser::ast::{DataType as SqlType, TimezoneInfo};

use super::memory::Shares;
use super::{EngineError, EngineOptions};

/// A session as every query sees it.
pub(super) fn state(options: &EngineOptions) -> Result<SessionState, EngineError> {
    let spill = DiskManagerBuilder::default()
        .with_mode(DiskManagerMode::Directories(vec![options.spill_dir.clone()]));
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(Shares::new(options.memory_bytes, options.partitions)))
        .with_disk_manager_builder(spill)
        .build_arc()?;
    if let Some(objects) = &options.objects {
        runtime.register_object_store(ObjectStoreUrl::local_filesystem().as_ref(), Arc::clone(objects));
    }
    let state = SessionStateBuilder::new()
        .with_session_id("oncemore".to_owned())
        .with_config(config(options))
        .with_runtime_env(runtime)
        .with_expr_planners(SessionStateDefaults::default_expr_planners())
        .with_type_planner(Arc::new(Types))
        .with_scalar_functions(super::functions::scalar())
        .with_aggregate_functions(super::functions::aggregate())
        .with_window_functions(super::functions::window())
        .with_analyzer_rule(Arc::new(super::checked::CheckedArithmetic))
        .with_physical_optimizer_rules(super::pushdown::rules())
        .build();
    Ok(state)
}

fn config(options: &EngineOptions) -> SessionConfig {
    let partitions = options.partitions.max(1);
    let mut config = SessionConfig::new()
        .with_target_partitions(partitions)
        .with_batch_size(options.batch_size.max(1))
        .with_information_schema(false)
        .with_create_default_catalog_and_schema(false);
    let settings = config.options_mut();
    settings.execution.time_zone = Some("UTC".to_owned());
    settings.sql_parser.enable_ident_normalization = true;
    settings.sql_parser.collect_spans = true;
    settings.optimizer.enable_dynamic_filter_pushdown = false;
    settings.optimizer.enable_topk_dynamic_filter_pushdown = false;
    settings.optimizer.enable_join_dynamic_filter_pushdown = false;
    settings.optimizer.enable_aggregate_dynamic_filter_pushdown = false;
    // Each spilling sort keeps this much aside for its merge; with little memory the default starves it.
    let reserve = (options.memory_bytes / (partitions * 16)).min(10 << 20);
    settings.execution.sort_spill_reservation_bytes = reserve;
    // What a sort holds is sorted in one piece, not merged from its batches by row keys: that would need memory that
    // nothing keeps aside. Beyond this size a piece's texts could overflow their places, and there is memory.
    settings.execution.sort_in_place_threshold_bytes = 512 << 20;
    config
}

/// Types as tables store them: microseconds, instants in UTC.
#[derive(Debug)]
pub(super) struct Types;

impl TypePlanner for Types {
    fn plan_type(&self, sql: &SqlType) -> DfResult<Option<DataType>> {
        Ok(match sql {
            SqlType::Timestamp(_, TimezoneInfo::None | TimezoneInfo::WithoutTimeZone)
            | SqlType::Datetime(_) => Some(DataType::Timestamp(TimeUnit::Microsecond, None)),
            SqlType::Timestamp(_, TimezoneInfo::Tz | TimezoneInfo::WithTimeZone) => {
                Some(DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())))
            }
            _ => None,
        })
    }
}
