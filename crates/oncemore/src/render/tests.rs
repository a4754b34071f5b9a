//! Snapshots of what a reader sees, on data made by hand.
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

mod diagnostic;
mod diff;
mod explain;
mod number;
mod plan;
mod progress;
mod status;

use oncemore_core::{Calendar, Digest, Interval, IntervalLength, TableName, Zone};

use super::Look;

/// A terminal of `width` columns that shows Unicode; no colour, so that snapshots can be read.
pub(crate) fn wide(width: usize) -> Look {
    Look { width, color: false, unicode: true }
}

/// Days in New York.
pub(crate) fn days() -> Calendar {
    Calendar::new(IntervalLength::Day, Zone::named("America/New_York").unwrap())
}

/// Months in New York.
pub(crate) fn months() -> Calendar {
    Calendar::new(IntervalLength::Month, Zone::named("America/New_York").unwrap())
}

/// The intervals of `calendar` inside the range that `text` names.
pub(crate) fn inside(calendar: &Calendar, text: &str) -> Vec<Interval> {
    calendar.inside(calendar.parse_range(text).unwrap()).collect()
}

pub(crate) fn table(name: &str) -> TableName {
    name.parse().unwrap()
}

pub(crate) fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}
