//! Jinja's filters and tests and Python's methods of text, lists and dictionaries: what needs nothing of dbt.

use std::rc::Rc;

use super::value::{Text, Value};

/// Arguments of a call, evaluated.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) plain: Vec<Value>,
    pub(super) named: Vec<(Rc<str>, Value)>,
}

impl Given {
    /// The argument at `index`, or the one called `name`.
    pub(super) fn get(&self, index: usize, name: &str) -> Option<&Value> {
        self.plain.get(index).or_else(|| self.named(name))
    }

    pub(super) fn named(&self, name: &str) -> Option<&Value> {
        self.named.iter().find(|(key, _)| &**key == name).map(|(_, value)| value)
    }

    pub(super) fn text(&self, index: usize, name: &str) -> Option<Rc<str>> {
        self.get(index, name).filter(|value| !matches!(value, Value::None)).map(Value::print)
    }

    fn any_stub(&self) -> bool {
        self.plain.iter().any(Value::is_stub)
    }
}

fn made(text: impl Into<Rc<str>>, stub: bool) -> Value {
    Value::Text(Text { stub, ..Text::plain(text) })
}

/// A filter; `None` when there is none of that name. Those that take functions are the interpreter's.
pub(super) fn filter(name: &str, value: &Value, args: &Given) -> Option<Value> {
    let stub = value.is_stub() || args.any_stub();
    let text = || value.print();
    let found = match name {
        "default" | "d" => {
            let falsy = args.get(1, "boolean").is_some_and(Value::truth);
            let missing = matches!(value, Value::Undefined(_)) || (falsy && !value.truth());
            if missing {
                args.get(0, "default_value").cloned().unwrap_or_else(|| Value::text(""))
            } else {
                value.clone()
            }
        }
        "length" | "count" => return Some(length(value)),
        "int" | "as_number" | "as_native_int" => match value.as_int() {
            Some(value) => Value::Int(value),
            None if value.is_stub() => value.clone(),
            None => {
                args.get(0, "default").cloned().unwrap_or(Value::Int(value.as_float().unwrap_or(0.0) as i64))
            }
        },
        "float" => Value::Float(value.as_float().unwrap_or(0.0)),
        "as_native" => value.clone(),
        "as_bool" | "bool" => match value {
            Value::Text(text) => Value::Bool(matches!(&*text.text.to_lowercase(), "true" | "1" | "yes")),
            other => Value::Bool(other.truth()),
        },
        "abs" => match value {
            Value::Int(value) => Value::Int(value.saturating_abs()),
            other => Value::Float(other.as_float().unwrap_or(0.0).abs()),
        },
        "round" => {
            let digits = args.get(0, "precision").and_then(Value::as_int).unwrap_or(0).clamp(-12, 12);
            let scale = 10f64.powi(i32::try_from(digits).unwrap_or(0));
            Value::Float((value.as_float().unwrap_or(0.0) * scale).round() / scale)
        }
        "list" => match value {
            Value::Stub(_) => value.clone(),
            _ => Value::list(value.items()),
        },
        "first" => value.items().into_iter().next().unwrap_or_else(|| Value::Undefined("first".into())),
        "last" => value.items().into_iter().next_back().unwrap_or_else(|| Value::Undefined("last".into())),
        "random" => Value::stub("random"),
        "join" => return Some(join(value, args)),
        "reverse" => match value {
            Value::Text(text) => made(text.text.chars().rev().collect::<String>(), stub),
            _ => Value::list(value.items().into_iter().rev().collect()),
        },
        "sort" => sort(value, args),
        "unique" => {
            let mut kept: Vec<Value> = Vec::new();
            for item in value.items() {
                if !kept.iter().any(|other| other.equals(&item)) {
                    kept.push(item);
                }
            }
            Value::list(kept)
        }
        "min" | "max" | "sum" => fold(name, value),
        "items" | "dictsort" => pairs(value),
        "batch" | "slice" => batch(value, args),
        "tojson" | "tojson_pretty" => made(value.to_json().to_string(), stub),
        "wordcount" => Value::Int(text().split_whitespace().count() as i64),
        "truncate" | "wordwrap" | "center" | "urlencode" | "striptags" | "xmlattr" | "filesizeformat" => {
            value.clone()
        }
        _ => return text_filter(name, value, args),
    };
    Some(found)
}

