//! Rows of one file in Arrow batches, whatever its format: one loop for the index and for tasks.

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow::array::RecordBatch;
use oncemore_core::{ColumnType, Digest, Format, SourceSpec};

use super::error::{AGAIN, SourceError, SourceErrorKind};
use super::store::Object;
use super::types::Column;
use super::{csv, ndjson, parquet};

/// Rows in a batch read from a file.
pub(crate) const BATCH_ROWS: usize = 8_192;

/// Files from this size on, in bytes, are read by several threads.
pub(crate) const LARGE_FILE: u64 = 8 << 20;

/// Some of the rows of a file: the `at`-th of `of` runs of about equal length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Portion {
    pub(crate) at: usize,
    pub(crate) of: usize,
}

impl Portion {
    pub(crate) const WHOLE: Portion = Portion { at: 0, of: 1 };

    /// What a file is read in: several at once where it is large, and can be entered in its middle.
    pub(crate) fn of(format: &Format, bytes: u64, most: usize) -> impl Iterator<Item = Portion> + use<> {
        let of = if *format == Format::Parquet && bytes >= LARGE_FILE { most.max(1) } else { 1 };
        (0..of).map(move |at| Portion { at, of })
    }

    /// Whether what begins `before` of `total` rows is part of it.
    pub(crate) fn holds(self, before: u64, total: u64) -> bool {
        let place = u128::from(before) * self.of as u128 / u128::from(total.max(1));
        place == self.at as u128
    }
}

/// What to read of a file.
pub(crate) struct Wanted<'a> {
    /// Columns to yield, in this order, with the types to yield them in.
    pub(crate) columns: &'a [Column],
    /// Columns that the file must have, also those not yielded. Others than these are NULL where absent.
    pub(crate) required: &'a [Column],
    /// The rows: of text, all.
    pub(crate) portion: Portion,
}

/// One batch and where its rows stand.
pub(crate) struct Rows {
    pub(crate) batch: RecordBatch,
    /// Line of each row, for text formats.
    pub(crate) lines: Option<Vec<u64>>,
    /// Rows of the file before this batch.
    pub(crate) before: u64,
}

/// Takes batches as they are decoded; may stop early.
pub(crate) type Take<'a> = &'a mut dyn FnMut(Rows) -> Result<ControlFlow<()>, SourceError>;

/// Reads one file. Yields the digest of its bytes, for text formats read to the end.
pub(crate) fn file(
    spec: &SourceSpec,
    object: &Object,
    wanted: &Wanted<'_>,
    take: Take<'_>,
) -> Result<Option<Digest>, SourceError> {
    guarded(object.path(), || match &spec.format {
        Format::Csv { .. } => csv::read(spec, object, wanted, take),
        Format::NdJson => ndjson::read(object, wanted, take),
        Format::Parquet => parquet::read(object, wanted, take).map(|()| None),
    })
}

/// Columns of one file, as the file itself has them.
pub(crate) fn columns(spec: &SourceSpec, object: &Object) -> Result<Vec<Column>, SourceError> {
    if !spec.columns.is_empty() {
        return Ok(spec.columns.clone());
    }
    guarded(object.path(), || match &spec.format {
        Format::Csv { .. } => {
            let names = csv::header(spec, object)?;
            Ok(names.into_iter().map(|name| (name, ColumnType::Text)).collect())
        }
        Format::NdJson => Err(SourceError::new(
            SourceErrorKind::Declaration,
            &spec.path,
            "NDJSON needs its columns declared",
        )
        .help(format!("list them under `columns:` of source `{}`", spec.name))),
        Format::Parquet => parquet::columns(object),
    })
}

/// Decoders of hostile bytes may panic: that ends here, as an error that names the file.
fn guarded<T>(path: &str, work: impl FnOnce() -> Result<T, SourceError>) -> Result<T, SourceError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = format!("the decoder panicked: {}", said(panic.as_ref()));
        Err(SourceError::new(SourceErrorKind::Internal, path, message).help(AGAIN))
    })
}

/// What somebody said who panicked.
pub(crate) fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
}
