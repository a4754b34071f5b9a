//! Parquet of whoever wrote it: checked before it is believed, so that a broken or hostile file is a typed
//! error with bounded memory.

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    DataType, Schema, SchemaRef, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
};
use bytes::Bytes;
use oncemore_commit::border;
use oncemore_core::ColumnType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};

use super::error::{AGAIN, SourceError, SourceErrorKind};
use super::read::{BATCH_ROWS, Portion, Rows, Take, Wanted, said};
use super::store::Object;
use super::types::{Column, arrow_type, column_type, schema, type_name};

/// Largest footer that is read.
const MAX_FOOTER: u64 = 64 << 20;
/// Files up to this size are read whole: one sequential read instead of one for each column.
const WHOLE_FILE: u64 = 32 << 20;
/// Most bytes that are decoded at the same time, beside [`HELD_RATIO`] times the file's own.
const MAX_HELD: u64 = 1 << 30;
/// See [`MAX_HELD`]: one page of each column, and what it looks up.
const HELD_RATIO: u64 = 32;

/// Columns of a file, by its footer.
pub(crate) fn columns(object: &Object) -> Result<Vec<Column>, SourceError> {
    let metadata = footer(object)?;
    let fields = metadata.schema().fields().iter().map(|field| {
        let kind = column_type(field.data_type()).ok_or_else(|| {
            malformed(
                object.path(),
                format!("column `{}` is {}, which no table holds", field.name(), field.data_type()),
            )
            .help("declare the columns to read under `columns:` of the source")
        })?;
        Ok((field.name().clone(), kind))
    });
    fields.collect()
}

/// Rows that a file claims to have.
pub(crate) fn read(object: &Object, wanted: &Wanted<'_>, take: Take<'_>) -> Result<(), SourceError> {
    let (path, metadata) = (object.path(), footer(object)?);
    for (name, declared) in wanted.required {
        let Ok(field) = metadata.schema().field_with_name(name) else {
            return Err(malformed(path, format!("the file lacks column `{name}`, which is declared"))
                .help("deliver the column, or take it out of `columns:`"));
        };
        if !column_type(field.data_type()).is_some_and(|own| holds(*declared, own)) {
            let own = type_name(field.data_type());
            let message = format!("column `{name}` is {own} in the file, and declared {declared}");
            return Err(malformed(path, message)
                .help(format!("declare it as the file has it, `{name}: {own}`, and cast in the model")));
        }
    }
    let part = part_of(metadata.metadata(), wanted.portion);
    if wanted.columns.is_empty() {
        return count(path, &part, take);
    }
    if object.len() <= WHOLE_FILE && wanted.portion == Portion::WHOLE {
        Pages { path, file: read_whole(object)?, metadata, wanted, part }.read(take)
    } else {
        Pages { path, file: object.clone(), metadata, wanted, part }.read(take)
    }
}

/// Some row groups of a file that follow each other.
struct Part {
    groups: Vec<usize>,
    /// Rows of the file before them.
    before: u64,
    rows: u64,
}

/// The row groups of a portion: those that begin in it.
fn part_of(metadata: &ParquetMetaData, portion: Portion) -> Part {
    let length = |group: &RowGroupMetaData| u64::try_from(group.num_rows()).unwrap_or(0);
    let total = metadata.row_groups().iter().map(length).sum();
    let mut part = Part { groups: Vec::new(), before: 0, rows: 0 };
    let mut before = 0;
    for (place, group) in metadata.row_groups().iter().enumerate() {
        if portion.holds(before, total) {
            if part.groups.is_empty() {
                part.before = before;
            }
            part.groups.push(place);
            part.rows += length(group);
        }
        before += length(group);
    }
    part
}

fn count(path: &str, part: &Part, take: Take<'_>) -> Result<(), SourceError> {
    let (mut before, total) = (part.before, part.before + part.rows);
    while before < total {
        let rows = (total - before).min(BATCH_ROWS as u64);
        let options = RecordBatchOptions::new().with_row_count(usize::try_from(rows).ok());
        let batch = RecordBatch::try_new_with_options(schema(&[]), Vec::new(), &options)
            .map_err(|error| malformed(path, error.to_string()))?;
        if take(Rows { batch, lines: None, before })?.is_break() {
            break;
        }
        before += rows;
    }
    Ok(())
}

fn read_whole(object: &Object) -> Result<Bytes, SourceError> {
    let mut whole = Vec::with_capacity(usize::try_from(object.len()).unwrap_or(0));
    (object.reader(0).take(object.len()).read_to_end(&mut whole))
        .map_err(|error| SourceError::io(object.path(), "can't read", &error))?;
    Ok(Bytes::from(whole))
}

