//! What each model reads and yields, derived by the engine once for each meaning and then remembered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::datatypes::{Field, SchemaRef};
use datafusion::prelude::SessionContext;
use oncemore_backend::EngineError;
use oncemore_backend::changes::Condition;
use oncemore_backend::engine::{Analysis, InputSchema, InputTime, Literal, Lookup, Meaning, ModelQuery};
use oncemore_backend::error::{About, ErrorKind as EngineErrorKind};
use oncemore_backend::source::{column_type, time_type};
use oncemore_commit::{CODE_VERSION, DELETED, INTERVAL_START, IS_CURRENT, VALID_FROM, VALID_TO};
use oncemore_core::{
    CodeVersion, ColumnType, Diagnostic, Digest, Digester, Location, Read, TimeType, previous_of,
};
use oncemore_project::{Kind, Model, Variable};
use serde::{Deserialize, Serialize};

use crate::assess::Earlier;
use crate::error::{ErrorKind, RunError};
use crate::fold;
use crate::workspace::{Workspace, zone_of};

/// What is known of a model beyond its text.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The query, ready for the engine.
    pub query: ModelQuery,
    /// Columns that it yields.
    pub schema: SchemaRef,
    /// Columns of its table.
    pub table: SchemaRef,
    /// Type of its `time` column.
    pub time_type: Option<TimeType>,
    /// What it reads, by input.
    pub reads: Vec<Read>,
    /// Inputs that it only looks up.
    pub lookups: Vec<Lookup>,
    /// What the engine had to decide for it.
    pub notes: Vec<String>,
    /// What the query means, column by column.
    pub meaning: Option<Meaning>,
}

/// What is kept of a code, so that a later one can be compared with it.
#[derive(Serialize, Deserialize)]
struct Kept {
    frame: Digest,
    meaning: Meaning,
    reads: Vec<Read>,
}

/// Derives the facts of every model that has a table, in topological order.
///
/// # Errors
/// What is wrong with the models, all of it; models that read one with which something is wrong are not asked.
pub(crate) fn derive(workspace: &Workspace) -> Result<BTreeMap<String, Facts>, RunError> {
    let mut all: BTreeMap<String, Facts> = BTreeMap::new();
    let mut fresh = Vec::new();
    let (mut wrong, mut errors) = (BTreeSet::new(), Vec::new());
    for model in &workspace.project.models {
        if model.kind == Kind::View {
            continue;
        }
        let name = model.name.to_string();
        let (views, names) = reads_of(workspace, model);
        if names.iter().any(|name| wrong.contains(name)) {
            wrong.insert(name);
            continue;
        }
        let query = query_with(workspace, model, views, names, &all)?;
        match facts_of(workspace, model, query, &mut fresh) {
            Err(error) if error.kind == ErrorKind::Config => {
                wrong.insert(name);
                errors.push(error);
            }
            facts => drop(all.insert(name, facts?)),
        }
    }
    let values: Vec<_> = fresh
        .iter()
        .map(|(name, key, bytes)| ("analysis", name.as_str(), key.as_str(), bytes.as_slice()))
        .collect();
    workspace.warehouse.cache_put(&values)?;
    match errors.len() {
        0 => Ok(all),
        1 => Err(errors.remove(0)),
        several => {
            let mut found: Vec<Diagnostic> = Vec::new();
            for diagnostic in errors.into_iter().flat_map(|error| error.diagnostics) {
                // What is wrong in a view is so for all that read it.
                if !found.contains(&diagnostic) {
                    found.push(diagnostic);
                }
            }
            let message = format!("{several} models can't be planned");
            Err(RunError::new(ErrorKind::Config, message).diagnostics(found))
        }
    }
}

/// An analysis to be remembered: model, key, value.
type Fresh = (String, String, Vec<u8>);

