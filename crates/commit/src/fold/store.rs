//! The way of folded rows from files: reading with the columns that folding needs, finding keys, buckets. Decides
//! nothing about which row wins.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, RecordBatch, TimestampMicrosecondArray, UInt32Array,
    new_null_array,
};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use oncemore_core::fault::Step;
use oncemore_core::{ColumnType, TableName};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder, RowSelection};

use super::DELETED;
use super::index::Index;
use super::order::{Key, Keys, Order};
use super::pick::rows_at;
use crate::border;
use crate::disk::Disk;
use crate::error::{CommitError, Result};
use crate::metadata::schema::{CODE_VERSION, INTERVAL_START};
use crate::stage::{convert, internal};
use crate::types::arrow_type;

/// Rows of a batch read.
const BATCH: usize = 8_192;
/// Buckets are not halved more often.
const MOST_BITS: u32 = 16;
/// Begin the part of a file's name that says which rows it holds: all of a bucket, or changes laid over them.
const BASE: char = 'b';
const OVER: char = 'd';

/// The columns that folding works on: the user's, whether it is a deletion, and where the row came from.
pub(crate) fn columns(user: &Schema) -> SchemaRef {
    let mut fields: Vec<_> = user.fields().iter().cloned().collect();
    for (name, kind) in [
        (DELETED, ColumnType::Boolean),
        (INTERVAL_START, ColumnType::TimestampTz),
        (CODE_VERSION, ColumnType::Text),
    ] {
        fields.push(Arc::new(Field::new(name, arrow_type(kind), true)));
    }
    Arc::new(Schema::new(fields))
}

/// Reads files of one table as rows of `schema`.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) disk: &'a Disk,
    pub(crate) table: &'a TableName,
    pub(crate) schema: SchemaRef,
    /// What a row is whose file does not say whether it is a deletion.
    pub(crate) deleted: bool,
    /// Of a log, the start of the slice that the file belongs to: other writers may not have put it into the rows.
    pub(crate) start: Option<i64>,
}

/// How rows are found by their key.
#[derive(Debug)]
pub(crate) struct Lookup {
    columns: SchemaRef,
    order: Order,
}

impl Lookup {
    pub(crate) fn new(schema: &Schema, key: &[String]) -> Result<Self> {
        let columns = key_columns(schema, key)?;
        Ok(Lookup { order: Order::new(&columns, key, &[])?, columns })
    }
}

/// Keys to find.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    keys: Keys,
    hashes: Vec<u128>,
}

impl Wanted {
    /// The keys of rows, as `order` tells them apart.
    pub(crate) fn of(order: &Order, batches: &[&RecordBatch]) -> Result<Wanted> {
        let mut wanted = Wanted::default();
        for batch in batches {
            for (key, hash) in order.keys(batch)?.iter().zip(order.hashes(batch)?) {
                if wanted.keys.insert(Key::from(key.as_ref())) {
                    wanted.hashes.push(hash);
                }
            }
        }
        wanted.hashes.sort_unstable();
        Ok(wanted)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Hashes of those keys that are in a part of all.
    fn hashes_in(&self, part: Unit) -> &[u128] {
        let from = self.hashes.partition_point(|hash| *hash < part.first());
        let to = self.hashes.partition_point(|hash| *hash <= part.last());
        &self.hashes[from..to]
    }
}

/// Which rows of a file are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ask<'a> {
    /// At least all of a part of the table.
    Part(Unit),
    /// Those of keys, where the file holds none but those of a part.
    Keys(&'a Wanted, Unit),
}

impl Reader<'_> {
    /// The rows of a file of so many bytes that are asked for, but for those at the places `dead`, and their places. Of rows that are found
    /// by key, the other columns are decoded for these alone.
    pub(crate) fn find(
        &self,
        (path, bytes): (&Path, u64),
        by: &Lookup,
        ask: Ask<'_>,
        dead: &[u64],
    ) -> Result<(Vec<RecordBatch>, Vec<u64>)> {
        if let Ask::Keys(wanted, part) = ask
            && wanted.hashes_in(part).is_empty()
        {
            return Ok((Vec::new(), Vec::new()));
        }
        CommitError::guard(path.display(), || self.decode((path, bytes), by, ask, dead))
    }

