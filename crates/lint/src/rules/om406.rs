//! OM406: the slice is named by the day of the load, its rows are chosen by when they happened.
use super::prelude::*;
use super::slices::{By, carries, is_load_name, is_time_name, partition_clause, slice};

pub(super) const RULE: Rule = Rule { id: "OM406", page: include_str!("../../rules/OM406.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        let Some(source) = write.source else { continue };
        let Some(slice) = slice(file, &write)
            .filter(|slice| slice.sure && matches!(slice.by, By::Partition | By::Predicate))
        else {
            continue;
        };
        if is_landing(&write.target) || write.context.is_log(&write.target) {
            continue;
        }
        let Some(part) =
            slice.parts.iter().find(|part| is_load_name(&part.column) && !part.params.is_empty())
        else {
            continue;
        };
        if slice.parts.iter().any(|part| is_time_name(&part.column) && !is_load_name(&part.column)) {
            continue;
        }
        let scopes = write.view.scopes(source);
        let by_event = |scope: &Scope<'_>| {
            let timed =
                |range: &&Range<'_>| range.has_param() && range.names.iter().any(|name| is_time_name(name));
            let shared = scope.ranges.iter().any(|range| carries(&write, scope.branch, range, &part.column));
            let mut event = scope.ranges.iter().filter(timed).peekable();
            // A difference of bounds is a difference of meaning: the same parameter names both.
            let apart = event.clone().all(|range| {
                let load = range.names.iter().any(|name| is_load_name(name));
                let same_day = range.exact && range.params().iter().any(|name| part.params.contains(name));
                !load && !same_day
            });
            scope.sure && !shared && event.peek().is_some() && apart
        };
        if scopes.is_empty() || !scopes.iter().all(by_event) {
            continue;
        }
        let span =
            if slice.by == By::Partition { partition_clause(&write).unwrap_or(part.span) } else { part.span };
        out.report(
            Draft::new(
                Severity::Warning,
                span,
                format!(
                    "the slice is named by the load (`{}`), its rows \
                are chosen by when they happened",
                    part.column
                ),
            )
            .rerun(
                "1 March is repaired in June: its rows are written under June's load, and the wrong \
                    ones stay under March's",
            )
            .help("name the slice by the event's day; keep the raw landing apart"),
        );
    }
}

/// Raw landing tables are named by the load on purpose.
fn is_landing(name: &Name) -> bool {
    name.parts.iter().any(|part| {
        part.split('_').any(|word| {
            matches!(
                word,
                "raw" | "landing" | "bronze" | "stage" | "staging" | "stg" | "land" | "ingest" | "lake"
            )
        })
    })
}
