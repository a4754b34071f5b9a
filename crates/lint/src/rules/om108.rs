//! OM108: what is stored depends on the session.
use super::prelude::*;
use super::shared::{is_log, is_view, severity, spelled};
use crate::dialect::Dialect;
use crate::functions::{Names, listed};

pub(super) const RULE: Rule = Rule { id: "OM108", page: include_str!("../../rules/OM108.md"), check };

static SESSION: Names = Names::of(include_str!("../../data/names/session.txt"));

static VALUES: Names = Names::of(include_str!("../../data/names/settings.txt"));

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for (at, statement, _) in file.statements() {
        if let Action::Session { name, value } = &statement.action {
            setting(file, at, statement, name, value).into_iter().for_each(|draft| out.report(draft));
        }
        let Some(level) = severity(file, statement, Severity::Warning) else { continue };
        for occurrence in file.occurrences(at).iter().filter(|occurrence| occurrence.class == Class::Session)
        {
            let name = occurrence.name.rsplit('.').next().unwrap_or(occurrence.name);
            let weeks = matches!(name, "datepart" | "datename" | "to_char" | "week");
            if !(listed(&SESSION, name) || weeks && !settles_weeks(file, at, statement))
                || is_log(file, at, occurrence)
            {
                continue;
            }
            if let Some(level) = weight(statement, occurrence, level) {
                out.report(
                    Draft::new(
                        level,
                        occurrence.span,
                        format!("what is stored depends on the session, {}", spelled(file, occurrence)),
                    )
                    .rerun("another user or worker runs the same interval again and stores other content")
                    .help("take it from the data or from a parameter"),
                );
            }
        }
    }
}

fn weight(statement: &Statement, occurrence: &Occurrence<'_>, level: Severity) -> Option<Severity> {
    // `approved_by`, `deployed_by`: who did it is told, and nothing is decided by it.
    let deed = |role: &Role| matches!(role, Role::Value(column) if column.ends_with("_by"));
    let stored = occurrence
        .roles
        .iter()
        .any(|role| matches!(role, Role::Key(_) | Role::Value(_) | Role::Group) && !deed(role));
    let stamp = occurrence.roles.iter().any(|role| matches!(role, Role::Audit(_)) || deed(role));
    let filters = occurrence.roles.iter().any(|role| matches!(role, Role::Filter | Role::Join | Role::Purge));
    match () {
        () if stored => Some(level),
        // A view that shows each user the own rows.
        () if filters && !is_view(statement) => Some(level),
        () if stamp => Some(Severity::Info),
        () => None,
    }
}

/// A setting made in the script, if what is written after it depends on it.
fn setting(file: &File<'_>, at: usize, statement: &Statement, name: &str, value: &str) -> Option<Draft> {
    let name = name.rsplit('.').next().unwrap_or(name);
    let after = || file.statements().filter(move |(index, ..)| *index > at);
    let writes = after()
        .any(|(_, other, _)| other.writes.iter().any(|write| !matches!(write.verb, Verb::View { .. })));
    let resets = value.to_ascii_lowercase().ends_with("default");
    let message = if listed(&VALUES, name) {
        if counts_weeks(name) && !asks_for_weeks(file, statement) {
            return None;
        }
        "this setting of the session alters what is stored"
    } else if matches!(name, "search_path" | "schema" | "current_schema") && names_are_bare(file, at) {
        if name == "schema" && file.script.dialect == Dialect::Snowflake && is_placed(file, at, value) {
            return None;
        }
        // In these dialects each script begins with the database it is for.
        if name == "schema" && matches!(file.script.dialect, Dialect::TSql | Dialect::MySql | Dialect::Spark)
        {
            return None;
        }
        "which tables are read and written depends on a setting of the session"
    } else {
        return None;
    };
    (writes && !resets).then(|| {
        Draft::new(Severity::Warning, statement.span, message)
            .rerun(
                "a statement of it, run again from another session, stores other rows or fills another table",
            )
            .help("say it in the statement: the zone in the expression, the schema in the name")
    })
}

/// Whether the script says itself which day a week begins with, or takes what the session has into account.
fn settles_weeks(file: &File<'_>, at: usize, statement: &Statement) -> bool {
    let sets = |(_, other, _): (usize, &Statement, &View<'_>)| matches!(&other.action, Action::Session { name, .. } if counts_weeks(name) || name == "language");
    file.statements().take(at).any(sets)
        || statement.span.of(&file.script.text).to_ascii_lowercase().contains("@@datefirst")
}

/// Settings of which day a week begins with.
fn counts_weeks(name: &str) -> bool {
    matches!(
        name,
        "datefirst" | "week_start" | "week_of_year_policy" | "first_day_of_week" | "default_week_format"
    )
}

/// Whether anything after a statement has to do with weeks or their days.
fn asks_for_weeks(file: &File<'_>, statement: &Statement) -> bool {
    let after = file.script.text.get(statement.span.end as usize..).unwrap_or("").to_ascii_lowercase();
    after.contains("week")
        || ["dw,", "wk,", "ww,", "isowk,", "dow from"].iter().any(|unit| after.contains(unit))
}

/// `USE DATABASE d`, `USE SCHEMA d.s`, and USE SCHEMA after them: which tables are meant stands in the script.
fn is_placed(file: &File<'_>, at: usize, value: &str) -> bool {
    let places = |value: &str| {
        let mut words = value.split_whitespace().skip(1).map(str::to_ascii_lowercase);
        match words.next().as_deref() {
            Some("database") => true,
            Some("schema") => words.next().is_some_and(|name| name.contains('.')),
            Some(name) => name.contains('.'),
            None => false,
        }
    };
    places(value)
        || file.statements().take(at).any(|(_, other, _)| {
            matches!(&other.action, Action::Session { name, value } if name == "schema" && places(value))
        })
}

/// Whether a statement after this one writes a table that is named without its schema.
fn names_are_bare(file: &File<'_>, at: usize) -> bool {
    file.statements().filter(|(index, ..)| *index > at).any(|(_, other, _)| {
        other.writes.iter().any(|write| {
            write.target.parts.len() == 1
                && !write.target.last().starts_with('#')
                && !matches!(write.verb, Verb::View { .. } | Verb::CreateAs(Creation { temporary: true, .. }))
        })
    })
}
