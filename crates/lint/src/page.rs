//! The page of a rule: Markdown that is documentation and test at once. Only the head is read here.

use crate::finding::Severity;

/// Id and name: `# OM201 non-total-order`.
#[must_use]
pub fn title(page: &'static str) -> (&'static str, &'static str) {
    let line = page.lines().next().unwrap_or("").trim_start_matches('#').trim();
    line.split_once(' ').unwrap_or((line, ""))
}

/// The severity on the second line: `error · needs keys · shown by: rows shuffled`.
#[must_use]
pub fn severity(page: &'static str) -> Option<Severity> {
    let line = page.lines().skip(1).find(|line| !line.trim().is_empty())?;
    Severity::named(line.split(['·', ' ']).next()?.trim())
}
