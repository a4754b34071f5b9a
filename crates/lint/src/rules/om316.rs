//! OM316: a history to which each run adds a version, or whose versions begin when the task ran.
use super::prelude::*;
use super::shared::{is_history, is_validity};

pub(super) const RULE: Rule = Rule { id: "OM316", page: include_str!("../../rules/OM316.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        if adds_versions(&write) {
            let target = write.target.text();
            out.report(
                Draft::new(
                    Severity::Error,
                    write.head,
                    format!(
                        "a version is added to `{target}` when it \
                    differs from some stored version, not from the current one"
                    ),
                )
                .rerun(
                    "the row differs from an older version on each run: each run adds the same \
                        version once more",
                )
                .help(
                    "compare with the current version only; better, key the history by (id, time of \
                        the change) and merge",
                ),
            );
        }
    }
    for (at, statement, _) in file.statements() {
        for occurrence in file.occurrences(at).iter().filter(|occurrence| occurrence.class == Class::Clock) {
            let written = occurrence.write.and_then(|write| statement.writes.get(write));
            let keeps = written.is_some_and(|write| {
                matches!(write.verb, Verb::Insert | Verb::Update | Verb::Merge | Verb::Overwrite)
            });
            let column = occurrence.roles.iter().find_map(|role| match role {
                Role::Value(column) | Role::Key(column) | Role::Audit(column) if is_validity(column) => {
                    Some(column)
                }
                _ => None,
            });
            let Some(column) = column.filter(|_| keeps) else { continue };
            out.report(
                Draft::new(
                    Severity::Error,
                    occurrence.span,
                    format!(
                        "`{column}`, which bounds a version, \
                    is the time of the run"
                    ),
                )
                .rerun(
                    "March is repaired in June: the history says that what happened in March \
                        happened in June",
                )
                .help("take the time of the change from the source"),
            );
        }
    }
}

/// Whether an INSERT adds versions of rows that differ from any stored one.
pub(super) fn adds_versions(write: &WriteFact<'_, '_>) -> bool {
    write.verb == Verb::Insert && (is_history(write) || is_satellite(write)) && differs_from_any(write)
}

/// A satellite of a data vault: a hash of the attributes tells whether a new version is due.
fn is_satellite(write: &WriteFact<'_, '_>) -> bool {
    let outputs = write.source.map(|source| write.view.outputs(source));
    let names = outputs.iter().flat_map(|outputs| outputs.list.iter().map(|output| &output.name));
    write.columns.iter().chain(names).any(|name| {
        let bare = name.replace('_', "");
        ["hashdiff", "diffhash", "rowhash", "recordhash", "attributehash", "hdiff"]
            .iter()
            .any(|end| bare.ends_with(end))
    })
}

/// The source joins the target, and takes rows that differ from a version that need not be the current one.
fn differs_from_any(write: &WriteFact<'_, '_>) -> bool {
    let Some(source) = write.source else { return false };
    write.view.reachable(source).into_iter().any(|id| {
        let Some(select) = write.view.select(id) else { return false };
        let Some(at) = select.from.iter().position(|from| matches!(&from.relation, Relation::Table(name) if name.same(&write.target)))
        else { return false };
        let own = |expr: &Expr| {
            expr.any(&mut |part| matches!(write.view.source(id, part), ColumnSource::From { query, from, .. } if query == id && from == at))
        };
        let conditions: Vec<&Expr> = select.filters.iter().chain(select.from.iter().flat_map(|from| &from.on)).collect();
        let differs = conditions.iter().any(|condition| {
            condition.any(&mut |part| match &part.kind {
                ExprKind::Op(Op::NotEq | Op::Distinct, sides) =>
                        sides.iter().any(own) && sides.iter().any(|side| side.column().is_some() && !own(side)),
                _ => false,
            })
        });
        let current = conditions.iter().any(|condition| is_current(condition, &own));
        differs && !current
    })
}

/// A condition that leaves the current version: `valid_to IS NULL`, `is_current`, `valid_to = '9999-12-31'`.
fn is_current(condition: &Expr, own: &dyn Fn(&Expr) -> bool) -> bool {
    match &condition.kind {
        ExprKind::Column { .. } => own(condition),
        ExprKind::Op(Op::IsNull, args) => args.iter().any(own),
        ExprKind::Op(Op::Eq | Op::GtEq | Op::Gt, sides) => {
            matches!(sides.as_slice(), [left, right]
                    if own(left) && !has_other_column(right, own) || own(right) && !has_other_column(left, own))
        }
        ExprKind::Subquery { .. } => true,
        ExprKind::Op(Op::And, args) => args.iter().any(|arg| is_current(arg, own)),
        _ => false,
    }
}

fn has_other_column(expr: &Expr, own: &dyn Fn(&Expr) -> bool) -> bool {
    expr.any(&mut |part| part.column().is_some() && !own(part))
}