fn facts_of(
    workspace: &Workspace,
    model: &Model,
    query: ModelQuery,
    fresh: &mut Vec<Fresh>,
) -> Result<Facts, RunError> {
    let key = key_of(model, &query);
    let known = workspace
        .warehouse
        .cache_get("analysis", model.called().as_str(), &key.to_string())?
        .and_then(|bytes| Analysis::from_json(std::str::from_utf8(&bytes).ok()?));
    let analysis = match known {
        Some(analysis) => analysis,
        None => {
            let analysis = workspace
                .engine()?
                .analyse(&query)
                .map_err(|error| config_error(workspace, model, &error))?;
            check_names(workspace, model, &analysis.schema)?;
            check_deleted(workspace, model, &analysis.schema)?;
            fresh.push((model.called().to_string(), key.to_string(), analysis.to_json().into_bytes()));
            if let Some(kept) = kept(model, &analysis).filter(|_| model.fold.is_none()) {
                workspace.warehouse.code_put(model.called(), model.code, &kept)?;
            }
            analysis
        }
    };
    let Analysis { schema, time_type, reads, lookups, notes, meaning } = analysis;
    check_fold(workspace, model, &schema)?;
    let table = fold::table_columns(model, &schema)?;
    let query = query.with_previous(&schema).map_err(|error| config_error(workspace, model, &error))?;
    Ok(Facts { query, schema, table, time_type, reads, lookups, notes, meaning })
}

fn kept(model: &Model, analysis: &Analysis) -> Option<Vec<u8>> {
    let meaning = analysis.meaning.clone()?;
    serde_json::to_vec(&Kept { frame: model.frame, meaning, reads: analysis.reads.clone() }).ok()
}

/// How `model` differs from its own `code` of once, where that can be told and leaves some columns alone.
pub(crate) fn earlier(
    workspace: &Workspace,
    model: &Model,
    code: CodeVersion,
) -> Result<Option<Earlier>, RunError> {
    // Other code may order or delete otherwise: every column of what is folded may change.
    if model.fold.is_some() {
        return Ok(None);
    }
    let name = model.name.to_string();
    let bytes = workspace.warehouse.code_get(model.called(), code)?;
    let Some(kept) = bytes.and_then(|bytes| serde_json::from_slice::<Kept>(&bytes).ok()) else {
        return Ok(None);
    };
    let now = workspace.facts.get(&name).and_then(|facts| facts.meaning.as_ref());
    let columns = now.filter(|_| kept.frame == model.frame).and_then(|now| now.changed_from(&kept.meaning));
    // Only a key ties the values of a row together, so that its columns can be told apart.
    let columns = columns.filter(|changed| {
        let places = |column: &String| model.key.contains(column) || model.time.as_ref() == Some(column);
        !model.key.is_empty() && !changed.iter().any(places)
    });
    Ok(columns.map(|columns| Earlier::new(columns, kept.reads)))
}

/// Whether no column has a name that tables have for themselves.
fn check_names(workspace: &Workspace, model: &Model, schema: &SchemaRef) -> Result<(), RunError> {
    let history = model.fold.as_ref().is_some_and(|fold| fold.history.is_some());
    let mut ours = vec![INTERVAL_START, CODE_VERSION];
    ours.extend(model.fold.is_some().then_some(DELETED));
    ours.extend([VALID_FROM, VALID_TO, IS_CURRENT].iter().filter(|_| history));
    let mut names = schema.fields().iter().map(|field| field.name());
    let Some(name) = names.find(|name| ours.contains(&name.as_str())) else { return Ok(()) };
    let error =
        EngineError::new(EngineErrorKind::Refused, format!("column `{name}` has a name that is ours"))
            .help(format!("give it another one: `AS own_{}`", name.trim_start_matches('_')))
            .about(About::Output(name.clone()));
    Err(config_error(workspace, model, &error))
}

/// Whether the columns that a merge's or a history's settings name are there, and can be what they are used for.
fn check_fold(workspace: &Workspace, model: &Model, schema: &SchemaRef) -> Result<(), RunError> {
    let Some(fold) = &model.fold else { return Ok(()) };
    let find = |setting: &'static str, column: &String, what: &str| {
        schema.field_with_name(column).map_err(|_| {
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            let message = format!("the query yields no column `{column}`, {what}");
            let error = EngineError::new(EngineErrorKind::UnknownColumn, message)
                .help(format!("its columns are {}", names.join(", ")))
                .about(About::Setting(setting, column.clone()));
            config_error(workspace, model, &error)
        })
    };
    for column in &fold.order {
        let setting = if fold.effective.as_ref() == Some(column) { "effective" } else { "order_by" };
        let field = find(setting, column, "which orders the changes")?;
        if setting == "effective" {
            check_effective(workspace, model, column, field)?;
        }
    }
    for column in fold.history.iter().flat_map(|history| &history.track) {
        find("track", column, "which is to be tracked")?;
    }
    Ok(())
}

