//! Calendars: how a model's time is cut into intervals of one length in one zone.

pub mod shift;

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, DateTime, Weekday};
use jiff::{Span, ToSpan};
use serde::{Deserialize, Serialize};

use crate::interval::{Instant, Interval};
use crate::zone::Zone;

/// Length of a model's intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum IntervalLength {
    /// A number of minutes that divides the day, counted from the start of each local day.
    Minutes(u32),
    /// An hour, counted from the start of each local day.
    Hour,
    /// A local day: 23, 24 or 25 hours.
    Day,
    /// Seven local days from Monday.
    Week,
    /// A calendar month.
    Month,
    /// Three calendar months from January, April, July or October.
    Quarter,
    /// A calendar year.
    Year,
}

/// A text that names no interval length.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no interval length: hour, day, week, month, quarter, year, or minutes that divide the day (`15 minutes`)"
)]
pub struct LengthError(pub String);

impl IntervalLength {
    /// Names of all lengths but minutes.
    pub const NAMES: [&'static str; 6] = ["hour", "day", "week", "month", "quarter", "year"];

    /// Whether intervals are shorter than a day, so that a DATE can't tell them apart.
    pub fn is_below_day(self) -> bool {
        self.minutes().is_some()
    }

    fn minutes(self) -> Option<u32> {
        match self {
            IntervalLength::Minutes(minutes) => Some(minutes),
            IntervalLength::Hour => Some(60),
            _ => None,
        }
    }
}

impl FromStr for IntervalLength {
    type Err = LengthError;

    fn from_str(text: &str) -> Result<Self, LengthError> {
        Ok(match text.trim() {
            "hour" => IntervalLength::Hour,
            "day" => IntervalLength::Day,
            "week" => IntervalLength::Week,
            "month" => IntervalLength::Month,
            "quarter" => IntervalLength::Quarter,
            "year" => IntervalLength::Year,
            other => {
                let number = other.strip_suffix("minutes").or_else(|| other.strip_suffix("minute"));
                let minutes: Option<u32> = number.and_then(|number| number.trim().parse().ok());
                match minutes {
                    Some(60) => IntervalLength::Hour,
                    Some(1440) => IntervalLength::Day,
                    Some(minutes) if minutes > 0 && minutes < 1440 && 1440 % minutes == 0 => {
                        IntervalLength::Minutes(minutes)
                    }
                    _ => return Err(LengthError(text.to_owned())),
                }
            }
        })
    }
}

impl fmt::Display for IntervalLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IntervalLength::Minutes(minutes) => return write!(f, "{minutes} minutes"),
            IntervalLength::Hour => "hour",
            IntervalLength::Day => "day",
            IntervalLength::Week => "week",
            IntervalLength::Month => "month",
            IntervalLength::Quarter => "quarter",
            IntervalLength::Year => "year",
        })
    }
}

impl TryFrom<String> for IntervalLength {
    type Error = LengthError;

    fn try_from(text: String) -> Result<Self, LengthError> {
        text.parse()
    }
}

impl From<IntervalLength> for String {
    fn from(length: IntervalLength) -> String {
        length.to_string()
    }
}

/// Cuts time into adjacent intervals of one length in one zone: each instant lies in exactly one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calendar {
    /// Length of each interval.
    pub length: IntervalLength,
    /// Zone whose days, months and years count.
    pub zone: Zone,
}

impl Calendar {
    /// A calendar of `length` in `zone`.
    pub fn new(length: IntervalLength, zone: Zone) -> Self {
        Calendar { length, zone }
    }

    /// The interval that holds `instant`. The calendar's first one begins with time, its last one ends with it.
    pub fn containing(&self, instant: Instant) -> Interval {
        let date = self.zone.wall(instant).date();
        // Around a gap at midnight the wall date can run ahead of the day's first instant by nothing more than
        // the gap; the day that holds the instant is found by comparing starts.
        let date =
            if self.zone.start_of_day(date) > instant { date.yesterday().unwrap_or(date) } else { date };
        let (start, end) = match self.length.minutes() {
            Some(minutes) => self.part_of_day(date, instant, i64::from(minutes) * 60_000_000),
            None => {
                let first = self.first_day(date);
                let end =
                    self.next_first_day(first).map_or(Instant::MAX, |next| self.zone.start_of_day(next));
                (self.zone.start_of_day(first), end)
            }
        };
        Interval::new(start, end).unwrap_or(Interval::WHOLE)
    }

    /// The interval right after `interval`, which must be one of this calendar; the last one of all where none follows.
    pub fn next(&self, interval: Interval) -> Interval {
        self.containing(interval.end())
    }

    /// The interval right before `interval`, which must be one of this calendar; the first one of all where none is.
    pub fn previous(&self, interval: Interval) -> Interval {
        self.containing(Instant(interval.start().0.saturating_sub(1)))
    }

    /// Whether an interval of this calendar starts at `instant`.
    pub fn is_boundary(&self, instant: Instant) -> bool {
        self.containing(instant).start() == instant
    }

