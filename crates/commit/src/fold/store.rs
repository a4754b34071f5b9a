//! The way of folded rows to and from files: reading with the columns that folding needs, finding keys in the log,
//! writing buckets. Decides nothing about which row wins.

use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, RecordBatch, TimestampMicrosecondArray, new_null_array,
};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use oncemore_core::{ColumnType, TableName};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReaderBuilder, RowSelection};

use super::DELETED;
use super::order::{Key, Order};
use crate::disk::{Disk, Step};
use crate::error::{CommitError, Result};
use crate::metadata::schema::{CODE_VERSION, INTERVAL_START};
use crate::stage::{convert, internal};
use crate::types::arrow_type;

/// Rows of a batch read.
const BATCH: usize = 8_192;

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

impl Reader<'_> {
    /// Hands on every batch of a file.
    pub(crate) fn each(&self, path: &Path, mut take: impl FnMut(RecordBatch) -> Result<()>) -> Result<()> {
        self.read(path, None, &mut take)
    }

    /// The rows of a file whose key is wanted. The other columns are decoded for these rows alone.
    pub(crate) fn find(
        &self,
        path: &Path,
        keys: &Order,
        key_schema: &SchemaRef,
        wanted: &HashSet<Key>,
    ) -> Result<Vec<RecordBatch>> {
        let mut hits = Vec::new();
        let mut any = false;
        let narrow = Reader { schema: key_schema.clone(), ..self.clone() };
        narrow.each(path, |batch| {
            let rows = keys.keys(&batch)?;
            let found: BooleanArray = rows.iter().map(|key| Some(wanted.contains(key.as_ref()))).collect();
            any |= found.true_count() > 0;
            hits.push(found);
            Ok(())
        })?;
        let mut found = Vec::new();
        if any {
            self.read(path, Some(RowSelection::from_filters(&hits)), &mut |batch| {
                found.push(batch);
                Ok(())
            })?;
        }
        Ok(found)
    }

    fn read(
        &self,
        path: &Path,
        selection: Option<RowSelection>,
        take: &mut dyn FnMut(RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let damaged = |error: &dyn std::fmt::Display| CommitError::corrupt(path.display(), error);
        let file = self.disk.step(Step::Read, || File::open(path));
        let file = file.map_err(|error| CommitError::io(format!("read {}", path.display()), error))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| damaged(&error))?;
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

/// The buckets that a table's rows are spread over: as many as its number of bits can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Buckets {
    pub(crate) bits: u32,
}

impl Buckets {
    /// Enough of them that none holds more than `most` of `rows`, nor fewer than `self`.
    pub(crate) fn grown(self, rows: u64, most: u64) -> Buckets {
        let wanted = rows.div_ceil(most.max(1)).max(1).next_power_of_two().trailing_zeros();
        Buckets { bits: self.bits.max(wanted).min(16) }
    }

    /// The bucket of a key.
    pub(crate) fn of(self, hash: u128) -> u64 {
        hash.checked_shr(128 - self.bits).map_or(0, |bucket| bucket as u64)
    }

    /// Buckets and bucket in the name of a file.
    pub(crate) fn in_name(name: &str) -> Option<(Buckets, u64)> {
        // The last part but one: others may begin with any letter.
        let part = name.rsplit('/').next()?.rsplit('-').nth(1)?.strip_prefix('b')?;
        let (bits, bucket) = part.split_once('.')?;
        Some((Buckets { bits: bits.parse().ok()? }, bucket.parse().ok()?))
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
