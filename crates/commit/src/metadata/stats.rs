//! What a Parquet file's footer says of its columns, in the words of a manifest.

use std::collections::HashMap;

use iceberg::spec::{
    DataContentType, DataFile, DataFileBuilder, DataFileFormat, Datum, Literal, PrimitiveType, Schema,
    Struct, Type,
};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::statistics::Statistics;

use crate::error::{CommitError, Result};

/// What a file is to a manifest.
#[derive(Clone, Debug)]
pub(crate) struct About<'a> {
    pub(crate) content: DataContentType,
    pub(crate) schema: &'a Schema,
    pub(crate) partition: Struct,
    pub(crate) spec_id: i32,
}

/// The manifest's view of one file of ours.
pub(crate) fn data_file(
    path: &str,
    bytes: u64,
    about: About<'_>,
    footer: &ParquetMetaData,
    nan_counts: HashMap<i32, u64>,
) -> Result<DataFile> {
    let About { content, schema, partition, spec_id } = about;
    let mut columns = Columns::default();
    for group in footer.row_groups() {
        for column in group.columns() {
            let info = column.column_descr().self_type().get_basic_info();
            let id = if info.has_id() { info.id() } else { continue };
            *columns.sizes.entry(id).or_default() += column.compressed_size().unsigned_abs();
            *columns.values.entry(id).or_default() += column.num_values().unsigned_abs();
            let kind = schema.field_by_id(id).map(|field| field.field_type.as_ref());
            if let (Some(Type::Primitive(kind)), Some(statistics)) = (kind, column.statistics()) {
                columns.add(id, kind, statistics);
            }
        }
    }
    columns.bounds.retain(|_, (low, high)| low.is_some() || high.is_some());
    let offsets =
        footer.row_groups().iter().filter_map(parquet::file::metadata::RowGroupMetaData::file_offset);
    let (lower, upper): (HashMap<i32, Datum>, HashMap<i32, Datum>) = split(columns.bounds);
    DataFileBuilder::default()
        .content(content)
        .file_path(path.to_owned())
        .file_format(DataFileFormat::Parquet)
        .partition(partition)
        .partition_spec_id(spec_id)
        .record_count(footer.file_metadata().num_rows().unsigned_abs())
        .file_size_in_bytes(bytes)
        .column_sizes(columns.sizes)
        .value_counts(columns.values)
        .null_value_counts(columns.nulls)
        .nan_value_counts(nan_counts)
        .lower_bounds(lower)
        .upper_bounds(upper)
        .split_offsets(Some(offsets.collect()))
        .build()
        .map_err(|error| CommitError::Internal(error.to_string()))
}

/// The partition of a slice that starts at `start` (µs).
pub(crate) fn partition(start: Option<i64>) -> Struct {
    Struct::from_iter([start.map(Literal::timestamptz)])
}

/// The same file at another path, of another size where it was written again, in a partition of `spec_id`.
pub(crate) fn at_path(
    file: &DataFile,
    path: String,
    bytes: u64,
    partition: Struct,
    spec_id: i32,
) -> Result<DataFile> {
    let mut builder = DataFileBuilder::default();
    builder
        .content(file.content_type())
        .file_path(path)
        .file_format(file.file_format())
        .partition(partition)
        .partition_spec_id(spec_id)
        .record_count(file.record_count())
        .file_size_in_bytes(bytes)
        .column_sizes(file.column_sizes().clone())
        .value_counts(file.value_counts().clone())
        .null_value_counts(file.null_value_counts().clone())
        .nan_value_counts(file.nan_value_counts().clone())
        .lower_bounds(file.lower_bounds().clone())
        .upper_bounds(file.upper_bounds().clone())
        .split_offsets(file.split_offsets().map(<[i64]>::to_vec));
    builder.build().map_err(|error| CommitError::Internal(error.to_string()))
}

type Bounds = HashMap<i32, (Option<Datum>, Option<Datum>)>;

#[derive(Default)]
struct Columns {
    sizes: HashMap<i32, u64>,
    values: HashMap<i32, u64>,
    nulls: HashMap<i32, u64>,
    /// `None`: unknown for some row group, so unknown for the file.
    bounds: Bounds,
    unknown: Vec<i32>,
}

impl Columns {
    fn add(&mut self, id: i32, kind: &PrimitiveType, statistics: &Statistics) {
        *self.nulls.entry(id).or_default() += statistics.null_count_opt().unwrap_or(0);
        if statistics.min_bytes_opt().is_none() && statistics.max_bytes_opt().is_none() {
            return; // only NULL: bounds of the other row groups hold
        }
        let low = datum(kind, statistics, false);
        let high = datum(kind, statistics, true);
        if low.is_none() || high.is_none() || self.unknown.contains(&id) {
            self.unknown.push(id);
            self.bounds.remove(&id);
            return;
        }
        let (known_low, known_high) = self.bounds.entry(id).or_default();
        let less = |left: &Datum, right: &Datum| {
            left.literal().partial_cmp(right.literal()).is_some_and(|o| o.is_lt())
        };
        if known_low.as_ref().is_none_or(|known| low.as_ref().is_some_and(|low| less(low, known))) {
            *known_low = low;
        }
        if known_high.as_ref().is_none_or(|known| high.as_ref().is_some_and(|high| less(known, high))) {
            *known_high = high;
        }
    }
}

fn split(bounds: Bounds) -> (HashMap<i32, Datum>, HashMap<i32, Datum>) {
    let (mut lower, mut upper) = (HashMap::new(), HashMap::new());
    #[expect(clippy::iter_over_hash_type, reason = "from a map into maps")]
    for (id, (low, high)) in bounds {
        lower.extend(low.map(|low| (id, low)));
        upper.extend(high.map(|high| (id, high)));
    }
    (lower, upper)
}

/// A bound, or `None` where the writer had to give up: a string of only the greatest characters can't be cut upwards.
fn datum(kind: &PrimitiveType, statistics: &Statistics, upper: bool) -> Option<Datum> {
    let bytes = if upper { statistics.max_bytes_opt() } else { statistics.min_bytes_opt() }?;
    match (kind, statistics) {
        (PrimitiveType::Decimal { .. }, Statistics::Int32(_) | Statistics::Int64(_)) => {
            // Little-endian integers there, big-endian here.
            let turned: Vec<u8> = bytes.iter().rev().copied().collect();
            Datum::try_from_bytes(&turned, kind.clone()).ok()
        }
        _ => Datum::try_from_bytes(bytes, kind.clone()).ok(),
    }
}
