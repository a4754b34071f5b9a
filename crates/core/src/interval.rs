//! Instants and half-open intervals of instants. Knows nothing of calendars or zones: see [`crate::calendar`].

use std::fmt;

use serde::{Deserialize, Serialize};

/// A point in time: microseconds since 1970-01-01T00:00:00Z, the resolution that tables store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Instant(pub i64);

impl Instant {
    /// Before every instant a table can hold; the start of [`Interval::WHOLE`].
    pub const MIN: Instant = Instant(i64::MIN);
    /// After every instant a table can hold; the end of [`Interval::WHOLE`].
    pub const MAX: Instant = Instant(i64::MAX);

    /// The same instant for `jiff`, saturating at the range that `jiff` covers (years -9999 to 9999).
    pub fn to_timestamp(self) -> jiff::Timestamp {
        jiff::Timestamp::from_microsecond(self.0).unwrap_or(if self.0 < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        })
    }
}

impl From<jiff::Timestamp> for Instant {
    fn from(timestamp: jiff::Timestamp) -> Self {
        Instant(timestamp.as_microsecond())
    }
}

impl fmt::Display for Instant {
    /// RFC 3339 in UTC, without fractional digits where there are none: `2013-03-01T05:00:00Z`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Instant::MIN => f.write_str("-inf"),
            Instant::MAX => f.write_str("+inf"),
            _ => write!(f, "{}", self.to_timestamp()),
        }
    }
}

/// A half-open range of instants, `start <= t < end`, never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Interval {
    start: Instant,
    end: Instant,
}

impl Interval {
    /// All of time: the interval of a `full` table's one slice, and of a read without a derived range.
    pub const WHOLE: Interval = Interval { start: Instant::MIN, end: Instant::MAX };

    /// The interval `[start, end)`, or `None` where that holds no instant.
    pub fn new(start: Instant, end: Instant) -> Option<Interval> {
        (start < end).then_some(Interval { start, end })
    }

    /// First instant inside.
    pub fn start(self) -> Instant {
        self.start
    }

    /// First instant after.
    pub fn end(self) -> Instant {
        self.end
    }

    /// Whether this is all of time.
    pub fn is_whole(self) -> bool {
        self == Interval::WHOLE
    }

    /// Whether `instant` lies inside.
    pub fn contains(self, instant: Instant) -> bool {
        self.start <= instant && instant < self.end
    }

    /// Whether every instant of `other` lies inside.
    pub fn covers(self, other: Interval) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Whether the two share an instant; neighbours that only touch do not.
    pub fn overlaps(self, other: Interval) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// What the two share.
    pub fn intersect(self, other: Interval) -> Option<Interval> {
        Interval::new(self.start.max(other.start), self.end.min(other.end))
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {})", self.start, self.end)
    }
}