fn text_filter(name: &str, value: &Value, args: &Given) -> Option<Value> {
    let stub = value.is_stub() || args.any_stub();
    let text = || value.print();
    Some(match name {
        "upper" => made(text().to_uppercase(), stub),
        "lower" => made(text().to_lowercase(), stub),
        "title" => made(title(&text()), stub),
        "capitalize" => made(capitalize(&text()), stub),
        "trim" => trim(value, args),
        "replace" => match (args.text(0, "old"), args.text(1, "new")) {
            (Some(old), Some(new)) => made(text().replace(&*old, &new), stub),
            _ => value.clone(),
        },
        "string" | "as_text" | "safe" | "escape" | "e" | "forceescape" | "pprint" => match value {
            Value::Text(_) => value.clone(),
            _ => made(text(), stub),
        },
        "indent" => indent(value, args),
        "format" => made(text(), true),
        _ => return None,
    })
}

fn length(value: &Value) -> Value {
    match value {
        Value::Text(text) if !text.stub => Value::Int(text.text.chars().count() as i64),
        Value::List(items) => Value::Int(items.borrow().len() as i64),
        Value::Dict(items) => Value::Int(items.borrow().len() as i64),
        Value::Undefined(_) | Value::None => Value::Int(0),
        _ => Value::Int(1),
    }
}

fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for c in text.chars() {
        if inside {
            out.extend(c.to_lowercase())
        } else {
            out.extend(c.to_uppercase())
        }
        inside = c.is_alphanumeric();
    }
    out
}

fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + &chars.as_str().to_lowercase()
    })
}

/// Trims, and keeps the marks of what is left.
fn trim(value: &Value, args: &Given) -> Value {
    let Value::Text(text) = value else { return Value::text(value.print().trim()) };
    if let Some(chars) = args.text(0, "chars") {
        return made(text.text.trim_matches(|c| chars.contains(c)), text.stub);
    }
    let start = text.text.len() - text.text.trim_start().len();
    cut(text, start, start + text.text.trim().len())
}

/// Part of a text, with the marks of that part.
pub(super) fn cut(text: &Text, start: usize, end: usize) -> Value {
    let (from, to) = (start as u32, end as u32);
    let marks = text.marks.iter().filter(|mark| mark.start < to && mark.end > from).map(|mark| {
        let mut mark = *mark;
        let (head, tail) = (from.saturating_sub(mark.start), mark.end.saturating_sub(to));
        if mark.exact {
            mark.source.start += head;
            mark.source.end -= tail;
        }
        mark.start = (mark.start + head).saturating_sub(from);
        mark.end = mark.end - tail - from;
        mark
    });
    Value::Text(Text { text: text.text[start..end].into(), marks: marks.collect(), stub: text.stub })
}

/// Texts one after the other, with their marks; what has none gets none.
pub(super) fn concat(parts: &[Value]) -> Value {
    let mut out = String::new();
    let mut marks = Vec::new();
    let mut stub = false;
    for part in parts {
        let base = out.len() as u32;
        stub |= part.is_stub();
        if let Value::Text(text) = part {
            marks.extend(text.marks.iter().map(|mark| {
                let mut mark = *mark;
                mark.start += base;
                mark.end += base;
                mark
            }));
        }
        out.push_str(&part.print());
    }
    Value::Text(Text { text: out.into(), marks: marks.into(), stub })
}

