//! Moves instants and wall times by months, days and microseconds, as SQL's `+ INTERVAL` does.

use jiff::civil::{Date, DateTime};
use jiff::{SignedDuration, Span};

use crate::interval::Instant;
use crate::read::Offset;

/// Adds offsets to a wall time, saturating at the ends of the calendar.
pub fn wall(from: DateTime, offsets: &[Offset]) -> DateTime {
    offsets.iter().fold(from, |wall, offset| {
        wall.saturating_add(Span::new().months(offset.months))
            .saturating_add(Span::new().days(offset.days))
            .saturating_add(SignedDuration::from_micros(offset.micros))
    })
}

/// Adds offsets to an instant, months and days in UTC, as the engine does.
pub fn instant(from: Instant, offsets: &[Offset]) -> Instant {
    let utc = jiff::tz::Offset::UTC;
    let moved = wall(utc.to_datetime(from.to_timestamp()), offsets);
    utc.to_timestamp(moved).map_or(from, Instant::from)
}

/// The wall time that stands `micros` after 1970-01-01 00:00:00.
pub fn wall_from_micros(micros: i64) -> DateTime {
    let epoch = Date::new(1970, 1, 1).unwrap_or(Date::MIN).to_datetime(jiff::civil::Time::midnight());
    epoch.saturating_add(SignedDuration::from_micros(micros))
}
