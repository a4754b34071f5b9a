//! OM102: the clock in a key or partition.
use super::prelude::*;
use super::shared::{is_log, severity, spelled};

pub(super) const RULE: Rule = Rule { id: "OM102", page: include_str!("../../rules/OM102.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for (at, statement, _) in file.statements() {
        for occurrence in file.occurrences(at) {
            if occurrence.class != Class::Clock || is_log(file, at, occurrence) {
                continue;
            }
            let Some(column) = occurrence
                .roles
                .iter()
                .find_map(|role| if let Role::Key(column) = role { Some(column) } else { None })
            else {
                continue;
            };
            let Some(level) = severity(file, statement, Severity::Error) else { continue };
            let place =
                if column.contains(' ') { column.clone() } else { format!("the key column `{column}`") };
            out.report(
                Draft::new(
                    level,
                    occurrence.span,
                    format!(
                        "the clock, {}, is part of \
                    {place}",
                        spelled(file, occurrence)
                    ),
                )
                .rerun(
                    "the repair run of 2024-03-01 in June writes rows under a new key; the broken \
                        rows stay beside them",
                )
                .help("build the key from the interval or from the event's own time"),
            );
        }
    }
}