fn join(value: &Value, args: &Given) -> Value {
    let between = args.get(0, "d").cloned().unwrap_or_else(|| Value::text(""));
    let attribute = args.text(1, "attribute");
    let mut parts = Vec::new();
    for (index, item) in value.items().into_iter().enumerate() {
        if index > 0 {
            parts.push(between.clone());
        }
        parts.push(attribute.as_ref().map_or(item.clone(), |name| member(&item, name)));
    }
    concat(&parts)
}

/// An attribute or key of plain data.
pub(super) fn member(value: &Value, name: &str) -> Value {
    match value {
        Value::Dict(items) => items
            .borrow()
            .iter()
            .find(|(key, _)| matches!(key, Value::Text(text) if &*text.text == name))
            .map_or_else(|| Value::Undefined(name.into()), |(_, value)| value.clone()),
        Value::Stub(of) => Value::stub(&format!("{of}_{name}")),
        _ => Value::Undefined(name.into()),
    }
}

fn sort(value: &Value, args: &Given) -> Value {
    let mut items = value.items();
    let attribute = args.text(2, "attribute");
    let key = |item: &Value| attribute.as_ref().map_or(item.clone(), |name| member(item, name));
    items.sort_by(|a, b| order(&key(a), &key(b)));
    if args.get(0, "reverse").is_some_and(Value::truth) {
        items.reverse();
    }
    Value::list(items)
}

/// An order of values: numbers by size, everything else by what it prints.
pub(super) fn order(a: &Value, b: &Value) -> std::cmp::Ordering {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => a.text.cmp(&b.text),
        (Value::List(_), _) | (_, Value::List(_)) => {
            let (a, b) = (a.items(), b.items());
            a.iter().zip(&b).map(|(a, b)| order(a, b)).find(|o| o.is_ne()).unwrap_or(a.len().cmp(&b.len()))
        }
        _ => match (a.as_float(), b.as_float()) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => a.print().cmp(&b.print()),
        },
    }
}

fn fold(name: &str, value: &Value) -> Value {
    let items = value.items();
    match name {
        "sum" => items.iter().fold(Value::Int(0), |sum, item| match (&sum, item) {
            (Value::Int(a), Value::Int(b)) => Value::Int(a.saturating_add(*b)),
            (a, b) => Value::Float(a.as_float().unwrap_or(0.0) + b.as_float().unwrap_or(0.0)),
        }),
        "min" => items.into_iter().min_by(order).unwrap_or(Value::None),
        _ => items.into_iter().max_by(order).unwrap_or(Value::None),
    }
}

fn pairs(value: &Value) -> Value {
    match value {
        Value::Dict(items) => {
            Value::list(items.borrow().iter().map(|(k, v)| Value::list(vec![k.clone(), v.clone()])).collect())
        }
        Value::Stub(_) => Value::list(vec![Value::list(vec![value.clone(), value.clone()])]),
        _ => Value::list(Vec::new()),
    }
}

fn batch(value: &Value, args: &Given) -> Value {
    let size = args.get(0, "linecount").and_then(Value::as_int).unwrap_or(1).max(1) as usize;
    Value::list(value.items().chunks(size).map(|part| Value::list(part.to_vec())).collect())
}

fn indent(value: &Value, args: &Given) -> Value {
    let width = args.get(0, "width").and_then(Value::as_int).unwrap_or(4).clamp(0, 200) as usize;
    let first = args.get(1, "first").is_some_and(Value::truth);
    let pad = " ".repeat(width);
    let mut out = String::new();
    for (index, line) in value.print().split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        if (index > 0 || first) && !line.trim().is_empty() {
            out.push_str(&pad);
        }
        out.push_str(line);
    }
    made(out, value.is_stub())
}

