//! Cells: which interval of a calendar a value of a time column falls into, without a calendar call for each row.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{Date32Type, TimestampMicrosecondType};
use jiff::civil::{Date, DateTime};
use oncemore_core::calendar::shift;
use oncemore_core::{Calendar, Instant, Interval, TimeType, Zone};

/// µs of a day.
const DAY: i64 = 86_400_000_000;
/// Beyond this calendars don't reach: years -9000 to 9000 or so, in µs.
const FARTHEST: i64 = 8_000 * 366 * DAY;

/// The half-open range of raw values (days for DATE, µs otherwise) that an instant range stands for.
pub(crate) fn bounds(interval: Interval, kind: TimeType, zone: &Zone) -> (i64, i64) {
    (bound(interval.start(), kind, zone), bound(interval.end(), kind, zone))
}

fn bound(instant: Instant, kind: TimeType, zone: &Zone) -> i64 {
    match (instant, kind) {
        (Instant::MIN | Instant::MAX, _) => instant.0,
        (_, TimeType::Instant) => instant.0,
        (_, TimeType::Wall) => wall_micros(zone.wall_bound(instant)),
        (_, TimeType::Date) => wall_micros(zone.date_bound(instant).into()).div_euclid(DAY),
    }
}

fn wall_micros(wall: DateTime) -> i64 {
    let epoch = shift::wall_from_micros(0);
    i64::try_from(wall.duration_since(epoch).as_micros()).unwrap_or(i64::MAX)
}

/// The instant that a raw value stands for, as the zone's clock shows it; `None` where no calendar reaches.
pub(crate) fn instant(value: i64, kind: TimeType, zone: &Zone) -> Option<Instant> {
    let micros = if kind == TimeType::Date { value.checked_mul(DAY)? } else { value };
    if !(-FARTHEST..FARTHEST).contains(&micros) {
        return None;
    }
    Some(match kind {
        TimeType::Instant => Instant(micros),
        TimeType::Wall => zone.instant(shift::wall_from_micros(micros)),
        TimeType::Date => zone.start_of_day(shift::wall_from_micros(micros).date()),
    })
}

/// A raw value as people write it.
pub(crate) fn show(value: i64, kind: TimeType) -> String {
    match kind {
        TimeType::Instant => Instant(value).to_string(),
        TimeType::Wall => shift::wall_from_micros(value).to_string().replace('T', " "),
        TimeType::Date => {
            let date: Date = shift::wall_from_micros(value.saturating_mul(DAY)).date();
            date.to_string()
        }
    }
}

/// A time column as raw values; NULL where `is_null` says so. `None` for any other type.
pub(crate) fn raw(column: &ArrayRef, kind: TimeType) -> Option<Vec<i64>> {
    Some(match kind {
        TimeType::Date => {
            column.as_primitive_opt::<Date32Type>()?.values().iter().map(|days| i64::from(*days)).collect()
        }
        _ => column.as_primitive_opt::<TimestampMicrosecondType>()?.values().to_vec(),
    })
}

/// Finds cells by binary search over those met so far.
#[derive(Debug)]
pub(crate) struct Cells<'a> {
    calendar: &'a Calendar,
    zone: &'a Zone,
    kind: TimeType,
    /// First value, first value after, place in `intervals`; sorted, disjoint.
    met: Vec<(i64, i64, usize)>,
    /// The cells met, in the order of meeting.
    pub(crate) intervals: Vec<Interval>,
}

impl<'a> Cells<'a> {
    /// Cells of `calendar`; dates and wall times are read in `zone`.
    pub(crate) fn new(calendar: &'a Calendar, zone: &'a Zone, kind: TimeType) -> Self {
        Cells { calendar, zone, kind, met: Vec::new(), intervals: Vec::new() }
    }

    /// Rows by cell, in runs of equal cells: (place in `intervals`, rows from, rows to). The error is the first row
    /// that is NULL or beyond every calendar.
    pub(crate) fn runs(&mut self, column: &ArrayRef) -> Result<Vec<(usize, usize, usize)>, usize> {
        let values = raw(column, self.kind).ok_or(0_usize)?;
        let mut runs: Vec<(usize, usize, usize)> = Vec::new();
        let mut last = (1, 0, 0);
        for (row, value) in values.into_iter().enumerate() {
            if column.is_null(row) {
                return Err(row);
            }
            if !(last.0 <= value && value < last.1) {
                last = self.find(value).ok_or(row)?;
            }
            match runs.last_mut() {
                Some((cell, _, to)) if *cell == last.2 => *to = row + 1,
                _ => runs.push((last.2, row, row + 1)),
            }
        }
        Ok(runs)
    }

    fn find(&mut self, value: i64) -> Option<(i64, i64, usize)> {
        let at = self.met.partition_point(|(_, end, _)| *end <= value);
        if let Some(found) = self.met.get(at).filter(|(start, ..)| *start <= value) {
            return Some(*found);
        }
        // The instant of a value near a clock change may lie beside the cell whose bounds hold it.
        let mut interval = self.calendar.containing(instant(value, self.kind, self.zone)?);
        let (mut start, mut end) = bounds(interval, self.kind, self.zone);
        for _ in 0..64 {
            if value < start {
                interval = self.calendar.previous(interval);
            } else if value >= end {
                interval = self.calendar.next(interval);
            } else {
                break;
            }
            (start, end) = bounds(interval, self.kind, self.zone);
        }
        if !(start <= value && value < end) {
            return None;
        }
        let found = (start, end, self.intervals.len());
        self.intervals.push(interval);
        self.met.insert(at, found);
        Some(found)
    }
}