/// The rows of one file, or of a part of it.
struct Pages<'a, T> {
    path: &'a str,
    file: T,
    metadata: ArrowReaderMetadata,
    wanted: &'a Wanted<'a>,
    part: Part,
}

impl<T: ChunkReader + Clone + 'static> Pages<'_, T> {
    fn read(&self, take: Take<'_>) -> Result<(), SourceError> {
        let mask = self.mask(|name| self.wanted.columns.iter().any(|(own, _)| own == name));
        self.check(&mask)?;
        let mut before = self.part.before;
        let groups = self.part.groups.clone();
        let mut reader = self.reader(mask, groups).map_err(|why| self.undecodable(before, &why))?;
        while let Some(batch) = next_batch(&mut reader) {
            let batch = batch.map_err(|why| self.undecodable(before, &why))?;
            let rows = batch.num_rows() as u64;
            let batch = self.typed(&batch, before)?;
            if take(Rows { batch, lines: None, before })?.is_break() {
                break;
            }
            before += rows;
        }
        Ok(())
    }

    /// The columns whose names `is_wanted` says yes to.
    fn mask(&self, is_wanted: impl Fn(&str) -> bool) -> ProjectionMask {
        let fields = self.metadata.schema().fields().iter().enumerate();
        let roots = fields.filter(|(_, field)| is_wanted(field.name())).map(|(place, _)| place);
        ProjectionMask::roots(self.metadata.parquet_schema(), roots)
    }

    /// A decoder of some row groups.
    fn reader(&self, mask: ProjectionMask, groups: Vec<usize>) -> Result<ParquetRecordBatchReader, Broken> {
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(self.file.clone(), self.metadata.clone())
                .with_projection(mask)
                .with_row_groups(groups)
                .with_batch_size(BATCH_ROWS);
        builder.build().map_err(|error| Broken::Undecodable(plain(&error.to_string()).to_owned()))
    }

    /// Refuses pages that claim to unpack to more than they can: a decoder reserves what they claim.
    fn check(&self, mask: &ProjectionMask) -> Result<(), SourceError> {
        let most = MAX_HELD + self.file.len().saturating_mul(HELD_RATIO);
        for number in self.part.groups.iter().copied() {
            let group = self.metadata.metadata().row_group(number);
            let leaves = group.columns().iter().enumerate().filter(|(leaf, _)| mask.leaf_included(*leaf));
            let mut held: u64 = 0;
            for (_, chunk) in leaves {
                let largest = largest_pages(&self.file, chunk).map_err(|why| {
                    let place = self.place(number, &chunk.column_path().string());
                    malformed(self.path, format!("broken page of {place}: {why}")).help(AGAIN)
                })?;
                held = held.saturating_add(largest);
            }
            if held > most {
                let size = self.file.len();
                let message = format!("pages claim {held} bytes at the same time, of a file of {size}");
                return Err(malformed(self.path, message).help(AGAIN));
            }
        }
        Ok(())
    }

    /// Row group and column, counted from 1 and named.
    fn place(&self, group: usize, column: &str) -> String {
        let groups = self.metadata.metadata().num_row_groups();
        format!("column `{column}` in row group {} of {groups}", group + 1)
    }

    /// The error of a file whose rows from `before` on can't be decoded. A decoder says neither row group nor column: they
    /// are looked for, each by itself.
    fn undecodable(&self, before: u64, why: &Broken) -> SourceError {
        let (kind, what) = match why {
            Broken::Undecodable(what) => (SourceErrorKind::Malformed, what.clone()),
            Broken::Panicked(said) => (SourceErrorKind::Internal, format!("the decoder panicked: {said}")),
        };
        let place = self.broken_column(before).map(|(group, column)| self.place(group, column));
        let message = match place {
            Some(place) => format!("undecodable Parquet, {place}: {what}"),
            None => format!("undecodable Parquet: {what}"),
        };
        SourceError::new(kind, self.path, message).help(AGAIN)
    }

    fn broken_column(&self, before: u64) -> Option<(usize, &str)> {
        let mut end = self.part.before;
        for group in self.part.groups.iter().copied() {
            end += u64::try_from(self.metadata.metadata().row_group(group).num_rows()).unwrap_or(0);
            if end <= before {
                continue;
            }
            for (column, _) in self.wanted.columns {
                let mask = self.mask(|name| name == column);
                let decoded = self.reader(mask, vec![group]).and_then(|mut reader| {
                    std::iter::from_fn(|| next_batch(&mut reader)).try_for_each(|batch| batch.map(drop))
                });
                if decoded.is_err() {
                    return Some((group, column));
                }
            }
        }
        None
    }

