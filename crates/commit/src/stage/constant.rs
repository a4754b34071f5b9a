//! A column that has one value in all rows of a row group, as what says where rows came from has: one entry of a
//! dictionary and one run of it. Encoders look each value up: of a first load with four such columns among eight, that
//! was a tenth of all processor time. Knows no table.

use arrow::array::{Array, AsArray, PrimitiveArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Int32Type, Int64Type, TimeUnit, TimestampMicrosecondType,
};
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, EncodingMask, PageType};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::file::metadata::{ColumnChunkMetaData, OffsetIndexBuilder, PageEncodingStats};
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::internal;
use crate::error::Result;

/// Longer text is left to the encoder, which may cut what it says of it.
const MOST_BYTES: usize = 64;

/// The value of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Int(i32),
    Long(i64),
    Text(Vec<u8>),
}

impl Value {
    /// The value that all of some rows have, of which there is one at least. `None`: they differ, one is NULL, or the type
    /// is one of those that are seldom of one value.
    pub(super) fn of(column: &dyn Array) -> Option<Value> {
        if column.is_empty() || column.null_count() > 0 {
            return None;
        }
        match column.data_type() {
            DataType::Int32 => Some(Value::Int(only::<Int32Type>(column.as_primitive())?)),
            DataType::Date32 => Some(Value::Int(only::<Date32Type>(column.as_primitive())?)),
            DataType::Int64 => Some(Value::Long(only::<Int64Type>(column.as_primitive())?)),
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                Some(Value::Long(only::<TimestampMicrosecondType>(column.as_primitive())?))
            }
            DataType::Utf8 => {
                let column = column.as_string::<i32>();
                let first = column.value(0).as_bytes();
                let offsets = column.value_offsets();
                let alike = offsets.windows(2).all(|pair| (pair[1] - pair[0]) as usize == first.len());
                if first.len() > MOST_BYTES || !alike {
                    return None;
                }
                let from = usize::try_from(offsets[0]).ok()?;
                let all = column.value_data().get(from..from + column.len() * first.len())?;
                // All bytes are those that one value earlier were.
                (all[first.len()..] == all[..all.len() - first.len()]).then(|| Value::Text(first.to_vec()))
            }
            _ => None,
        }
    }

    /// As a dictionary has it.
    fn plain(&self) -> Vec<u8> {
        match self {
            Value::Int(value) => value.to_le_bytes().to_vec(),
            Value::Long(value) => value.to_le_bytes().to_vec(),
            Value::Text(bytes) => [&(bytes.len() as u32).to_le_bytes(), bytes.as_slice()].concat(),
        }
    }

    /// What an encoder says of values, all of which are this one.
    fn statistics(&self, column: &ColumnDescPtr) -> Statistics {
        let signed = column.sort_order().is_signed();
        match self {
            Value::Int(value) => {
                let statistics = ValueStatistics::new(Some(*value), Some(*value), None, Some(0), false);
                Statistics::Int32(statistics.with_backwards_compatible_min_max(signed))
            }
            Value::Long(value) => {
                let statistics = ValueStatistics::new(Some(*value), Some(*value), None, Some(0), false);
                Statistics::Int64(statistics.with_backwards_compatible_min_max(signed))
            }
            Value::Text(bytes) => {
                let value = || Some(ByteArray::from(bytes.clone()));
                let statistics = ValueStatistics::new(value(), value(), None, Some(0), signed);
                Statistics::ByteArray(statistics.with_min_is_exact(true).with_max_is_exact(true))
            }
        }
    }

    /// A chunk of a flat column with this value in so many rows, and what the footer says of it, in places from the
    /// chunk's own beginning.
    pub(super) fn chunk(&self, column: &ColumnDescPtr, rows: usize) -> Result<(Bytes, ColumnCloseResult)> {
        let mut sink = TrackedWrite::new(Vec::new());
        let mut pages = SerializedPageWriter::new(&mut sink);
        let entry = self.plain();
        let length = entry.len();
        let entry = Page::DictionaryPage {
            buf: entry.into(),
            num_values: 1,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        let entry = pages.write_page(CompressedPage::new(entry, length)).map_err(internal)?;
        let run = run(rows, column.max_def_level() > 0);
        let run_length = run.len();
        let run = Page::DataPage {
            buf: run.into(),
            num_values: u32::try_from(rows).map_err(internal)?,
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let run = pages.write_page(CompressedPage::new(run, run_length)).map_err(internal)?;
        pages.close().map_err(internal)?;
        let (length, count) =
            (i64::try_from(sink.bytes_written()).map_err(internal)?, i64::try_from(rows).map_err(internal)?);
        let offset = |page: u64| i64::try_from(page).map_err(internal);
        let used = |page_type, encoding| PageEncodingStats { page_type, encoding, count: 1 };
        let metadata = ColumnChunkMetaData::builder(column.clone())
            .set_compression(Compression::UNCOMPRESSED)
            .set_encodings_mask(EncodingMask::new_from_encodings(
                [Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY].iter(),
            ))
            .set_page_encoding_stats(vec![
                used(PageType::DICTIONARY_PAGE, Encoding::PLAIN),
                used(PageType::DATA_PAGE, Encoding::RLE_DICTIONARY),
            ])
            .set_total_compressed_size(length)
            .set_total_uncompressed_size(length)
            .set_num_values(count)
            .set_dictionary_page_offset(Some(offset(entry.offset)?))
            .set_data_page_offset(offset(run.offset)?)
            .set_statistics(self.statistics(column))
            .build()
            .map_err(internal)?;
        let mut places = OffsetIndexBuilder::new();
        places.append_row_count(count);
        places.append_offset_and_size(
            offset(run.offset)?,
            i32::try_from(run.compressed_size).map_err(internal)?,
        );
        let close = ColumnCloseResult {
            bytes_written: length.unsigned_abs(),
            rows_written: rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: Some(places.build()),
        };
        Ok((sink.into_inner().map_err(internal)?.into(), close))
    }
}

/// The value of all rows of a column without NULL.
fn only<T: ArrowPrimitiveType>(column: &PrimitiveArray<T>) -> Option<T::Native> {
    let values = column.values();
    (values[1..] == values[..values.len() - 1]).then(|| values[0])
}

/// The body of a data page whose rows all have the first entry of the dictionary. Source: the RLE hybrid of Parquet's
/// `Encodings.md`.
fn run(rows: usize, nullable: bool) -> Vec<u8> {
    let mut head = Vec::new();
    let mut left = rows << 1; // a run, not groups of packed values
    while left >= 0x80 {
        head.push(left as u8 | 0x80);
        left >>= 7;
    }
    head.push(left as u8);
    let mut body = Vec::new();
    if nullable {
        // Each is there.
        body.extend((head.len() as u32 + 1).to_le_bytes());
        body.extend(&head);
        body.push(1);
    }
    // Of a dictionary of one entry, a place takes no bits.
    body.push(0);
    body.extend(head);
    body
}
