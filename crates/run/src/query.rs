//! Reads tables, sources and the ledger with SQL: `oncemore query`.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use datafusion::catalog::{MemTable, TableProvider};
use datafusion::execution::SendableRecordBatchStream;
use oncemore_backend::error::ErrorKind as EngineErrorKind;
use oncemore_backend::{EngineError, engine};
use oncemore_commit::{AttemptRow, CODE_VERSION, INTERVAL_START};
use oncemore_core::{Calendar, Instant, Interval, IntervalLength, Origin, Stamp};
use oncemore_project::{Kind, Model};

use crate::error::{ErrorKind, RunError};
use crate::workspace::Workspace;
use crate::{facts, task};

/// Stored columns that are there when named and no part of `*`.
const HIDDEN: [&str; 2] = [INTERVAL_START, CODE_VERSION];

/// Runs one SELECT over the project's tables, views and sources.
///
/// # Errors
/// SQL that can't be planned, or an input that can't be read.
pub async fn query(workspace: &Workspace, sql: &str) -> Result<SendableRecordBatchStream, RunError> {
    oncemore_project::check_depth(sql)
        .map_err(|(message, help)| RunError::new(ErrorKind::Config, message).help(help))?;
    let named = engine::named(sql, &HIDDEN).map_err(only_asks)?;
    let mut names: BTreeSet<String> = named.tables.into_iter().collect();
    let views = views_named(workspace, &mut names);
    let mut inputs: Vec<(String, Arc<dyn TableProvider>)> = Vec::new();
    let mut wide = Vec::new();
    for name in names {
        if let Some(table) = table_named(workspace, &name, named.hidden)? {
            if named.hidden && workspace.model(&name).is_some() {
                wide.push(name.clone());
            }
            inputs.push((name, table));
        } else if !views.iter().any(|(view, _)| *view == name) && name.contains('.') {
            return Err(unknown_table(workspace, &name));
        }
    }
    let narrow = |sql: &str| match wide.is_empty() {
        true => Ok(sql.to_owned()),
        false => engine::with_narrow_stars(sql, &wide, &HIDDEN),
    };
    let views = views.into_iter().map(|(name, sql)| Ok((name, narrow(&sql)?)));
    let views = views.collect::<Result<Vec<_>, RunError>>()?;
    let variables = facts::variables(workspace);
    workspace.engine()?.query_with(&narrow(sql)?, views, variables, inputs).await.map_err(|error| {
        let wants_interval = error.view.is_some() && error.message.starts_with("`:interval_");
        let converted = RunError::from(error);
        if wants_interval {
            converted.help("a view with an interval is read by slices: ask the model that reads it")
        } else {
            converted
        }
    })
}

/// The views among `names`, each after those that it reads; what they read joins `names`.
fn views_named(workspace: &Workspace, names: &mut BTreeSet<String>) -> Vec<(String, String)> {
    let mut views = Vec::new();
    // Models come after what they read: walking backward meets each view after all its readers.
    for model in workspace.project.models.iter().rev().filter(|model| model.kind == Kind::View) {
        let name = model.name.to_string();
        if names.contains(&name) {
            names.extend(model.inputs.iter().cloned());
            views.push((name, model.query.sql.clone()));
        }
    }
    views.reverse();
    views
}

