//! From SQL to a plan with typed parameters, and from the plan to what is said of it.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::execution::context::SQLOptions;
use datafusion::execution::context::SessionState;
use datafusion::logical_expr::{LogicalPlan, TableSource};
use datafusion::sql::planner::{ParserOptions, PlannerContext, SqlToRel};
use datafusion::sql::sqlparser::ast::Statement;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::Parser;
use oncemore_commit::types::{arrow_type, stored_type};
use oncemore_core::{ColumnType, Read, TimeType};
use serde::{Deserialize, Serialize};

use super::lookups::{self, Lookup};
use super::meaning::{self, Meaning};
use super::names::Names;
use super::parameters::{self, Parameter};
use super::{EngineError, ErrorKind, ModelQuery, mended, output, previous, ranges, ties};
use crate::error::{About, nearest};

/// What is known of a query without reading data.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Output columns, in types that tables store.
    pub schema: SchemaRef,
    /// Type of the output column that decides a row's slice.
    pub time_type: Option<TimeType>,
    /// What a task reads, one per input, by name.
    pub reads: Vec<Read>,
    /// Inputs that are only looked up by columns of another.
    pub lookups: Vec<Lookup>,
    /// What the engine did that a reader should know: ties broken.
    pub notes: Vec<String>,
    /// What it means, column by column, where that can be told.
    pub meaning: Option<Meaning>,
}

/// A planned query, parameters typed but not bound.
pub(super) struct Planned {
    /// Without an ORDER BY on top.
    pub(super) plan: LogicalPlan,
    /// With it, where there is one.
    pub(super) order: Option<LogicalPlan>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) notes: Vec<String>,
}

/// Plans a query down to a logical plan that is deterministic.
pub(super) fn plan(
    state: &SessionState,
    query: &ModelQuery,
    sources: Vec<(String, Arc<dyn TableSource>)>,
) -> Result<Planned, EngineError> {
    let (plan, parameters) = typed(state, query, sources)?;
    if let Some(error) =
        parameters::undecided(&parameters).or_else(|| parameters::too_short(query, &parameters))
    {
        return Err(error);
    }
    let no_effects =
        SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    no_effects.verify_plan(&plan)?;
    let (plan, notes) = ties::broken(mended::mended(plan)?, &query.inputs)?;
    let ordered = matches!(&plan, LogicalPlan::Sort(_));
    let order = ordered.then(|| output::storable(plan.clone())).transpose()?;
    let plan = output::storable(output::unordered(plan))?;
    check_columns(&plan, query)?;
    Ok(Planned { plan, order, parameters, notes })
}

/// The columns that a query yields, in types that tables store; of type NULL where nothing gives them one.
pub(super) fn yields(
    state: &SessionState,
    query: &ModelQuery,
    sources: Vec<(String, Arc<dyn TableSource>)>,
) -> Result<Schema, EngineError> {
    let plan = mended::mended(typed(state, query, sources)?.0)?;
    let fields = plan.schema().fields().iter().map(|field| {
        let kind = match field.data_type() {
            DataType::Null => DataType::Null,
            other => output::stored_type(field.name(), other)?,
        };
        Ok(Field::new(field.name(), kind, true))
    });
    Ok(Schema::new(fields.collect::<Result<Vec<_>, EngineError>>()?))
}

/// The plan of a query with the types of its parameters, where these can be told.
fn typed(
    state: &SessionState,
    query: &ModelQuery,
    sources: Vec<(String, Arc<dyn TableSource>)>,
) -> Result<(LogicalPlan, Vec<Parameter>), EngineError> {
    let mut parameters = Vec::new();
    let mut statements = Vec::new();
    for (name, sql) in &query.views {
        let parsed = parse(sql).and_then(|mut statement| {
            parameters::number(&mut statement, Some(name), query, &mut parameters)?;
            Ok(statement)
        });
        statements.push(parsed.map_err(|error| in_view(error, name))?);
    }
    let mut main = parse(&query.sql)?;
    if let Some(input) = &query.previous {
        previous::name(&mut main, input);
    }
    parameters::number(&mut main, None, query, &mut parameters)?;
    // Each round may give types to parameters that later rounds need; the plan itself is cheap.
    let plan = loop {
        let (views, plan) = plan_once(state, query, &sources, &statements, &main, &parameters)?;
        let mut found = false;
        for view in &views {
            found |= parameters::derive(view, &mut parameters)?;
        }
        found |= parameters::derive(&plan, &mut parameters)?;
        if !found {
            break plan;
        }
    };
    Ok((plan, parameters))
}

