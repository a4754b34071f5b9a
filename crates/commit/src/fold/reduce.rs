//! Changes reduced to the greatest of each key, and a count of ties that only the remaining columns broke. What memory
//! should not hold is set aside by key, and reduced part by part.

use std::collections::VecDeque;

use arrow::array::{Array, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::row::Rows;
use oncemore_core::TableName;

use super::FoldSpec;
use super::index::buckets_of;
use super::order::Order;
use super::spill::{PARTS, Spill};
use super::store::{Buckets, Unit};
use crate::error::Result;
use crate::parallel;
use crate::stage::{internal, stored, stored_schema};
use crate::warehouse::Warehouse;

/// Bytes of rows held before they are set aside.
const HELD: usize = 96 << 20;
/// Parts reduced side by side.
const SIDE_BY_SIDE: u64 = 4;

/// Takes changes in any order and keeps the greatest of each key.
#[derive(Debug)]
pub struct Reducer {
    table: TableName,
    schema: SchemaRef,
    order: Order,
    held: Vec<RecordBatch>,
    bytes: usize,
    rows: u64,
    aside: Spill,
    most: usize,
}

/// One change a key, handed out ordered by the bucket of the key.
#[derive(Debug)]
pub struct Reduced {
    order: Order,
    schema: SchemaRef,
    pub(crate) buckets: Buckets,
    /// All rows, where none were set aside.
    held: Vec<RecordBatch>,
    aside: Spill,
    next_part: u64,
    ready: VecDeque<RecordBatch>,
    rows: u64,
    nulls: Vec<u64>,
    ties: u64,
    example: Option<String>,
}

impl Reducer {
    /// A reducer of changes with the columns `schema` that are folded as `spec` says, converted to the types that tables
    /// store.
    ///
    /// # Errors
    /// A column that is missing, or of a type that tables can't hold.
    pub fn new(warehouse: &Warehouse, schema: &Schema, spec: &FoldSpec) -> Result<Self> {
        let fresh = warehouse.world().fresh_id();
        let aside = Spill::new(warehouse.disk().clone(), warehouse.root().to_owned(), fresh);
        Self::holding(HELD, aside, schema, spec)
    }

    /// The same with so many bytes held.
    pub(super) fn holding(most: usize, aside: Spill, schema: &Schema, spec: &FoldSpec) -> Result<Self> {
        let schema = stored_schema(schema)?;
        let order = Order::bucketed(&schema, &spec.reduced_by(), &spec.order, &spec.key)?;
        Ok(Reducer {
            table: spec.state.clone(),
            schema,
            order,
            held: Vec::new(),
            bytes: 0,
            rows: 0,
            aside,
            most,
        })
    }

    /// The columns of what comes out.
    pub fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    /// Adds changes.
    ///
    /// # Errors
    /// A value that can't be stored; a disk that refuses what memory does not hold.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let batch = stored(batch, &self.schema, &self.table)?;
        self.rows += batch.num_rows() as u64;
        self.bytes += batch.get_array_memory_size();
        self.held.push(batch);
        if self.bytes > self.most { self.set_aside() } else { Ok(()) }
    }

    fn set_aside(&mut self) -> Result<()> {
        let held = std::mem::take(&mut self.held);
        self.bytes = 0;
        let rows = concat_batches(&self.schema, &held).map_err(internal)?;
        drop(held);
        self.aside.add(&self.order, &rows)
    }

    /// Ends the adding.
    ///
    /// # Errors
    /// A disk that refuses what memory does not hold.
    pub fn finish(mut self) -> Result<Reduced> {
        if !self.aside.is_empty() && !self.held.is_empty() {
            self.set_aside()?;
        }
        Ok(Reduced {
            buckets: buckets_of(Unit::ALL, self.rows),
            nulls: vec![0; self.schema.fields().len()],
            order: self.order,
            schema: self.schema,
            held: self.held,
            aside: self.aside,
            next_part: 0,
            ready: VecDeque::new(),
            rows: 0,
            ties: 0,
            example: None,
        })
    }
}

