//! OM313: a bulk load that adds the same files again.
use super::prelude::*;
use super::slices::read_later;
use crate::dialect::Dialect;

pub(super) const RULE: Rule = Rule { id: "OM313", page: include_str!("../../rules/OM313.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        let Verb::Copy { remembers } = write.verb else { continue };
        // A stage that the same script reads is OM318's. What is called like no stage is kept for itself as well.
        if write.context.is_stage(write.write)
            || is_passing(file, &write) && read_later(file, &write)
            || write.context.is_log(&write.target)
        {
            continue;
        }
        let target = write.target.text();
        let draft = match write.effect() {
            Effect::Append if !remembers => Draft::new(
                Severity::Error,
                write.head,
                format!(
                    "files are \
                loaded into `{target}`, and nothing takes away what they brought before"
                ),
            )
            .rerun(
                "the load is retried after a time-out that came after the commit: each row of the \
                    files is there twice",
            ),
            _ if remembers
                && file.script.dialect == Dialect::Snowflake
                && write.effect() == Effect::KeepFirst =>
            {
                Draft::new(
                    Severity::Info,
                    write.head,
                    format!(
                        "files are loaded into `{target}` once, for \
                    as long as they are remembered"
                    ),
                )
                .rerun(
                    "a repair after 64 days loads the files again; a file that was corrected under \
                        its name loads beside the old rows",
                )
            }
            _ => continue,
        };
        out.report(draft.help(
            "delete the slice and load it in one transaction, or load into a stage that is emptied first",
        ));
    }
}

/// Whether a table is there for this script alone: by its name, or because the script makes it.
fn is_passing(file: &File<'_>, write: &WriteFact<'_, '_>) -> bool {
    let makes = |statement: &Statement| match &statement.action {
        Action::Define(table) => table.name.same(&write.target),
        _ => false,
    };
    let mut before = file.script.index.before(write.target.last(), write.at);
    write.target.is_stage() || before.any(|at| file.script.statements.get(at).is_some_and(makes))
}