/// Whether a column can date changes. Numbers can, in any unit; texts would be compared letter by letter.
fn check_effective(
    workspace: &Workspace,
    model: &Model,
    column: &str,
    field: &Field,
) -> Result<(), RunError> {
    let kind = column_type(field.data_type());
    let Some(kind @ (ColumnType::Text | ColumnType::Boolean | ColumnType::Binary)) = kind else {
        return Ok(());
    };
    let message = format!("`effective: {column}` is of type {kind}, which dates no change");
    let cast = format!("write `CAST(… AS DATE) AS {column}`, or AS TIMESTAMP or TIMESTAMPTZ");
    let help = match model.kind {
        Kind::Merge => format!("{cast}; or put it into `order_by`, which compares values of any type"),
        _ => cast,
    };
    let error = EngineError::new(EngineErrorKind::Type, message)
        .help(help)
        .about(About::Setting("effective", column.to_owned()));
    Err(config_error(workspace, model, &error))
}

/// Whether `deleted` is a condition over the columns of the query.
fn check_deleted(workspace: &Workspace, model: &Model, schema: &SchemaRef) -> Result<(), RunError> {
    let Some(deleted) = model.fold.as_ref().and_then(|fold| fold.deleted.as_ref()) else { return Ok(()) };
    let session = SessionContext::new_with_state(workspace.engine()?.session().clone());
    Condition::parse(&session, schema, deleted).map(drop).map_err(|mut error| {
        error.message = format!("`deleted`: {}", error.message);
        error.help.get_or_insert("`deleted` is an SQL condition over the query's columns".to_owned());
        config_error(workspace, model, &error.about(About::Setting("deleted", deleted.clone())))
    })
}

fn key_of(model: &Model, query: &ModelQuery) -> Digest {
    let mut digester = Digester::new("analysis").field("code", model.code.0).field("sql", &query.sql);
    for input in &query.inputs {
        digester = digester
            .field("input", &input.name)
            .field("schema", format!("{:?}", input.schema.fields()))
            .field("time", format!("{:?}", input.time))
            .field("key", format!("{:?}", input.key));
    }
    digester.finish()
}

/// The query of a model, ready for the engine; what it reads is in `known`.
pub(crate) fn query_of(
    workspace: &Workspace,
    model: &Model,
    known: &BTreeMap<String, Facts>,
) -> Result<ModelQuery, RunError> {
    let (views, names) = reads_of(workspace, model);
    query_with(workspace, model, views, names, known)
}

/// The views that a model reads, each after those that it reads, with their queries; and the names of tables and sources
/// that it and they read.
fn reads_of(workspace: &Workspace, model: &Model) -> (Vec<(String, String)>, Vec<String>) {
    let views: Vec<(String, String)> = workspace
        .project
        .expanded_views(model)
        .into_iter()
        .map(|(name, sql)| (name.to_string(), sql.to_owned()))
        .collect();
    let mut names: Vec<String> = model.inputs.clone();
    let expanded: BTreeSet<&str> = views.iter().map(|(view, _)| view.as_str()).collect();
    let models = workspace.project.models.iter();
    names.extend(
        models.filter(|model| expanded.contains(model.name.as_str())).flat_map(|view| view.inputs.clone()),
    );
    names.retain(|name| !expanded.contains(name.as_str()));
    names.sort_unstable();
    names.dedup();
    (views, names)
}

fn query_with(
    workspace: &Workspace,
    model: &Model,
    views: Vec<(String, String)>,
    names: Vec<String>,
    known: &BTreeMap<String, Facts>,
) -> Result<ModelQuery, RunError> {
    let inputs = names.iter().map(|name| input_schema(workspace, name, known)).collect::<Result<_, _>>()?;
    Ok(ModelQuery {
        sql: model.query.sql.clone(),
        views,
        inputs,
        previous: model.reads_previous.then(|| previous_of(model.called())),
        zone: model
            .calendar
            .as_ref()
            .map_or_else(|| workspace.project.time_zone.clone(), |calendar| calendar.zone.clone()),
        length: model.calendar.as_ref().map(|calendar| calendar.length),
        time: model.time.clone(),
        key: model.key.clone(),
        variables: variables(workspace),
    })
}