    /// All intervals wholly inside `range`, in order.
    pub fn inside(&self, range: Interval) -> impl Iterator<Item = Interval> + '_ {
        let holding = self.containing(range.start());
        let first = if holding.start() == range.start() { holding } else { self.next(holding) };
        self.on_from(first).take_while(move |interval| range.covers(*interval))
    }

    /// All intervals that share an instant with `range`, in order.
    pub fn touching(&self, range: Interval) -> impl Iterator<Item = Interval> + '_ {
        self.on_from(self.containing(range.start()))
            .take_while(move |interval| interval.start() < range.end())
    }

    /// `first` and all that come after it, up to the end of the calendar.
    fn on_from(&self, first: Interval) -> impl Iterator<Item = Interval> + '_ {
        std::iter::successors(Some(first), |interval| {
            Some(self.next(*interval)).filter(|next| next.start() >= interval.end())
        })
    }

    /// How people write an interval of this calendar: `2013-03-01`, `2013-03`, `2013-Q1`, `2013`, `2013-03-01T05:00`.
    /// An hour that the wall clock shows twice carries its offset.
    pub fn label(&self, interval: Interval) -> String {
        if interval.is_whole() {
            return "all".to_owned();
        }
        let wall = self.zone.wall(interval.start());
        let date = wall.date();
        match self.length {
            IntervalLength::Day | IntervalLength::Week => date.to_string(),
            IntervalLength::Month => format!("{:04}-{:02}", date.year(), date.month()),
            IntervalLength::Quarter => format!("{:04}-Q{}", date.year(), (date.month() + 2) / 3),
            IntervalLength::Year => format!("{:04}", date.year()),
            IntervalLength::Hour | IntervalLength::Minutes(_) => {
                let label = wall.strftime("%Y-%m-%dT%H:%M").to_string();
                if self.zone.instant(wall) == interval.start() { label } else { format!("{label} (second)") }
            }
        }
    }

    /// The instant that `text` means here: a date is its local midnight, a wall time is local, an instant with an
    /// offset or `Z` is itself.
    pub fn parse_instant(&self, text: &str) -> Option<Instant> {
        if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
            return Some(timestamp.into());
        }
        if let Some(date) = parse_date(text) {
            return Some(self.zone.start_of_day(date));
        }
        text.parse::<DateTime>().ok().map(|wall| self.zone.instant(wall))
    }

    /// The range that `text` names, whatever this calendar's length: `2013` a year, `2013-Q1` a quarter, `2013-03` a
    /// month, `2013-03-01` a day, `2013-03-01T05` an hour, `2013-03-01T05:15` the interval that starts there.
    pub fn parse_range(&self, text: &str) -> Option<Interval> {
        let (date, length) = if let Some((year, quarter)) = text.split_once("-Q") {
            let quarter: i8 = quarter.parse().ok().filter(|quarter| (1..=4).contains(quarter))?;
            (Date::new(parse_year(year)?, quarter * 3 - 2, 1).ok()?, IntervalLength::Quarter)
        } else {
            match text.split('-').collect::<Vec<_>>()[..] {
                [year] => (Date::new(parse_year(year)?, 1, 1).ok()?, IntervalLength::Year),
                [year, month] if month.len() == 2 => {
                    (Date::new(parse_year(year)?, month.parse().ok()?, 1).ok()?, IntervalLength::Month)
                }
                [_, _, _] if !text.contains('T') => (parse_date(text)?, IntervalLength::Day),
                // A date, `T` and an hour; a zone would make it longer.
                _ if text.len() == 13 => {
                    let start = self.parse_instant(&format!("{text}:00"))?;
                    return Some(Calendar::new(IntervalLength::Hour, self.zone.clone()).containing(start));
                }
                _ => {
                    let start = self.parse_instant(text)?;
                    let interval = self.containing(start);
                    return (interval.start() == start).then_some(interval);
                }
            }
        };
        let days = Calendar::new(length, self.zone.clone());
        Some(days.containing(self.zone.start_of_day(date)))
    }

    fn part_of_day(&self, date: Date, instant: Instant, micros: i64) -> (Instant, Instant) {
        let day_start = self.zone.start_of_day(date);
        let day_end = date.tomorrow().map_or(Instant::MAX, |next| self.zone.start_of_day(next));
        // The first and the last day of the calendar are not whole: nothing cuts them.
        if day_start == Instant::MIN || day_end == Instant::MAX {
            return (day_start, day_end);
        }
        let start = day_start.0 + (instant.0 - day_start.0).div_euclid(micros) * micros;
        (Instant(start), Instant((start + micros).min(day_end.0)))
    }

    fn first_day(&self, date: Date) -> Date {
        match self.length {
            IntervalLength::Week => {
                let days = i64::from(date.weekday().since(Weekday::Monday));
                date.saturating_sub(Span::new().days(days))
            }
            IntervalLength::Month => date.first_of_month(),
            IntervalLength::Quarter => {
                let month = (date.month() - 1) / 3 * 3 + 1;
                Date::new(date.year(), month, 1).unwrap_or(date)
            }
            IntervalLength::Year => date.first_of_year(),
            _ => date,
        }
    }

    /// The first day of the next interval; none where the calendar ends before.
    fn next_first_day(&self, first: Date) -> Option<Date> {
        let length = match self.length {
            IntervalLength::Week => 1.week(),
            IntervalLength::Month => 1.month(),
            IntervalLength::Quarter => 3.months(),
            IntervalLength::Year => 1.year(),
            _ => 1.day(),
        };
        first.checked_add(length).ok()
    }
}

fn parse_year(text: &str) -> Option<i16> {
    (text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

fn parse_date(text: &str) -> Option<Date> {
    let shaped = text.len() == 10 && !text.contains(['T', ' ', ':']);
    shaped.then(|| text.parse().ok()).flatten()
}
