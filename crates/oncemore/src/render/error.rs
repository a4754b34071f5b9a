//! Failures: what, the state of the slice, what to type next.

use oncemore_run::{EndedEarly, RunError, TaskFailure};

use super::broken::waiting;
use super::diagnostic::{TextOf, render_all};
use super::{Look, Paint};

/// A failure of a command.
pub fn render(error: &RunError, text_of: TextOf<'_>, look: &Look) -> String {
    let mut out = String::new();
    if !error.diagnostics.is_empty() {
        out += &render_all(&error.diagnostics, text_of, look);
        out += "\n";
    }
    let message = match error.state {
        Some(state) => with_state(&error.message, &state.to_string()),
        None => error.message.clone(),
    };
    out += &format!("{}: {message}", look.paint(Paint::Bad, "error"));
    if let Some(help) = &error.help {
        out += &format!("\n{}: {help}", look.paint(Paint::Vouched, "help"));
    }
    out
}

/// What ended a run before its tasks were through.
pub fn render_early(early: &EndedEarly, look: &Look) -> String {
    let mut out = format!(
        "{}: the run ended early: {}; what was published stays, all other slices are unchanged",
        look.paint(Paint::Bad, "error"),
        early.message
    );
    if let Some(help) = &early.help {
        out += &format!("\n{}: {help}", look.paint(Paint::Vouched, "help"));
    }
    out
}

/// The state of the slice belongs to the sentence, before the line of a file that a message shows.
pub(super) fn with_state(message: &str, state: &str) -> String {
    match message.split_once('\n') {
        Some((sentence, shown)) => format!("{sentence}; {state}\n{shown}"),
        None => format!("{message}; {state}"),
    }
}

/// Slices of several models, or several of one, that were not begun for one file that can't be read.
pub fn render_file(failures: &[TaskFailure], look: &Look) -> String {
    let [first, _, ..] = failures else {
        return failures.iter().map(|failure| render_failure(failure, look)).collect();
    };
    let mut out = format!(
        "{}: {}: {}",
        look.paint(Paint::Bad, "failed"),
        look.paint(Paint::Strong, waiting(failures.iter().map(|failure| &failure.model))),
        with_state(&first.message, "slices unchanged")
    );
    if let Some(help) = &first.help {
        out += &format!("\n  {}: {help}", look.paint(Paint::Vouched, "help"));
    }
    out
}

/// A task that failed, with up to five offending rows for each audit.
pub fn render_failure(failure: &TaskFailure, look: &Look) -> String {
    let label = if failure.label == *"all" { String::new() } else { format!(" {}", failure.label) };
    let mut out = format!(
        "{}: {}{label}: {}",
        look.paint(Paint::Bad, "failed"),
        look.paint(Paint::Strong, &failure.model),
        with_state(&failure.message, &failure.state.to_string())
    );
    for audit in &failure.audits {
        out += &format!(
            "\n  {}: {} offending",
            audit.audit,
            super::number::plural(audit.offending as usize, "row")
        );
        if !audit.rows.is_empty() {
            let rows: Vec<Vec<Option<String>>> = audit.rows.clone();
            let right = vec![false; audit.columns.len()];
            let table = super::table::render(&audit.columns, &right, &rows, look);
            for line in table.lines() {
                out += &format!("\n    {line}");
            }
        }
    }
    if let Some(help) = &failure.help {
        out += &format!("\n  {}: {help}", look.paint(Paint::Vouched, "help"));
    }
    out
}
