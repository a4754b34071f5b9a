//! Reads tables, sources and the ledger with SQL: `oncemore query`.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::execution::SendableRecordBatchStream;
use oncemore_project::Kind;

use crate::error::RunError;
use crate::task;
use crate::workspace::Workspace;

/// Runs one SELECT over the project's tables and sources.
///
/// # Errors
/// SQL that can't be planned, or an input that can't be read.
pub async fn query(workspace: &Workspace, sql: &str) -> Result<SendableRecordBatchStream, RunError> {
    let mut inputs: Vec<(String, Arc<dyn TableProvider>)> = Vec::new();
    for model in workspace.project.models.iter().filter(|model| model.kind != Kind::View) {
        let name = model.name.to_string();
        inputs.push((name.clone(), task::whole_input(workspace, &name)?));
        inputs.push((format!("{name}__slices"), workspace.slices_table(model)?));
    }
    for name in workspace.sources.keys() {
        inputs.push((name.clone(), task::whole_input(workspace, name)?));
    }
    Ok(workspace.engine()?.query(sql, inputs).await?)
}
