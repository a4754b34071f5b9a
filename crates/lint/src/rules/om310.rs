//! OM310: rows are taken away and put back in two steps.
use super::prelude::*;

pub(super) const RULE: Rule = Rule { id: "OM310", page: include_str!("../../rules/OM310.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    let mut reported = std::collections::HashSet::new();
    for write in file.writes() {
        let (Effect::ReplaceSlice(replaced) | Effect::ReplaceAll(replaced)) = write.effect() else {
            continue;
        };
        let half = replaced.atomic && goes_on_after_errors(file, &write);
        let Some(by) = replaced.by.filter(|by| (!replaced.atomic || half) && !reported.contains(by)) else {
            continue;
        };
        let Some(removal) = file.write(by.0, by.1) else { continue };
        // TRUNCATE is OM312's.
        if removal.verb != Verb::Delete {
            continue;
        }
        if write.target.is_stage() {
            continue;
        }
        reported.insert(by);
        let target = write.target.text();
        if half {
            out.report(
                Draft::new(
                    Severity::Info,
                    removal.head,
                    format!(
                        "an error in the INSERT does not undo the \
                    DELETE on `{target}`"
                    ),
                )
                .rerun(
                    "the INSERT fails on one row, the batch goes on, and COMMIT makes the DELETE \
                        alone visible",
                )
                .help("SET XACT_ABORT ON, or TRY and CATCH with ROLLBACK"),
            );
            continue;
        }
        out.report(
            Draft::new(
                Severity::Error,
                removal.head,
                format!("rows of `{target}` are deleted in one step and put back in another"),
            )
            .rerun(
                "the INSERT fails or the session dies between the two: the rows are gone, and \
                    readers see an empty slice",
            )
            .help("BEGIN before the DELETE, COMMIT after the INSERT"),
        );
    }
}

/// SQL Server without XACT_ABORT or TRY: most errors end a statement, not the transaction.
fn goes_on_after_errors(file: &File<'_>, write: &WriteFact<'_, '_>) -> bool {
    file.script.dialect == crate::dialect::Dialect::TSql
        && write.statement.transaction.is_some()
        && !file.script.index.handles_errors
        && !file.script.index.sessions.iter().filter_map(|at| file.script.statements.get(*at)).any(|statement| {
            matches!(&statement.action, Action::Session { name, value } if name == "xact_abort" && !value.to_ascii_lowercase().contains("off"))
        })
}
