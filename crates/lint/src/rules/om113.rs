//! OM113: rows are spread over machines by chance.
use super::prelude::*;
use super::shared::{is_log, severity, spelled, spreads_by_chance};

pub(super) const RULE: Rule = Rule { id: "OM113", page: include_str!("../../rules/OM113.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for (at, statement, _) in file.statements() {
        for occurrence in file.occurrences(at) {
            if !spreads_by_chance(file, occurrence) || is_log(file, at, occurrence) {
                continue;
            }
            let Some(level) = severity(file, statement, Severity::Error) else { continue };
            out.report(
                Draft::new(
                    level,
                    occurrence.span,
                    format!(
                        "chance, {}, decides which machine gets a \
                    row",
                        spelled(file, occurrence)
                    ),
                )
                .rerun(
                    "one task is repeated after a failure and draws again: some rows go where they \
                        already are, others nowhere",
                )
                .help("spread by a hash of the key, such as pmod(hash(id), 8)"),
            );
        }
    }
}
