//! What rules see of a model besides its SQL: configuration with its places in the template, clocks, hooks,
//! queries.

use std::ops::Range;
use std::sync::Arc;

use crate::text::{Lines, Span};

use super::syntax::{Args, Expr, ExprKind, Node};
use super::{Config, NodeKind, Query, TemplateClock, Worlds};

/// A model's template, as rules see it.
#[derive(Clone, Debug)]
pub struct Template {
    /// The file that the user edits.
    pub text: Arc<str>,
    /// Its lines.
    pub lines: Lines,
    /// Model or snapshot.
    pub kind: NodeKind,
    /// Configuration of all places.
    pub config: Config,
    /// What calls of `config()` are given by name, in order.
    pub arguments: Vec<Argument>,
    /// Clocks that the template reads.
    pub clocks: Vec<Clock>,
    /// Which worlds the SQL stands for.
    pub worlds: Worlds,
    /// Queries that the template sends to bound or shape its SQL.
    pub queries: Vec<Query>,
}

/// A clock of the template with the places of the SQL that it gets into.
#[derive(Clone, Debug)]
pub struct Clock {
    /// The clock.
    pub clock: TemplateClock,
    /// Bytes of the rendered SQL.
    pub places: Vec<Span>,
}

/// `materialized='table'` in a call of `config()`.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Bytes of the file: name and value.
    pub span: Span,
    /// Bytes of the texts within the value, without quotes.
    pub texts: Vec<Span>,
}

impl Template {
    /// Where an argument of `config()` stands; of several the last, which is the one that counts.
    #[must_use]
    pub fn argument(&self, names: &[&str]) -> Option<&Argument> {
        self.arguments.iter().rev().find(|argument| names.contains(&argument.name.as_str()))
    }
}

/// All that calls of `config()` are given by name.
pub(super) fn arguments(text: &str, nodes: &[Node]) -> Vec<Argument> {
    let mut found = Vec::new();
    of_nodes(text, nodes, &mut found);
    found
}

fn of_nodes(text: &str, nodes: &[Node], found: &mut Vec<Argument>) {
    for node in nodes {
        match node {
            Node::Print(expr, _) | Node::Do(expr) => of_call(text, expr, found),
            Node::If(arms, otherwise) => {
                arms.iter().for_each(|(_, body)| of_nodes(text, body, found));
                of_nodes(text, otherwise, found);
            }
            Node::Scope(body) | Node::With(_, body) => of_nodes(text, body, found),
            _ => {}
        }
    }
}

fn of_call(text: &str, expr: &Expr, found: &mut Vec<Argument>) {
    let ExprKind::Call(callee, args) = &expr.kind else { return };
    if !matches!(&callee.kind, ExprKind::Name(name) if &**name == "config") {
        return;
    }
    for (name, value) in &args.named {
        let before = text.get(..value.span.range().start).unwrap_or("").trim_end();
        let before = before.strip_suffix('=').unwrap_or(before).trim_end();
        let start = before.len().saturating_sub(name.len());
        found.push(argument(text, name, start, value));
    }
    for plain in &args.plain {
        let ExprKind::Dict(pairs) = &plain.kind else { continue };
        for (key, value) in pairs {
            if let ExprKind::Str(name) = &key.kind {
                found.push(argument(text, name, key.span.range().start, value));
            }
        }
    }
}

fn argument(text: &str, name: &str, start: usize, value: &Expr) -> Argument {
    let mut texts = Vec::new();
    texts_within(text, value, &mut texts);
    let name = name.replace("pre-hook", "pre_hook").replace("post-hook", "post_hook");
    Argument { name, span: Span::new(start, value.span.range().end), texts }
}

fn texts_within(text: &str, expr: &Expr, texts: &mut Vec<Span>) {
    match &expr.kind {
        ExprKind::Str(_) => {
            let Range { start, end } = expr.span.range();
            let quoted = text.get(start..end).is_some_and(|written| written.starts_with(['\'', '"']));
            texts.push(if quoted { Span::new(start + 1, end - 1) } else { Span::new(start, end) });
        }
        ExprKind::List(items) => items.iter().for_each(|item| texts_within(text, item, texts)),
        ExprKind::Dict(pairs) => pairs.iter().for_each(|(_, value)| texts_within(text, value, texts)),
        ExprKind::Call(_, Args { plain, named, .. }) => {
            plain
                .iter()
                .chain(named.iter().map(|(_, value)| value))
                .for_each(|item| texts_within(text, item, texts));
        }
        ExprKind::Binary(_, left, right) => {
            texts_within(text, left, texts);
            texts_within(text, right, texts);
        }
        _ => {}
    }
}
