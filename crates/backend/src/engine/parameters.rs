//! `:interval_start`, `:interval_end` and variables: typed values, never pasted text.
//!
//! Each occurrence takes the type of what it is compared or combined with, wherever that is in the plan.
//! [`number`] turns occurrences into numbered placeholders, [`derive`] finds their types, [`bind`] gives them
//! the values of one interval.

use std::ops::ControlFlow;

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::ParamValues;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result as DfResult, ScalarValue};
use datafusion::logical_expr::expr::{Placeholder, ScalarFunction};
use datafusion::logical_expr::{Between, BinaryExpr, Case, Expr, ExprSchemable, LogicalPlan, Operator};
use datafusion::sql::sqlparser::ast::{Expr as SqlExpr, Statement, Value, visit_expressions_mut};
use jiff::civil::{Date, Time};
use oncemore_core::{Instant, Interval, TimeType};

use super::{EngineError, ErrorKind, Literal, ModelQuery};
use crate::error::nearest;

/// One occurrence of an edge of the interval in the SQL.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    /// `:interval_end`, else `:interval_start`.
    pub(super) end: bool,
    /// Its type, once derived.
    pub(super) time_type: Option<TimeType>,
    /// Line and column.
    pub(super) at: Option<(u64, u64)>,
    /// The view whose SQL it stands in.
    pub(super) view: Option<String>,
}

impl Parameter {
    fn name(&self) -> &'static str {
        if self.end { ":interval_end" } else { ":interval_start" }
    }

    /// Arrow's type of the value; undecided ones are taken for instants until their type is known.
    pub(super) fn data_type(&self) -> DataType {
        data_type(self.time_type.unwrap_or(TimeType::Instant))
    }
}

/// Arrow's type of a time type, as tables store it.
pub(super) fn data_type(time_type: TimeType) -> DataType {
    match time_type {
        TimeType::Date => DataType::Date32,
        TimeType::Wall => DataType::Timestamp(TimeUnit::Microsecond, None),
        TimeType::Instant => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
    }
}

/// The time type of values of an Arrow type.
pub(super) fn time_type(data_type: &DataType) -> Option<TimeType> {
    match data_type {
        DataType::Date32 | DataType::Date64 => Some(TimeType::Date),
        DataType::Timestamp(_, None) => Some(TimeType::Wall),
        DataType::Timestamp(_, Some(_)) => Some(TimeType::Instant),
        _ => None,
    }
}

