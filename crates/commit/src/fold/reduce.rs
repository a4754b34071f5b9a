//! Takes in changes, of which the greatest of each key is to stay: what memory should not hold is set aside by key.
//! What is handed out of them is `reduced`'s.

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::row::Rows;
use oncemore_core::TableName;

use super::FoldSpec;
use super::order::Order;
use super::reduced::{Pushed, Reduced};
use super::spill::Spill;
use super::store::Buckets;
use crate::error::Result;
use crate::parallel;
use crate::stage::{internal, stored, stored_schema};
use crate::warehouse::Warehouse;

/// Bytes of rows held before they are set aside.
const HELD: usize = 96 << 20;

/// Pieces in which what is held is set aside.
const PIECES: usize = 2;

/// Takes changes in any order and keeps the greatest of each key.
#[derive(Debug)]
pub struct Reducer {
    table: TableName,
    schema: SchemaRef,
    order: Order,
    held: Vec<RecordBatch>,
    /// Of those that are held.
    bytes: usize,
    pushed: Pushed,
    aside: Spill,
    most: usize,
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
            pushed: Pushed { rows: 0, bytes: 0, bucket_rows: spec.bucket_rows },
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
        let bytes = batch.get_array_memory_size();
        self.pushed.rows += batch.num_rows() as u64;
        self.pushed.bytes += bytes as u64;
        self.bytes += bytes;
        self.held.push(batch);
        if self.bytes > self.most { self.set_aside() } else { Ok(()) }
    }

    fn set_aside(&mut self) -> Result<()> {
        let held = std::mem::take(&mut self.held);
        self.bytes = 0;
        // Of few, long batches each has enough rows for every part.
        let pieces: Vec<&[RecordBatch]> = held.chunks(held.len().div_ceil(PIECES).max(1)).collect();
        let pieces = parallel::map(&pieces, |held| concat_batches(&self.schema, *held).map_err(internal))?;
        drop(held);
        self.aside.add(&self.order, &pieces)
    }

    /// Ends the adding.
    ///
    /// # Errors
    /// A disk that refuses what memory does not hold.
    pub fn finish(mut self) -> Result<Reduced> {
        if !self.aside.is_empty() && !self.held.is_empty() {
            self.set_aside()?;
        }
        Ok(Reduced::new(self.order, self.schema, self.held, self.aside, self.pushed))
    }
}

/// Places of the greatest row of each key, by bucket and in it by key, and whether another one of equal order was there
/// and differed.
pub(super) fn greatest(order: &Order, batch: &RecordBatch, buckets: Buckets) -> Result<Vec<(u32, bool)>> {
    let keys = order.keys(batch)?;
    let places = sorted_places(order, batch, &keys, buckets)?;
    let same = |one: &Place, other: &Place| {
        one.start == other.start && keys.row(one.row as usize) == keys.row(other.row as usize)
    };
    let groups = || places.chunk_by(|one, other| same(one, other));
    // What beside the key decides is looked at where there is a choice.
    let shared = groups().filter(|rows| rows.len() > 1).flatten().map(|place| place.row);
    let shared = UInt32Array::from_iter_values(shared);
    if shared.is_empty() {
        return Ok(places.into_iter().map(|place| (place.row, false)).collect());
    }
    let ranks = order.ranks(&take_record_batch(batch, &shared).map_err(internal)?)?;
    let mut next = 0;
    let mut kept = Vec::with_capacity(places.len());
    for rows in groups() {
        if let [place] = rows {
            kept.push((place.row, false));
            continue;
        }
        let own = next..next + rows.len();
        next = own.end;
        let mut best = own.start;
        for other in own.clone() {
            let (place, other_place) = (rows[best - own.start].row, rows[other - own.start].row);
            let least = ranks.compare(other, &ranks, best).then(place.cmp(&other_place));
            if least.is_gt() {
                best = other;
            }
        }
        let tied = own.clone().any(|other| {
            ranks.order.row(other) == ranks.order.row(best) && ranks.rest.row(other) != ranks.rest.row(best)
        });
        kept.push((rows[best - own.start].row, tied));
    }
    Ok(kept)
}

/// A row on its way into order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    bucket: u32,
    pub(super) row: u32,
    /// What its key begins with: most keys differ in what is at hand.
    start: u128,
}

/// All rows, by bucket and in it by key.
pub(super) fn sorted_places(
    order: &Order,
    batch: &RecordBatch,
    keys: &Rows,
    buckets: Buckets,
) -> Result<Vec<Place>> {
    let hashes = if buckets.bits == 0 { vec![0; keys.num_rows()] } else { order.hashes(batch)? };
    let place = |(row, (key, hash)): (u32, (arrow::row::Row<'_>, u128))| {
        Ok(Place {
            bucket: u32::try_from(buckets.of(hash)).map_err(internal)?,
            row,
            start: prefix(key.as_ref()),
        })
    };
    let mut places = (0u32..).zip(keys.iter().zip(hashes)).map(place).collect::<Result<Vec<_>>>()?;
    places.sort_unstable_by(|one, other| {
        (one.bucket, one.start)
            .cmp(&(other.bucket, other.start))
            .then_with(|| keys.row(one.row as usize).cmp(&keys.row(other.row as usize)))
            .then(one.row.cmp(&other.row))
    });
    Ok(places)
}

/// The first bytes of a key, comparing as it does.
fn prefix(key: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    let length = key.len().min(16);
    bytes[..length].copy_from_slice(&key[..length]);
    u128::from_be_bytes(bytes)
}