    /// The batch as it is wanted; its rows come behind `before` others.
    fn typed(&self, batch: &RecordBatch, before: u64) -> Result<RecordBatch, SourceError> {
        let (path, rows) = (self.path, batch.num_rows());
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.wanted.columns.len());
        for (name, kind) in self.wanted.columns {
            let target = arrow_type(*kind);
            arrays.push(match batch.column_by_name(name) {
                None => new_null_array(&target, rows),
                Some(found) => {
                    if let Some(row) = cut_character(found) {
                        let row = before + row as u64 + 1;
                        let message =
                            format!("column `{name}` is no UTF-8 in row {row}: a character is cut there");
                        return Err(malformed(path, message).help(AGAIN));
                    }
                    let declared = self.wanted.required.iter().any(|(own, _)| own == name);
                    if !declared && let Some(row) = finer_than_micros(found) {
                        return Err(too_fine(path, name, found.data_type(), before + row as u64 + 1));
                    }
                    typed(path, name, found, &target, before)?
                }
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(schema(self.wanted.columns), arrays, &options)
            .map_err(|error| malformed(path, format!("undecodable Parquet: {error}")).help(AGAIN))
    }
}

/// Why rows can't be decoded.
enum Broken {
    Undecodable(String),
    Panicked(String),
}

/// The next rows. Decoders of hostile bytes may panic: that is an error, too.
fn next_batch(reader: &mut ParquetRecordBatchReader) -> Option<Result<RecordBatch, Broken>> {
    let next = catch_unwind(AssertUnwindSafe(|| reader.next()));
    next.map_err(|panic| Broken::Panicked(said(panic.as_ref())))
        .map(|next| {
            next.map(|batch| batch.map_err(|error| Broken::Undecodable(plain(&error.to_string()).to_owned())))
        })
        .unwrap_or_else(|broken| Some(Err(broken)))
}

/// Bytes of the two largest pages of a chunk, unpacked: the one that is read, and the one that it looks up.
fn largest_pages<T: ChunkReader>(file: &T, chunk: &ColumnChunkMetaData) -> Result<u64, String> {
    let (mut at, mut left) = chunk.byte_range();
    let mut largest = [0, 0];
    while left > 0 {
        let page = border::page_header(file, at, left)?;
        let possible = page.packed.saturating_mul(ratio(chunk.compression())).saturating_add(64);
        if page.unpacked > page.packed.max(possible.min(border::MAX_PAGE)) {
            return Err(format!("{} bytes claim to unpack to {}", page.packed, page.unpacked));
        }
        largest = [largest[0].max(page.unpacked), largest[1].max(largest[0].min(page.unpacked))];
        let whole = page.header + page.packed;
        at += whole;
        left = left.checked_sub(whole).ok_or("it goes beyond its column")?;
    }
    Ok(largest.iter().sum())
}

/// The most bytes that one byte can unpack to, by how a format can repeat what it has.
fn ratio(codec: Compression) -> u64 {
    match codec {
        Compression::UNCOMPRESSED => 1,
        Compression::SNAPPY => 22,
        Compression::LZ4 | Compression::LZ4_RAW => 256,
        Compression::GZIP(_) => 1_100,
        Compression::ZSTD(_) | Compression::BROTLI(_) | Compression::LZO => u64::MAX,
    }
}

/// Whether every value of type `own` is one of type `declared`, too.
fn holds(declared: ColumnType, own: ColumnType) -> bool {
    use ColumnType as T;
    match (declared, own) {
        (T::BigInt | T::Double, T::Integer) | (T::Double, T::Real) => true,
        (T::Decimal(precision, scale), T::Integer) => i16::from(precision) - i16::from(scale) >= 10,
        (T::Decimal(precision, scale), T::BigInt) => i16::from(precision) - i16::from(scale) >= 19,
        (T::Decimal(precision, scale), T::Decimal(own_precision, own_scale)) => {
            scale >= own_scale
                && i16::from(precision) - i16::from(scale) >= i16::from(own_precision) - i16::from(own_scale)
        }
        (declared, own) => declared == own,
    }
}

/// The first value of text that begins or ends within a character. Values whose bytes lie one behind the other are
/// decoded and checked as one text, which says nothing of where each begins.
fn cut_character(found: &ArrayRef) -> Option<usize> {
    let texts = found.as_string_opt::<i32>()?;
    let bytes = texts.value_data();
    let is_cut = |at: &i32| bytes.get(*at as usize).is_some_and(|byte| byte & 0xc0 == 0x80);
    let place = texts.value_offsets().iter().position(is_cut)?;
    Some(place.min(texts.len().saturating_sub(1)))
}

/// The first value of a column that tables hold no time as fine as.
fn finer_than_micros(found: &ArrayRef) -> Option<usize> {
    let times = found.as_primitive_opt::<TimestampNanosecondType>()?;
    (0..times.len()).find(|row| times.is_valid(*row) && times.value(*row) % 1_000 != 0)
}

fn too_fine(path: &str, name: &str, own: &DataType, row: u64) -> SourceError {
    malformed(path, format!("column `{name}` has nanoseconds in row {row}, and tables hold microseconds"))
        .help(format!(
            "to have them cut, declare the source's `columns:`, with `{name}: {}` among them",
            type_name(own)
        ))
}

fn typed(
    path: &str,
    name: &str,
    found: &ArrayRef,
    target: &DataType,
    before: u64,
) -> Result<ArrayRef, SourceError> {
    if found.data_type() == target {
        return Ok(Arc::clone(found));
    }
    // Backwards in time, before 1970 as after: rows stay in their day.
    let floored = found.as_primitive_opt::<TimestampNanosecondType>().map(|times| {
        let micros = times.unary::<_, TimestampMicrosecondType>(|nanos| nanos.div_euclid(1_000));
        Arc::new(micros.with_timezone_opt(times.timezone())) as ArrayRef
    });
    let found = floored.as_ref().unwrap_or(found);
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(found, target, &strict).map_err(|error| {
        let range = format!("rows {} to {}", before + 1, before + found.len() as u64);
        malformed(
            path,
            format!(
                "column `{name}` is {}, not {}, in {range}: {error}",
                type_name(found.data_type()),
                type_name(target)
            ),
        )
        .help("declare the type that the file has, and cast in the model")
    })
}

/// The footer, checked.
fn footer(object: &Object) -> Result<ArrowReaderMetadata, SourceError> {
    let (path, size) = (object.path(), object.len());
    if size < 12 {
        let message = format!("no Parquet: {size} bytes are too few for a footer");
        return Err(malformed(path, message).help(AGAIN));
    }
    let mut tail = [0; 8];
    object.read_at(&mut tail, size - 8)?;
    let [l0, l1, l2, l3, magic @ ..] = tail;
    if magic != *b"PAR1" {
        return Err(malformed(path, "no Parquet: the file does not end in `PAR1`")
            .help("the file may be cut off: deliver it again"));
    }
    let length = u64::from(u32::from_le_bytes([l0, l1, l2, l3]));
    if length > MAX_FOOTER || length + 12 > size {
        return Err(broken_footer(path, format!("it claims {length} bytes of a file of {size}")));
    }
    let mut footer = vec![0; usize::try_from(length).unwrap_or(0)];
    object.read_at(&mut footer, size - 8 - length)?;
    border::thrift::check(&footer).map_err(|why| broken_footer(path, why))?;
    let options = ArrowReaderOptions::new()
        .with_page_index_policy(PageIndexPolicy::Skip)
        // The embedded Arrow schema says nothing that we keep, and is one more thing to trust.
        .with_skip_arrow_metadata(true);
    let broken = |error: ParquetError| broken_footer(path, plain(&error.to_string()));
    let metadata = ArrowReaderMetadata::load(object, options.clone()).map_err(broken)?;
    border::sane(metadata.metadata(), size).map_err(|what| broken_footer(path, what))?;
    match in_micros(&metadata) {
        Some(schema) => {
            let options = options.with_schema(schema);
            ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options).map_err(broken)
        }
        None => Ok(metadata),
    }
}

/// The schema with INT96, the times of older writers, in the unit of tables, where there are any: nanoseconds reach from
/// 1677 to 2262, and such files say 9999 for an open end.
fn in_micros(metadata: &ArrowReaderMetadata) -> Option<SchemaRef> {
    let leaves = metadata.parquet_schema().root_schema().get_fields();
    let is_int96 = |place: usize| {
        let leaf = leaves.get(place).filter(|leaf| leaf.is_primitive());
        leaf.is_some_and(|leaf| leaf.get_physical_type() == PhysicalType::INT96)
    };
    let schema = metadata.schema();
    (0..schema.fields().len()).any(is_int96).then(|| {
        let fields = schema.fields().iter().enumerate().map(|(place, field)| match field.data_type() {
            DataType::Timestamp(_, zone) if is_int96(place) => {
                let micros = DataType::Timestamp(TimeUnit::Microsecond, zone.clone());
                Arc::new(field.as_ref().clone().with_data_type(micros))
            }
            _ => Arc::clone(field),
        });
        Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone()))
    })
}

fn broken_footer(path: &str, why: impl std::fmt::Display) -> SourceError {
    malformed(path, format!("broken footer: {why}")).help(AGAIN)
}

fn malformed(path: &str, message: impl Into<String>) -> SourceError {
    SourceError::new(SourceErrorKind::Malformed, path, message)
}

/// The text without the library's own prefixes.
fn plain(error: &str) -> &str {
    ["Parquet argument error: ", "Parquet error: ", "ParquetError("]
        .iter()
        .fold(error, |text, prefix| text.strip_prefix(prefix).unwrap_or(text))
}
