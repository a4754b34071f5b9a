//! `previous(<model>)` in FROM: the slice before the own one, read as a table under a name of its own.
//!
//! It has the columns that the outermost SELECT names, so that their types follow from themselves: the query is planned
//! with what it yields until that no longer changes. Must not know where slices are kept.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};
use datafusion::execution::context::SessionState;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectName, Query, SelectItem, SetExpr, Statement, TableFactor, VisitMut, VisitorMut,
};
use oncemore_core::{Calendar, Interval, TimeType};

use super::{EngineError, ErrorKind, InputSchema, ModelQuery, analysis, compile, names};

/// Most rounds until types stand still: a decimal that is added up grows by a digit each.
const ROUNDS_MAX: usize = 48;

/// Makes `previous(…)` in FROM a table called `input`.
pub(super) fn name(statement: &mut Statement, input: &str) {
    let _ = VisitMut::visit(statement, &mut Factors { input });
}

struct Factors<'a> {
    input: &'a str,
}

impl VisitorMut for Factors<'_> {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, args, .. } = factor
            && args.is_some()
            && is_previous(name)
        {
            *name = ObjectName::from(vec![Ident::with_quote('"', self.input)]);
            *args = None;
        }
        ControlFlow::Continue(())
    }
}

fn is_previous(name: &ObjectName) -> bool {
    let [part] = name.0.as_slice() else { return false };
    part.as_ident().is_some_and(|ident| called(ident) == "previous")
}

fn called(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_ascii_lowercase() }
}

/// The output columns that the outermost SELECT names.
fn named_columns(statement: &Statement) -> Vec<String> {
    let Statement::Query(query) = statement else { return Vec::new() };
    let mut columns: Vec<String> = Vec::new();
    for item in first_select(query) {
        let name = match item {
            SelectItem::ExprWithAlias { alias, .. } => called(alias),
            SelectItem::UnnamedExpr(Expr::Identifier(ident)) => called(ident),
            SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => match parts.last() {
                Some(last) => called(last),
                None => continue,
            },
            _ => continue,
        };
        if !columns.contains(&name) {
            columns.push(name);
        }
    }
    columns
}

/// What names the columns of a query: in a UNION its first SELECT.
fn first_select(query: &Query) -> &[SelectItem] {
    let mut body = query.body.as_ref();
    loop {
        match body {
            SetExpr::Select(select) => return &select.projection,
            SetExpr::Query(inner) => body = inner.body.as_ref(),
            SetExpr::SetOperation { left, .. } => body = left.as_ref(),
            _ => return &[],
        }
    }
}

/// The slice before the own one as an input called `name`, for a query that is not analysed yet.
///
/// # Errors
/// A query that can't be planned, or a column whose type follows from nothing but itself.
pub(super) fn derived(
    state: &SessionState,
    query: &ModelQuery,
    name: &str,
) -> Result<InputSchema, EngineError> {
    let columns = named_columns(&analysis::parse(&query.sql)?);
    let mut types = vec![DataType::Null; columns.len()];
    for _ in 0..ROUNDS_MAX {
        let input = declared(name, columns.iter().zip(types.clone()), &query.key);
        let mut whole = query.clone();
        whole.inputs.push(input.clone());
        let sources = whole
            .inputs
            .iter()
            .map(|input| (input.name.clone(), names::schema_source(&input.schema)))
            .collect();
        let yields = analysis::yields(state, &whole, sources).map_err(|error| with_types(error, &types))?;
        let of = |column: &String| yields.field_with_name(column).map(|field| field.data_type().clone());
        let next: Vec<DataType> = columns.iter().map(|column| of(column).unwrap_or(DataType::Null)).collect();
        if next == types {
            let unknown = columns.iter().zip(&types).find(|(_, kind)| **kind == DataType::Null);
            return match unknown {
                None => Ok(input),
                Some((column, _)) => Err(EngineError::new(
                    ErrorKind::Type,
                    format!("the type of `{column}` follows from nothing but the slice before"),
                )
                .help(format!("say it: `CAST(… AS BIGINT) AS {column}`, or whichever type it is to have"))),
            };
        }
        types = next;
    }
    Err(EngineError::new(ErrorKind::Type, "the types of the columns differ from those of the slice before")
        .help("say them in the outermost SELECT: `CAST(… AS DECIMAL(18, 2)) AS balance`"))
}

/// While types are unknown an error of the planner may be about just that.
fn with_types(error: EngineError, types: &[DataType]) -> EngineError {
    if error.help.is_some() || !types.contains(&DataType::Null) {
        return error;
    }
    error.help("where a column of `previous(…)` is concerned, say its type: `CAST(p.balance AS BIGINT)`")
}

fn declared<'c>(
    name: &str,
    columns: impl Iterator<Item = (&'c String, DataType)>,
    key: &[String],
) -> InputSchema {
    let fields: Vec<Field> = columns.map(|(column, kind)| Field::new(column, kind, true)).collect();
    let has = |column: &String| fields.iter().any(|field| field.name() == column);
    let key = if key.iter().all(has) { key.to_vec() } else { Vec::new() };
    InputSchema { name: name.to_owned(), schema: Arc::new(Schema::new(fields)), time: None, key }
}

/// The slice before the own one as an input, for a query that yields `schema`.
pub(super) fn known(query: &ModelQuery, name: &str, schema: &Schema) -> Result<InputSchema, EngineError> {
    let columns = named_columns(&analysis::parse(&query.sql)?);
    let with_type = columns.iter().filter_map(|column| {
        let field = schema.field_with_name(column).ok()?;
        Some((column, field.data_type().clone()))
    });
    Ok(declared(name, with_type, &query.key))
}

/// What to write elsewhere instead of `previous(…)`, in a task on `interval`.
pub(super) fn as_subquery(query: &ModelQuery, time_type: TimeType, interval: Interval) -> Option<String> {
    let input = query.previous.as_ref()?;
    let table = input.strip_prefix("previous(")?.strip_suffix(')')?;
    let (time, length) = (query.time.as_ref()?, query.length?);
    let before = Calendar::new(length, query.zone.clone()).previous(interval);
    let edge = |instant| compile::edge_literal(time_type, instant, query);
    let (from, to) = (edge(before.start()), edge(before.end()));
    Some(format!("(SELECT * FROM {table} WHERE {time} >= {from} AND {time} < {to})"))
}
