//! OM401: rows of other intervals are read.
use super::prelude::*;
use super::slices::{By, Slice, is_stamped, moved, slice};

pub(super) const RULE: Rule = Rule { id: "OM401", page: include_str!("../../rules/OM401.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        let Some(source) = write.source else { continue };
        let replaced = slice(file, &write).or_else(|| moved(file, &write));
        let Some(slice) = replaced.filter(|slice| slice.sure && slice.by != By::Coming && slice.is_closed())
        else {
            continue;
        };
        for scope in write.view.scopes(source).iter().filter(|scope| scope.sure) {
            if let Some(span) = open_end(file, &write, &slice, scope) {
                out.report(
                    Draft::new(Severity::Error, span, "rows of later intervals are read as well")
                        .rerun("2024-03-01 is run again in June: its slice takes in all that came since")
                        .help("bound both ends: ts >= :interval_start AND ts < :interval_end"),
                );
                break;
            }
        }
    }
}

fn open_end(file: &File<'_>, write: &WriteFact<'_, '_>, slice: &Slice, scope: &Scope<'_>) -> Option<Span> {
    let bounded = |range: &Range<'_>| {
        range.exact && range.low.is_none()
            || range.high.is_some() && (range.has_param() || range.limits().any(|limit| asks(limit.value)))
    };
    if scope.ranges.iter().any(bounded) || scope.tables.is_empty() {
        return None;
    }
    let params = slice.params();
    let open = scope.ranges.iter().find(|range| {
        range.low.is_some() && range.params().iter().any(|name| params.contains(&name.as_str()))
    });
    if let Some(range) = open {
        return Some(range.span);
    }
    // Nothing bounds at all: only a model says surely that it is one interval's rows.
    if slice.by != By::Model || scope.ranges.iter().any(Range::has_param) {
        return None;
    }
    let stamped = slice.parts.iter().any(|part| is_stamped(write, scope.branch, &part.column));
    let (_, first) = scope.tables.first()?;
    let given = file.script.lexed.placeholders.iter().any(|placeholder| first.span.contains(*placeholder));
    let place = match &first.relation {
        Relation::Table(name) => name.span,
        _ => first.span,
    };
    (!stamped && !given).then_some(place)
}

fn asks(expr: &Expr) -> bool {
    expr.any(&mut |part| matches!(part.kind, ExprKind::Subquery { .. }))
}
