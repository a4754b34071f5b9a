//! OM207: floating-point numbers are added up.
use super::prelude::*;
use super::shared::severity;
use super::uses::calls;
use crate::functions::{Names, listed};

pub(super) const RULE: Rule = Rule { id: "OM207", page: include_str!("../../rules/OM207.md"), check };

static ADDS: Names = Names::of(include_str!("../../data/names/adds.txt"));

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    // The engine of our own models adds floats exactly.
    if file.script.model.is_some() {
        return;
    }
    for (_, statement, view) in file.statements() {
        if severity(file, statement, Severity::Info).is_none() {
            continue;
        }
        for (query, expr, call) in calls(view, |call| listed(&ADDS, &call.name) && call.over.is_none()) {
            if call.args.iter().any(|arg| is_float(view, query, arg, 0)) {
                out.report(
                    Draft::new(
                        Severity::Info,
                        expr.span,
                        format!("`{}` adds up floating-point numbers", call.name),
                    )
                    .rerun("the order of the additions differs between runs, and so do the last digits")
                    .help("cast to a decimal first"),
                );
            }
        }
    }
}

fn float_type(name: &str) -> bool {
    let word = name.split(['(', ' ']).next().unwrap_or(name);
    matches!(word, "double" | "real" | "float" | "float4" | "float8" | "float32" | "float64")
}

fn is_float<'a>(view: &View<'a>, query: QueryId, expr: &'a Expr, depth: usize) -> bool {
    if depth > 40 {
        return false;
    }
    let is_float = |query, expr| is_float(view, query, expr, depth + 1);
    match &expr.kind {
        ExprKind::Cast { to, .. } => float_type(to),
        ExprKind::Column { .. } => match view.origin(query, expr) {
            Origin::Base { table, column } => view
                .knowledge
                .table(table)
                .and_then(|facts| facts.column(&column))
                .is_some_and(|column| float_type(&column.data_type)),
            Origin::Computed { query: inner, expr: found } if !std::ptr::eq(found, expr) => {
                is_float(inner, found)
            }
            _ => false,
        },
        ExprKind::Op(Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Neg, args) => {
            args.iter().any(|arg| is_float(query, arg))
        }
        ExprKind::Case { branches, otherwise, .. } => branches
            .iter()
            .map(|(_, then)| then)
            .chain(otherwise.as_deref())
            .any(|then| is_float(query, then)),
        ExprKind::Call(call)
            if matches!(
                call.name.as_str(),
                "coalesce"
                    | "ifnull"
                    | "nvl"
                    | "nullif"
                    | "abs"
                    | "greatest"
                    | "least"
                    | "round"
                    | "max"
                    | "min"
                    | "sum"
            ) =>
        {
            call.args.iter().any(|arg| is_float(query, arg))
        }
        _ => false,
    }
}
