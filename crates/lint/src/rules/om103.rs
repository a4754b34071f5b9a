//! OM103: the clock in a column that only tells when a row was written.
use super::prelude::*;
use super::shared::{is_log, is_view, spelled};

pub(super) const RULE: Rule = Rule { id: "OM103", page: include_str!("../../rules/OM103.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    let provenance = file.script.model.as_ref().map_or(&[][..], |model| model.provenance.as_slice());
    for (at, statement, _) in file.statements() {
        if is_view(statement) {
            continue;
        }
        for occurrence in file.occurrences(at) {
            if occurrence.class != Class::Clock || is_log(file, at, occurrence) || occurrence.roles.is_empty()
            {
                continue;
            }
            let columns: Option<Vec<&String>> = occurrence
                .roles
                .iter()
                .map(|role| if let Role::Audit(column) = role { Some(column) } else { None })
                .collect();
            let Some(columns) =
                columns.filter(|columns| !columns.iter().all(|column| provenance.contains(column)))
            else {
                continue;
            };
            let column = columns.first().map_or("", |column| column.as_str());
            out.report(
                Draft::new(
                    Severity::Info,
                    occurrence.span,
                    format!(
                        "`{column}` holds the time of the run, \
                    {}",
                        spelled(file, occurrence)
                    ),
                )
                .rerun(
                    "each run of the same interval stores other content, so equal results can't be \
                        told from changed ones",
                )
                .help("keep such stamps outside the table's content, or allow it with a reason"),
            );
        }
    }
}
