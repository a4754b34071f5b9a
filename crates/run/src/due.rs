//! Slices that are due, with the labels that people know them by, and the ranges that tasks on them read.
//!
//! Cut once for all models that cut time alike: a plan of a thousand models on one calendar asks the calendar once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use oncemore_core::{Bound, Calendar, Instant, Interval, IntervalLength, Read, Zone};
use serde::{Serialize, Serializer};

/// An interval as people write it; cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label(Arc<str>);

impl Label {
    /// The label of an interval of `calendar`; without one, of a table of one slice.
    pub fn of(calendar: Option<&Calendar>, interval: Interval) -> Label {
        match calendar {
            Some(calendar) => Label(calendar.label(interval).into()),
            None => Label("all".into()),
        }
    }
}

impl PartialEq<str> for Label {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other
    }
}

impl Deref for Label {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl From<String> for Label {
    fn from(text: String) -> Label {
        Label(text.into())
    }
}

impl Serialize for Label {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// One slice that is due.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Its interval.
    pub interval: Interval,
    /// As people write it.
    pub label: Label,
}

/// Slices that are due, in order of time.
pub type Slots = Arc<[Slot]>;

/// For each slot the range that a task reads of one input; `None`: nothing.
pub(crate) type Ranges = Arc<[Option<Interval>]>;

/// What was cut so far.
#[derive(Debug, Default)]
pub(crate) struct Cuts {
    slots: RefCell<HashMap<Cut, Slots>>,
    ranges: RefCell<HashMap<Reading, Ranges>>,
}

/// What decides a list of slots.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Cut {
    /// A table of one slice.
    Whole,
    /// Nothing is due.
    Nothing,
    /// Intervals of a calendar, by length and zone, inside a range.
    Inside(IntervalLength, String, Interval),
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Reading {
    cut: Cut,
    from: Option<Bound>,
    to: Option<Bound>,
    input_zone: String,
}

impl Cut {
    /// The cut of a model that starts at `start` and whose intervals are due once they ended before `end`.
    pub(crate) fn of(calendar: Option<&Calendar>, start: Option<Instant>, end: Instant) -> Cut {
        let Some(calendar) = calendar else { return Cut::Whole };
        let range = start.and_then(|start| Interval::new(calendar.containing(start).start(), end));
        range.map_or(Cut::Nothing, |range| {
            Cut::Inside(calendar.length, calendar.zone.name().to_owned(), range)
        })
    }
}

impl Cuts {
    /// The slots of `cut`, which is that of `calendar`.
    pub(crate) fn slots(&self, cut: &Cut, calendar: Option<&Calendar>) -> Slots {
        if let Some(known) = self.slots.borrow().get(cut) {
            return Arc::clone(known);
        }
        let slot = |interval| Slot { interval, label: Label::of(calendar, interval) };
        let slots: Slots = match (cut, calendar) {
            (Cut::Inside(_, _, range), Some(calendar)) => calendar.inside(*range).map(slot).collect(),
            (Cut::Whole, _) => Arc::new([slot(Interval::WHOLE)]),
            _ => Arc::new([]),
        };
        self.slots.borrow_mut().insert(cut.clone(), Arc::clone(&slots));
        slots
    }

    /// The ranges that tasks on `slots`, which `cut` gave, read of an input by `read`.
    pub(crate) fn ranges(
        &self,
        cut: &Cut,
        slots: &Slots,
        read: &Read,
        zone: &Zone,
        input_zone: &Zone,
    ) -> Ranges {
        let reading = Reading {
            cut: cut.clone(),
            from: read.from.clone(),
            to: read.to.clone(),
            input_zone: input_zone.name().to_owned(),
        };
        if let Some(known) = self.ranges.borrow().get(&reading) {
            return Arc::clone(known);
        }
        let ranges: Ranges = slots.iter().map(|slot| read.range(slot.interval, zone, input_zone)).collect();
        self.ranges.borrow_mut().insert(reading, Arc::clone(&ranges));
        ranges
    }
}
