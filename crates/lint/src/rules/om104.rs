//! OM104: a template reads the clock while it is rendered.
use super::prelude::*;
use super::shared::severity;
use crate::dbt::{ClockKind, ClockRole, Template, TemplateClock, template_clocks};

pub(super) const RULE: Rule = Rule { id: "OM104", page: include_str!("../../rules/OM104.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    match file.script.template.as_deref() {
        Some(template) => of_dbt(file, template, out),
        None => of_script(file, out),
    }
}

/// How grave a clock is where rows are stored, by what it is and what becomes of it.
fn gravity(clock: &TemplateClock) -> Option<Severity> {
    let of_kind = match clock.kind {
        ClockKind::RunStart | ClockKind::Now | ClockKind::OtherRun => Severity::Error,
        ClockKind::RunOrInterval => Severity::Warning,
        ClockKind::Invocation | ClockKind::IntervalStart | ClockKind::IntervalEnd => return None,
    };
    match clock.role {
        ClockRole::Sql if !clock.is_var_default => Some(of_kind),
        ClockRole::Sql | ClockRole::Condition => Some(Severity::Warning),
        ClockRole::Unused | ClockRole::Comment | ClockRole::Log | ClockRole::Config(_) => None,
    }
}

/// Clocks of a dbt model.
fn of_dbt(file: &File<'_>, template: &Template, out: &mut Findings<'_>) {
    for found in &template.clocks {
        let clock = &found.clock;
        let Some(level) = gravity(clock) else { continue };
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

/// Clocks of a script with Airflow's variables. What stands in no statement of it counts where it is used.
fn of_script(file: &File<'_>, out: &mut Findings<'_>) {
    for clock in template_clocks(&file.script.text) {
        let Some(level) = gravity(&clock) else { continue };
        let used = clock.uses.iter().filter(|(_, role)| *role == clock.role).find_map(|(at, _)| {
            let comment = |comment: &Span| comment.range().contains(&at.start);
            let commented = file.script.lexed.comments.iter().any(comment);
            let holds = |statement: &Statement| statement.span.range().contains(&at.start) && !commented;
            let (_, statement, view) = file.statements().find(|(_, statement, _)| holds(statement))?;
            Some((statement, view, Span::new(at.start, at.end)))
        });
        let Some((statement, view, at)) = used else { continue };
        let Some(level) = severity(file, statement, level) else { continue };
        let level = if is_stamp(view, at) { Severity::Info } else { level };
        out.report(draft(level, Span::new(clock.span.start, clock.span.end), &clock.text));
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
