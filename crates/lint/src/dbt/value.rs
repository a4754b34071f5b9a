//! What a template computes with: values as Python has them (lists can change), and text that knows where it
//! came from.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value as Json;

use super::syntax::{MacroDef, Span};

/// No macro: the text of a model's own file.
pub(super) const NO_MACRO: u32 = u32::MAX;

/// Where a part of a text came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) file: u32,
    pub(super) source: Span,
    /// Byte for byte what stands in the source.
    pub(super) exact: bool,
    /// Made up, since what it stands for is not known here.
    pub(super) stub: bool,
    /// The macro whose body wrote it.
    pub(super) by: u32,
    /// The expression of the model's file that called it; empty when the model's file wrote it.
    pub(super) call: Span,
}

/// A text; without marks it came out of an expression as a whole.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) text: Rc<str>,
    pub(super) marks: Rc<[Mark]>,
    pub(super) stub: bool,
}

impl Text {
    pub(super) fn plain(text: impl Into<Rc<str>>) -> Self {
        Text { text: text.into(), marks: Rc::from([]), stub: false }
    }
}

/// A macro that can be called.
#[derive(Clone, Debug)]
pub(super) struct Callable {
    pub(super) def: Arc<MacroDef>,
    pub(super) text: Arc<str>,
    pub(super) file: u32,
    pub(super) index: u32,
    pub(super) package: Arc<str>,
    /// What it sees besides its arguments: for the body of a `call` block, where that stands.
    pub(super) sees: Rc<[(Arc<str>, Value)]>,
}

/// A table or view as dbt's templates see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Relation {
    pub(super) database: Option<String>,
    pub(super) schema: Option<String>,
    pub(super) identifier: String,
    pub(super) printed: String,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    /// Nothing has this name.
    Undefined(Rc<str>),
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Text),
    List(Rc<RefCell<Vec<Value>>>),
    Dict(Rc<RefCell<Vec<(Value, Value)>>>),
    Macro(Rc<Callable>),
    /// A function or object of dbt's context, by its dotted name.
    Named(Rc<str>),
    /// A package whose macros are called as `name.macro()`.
    Package(Rc<str>),
    Relation(Rc<Relation>),
    /// A point in time that a run would have read from a clock.
    Moment,
    /// What only a run with a warehouse would know; its name is what it prints.
    Stub(Rc<str>),
}

impl Value {
    pub(super) fn text(text: impl Into<Rc<str>>) -> Self {
        Value::Text(Text::plain(text))
    }

    pub(super) fn list(items: Vec<Value>) -> Self {
        Value::List(Rc::new(RefCell::new(items)))
    }

    pub(super) fn dict(items: Vec<(Value, Value)>) -> Self {
        Value::Dict(Rc::new(RefCell::new(items)))
    }

    pub(super) fn stub(name: &str) -> Self {
        let clean: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' })
            .take(60)
            .collect();
        Value::Stub(if clean.is_empty() { "unknown".into() } else { clean.into() })
    }

    /// Whether it is made up, or text that is.
    pub(super) fn is_stub(&self) -> bool {
        match self {
            Value::Stub(_) | Value::Moment | Value::Undefined(_) => true,
            Value::Text(text) => text.stub,
            _ => false,
        }
    }

    pub(super) fn truth(&self) -> bool {
        match self {
            Value::Undefined(_) | Value::None => false,
            Value::Bool(value) => *value,
            Value::Int(value) => *value != 0,
            Value::Float(value) => *value != 0.0,
            Value::Text(text) => !text.text.is_empty(),
            Value::List(items) => !items.borrow().is_empty(),
            Value::Dict(items) => !items.borrow().is_empty(),
            _ => true,
        }
    }

