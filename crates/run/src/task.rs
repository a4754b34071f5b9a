//! One task's way: render, compute, stage, audit. What comes out is ready to be published, and nothing else is.

use std::sync::Arc;

use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::prelude::{SessionContext, col};
use futures::StreamExt;
use oncemore_backend::changes::Condition;
use oncemore_backend::table::{self, DataFile, Keep};
use oncemore_backend::{audit, source};
use oncemore_commit::types::arrow_type;
use oncemore_commit::{
    Attempt, Audited, CODE_VERSION, CommitError, DELETED, DataFileRef, INTERVAL_START, Reducer, SliceWriter,
    Staged, TableHead,
};
use oncemore_core::{Audit, ColumnType, Digest, Digester, Interval, Pin, Read, SliceState, TableName};
use oncemore_project::{Fold, Kind, Model};
use tokio::task::{JoinError, JoinSet};

use crate::due::Label;
use crate::error::{ErrorKind, RunError};
use crate::execute::{Stop, TaskFailure};
use crate::facts::{Facts, input_zone};
use crate::fold::{self, Ties};
use crate::inputs::{InputCells, list_of};
use crate::kept;
use crate::workspace::Workspace;

/// A slice that is ready to be published.
pub(crate) struct Prepared {
    pub(crate) audited: Audited,
    /// Ties among its changes, where there are any.
    pub(crate) ties: Option<Ties>,
    /// Tables that were read whole, at the versions that they had then.
    pub(crate) pins: Vec<Pin>,
}

/// Computes and stages the slice of `interval`, and audits it.
pub(crate) async fn prepare(
    workspace: &Workspace,
    model: &Model,
    interval: Interval,
    attempt: &Attempt,
    stop: &Stop,
) -> Result<Prepared, Failed> {
    let facts = &workspace.facts[&model.name.to_string()];
    let inputs = inputs(workspace, model, facts, interval)?;
    let pins = inputs.iter().filter_map(|(_, input)| input.pin.clone()).collect();
    let inputs = inputs.into_iter().map(|(name, input)| (name, input.rows)).collect();
    let (staged, ties) = stage(workspace, model, facts, (interval, inputs), attempt, stop).await?;
    let rows = present(workspace, model, facts, staged_files(&staged))?;
    check(workspace, model, interval, rows).await?;
    Ok(Prepared { audited: staged.audited(), ties, pins })
}

/// Audits the published rows of a slice.
pub(crate) async fn audit_published(
    workspace: &Workspace,
    model: &Model,
    interval: Interval,
) -> Result<(), Failed> {
    let facts = &workspace.facts[&model.name.to_string()];
    let files =
        workspace.warehouse.head(model.sliced())?.map(|head| head.files(interval)).unwrap_or_default();
    let rows = present(workspace, model, facts, data_files(files)?)?;
    check(workspace, model, interval, rows).await
}

/// Why a task failed, before it is known for which slice.
pub(crate) struct Failed {
    error: RunError,
    audits: Vec<oncemore_core::AuditFailure>,
}

impl<E: Into<RunError>> From<E> for Failed {
    fn from(error: E) -> Self {
        Failed { error: error.into(), audits: Vec::new() }
    }
}

impl Failed {
    pub(crate) fn of(self, model: &TableName, interval: Interval, label: Label) -> TaskFailure {
        TaskFailure {
            model: model.clone(),
            interval,
            label,
            // The project was found right before; what a task meets is in the data.
            kind: if self.error.kind == ErrorKind::Config { ErrorKind::TaskFailed } else { self.error.kind },
            message: self.error.message,
            help: self.error.help,
            state: self.error.state.unwrap_or(SliceState::Unchanged),
            begun: true,
            audits: self.audits,
        }
    }
}

