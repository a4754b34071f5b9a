//! Changes reduced to the greatest of each key, and a count of ties that only the remaining columns broke.

use std::sync::Arc;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::{Schema, SchemaRef};
use oncemore_core::TableName;

use super::order::Order;
use crate::error::Result;
use crate::stage::{internal, stored, stored_schema};

/// Rows held before they are reduced.
const HELD: usize = 1 << 20;

/// Takes changes in any order and keeps the greatest of each key.
#[derive(Debug)]
pub struct Reducer {
    table: TableName,
    schema: SchemaRef,
    order: Order,
    held: Vec<RecordBatch>,
    /// Of each held row, whether another one of its key and order was dropped.
    tied: Vec<bool>,
    /// Rows that trigger the next reduction.
    limit: usize,
}

/// One change a key, ordered by key.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The changes.
    pub rows: RecordBatch,
    /// Keys whose greatest order came more than once, with differing rows.
    pub ties: u64,
    /// One of these rows, as text, where there are any.
    pub example: Option<String>,
}

impl Reducer {
    /// A reducer of changes of `table` with the columns `schema`, converted to the types that tables store.
    ///
    /// # Errors
    /// A column that is missing, or of a type that tables can't hold.
    pub fn new(table: &TableName, schema: &Schema, key: &[String], order: &[String]) -> Result<Self> {
        Self::of_stored(table, stored_schema(schema)?, key, order)
    }

    /// A reducer of rows that have stored types already.
    pub(crate) fn of_stored(
        table: &TableName,
        schema: SchemaRef,
        key: &[String],
        order: &[String],
    ) -> Result<Self> {
        let order = Order::new(&schema, key, order)?;
        Ok(Reducer { table: table.clone(), schema, order, held: Vec::new(), tied: Vec::new(), limit: HELD })
    }

    /// The columns of what comes out.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Adds changes.
    ///
    /// # Errors
    /// A value that can't be stored.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        self.held.push(stored(batch, &self.schema, &self.table)?);
        self.tied.resize(self.tied.len() + batch.num_rows(), false);
        if self.tied.len() >= self.limit {
            self.reduce()?;
            // Where most keys are distinct, reducing more often would not make room.
            self.limit = HELD.max(2 * self.tied.len());
        }
        Ok(())
    }

    fn reduce(&mut self) -> Result<()> {
        let all = concat_batches(&self.schema, &self.held).map_err(internal)?;
        let kept = greatest(&self.order, &all, &self.tied)?;
        self.tied = kept.iter().map(|(_, tied)| *tied).collect();
        let places = UInt32Array::from_iter_values(kept.iter().map(|(row, _)| *row));
        self.held = vec![take_record_batch(&all, &places).map_err(internal)?];
        Ok(())
    }

    /// The greatest change of each key, ordered by key.
    ///
    /// # Errors
    /// Too many rows for one batch.
    pub fn finish(mut self) -> Result<Reduced> {
        self.reduce()?;
        let rows = self.held.pop().unwrap_or_else(|| RecordBatch::new_empty(self.schema.clone()));
        let ties = self.tied.iter().filter(|tied| **tied).count() as u64;
        let example = self.tied.iter().position(|tied| *tied).map(|row| text(&rows, row)).transpose()?;
        Ok(Reduced { rows, ties, example })
    }
}

/// Places of the greatest row of each key, by key, and whether another one of equal order was there and differed.
pub(super) fn greatest(order: &Order, batch: &RecordBatch, tied: &[bool]) -> Result<Vec<(u32, bool)>> {
    let keys = order.keys(batch)?;
    let ranks = order.ranks(batch)?;
    let mut places: Vec<u32> = (0..batch.num_rows() as u32).collect();
    places.sort_unstable_by(|one, other| {
        let (one, other) = (*one as usize, *other as usize);
        keys.row(one)
            .cmp(&keys.row(other))
            .then_with(|| ranks.compare(other, &ranks, one))
            .then(one.cmp(&other))
    });
    let mut kept: Vec<(u32, bool)> = Vec::new();
    for place in places {
        let row = place as usize;
        let Some((last, last_tied)) = kept.last_mut() else {
            kept.push((place, tied.get(row).copied().unwrap_or(false)));
            continue;
        };
        let best = *last as usize;
        if keys.row(best) != keys.row(row) {
            kept.push((place, tied.get(row).copied().unwrap_or(false)));
        } else if ranks.order.row(best) == ranks.order.row(row) {
            *last_tied |=
                tied.get(row).copied().unwrap_or(false) || ranks.rest.row(best) != ranks.rest.row(row);
        }
    }
    Ok(kept)
}

fn text(rows: &RecordBatch, row: usize) -> Result<String> {
    let schema = rows.schema();
    let mut parts = Vec::new();
    for (field, column) in schema.fields().iter().zip(rows.columns()) {
        let value = arrow::util::display::array_value_to_string(column, row).map_err(internal)?;
        parts.push(format!("{} = {value}", field.name()));
    }
    Ok(parts.join(", "))
}
