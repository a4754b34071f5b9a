//! OM405: less is taken away than is written.
use super::om404::{ends_after, starts_before};
use super::prelude::*;
use super::slices::{By, Edging, Part, Slice, carries, edging, filling, is_day_name, is_stamped, slice};

pub(super) const RULE: Rule = Rule { id: "OM405", page: include_str!("../../rules/OM405.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        let Some(source) = write.source else { continue };
        let Some(slice) =
            slice(file, &write).filter(|slice| slice.sure && matches!(slice.by, By::Predicate | By::Model))
        else {
            continue;
        };
        if slice.by == By::Predicate && removed_twice(file, &write) {
            continue;
        }
        for scope in write.view.scopes(source).iter().filter(|scope| scope.sure) {
            let wide = slice
                .parts
                .iter()
                .find_map(|part| wider(&write, part, scope))
                .or_else(|| unheld(&write, &slice, scope));
            if let Some(span) = wide {
                let target = write.target.text();
                out.report(
                    Draft::new(
                        Severity::Error,
                        span,
                        format!(
                            "more is written into `{target}` than was \
                        taken away"
                        ),
                    )
                    .rerun(
                        "the interval runs again: the rows beyond the slice that was deleted are \
                            there already, and stand in the table twice",
                    )
                    .help(
                        "delete by the bounds by which the INSERT reads; or cut what is read to the \
                            slice at the end",
                    ),
                );
                break;
            }
        }
    }
}

fn removed_twice(file: &File<'_>, write: &WriteFact<'_, '_>) -> bool {
    file.changes_before(&write.target, write.at)
        .filter(|other| matches!(other.verb, Verb::Delete | Verb::Truncate))
        .count()
        > 1
}

/// The range by which rows outside the slice get in, if no other range cuts them off.
fn wider(write: &WriteFact<'_, '_>, part: &Part, scope: &Scope<'_>) -> Option<Span> {
    if part.low.is_none() || part.high.is_none() || part.params.is_empty() {
        return None;
    }
    let kept = filling(write, scope.branch, &part.column).is_none_or(is_kept);
    let ranges: Vec<&Range<'_>> =
        scope.ranges.iter().filter(|range| carries(write, scope.branch, range, &part.column)).collect();
    if !kept || ranges.is_empty() {
        return None;
    }
    // A model's own end is OM402's.
    let (by_hand, column) = (!matches!(write.verb, Verb::Model(_)), &part.column);
    let outside = |range: &Range<'_>| {
        let below = part
            .low
            .as_ref()
            .zip(edging(range.low.as_ref()))
            .and_then(|(part, range)| starts_before(&range, part));
        let above = part.high.as_ref().zip(edging(range.high.as_ref())).and_then(|(part, range)| {
            let more = by_hand && takes_in(part, &range, column);
            Some(ends_after(&range, part)? || more)
        });
        (below, above)
    };
    let judged: Vec<(Option<bool>, Option<bool>)> = ranges.iter().map(|range| outside(range)).collect();
    // An edge that can't be compared may cut.
    let beyond = |found: &[Option<bool>]| found.contains(&Some(true)) && !found.contains(&Some(false));
    let lows: Vec<Option<bool>> = ranges
        .iter()
        .zip(&judged)
        .filter(|(range, _)| range.low.is_some() || range.exact)
        .map(|(_, found)| found.0)
        .collect();
    let highs: Vec<Option<bool>> = ranges
        .iter()
        .zip(&judged)
        .filter(|(range, _)| range.high.is_some() || range.exact)
        .map(|(_, found)| found.1)
        .collect();
    let surely = |found: &[Option<bool>]| beyond(found) && !found.contains(&None);
    if highs.is_empty() || (!surely(&lows) && !surely(&highs)) {
        return None;
    }
    ranges
        .iter()
        .zip(&judged)
        .find(|(_, found)| found.0 == Some(true) || found.1 == Some(true))
        .map(|(range, _)| range.span)
}

/// `day < :to` is taken away, `day <= :to` is written: of days OM402 says nothing, since such a range may be whole.
fn takes_in(slice: &Edging, range: &Edging, column: &str) -> bool {
    is_day_name(column) && slice.at == range.at && range.inclusive && !slice.inclusive
}

/// Whether an expression is a column as it is, but for its type: of `date_trunc('week', day)` seven days make one slice.
fn is_kept(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Column { .. } => true,
        ExprKind::Cast { expr, .. } => is_kept(expr),
        ExprKind::Call(call) => call.name == "date" && call.args.iter().all(is_kept),
        _ => false,
    }
}

/// The DELETE holds a column to one value, and what is written is not held to it.
fn unheld(write: &WriteFact<'_, '_>, slice: &Slice, scope: &Scope<'_>) -> Option<Span> {
    if slice.by != By::Predicate {
        return None;
    }
    let bounded =
        |column: &str| scope.ranges.iter().find(|range| carries(write, scope.branch, range, column));
    let other =
        slice.parts.iter().find_map(|part| bounded(&part.column).filter(|range| range.has_param()))?;
    let loose = slice.parts.iter().any(|part| {
        part.exact
            && !part.params.is_empty()
            && bounded(&part.column).is_none()
            && !is_stamped(write, scope.branch, &part.column)
            && filling(write, scope.branch, &part.column).is_some_and(|expr| expr.column().is_some())
            && !other.params().iter().any(|name| part.params.contains(name))
    });
    loose.then_some(other.span)
}
