//! Reads tables, sources and the ledger with SQL: `oncemore query`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use datafusion::catalog::{MemTable, TableProvider};
use datafusion::execution::SendableRecordBatchStream;
use oncemore_core::{Instant, Interval, Origin, Stamp};
use oncemore_project::{Kind, Model};

use crate::error::{ErrorKind, RunError};
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
    for (name, source) in &workspace.sources {
        // Rows must not be missing without a word; who does not ask this source need not hear of it.
        if let Some(broken) = source.index.broken().first() {
            if sql.contains(name.as_str()) {
                return Err(broken.error.clone().into());
            }
            continue;
        }
        inputs.push((name.clone(), task::whole_input(workspace, name)?));
    }
    Ok(workspace.engine()?.query(sql, inputs).await?)
}

/// The SQL of a model for one interval, with its values written in.
///
/// # Errors
/// No such model, or SQL that can't be planned.
pub fn compile(workspace: &Workspace, model: &str, interval: Interval) -> Result<String, RunError> {
    let facts = workspace
        .facts
        .get(model)
        .ok_or_else(|| RunError::usage(format!("no table is called `{model}`"), "`oncemore status` lists the models"))?;
    Ok(workspace.engine()?.compile(&facts.query, interval)?)
}

impl Workspace {
    /// The stamps of a model as a table: `<schema>.<name>__slices`.
    pub(crate) fn slices_table(&self, model: &Model) -> Result<Arc<dyn TableProvider>, RunError> {
        let stamps = self.warehouse.stamps(&model.name)?;
        let text = |value: &dyn Fn(&Stamp) -> String| -> ArrayRef {
            Arc::new(stamps.iter().map(|stamp| Some(value(stamp))).collect::<StringArray>())
        };
        let number = |value: &dyn Fn(&Stamp) -> u64| -> ArrayRef {
            Arc::new(stamps.iter().map(|stamp| i64::try_from(value(stamp)).ok()).collect::<Int64Array>())
        };
        // The whole of time has no edges: NULL.
        let instant = |value: &dyn Fn(&Stamp) -> Instant| -> ArrayRef {
            let edge = |instant: Instant| (instant != Instant::MIN && instant != Instant::MAX).then_some(instant.0);
            let micros: TimestampMicrosecondArray = stamps.iter().map(|stamp| edge(value(stamp))).collect();
            Arc::new(micros.with_timezone("UTC"))
        };
        let label = |stamp: &Stamp| {
            model.calendar.as_ref().map_or_else(|| "all".to_owned(), |calendar| calendar.label(stamp.interval))
        };
        let origin = |stamp: &Stamp| match &stamp.origin {
            Origin::Computed => "computed".to_owned(),
            Origin::Accepted { because } => format!("accepted: {because}"),
        };
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("interval", text(&label)),
            ("interval_start", instant(&|stamp| stamp.interval.start())),
            ("interval_end", instant(&|stamp| stamp.interval.end())),
            ("rows", number(&|stamp| stamp.fingerprint.rows)),
            ("bytes", number(&|stamp| stamp.bytes)),
            ("code_version", text(&|stamp| stamp.code.to_string())),
            ("written_by", text(&|stamp| stamp.written_by.to_string())),
            ("fingerprint", text(&|stamp| stamp.fingerprint.short())),
            ("epoch", text(&|stamp| stamp.epoch.to_string())),
            ("attempt", text(&|stamp| stamp.attempt.to_string())),
            ("changed_at", instant(&|stamp| stamp.changed_at)),
            ("verified_at", instant(&|stamp| stamp.verified_at)),
            ("engine", text(&|stamp| stamp.engine.clone())),
            ("origin", text(&origin)),
        ];
        let batch = RecordBatch::try_from_iter(columns)
            .map_err(|error| RunError::new(ErrorKind::Internal, error.to_string()))?;
        let table = MemTable::try_new(batch.schema(), vec![vec![batch]])?;
        Ok(Arc::new(table))
    }
}
