//! OM306: a MERGE that only inserts.
use super::prelude::*;

pub(super) const RULE: Rule = Rule { id: "OM306", page: include_str!("../../rules/OM306.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        if write.verb != Verb::Merge || write.context.is_log(&write.target) {
            continue;
        }
        let inserts = write
            .branches
            .iter()
            .any(|branch| matches!(branch.action, BranchAction::Insert(..) | BranchAction::InsertAll));
        let others = write.branches.iter().any(|branch| branch.when != When::NotMatched);
        if !inserts || others || emptied(file, &write) || all_key(&write) || never_matches(&write) {
            continue;
        }
        let target = write.target.text();
        out.report(
            Draft::new(
                Severity::Error,
                write.head,
                format!(
                    "a row that is in `{target}` already stays as \
                it is"
                ),
            )
            .rerun(
                "a row is corrected in the source and the interval runs again: it matches, nothing \
                    is done, and it stays wrong",
            )
            .help("add WHEN MATCHED THEN UPDATE SET the columns that are no key"),
        );
    }
}

fn emptied(file: &File<'_>, write: &WriteFact<'_, '_>) -> bool {
    file.changes_before(&write.target, write.at)
        .any(|other| matches!(other.verb, Verb::Delete | Verb::Truncate | Verb::Update))
        || file
            .script
            .index
            .before(write.target.last(), write.at)
            .filter_map(|at| file.script.statements.get(at))
            .any(|statement| {
                matches!(&statement.action, Action::Define(table)
                    if table.name.same(&write.target) && !table.creation.if_not_exists)
            })
}

/// All inserted columns are compared: nothing can be corrected.
fn all_key(write: &WriteFact<'_, '_>) -> bool {
    let keys: Vec<String> =
        write.view.merge_pairs(write.write).into_iter().map(|(target, _)| target).collect();
    write.branches.iter().all(|branch| match &branch.action {
        BranchAction::Insert(columns, _) => {
            !columns.is_empty() && columns.iter().all(|column| keys.contains(column))
        }
        _ => false,
    })
}

/// `ON FALSE`: an append, which OM301 would be about.
fn never_matches(write: &WriteFact<'_, '_>) -> bool {
    write.filters.iter().any(|expr| matches!(expr.kind, ExprKind::Literal(Literal::Bool(false))))
}
