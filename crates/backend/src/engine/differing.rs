//! Two questions about a lookup, asked of rows: which keys differ between two versions of what is looked up, and when the
//! rows were that look one of them up.
//!
//! Both answers may be too large a set, never too small a one. What follows from them is decided elsewhere.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::Int64Type;
use datafusion::catalog::{MemTable, TableProvider};
use futures::StreamExt;
use oncemore_core::{Instant, Interval, TimeType, Zone};

use super::{Engine, EngineError, InputTime, Lookup, quoted};
use crate::source::cells::{instant, raw};

/// Keys of rows.
#[derive(Clone, Debug)]
pub struct Keys {
    /// Columns that the keys are made of, by name.
    columns: Vec<String>,
    /// Their values, NULL nowhere.
    rows: Vec<RecordBatch>,
}

/// Instants at which an input has rows of some kind.
#[derive(Clone, Debug, Default)]
pub struct Moments {
    /// Whether there is one that has no place in time.
    anywhere: bool,
    /// The places of all others, in order.
    at: Vec<Instant>,
}

impl Keys {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|batch| batch.num_rows() == 0)
    }
}

impl Moments {
    /// Whether a range that is read holds one of the rows.
    pub fn touch(&self, range: Interval) -> bool {
        let first = self.at.partition_point(|at| *at < range.start());
        self.anywhere || self.at.get(first).is_some_and(|at| *at < range.end())
    }

    fn add(&mut self, times: &ArrayRef, time_type: TimeType, zone: &Zone) {
        let Some(values) = raw(times, time_type) else {
            self.anywhere |= !times.is_empty();
            return;
        };
        for (row, value) in values.into_iter().enumerate() {
            let at = times.is_valid(row).then(|| instant(value, time_type, zone)).flatten();
            let Some(at) = at else {
                self.anywhere = true;
                continue;
            };
            self.at.push(at);
            // A time that the clock skips counts as the moment after the gap, and may be read by who reads up to that.
            if time_type != TimeType::Instant && is_skipped(value, at, time_type, zone) {
                self.at.push(Instant(at.0.saturating_sub(1)));
            }
        }
    }
}

/// Whether the clock of the zone never shows `value`, which stands for `at`.
fn is_skipped(value: i64, at: Instant, time_type: TimeType, zone: &Zone) -> bool {
    match time_type {
        TimeType::Instant => false,
        // The next one begins at the same moment.
        TimeType::Date | TimeType::Wall => instant(value.saturating_add(1), time_type, zone) == Some(at),
    }
}

impl Engine {
    /// The keys, of `columns[..key]`, of rows that differ in `columns` between two versions of a table, or are in one of
    /// them alone. `older` and `newer` may both lack rows that are in both. `None`: more than `most`.
    ///
    /// # Errors
    /// Rows that can't be read, or memory that does not suffice.
    pub async fn changed_keys(
        &self,
        (older, newer): (Arc<dyn TableProvider>, Arc<dyn TableProvider>),
        columns: &[String],
        key: usize,
        most: usize,
    ) -> Result<Option<Keys>, EngineError> {
        let named = |columns: &[String]| {
            let named = columns.iter().enumerate().map(|(at, name)| format!("{} AS c{at}", quoted(name)));
            named.collect::<Vec<_>>().join(", ")
        };
        let list = |count: usize| (0..count).map(|at| format!("c{at}")).collect::<Vec<_>>().join(", ");
        let there = (0..key).map(|at| format!(" AND c{at} IS NOT NULL")).collect::<String>();
        let sql = format!(
            "SELECT DISTINCT {} FROM (SELECT {all}, sum(w) AS w FROM (\
             SELECT {from}, CAST(1 AS BIGINT) AS w FROM lookup.newer UNION ALL \
             SELECT {from}, CAST(-1 AS BIGINT) AS w FROM lookup.older) AS u GROUP BY {all}) AS g WHERE w <> 0{there}",
            list(key),
            all = list(columns.len()),
            from = named(columns),
        );
        let inputs = vec![("lookup.older".to_owned(), older), ("lookup.newer".to_owned(), newer)];
        let mut found = self.query(&sql, inputs).await?;
        let (mut rows, mut count) = (Vec::new(), 0);
        while let Some(batch) = found.next().await {
            let batch = batch?;
            count += batch.num_rows();
            if count > most {
                return Ok(None);
            }
            rows.push(batch);
        }
        Ok(Some(Keys { columns: columns[..key].to_vec(), rows }))
    }

    /// When the rows of `table` are that look one of `keys` up, as `lookup` says. `time`: what places its rows in time.
    /// `None`: more than `most`.
    ///
    /// # Errors
    /// As [`Engine::changed_keys`].
    pub async fn lookups_of(
        &self,
        table: Arc<dyn TableProvider>,
        lookup: &Lookup,
        keys: &Keys,
        time: Option<(&InputTime, &Zone)>,
        most: usize,
    ) -> Result<Option<Moments>, EngineError> {
        let mut moments = Moments::default();
        let Some(first) = keys.rows.first().filter(|_| !keys.is_empty()) else { return Ok(Some(moments)) };
        let mut equal = Vec::with_capacity(lookup.on.len());
        for (own, other) in &lookup.on {
            // A column that is not among the keys tells fewer of them apart.
            if let Some(at) = keys.columns.iter().position(|column| column == own) {
                equal.push(format!("f.{} = k.c{at}", quoted(other)));
            }
        }
        let wanted = match time {
            Some((time, _)) => format!("DISTINCT f.{} AS t", quoted(&time.column)),
            None => "count(*) AS t".to_owned(),
        };
        let sql = format!(
            "SELECT {wanted} FROM lookup.facts AS f INNER JOIN lookup.keys AS k ON {}",
            equal.join(" AND ")
        );
        let keys = MemTable::try_new(first.schema(), vec![keys.rows.clone()])?;
        let inputs =
            vec![("lookup.facts".to_owned(), table), ("lookup.keys".to_owned(), Arc::new(keys) as Arc<_>)];
        let mut found = self.query(&sql, inputs).await?;
        while let Some(batch) = found.next().await {
            let batch = batch?;
            match time {
                Some((time, zone)) => moments.add(batch.column(0), time.time_type, zone),
                None => {
                    let counts = batch.column(0).as_primitive_opt::<Int64Type>();
                    moments.anywhere |=
                        counts.is_none_or(|counts| counts.values().iter().any(|count| *count > 0));
                }
            }
            if moments.at.len() > most {
                return Ok(None);
            }
        }
        moments.at.sort_unstable();
        Ok(Some(moments))
    }
}