    pub(super) fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(value) => Some(*value),
            Value::Bool(value) => Some(i64::from(*value)),
            Value::Float(value) if value.abs() < 9e15 => Some(*value as i64),
            Value::Text(text) => text.text.trim().parse().ok(),
            _ => None,
        }
    }

    pub(super) fn as_float(&self) -> Option<f64> {
        match self {
            Value::Float(value) => Some(*value),
            Value::Text(text) => text.text.trim().parse().ok(),
            other => other.as_int().map(|value| value as f64),
        }
    }

    /// As `{{ }}` prints it.
    pub(super) fn print(&self) -> Rc<str> {
        match self {
            Value::Text(text) => text.text.clone(),
            Value::Undefined(name) | Value::Stub(name) => name.clone(),
            Value::Named(name) | Value::Package(name) => name.replace('.', "_").into(),
            Value::Relation(relation) => relation.printed.as_str().into(),
            Value::Moment => "2000-01-01 00:00:00+00:00".into(),
            Value::Macro(callable) => callable.def.name.as_ref().into(),
            other => {
                let mut out = String::new();
                other.repr(&mut out, 0);
                out.into()
            }
        }
    }

    /// As Python's `repr` writes it.
    fn repr(&self, out: &mut String, depth: u32) {
        match self {
            _ if depth > 20 || out.len() > 1 << 20 => out.push_str("..."),
            Value::None => out.push_str("None"),
            Value::Bool(true) => out.push_str("True"),
            Value::Bool(false) => out.push_str("False"),
            Value::Int(value) => out.push_str(&value.to_string()),
            Value::Float(value) => out.push_str(&format!("{value:?}")),
            Value::List(items) => {
                out.push('[');
                for (index, item) in items.borrow().iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { ", " });
                    item.repr(out, depth + 1);
                }
                out.push(']');
            }
            Value::Dict(items) => {
                out.push('{');
                for (index, (key, value)) in items.borrow().iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { ", " });
                    key.repr(out, depth + 1);
                    out.push_str(": ");
                    value.repr(out, depth + 1);
                }
                out.push('}');
            }
            Value::Text(text) => {
                out.push('\'');
                out.push_str(&text.text);
                out.push('\'');
            }
            other => out.push_str(&other.print()),
        }
    }

    pub(super) fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::None, Value::None) => true,
            (Value::Text(a), Value::Text(b)) => a.text == b.text,
            (Value::Relation(a), Value::Relation(b)) => a == b,
            (
                Value::Bool(_) | Value::Int(_) | Value::Float(_),
                Value::Bool(_) | Value::Int(_) | Value::Float(_),
            ) => self.as_float() == other.as_float(),
            (Value::List(a), Value::List(b)) => {
                Rc::ptr_eq(a, b) || {
                    let (a, b) = (a.borrow(), b.borrow());
                    a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.equals(b))
                }
            }
            (Value::Dict(a), Value::Dict(b)) => {
                Rc::ptr_eq(a, b) || {
                    let (a, b) = (a.borrow(), b.borrow());
                    a.len() == b.len()
                        && a.iter().zip(b.iter()).all(|(a, b)| a.0.equals(&b.0) && a.1.equals(&b.1))
                }
            }
            (Value::Relation(relation), Value::Text(text))
            | (Value::Text(text), Value::Relation(relation)) => relation.printed == *text.text,
            _ => false,
        }
    }

    /// From JSON, which is also what our YAML reader yields.
    pub(super) fn from_json(json: &Json) -> Self {
        match json {
            Json::Null => Value::None,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => match number.as_i64() {
                Some(value) => Value::Int(value),
                None => Value::Float(number.as_f64().unwrap_or(0.0)),
            },
            Json::String(text) => Value::text(text.as_str()),
            Json::Array(items) => Value::list(items.iter().map(Value::from_json).collect()),
            Json::Object(items) => Value::dict(
                items
                    .iter()
                    .map(|(key, value)| (Value::text(key.as_str()), Value::from_json(value)))
                    .collect(),
            ),
        }
    }

    /// To JSON; objects of dbt become the text they print.
    pub(super) fn to_json(&self) -> Json {
        self.json(0)
    }

    fn json(&self, depth: u32) -> Json {
        match self {
            _ if depth > 20 => Json::Null,
            Value::None | Value::Undefined(_) => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Int(value) => Json::from(*value),
            Value::Float(value) => Json::from(*value),
            Value::List(items) => {
                Json::Array(items.borrow().iter().map(|item| item.json(depth + 1)).collect())
            }
            Value::Dict(items) => Json::Object(
                items.borrow().iter().map(|(k, v)| (k.print().to_string(), v.json(depth + 1))).collect(),
            ),
            other => Json::String(other.print().to_string()),
        }
    }

    /// The items that a loop goes over; what is not known has one.
    pub(super) fn items(&self) -> Vec<Value> {
        match self {
            Value::List(items) => items.borrow().clone(),
            Value::Dict(items) => items.borrow().iter().map(|(key, _)| key.clone()).collect(),
            Value::Text(text) if text.stub => vec![self.clone()],
            Value::Text(text) => text.text.chars().map(|c| Value::text(c.to_string())).collect(),
            Value::Stub(_) | Value::Moment => vec![self.clone()],
            _ => Vec::new(),
        }
    }
}

/// Text being written, with its marks.
#[derive(Debug, Default)]
pub(super) struct Out {
    pub(super) text: String,
    pub(super) marks: Vec<Mark>,
}

impl Out {
    pub(super) fn mark(&mut self, text: &str, mark: Mark) {
        if text.is_empty() {
            return;
        }
        let start = self.text.len();
        self.text.push_str(text);
        let span = Span::new(start, self.text.len());
        self.marks.push(Mark { start: span.start, end: span.end, ..mark });
    }

    /// Adds a text with its marks; what has none gets `fill`. `call` is the expression of the model's file
    /// (given
    /// with that file's number) that printed it.
    pub(super) fn append(&mut self, text: &Text, fill: Mark, call: Option<u32>) {
        let base = Span::new(self.text.len(), self.text.len()).start;
        let end = Span::new(text.text.len(), text.text.len()).start;
        self.text.push_str(&text.text);
        let fill = Mark { stub: text.stub && text.marks.is_empty(), ..fill };
        let mut done = 0;
        for mark in text.marks.iter() {
            if done < mark.start {
                self.marks.push(Mark { start: base + done, end: base + mark.start, ..fill });
            }
            let mut mark = *mark;
            done = mark.end;
            mark.start += base;
            mark.end += base;
            if call.is_some_and(|file| mark.by != NO_MACRO || mark.file != file) {
                mark.call = fill.source;
            }
            self.marks.push(mark);
        }
        if done < end {
            self.marks.push(Mark { start: base + done, end: base + end, ..fill });
        }
    }

    pub(super) fn finish(self) -> Text {
        let stub = self.marks.iter().any(|mark| mark.stub);
        Text { text: self.text.into(), marks: self.marks.into(), stub }
    }
}
