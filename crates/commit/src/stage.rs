//! Staging: rows of one attempt into Parquet files that no table points to yet.
//!
//! The same rows in the same order give the same bytes, however they are split into batches: rows are cut into chunks
//! of one size before the encoder, and everything that the encoder would choose by itself is fixed here. Knows no
//! catalog transaction; what is staged becomes visible in `publish` alone.

mod constant;
pub(crate) mod file;
mod groups;
mod units;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use arrow::array::{ArrayRef, RecordBatch, StringArray, TimestampMicrosecondArray, new_null_array};
use arrow::compute::{BatchCoalescer, CastOptions, cast_with_options};
use arrow::datatypes::{Field, Schema, SchemaRef};
use iceberg::spec::{DataContentType, DataFile, SchemaRef as IcebergSchema};
use oncemore_core::{
    AttemptId, CodeVersion, ColumnPrint, ColumnType, Digest, Fingerprint, Instant, Interval, TableName,
};
use uuid::Uuid;

use crate::disk::Disk;
use crate::error::{CommitError, Result};
use crate::fold::Reduced;
use crate::fold::store::Buckets;
use crate::ledger::Attempt;
use crate::metadata::schema::{self, CODE_VERSION, INTERVAL_START};
use crate::metadata::stats::{self, About};
use crate::rows::{RowHasher, RowsPrint, schema_digest};
use crate::slice_map::FileEntry;
use crate::types::{arrow_type, stored_type};
use crate::warehouse::{Warehouse, text};
use file::{FileWriter, Pages};

/// Rows a chunk: a multiple of the encoder's own batch, see the module's words on bytes.
pub(crate) const CHUNK: usize = 8_192;

/// Writes the rows of one slice. Dropped without `finish`, it removes what it wrote.
#[derive(Debug)]
pub struct SliceWriter {
    plan: Plan,
    hasher: RowHasher,
    print: RowsPrint,
    chunks: BatchCoalescer,
    current: Option<FileWriter>,
    done: Files,
}

/// What is the same for all rows of a writer.
#[derive(Debug)]
struct Plan {
    table: TableName,
    interval: Interval,
    attempt: AttemptId,
    disk: Disk,
    folder: PathBuf,
    stem: String,
    iceberg: IcebergSchema,
    spec_id: i32,
    uuid: Uuid,
    /// Columns as written, in the table's order.
    file_schema: SchemaRef,
    /// Where each written column comes from.
    from: Vec<Source>,
    /// The user's columns with the types that they are stored as.
    stored: SchemaRef,
    code: String,
    /// What rows say of where they came from, for a full chunk: start and code. Most slices have none.
    full: OnceLock<[ArrayRef; 2]>,
    /// Whether the table holds no rows but those of the slice.
    is_first: bool,
    /// Columns by which rows are looked up, and the buckets of these that rows come in the order of.
    ordered: Option<(Vec<String>, Buckets)>,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    User(usize),
    Start,
    Code,
    Null,
}

/// Rows written and not visible.
#[derive(Debug)]
pub struct Staged {
    /// The table.
    pub table: TableName,
    /// The slice.
    pub interval: Interval,
    /// The attempt that wrote them.
    pub attempt: AttemptId,
    /// Fingerprint of the user's columns.
    pub fingerprint: Fingerprint,
    /// Print of each column, where there is a key.
    pub columns: Vec<ColumnPrint>,
    /// Number of rows.
    pub rows: u64,
    /// Size of the files.
    pub bytes: u64,
    /// Names and stored types of the user's columns.
    pub schema: Digest,
    /// The table that they were staged for: by its name there may come to be another.
    pub(crate) uuid: Uuid,
    pub(crate) files: Files,
}

/// Rows that passed their audits: the only ones that can be published.
#[derive(Debug)]
pub struct Audited(pub(crate) Staged);

/// Staged files: removed when dropped, unless they were published or may have been.
#[derive(Debug)]
pub(crate) struct Files {
    disk: Disk,
    pub(crate) list: Vec<(PathBuf, DataFile, FileEntry)>,
    keep: bool,
}

impl Files {
    pub(crate) fn none(disk: Disk) -> Self {
        Files { disk, list: Vec::new(), keep: false }
    }

    pub(crate) fn keep(&mut self) {
        self.keep = true;
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        if !self.keep {
            for (path, ..) in &self.list {
                // What can't be removed now is an orphan that `gc` finds by its name.
                let _ = self.disk.remove(path);
            }
        }
    }
}

impl Staged {
    /// Paths of the staged files, in order.
    pub fn paths(&self) -> Vec<String> {
        self.files.list.iter().map(|(path, ..)| path.to_string_lossy().into_owned()).collect()
    }

    /// Declares that the audits passed.
    pub fn audited(self) -> Audited {
        Audited(self)
    }
}

impl Audited {
    /// The rows.
    pub fn staged(&self) -> &Staged {
        &self.0
    }
}

