//! OM404: more is taken away than comes back.
use super::prelude::*;
use super::slices::{By, Edging, Part, Slice, carries, edging, is_time_name, output_of, slice};

pub(super) const RULE: Rule = Rule { id: "OM404", page: include_str!("../../rules/OM404.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        let Some(source) = write.source else { continue };
        let Some(slice) = slice(file, &write).filter(|slice| slice.by == By::Predicate && slice.sure) else {
            continue;
        };
        let scopes = write.view.scopes(source);
        let lost = slice.parts.iter().any(|part| {
            !scopes.is_empty() && scopes.iter().all(|scope| scope.sure && is_wider(&write, part, scope))
        }) || (!scopes.is_empty()
            && scopes.iter().all(|scope| scope.sure && narrowed(&write, &slice, scope)));
        if lost && !filled_twice(file, &write) {
            let target = write.target.text();
            out.report(
                Draft::new(
                    Severity::Error,
                    slice.span(),
                    format!(
                        "more is deleted from `{target}` than is \
                    written again"
                    ),
                )
                .rerun(
                    "an old interval runs again: its neighbours are deleted with it, and only the \
                        interval comes back",
                )
                .help("delete by the bounds by which the INSERT reads"),
            );
        }
    }
}

/// Whether several statements fill the target after the DELETE.
fn filled_twice(file: &File<'_>, write: &WriteFact<'_, '_>) -> bool {
    file.writes()
        .filter(|other| {
            other.target.same(&write.target)
                && matches!(other.verb, Verb::Insert | Verb::Merge | Verb::Copy { .. })
        })
        .count()
        > 1
}

/// Whether the DELETE's range on a column holds values that no row written can have.
fn is_wider(write: &WriteFact<'_, '_>, part: &Part, scope: &Scope<'_>) -> bool {
    if part.params.is_empty() || (part.low.is_none() && part.high.is_none()) {
        return false;
    }
    scope
        .ranges
        .iter()
        .filter(|range| range.has_param() && carries(write, scope.branch, range, &part.column))
        .any(|range| {
            if !std::ptr::eq(range.column, range.compared)
                && !matches!(range.compared.kind, ExprKind::Cast { .. })
            {
                return false;
            }
            let (low, high) = (edging(range.low.as_ref()), edging(range.high.as_ref()));
            let open_above =
                part.high.is_none() && part.low.is_some() && high.is_some() && shares(part, range);
            let open_below =
                part.low.is_none() && part.high.is_some() && low.is_some() && shares(part, range);
            let earlier = part
                .low
                .as_ref()
                .zip(low.as_ref())
                .and_then(|(part, range)| starts_before(part, range))
                .unwrap_or(false);
            let later = part
                .high
                .as_ref()
                .zip(high.as_ref())
                .and_then(|(part, range)| ends_after(part, range))
                .unwrap_or(false);
            open_above || open_below || earlier || later
        })
}

fn shares(part: &Part, range: &Range<'_>) -> bool {
    range.params().iter().any(|name| part.params.contains(name))
}

const DAY: i64 = 86_400;

/// Whether one lower edge is before another; nothing where they can't be compared. An edge that is left out
/// counts as
/// the next day, as days mostly are compared.
pub(super) fn starts_before(a: &Edging, b: &Edging) -> Option<bool> {
    if a.at.base != b.at.base || a.at.base.starts_with('?') {
        return None;
    }
    if a.inclusive == b.inclusive {
        return Some(a.at.offset < b.at.offset);
    }
    let first = |edge: &Edging| edge.at.offset + if edge.inclusive { 0 } else { DAY };
    Some(first(a) < first(b) && a.at.offset < b.at.offset)
}

/// Whether one upper edge is after another.
pub(super) fn ends_after(a: &Edging, b: &Edging) -> Option<bool> {
    if a.at.base != b.at.base || a.at.base.starts_with('?') {
        return None;
    }
    if a.inclusive == b.inclusive {
        return Some(a.at.offset > b.at.offset);
    }
    let last = |edge: &Edging| edge.at.offset - if edge.inclusive { 0 } else { DAY };
    Some(last(a) > last(b) && a.at.offset > b.at.offset)
}

/// Whether the rows written are held to one value of a column that the DELETE does not know: `shop = :shop`.
fn narrowed(write: &WriteFact<'_, '_>, slice: &Slice, scope: &Scope<'_>) -> bool {
    let known = slice.params();
    let timed = slice.parts.iter().any(|part| is_time_name(&part.column));
    if !timed
        || !slice.parts.iter().all(|part| {
            !part.params.is_empty()
                && scope.ranges.iter().any(|range| carries(write, scope.branch, range, &part.column))
        })
    {
        return false;
    }
    let columns: Vec<String> = if write.columns.is_empty() {
        write.view.outputs(scope.branch).list.iter().map(|output| output.name.clone()).collect()
    } else {
        write.columns.clone()
    };
    scope.ranges.iter().any(|range| {
        let params = range.params();
        let fixed =
            range.exact && !params.is_empty() && !params.iter().any(|name| known.contains(&name.as_str()));
        fixed
            && columns.iter().any(|column| {
                !slice.parts.iter().any(|part| part.column == *column)
                    && output_of(write, scope.branch, column).is_some()
                    && carries(write, scope.branch, range, column)
            })
    })
}
