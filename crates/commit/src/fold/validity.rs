//! From the changes of a key to the stretches of time in which its values held. Pure: rows in, rows out.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, RecordBatch, TimestampMicrosecondArray, UInt32Array,
};
use arrow::compute::kernels::cmp::distinct;
use arrow::compute::{filter_record_batch, take};
use arrow::datatypes::{Field, Schema, SchemaRef};
use serde::{Deserialize, Serialize};

use super::order::Order;
use super::{decide, store};
use crate::error::{CommitError, Result};
use crate::metadata::schema::INTERVAL_START;
use crate::stage::internal;
use crate::types::arrow_type;
use oncemore_core::{ColumnType, Instant, Zone};

/// First instant at which a row of a history holds.
pub const VALID_FROM: &str = "valid_from";
/// First instant at which it holds no more; NULL: it still does.
pub const VALID_TO: &str = "valid_to";
/// Whether it still holds.
pub const IS_CURRENT: &str = "is_current";

/// How changes become stretches of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validity {
    /// Column that dates a change; none: each slice holds all keys that are there, and its start is the date.
    pub at: Option<String>,
    /// Whether that column decides the slice, too: then no two slices date changes alike.
    pub sliced: bool,
    /// Columns whose values make a stretch: of equal neighbours one is kept.
    pub tracked: Vec<String>,
    /// How the starts of slices are written, where these are the dates. Tables of a time before there was a choice hold
    /// instants.
    #[serde(default)]
    pub starts: Starts,
}

/// How the start of a slice is written as a date: as rows of facts write the time at which they are joined, so that the
/// two compare in one zone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Starts {
    /// TIMESTAMPTZ.
    #[default]
    Instant,
    /// TIMESTAMP: what a clock on the wall of that zone shows.
    Wall(String),
    /// DATE: the local day in that zone.
    Day(String),
}

/// µs of a day without a change of the clock.
const DAY: i64 = 86_400_000_000;

impl Starts {
    fn column_type(&self) -> ColumnType {
        match self {
            Starts::Instant => ColumnType::TimestampTz,
            Starts::Wall(_) => ColumnType::Timestamp,
            Starts::Day(_) => ColumnType::Date,
        }
    }

    /// Instants in µs as they are written: the bounds by which rows with such times were cut into slices.
    pub(super) fn column(&self, instants: impl Iterator<Item = Option<i64>>) -> Result<ArrayRef> {
        let zone = |name: &String| {
            let lost = || CommitError::Config(format!("the time zone `{name}` is not known on this machine"));
            Zone::named(name).ok_or_else(lost)
        };
        let utc = Zone::utc();
        Ok(match self {
            Starts::Instant => {
                let instants: TimestampMicrosecondArray = instants.collect();
                Arc::new(instants.with_timezone("UTC"))
            }
            Starts::Wall(name) => {
                let zone = zone(name)?;
                let walls = each(instants, |at| Ok(utc.instant(zone.wall_bound(at)).0))?;
                Arc::new(TimestampMicrosecondArray::from(walls))
            }
            Starts::Day(name) => {
                let zone = zone(name)?;
                let day = |at| utc.start_of_day(zone.date_bound(at)).0.div_euclid(DAY);
                let days = each(instants, |at| i32::try_from(day(at)).map_err(internal))?;
                Arc::new(Date32Array::from(days))
            }
        })
    }
}

/// Instants in µs as `write` has them; slices are few beside rows, so that each is written once.
fn each<T: Copy>(
    instants: impl Iterator<Item = Option<i64>>,
    write: impl Fn(Instant) -> Result<T>,
) -> Result<Vec<Option<T>>> {
    let mut known: BTreeMap<i64, T> = BTreeMap::new();
    let mut written = |at: i64| {
        if let Some(known) = known.get(&at) {
            return Ok(*known);
        }
        let found = write(Instant(at))?;
        known.insert(at, found);
        Ok(found)
    };
    instants.map(|at| at.map(&mut written).transpose()).collect()
}

impl Validity {
    /// The column that dates rows.
    pub(crate) fn date(&self) -> &str {
        self.at.as_deref().unwrap_or(INTERVAL_START)
    }

    /// The columns of a history of rows with the columns `user`.
    ///
    /// # Errors
    /// A column that dates changes and is not there, or columns of our names.
    pub fn columns(&self, user: &Schema) -> Result<Schema> {
        if let Some(taken) =
            [VALID_FROM, VALID_TO, IS_CURRENT].iter().find(|name| user.index_of(name).is_ok())
        {
            return Err(CommitError::Config(format!("column `{taken}` has a name that is ours; rename it")));
        }
        let date = match &self.at {
            None => arrow_type(self.starts.column_type()),
            Some(at) => {
                let field = user.field_with_name(at);
                let missing = |_| CommitError::Config(format!("column `{at}` is not among the columns"));
                field.map_err(missing)?.data_type().clone()
            }
        };
        let mut fields: Vec<_> = user.fields().iter().cloned().collect();
        fields.push(Arc::new(Field::new(VALID_FROM, date.clone(), true)));
        fields.push(Arc::new(Field::new(VALID_TO, date, true)));
        fields.push(Arc::new(Field::new(IS_CURRENT, arrow_type(ColumnType::Boolean), true)));
        Ok(Schema::new(fields))
    }
}