async fn stage(
    workspace: &Workspace,
    model: &Model,
    facts: &Facts,
    (interval, inputs): (Interval, Vec<(String, Arc<dyn TableProvider>)>),
    attempt: &Attempt,
    stop: &Stop,
) -> Result<(Staged, Option<Ties>), Failed> {
    let engine = workspace.engine()?;
    let streams = match model.fold {
        // Which of them count depends on no order, and those that do are ordered by key as they are stored.
        Some(_) => engine.compute_apart(&facts.query, interval, inputs).await?,
        None => vec![engine.compute(&facts.query, interval, inputs).await?],
    };
    let deleted = model.fold.as_ref().and_then(|fold| fold.deleted.as_deref());
    let session = deleted.map(|_| SessionContext::new_with_state(engine.session().clone()));
    let watched = |rows| {
        let rows = match (&model.kind, &model.time, &model.calendar) {
            (Kind::Slice | Kind::Merge | Kind::History, Some(time), Some(calendar)) => {
                audit::time_guard(rows, time, interval, &calendar.zone)?
            }
            _ => rows,
        };
        Ok(match deleted.zip(session.as_ref()) {
            Some((condition, session)) => {
                Condition::parse(session, &facts.schema, condition)?.mark(rows, DELETED)
            }
            None => rows,
        })
    };
    let streams = streams.into_iter().map(watched).collect::<Result<Vec<_>, Failed>>()?;
    let mut writer = SliceWriter::new(
        &workspace.warehouse,
        model.sliced(),
        interval,
        fold::stored_columns(model, facts),
        &model.key,
        attempt,
        model.code,
    )?;
    let reducer = match &model.fold {
        Some(own) => {
            let reducer = || fold::reducer(workspace, model, own, facts);
            let part = |rows| Ok((reducer()?, rows));
            let parts = streams.into_iter().map(part).collect::<Result<_, RunError>>()?;
            Some(take_in(parts, reducer()?, stop).await?)
        }
        None => {
            for mut rows in streams {
                while let Some(batch) = rows.next().await {
                    stop.check()?;
                    writer.write(&batch?)?;
                }
            }
            None
        }
    };
    // Would hold up a worker of the engine.
    let key = model.key.clone();
    let staged = tokio::task::spawn_blocking(move || -> Result<_, CommitError> {
        let reduced = match reducer {
            Some(reducer) => {
                let mut reduced = reducer.finish()?;
                writer.write_reduced(&mut reduced, &key)?;
                Some(reduced)
            }
            None => None,
        };
        Ok((writer.finish()?, reduced))
    });
    let (staged, reduced) = staged.await.map_err(|panic| ended_early(&panic))??;
    // What was staged in vain is removed.
    reduced.as_ref().map_or(Ok(()), |reduced| fold::check(model, reduced))?;
    Ok((staged, reduced.as_ref().and_then(Ties::of)))
}

fn ended_early(why: &JoinError) -> RunError {
    RunError::new(ErrorKind::Internal, format!("staging ended early: {why}"))
}

/// Changes of one slice, taken in side by side and then by `all`.
async fn take_in(
    parts: Vec<(Reducer, SendableRecordBatchStream)>,
    mut all: Reducer,
    stop: &Stop,
) -> Result<Reducer, Failed> {
    let mut tasks = JoinSet::new();
    for (mut reducer, mut rows) in parts {
        let stop = stop.clone();
        tasks.spawn(async move {
            while let Some(batch) = rows.next().await {
                stop.check()?;
                reducer.push(&batch?)?;
            }
            Ok::<Reducer, Failed>(reducer)
        });
    }
    // What fails ends the others.
    while let Some(part) = tasks.join_next().await {
        all.join(part.map_err(|panic| ended_early(&panic))??);
    }
    Ok(all)
}

/// Rows of a model's slice as audits see them: deletions are none.
fn present(
    workspace: &Workspace,
    model: &Model,
    facts: &Facts,
    files: Vec<DataFile>,
) -> Result<Arc<dyn TableProvider>, RunError> {
    let rows = table::provider(files, fold::stored_columns(model, facts), None);
    if model.fold.as_ref().is_none_or(|fold| fold.deleted.is_none()) {
        return Ok(rows);
    }
    let session = SessionContext::new_with_state(workspace.engine()?.session().clone());
    let there = session.read_table(rows)?.filter(col(DELETED).is_not_true())?;
    Ok(there.drop_columns(&[DELETED])?.into_view())
}