/// A test, as in `x is name(args)`; `None` when there is none of that name.
pub(super) fn test(name: &str, value: &Value, args: &Given) -> Option<bool> {
    let other = args.plain.first();
    let compared = |wanted: fn(std::cmp::Ordering) -> bool| other.is_some_and(|b| wanted(order(value, b)));
    Some(match name {
        "defined" => !matches!(value, Value::Undefined(_)),
        "undefined" => matches!(value, Value::Undefined(_)),
        "none" => matches!(value, Value::None),
        "string" => matches!(value, Value::Text(_)),
        "number" => matches!(value, Value::Int(_) | Value::Float(_)),
        "integer" => matches!(value, Value::Int(_)),
        "float" => matches!(value, Value::Float(_)),
        "boolean" => matches!(value, Value::Bool(_)),
        "true" => matches!(value, Value::Bool(true)),
        "false" => matches!(value, Value::Bool(false)),
        "mapping" => matches!(value, Value::Dict(_)),
        "sequence" | "iterable" => {
            matches!(value, Value::List(_) | Value::Dict(_) | Value::Text(_) | Value::Stub(_))
        }
        "callable" => matches!(value, Value::Macro(_) | Value::Named(_)),
        "odd" => value.as_int().is_some_and(|value| value % 2 != 0),
        "even" => value.as_int().is_some_and(|value| value % 2 == 0),
        "divisibleby" => match (value.as_int(), other.and_then(Value::as_int)) {
            (Some(value), Some(by)) if by != 0 => value % by == 0,
            _ => false,
        },
        "equalto" | "eq" | "sameas" => other.is_some_and(|other| value.equals(other)),
        "ne" => other.is_some_and(|other| !value.equals(other)),
        "lt" | "lessthan" => compared(std::cmp::Ordering::is_lt),
        "le" => compared(std::cmp::Ordering::is_le),
        "gt" | "greaterthan" => compared(std::cmp::Ordering::is_gt),
        "ge" => compared(std::cmp::Ordering::is_ge),
        "in" => other.is_some_and(|other| contains(other, value)),
        "upper" => value.print().chars().all(|c| !c.is_lowercase()),
        "lower" => value.print().chars().all(|c| !c.is_uppercase()),
        _ => return None,
    })
}

pub(super) fn contains(within: &Value, value: &Value) -> bool {
    match within {
        Value::List(items) => items.borrow().iter().any(|item| item.equals(value)),
        Value::Dict(items) => items.borrow().iter().any(|(key, _)| key.equals(value)),
        Value::Text(text) => text.text.contains(&*value.print()),
        _ => false,
    }
}

/// A method of text, a list or a dictionary; `None` when it has none of that name.
pub(super) fn method(value: &Value, name: &str, args: &Given) -> Option<Value> {
    match value {
        Value::Text(text) => text_method(text, name, args),
        Value::List(items) => list_method(items, name, args),
        Value::Dict(items) => dict_method(items, name, args),
        _ => None,
    }
}

