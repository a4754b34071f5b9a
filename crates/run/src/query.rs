//! Reads tables, sources and the ledger with SQL: `oncemore query`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use datafusion::catalog::{MemTable, TableProvider};
use datafusion::execution::SendableRecordBatchStream;
use oncemore_commit::AttemptRow;
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
        inputs.push((format!("{name}__slices"), workspace.slices_table(&[model])?));
    }
    let tables: Vec<&Model> =
        workspace.project.models.iter().filter(|model| model.kind != Kind::View).collect();
    inputs.push(("oncemore.slices".to_owned(), workspace.slices_table(&tables)?));
    inputs.push(("oncemore.attempts".to_owned(), workspace.attempts_table(&tables)?));
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
    let facts = workspace.facts.get(model).ok_or_else(|| {
        RunError::usage(format!("no table is called `{model}`"), "`oncemore status` lists the models")
    })?;
    Ok(workspace.engine()?.compile(&facts.query, interval)?)
}

impl Workspace {
    /// The stamps of one model, or of all, as a table: `<schema>.<name>__slices`, `oncemore.slices`.
    pub(crate) fn slices_table(&self, models: &[&Model]) -> Result<Arc<dyn TableProvider>, RunError> {
        let mut rows: Vec<(&Model, Stamp)> = Vec::new();
        for model in models {
            let stamps = self.warehouse.stamps(&model.name)?;
            rows.extend(stamps.iter().map(|stamp| (*model, stamp.clone())));
        }
        let text = |value: &dyn Fn(&(&Model, Stamp)) -> String| -> ArrayRef {
            Arc::new(rows.iter().map(|row| Some(value(row))).collect::<StringArray>())
        };
        let number = |value: &dyn Fn(&Stamp) -> u64| -> ArrayRef {
            Arc::new(rows.iter().map(|(_, stamp)| i64::try_from(value(stamp)).ok()).collect::<Int64Array>())
        };
        let instant =
            |value: &dyn Fn(&Stamp) -> Instant| instants(rows.iter().map(|(_, stamp)| Some(value(stamp))));
        let origin = |(_, stamp): &(&Model, Stamp)| match &stamp.origin {
            Origin::Computed => "computed".to_owned(),
            Origin::Accepted { because } => format!("accepted: {because}"),
        };
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("model", text(&|(model, _)| model.name.to_string())),
            ("interval", text(&|(model, stamp)| label(model, stamp.interval))),
            ("interval_start", instant(&|stamp| stamp.interval.start())),
            ("interval_end", instant(&|stamp| stamp.interval.end())),
            ("rows", number(&|stamp| stamp.fingerprint.rows)),
            ("bytes", number(&|stamp| stamp.bytes)),
            ("code_version", text(&|(_, stamp)| stamp.code.to_string())),
            ("written_by", text(&|(_, stamp)| stamp.written_by.to_string())),
            ("fingerprint", text(&|(_, stamp)| stamp.fingerprint.short())),
            ("epoch", text(&|(_, stamp)| stamp.epoch.to_string())),
            ("attempt", text(&|(_, stamp)| stamp.attempt.to_string())),
            ("changed_at", instant(&|stamp| stamp.changed_at)),
            ("verified_at", instant(&|stamp| stamp.verified_at)),
            ("engine", text(&|(_, stamp)| stamp.engine.clone())),
            ("origin", text(&origin)),
        ];
        table_of(columns)
    }

    /// Every attempt that the ledger knows: `oncemore.attempts`.
    fn attempts_table(&self, models: &[&Model]) -> Result<Arc<dyn TableProvider>, RunError> {
        let mut rows: Vec<(&Model, AttemptRow)> = Vec::new();
        for model in models {
            rows.extend(self.warehouse.all_attempts(&model.name)?.into_iter().map(|row| (*model, row)));
        }
        let text = |value: &dyn Fn(&(&Model, AttemptRow)) -> Option<String>| -> ArrayRef {
            Arc::new(rows.iter().map(value).collect::<StringArray>())
        };
        let number = |value: &dyn Fn(&AttemptRow) -> Option<u64>| -> ArrayRef {
            let value = |row: &AttemptRow| i64::try_from(value(row)?).ok();
            Arc::new(rows.iter().map(|(_, row)| value(row)).collect::<Int64Array>())
        };
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("model", text(&|(model, _)| Some(model.name.to_string()))),
            ("interval", text(&|(model, row)| Some(label(model, row.attempt.interval)))),
            ("epoch", text(&|(_, row)| Some(row.attempt.epoch.to_string()))),
            ("attempt", text(&|(_, row)| Some(row.attempt.id.to_string()))),
            ("state", text(&|(_, row)| Some(row.state.as_str().to_owned()))),
            ("code_version", text(&|(_, row)| Some(row.attempt.code.to_string()))),
            ("started", instants(rows.iter().map(|(_, row)| Some(row.started)))),
            ("ended", instants(rows.iter().map(|(_, row)| row.ended))),
            ("rows", number(&|row| row.rows)),
            ("bytes", number(&|row| row.bytes)),
            ("error", text(&|(_, row)| row.error.clone())),
        ];
        table_of(columns)
    }
}

fn label(model: &Model, interval: Interval) -> String {
    model.calendar.as_ref().map_or_else(|| "all".to_owned(), |calendar| calendar.label(interval))
}

/// Instants as TIMESTAMPTZ; the edges of the whole of time are NULL.
fn instants(values: impl Iterator<Item = Option<Instant>>) -> ArrayRef {
    let edge = |instant: &Instant| *instant != Instant::MIN && *instant != Instant::MAX;
    let micros: TimestampMicrosecondArray =
        values.map(|value| value.filter(edge).map(|instant| instant.0)).collect();
    Arc::new(micros.with_timezone("UTC"))
}

fn table_of(columns: Vec<(&str, ArrayRef)>) -> Result<Arc<dyn TableProvider>, RunError> {
    let batch = RecordBatch::try_from_iter(columns)
        .map_err(|error| RunError::new(ErrorKind::Internal, error.to_string()))?;
    Ok(Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?))
}
