//! Moves instants and wall times by months, days and microseconds, as SQL's `+ INTERVAL` does.

use jiff::civil::{Date, DateTime};
use jiff::{SignedDuration, Span};

use crate::interval::Instant;
use crate::read::Offset;

/// Adds offsets to a wall time, saturating at the ends of the calendar.
pub fn wall(from: DateTime, offsets: &[Offset]) -> DateTime {
    offsets.iter().fold(from, |wall, offset| {
        let wall = add(wall, Span::new().try_months(offset.months).ok(), offset.months);
        let wall = add(wall, Span::new().try_days(offset.days).ok(), offset.days);
        wall.saturating_add(SignedDuration::from_micros(offset.micros))
    })
}

/// Adds a span; one that is longer than the calendar leads to the end of it that `towards` points to.
fn add(wall: DateTime, span: Option<Span>, towards: i32) -> DateTime {
    let end = if towards < 0 { DateTime::MIN } else { DateTime::MAX };
    span.map_or(end, |span| wall.saturating_add(span))
}

/// Adds offsets to an instant, months and days in UTC, as the engine does; open where that leads out of the calendar.
pub fn instant(from: Instant, offsets: &[Offset]) -> Instant {
    let utc = jiff::tz::Offset::UTC;
    let moved = wall(utc.to_datetime(from.to_timestamp()), offsets);
    let end = if moved.year() < 1970 { Instant::MIN } else { Instant::MAX };
    utc.to_timestamp(moved).map_or(end, Instant::from)
}

/// The wall time that stands `micros` after 1970-01-01 00:00:00.
pub fn wall_from_micros(micros: i64) -> DateTime {
    let epoch = Date::new(1970, 1, 1).unwrap_or(Date::MIN).to_datetime(jiff::civil::Time::midnight());
    epoch.saturating_add(SignedDuration::from_micros(micros))
}