async fn check(
    workspace: &Workspace,
    model: &Model,
    interval: Interval,
    rows: Arc<dyn TableProvider>,
) -> Result<(), Failed> {
    // Changes that are folded were reduced to one a key.
    let key = if model.fold.is_some() { &[][..] } else { &model.key };
    if model.audits.is_empty() && key.is_empty() {
        return Ok(());
    }
    let own_name = model.called().to_string();
    let mut others = Vec::new();
    for name in tables_read(workspace, model) {
        others.push((name.clone(), whole_input(workspace, &name)?));
    }
    let session = SessionContext::new_with_state(workspace.engine()?.session().clone());
    let failures = audit::run(&session, &model.audits, rows, &own_name, key, others).await?;
    if failures.is_empty() {
        return Ok(());
    }
    let what = failures.iter().map(|failure| failure.audit.as_str()).collect::<Vec<_>>().join(", ");
    let next = match &model.rebuilds {
        Some(name) => format!("rebuild {name}"),
        None => format!("run {}{}", model.name, range_flags(model, interval)),
    };
    let error = RunError::new(ErrorKind::AuditFailed, format!("audit failed: {what}"))
        .help(format!("mend the model or its input, then `oncemore {next}`"));
    Err(Failed { error, audits: failures })
}

/// The flags that name one slice of a model.
fn range_flags(model: &Model, interval: Interval) -> String {
    let Some(calendar) = &model.calendar else { return String::new() };
    let label = calendar.label(interval);
    if calendar.parse_range(&label) == Some(interval) {
        return format!(" --interval {label}");
    }
    let wall = |instant| calendar.zone.wall(instant).to_string();
    let short = |text: String| text.strip_suffix("T00:00:00").map_or(text.clone(), str::to_owned);
    format!(" --from {} --to {}", short(wall(interval.start())), short(wall(interval.end())))
}

/// Tables and sources that a model's audits look at, beside the slice itself.
pub(crate) fn tables_read(workspace: &Workspace, model: &Model) -> Vec<String> {
    let named = |name: &String| model.audits.iter().any(|audit| looks_at(audit, name));
    // A view has no rows of its own, and may be part of another name in a query.
    let models = workspace.project.models.iter().filter(|model| model.kind != Kind::View);
    let names = models.map(|model| model.name.to_string()).chain(workspace.sources.keys().cloned());
    names.filter(|name| *name != model.called().to_string() && named(name)).collect()
}

/// Whether an audit looks at a table or source of that name, or may.
pub(crate) fn looks_at(audit: &Audit, name: &str) -> bool {
    match audit {
        Audit::Relationship { to, .. } => to == name,
        Audit::Sql { sql, .. } => sql.contains(name),
        _ => false,
    }
}

/// An input of a task, pinned to what its range covers now.
struct Pinned {
    rows: Arc<dyn TableProvider>,
    /// Which version that is, of a table that is read whole: another run may have published since the slice was assessed,
    /// and a stamp says what was read.
    pin: Option<Pin>,
}

/// The inputs of a task.
fn inputs(
    workspace: &Workspace,
    model: &Model,
    facts: &Facts,
    interval: Interval,
) -> Result<Vec<(String, Pinned)>, RunError> {
    let zone =
        model.calendar.as_ref().map_or_else(oncemore_core::Zone::utc, |calendar| calendar.zone.clone());
    let mut providers = Vec::with_capacity(facts.reads.len());
    for read in &facts.reads {
        if read.is_previous() {
            let before = model.calendar.as_ref().map(|calendar| calendar.previous(interval));
            let rows = previous(workspace, model, facts, before)?;
            providers.push((read.input.clone(), Pinned { rows, pin: None }));
            continue;
        }
        let range = read.range(interval, &zone, &input_zone(workspace, &read.input));
        let whole =
            workspace.model(&read.input).filter(|input| input.calendar.is_none() || input.fold.is_some());
        let pinned = match whole {
            Some(table) => whole_table(workspace, &table.name, read, range)?,
            None => Pinned { rows: demanded(workspace, read, range)?, pin: None },
        };
        providers.push((read.input.clone(), pinned));
    }
    Ok(providers)
}

