//! What sources say about ranges: delivered, not yet, gone. Asks a source's index, reads nothing itself.

use std::sync::Arc;

use oncemore_backend::source::{Delivery as Found, SourceIndex};
use oncemore_core::{Instant, Interval};

use crate::assess::{Delivery, SourceState};

/// Times outside which nothing is expected of a source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The project's start.
    pub(crate) start: Option<Instant>,
    /// The project's fixed end.
    pub(crate) end: Option<Instant>,
    /// The current time.
    pub(crate) now: Instant,
}

/// A source, asked about ranges.
pub(crate) struct SourceSupply {
    index: Arc<SourceIndex>,
    limits: Limits,
}

impl SourceSupply {
    pub(crate) fn new(index: Arc<SourceIndex>, limits: Limits) -> Self {
        SourceSupply { index, limits }
    }
}

impl SourceState for SourceSupply {
    fn delivery(&self, range: Interval, had_rows: bool) -> Delivery {
        // What can't be read holds whoever reads there; only what never was is not expected out of the project's time.
        if let Some(lost) = self.index.lost(range) {
            return told(lost, had_rows);
        }
        let start = self.limits.start.unwrap_or(Instant::MIN);
        // Where a range is open above, only what has ended can be expected.
        let open = if range.end() == Instant::MAX { self.limits.now } else { range.end() };
        let end = self.limits.end.map_or(open, |end| open.min(end));
        let Some(expected) = Interval::new(range.start().max(start), end) else { return Delivery::Ready };
        told(self.index.delivered(expected), had_rows)
    }
}

fn told(found: Found, had_rows: bool) -> Delivery {
    match found {
        Found::Ready => Delivery::Ready,
        // A slice that was published had its files; waiting for them again means that they vanished.
        // Named as a file that is known to have been there, which a ledger made anew does not know.
        Found::Waiting { what } if had_rows => Delivery::Gone(what.trim_matches('`').to_owned()),
        Found::Waiting { what } => Delivery::Waiting(what),
        Found::Gone { path } => Delivery::Gone(path),
        Found::Missing { what } => Delivery::Missing(what),
        Found::Broken { what } => Delivery::Broken(what),
    }
}