/// Replaces every placeholder of `statement`: variables by literals, edges of the interval by `$1`, `$2` …,
/// numbered on from those already in `parameters`.
pub(super) fn number(
    statement: &mut Statement,
    view: Option<&str>,
    query: &ModelQuery,
    parameters: &mut Vec<Parameter>,
) -> Result<(), EngineError> {
    let found = visit_expressions_mut(statement, |expr| {
        let SqlExpr::Value(value) = expr else { return ControlFlow::Continue(()) };
        let Value::Placeholder(name) = &value.value else { return ControlFlow::Continue(()) };
        let at = Some((value.span.start.line, value.span.start.column)).filter(|(line, _)| *line > 0);
        match replace(name, view, at, query, parameters) {
            Ok(replaced) => {
                value.value = replaced;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error.at(at)),
        }
    });
    match found {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

fn replace(
    placeholder: &str,
    view: Option<&str>,
    at: Option<(u64, u64)>,
    query: &ModelQuery,
    parameters: &mut Vec<Parameter>,
) -> Result<Value, EngineError> {
    let Some(name) = placeholder.strip_prefix(':') else {
        return Err(EngineError::new(ErrorKind::Parse, format!("`{placeholder}` is no parameter"))
            .help("parameters are written `:name`"));
    };
    if name == "interval_start" || name == "interval_end" {
        if query.length.is_none() {
            return Err(EngineError::new(
                ErrorKind::Refused,
                format!("`{placeholder}` in a query without intervals"),
            )
            .help("make the model `kind: slice` with an `interval`, or leave the parameter out"));
        }
        parameters.push(Parameter {
            end: name == "interval_end",
            time_type: None,
            at,
            view: view.map(str::to_owned),
        });
        return Ok(Value::Placeholder(format!("${}", parameters.len())));
    }
    let Some((_, literal)) = query.variables.iter().find(|(variable, _)| variable == name) else {
        let known = ["interval_start", "interval_end"].into_iter();
        let near = nearest(name, known.chain(query.variables.iter().map(|(name, _)| name.as_str())));
        let unknown = EngineError::new(ErrorKind::Type, format!("no variable `{placeholder}`"));
        return Err(match near {
            Some(near) => unknown.help(format!("did you mean `:{near}`?")),
            None => unknown.help("declare it under `variables` in oncemore.yml"),
        });
    };
    Ok(match literal {
        Literal::Int(value) => Value::Number(value.to_string(), false),
        Literal::Float(value) => Value::Number(format!("{value:?}"), false),
        Literal::Text(value) => Value::SingleQuotedString(value.clone()),
        Literal::Bool(value) => Value::Boolean(*value),
    })
}

/// Finds types of parameters that stand in `plan`; `true` where it found one that was not known.
pub(super) fn derive(plan: &LogicalPlan, parameters: &mut [Parameter]) -> Result<bool, EngineError> {
    let mut typing = Typing { parameters, found: false, error: None };
    plan.apply_with_subqueries(|node| {
        let mut schema = DFSchema::empty();
        for input in node.inputs() {
            schema.merge(input.schema());
        }
        if node.inputs().is_empty() {
            schema = node.schema().as_ref().clone();
        }
        if let LogicalPlan::Join(join) = node {
            for (left, right) in &join.on {
                typing.same(&[left, right], None, &schema);
            }
        }
        node.apply_expressions(|expr| {
            typing.visit(expr, None, &schema);
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    match typing.error {
        Some(error) => Err(error),
        None => Ok(typing.found),
    }
}

/// The error for the first parameter without a type.
pub(super) fn undecided(parameters: &[Parameter]) -> Option<EngineError> {
    let parameter = parameters.iter().find(|parameter| parameter.time_type.is_none())?;
    let name = parameter.name();
    let mut error = EngineError::new(
        ErrorKind::Type,
        format!("the type of `{name}` can't be derived: it is compared with nothing that has one"),
    )
    .help(format!(
        "write `CAST({name} AS DATE)` for the local date, `AS TIMESTAMP` for local wall time or `AS TIMESTAMPTZ` for the instant"
    ))
    .at(parameter.at);
    error.view.clone_from(&parameter.view);
    Some(error)
}

/// The error for a date that is to hold the edge of an interval shorter than a day.
pub(super) fn too_short(query: &ModelQuery, parameters: &[Parameter]) -> Option<EngineError> {
    let length = query.length.filter(|length| length.is_below_day())?;
    let parameter = parameters.iter().find(|parameter| parameter.time_type == Some(TimeType::Date))?;
    let name = parameter.name();
    let mut error = EngineError::new(
        ErrorKind::Type,
        format!("`{name}` is compared with a DATE, which can't tell intervals of one {length} apart"),
    )
    .help(format!(
        "compare a column with a time of day, or cast: `CAST(column AS TIMESTAMP) >= {name}`; \
         `CAST({name} AS TIMESTAMP)::DATE` where the whole day is meant"
    ))
    .at(parameter.at);
    error.view.clone_from(&parameter.view);
    Some(error)
}

struct Typing<'a> {
    parameters: &'a mut [Parameter],
    found: bool,
    error: Option<EngineError>,
}

impl Typing<'_> {
    fn visit(&mut self, expr: &Expr, expected: Option<&DataType>, schema: &DFSchema) {
        match expr {
            Expr::Placeholder(placeholder) => self.decide(placeholder, expected),
            Expr::BinaryExpr(binary) => self.binary(binary, expected, schema),
            Expr::Between(Between { expr, low, high, .. }) => self.same(&[expr, low, high], None, schema),
            Expr::InList(list) => {
                let mut all = vec![list.expr.as_ref()];
                all.extend(&list.list);
                self.same(&all, None, schema);
            }
            Expr::InSubquery(inside) => {
                let kind = inside.subquery.subquery.schema().fields().first().map(|f| f.data_type().clone());
                self.visit(&inside.expr, kind.as_ref(), schema);
            }
            Expr::Case(case) => self.case(case, expected, schema),
            Expr::Cast(cast) => self.visit(&cast.expr, Some(&cast.data_type), schema),
            Expr::TryCast(cast) => self.visit(&cast.expr, Some(&cast.data_type), schema),
            Expr::Alias(alias) => self.visit(&alias.expr, expected, schema),
            Expr::ScalarFunction(call) => self.call(call, expected, schema),
            other => {
                // Children whose type this expression does not relate to anything.
                let _ = other.apply_children(|child| {
                    self.visit(child, None, schema);
                    Ok(TreeNodeRecursion::Continue)
                });
            }
        }
    }

    fn decide(&mut self, placeholder: &Placeholder, expected: Option<&DataType>) {
        let Some(parameter) = index(placeholder).and_then(|index| self.parameters.get_mut(index)) else {
            return;
        };
        let (None, Some(expected)) = (parameter.time_type, expected) else { return };
        if let Some(time_type) = time_type(expected) {
            parameter.time_type = Some(time_type);
            self.found = true;
        } else if self.error.is_none() {
            let name = parameter.name();
            let mut error = EngineError::new(
                ErrorKind::Type,
                format!("`{name}` is compared with {expected}, which is no time"),
            )
            .help("cast the other side: `CAST(… AS DATE)`, `AS TIMESTAMP` or `AS TIMESTAMPTZ`")
            .at(parameter.at);
            error.view.clone_from(&parameter.view);
            self.error = Some(error);
        }
    }

    fn binary(&mut self, binary: &BinaryExpr, expected: Option<&DataType>, schema: &DFSchema) {
        let (left, right) = (binary.left.as_ref(), binary.right.as_ref());
        match binary.op {
            Operator::Plus | Operator::Minus => {
                let (left_type, right_type) = (self.type_of(left, schema), self.type_of(right, schema));
                let is_time =
                    |kind: &Option<DataType>| kind.as_ref().is_some_and(|kind| time_type(kind).is_some());
                if is_time(&left_type) || is_time(&right_type) {
                    // The difference of two times, or a time and a span: times are of one type.
                    let time = if is_time(&left_type) { left_type } else { right_type };
                    self.visit(left, time.as_ref(), schema);
                    self.visit(right, time.as_ref(), schema);
                } else {
                    let expected = expected.filter(|kind| time_type(kind).is_some());
                    self.visit(left, expected.filter(|_| left_type.is_none()), schema);
                    self.visit(right, expected.filter(|_| right_type.is_none()), schema);
                }
            }
            op if op.supports_propagation() => self.same(&[left, right], None, schema),
            _ => {
                self.visit(left, None, schema);
                self.visit(right, None, schema);
            }
        }
    }

    /// Expressions that have one type: the first one known decides.
    fn same(&mut self, exprs: &[&Expr], expected: Option<&DataType>, schema: &DFSchema) {
        let known = exprs.iter().find_map(|expr| self.type_of(expr, schema));
        let kind = known.as_ref().or(expected);
        for expr in exprs {
            self.visit(expr, kind, schema);
        }
    }

    fn case(&mut self, case: &Case, expected: Option<&DataType>, schema: &DFSchema) {
        let mut tested: Vec<&Expr> = case.when_then_expr.iter().map(|(when, _)| when.as_ref()).collect();
        if let Some(base) = &case.expr {
            tested.push(base);
            self.same(&tested, None, schema);
        } else {
            for when in tested {
                self.visit(when, None, schema);
            }
        }
        let mut results: Vec<&Expr> = case.when_then_expr.iter().map(|(_, then)| then.as_ref()).collect();
        results.extend(case.else_expr.as_deref());
        self.same(&results, expected, schema);
    }

    fn call(&mut self, call: &ScalarFunction, expected: Option<&DataType>, schema: &DFSchema) {
        let args: Vec<&Expr> = call.args.iter().collect();
        match call.func.name() {
            "coalesce" | "greatest" | "least" | "nullif" | "nvl" | "ifnull" => {
                self.same(&args, expected, schema)
            }
            // Keep the type of the time that they are given.
            "date_trunc" | "date_bin" => {
                for arg in args {
                    self.visit(arg, expected.filter(|kind| time_type(kind).is_some()), schema);
                }
            }
            _ => {
                for arg in args {
                    self.visit(arg, None, schema);
                }
            }
        }
    }

    /// The type of an expression, unless it hangs on a parameter that has none yet.
    fn type_of(&self, expr: &Expr, schema: &DFSchema) -> Option<DataType> {
        let hangs = expr
            .exists(|inner| {
                Ok(match inner {
                    Expr::Placeholder(placeholder) => index(placeholder)
                        .and_then(|index| self.parameters.get(index))
                        .is_some_and(|parameter| parameter.time_type.is_none()),
                    _ => false,
                })
            })
            .unwrap_or(true);
        if !hangs {
            return expr.get_type(schema).ok().filter(|kind| *kind != DataType::Null);
        }
        match expr {
            Expr::Cast(cast) => Some(cast.data_type.clone()),
            Expr::TryCast(cast) => Some(cast.data_type.clone()),
            Expr::Alias(alias) => self.type_of(&alias.expr, schema),
            Expr::Case(case) => {
                let mut results = case.when_then_expr.iter().map(|(_, then)| then.as_ref());
                results
                    .find_map(|then| self.type_of(then, schema))
                    .or_else(|| case.else_expr.as_ref().and_then(|other| self.type_of(other, schema)))
            }
            Expr::ScalarFunction(call)
                if matches!(call.func.name(), "coalesce" | "greatest" | "least" | "nullif") =>
            {
                call.args.iter().find_map(|arg| self.type_of(arg, schema))
            }
            _ => None,
        }
    }
}

/// Which parameter a placeholder stands for.
pub(super) fn index(placeholder: &Placeholder) -> Option<usize> {
    placeholder.id.strip_prefix('$')?.parse::<usize>().ok()?.checked_sub(1)
}

/// Puts the values of `interval` in place of the parameters.
pub(super) fn bind(
    plan: LogicalPlan,
    parameters: &[Parameter],
    query: &ModelQuery,
    interval: Interval,
) -> Result<LogicalPlan, EngineError> {
    if parameters.is_empty() {
        return Ok(plan);
    }
    let values = parameters.iter().map(|parameter| {
        let instant = if parameter.end { interval.end() } else { interval.start() };
        value(parameter.time_type.unwrap_or(TimeType::Instant), instant, query).into()
    });
    let values = ParamValues::List(values.collect());
    let bound: DfResult<LogicalPlan> = plan.replace_params_with_values(&values);
    Ok(bound?)
}

fn value(time_type: TimeType, instant: Instant, query: &ModelQuery) -> ScalarValue {
    match time_type {
        TimeType::Date => {
            let days = days_since_epoch(query.zone.date_bound(instant));
            ScalarValue::Date32(Some(days))
        }
        TimeType::Wall => {
            let wall = query.zone.wall_bound(instant);
            let days = i64::from(days_since_epoch(wall.date()));
            let in_day = wall.time().duration_since(Time::midnight()).as_micros();
            let in_day = i64::try_from(in_day).unwrap_or_default();
            ScalarValue::TimestampMicrosecond(Some(days * 86_400_000_000 + in_day), None)
        }
        TimeType::Instant => ScalarValue::TimestampMicrosecond(Some(instant.0), Some("UTC".into())),
    }
}

fn days_since_epoch(date: Date) -> i32 {
    let epoch = Date::constant(1970, 1, 1);
    i32::try_from(date.duration_since(epoch).as_hours() / 24).unwrap_or_default()
}

/// The column that `name` means among the output columns of a plan.
pub(super) fn output_column(plan: &LogicalPlan, name: &str) -> Option<Column> {
    plan.schema().columns().into_iter().find(|column| column.name == name)
}