/// A table that is read whole, with the version that is read.
fn whole_table(
    workspace: &Workspace,
    table: &TableName,
    read: &Read,
    range: Option<Interval>,
) -> Result<Pinned, RunError> {
    let mut stamps = workspace.warehouse.stamps(table)?;
    loop {
        let rows = demanded(workspace, read, range)?;
        let after = workspace.warehouse.stamps(table)?;
        if *after == *stamps {
            let columns = read.columns.as_deref();
            let version = InputCells::from_stamps(&stamps).version(range, columns, list_of(columns));
            return Ok(Pinned { rows, pin: Some(Pin { input: read.input.clone(), version }) });
        }
        // Somebody published in between.
        stamps = after;
    }
}

/// The slice before the own one, with the columns that the query may name.
fn previous(
    workspace: &Workspace,
    model: &Model,
    facts: &Facts,
    before: Option<Interval>,
) -> Result<Arc<dyn TableProvider>, RunError> {
    let head = workspace.warehouse.head(&model.name)?;
    let files = before.zip(head).map_or_else(Vec::new, |(before, head)| head.files(before));
    let name = facts.query.previous.as_ref();
    let input = facts.query.inputs.iter().find(|input| Some(&input.name) == name);
    let schema = input.map_or_else(|| Arc::clone(&facts.schema), |input| Arc::clone(&input.schema));
    Ok(table::provider(data_files(files)?, schema, None))
}

/// A table or source, all of it: not without a file that can't be read, whose rows would be missing without a word.
pub(crate) fn whole_input(workspace: &Workspace, name: &str) -> Result<Arc<dyn TableProvider>, RunError> {
    let broken = workspace.sources.get(name).and_then(|source| source.index.broken().first());
    if let Some(broken) = broken {
        return Err(broken.error.clone().into());
    }
    input(workspace, name, Some(Interval::WHOLE))
}

/// A table of ours, all of it, with the columns that are stored beside the user's.
pub(crate) fn wide_table(workspace: &Workspace, model: &Model) -> Result<Arc<dyn TableProvider>, RunError> {
    let facts = &workspace.facts[&model.name.to_string()];
    let ours = [(INTERVAL_START, ColumnType::TimestampTz), (CODE_VERSION, ColumnType::Text)]
        .map(|(name, kind)| Arc::new(Field::new(name, arrow_type(kind), true)));
    let head = workspace.warehouse.head(&model.name)?;
    let own = kept::columns_of(workspace, model, facts, head.as_ref())?;
    let fields: Vec<_> = own.fields().iter().cloned().chain(ours).collect();
    let files = head.map_or_else(Vec::new, |head| head.files(Interval::WHOLE));
    Ok(table::provider(data_files(files)?, Arc::new(Schema::new(fields)), None))
}

/// What a table or a source holds in a range, at the least.
pub(crate) fn input(
    workspace: &Workspace,
    name: &str,
    range: Option<Interval>,
) -> Result<Arc<dyn TableProvider>, RunError> {
    if let Some(loaded) = workspace.sources.get(name) {
        return Ok(source::provider(&workspace.store, &loaded.index, range, Some(&workspace.cache))?);
    }
    let (Some(model), Some(facts)) = (workspace.model(name), workspace.facts.get(name)) else {
        return Err(RunError::new(ErrorKind::Internal, format!("no input is called `{name}`")));
    };
    let head = workspace.warehouse.head(&model.name)?;
    let columns = kept::columns_of(workspace, model, facts, head.as_ref())?;
    published(workspace, model, (head, columns), range)
}

