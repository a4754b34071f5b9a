//! OM112: a function that nobody can vouch for.
use super::prelude::*;
use super::shared::severity;
use super::uses::calls;
use crate::dialect::Dialect;
use crate::functions::{Names, listed};
use crate::routine::Trust;

pub(super) const RULE: Rule = Rule { id: "OM112", page: include_str!("../../rules/OM112.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for (_, statement, view) in file.statements() {
        let Some(level) = severity(file, statement, Severity::Warning) else { continue };
        for (_, expr, call) in calls(view, |call| !call.bare) {
            judge(file, call, expr.span, level, true).into_iter().for_each(|draft| out.report(draft));
        }
        for (id, _) in view.queries() {
            for from in view.select(id).into_iter().flat_map(|select| &select.from) {
                if let Relation::Function(call) = &from.relation {
                    judge(file, call, from.span, level, false)
                        .into_iter()
                        .for_each(|draft| out.report(draft));
                }
            }
        }
    }
}

fn judge(file: &File<'_>, call: &Call, span: Span, level: Severity, scalar: bool) -> Option<Draft> {
    let name = call.name.as_str();
    let draft = |level, message: String| {
        Draft::new(level, span, message)
            .rerun("in a later run the function may be another version, and the same rows get other values")
            .help("keep the answers by input and version, or declare the function immutable if it is")
    };
    if is_model(file.script.dialect, name) {
        return Some(draft(level, format!("`{name}` asks a model that may be another one tomorrow")));
    }
    match file.knowledge.routine(name).map(|routine| routine.trust) {
        Some(Trust::Opaque) => Some(draft(level, format!("`{name}` does not say that it is immutable"))),
        Some(Trust::Declared | Trust::Readable) => None,
        None => (scalar && is_own(name)).then(|| {
            draft(Severity::Info, format!("nothing is known of `{name}`")).lacked("the function's definition")
        }),
    }
}

/// Models of language and prediction, and calls over the network.
fn is_model(dialect: Dialect, name: &str) -> bool {
    static AI: Names = Names::of(include_str!("../../data/names/models.txt"));
    static ML: Names = Names::of(include_str!("../../data/names/models-bigquery.txt"));
    match dialect {
        Dialect::Snowflake => {
            name.starts_with("snowflake.cortex.") || name.starts_with("cortex.") || listed(&AI, name)
        }
        Dialect::Spark => listed(&AI, name),
        Dialect::BigQuery => listed(&ML, name),
        _ => false,
    }
}

/// Whether a name has a schema that is not the engine's own.
fn is_own(name: &str) -> bool {
    static ENGINE: Names = Names::of(include_str!("../../data/names/schemas.txt"));
    let Some((schema, last)) = name.rsplit_once('.') else { return false };
    let schema = schema.rsplit('.').next().unwrap_or(schema);
    !listed(&ENGINE, schema)
        && last != "nextval"
        && last.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !name.contains(['{', '$', '@', '<'])
}
