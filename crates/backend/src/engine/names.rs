//! What names in SQL mean: inputs, views and functions. Nothing else can be named, so SQL reaches no file.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Result as DfResult, TableReference};
use datafusion::execution::context::SessionState;
use datafusion::logical_expr::planner::{
    ContextProvider, ExprPlanner, PlannerResult, RawAggregateExpr, RawWindowExpr, TypePlanner,
};
use datafusion::logical_expr::{
    AggregateUDF, Expr, LogicalPlan, ScalarUDF, TableProviderFilterPushDown, TableSource, WindowUDF,
};

use super::{EngineError, ErrorKind, functions};
use crate::error::nearest;

/// A name as SQL takes it, whatever letters it has.
pub fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// An input without rows, for analysis: takes every filter, so that the plan shows what reaches the scan.
#[derive(Debug)]
struct SchemaSource(SchemaRef);

impl TableSource for SchemaSource {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.0)
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> DfResult<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Exact; filters.len()])
    }
}

pub(super) fn schema_source(schema: &SchemaRef) -> Arc<dyn TableSource> {
    Arc::new(SchemaSource(Arc::clone(schema)))
}

/// A view: its plan takes its place.
struct ViewSource {
    schema: SchemaRef,
    plan: LogicalPlan,
}

impl TableSource for ViewSource {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn get_logical_plan(&'_ self) -> Option<Cow<'_, LogicalPlan>> {
        Some(Cow::Borrowed(&self.plan))
    }
}

/// The names that one query sees.
pub(super) struct Names<'a> {
    state: &'a SessionState,
    planners: Vec<Arc<dyn ExprPlanner>>,
    tables: BTreeMap<String, Arc<dyn TableSource>>,
    /// The first refused function that the SQL called: the planner itself only says "unknown".
    refused: Mutex<Option<EngineError>>,
}

impl<'a> Names<'a> {
    pub(super) fn new(state: &'a SessionState, sources: Vec<(String, Arc<dyn TableSource>)>) -> Self {
        let planners = state.expr_planners().to_vec();
        Names { state, planners, tables: sources.into_iter().collect(), refused: Mutex::new(None) }
    }

    /// Tells calls apart that differ in a cast alone: DataFusion names `sum(v)` and `sum(CAST(v AS REAL))` alike.
    pub(super) fn name_casts(&mut self) {
        self.planners.insert(0, Arc::new(NamedCasts));
    }

    /// Makes a planned view known to what is planned next.
    pub(super) fn add_view(&mut self, name: &str, plan: LogicalPlan) {
        let schema = Arc::new(plan.schema().as_arrow().clone());
        self.tables.insert(name.to_owned(), Arc::new(ViewSource { schema, plan }));
    }

    /// The error that hides behind a failure of the planner.
    pub(super) fn take_refusal(&self) -> Option<EngineError> {
        self.refused.lock().ok().and_then(|mut refused| refused.take())
    }

    fn refuse(&self, name: &str) {
        if let (Some(error), Ok(mut refused)) = (functions::refusal(name), self.refused.lock()) {
            refused.get_or_insert(error);
        }
    }
}

/// Names the arguments of calls by all that they are.
#[derive(Debug)]
struct NamedCasts;

impl NamedCasts {
    fn named(args: Vec<Expr>) -> Vec<Expr> {
        let is_cast = |expr: &Expr| matches!(expr, Expr::Cast(_) | Expr::TryCast(_));
        let name = |arg: Expr| {
            let casts = arg.exists(|inner| Ok(is_cast(inner))).unwrap_or(false);
            let text = arg.to_string();
            if casts { arg.alias(text) } else { arg }
        };
        args.into_iter().map(name).collect()
    }
}

impl ExprPlanner for NamedCasts {
    fn plan_aggregate(&self, call: RawAggregateExpr) -> DfResult<PlannerResult<RawAggregateExpr>> {
        let args = NamedCasts::named(call.args);
        Ok(PlannerResult::Original(RawAggregateExpr { args, ..call }))
    }

    fn plan_window(&self, call: RawWindowExpr) -> DfResult<PlannerResult<RawWindowExpr>> {
        let args = NamedCasts::named(call.args);
        Ok(PlannerResult::Original(RawWindowExpr { args, ..call }))
    }
}

impl ContextProvider for Names<'_> {
    fn get_table_source(&self, name: TableReference) -> DfResult<Arc<dyn TableSource>> {
        let name = name.to_string();
        if let Some(source) = self.tables.get(&name) {
            return Ok(Arc::clone(source));
        }
        let unknown = EngineError::new(ErrorKind::UnknownTable, format!("no input `{name}`"));
        let near = nearest(&name, self.tables.keys().map(String::as_str));
        Err(match near {
            Some(near) => unknown.help(format!("did you mean `{near}`?")),
            None => unknown.help("FROM names models and sources of the project, nothing else"),
        }
        .into())
    }

    fn get_table_function_source(&self, name: &str, _: Vec<Expr>) -> DfResult<Arc<dyn TableSource>> {
        Err(EngineError::new(
            ErrorKind::Refused,
            format!("`{name}(…)` in FROM: table functions are not allowed"),
        )
        .help("declare a source in oncemore.yml and name it in FROM")
        .into())
    }

    fn get_expr_planners(&self) -> &[Arc<dyn ExprPlanner>] {
        &self.planners
    }

    fn get_type_planner(&self) -> Option<Arc<dyn TypePlanner>> {
        Some(Arc::new(super::session::Types))
    }

    fn get_function_meta(&self, name: &str) -> Option<Arc<ScalarUDF>> {
        let found = self.state.scalar_functions().get(name).cloned();
        if found.is_none() {
            self.refuse(name);
        }
        found
    }

    fn get_aggregate_meta(&self, name: &str) -> Option<Arc<AggregateUDF>> {
        let found = self.state.aggregate_functions().get(name).cloned();
        if found.is_none() {
            self.refuse(name);
        }
        found
    }

    fn get_window_meta(&self, name: &str) -> Option<Arc<WindowUDF>> {
        self.state.window_functions().get(name).cloned()
    }

    fn get_variable_type(&self, _: &[String]) -> Option<DataType> {
        None
    }

    fn options(&self) -> &ConfigOptions {
        self.state.config_options()
    }

    fn udf_names(&self) -> Vec<String> {
        sorted(self.state.scalar_functions().keys())
    }

    fn udaf_names(&self) -> Vec<String> {
        sorted(self.state.aggregate_functions().keys())
    }

    fn udwf_names(&self) -> Vec<String> {
        sorted(self.state.window_functions().keys())
    }
}

fn sorted<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut names: Vec<String> = names.cloned().collect();
    names.sort();
    names
}