impl Reduced {
    /// The next changes; `None`: that was all.
    ///
    /// # Errors
    /// Rows that were set aside and can't be read.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while self.ready.is_empty() {
            let parts: Vec<Vec<RecordBatch>> = if self.aside.is_empty() {
                if self.held.is_empty() {
                    return Ok(None);
                }
                vec![std::mem::take(&mut self.held)]
            } else {
                let parts = 1 << PARTS.bits;
                let to = parts.min(self.next_part + SIDE_BY_SIDE);
                let from = std::mem::replace(&mut self.next_part, to);
                if from == parts {
                    return Ok(None);
                }
                (from..to).map(|part| self.aside.read(part)).collect::<Result<_>>()?
            };
            let reduced = parallel::map(&parts, |rows| self.reduce(rows))?;
            for (rows, ties, example) in reduced {
                self.rows += rows.num_rows() as u64;
                self.ties += ties;
                self.example = self.example.take().or(example);
                for (nulls, column) in self.nulls.iter_mut().zip(rows.columns()) {
                    *nulls += column.null_count() as u64;
                }
                self.ready.extend((rows.num_rows() > 0).then_some(rows));
            }
        }
        Ok(self.ready.pop_front())
    }

    fn reduce(&self, rows: &[RecordBatch]) -> Result<(RecordBatch, u64, Option<String>)> {
        let all = concat_batches(&self.schema, rows).map_err(internal)?;
        let kept = greatest(&self.order, &all, self.buckets)?;
        let places = UInt32Array::from_iter_values(kept.iter().map(|(row, _)| *row));
        let rows = take_record_batch(&all, &places).map_err(internal)?;
        let tied = kept.iter().filter(|(_, tied)| *tied);
        let example = tied.clone().next().map(|(row, _)| text(&all, *row as usize)).transpose()?;
        Ok((rows, tied.count() as u64, example))
    }

    /// Number of changes handed out.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Of the changes handed out, those with NULL in a column.
    pub fn nulls_in(&self, column: &str) -> u64 {
        self.schema.index_of(column).map_or(0, |place| self.nulls[place])
    }

    /// Of the changes handed out, keys whose greatest order came more than once, with differing rows; one of these as
    /// text.
    pub fn ties(&self) -> (u64, Option<&str>) {
        (self.ties, self.example.as_deref())
    }
}

/// Places of the greatest row of each key, by bucket and in it by key, and whether another one of equal order was there
/// and differed.
pub(super) fn greatest(order: &Order, batch: &RecordBatch, buckets: Buckets) -> Result<Vec<(u32, bool)>> {
    let keys = order.keys(batch)?;
    let places = sorted_places(order, batch, &keys, buckets)?;
    let same = |one: &u32, other: &u32| keys.row(*one as usize) == keys.row(*other as usize);
    let groups = || places.chunk_by(|one, other| same(one, other));
    // What beside the key decides is looked at where there is a choice.
    let shared = UInt32Array::from_iter_values(groups().filter(|rows| rows.len() > 1).flatten().copied());
    if shared.is_empty() {
        return Ok(places.into_iter().map(|row| (row, false)).collect());
    }
    let ranks = order.ranks(&take_record_batch(batch, &shared).map_err(internal)?)?;
    let mut next = 0;
    let mut kept = Vec::with_capacity(places.len());
    for rows in groups() {
        if let [row] = rows {
            kept.push((*row, false));
            continue;
        }
        let own = next..next + rows.len();
        next = own.end;
        let mut best = own.start;
        for other in own.clone() {
            let least =
                ranks.compare(other, &ranks, best).then(rows[best - own.start].cmp(&rows[other - own.start]));
            if least.is_gt() {
                best = other;
            }
        }
        let tied = own.clone().any(|other| {
            ranks.order.row(other) == ranks.order.row(best) && ranks.rest.row(other) != ranks.rest.row(best)
        });
        kept.push((rows[best - own.start], tied));
    }
    Ok(kept)
}

/// Places of all rows, by bucket and in it by key.
pub(super) fn sorted_places(
    order: &Order,
    batch: &RecordBatch,
    keys: &Rows,
    buckets: Buckets,
) -> Result<Vec<u32>> {
    let hashes = if buckets.bits == 0 { vec![0; keys.num_rows()] } else { order.hashes(batch)? };
    let mut places: Vec<(u64, u128, u32)> = (0u32..)
        .zip(keys.iter().zip(hashes))
        .map(|(row, (key, hash))| (buckets.of(hash), prefix(key.as_ref()), row))
        .collect();
    // Most keys differ in what is at hand.
    places.sort_unstable_by(|(bucket, start, row), (other_bucket, other_start, other)| {
        (bucket, start)
            .cmp(&(other_bucket, other_start))
            .then_with(|| keys.row(*row as usize).cmp(&keys.row(*other as usize)))
            .then(row.cmp(other))
    });
    Ok(places.into_iter().map(|(_, _, row)| row).collect())
}

/// The first bytes of a key, comparing as it does.
fn prefix(key: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    let length = key.len().min(16);
    bytes[..length].copy_from_slice(&key[..length]);
    u128::from_be_bytes(bytes)
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
