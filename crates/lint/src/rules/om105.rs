//! OM105: chance decides rows or values.
use super::prelude::*;
use super::shared::{is_log, severity, spelled, spreads_by_chance};

pub(super) const RULE: Rule = Rule { id: "OM105", page: include_str!("../../rules/OM105.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for (at, statement, _) in file.statements() {
        for occurrence in file.occurrences(at) {
            if occurrence.class != Class::Random
                || spreads_by_chance(file, occurrence)
                || is_log(file, at, occurrence)
            {
                continue;
            }
            let Some(level) = severity(file, statement, Severity::Error) else { continue };
            let level = if occurrence.guarded { level.min(Severity::Warning) } else { level };
            let what = match occurrence.roles.first() {
                Some(Role::Key(column) | Role::Value(column) | Role::Audit(column)) if !column.is_empty() => {
                    format!("is stored in `{column}`")
                }
                Some(Role::Order) => "decides the order of rows".to_string(),
                Some(Role::Value(_) | Role::Key(_) | Role::Audit(_)) => "is stored".to_string(),
                _ => "decides which rows there are".to_string(),
            };
            out.report(
                Draft::new(level, occurrence.span, format!("chance, {}, {what}", spelled(file, occurrence)))
                    .rerun("the second run of the same interval draws other values")
                    .help("use a hash of the business key, such as md5(order_id)"),
            );
        }
    }
}
