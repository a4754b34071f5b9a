//! OM318: a stage is filled on top of what an earlier run left in it.
use super::prelude::*;
use super::slices::read_later;
use crate::dialect::Dialect;

pub(super) const RULE: Rule = Rule { id: "OM318", page: include_str!("../../rules/OM318.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    let mut reported: Vec<String> = Vec::new();
    for write in file.writes() {
        let fills =
            matches!(write.verb, Verb::Insert | Verb::Copy { remembers: false }) && write.conflict.is_none();
        // Rows written out one by one are no load: each is known by what the script calls it.
        let listed =
            write.source.is_some_and(|source| matches!(write.view.query(source).body, Body::Values(_)));
        if !fills || listed || !read_later(file, &write) || reported.contains(&write.target.text()) {
            continue;
        }
        let made = earlier(file, &write).find_map(|statement| match &statement.action {
            Action::Define(table) if table.name.same(&write.target) => Some(table.creation),
            _ => None,
        });
        let kept = match made {
            Some(creation) if creation.temporary => {
                creation.if_not_exists && !goes_with_transaction(file, &write)
            }
            Some(creation) => creation.if_not_exists,
            None => write.target.is_stage() && !write.target.last().starts_with('#'),
        };
        if !kept || emptied(file, &write) || !matches!(write.effect(), Effect::Append | Effect::Fresh) {
            continue;
        }
        let target = write.target.text();
        out.report(
            Draft::new(
                Severity::Warning,
                write.head,
                format!("`{target}` is filled on top of what an earlier run left in it, and then read"),
            )
            .rerun(
                "the run of 1 March fills it and dies; the run of 2 March adds its rows and publishes both",
            )
            .help("TRUNCATE it first, or create it anew: CREATE OR REPLACE, DROP TABLE IF EXISTS"),
        );
        reported.push(target);
    }
}

/// Earlier statements that touch what is written.
fn earlier<'f>(file: &'f File<'_>, write: &'f WriteFact<'_, '_>) -> impl Iterator<Item = &'f Statement> {
    file.script.index.before(write.target.last(), write.at).filter_map(|at| file.script.statements.get(at))
}

/// Whether any earlier statement takes rows of the stage away.
fn emptied(file: &File<'_>, write: &WriteFact<'_, '_>) -> bool {
    earlier(file, write).any(|statement| match &statement.action {
        Action::Drop { names, .. } => names.iter().any(|name| name.same(&write.target)),
        Action::Alter(changes) => changes.iter().any(|alter| {
            alter.name.same(&write.target) && !matches!(alter.change, AlterChange::AddColumn { .. })
        }),
        _ => statement.writes.iter().any(|other| {
            let empties = match other.verb {
                Verb::Truncate | Verb::Delete => true,
                Verb::CreateAs(creation) => !creation.if_not_exists,
                _ => false,
            };
            empties && other.target.same(&write.target)
        }),
    })
}

fn goes_with_transaction(file: &File<'_>, write: &WriteFact<'_, '_>) -> bool {
    let script = &file.script;
    script.dialect == Dialect::TSql
        || earlier(file, write).any(|statement| {
            matches!(&statement.action, Action::Define(table) if table.name.same(&write.target))
                && statement.span.of(&script.text).to_ascii_lowercase().contains("on commit")
        })
}
