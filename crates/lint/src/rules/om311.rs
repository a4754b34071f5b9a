//! OM311: a statement that ends the transaction it stands in.
use std::collections::{HashMap, HashSet};

use super::prelude::*;
use crate::dialect::Dialect;

pub(super) const RULE: Rule = Rule { id: "OM311", page: include_str!("../../rules/OM311.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    let begun: HashSet<u32> = file
        .script
        .statements
        .iter()
        .filter(|statement| matches!(statement.action, Action::Begin))
        .filter_map(|statement| statement.transaction)
        .collect();
    let mut writing: HashMap<u32, usize> = HashMap::new();
    for statement in file.script.statements.iter().filter(|statement| !statement.writes.is_empty()) {
        if let Some(transaction) = statement.transaction {
            *writing.entry(transaction).or_default() += 1;
        }
    }
    for (_, statement, _) in file.statements() {
        let Some(transaction) =
            statement.transaction.filter(|transaction| begun.contains(transaction) && !statement.handler)
        else {
            continue;
        };
        let Some(span) = commits(file.script.dialect, statement) else { continue };
        if only_empties_stage(file, statement) {
            continue;
        }
        let others =
            writing.get(&transaction).copied().unwrap_or(0) > usize::from(!statement.writes.is_empty());
        if others {
            out.report(
                Draft::new(Severity::Error, span, "this statement commits the transaction it stands in")
                    .rerun(
                        "the next statement fails: what came before is committed already, and ROLLBACK \
                        undoes nothing",
                    )
                    .help("do it before BEGIN or after COMMIT"),
            );
        }
    }
}

/// A stage is emptied before anything else is written, and one write only follows that has to be whole: what the commit
/// parts didn't belong together.
fn only_empties_stage(file: &File<'_>, statement: &Statement) -> bool {
    let [Write { verb: Verb::Truncate, target, .. }] = statement.writes.as_slice() else { return false };
    let mut kept = 0;
    for other in file.script.statements.iter().filter(|other| other.transaction == statement.transaction) {
        let before = other.span.start < statement.span.start;
        for write in other.writes.iter().filter(|write| !write.target.same(target)) {
            if before || !write.target.is_stage() {
                kept += if before { 2 } else { 1 };
            }
        }
    }
    target.is_stage() && kept <= 1
}

/// Where the statement stands that commits, if it does.
fn commits(dialect: Dialect, statement: &Statement) -> Option<Span> {
    let start = statement.span;
    let ddl = matches!(dialect, Dialect::MySql | Dialect::Oracle | Dialect::Snowflake);
    // Temporary tables don't commit in MySQL; in Snowflake and Oracle they do.
    let temporary_too = dialect != Dialect::MySql;
    match &statement.action {
        Action::Define(table) if ddl && (temporary_too || !table.creation.temporary) => {
            Some(Span { start: start.start, end: table.name.span.end })
        }
        Action::Drop { names, .. } if ddl => Some(Span { start: start.start, end: names.last()?.span.end }),
        Action::Alter(changes) if ddl => {
            Some(Span { start: start.start, end: changes.first()?.name.span.end })
        }
        Action::Write => statement.writes.iter().find_map(|write| match write.verb {
            Verb::Truncate if matches!(dialect, Dialect::MySql | Dialect::Oracle | Dialect::Redshift) => {
                Some(write.head)
            }
            Verb::CreateAs(creation) if ddl && (temporary_too || !creation.temporary) => Some(write.head),
            Verb::View { .. } if ddl => Some(write.head),
            _ => None,
        }),
        _ => None,
    }
    .filter(|span| span.is_somewhere() && span.end > span.start)
}