/// The table, source or list of ours that is called `name`.
fn table_named(
    workspace: &Workspace,
    name: &str,
    hidden: bool,
) -> Result<Option<Arc<dyn TableProvider>>, RunError> {
    let tables = || workspace.project.models.iter().filter(|model| model.kind != Kind::View);
    if let Some(model) = tables().find(|model| model.name.as_str() == name) {
        return Ok(Some(match hidden {
            true => task::wide_table(workspace, model)?,
            false => task::whole_input(workspace, name)?,
        }));
    }
    if workspace.sources.contains_key(name) {
        return Ok(Some(task::whole_input(workspace, name)?));
    }
    let mut folds = tables().filter_map(|model| Some((model, model.fold.as_ref()?)));
    if let Some((model, fold)) = folds.clone().find(|(_, fold)| fold.log.as_str() == name) {
        return Ok(Some(task::changes_of(workspace, model, fold)?));
    }
    if let Some((model, fold)) = folds.find(|(_, fold)| fold.beside.as_str() == name) {
        return task::beside_of(workspace, model, fold);
    }
    if let Some(model) = tables().find(|model| format!("{}__slices", model.name) == name) {
        return Ok(Some(workspace.slices_table(&[model])?));
    }
    let all: Vec<&Model> = tables().collect();
    Ok(match name {
        "oncemore.slices" => Some(workspace.slices_table(&all)?),
        "oncemore.attempts" => Some(workspace.attempts_table(&all)?),
        _ => None,
    })
}

/// What is said of SQL that is no SELECT: the engine speaks of models.
fn only_asks(error: EngineError) -> RunError {
    if error.kind != EngineErrorKind::Refused {
        return error.into();
    }
    RunError::new(ErrorKind::Config, "`query` takes one SELECT, nothing else")
        .help("it asks and changes nothing; what tables hold is decided by their models: `oncemore run`")
}

fn unknown_table(workspace: &Workspace, name: &str) -> RunError {
    let models = workspace.project.models.iter().map(|model| model.name.to_string());
    let ours = ["oncemore.slices", "oncemore.attempts"].map(str::to_owned);
    let known: Vec<String> = models.chain(workspace.sources.keys().cloned()).chain(ours).collect();
    let near = oncemore_project::nearest(name, known.iter().map(String::as_str));
    RunError::new(ErrorKind::Config, format!("no table is called `{name}`")).help(near.map_or_else(
        || {
            "`oncemore status` lists the models; `oncemore.slices` and `oncemore.attempts` are there, too"
                .to_owned()
        },
        |near| format!("did you mean `{near}`?"),
    ))
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

/// The SQL of a view with those that it reads, and the label of the interval: that of a day in the project's zone,
/// where it needs one at all.
///
/// # Errors
/// An interval that is none, or is missing; SQL that can't be planned.
pub fn compile_view(
    workspace: &Workspace,
    view: &Model,
    interval: Option<&str>,
) -> Result<(String, String), RunError> {
    let calendar = Calendar::new(IntervalLength::Day, workspace.project.time_zone.clone());
    let mut query = facts::query_of(workspace, view, &workspace.facts)?;
    let (range, label) = match interval {
        None => (Interval::WHOLE, "all".to_owned()),
        Some(text) => {
            let range = calendar.parse_range(text).ok_or_else(|| {
                RunError::usage(
                    format!("`{text}` is no interval in {}", calendar.zone),
                    "write a day `2013-03-01` or a month `2013-03`",
                )
            })?;
            query.length = Some(calendar.length);
            (range, text.to_owned())
        }
    };
    let sql = workspace.engine()?.compile(&query, range).map_err(|error| {
        let wants_interval = interval.is_none() && error.message.starts_with("`:interval_");
        match wants_interval {
            true => RunError::usage(
                format!("view `{}` needs an interval: that of its reader", view.name),
                format!("`oncemore compile {} --interval 2013-03-01`", view.name),
            ),
            false => facts::config_error(workspace, view, &error),
        }
    })?;
    Ok((sql, label))
}

impl Workspace {
    /// The stamps of one model, or of all, as a table: `<schema>.<name>__slices`, `oncemore.slices`.
    pub(crate) fn slices_table(&self, models: &[&Model]) -> Result<Arc<dyn TableProvider>, RunError> {
        let mut rows: Vec<(&Model, Stamp)> = Vec::new();
        for model in models {
            let stamps = self.warehouse.stamps(model.sliced())?;
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
            rows.extend(self.warehouse.all_attempts(model.sliced())?.into_iter().map(|row| (*model, row)));
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
