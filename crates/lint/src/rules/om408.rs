//! OM408: the interval of a task stands in its text.
use super::prelude::*;
use super::slices::{By, is_time_name, moved, slice};

pub(super) const RULE: Rule = Rule { id: "OM408", page: include_str!("../../rules/OM408.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    if runs_once(&file.script.path) {
        return;
    }
    let mut reported: Vec<Span> = Vec::new();
    for write in file.writes() {
        let stored = matches!(
            write.verb,
            Verb::Insert | Verb::Overwrite | Verb::ReplaceWhere | Verb::Merge | Verb::CreateAs(_)
        );
        if !stored || write.context.is_log(&write.target) {
            continue;
        }
        let Some(span) = written_down(file, &write).filter(|span| !reported.contains(span)) else { continue };
        reported.push(span);
        out.report(
            Draft::new(
                Severity::Warning,
                span,
                "the interval is written down here: another one can only be \
                run by editing the file",
            )
            .rerun(
                "March is repaired by changing the date; two days later the scheduler runs the file \
                    as it was left, and the day of the run is missing",
            )
            .help("take it from a parameter: :day, or :interval_start and :interval_end"),
        );
    }
}

fn runs_once(path: &str) -> bool {
    path.split(['/', '\\']).any(|part| {
        let part = part.to_ascii_lowercase();
        [
            "seed",
            "seeds",
            "test",
            "tests",
            "fixtures",
            "migrations",
            "migration",
            "ddl",
            "backfill",
            "backfills",
            "adhoc",
            "analysis",
            "analyses",
            "scratch",
        ]
        .contains(&part.as_str())
    })
}

/// The slice that is replaced, else the filter.
fn written_down<'a>(file: &File<'a>, write: &WriteFact<'_, 'a>) -> Option<Span> {
    if let Some(slice) = slice(file, write).filter(|slice| matches!(slice.by, By::Partition | By::Predicate))
    {
        if slice.parts.iter().any(|part| !part.params.is_empty()) {
            return None;
        }
        let of_slice = slice.parts.iter().find(|part| {
            let dated = |edge: &Option<super::slices::Edging>| {
                edge.as_ref().is_some_and(|edge| edge.at.base.is_empty() && is_near(edge.at.offset))
            };
            dated(&part.low) && dated(&part.high)
        });
        return of_slice.map(|part| part.span);
    }
    // A partition that was dropped before.
    if let Effect::ReplaceSlice(Replaced { by: Some((at, index)), .. }) = write.effect()
        && let Some(removal) = file.write(at, index).filter(|removal| !removal.partition.is_empty())
    {
        let mut values = removal.write.partition.iter().filter_map(|(_, value)| value.as_ref());
        return values.find(|value| is_partition_of_a_day(&render(value))).map(|value| value.span);
    }
    if let Some(slice) = moved(file, write) {
        let dated = |part: &&super::slices::Part| part.texts.iter().any(|text| is_partition_of_a_day(text));
        return slice.parts.iter().filter(|part| part.params.is_empty()).find(dated).map(|part| part.span);
    }
    let source = write.source?;
    let scopes = write.view.scopes(source);
    // Another parameter addresses the run.
    if scopes.is_empty() || write.view.takes_parameters() {
        return None;
    }
    let dated = |range: &Range<'_>| {
        let edge = |limit: &Option<RangeEnd<'_>>| {
            limit
                .as_ref()
                .and_then(|limit| instant(limit.value))
                .is_some_and(|at| at.base.is_empty() && is_near(at.offset))
        };
        edge(&range.low)
            && edge(&range.high)
            && (!matches!(write.verb, Verb::CreateAs(_)) || is_short(range))
            && range.names.iter().any(|name| is_time_name(name))
            && !is_validity(range)
    };
    let found = |scope: &Scope<'_>| scope.ranges.iter().find(|range| dated(range)).map(|range| range.span);
    scopes.iter().all(|scope| found(scope).is_some()).then(|| scopes.first().and_then(found)).flatten()
}

/// `'2026-03-01'`, `20260301`, `202603`: a day or a month as partitions are called.
fn is_partition_of_a_day(written: &str) -> bool {
    let digits: String = written.chars().filter(char::is_ascii_digit).collect();
    let plain = written.chars().all(|char| char.is_ascii_digit() || matches!(char, '-' | '\'' | '"'));
    let part = |from: usize, to: usize| digits.get(from..to).and_then(|part| part.parse::<u32>().ok());
    plain
        && matches!(digits.len(), 6 | 8)
        && part(0, 4).is_some_and(|year| (1990..2100).contains(&year))
        && part(4, 6).is_some_and(|month| (1..=12).contains(&month))
        && (digits.len() == 6 || part(6, 8).is_some_and(|day| (1..=31).contains(&day)))
}

/// Up to a quarter. A table made anew of a longer time is a study of that time, no task's interval.
fn is_short(range: &Range<'_>) -> bool {
    let at = |limit: &Option<RangeEnd<'_>>| {
        limit.as_ref().and_then(|limit| instant(limit.value)).map(|at| at.offset)
    };
    at(&range.low).zip(at(&range.high)).is_none_or(|(low, high)| high - low <= 93 * 86_400)
}

fn is_validity(range: &Range<'_>) -> bool {
    range.names.iter().any(|name| super::shared::is_validity(name) || name.starts_with("valid"))
}

/// A day that can be the day of a task: no beginning and no end of time.
fn is_near(seconds: i64) -> bool {
    let year = seconds / 31_556_952;
    (1990..2900).contains(&year)
}
