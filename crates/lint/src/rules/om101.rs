//! OM101: the clock decides rows or values.
use super::prelude::*;
use super::shared::{is_log, is_validity, is_view, severity, spelled};
use crate::dbt::NodeKind;

pub(super) const RULE: Rule = Rule { id: "OM101", page: include_str!("../../rules/OM101.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for (at, statement, _) in file.statements() {
        for occurrence in file.occurrences(at) {
            if occurrence.class != Class::Clock || is_log(file, at, occurrence) {
                continue;
            }
            if let Some(draft) = judge(file, statement, occurrence) {
                out.report(draft);
            }
        }
    }
}

fn judge(file: &File<'_>, statement: &Statement, occurrence: &Occurrence<'_>) -> Option<Draft> {
    let mut worst: Option<String> = None;
    for role in &occurrence.roles {
        match role {
            // A key is OM102's, an audit column OM103's.
            Role::Key(_) => return None,
            Role::Audit(_) | Role::Order => {}
            // When a snapshot's version begins is OM505's.
            Role::Value(column) if dates_snapshot(file, column) => {}
            // When a version begins or ends is OM316's.
            Role::Value(column) if is_validity(column) => {}
            Role::Filter | Role::Join => worst = Some("decides which rows are read".to_string()),
            Role::Purge => worst = worst.or_else(|| Some("decides which rows are deleted".to_string())),
            Role::Group => worst = worst.or_else(|| Some("decides how rows are grouped".to_string())),
            Role::Limit | Role::Spread => {
                worst = worst.or_else(|| Some("decides how many rows there are".to_string()))
            }
            Role::Value(column) => {
                worst = worst.or_else(|| {
                    Some(if column.is_empty() {
                        "is stored".to_string()
                    } else {
                        format!("is stored in `{column}`")
                    })
                })
            }
            Role::Shown => {
                worst = worst.or_else(|| file.is_single_query().then(|| "is in the result".to_string()))
            }
            Role::Variable => {
                worst = used_variable(file, statement)
                    .then(|| "sets a variable that decides what is read or written".to_string())
            }
        }
    }
    let what = worst?;
    let only_purges = occurrence.roles.iter().all(|role| *role == Role::Purge) && !replaces(file, statement);
    let stored = if matches!(statement.action, Action::Variable { .. }) {
        Some(Severity::Error)
    } else {
        severity(file, statement, Severity::Error)
    };
    let stored = if only_purges || stands_for_open_end(occurrence) { Some(Severity::Info) } else { stored };
    let level =
        if occurrence.guarded || guards(file, statement) { stored?.min(Severity::Warning) } else { stored? };
    let mut draft =
        Draft::new(level, occurrence.span, format!("the clock, {}, {what}", spelled(file, occurrence)))
            .rerun("run 2024-03-01 again in June: it selects or computes as of June, not as of March")
            .help("use the bounds of the interval, such as :interval_start and :interval_end");
    if is_view(statement) {
        draft = draft.rerun("the view stores nothing, but what reads it in June for March sees June");
    }
    Some(draft)
}

/// `happened_at < COALESCE(valid_to, now())`: what has no end goes on, whenever it is asked.
fn stands_for_open_end(occurrence: &Occurrence<'_>) -> bool {
    let Some(ExprKind::Call(call)) = occurrence.around.map(|around| &around.kind) else { return false };
    let ends = |name: &str| {
        is_validity(name)
            || ["_to", "_until", "_through", "_end", "end_date", "end_at", "end_ts", "end_time", "ended_at"]
                .iter()
                .any(|end| name.ends_with(end))
    };
    matches!(call.name.as_str(), "coalesce" | "ifnull" | "nvl" | "isnull")
        && matches!(call.args.as_slice(), [end, clock] if std::ptr::eq(clock, occurrence.expr)
            && end.column().is_some_and(|(_, name)| ends(name)))
        && occurrence.roles.iter().all(|role| matches!(role, Role::Filter | Role::Join))
}

/// `IF @day IS NULL SET @day = …`: only what was not given is taken from the clock.
fn guards(file: &File<'_>, statement: &Statement) -> bool {
    let Action::Variable { name, .. } = &statement.action else { return false };
    let guard = statement.guard.map_or("", |guard| guard.of(&file.script.text)).to_ascii_lowercase();
    guard.contains(name.as_str()) && guard.contains("null")
}

/// Whether a DELETE is the first half of replacing rows in the same script.
fn replaces(file: &File<'_>, statement: &Statement) -> bool {
    let Some(target) = statement.writes.first().map(|write| &write.target) else { return false };
    file.script.index.is_filled(target.last())
}

/// Whether a variable is used by a statement that writes.
fn used_variable(file: &File<'_>, statement: &Statement) -> bool {
    let Action::Variable { name, .. } = &statement.action else { return false };
    file.statements().any(|(_, other, view)| {
        !other.writes.is_empty()
            && !other.writes.iter().all(|write| {
                StatementContext {
                    script: file.script,
                    knowledge: file.knowledge,
                    statement: 0,
                    atomic_scripts: false,
                }
                .is_log(&write.target)
            })
            && view.mentions_param(name)
    })
}

/// Whether a column dates the versions of a dbt snapshot.
fn dates_snapshot(file: &File<'_>, column: &str) -> bool {
    file.script.template.as_deref().is_some_and(|template| {
        template.kind == NodeKind::Snapshot
            && template.config.updated_at.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(column))
    })
}
