//! OM402: both ends of an interval belong to it.
use super::fixes::{ends_with, has_comment, starts_with};
use super::prelude::*;
use super::slices::{filling, is_day_name, is_time_name, slice};
use crate::finding::{Fix, Safety};

pub(super) const RULE: Rule = Rule { id: "OM402", page: include_str!("../../rules/OM402.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        let Some(source) = write.source else { continue };
        let keeps =
            matches!(write.effect(), Effect::Append | Effect::ReplaceSlice(_)) || file.script.model.is_some();
        // By key, or all anew, a row at the edge is there once all the same; but where it makes a group of its own, the next
        // hour's, that is put over the whole one.
        let keyed = write.effect() == Effect::Keyed;
        if !(keeps || keyed) || write.context.is_log(&write.target) {
            continue;
        }
        for id in write.view.reachable(source) {
            let Some(select) = write.view.select(id) else { continue };
            let mut scope = write.view.scope_of(id, &select.filters);
            for from in &select.from {
                scope.ranges.extend(write.view.scope_of(id, &from.on).ranges);
            }
            for range in scope.ranges.iter().filter(|range| {
                !keyed || groups_by_part_of(select, range) || is_keyed_by(&write, source, range)
            }) {
                if let Some(level) = judge(file, &write, &scope, range) {
                    out.report(draft(range, level).fix(fix(file, &write, id, range, level)));
                }
            }
        }
    }
}

/// `GROUP BY date_trunc('hour', ts)`, of a range of `ts`.
fn groups_by_part_of(select: &Select, range: &Range<'_>) -> bool {
    let Group::By(list) = &select.group else { return false };
    let name = range.column.column().map(|(_, name)| name);
    let holds = |by: &Expr| by.any(&mut |part| part.column().map(|(_, own)| own) == name);
    list.iter().any(|by| by.column().is_none() && holds(by))
}

/// Whether the beginning of a range is a part of the key that is written: the row at the edge counts in two windows.
fn is_keyed_by<'a>(write: &WriteFact<'_, 'a>, source: QueryId, range: &Range<'a>) -> bool {
    let Some(low) = range.low.filter(|low| has_param(low.value)) else { return false };
    let outputs = write.view.outputs(source);
    let named = |name: &str| match outputs.list.iter().find(|output| output.name == name)?.value {
        OutputValue::Expr(expr) => Some(expr),
        _ => None,
    };
    let mut keys: Vec<&Expr> =
        write.view.merge_pairs(write).iter().filter_map(|(_, column)| named(column)).collect();
    if let Some(conflict) = &write.conflict {
        keys.extend(conflict.keys.iter().filter_map(|column| filling(write, source, column)));
    }
    keys.into_iter().any(|key| render(without_cast(key)) == render(without_cast(low.value)))
}

fn without_cast(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast { expr, .. } => without_cast(expr),
        _ => expr,
    }
}

fn draft(range: &Range<'_>, level: Severity) -> Draft {
    let span = range.high.map_or(range.span, |high| high.span);
    Draft::new(level, span, "both ends of the interval are taken in")
        .rerun("a row at 2024-03-02 00:00:00 sharp is in the slice of 1 March and in that of 2 March")
        .help("half-open: ts >= :interval_start AND ts < :interval_end")
}

/// The upper end without its last instant. Nothing is rewritten where the type is not known, and `23:59:59` has to become
/// another value.
fn fix<'a>(
    file: &File<'a>,
    write: &WriteFact<'_, 'a>,
    query: QueryId,
    range: &Range<'a>,
    level: Severity,
) -> Option<Fix> {
    let (low, high) = (range.low?, range.high?);
    if level != Severity::Error || last_second(high.value) {
        return None;
    }
    let text = &file.script.text;
    let (compared, value) = (range.compared.span, high.value.span);
    let (span, text) = if low.span == high.span {
        let inside = [compared, low.value.span, value].into_iter().all(|part| high.span.contains(part));
        if !inside || has_comment(file, high.span) {
            return None;
        }
        let column = compared.of(text);
        let half_open = format!("{column} >= {} AND {column} < {}", low.value.span.of(text), value.of(text));
        (high.span, half_open)
    } else {
        let before = Span { start: high.span.start, end: value.start };
        let after = Span { start: value.end, end: high.span.end };
        match ends_with(file, before, "<=") {
            Some(span) => (span, "<".to_string()),
            None => (starts_with(file, after, ">=")?, ">".to_string()),
        }
    };
    Some(Fix { span, text, safety: safety(file, write, query, range) })
}

