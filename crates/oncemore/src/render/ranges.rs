//! Runs of adjacent intervals, so that a year of days is one range and not 365 labels.

use oncemore_core::Interval;

use super::Look;
use super::number::plural;

/// A run of adjacent intervals.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Run {
    /// Label of the first interval.
    pub first: String,
    /// Label of the last interval; the same as `first` for a run of one.
    pub last: String,
    /// Number of intervals.
    pub count: usize,
}

/// Joins adjacent intervals, whatever the order they come in.
pub fn collapse<'a>(slices: impl IntoIterator<Item = (Interval, &'a str)>) -> Vec<Run> {
    let mut sorted: Vec<(Interval, &str)> = slices.into_iter().collect();
    sorted.sort_unstable();
    let mut runs: Vec<Run> = Vec::new();
    let mut end = None;
    for (interval, label) in sorted {
        match runs.last_mut() {
            Some(run) if end == Some(interval.start()) => {
                label.clone_into(&mut run.last);
                run.count += 1;
            }
            _ => runs.push(Run { first: label.to_owned(), last: label.to_owned(), count: 1 }),
        }
        end = Some(interval.end());
    }
    runs
}

/// `2013-03-01 … 2013-03-31, 2013-05-02 and 3 more ranges`, at most `limit` ranges.
pub fn show(runs: &[Run], limit: usize, look: &Look) -> String {
    let mut parts: Vec<String> = runs.iter().take(limit).map(|run| show_one(run, look)).collect();
    if runs.len() > limit {
        let left = &runs[limit..];
        let slices = left.iter().map(|run| run.count).sum();
        parts.push(format!("and {} more", plural(slices, "slice")));
    }
    parts.join(", ")
}

fn show_one(run: &Run, look: &Look) -> String {
    match run.count {
        1 => run.first.clone(),
        _ => format!("{} {} {}", run.first, look.pick("…", ".."), run.last),
    }
}