fn text_method(text: &Text, name: &str, args: &Given) -> Option<Value> {
    let s = &*text.text;
    let stub = text.stub || args.any_stub();
    let given = args.text(0, "");
    let chars = given.clone();
    let strip = move |c: char| chars.as_ref().map_or(c.is_whitespace(), |chars| chars.contains(c));
    Some(match name {
        "upper" => made(s.to_uppercase(), stub),
        "lower" | "casefold" => made(s.to_lowercase(), stub),
        "title" => made(title(s), stub),
        "capitalize" => made(capitalize(s), stub),
        "strip" if given.is_none() => trim(&Value::Text(text.clone()), args),
        "strip" => made(s.trim_matches(strip), stub),
        "lstrip" => made(s.trim_start_matches(strip), stub),
        "rstrip" => made(s.trim_end_matches(strip), stub),
        "replace" => match (given, args.text(1, "")) {
            (Some(old), Some(new)) if !old.is_empty() => made(s.replace(&*old, &new), stub),
            _ => Value::Text(text.clone()),
        },
        "split" | "rsplit" => {
            let most = args.get(1, "maxsplit").and_then(Value::as_int).unwrap_or(-1);
            let parts: Vec<&str> = match &given {
                None => s.split_whitespace().collect(),
                Some(by) if by.is_empty() => vec![s],
                Some(by) if most < 0 => s.split(&**by).collect(),
                Some(by) if name == "split" => s.splitn(most as usize + 1, &**by).collect(),
                Some(by) => {
                    let mut parts: Vec<&str> = s.rsplitn(most as usize + 1, &**by).collect();
                    parts.reverse();
                    parts
                }
            };
            Value::list(parts.into_iter().map(|part| made(part, stub)).collect())
        }
        "splitlines" => Value::list(s.lines().map(|line| made(line, stub)).collect()),
        "startswith" => Value::Bool(given.is_some_and(|start| s.starts_with(&*start))),
        "endswith" => Value::Bool(given.is_some_and(|end| s.ends_with(&*end))),
        "find" | "index" => {
            Value::Int(given.and_then(|part| s.find(&*part)).map_or(-1, |at| s[..at].chars().count() as i64))
        }
        "count" => Value::Int(given.map_or(0, |part| s.matches(&*part).count() as i64)),
        "join" => {
            let between = Given { plain: vec![Value::Text(text.clone())], named: Vec::new() };
            join(args.plain.first()?, &between)
        }
        "isdigit" | "isnumeric" | "isdecimal" => {
            Value::Bool(!s.is_empty() && s.chars().all(|c| c.is_ascii_digit()))
        }
        "isalpha" => Value::Bool(!s.is_empty() && s.chars().all(char::is_alphabetic)),
        "isalnum" => Value::Bool(!s.is_empty() && s.chars().all(char::is_alphanumeric)),
        "islower" => Value::Bool(s.chars().any(char::is_lowercase) && !s.chars().any(char::is_uppercase)),
        "isupper" => Value::Bool(s.chars().any(char::is_uppercase) && !s.chars().any(char::is_lowercase)),
        "zfill" | "rjust" | "ljust" => {
            let width = args.plain.first()?.as_int()?.clamp(0, 1000) as usize;
            let fill =
                args.text(1, "").unwrap_or_else(|| if name == "zfill" { "0".into() } else { " ".into() });
            let pad = fill.repeat(width.saturating_sub(s.chars().count()));
            made(if name == "ljust" { format!("{s}{pad}") } else { format!("{pad}{s}") }, stub)
        }
        "removeprefix" => made(s.strip_prefix(&*given?).unwrap_or(s), stub),
        "removesuffix" => made(s.strip_suffix(&*given?).unwrap_or(s), stub),
        "partition" => {
            let by = given?;
            let (head, tail) = s.split_once(&*by).unwrap_or((s, ""));
            Value::list(vec![made(head, stub), made(by.clone(), stub), made(tail, stub)])
        }
        "format" => made(format(s, args), stub),
        "encode" | "decode" => Value::Text(text.clone()),
        _ => return None,
    })
}

/// Python's `format`: `{}`, `{0}`, `{name}`; what follows a colon is ignored, save zero padding.
fn format(pattern: &str, args: &Given) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    let mut next = 0;
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        let tail = &rest[at..];
        if tail.starts_with("{{") || tail.starts_with("}}") {
            out.push_str(&tail[..1]);
            rest = &tail[2..];
            continue;
        }
        let Some(end) = tail.find('}').filter(|_| tail.starts_with('{')) else {
            out.push_str(&tail[..1]);
            rest = &tail[1..];
            continue;
        };
        let (name, spec) = tail[1..end].split_once(':').unwrap_or((&tail[1..end], ""));
        let value = match (name, name.parse::<usize>()) {
            ("", _) => {
                next += 1;
                args.plain.get(next - 1)
            }
            (_, Ok(index)) => args.plain.get(index),
            _ => args.named(name),
        };
        let text = value.map_or_else(|| name.into(), Value::print);
        let width =
            spec.trim_end_matches('d').strip_prefix('0').and_then(|width| width.parse::<usize>().ok());
        out.push_str(&"0".repeat(width.map_or(0, |width| width.min(100).saturating_sub(text.len()))));
        out.push_str(&text);
        rest = &tail[end + 1..];
    }
    out.push_str(rest);
    out
}

type Items = Rc<std::cell::RefCell<Vec<Value>>>;