    fn decode(
        &self,
        (path, bytes): (&Path, u64),
        by: &Lookup,
        ask: Ask<'_>,
        dead: &[u64],
    ) -> Result<(Vec<RecordBatch>, Vec<u64>)> {
        let (file, metadata) = self.open(path, bytes)?;
        let total = rows_of(&metadata);
        let index = Index::of(metadata.metadata().file_metadata());
        let mut places = match ask {
            Ask::Part(part) => {
                let rows = index.map_or(0..total, |index| index.rows_of_part(part));
                (rows.start as u64..rows.end as u64).collect()
            }
            Ask::Keys(wanted, part) => self.places(path, (&file, &metadata), by, (index, wanted, part))?,
        };
        without(&mut places, dead);
        let (mut found, mut rows) = (Vec::new(), 0);
        if places.is_empty() {
            return Ok((found, places));
        }
        let ranges = ranges(&places);
        let selection =
            (places.len() < total).then(|| RowSelection::from_consecutive_ranges(ranges.into_iter(), total));
        self.read(path, (file, metadata), selection, |batch| {
            rows += batch.num_rows();
            found.push(batch);
            Ok(())
        })?;
        if rows != places.len() {
            let why = format!("it has {rows} of {} rows that its footer claims", places.len());
            return Err(CommitError::corrupt(path.display(), why));
        }
        Ok((found, places))
    }

    /// Places of rows whose key is wanted.
    fn places(
        &self,
        path: &Path,
        (file, metadata): (&File, &ArrowReaderMetadata),
        by: &Lookup,
        (index, wanted, part): (Option<Index>, &Wanted, Unit),
    ) -> Result<Vec<u64>> {
        let hashes = wanted.hashes_in(part);
        let total = rows_of(metadata);
        let rows = match index {
            Some(index) => index.rows_of_buckets(hashes.iter().map(|hash| index.buckets.of(*hash))),
            None => vec![0..total; usize::from(!hashes.is_empty())],
        };
        let mut places = Vec::new();
        if rows.is_empty() {
            return Ok(places);
        }
        let selection = RowSelection::from_consecutive_ranges(rows.iter().cloned(), total);
        let mut selected = rows.into_iter().flatten();
        let narrow = Reader { schema: by.columns.clone(), ..self.clone() };
        let file = file.try_clone();
        let file = file.map_err(|error| CommitError::io(format!("read {}", path.display()), error))?;
        narrow.read(path, (file, metadata.clone()), Some(selection), |batch| {
            let keys = by.order.keys(&batch)?;
            let rows = keys.iter().zip(selected.by_ref());
            let hits = rows.filter(|(key, _)| wanted.keys.contains(key.as_ref()));
            places.extend(hits.map(|(_, place)| place as u64));
            Ok(())
        })?;
        Ok(places)
    }

    fn open(&self, path: &Path, bytes: u64) -> Result<(File, ArrowReaderMetadata)> {
        let failed = |error| CommitError::io(format!("read {}", path.display()), error);
        let file = self.disk.step(Step::Read, || File::open(path)).map_err(failed)?;
        let found = file.metadata().map_err(failed)?.len();
        if found != bytes {
            // What is read here may be written again, and would count as ours.
            let why = format!("it has {found} bytes, and {bytes} were written");
            return Err(CommitError::corrupt(path.display(), why));
        }
        let metadata = border::metadata(&file, true);
        Ok((file, metadata.map_err(|why| CommitError::corrupt(path.display(), why))?))
    }

