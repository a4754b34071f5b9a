//! Reads filters on an input's time column: which range a condition leaves.
//!
//! A condition is `f(column) op value`, `f` monotone, `value` made of an edge of the interval or a constant.
//! Values are compared by the engine as plain numbers (days or µs, instants in UTC); where the two sides are of
//! different kinds, a bound is widened by more than any zone's offset.

use datafusion::common::{Column, ScalarValue};
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use oncemore_core::{Bound, Edge, Offset, TimeType};

use super::bounds::{Range, plus};
use crate::engine::parameters::{self, Parameter};

/// More than the offset of any zone on both sides, and the rest of a day cut off by a cast.
const SLACK_DAYS: i32 = 3;

/// Reads conditions on one column.
pub(super) struct Reader<'a> {
    pub(super) column: &'a str,
    pub(super) time_type: TimeType,
    pub(super) parameters: &'a [Parameter],
}

/// A value between two bounds; equal ones where it is known exactly.
struct Symbolic {
    low: Bound,
    high: Bound,
}

/// How far the column may lie from the value that `f(column)` is compared with.
#[derive(Default)]
struct Form {
    lower: Vec<Offset>,
    upper: Vec<Offset>,
}

impl Reader<'_> {
    /// The range that `filter` leaves; open where nothing is known.
    pub(super) fn range(&self, filter: &Expr) -> Range {
        match filter {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
                self.range(left).and(self.range(right))
            }
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
                self.range(left).or(self.range(right))
            }
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => self
                .compare(left, *op, right)
                .or_else(|| self.compare(right, op.swap()?, left))
                .unwrap_or_default(),
            Expr::Between(Between { expr, negated: false, low, high }) => {
                let from = self.compare(expr, Operator::GtEq, low).unwrap_or_default();
                from.and(self.compare(expr, Operator::LtEq, high).unwrap_or_default())
            }
            Expr::InList(list) if !list.negated && !list.list.is_empty() => {
                let each = list
                    .list
                    .iter()
                    .map(|item| self.compare(&list.expr, Operator::Eq, item).unwrap_or_default());
                each.reduce(Range::or).unwrap_or_default()
            }
            Expr::Alias(alias) => self.range(&alias.expr),
            _ => Range::default(),
        }
    }

    fn compare(&self, column: &Expr, op: Operator, value: &Expr) -> Option<Range> {
        let form = self.form(column)?;
        let value = self.value(value)?;
        let from = || Some(self.lower(&value, &form));
        let to = |closed| Some(self.upper(&value, &form, closed));
        Some(match op {
            Operator::GtEq | Operator::Gt => Range { from: from(), to: None },
            Operator::Lt => Range { from: None, to: to(false) },
            Operator::LtEq => Range { from: None, to: to(true) },
            Operator::Eq => Range { from: from(), to: to(true) },
            _ => return None,
        })
    }

    fn lower(&self, value: &Symbolic, form: &Form) -> Bound {
        let bound = plus(value.low.clone(), &form.lower);
        plus(bound, &[self.slack(value, -SLACK_DAYS)])
    }

    fn upper(&self, value: &Symbolic, form: &Form, closed: bool) -> Bound {
        let step = match (closed, value.high.time_type) {
            (false, _) => Offset::default(),
            (true, TimeType::Date) => days(1),
            (true, _) => micros(1),
        };
        let bound = plus(plus(value.high.clone(), &[step]), &form.upper);
        plus(bound, &[self.slack(value, SLACK_DAYS)])
    }

    fn slack(&self, value: &Symbolic, by: i32) -> Offset {
        match (self.time_type, value.low.time_type) {
            (column, value) if column == value => Offset::default(),
            // A date is the midnight of a wall time.
            (TimeType::Wall, TimeType::Date) => Offset::default(),
            _ => days(by),
        }
    }

    /// The column, below casts and functions that keep its order.
    fn form(&self, expr: &Expr) -> Option<Form> {
        match expr {
            Expr::Column(Column { name, .. }) if name == self.column => Some(Form::default()),
            Expr::Alias(alias) => self.form(&alias.expr),
            Expr::Cast(cast) => {
                parameters::time_type(&cast.data_type)?;
                let bare = matches!(cast.expr.as_ref(), Expr::Column(_));
                let mut form = self.form(&cast.expr)?;
                let to = parameters::time_type(&cast.data_type)?;
                // Cutting a wall time to its date keeps the order, and midnights are where dates begin.
                let exact = bare
                    && (to == self.time_type || (self.time_type, to) == (TimeType::Wall, TimeType::Date));
                if !exact {
                    form.lower.insert(0, days(-SLACK_DAYS));
                    form.upper.insert(0, days(SLACK_DAYS));
                }
                Some(form)
            }
            Expr::ScalarFunction(call) if call.func.name() == "date_trunc" => {
                let [unit, time] = call.args.as_slice() else { return None };
                let mut form = self.form(time)?;
                form.upper.insert(0, trunc_unit(unit)?);
                Some(form)
            }
            Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::Plus | Operator::Minus), right }) => {
                let span = interval(right)?;
                let whole = self.time_type != TimeType::Date || span.micros == 0;
                if span.months != 0 || !whole {
                    return None;
                }
                let mut form = self.form(left)?;
                let back = if *op == Operator::Plus { negated(span)? } else { span };
                form.lower.insert(0, back);
                form.upper.insert(0, back);
                Some(form)
            }
            _ => None,
        }
    }

    fn value(&self, expr: &Expr) -> Option<Symbolic> {
        match expr {
            Expr::Placeholder(placeholder) => {
                let parameter = self.parameters.get(parameters::index(placeholder)?)?;
                let edge = if parameter.end { Edge::End } else { Edge::Start };
                Some(Symbolic::exactly(edge, parameter.time_type?))
            }
            Expr::Literal(value, _) => constant(value),
            Expr::Alias(alias) => self.value(&alias.expr),
            Expr::Cast(cast) => {
                let value = self.value(&cast.expr)?;
                let to = parameters::time_type(&cast.data_type)?;
                let from = value.low.time_type;
                let exact = from == to || (from, to) == (TimeType::Date, TimeType::Wall);
                Some(if exact { value } else { value.widened(days(-SLACK_DAYS), days(SLACK_DAYS)) })
            }
            Expr::ScalarFunction(call) if call.func.name() == "date_trunc" => {
                let [unit, time] = call.args.as_slice() else { return None };
                let unit = negated(trunc_unit(unit)?)?;
                Some(self.value(time)?.widened(unit, Offset::default()))
            }
            Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::Plus | Operator::Minus), right }) => {
                let (time, span) = match interval(right) {
                    Some(span) => (left, span),
                    None if *op == Operator::Plus => (right, interval(left)?),
                    None => return None,
                };
                let span = if *op == Operator::Plus { span } else { negated(span)? };
                let value = self.value(time)?;
                Some(value.moved(span))
            }
            _ => None,
        }
    }
}