impl SliceWriter {
    /// A writer of `interval` of an existing table, for rows with the columns `schema`, by name.
    ///
    /// # Errors
    /// A table that is not there or lacks a column (`ensure_table` comes first), types that can't be stored.
    pub fn new(
        warehouse: &Warehouse,
        table: &TableName,
        interval: Interval,
        schema: SchemaRef,
        key: &[String],
        attempt: &Attempt,
        code: CodeVersion,
    ) -> Result<Self> {
        let state = warehouse.state(table)?;
        let state = state.ok_or_else(|| CommitError::Config(format!("there is no table `{table}`")))?;
        let iceberg = state.metadata.current_schema().clone();
        let file_schema = schema::file_schema(&iceberg)?;
        let stored = stored_schema(&schema)?;
        let from = sources(table, &file_schema, &stored)?;
        let hasher = RowHasher::new(&stored, key)?;
        let folder = state.folder.join("data").join(label(interval));
        let disk = warehouse.disk().clone();
        let plan = Plan {
            table: table.clone(),
            interval,
            attempt: attempt.id,
            disk: disk.clone(),
            folder,
            stem: format!("om-{}-{}", attempt.epoch, attempt.id),
            iceberg,
            spec_id: state.metadata.default_partition_spec_id(),
            uuid: state.metadata.uuid(),
            file_schema,
            from,
            stored: stored.clone(),
            code: code.short(),
            full: OnceLock::new(),
            is_first: state.map.entries().all(|entry| entry.interval == interval || entry.files.is_empty()),
            ordered: None,
        };
        Ok(SliceWriter {
            print: RowsPrint::new(&hasher),
            hasher,
            chunks: BatchCoalescer::new(stored, CHUNK),
            current: None,
            done: Files::none(disk),
            plan,
        })
    }

    /// Adds rows.
    ///
    /// # Errors
    /// A disk that refuses them.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if self.plan.ordered.is_some() {
            return Err(CommitError::Internal("other rows among the changes of a slice".to_owned()));
        }
        self.add(batch)
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let batch = self.plan.to_stored(batch)?;
        self.print.add_batch(&self.hasher, &batch);
        self.chunks.push_batch(batch).map_err(internal)?;
        self.drain()
    }

    /// Adds all changes of a slice of a log that is folded by `key`. Nothing else may be added.
    ///
    /// # Errors
    /// As [`SliceWriter::write`]; rows that were added before.
    pub fn write_reduced(&mut self, reduced: &mut Reduced, key: &[String]) -> Result<()> {
        if self.plan.ordered.is_some() || self.current.is_some() || !self.done.list.is_empty() {
            return Err(CommitError::Internal("changes among other rows of a slice".to_owned()));
        }
        self.plan.ordered = Some((key.to_vec(), reduced.buckets()));
        if self.plan.is_first
            && let Some(units) = reduced.units()
        {
            return self.write_units(reduced, key, units);
        }
        while let Some(batch) = reduced.next_batch()? {
            self.add(&batch)?;
        }
        Ok(())
    }

    fn drain(&mut self) -> Result<()> {
        while let Some(chunk) = self.chunks.next_completed_batch() {
            let mut writer = match self.current.take() {
                Some(writer) => writer,
                None => self.plan.next_file(self.done.list.len())?,
            };
            let rows = self.plan.to_file(&chunk)?;
            let full = writer.write(&rows)?;
            self.current = Some(writer);
            if full {
                self.end_file()?;
            }
        }
        Ok(())
    }

    fn end_file(&mut self) -> Result<()> {
        let Some(writer) = self.current.take() else { return Ok(()) };
        self.done.list.push(writer.finish(self.plan.about())?);
        Ok(())
    }

    /// Ends the files. They are made durable in the commit, side by side with the metadata that names them.
    ///
    /// # Errors
    /// A disk that refuses.
    pub fn finish(mut self) -> Result<Staged> {
        self.chunks.finish_buffered_batch().map_err(internal)?;
        self.drain()?;
        self.end_file()?;
        let bytes = self.done.list.iter().map(|(_, _, file)| file.bytes).sum();
        let (fingerprint, columns) = self.print.finish();
        Ok(Staged {
            table: self.plan.table,
            interval: self.plan.interval,
            attempt: self.plan.attempt,
            fingerprint,
            columns,
            rows: fingerprint.rows,
            bytes,
            schema: schema_digest(&self.plan.stored),
            uuid: self.plan.uuid,
            files: self.done,
        })
    }
}

impl Plan {
    fn start(&self) -> Option<i64> {
        start_of(self.interval)
    }

    fn next_file(&self, number: usize) -> Result<FileWriter> {
        let pages = match &self.ordered {
            Some((key, buckets)) => Pages::ByKey(key, *buckets),
            None => Pages::Plain,
        };
        self.open(&number.to_string(), pages)
    }

