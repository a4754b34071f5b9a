//! OM107: a sample of rows.
use super::prelude::*;
use super::shared::severity;

pub(super) const RULE: Rule = Rule { id: "OM107", page: include_str!("../../rules/OM107.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    // ClickHouse samples by a key of the table: the same rows each time.
    if file.script.dialect == crate::dialect::Dialect::ClickHouse {
        return;
    }
    for (_, statement, view) in file.statements() {
        for (id, _) in view.queries() {
            for from in view.select(id).into_iter().flat_map(|select| &select.from) {
                let Some(sample) = from.sample.as_ref().filter(|sample| !sample.whole) else { continue };
                let stored = if sample.seeded { Severity::Warning } else { Severity::Error };
                let Some(level) = severity(file, statement, stored) else { continue };
                let message = if sample.seeded {
                    "the seed gives the same sample only while no file of the table moves"
                } else {
                    "which rows the sample holds is drawn anew in each run"
                };
                out.report(
                    Draft::new(level, sample.span, message)
                        .rerun("the second run of the same interval reads other rows")
                        .help("choose rows by a hash of their key, such as mod(hash(id), 10) = 0"),
                );
            }
        }
    }
}
