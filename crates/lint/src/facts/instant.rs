//! Values as points in time: a parameter with what is added or taken away, or a constant date.

use crate::ir::{Expr, ExprKind, Literal, Op};

/// A point in time relative to a parameter, or to the beginning of the calendar.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instant {
    /// The parameter; empty for a constant date.
    pub base: String,
    /// Seconds after it.
    pub offset: i64,
}

/// A value as a point in time: a parameter with what is added or taken away, or a constant date.
#[must_use]
pub fn instant(expr: &Expr) -> Option<Instant> {
    match &expr.kind {
        ExprKind::Param(name) => Some(Instant { base: name.clone(), offset: 0 }),
        ExprKind::Literal(Literal::Text(text)) => {
            Some(Instant { base: String::new(), offset: date_seconds(text)? })
        }
        ExprKind::Cast { expr, .. } => instant(expr),
        ExprKind::Op(op @ (Op::Add | Op::Sub), args) => {
            let [first, rest @ ..] = args.as_slice() else { return None };
            let mut at = instant(first)?;
            for arg in rest {
                let by = duration(arg)?;
                at.offset += if *op == Op::Add { by } else { -by };
            }
            Some(at)
        }
        ExprKind::Call(call) => shifted(call),
        _ => None,
    }
}

/// `DATEADD(day, -7, :d)`, `DATE_SUB(@d, INTERVAL 2 DAY)`, `date_sub('{{ ds }}', 1)`, and conversions that
/// keep the value.
fn shifted(call: &crate::ir::Call) -> Option<Instant> {
    const KEEP: &[&str] = &[
        "date",
        "to_date",
        "timestamp",
        "to_timestamp",
        "datetime",
        "todate",
        "todatetime",
        "parse_date",
        "cast",
        "try_cast",
        "str_to_date",
        "strptime",
        "date_parse",
    ];
    let name = call.name.rsplit('.').next().unwrap_or(&call.name);
    let args = call.args.as_slice();
    if KEEP.contains(&name) {
        let mut found = args.iter().filter_map(instant);
        let first = found.next()?;
        return found.next().is_none().then_some(first);
    }
    let adds = [
        "dateadd",
        "date_add",
        "timestamp_add",
        "datetime_add",
        "timestampadd",
        "adddate",
        "days_add",
        "adddays",
        "date_add_days",
    ]
    .contains(&name);
    let takes = ["date_sub", "timestamp_sub", "datetime_sub", "subdate", "subtractdays"].contains(&name);
    if !adds && !takes {
        return None;
    }
    let sign = if takes { -1 } else { 1 };
    let (mut at, by) = match args {
        [value, by] => (instant(value)?, duration(by)?),
        // Unit, amount, value.
        [unit, amount, value] => {
            (instant(value)?, number(amount)?.checked_mul(unit_seconds(&word_of(unit)?)?)?)
        }
        _ => return None,
    };
    at.offset = at.offset.checked_add(by.checked_mul(sign)?)?;
    Some(at)
}

fn word_of(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Column { name, .. } => Some(name.clone()),
        ExprKind::Literal(Literal::Text(text) | Literal::Other(text)) => Some(text.to_ascii_lowercase()),
        _ => None,
    }
}

fn number(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Literal(Literal::Number(number) | Literal::Text(number)) => number.trim().parse().ok(),
        ExprKind::Op(Op::Neg, args) => args.first().and_then(number).and_then(i64::checked_neg),
        _ => None,
    }
}

/// Seconds of an interval, or of a bare number of days.
#[must_use]
pub fn duration(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Literal(Literal::Other(text)) => interval_seconds(text),
        ExprKind::Literal(Literal::Number(_)) | ExprKind::Op(Op::Neg, _) => number(expr)?.checked_mul(86_400),
        ExprKind::Cast { expr, to } if to.contains("interval") => match &expr.kind {
            ExprKind::Literal(Literal::Text(text)) => interval_seconds(text),
            _ => None,
        },
        _ => None,
    }
}

fn interval_seconds(text: &str) -> Option<i64> {
    let words = text
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty() && *word != "interval");
    let (mut amount, mut total, mut some) = (None, 0_i64, false);
    for word in words {
        if let Ok(number) = word.parse::<i64>() {
            amount = Some(number);
        } else {
            let unit = unit_seconds(word)?;
            total = total.checked_add(amount.take()?.checked_mul(unit)?)?;
            some = true;
        }
    }
    some.then_some(total)
}

/// Months and years as their mean length: enough to tell what is longer.
pub(super) fn unit_seconds(unit: &str) -> Option<i64> {
    let unit = unit.to_ascii_lowercase();
    Some(match unit.trim_end_matches('s') {
        "second" | "sec" | "ss" => 1,
        "minute" | "min" | "mi" | "n" => 60,
        "hour" | "hr" | "hh" | "h" => 3_600,
        "day" | "d" | "dd" => 86_400,
        "week" | "wk" | "ww" => 604_800,
        "month" | "mon" | "mm" | "m" => 2_629_800,
        "quarter" | "qq" | "q" => 7_889_400,
        "year" | "yy" | "yyyy" | "y" => 31_557_600,
        _ => return None,
    })
}

/// Seconds of a date written as `2024-03-01`, with or without a time, or `20240301`.
#[must_use]
pub fn date_seconds(text: &str) -> Option<i64> {
    let digits: String = text.chars().take(10).filter(char::is_ascii_digit).collect();
    let dashed = text.len() >= 10
        && text.is_char_boundary(10)
        && text.as_bytes().get(4) == Some(&b'-')
        && text.as_bytes().get(7) == Some(&b'-');
    let plain = text.len() == 8 && digits.len() == 8;
    if !(dashed || plain) || digits.len() != 8 {
        return None;
    }
    let part = |from: usize, to: usize| digits.get(from..to).and_then(|part| part.parse::<i64>().ok());
    let (year, month, day) = (part(0, 4)?, part(4, 6)?, part(6, 8)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || (plain && !(1990..=2100).contains(&year)) {
        return None;
    }
    // Days of the civil calendar, counted from March so that the leap day is the last of a year.
    let shifted = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days =
        shifted * 365 + shifted.div_euclid(4) - shifted.div_euclid(100) + shifted.div_euclid(400) + of_year;
    let clock: Vec<i64> = text
        .get(11..)
        .unwrap_or("")
        .split(':')
        .take(3)
        .filter_map(|part| part.get(..2).unwrap_or(part).parse().ok())
        .collect();
    let time = clock.iter().zip([3_600, 60, 1]).map(|(part, unit)| part * unit).sum::<i64>();
    Some(days * 86_400 + time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_count_days() {
        let days = |text: &str| date_seconds(text).map(|seconds| seconds / 86_400);
        assert_eq!(days("2024-03-01").zip(days("2024-02-28")).map(|(a, b)| a - b), Some(2));
        assert_eq!(days("20240301"), days("2024-03-01"));
        assert_eq!(days("2024-13-01"), None);
        assert_eq!(
            date_seconds("2024-03-01 01:30:00").zip(date_seconds("2024-03-01")).map(|(a, b)| a - b),
            Some(5_400)
        );
    }

    #[test]
    fn intervals_are_seconds() {
        assert_eq!(interval_seconds("interval '2 days'"), Some(172_800));
        assert_eq!(interval_seconds("interval '2' day"), Some(172_800));
        assert_eq!(interval_seconds("interval 1 week"), Some(604_800));
        assert_eq!(interval_seconds("interval"), None);
    }
}
