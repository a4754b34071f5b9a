//! Takes in changes, of which the greatest of each key is to stay: where they are many they are set aside by key.
//! What is handed out of them is `reduced`'s.

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::row::Rows;
use oncemore_core::TableName;

use super::FoldSpec;
use super::aside::{Aside, Piece};
use super::order::Order;
use super::pick::by_number;
use super::reduced::{Pushed, Reduced};
use super::store::Buckets;
use crate::error::{CommitError, Result};
use crate::parallel;
use crate::room::Room;
use crate::stage::{internal, stored, stored_schema};
use crate::warehouse::Warehouse;

/// Bytes that each holds at least: what is set aside on disk goes there in pieces that are worth it.
const FREE: usize = 32 << 20;

/// Changes that are put into order as they are, not by parts of all keys.
const FEW: usize = 64 << 10;

/// Changes that are put into order together, at least: few enough to stay near a processor.
const TOGETHER: usize = 16 << 10;

/// Takes changes in any order and keeps the greatest of each key.
#[derive(Debug)]
pub struct Reducer {
    table: TableName,
    schema: SchemaRef,
    order: Order,
    /// Not set aside, or not yet.
    fresh: Vec<RecordBatch>,
    /// Of those.
    rows: usize,
    /// Rows that are not set aside where no more come.
    few: usize,
    pushed: Pushed,
    aside: Aside,
}

impl Reducer {
    /// A reducer of changes with the columns `schema` that are folded as `spec` says, converted to the types that tables
    /// store. What finds no room is set aside on disk.
    ///
    /// # Errors
    /// A column that is missing, or of a type that tables can't hold.
    pub fn new(warehouse: &Warehouse, room: &Room, schema: &Schema, spec: &FoldSpec) -> Result<Self> {
        let path = warehouse.root().join(format!(".om-spill-{:032x}", warehouse.world().fresh_id()));
        let aside = |schema| Aside::new(schema, room.share(FREE), warehouse.disk().clone(), path);
        Self::setting_aside(aside, FEW, schema, spec)
    }

    /// The same where more than so many rows are set aside.
    pub(super) fn setting_aside(
        aside: impl FnOnce(SchemaRef) -> Aside,
        few: usize,
        schema: &Schema,
        spec: &FoldSpec,
    ) -> Result<Self> {
        let schema = stored_schema(schema)?;
        let aside = aside(SchemaRef::clone(&schema));
        let order = Order::bucketed(&schema, &spec.reduced_by(), &spec.order, &spec.key)?;
        Ok(Reducer {
            table: spec.state.clone(),
            schema,
            order,
            fresh: Vec::new(),
            rows: 0,
            few,
            pushed: Pushed { rows: 0, bytes: 0, bucket_rows: spec.bucket_rows },
            aside,
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
        self.pushed.rows += batch.num_rows() as u64;
        self.pushed.bytes += batch.get_array_memory_size() as u64;
        self.rows += batch.num_rows();
        self.fresh.push(batch);
        let is_enough = if self.aside.is_empty() { self.rows > self.few } else { self.rows >= TOGETHER };
        if is_enough { self.set_aside() } else { Ok(()) }
    }

    fn set_aside(&mut self) -> Result<()> {
        self.rows = 0;
        let mut shares: Vec<(usize, Vec<RecordBatch>)> = Vec::new();
        for batch in std::mem::take(&mut self.fresh) {
            match shares.last_mut().filter(|(rows, _)| *rows < TOGETHER) {
                Some((rows, share)) => {
                    *rows += batch.num_rows();
                    share.push(batch);
                }
                None => shares.push((batch.num_rows(), vec![batch])),
            }
        }
        let pieces = parallel::map(&shares, |(_, share)| {
            let rows = concat_batches(&self.schema, share).map_err(internal)?;
            Piece::new(&rows, &self.order.hashes(&rows)?)
        })?;
        pieces.into_iter().try_for_each(|piece| self.aside.add(piece))
    }

    /// Adds what another reducer, made alike, took in: several take in the changes of one slice side by side.
    pub fn join(&mut self, other: Reducer) {
        self.pushed.rows += other.pushed.rows;
        self.pushed.bytes += other.pushed.bytes;
        self.fresh.extend(other.fresh);
        self.rows += other.rows;
        self.aside.join(other.aside);
    }

    /// Ends the adding.
    ///
    /// # Errors
    /// A disk that refuses what memory does not hold.
    pub fn finish(mut self) -> Result<Reduced> {
        if !self.aside.is_empty() || self.rows > self.few {
            self.set_aside()?;
        }
        Ok(Reduced::new(self.order, self.schema, self.fresh, self.aside, self.pushed))
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
    /// What its key says first where keys differ: most need no other look.
    start: u64,
    bucket: u32,
    pub(super) row: u32,
}

/// All rows, by bucket and in it by key.
pub(super) fn sorted_places(
    order: &Order,
    batch: &RecordBatch,
    keys: &Rows,
    buckets: Buckets,
) -> Result<Vec<Place>> {
    let common = common_prefix(keys);
    let mut places = Vec::with_capacity(keys.num_rows());
    let mut rest = (0u32..).zip(keys.iter());
    if buckets.bits > u32::BITS {
        return Err(CommitError::Internal(format!("{} bits of a hash name a bucket", buckets.bits)));
    }
    let mut place = |hash| {
        let bucket = buckets.of(hash) as u32;
        places.extend(rest.next().map(|(row, key)| Place {
            start: word(&key.as_ref()[common..]),
            bucket,
            row,
        }));
    };
    if buckets.bits == 0 {
        (0..keys.num_rows()).for_each(|_| place(0));
    } else {
        order.each_hash(batch, place)?;
    }
    let (mut places, ends) = grouped(&places)?;
    let mut from = 0;
    for to in ends {
        places[from..to].sort_unstable_by_key(|place| (place.bucket, place.start, place.row));
        from = to;
    }
    // Where keys begin alike, all of them decides.
    for same in places.chunk_by_mut(|one, other| (one.bucket, one.start) == (other.bucket, other.start)) {
        if same.len() > 1 {
            same.sort_by(|one, other| keys.row(one.row as usize).cmp(&keys.row(other.row as usize)));
        }
    }
    Ok(places)
}

/// Places in groups of which each holds lower buckets than the next, and where each group ends. There are no more groups
/// than places: it takes one go over them.
fn grouped(places: &[Place]) -> Result<(Vec<Place>, Vec<usize>)> {
    let buckets = || places.iter().map(|place| place.bucket);
    let (Some(low), Some(high)) = (buckets().min(), buckets().max()) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let mut shift = 0;
    while (high - low) >> shift >= u32::try_from(places.len()).map_err(internal)? {
        shift += 1;
    }
    let groups: Vec<usize> = buckets().map(|bucket| ((bucket - low) >> shift) as usize).collect();
    let (order, ends) = by_number(&groups, ((high - low) >> shift) as usize + 1);
    Ok((order.into_iter().map(|place| places[place as usize]).collect(), ends))
}

/// Bytes that all keys begin with.
fn common_prefix(keys: &Rows) -> usize {
    let mut all = keys.iter();
    let Some(first) = all.next() else { return 0 };
    let first = first.as_ref();
    let same = |key: arrow::row::Row<'_>, most: usize| {
        key.as_ref().iter().zip(&first[..most]).take_while(|(one, other)| one == other).count()
    };
    all.fold(first.len(), |most, key| same(key, most))
}

/// The first bytes of a key, comparing as it does.
fn word(key: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = key.len().min(8);
    bytes[..length].copy_from_slice(&key[..length]);
    u64::from_be_bytes(bytes)
}