    fn read(
        &self,
        path: &Path,
        (file, metadata): (File, ArrowReaderMetadata),
        selection: Option<RowSelection>,
        mut take: impl FnMut(RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let damaged = |error: &dyn std::fmt::Display| CommitError::corrupt(path.display(), error);
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(border::Pages::new(file, &metadata), metadata);
        let there = builder.schema().fields().iter().enumerate();
        let places =
            there.filter(|(_, field)| self.schema.index_of(field.name()).is_ok()).map(|(place, _)| place);
        let mask = ProjectionMask::roots(builder.parquet_schema(), places);
        let mut builder = builder.with_projection(mask).with_batch_size(BATCH);
        if let Some(selection) = selection {
            builder = builder.with_row_selection(selection);
        }
        for batch in builder.build().map_err(|error| damaged(&error))? {
            take(self.shaped(&batch.map_err(|error| damaged(&error))?)?)?;
        }
        Ok(())
    }

    fn shaped(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let column = |field: &Arc<Field>| -> Result<ArrayRef> {
            let found = batch.column_by_name(field.name());
            if field.name() == DELETED {
                let said = |row: usize| {
                    let column = found?.as_boolean_opt()?;
                    column.is_valid(row).then(|| column.value(row))
                };
                let values = (0..batch.num_rows()).map(|row| Some(said(row).unwrap_or(self.deleted)));
                return Ok(Arc::new(values.collect::<BooleanArray>()));
            }
            if let (INTERVAL_START, Some(start)) = (field.name().as_str(), self.start) {
                let starts = TimestampMicrosecondArray::from_value(start, batch.num_rows());
                return Ok(Arc::new(starts.with_timezone("UTC")));
            }
            match found {
                Some(found) => convert(found, field, self.table),
                None => Ok(new_null_array(field.data_type(), batch.num_rows())),
            }
        };
        let columns = self.schema.fields().iter().map(column).collect::<Result<Vec<_>>>()?;
        RecordBatch::try_new(self.schema.clone(), columns).map_err(internal)
    }
}

fn rows_of(metadata: &ArrowReaderMetadata) -> usize {
    usize::try_from(metadata.metadata().file_metadata().num_rows()).unwrap_or(0)
}

/// Takes places out of others; both are in order.
fn without(places: &mut Vec<u64>, dead: &[u64]) {
    if !dead.is_empty() {
        let mut next = 0;
        places.retain(|place| {
            next += dead[next..].partition_point(|dead| dead < place);
            dead.get(next) != Some(place)
        });
    }
}

/// Places in order as ranges.
fn ranges(places: &[u64]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for place in places.iter().map(|place| usize::try_from(*place).unwrap_or(usize::MAX)) {
        match ranges.last_mut() {
            Some(last) if last.end == place => last.end += 1,
            _ => ranges.push(place..place + 1),
        }
    }
    ranges
}

/// The buckets that a table's rows are spread over: as many as its number of bits can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Buckets {
    pub(crate) bits: u32,
}

impl Buckets {
    /// One for all rows.
    pub(crate) const ONE: Buckets = Buckets { bits: 0 };

    /// Enough of them that none holds more than `most` of `rows`, nor fewer than `self`.
    pub(crate) fn grown(self, rows: u64, most: u64) -> Buckets {
        let wanted = rows.div_ceil(most.max(1)).max(1).next_power_of_two().trailing_zeros();
        Buckets { bits: self.bits.max(wanted).min(MOST_BITS) }
    }

    /// The bucket of a key.
    pub(crate) fn of(self, hash: u128) -> u64 {
        hash.checked_shr(128 - self.bits).map_or(0, |bucket| bucket as u64)
    }
}

/// The rows that a file is for: those whose key is in a bucket, of which there may be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Unit {
    pub(crate) buckets: Buckets,
    pub(crate) bucket: u64,
}

impl Unit {
    /// All rows.
    pub(crate) const ALL: Unit = Unit { buckets: Buckets::ONE, bucket: 0 };

    pub(crate) fn holds(self, hash: u128) -> bool {
        self.buckets.of(hash) == self.bucket
    }

    /// The least hash of a key in it.
    pub(crate) fn first(self) -> u128 {
        u128::from(self.bucket).checked_shl(128 - self.buckets.bits).unwrap_or(0)
    }

    /// The greatest.
    pub(crate) fn last(self) -> u128 {
        self.first() | u128::MAX.checked_shr(self.buckets.bits).unwrap_or(0)
    }

    /// Whether all of `other` is in it.
    pub(crate) fn covers(self, other: Unit) -> bool {
        let finer = other.buckets.bits.checked_sub(self.buckets.bits);
        finer.is_some_and(|finer| other.bucket >> finer == self.bucket)
    }

