//! Source files that can't be read: each is told once, with how much waits for it.

use std::collections::{BTreeMap, BTreeSet};

use oncemore_core::TableName;
use oncemore_run::{Hold, TaskFailure};

use super::error::with_state;
use super::number::{count, plural};
use super::{Look, Paint};

/// Most files told.
const FILES_MAX: usize = 10;

/// Where it is broken, of all that is said of a file: `data/a.csv:4:12`.
pub fn place(what: &str) -> &str {
    what.split_once(": ").map_or(what, |(place, _)| place)
}

/// `12 slices of 3 models`.
pub fn waiting<'a>(models: impl Iterator<Item = &'a TableName>) -> String {
    let models: Vec<&TableName> = models.collect();
    let apart: BTreeSet<&TableName> = models.iter().copied().collect();
    format!("{} of {}", plural(models.len(), "slice"), plural(apart.len(), "model"))
}

/// A paragraph for each file that holds any of these slices.
pub fn files<'a>(held: impl Iterator<Item = (&'a TableName, &'a Hold)>, look: &Look) -> String {
    let mut files: BTreeMap<&str, Vec<&TableName>> = BTreeMap::new();
    for (model, hold) in held {
        if let Hold::Broken { what } = hold {
            files.entry(what).or_default().push(model);
        }
    }
    let mut out = String::new();
    for (what, models) in files.iter().take(FILES_MAX) {
        let wait = if models.len() == 1 { "waits" } else { "wait" };
        let wait = format!("{} {wait}", waiting(models.iter().copied()));
        out += &format!("\n{}: {}\n", look.paint(Paint::Held, "source broken"), with_state(what, &wait));
    }
    if files.len() > FILES_MAX {
        let more = count((files.len() - FILES_MAX) as u64);
        out += &format!("\n{}: {more} more files\n", look.paint(Paint::Held, "source broken"));
    }
    out
}

/// Failures of slices that were not begun, by the file that can't be read.
pub fn by_file(failed: &[TaskFailure]) -> Vec<Vec<&TaskFailure>> {
    let mut files: BTreeMap<&str, Vec<&TaskFailure>> = BTreeMap::new();
    for failure in failed.iter().filter(|failure| !failure.begun) {
        files.entry(&failure.message).or_default().push(failure);
    }
    files.into_values().collect()
}