fn in_view(mut error: EngineError, name: &str) -> EngineError {
    error.view.get_or_insert_with(|| name.to_owned());
    error
}

/// The one SELECT that `sql` is.
pub(super) fn parse(sql: &str) -> Result<Statement, EngineError> {
    let parsed =
        Parser::new(&GenericDialect {}).try_with_sql(sql).and_then(|mut parser| parser.parse_statements());
    let mut statements = parsed.map_err(|error| {
        let text = error.to_string();
        EngineError::new(ErrorKind::Parse, text.trim_start_matches("sql parser error: ")).at(place(&text))
    })?;
    match (statements.pop(), statements.is_empty()) {
        (Some(statement @ Statement::Query(_)), true) => Ok(statement),
        (None, _) => Err(EngineError::new(ErrorKind::Parse, "there is no SELECT")),
        _ => Err(EngineError::new(ErrorKind::Refused, "a model is one SELECT, nothing else")
            .help("what a task writes is decided by the model's kind, not by its SQL")),
    }
}

/// `… at Line: 3, Column: 7`, as the parser writes it.
fn place(text: &str) -> Option<(u64, u64)> {
    let (_, rest) = text.rsplit_once("Line: ")?;
    let (line, column) = rest.split_once(", Column: ")?;
    let digits = column.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((line.parse().ok()?, digits.parse().ok()?))
}

fn plan_once(
    state: &SessionState,
    query: &ModelQuery,
    sources: &[(String, Arc<dyn TableSource>)],
    views: &[Statement],
    main: &Statement,
    parameters: &[Parameter],
) -> Result<(Vec<LogicalPlan>, LogicalPlan), EngineError> {
    let plain = plan_named(Names::new(state, sources.to_vec()), query, views, main, parameters);
    plain.or_else(|error| {
        let mut names = Names::new(state, sources.to_vec());
        names.name_casts();
        plan_named(names, query, views, main, parameters).map_err(|_| error)
    })
}

fn plan_named(
    mut names: Names<'_>,
    query: &ModelQuery,
    views: &[Statement],
    main: &Statement,
    parameters: &[Parameter],
) -> Result<(Vec<LogicalPlan>, LogicalPlan), EngineError> {
    let mut plans = Vec::new();
    for ((name, _), statement) in query.views.iter().zip(views) {
        let plan = plan_statement(&names, statement, parameters).map_err(|error| in_view(error, name))?;
        let plan = output::unordered(plan);
        names.add_view(name, plan.clone());
        plans.push(plan);
    }
    let plan = plan_statement(&names, main, parameters)?;
    Ok((plans, plan))
}

fn plan_statement(
    names: &Names<'_>,
    statement: &Statement,
    parameters: &[Parameter],
) -> Result<LogicalPlan, EngineError> {
    let fields = parameters.iter().enumerate().map(|(index, parameter)| {
        Arc::new(Field::new(format!("{}", index + 1), parameter.data_type(), false))
    });
    let mut context = PlannerContext::new().with_prepare_param_data_types(fields.collect());
    let options = ParserOptions::new().with_collect_spans(true).with_map_string_types_to_utf8view(false);
    SqlToRel::new_with_options(names, options)
        .sql_statement_to_plan_with_context(statement.clone(), &mut context)
        .map_err(|error| {
            let error = EngineError::from(error);
            match names.take_refusal() {
                Some(refused) => refused.at(error.at),
                None => error,
            }
        })
}

