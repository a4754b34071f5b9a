//! What a task reads of an input: columns and a range of time, as a function of the task's interval.
//!
//! Ranges over-approximate: rows outside a read range never change the task's output. They are derived by the
//! engine from the analysed plan, kept as data, and evaluated here, so that planning needs no engine.

use serde::{Deserialize, Serialize};

use crate::calendar::shift;
use crate::column::TimeType;
use crate::interval::{Instant, Interval};
use crate::name::TableName;
use crate::zone::Zone;

/// The name under which a model reads the slice before its own one: `previous(<schema>.<name>)`.
///
/// No table and no source can be called so.
pub fn previous_of(table: &TableName) -> String {
    format!("previous({table})")
}

/// One input of a model, as read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Read {
    /// Table or source, as named in FROM.
    pub input: String,
    /// Columns that the plan touches.
    pub columns: ColumnsRead,
    /// Lower bound of the input's time column, inclusive; `None`: unbounded.
    pub from: Option<Bound>,
    /// Upper bound of the input's time column, exclusive; `None`: unbounded.
    pub to: Option<Bound>,
}

/// Columns that a task reads of an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnsRead {
    /// Every column, also those added later.
    All,
    /// These, sorted.
    Some(Vec<String>),
}

impl ColumnsRead {
    /// The list, or `None` for all.
    pub fn as_deref(&self) -> Option<&[String]> {
        match self {
            ColumnsRead::All => None,
            ColumnsRead::Some(columns) => Some(columns),
        }
    }
}

/// A bound on an input's time column: an edge of the task's interval moved by offsets, or a constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Bound {
    /// Where it starts from.
    pub edge: Edge,
    /// Type in which the column is compared: decides how the edge is read and the offsets are added.
    pub time_type: TimeType,
    /// Added one after another, in the calendar of `time_type`.
    pub offsets: Vec<Offset>,
}

/// What a bound starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Edge {
    /// `:interval_start`
    Start,
    /// `:interval_end`
    End,
    /// A literal: days since 1970 for dates, µs otherwise (wall time or UTC, by the bound's type).
    Const(i64),
}

/// A step in time: months, days and microseconds, added in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Offset {
    /// Calendar months; the day is clamped to the month's last.
    pub months: i32,
    /// Calendar days.
    pub days: i32,
    /// Microseconds.
    pub micros: i64,
}

impl Read {
    /// Whether it is the slice before the own one, see [`previous_of`].
    pub fn is_previous(&self) -> bool {
        self.input.ends_with(')')
    }

    /// The range of instants that a task on `interval` reads, in the model's zone.
    ///
    /// `input_zone` is the zone in which the *input's* slices are cut, for inputs whose time column holds dates or
    /// wall times. Empty ranges come out as `None`: the task reads nothing of the input.
    pub fn range(&self, interval: Interval, zone: &Zone, input_zone: &Zone) -> Option<Interval> {
        let at = |bound: &Option<Bound>, open: Instant| match bound {
            Some(bound) => bound.evaluate(interval, zone, input_zone),
            None => open,
        };
        Interval::new(at(&self.from, Instant::MIN), at(&self.to, Instant::MAX))
    }
}

impl Bound {
    /// The instant in the input's calendar that the bound stands for.
    pub fn evaluate(&self, interval: Interval, zone: &Zone, input_zone: &Zone) -> Instant {
        let edge = match self.edge {
            Edge::Start => interval.start(),
            Edge::End => interval.end(),
            Edge::Const(value) => return self.constant(value, input_zone),
        };
        if edge == Instant::MIN || edge == Instant::MAX {
            return edge;
        }
        match self.time_type {
            TimeType::Instant => shift::instant(edge, &self.offsets),
            TimeType::Wall => input_zone.instant(shift::wall(zone.wall_bound(edge), &self.offsets)),
            TimeType::Date => {
                let moved = shift::wall(
                    zone.date_bound(edge).to_datetime(jiff::civil::Time::midnight()),
                    &self.offsets,
                );
                let date = moved.date();
                let whole = moved.time() == jiff::civil::Time::midnight();
                input_zone.start_of_day(if whole { date } else { date.tomorrow().unwrap_or(date) })
            }
        }
    }

    fn constant(&self, value: i64, input_zone: &Zone) -> Instant {
        match self.time_type {
            TimeType::Instant => shift::instant(Instant(value), &self.offsets),
            TimeType::Wall => input_zone.instant(shift::wall(shift::wall_from_micros(value), &self.offsets)),
            TimeType::Date => {
                let days = value.saturating_mul(86_400_000_000);
                input_zone.start_of_day(shift::wall(shift::wall_from_micros(days), &self.offsets).date())
            }
        }
    }
}