/// The project's variables, as the engine takes them.
pub(crate) fn variables(workspace: &Workspace) -> Vec<(String, Literal)> {
    workspace.project.variables.iter().map(|(name, value)| (name.clone(), literal(value))).collect()
}

fn input_schema(
    workspace: &Workspace,
    name: &str,
    known: &BTreeMap<String, Facts>,
) -> Result<InputSchema, RunError> {
    if let Some(source) = workspace.sources.get(name) {
        let schema = source.index.schema()?;
        let time = source.spec.time.as_ref().and_then(|column| {
            let field = schema.field_with_name(column).ok()?;
            let time_type = time_type(column_type(field.data_type())?)?;
            Some(InputTime { column: column.clone(), time_type })
        });
        // Keys are compared within a file: over several files nothing is certain.
        let one_file = !source.spec.path.contains(['*', '?', '[', '{']);
        let key = if one_file { source.spec.key.clone() } else { Vec::new() };
        return Ok(InputSchema { name: name.to_owned(), schema, time, key });
    }
    let (Some(facts), Some(model)) = (known.get(name), workspace.model(name)) else {
        return Err(RunError::new(ErrorKind::Internal, format!("`{name}` is read before it is known")));
    };
    // A folded table is read whole: its rows of a range may come from any slice.
    let sliced = model.time.clone().filter(|_| model.fold.is_none());
    let time = sliced.clone().zip(facts.time_type).map(|(column, time_type)| InputTime { column, time_type });
    Ok(InputSchema { name: name.to_owned(), schema: Arc::clone(&facts.table), time, key: table_key(model) })
}

/// Columns that no two rows of a model's table share.
pub(crate) fn table_key(model: &Model) -> Vec<String> {
    let history = model.fold.as_ref().is_some_and(|fold| fold.history.is_some());
    model.key.iter().cloned().chain(history.then(|| VALID_FROM.to_owned())).collect()
}

fn literal(variable: &Variable) -> Literal {
    match variable {
        Variable::Integer(value) => Literal::Int(*value),
        Variable::Float(value) => Literal::Float(*value),
        Variable::Text(value) => Literal::Text(value.clone()),
        Variable::Boolean(value) => Literal::Bool(*value),
    }
}

/// The engine's complaint, as a diagnostic in the model's file, or in that of the view whose SQL it is about.
pub(crate) fn config_error(workspace: &Workspace, model: &Model, error: &EngineError) -> RunError {
    let own = error.view.as_ref().and_then(|view| workspace.model(view)).unwrap_or(model);
    let start =
        own.query.offset + error.at.map_or(0, |(line, column)| byte_offset(&own.query.sql, line, column));
    let rest = own.query.sql.get(start - own.query.offset..).unwrap_or_default();
    let length = rest.find(|c: char| c.is_whitespace() || c == ',' || c == ')').unwrap_or(rest.len()).max(1);
    let place = match &error.about {
        Some(About::Setting(setting, value)) => model.places.setting(setting, value),
        Some(About::Output(column)) => model.places.output(column),
        Some(About::Word(_)) | None => None,
    };
    let query = || Location { path: own.path.clone(), start, end: start + length };
    let location = place.cloned().unwrap_or_else(query);
    let mut diagnostic = Diagnostic::error("query", error.message.clone(), location);
    diagnostic.help.clone_from(&error.help);
    RunError::new(ErrorKind::Config, format!("`{}` can't be planned", model.name))
        .diagnostics(vec![diagnostic])
}

fn byte_offset(text: &str, line: u64, column: u64) -> usize {
    let lines = usize::try_from(line.saturating_sub(1)).unwrap_or(0);
    let start: usize = text.split_inclusive('\n').take(lines).map(str::len).sum();
    let column = usize::try_from(column.saturating_sub(1)).unwrap_or(0);
    let rest = text.get(start..).unwrap_or_default();
    start + rest.char_indices().nth(column).map_or(rest.len().min(column), |(at, _)| at)
}

/// The zone in which an input's dates and wall times count.
pub(crate) fn input_zone(workspace: &Workspace, name: &str) -> oncemore_core::Zone {
    match (workspace.sources.get(name), workspace.model(name)) {
        (Some(source), _) => zone_of(&source.spec),
        (_, Some(model)) => {
            model.calendar.as_ref().map_or_else(oncemore_core::Zone::utc, |calendar| calendar.zone.clone())
        }
        _ => oncemore_core::Zone::utc(),
    }
}