fn check_columns(plan: &LogicalPlan, query: &ModelQuery) -> Result<(), EngineError> {
    let schema = plan.schema();
    let wanted =
        query.time.iter().map(|name| ("time", name)).chain(query.key.iter().map(|name| ("key", name)));
    for (setting, name) in wanted {
        if parameters::output_column(plan, name).is_some() {
            continue;
        }
        let near = nearest(name, schema.fields().iter().map(|field| field.name().as_str()));
        let unknown = EngineError::new(
            ErrorKind::UnknownColumn,
            format!("`{setting}` names `{name}`, which is no output column"),
        )
        .about(About::Setting(setting, name.clone()));
        return Err(match near {
            Some(near) => unknown.help(format!("did you mean `{near}`?")),
            None => unknown.help(format!("add `{name}` to the SELECT")),
        });
    }
    Ok(())
}

pub(super) fn analyse(
    state: &SessionState,
    query: &ModelQuery,
    planned: Planned,
) -> Result<Analysis, EngineError> {
    let schema = Arc::new(planned.plan.schema().as_arrow().clone());
    let time_type = query.time.as_deref().map(|name| output_time(&schema, name, query)).transpose()?;
    let optimised = state.optimize(&planned.plan)?;
    let meaning = meaning::meaning(&optimised);
    let lookups = lookups::lookups(&optimised, &query.inputs)?;
    let reads = ranges::reads(state, optimised, &planned.parameters, &query.inputs)?;
    Ok(Analysis { schema, time_type, reads, lookups, notes: planned.notes, meaning })
}

pub(super) fn output_time(schema: &Schema, name: &str, query: &ModelQuery) -> Result<TimeType, EngineError> {
    let field = schema
        .field_with_name(name)
        .map_err(|_| EngineError::new(ErrorKind::UnknownColumn, format!("no output column `{name}`")))?;
    let Some(time_type) = parameters::time_type(field.data_type()) else {
        let kind = type_text(field.data_type());
        return Err(EngineError::new(
            ErrorKind::Type,
            format!("`time: {name}` is of type {kind}, which places no row in time"),
        )
        .about(About::Setting("time", name.to_owned()))
        .help(format!("write `CAST(… AS DATE) AS {name}`, or AS TIMESTAMP or TIMESTAMPTZ")));
    };
    match query.length.filter(|length| length.is_below_day() && time_type == TimeType::Date) {
        Some(length) => Err(EngineError::new(
            ErrorKind::Type,
            format!("`time: {name}` is a DATE, which can't tell intervals of one {length} apart"),
        )
        .about(About::Setting("time", name.to_owned()))
        .help("let `time` name a TIMESTAMP or TIMESTAMPTZ column, or choose a longer `interval`")),
        None => Ok(time_type),
    }
}

/// The name of a type in SQL.
pub(super) fn type_text(data_type: &DataType) -> String {
    stored_type("", data_type).map_or_else(|_| data_type.to_string(), |kind| kind.to_string())
}

#[derive(Serialize, Deserialize)]
struct Stored {
    columns: Vec<(String, ColumnType, bool)>,
    time_type: Option<TimeType>,
    reads: Vec<Read>,
    lookups: Vec<Lookup>,
    notes: Vec<String>,
    meaning: Option<Meaning>,
}

impl Analysis {
    /// As text, to be kept beside the query and read back with [`Analysis::from_json`].
    pub fn to_json(&self) -> String {
        let columns = self.schema.fields().iter().map(|field| {
            let kind = stored_type(field.name(), field.data_type()).unwrap_or(ColumnType::Text);
            (field.name().clone(), kind, field.is_nullable())
        });
        let stored = Stored {
            columns: columns.collect(),
            time_type: self.time_type,
            reads: self.reads.clone(),
            lookups: self.lookups.clone(),
            notes: self.notes.clone(),
            meaning: self.meaning.clone(),
        };
        serde_json::to_string(&stored).unwrap_or_default()
    }

    /// What [`Analysis::to_json`] wrote; `None` where it is something else.
    pub fn from_json(text: &str) -> Option<Analysis> {
        let stored: Stored = serde_json::from_str(text).ok()?;
        let fields: Vec<Field> = stored
            .columns
            .into_iter()
            .map(|(name, kind, null)| Field::new(name, arrow_type(kind), null))
            .collect();
        Some(Analysis {
            schema: Arc::new(Schema::new(fields)),
            time_type: stored.time_type,
            reads: stored.reads,
            lookups: stored.lookups,
            notes: stored.notes,
            meaning: stored.meaning,
        })
    }
}
