//! One Parquet file being written, with every choice of the encoder fixed.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Float32Type, Float64Type, Schema, SchemaRef};
use iceberg::spec::DataFile;
use oncemore_core::fault::Step;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::schema::types::ColumnPath;

use super::groups::Groups;
use super::{CHUNK, Files, internal};
use crate::disk::{Disk, begin_to_keep};
use crate::error::{CommitError, Result};
use crate::fold::index::Sampler;
use crate::fold::store::Buckets;
use crate::metadata::schema::INTERVAL_START;
use crate::metadata::stats::{self, About};
use crate::slice_map::FileEntry;

/// Files end after the chunk that reaches this size.
const FILE_BYTES: usize = 256 << 20;
const ROW_GROUP_ROWS: usize = 1 << 20;
/// A row group is kept, encoded, until it is full: wide rows fill it sooner.
const ROW_GROUP_BYTES: usize = 32 << 20;

#[derive(Debug)]
pub(crate) struct FileWriter {
    rows: Groups<Checked>,
    path: PathBuf,
    name: String,
    /// Float columns: place and field id.
    floats: Vec<(usize, i32)>,
    nans: HashMap<i32, u64>,
    /// Notes where the rows of which bucket lie.
    sampler: Option<Sampler>,
    /// Removes the file when writing ends early.
    guard: Guard,
}

#[derive(Debug)]
struct Guard {
    disk: Disk,
    path: Option<PathBuf>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // What can't be removed now is an orphan that `gc` finds by its name.
            let _ = self.disk.remove(path);
        }
    }
}

/// A file whose writes pass the disk's step.
#[derive(Debug)]
struct Checked {
    file: File,
    disk: Disk,
}

impl Write for Checked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = &mut self.file;
        self.disk.step(Step::WriteData, || file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// What of the encoding depends on what a file is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pages<'a> {
    /// Read whole, or by ranges of anything.
    Plain,
    /// Rows are ordered by the bucket of these columns and looked up by them.
    ByKey(&'a [String], Buckets),
    /// Of paths and positions: the whole of a path counts.
    Deletes,
}

/// Files from this size on, in bytes, are begun to be taken to the disk before they are published.
const KEPT_EARLY: u64 = 256 << 10;

/// Rows of a page of a file in which keys are looked up.
const KEY_PAGE_ROWS: usize = 2_048;

/// Everything that an encoder would choose by itself.
fn properties(schema: &Schema, pages: Pages<'_>) -> Result<WriterProperties> {
    let (page_rows, bound) = match pages {
        Pages::Plain => (20_000, Some(64)),
        Pages::ByKey(..) => (KEY_PAGE_ROWS, Some(64)),
        Pages::Deletes => (20_000, None),
    };
    let mut builder = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_created_by("oncemore".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).map_err(internal)?))
        .set_write_batch_size(1_024)
        .set_data_page_row_count_limit(page_rows)
        .set_data_page_size_limit(1 << 20)
        // A column of mostly distinct values pays for a dictionary until it is given up: so, early.
        .set_dictionary_page_size_limit(128 << 10)
        .set_dictionary_enabled(true)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_statistics_truncate_length(bound);
    for field in schema.fields() {
        let counts = matches!(
            field.data_type(),
            DataType::Int32 | DataType::Int64 | DataType::Date32 | DataType::Timestamp(..)
        );
        // Keys, counters and times: as small as with a dictionary or smaller, and no table of values to keep.
        if counts && field.name() != INTERVAL_START {
            let path = ColumnPath::from(field.name().as_str());
            builder = builder
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
        }
    }
    Ok(builder.build())
}

