//! What operators, filters over lists and methods of relations and moments make of values; no state.

use std::rc::Rc;

use super::super::functions::{self, Given};
use super::super::syntax::Binary;
use super::super::value::{Relation, Text, Value};

pub(super) fn select(name: &str, value: &Value, given: &Given) -> Value {
    let by_attribute = name.ends_with("attr");
    let skip = usize::from(by_attribute);
    let attribute = given.text(0, "");
    let test = given.text(skip, "");
    let rest = Given { plain: given.plain.iter().skip(skip + 1).cloned().collect(), named: Vec::new() };
    let kept = value.items().into_iter().filter(|item| {
        let subject = match &attribute {
            Some(name) if by_attribute => functions::member(item, name),
            _ => item.clone(),
        };
        let holds = match &test {
            Some(test) => functions::test(operator(test), &subject, &rest).unwrap_or(true),
            None => subject.truth(),
        };
        holds == name.starts_with("select") || subject.is_stub()
    });
    Value::list(kept.collect())
}

fn operator(test: &str) -> &str {
    match test {
        "==" => "eq",
        "!=" => "ne",
        "<" => "lt",
        "<=" => "le",
        ">" => "gt",
        ">=" => "ge",
        other => other,
    }
}

pub(super) fn group(value: &Value, given: &Given) -> Value {
    let attribute = given.text(0, "attribute").unwrap_or_default();
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    for item in value.items() {
        let key = functions::member(&item, &attribute);
        match groups.iter_mut().find(|(found, _)| found.equals(&key)) {
            Some((_, items)) => items.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    Value::list(groups.into_iter().map(|(key, items)| Value::list(vec![key, Value::list(items)])).collect())
}

pub(super) fn binary(op: Binary, left: &Value, right: &Value) -> Value {
    if op == Binary::Concat {
        return functions::concat(&[left.clone(), right.clone()]);
    }
    match (op, left, right) {
        (Binary::Add, Value::Text(_), _) | (Binary::Add, _, Value::Text(_)) => {
            functions::concat(&[left.clone(), right.clone()])
        }
        (Binary::Add, Value::List(a), Value::List(b)) => {
            Value::list(a.borrow().iter().chain(b.borrow().iter()).cloned().collect())
        }
        (Binary::Mul, Value::Text(text), Value::Int(times)) => {
            let times = usize::try_from(*times).unwrap_or(0).min((1 << 20) / (text.text.len() + 1));
            Value::text(text.text.repeat(times))
        }
        (Binary::Rem, Value::Text(text), _) => Value::Text(Text { stub: true, ..text.clone() }),
        (Binary::Sub, Value::Moment, Value::Moment) => Value::stub("difference"),
        (_, Value::Moment, _) | (_, _, Value::Moment) => Value::Moment,
        (_, Value::Stub(name), _) | (_, _, Value::Stub(name)) => Value::Stub(name.clone()),
        (_, Value::Int(a), Value::Int(b)) => whole(op, *a, *b),
        _ => match (left.as_float(), right.as_float()) {
            (Some(a), Some(b)) => real(op, a, b),
            _ => Value::stub(&left.print()),
        },
    }
}

fn whole(op: Binary, a: i64, b: i64) -> Value {
    Value::Int(match op {
        Binary::Add => a.saturating_add(b),
        Binary::Sub => a.saturating_sub(b),
        Binary::Mul => a.saturating_mul(b),
        Binary::Whole if b != 0 => a.wrapping_div_euclid(b),
        Binary::Rem if b != 0 => a.wrapping_rem_euclid(b),
        Binary::Pow => a.saturating_pow(u32::try_from(b).unwrap_or(0)),
        _ => return real(op, a as f64, b as f64),
    })
}

fn real(op: Binary, a: f64, b: f64) -> Value {
    Value::Float(match op {
        Binary::Add => a + b,
        Binary::Sub => a - b,
        Binary::Mul => a * b,
        _ if b == 0.0 => return Value::stub("division_by_zero"),
        Binary::Div => a / b,
        Binary::Whole => (a / b).floor(),
        Binary::Rem => a.rem_euclid(b),
        _ => a.powf(b),
    })
}

pub(super) fn negative(value: Value) -> Value {
    match value {
        Value::Int(value) => Value::Int(value.saturating_neg()),
        Value::Float(value) => Value::Float(-value),
        other => other,
    }
}

pub(super) fn relation_method(relation: &Rc<Relation>, name: &str, given: &Given) -> Value {
    match name {
        "include" => {
            let keep = |part: &str| given.named(part).is_none_or(Value::truth);
            let mut kept = (**relation).clone();
            if !keep("database") {
                kept.database = None;
            }
            if !keep("schema") {
                kept.schema = None;
            }
            let parts = [kept.database.as_deref(), kept.schema.as_deref(), Some(kept.identifier.as_str())];
            kept.printed = parts.into_iter().flatten().collect::<Vec<_>>().join(".");
            Value::Relation(Rc::new(kept))
        }
        "render" | "__str__" | "to_string" => Value::text(relation.printed.as_str()),
        "get" => Value::None,
        _ => Value::Relation(relation.clone()),
    }
}

pub(super) fn moment_method(name: &str, given: &Given) -> Value {
    let text = match name {
        "strftime" => {
            let pattern = given.text(0, "format").unwrap_or_default();
            let parts =
                [("%Y", "2000"), ("%m", "01"), ("%d", "01"), ("%H", "00"), ("%M", "00"), ("%S", "00")];
            let more = [
                ("%j", "001"),
                ("%f", "000000"),
                ("%z", "+0000"),
                ("%Z", "UTC"),
                ("%y", "00"),
                ("%s", "946684800"),
            ];
            parts
                .iter()
                .chain(&more)
                .fold(pattern.to_string(), |text, (code, value)| text.replace(code, value))
        }
        "isoformat" => "2000-01-01T00:00:00+00:00".to_owned(),
        "timestamp" => "946684800".to_owned(),
        "weekday" | "isoweekday" => "6".to_owned(),
        _ => return Value::Moment,
    };
    Value::Text(Text { stub: true, ..Text::plain(text) })
}
