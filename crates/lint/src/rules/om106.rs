//! OM106: an identifier that the engine gives out in the order in which rows arrive.
use super::prelude::*;
use super::shared::{is_log, severity, spelled};

pub(super) const RULE: Rule = Rule { id: "OM106", page: include_str!("../../rules/OM106.md"), check };

const GIVEN: &[&str] =
    &["nextval", "monotonically_increasing_id", "generateserialid", "rownumberinallblocks"];

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for (at, statement, view) in file.statements() {
        let Some(level) = severity(file, statement, Severity::Warning) else { continue };
        for occurrence in file.occurrences(at) {
            let numbered = is_number_of_all(occurrence);
            let given = occurrence.class == Class::Identity
                && GIVEN.contains(&occurrence.name.rsplit('.').next().unwrap_or(occurrence.name));
            if !(numbered || given) || is_log(file, at, occurrence) || is_literal(view, occurrence) {
                continue;
            }
            let Some(column) = occurrence.roles.iter().find_map(|role| stored_in(role, numbered)) else {
                continue;
            };
            let write = occurrence.write.and_then(|write| statement.writes.get(write));
            let declared = write.is_some_and(|write| is_declared_key(file, view, write, column));
            let level = if declared && level == Severity::Warning { Severity::Error } else { level };
            let place = if column.is_empty() { "what is stored".to_string() } else { format!("`{column}`") };
            out.report(
                Draft::new(
                    level,
                    occurrence.span,
                    format!(
                        "{place} is numbered in the order in which rows \
                    arrive, by {}",
                        spelled(file, occurrence)
                    ),
                )
                .rerun(
                    "loaded again with one row more, the same row has another number, and whatever \
                        kept the old one means another row",
                )
                .help(
                    "use the natural key, or a hash of it; or a table that gives each key its number \
                        once",
                ),
            );
        }
    }
}

/// `row_number() OVER (ORDER BY …)` over all rows.
fn is_number_of_all(occurrence: &Occurrence<'_>) -> bool {
    let ExprKind::Call(call) = &occurrence.expr.kind else { return false };
    call.name == "row_number" && call.over.as_ref().is_some_and(|over| over.partition.is_empty())
}

/// A row written out in the statement is no load.
fn is_literal(view: &View<'_>, occurrence: &Occurrence<'_>) -> bool {
    occurrence.query.is_some_and(|query| matches!(view.query(query).body, Body::Values(_)))
}

/// The column that keeps the number; a position in a list keeps none.
fn stored_in(role: &Role, numbered: bool) -> Option<&str> {
    match role {
        Role::Key(column) | Role::Value(column) | Role::Audit(column) => {
            (!numbered || is_identifier(column)).then_some(column.as_str())
        }
        _ => None,
    }
}

fn is_identifier(column: &str) -> bool {
    matches!(column, "id" | "key" | "sk" | "pk")
        || ["_id", "_sk", "_key", "_pk", "_no", "_skey", "_surrogate"].iter().any(|end| column.ends_with(end))
            && !matches!(column, "row_no" | "line_no" | "seq_no" | "rank_no" | "position_no")
}

fn is_declared_key(file: &File<'_>, view: &View<'_>, write: &Write, column: &str) -> bool {
    let header = file.script.model.as_ref().is_some_and(|model| model.key.iter().any(|key| key == column));
    let conflict =
        write.conflict.as_ref().is_some_and(|conflict| conflict.keys.iter().any(|key| key == column));
    header
        || conflict
        || write.verb == Verb::Merge && view.merge_pairs(write).iter().any(|(target, _)| target == column)
}