impl FileWriter {
    pub(crate) fn create(
        disk: Disk,
        path: PathBuf,
        name: String,
        schema: SchemaRef,
        pages: Pages<'_>,
    ) -> Result<Self> {
        let file = disk.create(&path)?;
        let guard = Guard { disk: disk.clone(), path: Some(path.clone()) };
        let floats = schema.fields().iter().enumerate().filter_map(|(place, field)| {
            let id = field.metadata().get(parquet::arrow::PARQUET_FIELD_ID_META_KEY)?.parse().ok()?;
            matches!(field.data_type(), DataType::Float32 | DataType::Float64).then_some((place, id))
        });
        let floats = floats.collect();
        let sampler = match pages {
            Pages::ByKey(key, buckets) => Some(Sampler::new(&schema, key, buckets)?),
            Pages::Plain | Pages::Deletes => None,
        };
        let checked = Checked { file, disk };
        let properties = properties(&schema, pages)?;
        let most = (ROW_GROUP_ROWS, ROW_GROUP_BYTES);
        let rows = Groups::new(checked, schema, properties, most).map_err(internal)?;
        Ok(FileWriter { rows, path, name, floats, nans: HashMap::new(), sampler, guard })
    }

    /// Writes a chunk; true when the file is long enough.
    pub(crate) fn write(&mut self, chunk: &RecordBatch) -> Result<bool> {
        for (place, id) in &self.floats {
            *self.nans.entry(*id).or_default() += nans(chunk.column(*place).as_ref());
        }
        if let Some(sampler) = &mut self.sampler {
            sampler.add(chunk)?;
        }
        let written = self.rows.write(chunk.clone());
        written.map_err(|error| CommitError::io(format!("write {}", self.path.display()), error))?;
        let (written, open) = self.rows.bytes();
        Ok(written + open >= FILE_BYTES)
    }

    /// Ends the file. It is made durable when it is published, together with the metadata.
    pub(crate) fn finish(mut self, about: About<'_>) -> Result<(PathBuf, DataFile, FileEntry)> {
        let doing = || format!("write {}", self.path.display());
        if let Some(said) = self.sampler.take().and_then(Sampler::finish) {
            self.rows.say(said);
        }
        let footer = self.rows.finish().map_err(|error| CommitError::io(doing(), error))?;
        let (bytes, _) = self.rows.bytes();
        let bytes = bytes as u64;
        if bytes >= KEPT_EARLY {
            begin_to_keep(&self.rows.to().file);
        }
        let path = self.path.to_string_lossy();
        let file = stats::data_file(&path, bytes, about, &footer, self.nans)?;
        let entry = FileEntry { name: self.name, rows: file.record_count(), bytes };
        self.guard.path = None;
        Ok((self.path, file, entry))
    }
}

/// Rows in chunks, which are encoded one by one.
pub(crate) fn chunks(rows: &RecordBatch) -> impl Iterator<Item = RecordBatch> {
    (0..rows.num_rows()).step_by(CHUNK).map(|from| rows.slice(from, CHUNK.min(rows.num_rows() - from)))
}

/// Writes chunks, with the columns of a file, into files that `next` opens, by number. The first begins a file; what they
/// are in it depends on nothing but them.
pub(crate) fn write_all(
    disk: &Disk,
    chunks: impl Iterator<Item = Result<RecordBatch>>,
    mut next: impl FnMut(usize) -> Result<FileWriter>,
    about: About<'_>,
) -> Result<Files> {
    let mut written = Files::none(disk.clone());
    let mut open: Option<FileWriter> = None;
    for chunk in chunks {
        let mut writer = match open.take() {
            Some(writer) => writer,
            None => next(written.list.len())?,
        };
        if writer.write(&chunk?)? {
            written.list.push(writer.finish(about.clone())?);
        } else {
            open = Some(writer);
        }
    }
    if let Some(writer) = open {
        written.list.push(writer.finish(about)?);
    }
    Ok(written)
}

fn nans(array: &dyn Array) -> u64 {
    let count = match array.data_type() {
        DataType::Float32 => {
            array.as_primitive::<Float32Type>().iter().flatten().filter(|value| value.is_nan()).count()
        }
        DataType::Float64 => {
            array.as_primitive::<Float64Type>().iter().flatten().filter(|value| value.is_nan()).count()
        }
        _ => 0,
    };
    count as u64
}
