//! Which output columns a query names, and where. By its text alone: what `*` stands for is the engine's to say.

use sqlparser::ast::{Expr, Ident, Query, SelectItem, SetExpr};

use super::{Lines, Span, word_at};

/// Columns with the places of their names, as far as they are written.
pub(crate) fn outputs(sql: &str, lines: &Lines<'_>, query: &Query) -> Vec<(String, Span)> {
    let mut body = &*query.body;
    // The first of several queries names the columns of all.
    let select = loop {
        match body {
            SetExpr::Select(select) => break select,
            SetExpr::Query(query) => body = &query.body,
            SetExpr::SetOperation { left, .. } => body = left,
            _ => return Vec::new(),
        }
    };
    select.projection.iter().filter_map(name_of).map(|name| named(sql, lines, name)).collect()
}

fn name_of(item: &SelectItem) -> Option<&Ident> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias),
        SelectItem::UnnamedExpr(Expr::Identifier(name)) => Some(name),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => parts.last(),
        _ => None,
    }
}

fn named(sql: &str, lines: &Lines<'_>, name: &Ident) -> (String, Span) {
    let start = lines.start_of(name.span);
    let span = match name.quote_style {
        Some(_) => Span { start, end: lines.byte(name.span.end.line, name.span.end.column) },
        None => word_at(sql, start),
    };
    // Without quotes, the engine reads names in lower case.
    let text = if name.quote_style.is_some() { name.value.clone() } else { name.value.to_lowercase() };
    (text, span)
}