/// A model that lets a row through which is not of its interval stops; so one that went through had none at the edge.
fn safety(file: &File<'_>, write: &WriteFact<'_, '_>, query: QueryId, range: &Range<'_>) -> Safety {
    let time = file.script.model.as_ref().and_then(|header| header.time.as_deref());
    let of_slice = write.verb == Verb::Model(ModelWrite::Slice)
        && write.source == Some(query)
        && time.and_then(|time| filling(write, query, time)).is_some_and(|filling| {
            let source = write.view.source(query, filling);
            source != ColumnSource::Unknown && source == write.view.source(query, range.column)
        });
    if of_slice { Safety::Safe } else { Safety::Unsafe }
}

fn judge<'a>(
    file: &File<'a>,
    write: &WriteFact<'_, 'a>,
    scope: &Scope<'a>,
    range: &Range<'a>,
) -> Option<Severity> {
    let (low, high) = (range.low?, range.high?);
    let closed = !range.exact
        && low.inclusive
        && high.inclusive
        && has_param(high.value)
        && render(low.value) != render(high.value);
    if !closed {
        return None;
    }
    if file.script.model.is_some() {
        let end = instant(high.value).is_some_and(|at| at.base == "interval_end" && at.offset == 0);
        return end.then_some(Severity::Error);
    }
    let name = range.column.column()?.1;
    if name.starts_with("_partition") || is_hint(scope, range) {
        return None;
    }
    let by_day = [low.value, high.value, range.compared].into_iter().any(to_day);
    let timed = last_second(high.value);
    let stamp = match data_type(write, range) {
        Some(kind) if kind.contains("timestamp") || kind.contains("datetime") => true,
        Some(kind) if !kind.is_empty() => return None,
        _ if timed || [low.value, high.value].into_iter().any(is_instant) => true,
        _ if by_day || is_day_name(name) || !is_time_name(name) => return None,
        _ => false,
    };
    if by_day && !timed {
        return None;
    }
    let texts = [render(low.value), render(high.value)];
    let healed = slice(file, write).is_some_and(|slice| {
        slice.parts.iter().any(|part| {
            part.texts == texts
                && part.low.as_ref().is_some_and(|low| low.inclusive)
                && part.high.as_ref().is_some_and(|high| high.inclusive)
        })
    });
    Some(if stamp && !healed { Severity::Error } else { Severity::Warning })
}

/// A wider range beside a half-open one: it only says which partitions are read.
fn is_hint(scope: &Scope<'_>, range: &Range<'_>) -> bool {
    scope.ranges.iter().any(|other| {
        other.span != range.span
            && other.has_param()
            && other.low.is_some_and(|low| low.inclusive)
            && other.high.is_some_and(|high| !high.inclusive)
    })
}

/// Whether a value is cast to a whole day.
fn to_day(expr: &Expr) -> bool {
    expr.any(&mut |part| match &part.kind {
        ExprKind::Cast { to, .. } => to == "date",
        ExprKind::Call(call) => matches!(
            call.name.as_str(),
            "date"
                | "to_date"
                | "todate"
                | "format_date"
                | "parse_date"
                | "last_day"
                | "date_sub"
                | "date_add"
                | "eomonth"
        ),
        _ => false,
    })
}

/// `TIMESTAMP :end`, `CAST(:end AS timestamp)`.
fn is_instant(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Cast { to, .. } if to.starts_with("timestamp") || to.starts_with("datetime"))
}

/// `… 23:59:59`.
fn last_second(expr: &Expr) -> bool {
    expr.any(
        &mut |part| matches!(&part.kind, ExprKind::Literal(Literal::Text(text)) if text.contains("23:59:59")),
    )
}

fn data_type<'a>(write: &WriteFact<'_, 'a>, range: &Range<'a>) -> Option<String> {
    if let ExprKind::Cast { to, .. } = &range.compared.kind {
        return Some(to.clone());
    }
    let Origin::Base { table, column } = write.view.origin(range.query, range.column) else { return None };
    Some(write.view.knowledge.table(table)?.column(&column)?.data_type.clone())
        .filter(|kind| !kind.is_empty())
}