/// Where a stretch ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Open,
    /// At the date of that row.
    Row(u32),
    /// At that instant.
    At(i64),
}

/// The stretches of `rows`, which are one a key and date, in this order. `runs` are the starts of all slices, for
/// slices that hold all keys that are there.
pub(crate) fn stretches(
    validity: &Validity,
    keys: &Order,
    tracked: &Order,
    rows: &RecordBatch,
    runs: &[i64],
    columns: &SchemaRef,
) -> Result<RecordBatch> {
    let found = match &validity.at {
        Some(_) => of_changes(keys, tracked, rows)?,
        None => of_snapshots(keys, tracked, rows, runs)?,
    };
    let places: UInt32Array = found.iter().map(|(row, _)| Some(*row)).collect();
    let missing = || CommitError::Internal(format!("changes without `{}`", validity.date()));
    let dates = rows.column_by_name(validity.date()).ok_or_else(missing)?;
    let (from, to) = if validity.at.is_some() {
        let ends: UInt32Array =
            found.iter().map(|(_, end)| if let End::Row(row) = end { Some(*row) } else { None }).collect();
        let from = take(dates, &places, None).map_err(internal)?;
        (from, take(dates, &ends, None).map_err(internal)?)
    } else {
        let starts = decide::starts(rows)?;
        let ends = found.iter().map(|(_, end)| if let End::At(at) = end { Some(*at) } else { None });
        let from = validity.starts.column(found.iter().map(|(row, _)| starts[*row as usize]))?;
        (from, validity.starts.column(ends)?)
    };
    let current: BooleanArray = found.iter().map(|(_, end)| Some(matches!(end, End::Open))).collect();
    let column = |field: &Arc<Field>| match field.name().as_str() {
        VALID_FROM => Ok(from.clone()),
        VALID_TO => Ok(to.clone()),
        IS_CURRENT => Ok(Arc::new(current.clone()) as ArrayRef),
        name => {
            let column = rows.column_by_name(name);
            let column = column.ok_or_else(|| CommitError::Internal(format!("changes without `{name}`")))?;
            take(column, &places, None).map_err(internal)
        }
    };
    let arrays = columns.fields().iter().map(column).collect::<Result<Vec<_>>>()?;
    let made = RecordBatch::try_new(columns.clone(), arrays).map_err(internal)?;
    if !matches!(validity.starts, Starts::Wall(_)) {
        return Ok(made);
    }
    // An hour that the clock shows twice has no wall times of its own the second time.
    let lasting = distinct(&from, &to).map_err(internal)?;
    filter_record_batch(&made, &lasting).map_err(internal)
}

/// A change begins a stretch that the next differing one ends; a deletion only ends.
fn of_changes(keys: &Order, tracked: &Order, rows: &RecordBatch) -> Result<Vec<(u32, End)>> {
    let (keys, values) = (keys.keys(rows)?, tracked.keys(rows)?);
    let deleted = store::deletions(rows)?;
    let mut found: Vec<(u32, End)> = Vec::new();
    for (place, row) in (0u32..).zip(0..rows.num_rows()) {
        let open = found
            .last_mut()
            .filter(|(begun, end)| matches!(end, End::Open) && keys.row(*begun as usize) == keys.row(row));
        if let Some((begun, end)) = open {
            if !deleted.value(row) && values.row(*begun as usize) == values.row(row) {
                continue;
            }
            *end = End::Row(place);
        }
        if !deleted.value(row) {
            found.push((place, End::Open));
        }
    }
    Ok(found)
}

/// A key holds from a slice that has it until one that has other values for it, or none. A slice that never ran says
/// nothing.
fn of_snapshots(keys: &Order, tracked: &Order, rows: &RecordBatch, runs: &[i64]) -> Result<Vec<(u32, End)>> {
    let (keys, values) = (keys.keys(rows)?, tracked.keys(rows)?);
    let (deleted, starts) = (store::deletions(rows)?, decide::starts(rows)?);
    let mut found: Vec<(u32, End)> = Vec::new();
    for (place, row) in (0u32..).zip(0..rows.num_rows()) {
        if deleted.value(row) {
            continue;
        }
        let start = starts[row].unwrap_or(i64::MIN);
        let next = runs.get(runs.partition_point(|run| *run <= start)).map_or(End::Open, |run| End::At(*run));
        let before = found.last_mut().filter(|(begun, end)| {
            matches!(end, End::At(at) if *at == start) && keys.row(*begun as usize) == keys.row(row)
        });
        match before {
            Some((begun, end)) if values.row(*begun as usize) == values.row(row) => *end = next,
            _ => found.push((place, next)),
        }
    }
    Ok(found)
}
