//! Calls in a statement, the groups that aggregates see, and places that rules point at.

use std::collections::HashSet;

use crate::lex::TokenKind;

use super::prelude::*;

/// Visits every expression of a statement that stands in a query, each with that query: of the values of
/// UPDATE and MERGE
/// the scope in which they are read.
pub(super) fn each_expr<'a>(view: &View<'a>, visit: &mut impl FnMut(QueryId, &'a Expr)) {
    for (id, _) in view.queries() {
        view.each_expr(id, &mut |expr| visit(id, expr));
    }
    for write in &view.statement.writes {
        let Some(scope) = write.scope else { continue };
        write.sets.iter().for_each(|set| visit(scope, &set.value));
        for branch in &write.branches {
            branch.filters.iter().for_each(|expr| visit(scope, expr));
            match &branch.action {
                BranchAction::Update(sets) => sets.iter().for_each(|set| visit(scope, &set.value)),
                BranchAction::Insert(_, values) => values.iter().for_each(|expr| visit(scope, expr)),
                _ => {}
            }
        }
    }
}

/// Every call of a statement that is as `wanted` says, once, with its query.
pub(super) fn calls<'a>(
    view: &View<'a>,
    wanted: impl Fn(&Call) -> bool,
) -> Vec<(QueryId, &'a Expr, &'a Call)> {
    let mut found: Vec<(QueryId, &'a Expr, &'a Call)> = Vec::new();
    let mut seen = HashSet::new();
    each_expr(view, &mut |id, expr| {
        expr.walk(&mut |part| {
            if let ExprKind::Call(call) = &part.kind
                && wanted(call)
                && seen.insert(part.span)
            {
                found.push((id, part, call));
            }
        });
    });
    found
}

/// The expressions by which a query groups: what is the same for all rows that an aggregate of it sees.
pub(super) fn group_of<'a>(view: &View<'a>, query: QueryId) -> Vec<&'a Expr> {
    let Some(select) = view.select(query) else { return Vec::new() };
    match &select.group {
        Group::By(list) | Group::Sets(list) => list.iter().collect(),
        Group::All => {
            let plain = select.items.iter().filter_map(|item| match item {
                Item::Expr { expr, .. } if !view.aggregates(expr) => Some(expr),
                _ => None,
            });
            plain.collect()
        }
        Group::No => Vec::new(),
    }
}

/// Whether all outputs of a query that something reads follow from `known`.
pub(super) fn outputs_follow<'a>(view: &View<'a>, query: QueryId, known: &[&'a Expr]) -> bool {
    let outputs = view.outputs(query);
    let used = view.used_outputs(query);
    !outputs.open && outputs.list.iter().all(|output| {
        used.as_ref().is_some_and(|used| !used.contains(&output.name))
            || matches!(&output.value, OutputValue::Expr(expr) if view.depends_only_on(query, expr, known))
    })
}

/// The parts of a value that is compared part by part: `(a, b)`, `ROW(a, b)`, `tuple(a, b)`, `STRUCT(a, b)`.
pub(super) fn parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Other(list) if !list.is_empty() => list.iter().flat_map(parts).collect(),
        ExprKind::Call(call)
            if matches!(
                call.name.as_str(),
                "row" | "tuple" | "struct" | "named_struct" | "array" | "list_value" | "array_construct"
            ) =>
        {
            call.args.iter().flat_map(parts).collect()
        }
        _ => vec![expr],
    }
}

/// A table in FROM as written: with the parentheses of a subquery, and with its alias.
pub(super) fn as_written(file: &File<'_>, from: &From) -> Span {
    let (text, lexed) = (&file.script.text, &file.script.lexed);
    let mut span = from.span;
    if !span.is_somewhere() {
        return span;
    }
    let token = |at: usize| lexed.tokens.get(at);
    if matches!(from.relation, Relation::Query(_))
        && let Some(open) =
            token(lexed.index_at(span.start)).and_then(|token| token.outer).map(|open| open as usize)
        && let Some(close) = token(open).and_then(|token| token.mate).map(|close| close as usize)
        && let (Some(first), Some(last)) = (token(open), token(close))
    {
        span = first.span.to(last.span);
    }
    let mut at = lexed.index_at(span.end);
    let word = |at: usize| {
        token(at)
            .filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::Quoted))
            .map(|token| token.span)
    };
    let mut end = None;
    if word(at).is_some_and(|span| span.of(text).eq_ignore_ascii_case("as")) {
        at += 1;
    }
    if let Some(alias) = word(at)
        .filter(|alias| alias.of(text).trim_matches(['"', '`', '[', ']']).eq_ignore_ascii_case(&from.alias))
    {
        end = Some(alias);
    }
    end.map_or(span, |end| span.to(end))
}

/// Whether a parameter or a placeholder of a template stands anywhere in a call or an expression.
pub(super) fn has_param(expr: &Expr) -> bool {
    expr.any(&mut |part| matches!(part.kind, ExprKind::Param(_)))
}

/// What was lacking, without taking the severity down: for faults that are judged by what is known to be
/// absent.
pub(super) fn unsure(mut draft: Draft, lacking: String) -> Draft {
    draft.confidence = crate::finding::Confidence::Low;
    draft.lacked = Some(lacking);
    draft
}
