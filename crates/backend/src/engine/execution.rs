//! Runs plans within the memory given. Sorts and aggregations spill by themselves; a hash join keeps one side in
//! memory. Where that does not fit, the same plan runs again with joins that sort and merge both sides, which spill.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::context::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, execute_stream, execute_stream_partitioned};
use futures::{StreamExt, TryStreamExt, stream};

/// The rows of a plan. With a hash join in it, waits for the first batch: what is to run out of memory does so while
/// it gathers the side that it keeps, before there are rows.
///
/// Which of the two ways was taken does not show in the rows: their order is the plan's, a sort at the top.
///
/// # Errors
/// Planning, and the first batch of a plan with joins.
pub(crate) async fn run(state: &SessionState, plan: &LogicalPlan) -> Result<SendableRecordBatchStream> {
    let physical = state.create_physical_plan(plan).await?;
    match hash_joins(physical.as_ref()) {
        HashJoins::None => execute_stream(physical, state.task_ctx()),
        hashed => run_joins(state, plan, physical, hashed).await,
    }
}

/// The same rows in no order, as streams that may be read at the same time.
///
/// # Errors
/// As [`run`].
pub(crate) async fn run_apart(
    state: &SessionState,
    plan: &LogicalPlan,
) -> Result<Vec<SendableRecordBatchStream>> {
    let physical = state.create_physical_plan(plan).await?;
    match hash_joins(physical.as_ref()) {
        HashJoins::None => execute_stream_partitioned(physical, state.task_ctx()),
        hashed => Ok(vec![run_joins(state, plan, physical, hashed).await?]),
    }
}

async fn run_joins(
    state: &SessionState,
    plan: &LogicalPlan,
    physical: Arc<dyn ExecutionPlan>,
    hashed: HashJoins,
) -> Result<SendableRecordBatchStream> {
    let mut rows = execute_stream(physical, state.task_ctx())?;
    match rows.next().await {
        Some(Err(error)) if hashed == HashJoins::Replaceable && ran_out(&error) => {
            drop(rows);
            let state = merging(state);
            let physical = state.create_physical_plan(plan).await?;
            execute_stream(physical, state.task_ctx())
        }
        first => {
            let schema = rows.schema();
            let all = stream::iter(first).chain(rows);
            Ok(Box::pin(RecordBatchStreamAdapter::new(schema, all)))
        }
    }
}

/// All rows of a plan that yields few.
///
/// # Errors
/// Planning and execution.
pub(crate) async fn collect(rows: DataFrame) -> Result<Vec<RecordBatch>> {
    let (state, plan) = rows.into_parts();
    run(&state, &plan).await?.try_collect().await
}

/// Whether a plan holds hash joins, and whether a merging join means the same as each of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HashJoins {
    None,
    Replaceable,
    /// `NOT IN`: the planner's merging join knows nothing of its rule for NULL.
    Needed,
}

fn hash_joins(plan: &dyn ExecutionPlan) -> HashJoins {
    let own = match plan.as_any().downcast_ref::<HashJoinExec>() {
        Some(join) if join.null_aware => HashJoins::Needed,
        Some(_) => HashJoins::Replaceable,
        None => HashJoins::None,
    };
    plan.children().into_iter().fold(own, |found, child| match (found, hash_joins(child.as_ref())) {
        (HashJoins::Needed, _) | (_, HashJoins::Needed) => HashJoins::Needed,
        (HashJoins::None, below) => below,
        (found, _) => found,
    })
}

fn ran_out(error: &DataFusionError) -> bool {
    matches!(error.find_root(), DataFusionError::ResourcesExhausted(_))
}

/// The same session with merging joins, which the planner makes for more than one partition alone.
fn merging(state: &SessionState) -> SessionState {
    let mut state = state.clone();
    let config = state.config_mut();
    let options = config.options_mut();
    options.optimizer.prefer_hash_join = false;
    options.execution.target_partitions = options.execution.target_partitions.max(2);
    state
}