    pub(crate) fn meets(self, other: Unit) -> bool {
        self.covers(other) || other.covers(self)
    }

    /// The same rows in two halves.
    pub(crate) fn halves(self) -> [Unit; 2] {
        let buckets = Buckets { bits: self.buckets.bits + 1 };
        [2 * self.bucket, 2 * self.bucket + 1].map(|bucket| Unit { buckets, bucket })
    }

    /// Whether the file of that name is laid over others, and its unit.
    pub(crate) fn in_name(name: &str) -> Option<(bool, Unit)> {
        // The last part but one: others may begin with any letter.
        let part = name.rsplit('/').next()?.rsplit('-').nth(1)?;
        let (over, part) = match part.strip_prefix(BASE) {
            Some(part) => (false, part),
            None => (true, part.strip_prefix(OVER)?),
        };
        let (bits, bucket) = part.split_once('.')?;
        let unit = Unit { buckets: Buckets { bits: bits.parse().ok()? }, bucket: bucket.parse().ok()? };
        (unit.buckets.bits <= MOST_BITS).then_some((over, unit))
    }

    /// The part of a file's name that says so.
    pub(crate) fn name(self, over: bool) -> String {
        format!("{}{}.{}", if over { OVER } else { BASE }, self.buckets.bits, self.bucket)
    }
}

/// Whether each row is a deletion.
pub(crate) fn deletions(batch: &RecordBatch) -> Result<&BooleanArray> {
    let column = batch.column_by_name(DELETED).and_then(|column| column.as_boolean_opt());
    column.ok_or_else(|| CommitError::Internal("changes that don't say whether they delete".to_owned()))
}

/// The rows that are deletions, or those that are none.
pub(crate) fn of_kind(batch: &RecordBatch, deleted: bool) -> Result<RecordBatch> {
    let wanted: BooleanArray = deletions(batch)?.iter().map(|found| Some(found == Some(deleted))).collect();
    filter_record_batch(batch, &wanted).map_err(internal)
}

/// The rows as the columns of a file have them, by name.
pub(crate) fn to_file(batch: &RecordBatch, file: &SchemaRef, table: &TableName) -> Result<RecordBatch> {
    let column = |field: &Arc<Field>| match batch.column_by_name(field.name()) {
        Some(column) => convert(column, field, table),
        None => Ok(new_null_array(field.data_type(), batch.num_rows())),
    };
    let columns = file.fields().iter().map(column).collect::<Result<Vec<_>>>()?;
    RecordBatch::try_new(file.clone(), columns).map_err(internal)
}

/// The key columns alone.
pub(crate) fn key_columns(schema: &Schema, key: &[String]) -> Result<SchemaRef> {
    let fields = key.iter().map(|name| Ok(schema.field_with_name(name).map_err(internal)?.clone()));
    Ok(Arc::new(Schema::new(fields.collect::<Result<Vec<Field>>>()?)))
}

/// Places by what they have in common.
pub(crate) fn by<T: Ord>(common: impl Iterator<Item = T>) -> BTreeMap<T, Vec<u32>> {
    let mut places: BTreeMap<T, Vec<u32>> = BTreeMap::new();
    for (row, common) in (0u32..).zip(common) {
        places.entry(common).or_default().push(row);
    }
    places
}

/// The rows at some places.
pub(crate) fn take(rows: &RecordBatch, places: Vec<u32>) -> Result<RecordBatch> {
    rows_at(rows, &UInt32Array::from(places))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use arrow::array::Int64Array;

    use super::*;

    #[test]
    fn a_part_is_asked_for_its_keys_alone() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values((0..100).chain(0..50)));
        let rows = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
        let order = Order::new(&rows.schema(), &["n".to_owned()], &[]).unwrap();
        let wanted = Wanted::of(&order, &[&rows]).unwrap();
        assert_eq!(wanted.hashes_in(Unit::ALL).len(), 100);
        let halves = Unit::ALL.halves();
        let found = halves.map(|half| wanted.hashes_in(half));
        assert!(found.iter().zip(halves).all(|(hashes, half)| hashes.iter().all(|hash| half.holds(*hash))));
        assert_eq!(found[0].len() + found[1].len(), 100);
    }
}
