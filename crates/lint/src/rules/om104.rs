//! OM104: a template reads the clock while it is rendered.
use super::prelude::*;
use super::shared::severity;
use crate::dbt::{ClockKind, ClockRole, Template};

pub(super) const RULE: Rule = Rule { id: "OM104", page: include_str!("../../rules/OM104.md"), check };

/// Clocks of a template: how they begin, and how grave they are where the SQL holds them.
const CLOCKS: &[(&str, Severity)] = &[
    ("macros.datetime.", Severity::Error),
    ("modules.datetime.", Severity::Error),
    ("dag_run.start_date", Severity::Error),
    ("prev_start_date_success", Severity::Error),
    ("prev_end_date_success", Severity::Error),
    ("run_started_at", Severity::Error),
    // A manual run sets it to the moment at which it is started.
    ("ts", Severity::Warning),
    ("ts_nodash", Severity::Warning),
    ("ts_nodash_with_tz", Severity::Warning),
];

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    match file.script.template.as_deref() {
        Some(template) => of_dbt(file, template, out),
        None => of_script(file, out),
    }
}

/// Clocks of a dbt model, found on the template's tree.
fn of_dbt(file: &File<'_>, template: &Template, out: &mut Findings<'_>) {
    for found in &template.clocks {
        let clock = &found.clock;
        if !matches!(clock.kind, ClockKind::RunStart | ClockKind::Now | ClockKind::OtherRun) {
            continue;
        }
        let level = match clock.role {
            ClockRole::Sql if clock.is_var_default => Severity::Warning,
            ClockRole::Sql => Severity::Error,
            ClockRole::Condition => Severity::Warning,
            _ => continue,
        };
        let Some((_, statement, view)) = file.statements().next() else { continue };
        let Some(level) = severity(file, statement, level) else { continue };
        let stamp = clock.role == ClockRole::Sql
            && !found.places.is_empty()
            && found.places.iter().all(|place| is_stamp(view, *place));
        let level = if stamp { Severity::Info } else { level };
        out.report(draft(level, Span::new(clock.span.start, clock.span.end), &clock.text).in_template());
    }
}

fn draft(level: Severity, place: Span, clock: &str) -> Draft {
    Draft::new(
        level,
        place,
        format!("the template reads a clock, `{clock}`; what is run shows a plain value"),
    )
    .rerun("run 2024-03-01 again in June: the template is rendered with June's time")
    .help(
        "use the bounds of the interval: data_interval_start and data_interval_end, or a variable without \
        a default",
    )
}

/// Clocks of a script with Airflow's variables.
fn of_script(file: &File<'_>, out: &mut Findings<'_>) {
    let text = &file.script.text;
    let mut from = 0;
    while let Some((start, end)) = next_hole(text, from) {
        from = end;
        let Some(inner) = text.get(start + 2..end - 2) else { continue };
        let clocks = clocks(inner);
        let comment = |comment: &Span| comment.range().contains(&start);
        if clocks.is_empty() || file.script.lexed.comments.iter().any(comment) {
            continue;
        }
        let holder = file.statements().find(|(_, statement, _)| statement.span.range().contains(&start));
        let Some((_, statement, view)) = holder else { continue };
        for (at, clock, level) in clocks {
            let Some(level) = severity(file, statement, level) else { continue };
            let place = Span::new(start + 2 + at, start + 2 + at + clock.len());
            let level = if is_stamp(view, place) { Severity::Info } else { level };
            out.report(draft(level, place, clock));
        }
    }
}

/// The next `{{ … }}`.
fn next_hole(text: &str, from: usize) -> Option<(usize, usize)> {
    let start = from + text.get(from..)?.find("{{")?;
    let end = start + text.get(start..)?.find("}}")? + 2;
    Some((start, end))
}

/// Clocks in what stands between the braces: where, what, how grave. Words in strings are no clocks.
fn clocks(inner: &str) -> Vec<(usize, &str, Severity)> {
    let mut found = Vec::new();
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in inner.char_indices() {
        let starts = quote.is_none() && !(before.is_alphanumeric() || matches!(before, '_' | '.'));
        if let Some((word, level)) = CLOCKS.iter().find(|(word, _)| {
            starts && inner.get(at..).is_some_and(|rest| rest.starts_with(word) && ends_word(rest, word))
        }) {
            found.push((
                at,
                inner.get(at..at + length(inner.get(at..).unwrap_or(""), word)).unwrap_or(word),
                *level,
            ));
        }
        match quote {
            Some(open) if open == c => quote = None,
            None if matches!(c, '\'' | '"') => quote = Some(c),
            _ => {}
        }
        before = c;
    }
    found
}

fn ends_word(rest: &str, word: &str) -> bool {
    let calls = word.ends_with('.')
        && ["utcnow", "now", "today", "datetime.utcnow", "datetime.now", "datetime.today", "date.today"]
            .iter()
            .any(|name| rest.get(word.len()..).is_some_and(|rest| rest.starts_with(name)));
    calls
        || !word.ends_with('.')
            && !rest
                .get(word.len()..)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// How far the clock reaches: a name, or a chain of names up to its first call.
fn length(rest: &str, word: &str) -> usize {
    if !word.ends_with('.') {
        return word.len();
    }
    match rest.find('(') {
        Some(open) => {
            rest.get(open..).and_then(|call| call.find(')')).map_or(rest.len(), |close| open + close + 1)
        }
        None => word.len(),
    }
}

/// Whether a place belongs to a column that only tells when a row was written.
fn is_stamp(view: &View<'_>, place: Span) -> bool {
    view.queries().any(|(id, _)| {
        view.select(id).into_iter().flat_map(|select| &select.items).any(|item| match item {
            Item::Expr { expr, alias: Some(alias) } => {
                expr.span.start <= place.start
                    && place.end <= expr.span.end
                    && is_audit_name(alias)
                    && constant(expr)
            }
            _ => false,
        })
    })
}
