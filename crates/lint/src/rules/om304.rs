//! OM304: only rows that are not there yet.
use super::prelude::*;
use super::slices::feeders;

pub(super) const RULE: Rule = Rule { id: "OM304", page: include_str!("../../rules/OM304.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        if !matches!(write.verb, Verb::Insert | Verb::Model(_))
            || write.effect() == Effect::Fresh
            || updates_the_rest(file, &write)
        {
            continue;
        }
        if write.context.is_log(&write.target) {
            continue;
        }
        let readers = std::iter::once(write).chain(feeders(file, &write));
        let reads = readers.flat_map(|reader| {
            reader.source.map(|source| reader.view.reads_of(source, &write.target)).unwrap_or_default()
        });
        for (read, span) in reads {
            if read != SelfRead::AntiJoin {
                continue;
            }
            let target = write.target.text();
            out.report(
                Draft::new(
                    Severity::Error,
                    span,
                    format!("rows that are in `{target}` already are left out"),
                )
                .rerun(
                    "a row is corrected in the source and the interval runs again: the row is there, \
                        so it is left out, and stays wrong",
                )
                .help("MERGE on the key and update what is there, or delete the interval's rows first"),
            );
        }
    }
}

/// UPDATE or DELETE of the same target before, in the same script: together a keyed write.
fn updates_the_rest(file: &File<'_>, write: &WriteFact<'_, '_>) -> bool {
    file.changes_before(&write.target, write.at)
        .any(|other| other.verb == Verb::Update || (other.verb == Verb::Delete && !other.filters.is_empty()))
}
