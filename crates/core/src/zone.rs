//! Time zones: from instants to local dates and wall times and back, also on the days the clock changes.

use std::fmt;

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};

use crate::interval::Instant;

/// A time zone of the IANA database, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

impl Zone {
    /// Coordinated universal time.
    pub fn utc() -> Self {
        Zone { name: "UTC".to_owned(), zone: TimeZone::UTC }
    }

    /// The zone called `name`, `America/New_York` say, or `None` where the database has none of that name.
    pub fn named(name: &str) -> Option<Self> {
        if name == "UTC" {
            return Some(Zone::utc());
        }
        let zone = TimeZone::get(name).ok()?;
        Some(Zone { name: zone.iana_name().unwrap_or(name).to_owned(), zone })
    }

    /// The name in the IANA database.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The local date and time that a clock on the wall shows at `instant`.
    pub fn wall(&self, instant: Instant) -> DateTime {
        self.zone.to_datetime(instant.to_timestamp())
    }

    /// The first instant of a local day: midnight, or the first moment after a gap at midnight.
    pub fn start_of_day(&self, date: Date) -> Instant {
        self.instant(date.to_datetime(Time::midnight()))
    }

    /// The bound of a wall-clock column that corresponds to `instant`: every wall time below it belongs
    /// before `instant`, every other one at or after it.
    ///
    /// Wall times map to instants as the clock shows them; a time that the clock shows twice is the first
    /// one, a time that it skips belongs to the moment after the gap. The bound rises with `instant`, so
    /// that adjacent intervals cut the wall-clock line into adjacent ranges: each row is in exactly one.
    pub fn wall_bound(&self, instant: Instant) -> DateTime {
        let timestamp = instant.to_timestamp();
        let wall = self.zone.to_datetime(timestamp);
        let offset = self.zone.to_offset(timestamp);
        if let AmbiguousOffset::Fold { before, after } = self.zone.to_ambiguous_timestamp(wall).offset()
            && before != after
            && offset == after
        {
            // Shown for the second time: all its wall times were taken by the first.
            let next = timestamp + SignedDuration::from_micros(1);
            if let Some(change) = self.zone.preceding(next).next() {
                return before.to_datetime(change.timestamp());
            }
        }
        let earlier = self.zone.to_offset(timestamp - SignedDuration::from_micros(1));
        if earlier < offset { earlier.to_datetime(timestamp) } else { wall }
    }

    /// The bound of a DATE column that corresponds to `instant`: the first local day that does not begin
    /// before it. Rises with `instant`, like [`Zone::wall_bound`].
    pub fn date_bound(&self, instant: Instant) -> Date {
        let date = self.wall(instant).date();
        if self.start_of_day(date) >= instant { date } else { date.tomorrow().unwrap_or(Date::MAX) }
    }

    /// The instant at which the wall clock first shows `wall`, or the moment after the gap that skips it.
    ///
    /// Never falls as `wall` rises.
    pub fn instant(&self, wall: DateTime) -> Instant {
        let ambiguous = self.zone.to_ambiguous_timestamp(wall);
        if let AmbiguousOffset::Gap { before, .. } = ambiguous.offset()
            && let Ok(inside) = before.to_timestamp(wall)
            && let Some(change) = self.zone.preceding(inside + SignedDuration::from_micros(1)).next()
        {
            return change.timestamp().into();
        }
        match ambiguous.compatible() {
            Ok(timestamp) => timestamp.into(),
            Err(_) if wall.year() < 1970 => Instant::MIN,
            Err(_) => Instant::MAX,
        }
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