fn list_method(items: &Items, name: &str, args: &Given) -> Option<Value> {
    let first = args.plain.first();
    match name {
        "append" => items.borrow_mut().push(first?.clone()),
        "extend" => {
            let more = first?.items();
            items.borrow_mut().extend(more);
        }
        "insert" => {
            let at = first?.as_int()?;
            let mut items = items.borrow_mut();
            let at = usize::try_from(at).unwrap_or(0).min(items.len());
            items.insert(at, args.plain.get(1)?.clone());
        }
        "pop" => {
            let mut items = items.borrow_mut();
            let at = match first.and_then(Value::as_int) {
                Some(at) if at >= 0 => at as usize,
                _ => items.len().saturating_sub(1),
            };
            return Some(if at < items.len() { items.remove(at) } else { Value::None });
        }
        "remove" => {
            let mut items = items.borrow_mut();
            if let Some(at) = items.iter().position(|item| first.is_some_and(|first| item.equals(first))) {
                items.remove(at);
            }
        }
        "clear" => items.borrow_mut().clear(),
        "reverse" => items.borrow_mut().reverse(),
        "sort" => items.borrow_mut().sort_by(order),
        "copy" => return Some(Value::list(items.borrow().clone())),
        "index" => {
            let at = items.borrow().iter().position(|item| first.is_some_and(|first| item.equals(first)));
            return Some(Value::Int(at.map_or(-1, |at| at as i64)));
        }
        "count" => {
            let count =
                items.borrow().iter().filter(|item| first.is_some_and(|first| item.equals(first))).count();
            return Some(Value::Int(count as i64));
        }
        _ => return None,
    }
    Some(Value::None)
}

fn dict_method(
    items: &Rc<std::cell::RefCell<Vec<(Value, Value)>>>,
    name: &str,
    args: &Given,
) -> Option<Value> {
    let find = |key: &Value| items.borrow().iter().position(|(found, _)| found.equals(key));
    Some(match name {
        "get" => match find(args.plain.first()?) {
            Some(at) => items.borrow()[at].1.clone(),
            None => args.get(1, "default").cloned().unwrap_or(Value::None),
        },
        "keys" => Value::list(items.borrow().iter().map(|(key, _)| key.clone()).collect()),
        "values" => Value::list(items.borrow().iter().map(|(_, value)| value.clone()).collect()),
        "items" => pairs(&Value::Dict(items.clone())),
        "copy" => Value::dict(items.borrow().clone()),
        "update" => {
            let mut more: Vec<(Value, Value)> =
                args.named.iter().map(|(key, value)| (Value::text(key.clone()), value.clone())).collect();
            match args.plain.first() {
                Some(Value::Dict(other)) => more.splice(0..0, other.borrow().iter().cloned()).for_each(drop),
                Some(_) => return Some(Value::None),
                None => {}
            }
            for (key, value) in more {
                set(items, key, value);
            }
            Value::None
        }
        "setdefault" => {
            let key = args.plain.first()?;
            let value = args.plain.get(1).cloned().unwrap_or(Value::None);
            match find(key) {
                Some(at) => items.borrow()[at].1.clone(),
                None => {
                    items.borrow_mut().push((key.clone(), value.clone()));
                    value
                }
            }
        }
        "pop" => match find(args.plain.first()?) {
            Some(at) => items.borrow_mut().remove(at).1,
            None => args.plain.get(1).cloned().unwrap_or(Value::None),
        },
        "clear" => {
            items.borrow_mut().clear();
            Value::None
        }
        _ => return None,
    })
}

/// Sets a key of a dictionary.
pub(super) fn set(items: &Rc<std::cell::RefCell<Vec<(Value, Value)>>>, key: Value, value: Value) {
    let at = items.borrow().iter().position(|(found, _)| found.equals(&key));
    match at {
        Some(at) => items.borrow_mut()[at].1 = value,
        None => items.borrow_mut().push((key, value)),
    }
}