    /// A new file, told from others of the attempt by `part`.
    fn open(&self, part: &str, pages: Pages<'_>) -> Result<FileWriter> {
        self.disk.create_folder(&self.folder)?;
        let name = format!("{}-{part}.parquet", self.stem);
        let path = self.folder.join(&name);
        text(&path)?;
        let name = format!("data/{}/{name}", label(self.interval));
        FileWriter::create(self.disk.clone(), path, name, self.file_schema.clone(), pages)
    }

    fn about(&self) -> About<'_> {
        About {
            content: DataContentType::Data,
            schema: &self.iceberg,
            partition: stats::partition(self.start()),
            spec_id: self.spec_id,
        }
    }

    /// The user's columns with the types that they are stored as.
    fn to_stored(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        stored(batch, &self.stored, &self.table)
    }

    /// Start and code of so many rows.
    fn origin(&self, rows: usize) -> [ArrayRef; 2] {
        let starts: ArrayRef = match self.start() {
            Some(start) => Arc::new(TimestampMicrosecondArray::from_value(start, rows).with_timezone("UTC")),
            None => new_null_array(&arrow_type(ColumnType::TimestampTz), rows),
        };
        [starts, Arc::new(StringArray::from_iter_values(std::iter::repeat_n(&self.code, rows)))]
    }

    /// The columns of a file, for the rows of a chunk.
    fn to_file(&self, chunk: &RecordBatch) -> Result<RecordBatch> {
        let rows = chunk.num_rows();
        let [starts, codes] = match rows {
            CHUNK => self.full.get_or_init(|| self.origin(CHUNK)).clone(),
            fewer => self.origin(fewer),
        };
        let columns: Result<Vec<ArrayRef>> = self
            .from
            .iter()
            .zip(self.file_schema.fields())
            .map(|(from, field)| match from {
                Source::User(place) => convert(chunk.column(*place), field, &self.table),
                Source::Null => Ok(new_null_array(field.data_type(), rows)),
                Source::Start => Ok(starts.clone()),
                Source::Code => Ok(codes.clone()),
            })
            .collect();
        RecordBatch::try_new(self.file_schema.clone(), columns?).map_err(internal)
    }
}

/// A batch with the types of `schema`, column by column.
pub(crate) fn stored(batch: &RecordBatch, schema: &SchemaRef, table: &TableName) -> Result<RecordBatch> {
    if batch.num_columns() != schema.fields().len() {
        return Err(CommitError::Internal(
            "a batch with other columns than its writer was made for".to_owned(),
        ));
    }
    let columns = batch.columns().iter().zip(schema.fields());
    let columns: Result<Vec<ArrayRef>> =
        columns.map(|(column, field)| convert(column, field, table)).collect();
    RecordBatch::try_new(schema.clone(), columns?).map_err(internal)
}

pub(crate) fn convert(column: &ArrayRef, field: &Field, table: &TableName) -> Result<ArrayRef> {
    if column.data_type() == field.data_type() {
        return Ok(column.clone());
    }
    // A value that does not fit is an error, never a NULL.
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(column, field.data_type(), &options).map_err(|error| {
        CommitError::Config(format!("column `{}` of `{table}` can't be stored: {error}", field.name()))
    })
}

/// The start that rows of a slice carry, µs.
pub(crate) fn start_of(interval: Interval) -> Option<i64> {
    (!interval.is_whole()).then_some(interval.start().0)
}

/// The folder of a slice's files.
pub(crate) fn label(interval: Interval) -> String {
    match interval.start() {
        Instant::MIN => "all".to_owned(),
        start => start.to_string().replace([':', '-'], ""),
    }
}

/// The columns with the types that they are stored as.
pub(crate) fn stored_schema(schema: &Schema) -> Result<SchemaRef> {
    let fields = schema.fields().iter().map(|field| {
        let kind = stored_type(field.name(), field.data_type())?;
        Ok(Field::new(field.name(), arrow_type(kind), true))
    });
    Ok(Arc::new(Schema::new(fields.collect::<Result<Vec<_>>>()?)))
}

fn sources(table: &TableName, file: &Schema, stored: &Schema) -> Result<Vec<Source>> {
    let places: HashMap<&str, usize> =
        stored.fields().iter().enumerate().map(|(place, field)| (field.name().as_str(), place)).collect();
    if let Some(missing) = stored.fields().iter().find(|field| file.index_of(field.name()).is_err()) {
        return Err(CommitError::Internal(format!("`{table}` has no column `{}` yet", missing.name())));
    }
    let source = |name: &str| match name {
        INTERVAL_START => Source::Start,
        CODE_VERSION => Source::Code,
        name => places.get(name).map_or(Source::Null, |place| Source::User(*place)),
    };
    Ok(file.fields().iter().map(|field| source(field.name())).collect())
}

pub(crate) fn internal(error: impl std::fmt::Display) -> CommitError {
    CommitError::Internal(error.to_string())
}
