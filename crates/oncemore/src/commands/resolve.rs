//! `oncemore resolve`: finds out what became of attempts whose end nobody saw.

use oncemore_commit::{AttemptState, Resolved};
use oncemore_run::RunError;
use serde::Serialize;

use crate::context::{Access, Context};
use crate::failure::Failure;
use crate::render::number::plural;

/// Most attempts that are listed.
const LINES_MAX: usize = 50;

/// Find out what became of attempts whose end nobody saw; the tables decide.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// One attempt for programs.
#[derive(Serialize)]
struct Line {
    model: String,
    interval: oncemore_core::Interval,
    attempt: String,
    outcome: &'static str,
    staged: u64,
}

/// Resolves.
///
/// # Errors
/// A warehouse that can't be read.
pub fn run(_args: &Args, context: &Context) -> Result<u8, Failure> {
    let (resolved, open) = context.block_on(2, async {
        let workspace = context.open(Access::Write).await?;
        let resolved = workspace.warehouse.resolve().map_err(RunError::from)?;
        let open = workspace.warehouse.open_attempts().map_err(RunError::from)?;
        Ok((resolved, open))
    })?;
    let committed = resolved.iter().filter(|found| found.outcome == AttemptState::Committed).count();
    if context.ui.is_json() {
        let lines: Vec<Line> = resolved
            .iter()
            .map(|found| Line {
                model: found.attempt.table.to_string(),
                interval: found.attempt.interval,
                attempt: found.attempt.id.to_string(),
                outcome: found.outcome.as_str(),
                staged: found.staged,
            })
            .collect();
        context.ui.json(&serde_json::json!({ "resolved": lines, "open": open.len() }))?;
        return Ok(0);
    }
    let mut text = if resolved.is_empty() {
        "nothing to resolve\n".to_owned()
    } else {
        format!(
            "{} resolved: {committed} published, {} not\n",
            plural(resolved.len(), "attempt"),
            resolved.len() - committed
        )
    };
    for found in resolved.iter().take(LINES_MAX) {
        text += &line(found);
    }
    if resolved.len() > LINES_MAX {
        text += &format!("  and {} more\n", resolved.len() - LINES_MAX);
    }
    if !open.is_empty() {
        text += &format!(
            "{} of processes that may still live are left alone: `oncemore claims` shows who is at work\n",
            plural(open.len(), "attempt")
        );
    }
    context.ui.data(&text)?;
    Ok(0)
}

/// One attempt: its slice, its token, what became of it, and what it left behind.
fn line(found: &Resolved) -> String {
    let attempt = &found.attempt;
    let what = match found.outcome {
        AttemptState::Committed => "published",
        AttemptState::Superseded => "not published, a later request did",
        AttemptState::Failed | AttemptState::Open => "not published",
    };
    let staged = match found.staged {
        0 => String::new(),
        files => {
            let files = plural(usize::try_from(files).unwrap_or(usize::MAX), "file");
            format!("; {files} staged, `oncemore gc` removes them")
        }
    };
    format!("  {} {}, attempt {}: {what}{staged}\n", attempt.table, attempt.interval, attempt.id)
}
