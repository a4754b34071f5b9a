//! OM312: a table is emptied and filled again.
use super::prelude::*;
use super::slices::read_later;

pub(super) const RULE: Rule = Rule { id: "OM312", page: include_str!("../../rules/OM312.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    let mut reported: Vec<(usize, usize)> = Vec::new();
    for write in file.writes() {
        let Effect::ReplaceAll(replaced) = write.effect() else { continue };
        let Some(by) = replaced.by.filter(|by| !reported.contains(by)) else { continue };
        let Some(removal) = file.write(by.0, by.1).filter(|other| other.verb == Verb::Truncate) else {
            continue;
        };
        let stage = write.target.is_stage()
            || looks_beside(&write.target)
            || write.context.is_stage(write.write)
            || read_later(file, &write);
        if stage || write.context.is_log(&write.target) {
            continue;
        }
        let bounded = write.source.and_then(|source| bounded_by(&write, source));
        if bounded.is_none() && replaced.atomic {
            continue;
        }
        reported.push(by);
        let target = write.target.text();
        let draft = match bounded {
            Some(_) => Draft::new(
                Severity::Error,
                removal.head,
                format!(
                    "all rows of `{target}` go, and \
                those of one interval come back"
                ),
            )
            .rerun("1 March is run again: the table holds 1 March, and nothing else")
            .help("delete the interval's rows only, in the transaction of the INSERT"),
            None => Draft::new(
                Severity::Error,
                removal.head,
                format!(
                    "`{target}` is empty until the next \
                statement is done, and stays so if it fails"
                ),
            )
            .rerun(
                "the INSERT fails on one bad row: the table is empty until somebody repairs it, and \
                    readers see nothing",
            )
            .help(
                "TRUNCATE and INSERT in one transaction where the engine can; or fill a new table and \
                    swap",
            ),
        };
        out.report(draft);
    }
}

/// A table built beside another.
fn looks_beside(target: &Name) -> bool {
    ["_new", "_build", "_next", "_shadow", "_load"].iter().any(|end| target.last().ends_with(end))
}

/// A range in time by a parameter that each branch of the source has.
fn bounded_by(write: &WriteFact<'_, '_>, source: QueryId) -> Option<Span> {
    let scopes = write.view.scopes(source);
    let range = |scope: &Scope<'_>| {
        scope
            .ranges
            .iter()
            .find(|range| {
                range.has_param()
                    && range.low.is_some()
                    && range.names.iter().any(|name| super::slices::is_time_name(name))
            })
            .map(|range| range.span)
    };
    scopes.iter().all(|scope| range(scope).is_some()).then(|| scopes.first().and_then(range)).flatten()
}