impl Symbolic {
    fn exactly(edge: Edge, time_type: TimeType) -> Symbolic {
        let bound = Bound { edge, time_type, offsets: Vec::new() };
        Symbolic { low: bound.clone(), high: bound }
    }

    fn widened(self, low: Offset, high: Offset) -> Symbolic {
        Symbolic { low: plus(self.low, &[low]), high: plus(self.high, &[high]) }
    }

    /// Moved by a span; dates move by whole days, so that hours may or may not count.
    fn moved(self, span: Offset) -> Symbolic {
        if self.low.time_type != TimeType::Date || span.micros == 0 {
            return self.widened(span, span);
        }
        let whole = span.micros.div_euclid(86_400_000_000);
        let Ok(whole) = i32::try_from(whole) else { return self.widened(span, span) };
        let dates = Offset { micros: 0, ..span };
        self.widened(dates, dates).widened(days(whole.saturating_sub(1)), days(whole.saturating_add(1)))
    }
}

fn days(days: i32) -> Offset {
    Offset { days, ..Offset::default() }
}

fn micros(micros: i64) -> Offset {
    Offset { micros, ..Offset::default() }
}

fn negated(offset: Offset) -> Option<Offset> {
    Some(Offset {
        months: offset.months.checked_neg()?,
        days: offset.days.checked_neg()?,
        micros: offset.micros.checked_neg()?,
    })
}

fn constant(value: &ScalarValue) -> Option<Symbolic> {
    let exactly = |value, time_type| Some(Symbolic::exactly(Edge::Const(value), time_type));
    let zone = |zone: &Option<_>| if zone.is_some() { TimeType::Instant } else { TimeType::Wall };
    match value {
        ScalarValue::Date32(Some(days)) => exactly(i64::from(*days), TimeType::Date),
        ScalarValue::TimestampSecond(Some(value), tz) => exactly(value.checked_mul(1_000_000)?, zone(tz)),
        ScalarValue::TimestampMillisecond(Some(value), tz) => exactly(value.checked_mul(1_000)?, zone(tz)),
        ScalarValue::TimestampMicrosecond(Some(value), tz) => exactly(*value, zone(tz)),
        ScalarValue::TimestampNanosecond(Some(value), tz) => {
            let low = exactly(value.div_euclid(1_000), zone(tz))?;
            let rest = i64::from(value.rem_euclid(1_000) != 0);
            Some(low.widened(Offset::default(), micros(rest)))
        }
        _ => None,
    }
}

fn interval(expr: &Expr) -> Option<Offset> {
    let Expr::Literal(value, _) = expr else { return None };
    match value {
        ScalarValue::IntervalMonthDayNano(Some(value)) => (value.nanoseconds % 1_000 == 0)
            .then_some(Offset { months: value.months, days: value.days, micros: value.nanoseconds / 1_000 }),
        ScalarValue::IntervalYearMonth(Some(months)) => Some(Offset { months: *months, ..Offset::default() }),
        ScalarValue::IntervalDayTime(Some(value)) => Some(Offset {
            days: value.days,
            micros: i64::from(value.milliseconds) * 1_000,
            ..Offset::default()
        }),
        _ => None,
    }
}

fn trunc_unit(expr: &Expr) -> Option<Offset> {
    let Expr::Literal(value, _) = expr else { return None };
    let months = |months| Some(Offset { months, ..Offset::default() });
    match value.try_as_str()??.to_ascii_lowercase().as_str() {
        "microsecond" => Some(micros(1)),
        "millisecond" => Some(micros(1_000)),
        "second" => Some(micros(1_000_000)),
        "minute" => Some(micros(60_000_000)),
        "hour" => Some(micros(3_600_000_000)),
        "day" => Some(days(1)),
        "week" => Some(days(7)),
        "month" => months(1),
        "quarter" => months(3),
        "year" => months(12),
        _ => None,
    }
}
