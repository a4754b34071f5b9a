//! Takes in changes, of which the greatest of each key is to stay: where they are many they are set aside by key.
//! What is handed out of them is `reduced`'s.

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::datatypes::{Schema, SchemaRef};
use oncemore_core::TableName;

use super::FoldSpec;
use super::aside::{Aside, Piece};
use super::order::Order;
use super::reduced::{Pushed, Reduced};
use crate::error::Result;
use crate::parallel;
use crate::room::Room;
use crate::stage::{internal, stored, stored_schema};
use crate::warehouse::Warehouse;

/// Bytes that each holds at least: what is set aside on disk goes there in pieces that are worth it.
const FREE: usize = 32 << 20;

/// Changes that are put into order as they are, not by parts of all keys.
const FEW: usize = 64 << 10;

/// Changes that are put into order together, at least: few enough to stay near a processor. Of wide rows, so many bytes.
const TOGETHER: usize = 16 << 10;
const TOGETHER_BYTES: usize = 8 << 20;

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
    bytes: usize,
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
            bytes: 0,
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
        let bytes = batch.get_array_memory_size();
        self.pushed.bytes += bytes as u64;
        self.rows += batch.num_rows();
        self.bytes += bytes;
        self.fresh.push(batch);
        let is_enough = if self.aside.is_empty() {
            self.rows > self.few
        } else {
            self.rows >= TOGETHER || self.bytes >= TOGETHER_BYTES
        };
        if is_enough { self.set_aside() } else { Ok(()) }
    }

    fn set_aside(&mut self) -> Result<()> {
        (self.rows, self.bytes) = (0, 0);
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
        self.bytes += other.bytes;
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