/// What a task reads of an input in a range. A table that waits to be built anew stands in for what it is to become: what
/// the task does not read of it may be there or not.
fn demanded(
    workspace: &Workspace,
    read: &Read,
    range: Option<Interval>,
) -> Result<Arc<dyn TableProvider>, RunError> {
    let (Some(model), Some(facts)) = (workspace.model(&read.input), workspace.facts.get(&read.input)) else {
        return input(workspace, &read.input, range);
    };
    let head = workspace.warehouse.head(&model.name)?;
    if kept::columns_of(workspace, model, facts, head.as_ref())? == facts.table {
        return published(workspace, model, (head, Arc::clone(&facts.table)), range);
    }
    if let Some(what) = kept::unmet(workspace, model, read)? {
        return Err(RunError::new(ErrorKind::Conflict, format!("`{}` waits for {what}", read.input)));
    }
    let files = range.zip(head).map_or_else(Vec::new, |(range, head)| head.files(range));
    Ok(table::provider(data_files(files)?, Arc::clone(&facts.table), None))
}

fn published(
    workspace: &Workspace,
    model: &Model,
    (head, columns): (Option<TableHead>, SchemaRef),
    range: Option<Interval>,
) -> Result<Arc<dyn TableProvider>, RunError> {
    let files = range.zip(head).map_or_else(Vec::new, |(range, head)| head.files(range));
    // Only tables of one slice are read whole again and again.
    let whole = model.calendar.is_none() || model.fold.is_some();
    let keep = if whole {
        let (cache, name) = (Arc::clone(&workspace.cache), model.name.to_string());
        Some(Keep { cache, name, version: version_of(&files)? })
    } else {
        None
    };
    Ok(table::provider(data_files(files)?, columns, keep))
}

fn version_of(files: &[DataFileRef]) -> Result<Digest, RunError> {
    let mut digester = Digester::new("files");
    for file in files {
        digester = digester.field("path", &file.path);
        for path in file.delete_files()? {
            digester = digester.field("deletes", path);
        }
    }
    Ok(digester.finish())
}

/// The changes that a table is folded from, all of them.
pub(crate) fn changes_of(
    workspace: &Workspace,
    model: &Model,
    fold: &Fold,
) -> Result<Arc<dyn TableProvider>, RunError> {
    let facts = &workspace.facts[&model.name.to_string()];
    let files =
        workspace.warehouse.head(&fold.log)?.map(|head| head.all_files().to_vec()).unwrap_or_default();
    Ok(table::provider(data_files(files)?, fold::stored_columns(model, facts), None))
}

/// What is kept beside a folded table: keys that were deleted, or the changes that count; `None` where nothing is.
pub(crate) fn beside_of(
    workspace: &Workspace,
    model: &Model,
    fold: &Fold,
) -> Result<Option<Arc<dyn TableProvider>>, RunError> {
    if fold.deleted.is_none() && fold.history.is_none() {
        return Ok(None);
    }
    let facts = &workspace.facts[&model.name.to_string()];
    let schema = match fold.history {
        Some(_) => fold::stored_columns(model, facts),
        None => Arc::clone(&facts.schema),
    };
    let files =
        workspace.warehouse.head(&fold.beside)?.map(|head| head.all_files().to_vec()).unwrap_or_default();
    Ok(Some(table::provider(data_files(files)?, schema, None)))
}

/// Files of a table, as the engine takes them.
pub(crate) fn data_files(files: Vec<DataFileRef>) -> Result<Vec<DataFile>, RunError> {
    let file = |file: DataFileRef| {
        let deleted = file.deleted()?;
        Ok(DataFile { path: file.path.into(), rows: file.rows, bytes: file.bytes, deleted })
    };
    files.into_iter().map(file).collect()
}

/// Files of a staged slice, as the engine takes them.
fn staged_files(staged: &Staged) -> Vec<DataFile> {
    let file = |path: String| {
        let bytes = std::fs::metadata(&path).map_or(0, |found| found.len());
        DataFile { path: path.into(), rows: staged.rows, bytes, deleted: Vec::new() }
    };
    staged.paths().into_iter().map(file).collect()
}
