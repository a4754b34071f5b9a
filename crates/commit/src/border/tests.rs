//! Files that claim what can't be: each is an error, none is decoded.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::*;
use crate::disk::Disk;
use crate::error::CommitError;
use crate::fold::store::{Ask, Lookup, Reader, Unit};

/// A list of more numbers than any file holds, and one of booleans, whose values a decoder does not skip.
const LIST: [u8; 7] = [0x99, 0xf7, 0xff, 0xff, 0xff, 0xff, 0x07];
const BOOLEANS: [u8; 7] = [0x99, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07];

/// A file of some pages, with its index.
fn file() -> Vec<u8> {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..50_000));
    let rows = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
    bytes
}

/// Rows that come out of a file.
fn read(bytes: Vec<u8>, wanted: bool) -> Result<usize, String> {
    let file = Bytes::from(bytes);
    let metadata = metadata(&file, wanted)?;
    let pages = Pages::new(file, &metadata);
    assert_eq!(pages.whole, wanted);
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(pages, metadata).build();
    let batches = reader.map_err(|error| error.to_string())?;
    batches.map(|batch| batch.map(|batch| batch.num_rows()).map_err(|error| error.to_string())).sum()
}

/// The footer, put behind the file without its own.
fn with_footer(mut bytes: Vec<u8>, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let tail = bytes.split_off(bytes.len() - 8);
    let length = u32::from_le_bytes(tail[..4].try_into().unwrap());
    let mut footer = bytes.split_off(bytes.len() - length as usize);
    change(&mut footer);
    bytes.extend(&footer);
    bytes.extend((footer.len() as u32).to_le_bytes());
    bytes.extend(b"PAR1");
    bytes
}

#[test]
fn what_writers_write_is_read() {
    for wanted in [false, true] {
        assert_eq!(read(file(), wanted), Ok(50_000));
        assert_eq!(read(with_footer(file(), |_| {}), wanted), Ok(50_000));
    }
}

#[test]
fn lists_in_headers_of_pages_have_an_end() {
    for list in [LIST, BOOLEANS] {
        for wanted in [false, true] {
            let mut bytes = file();
            bytes[4..11].copy_from_slice(&list);
            let why = read(bytes, wanted).unwrap_err();
            assert!(why.contains("a list claims more elements than there are bytes"), "{why}");
        }
    }
}

#[test]
fn lists_in_footers_have_an_end() {
    for (list, said) in [
        (&LIST[..], "a list claims more elements than there are bytes"),
        (&BOOLEANS[..], "a list claims more elements than there are bytes"),
        (&[0x99, 0x12, 0x19, 0x10][..], "it holds a list of booleans"),
    ] {
        let bytes = with_footer(file(), |footer| {
            footer.pop();
            footer.extend(list);
            footer.extend([0; 8]);
        });
        let why = read(bytes, false).unwrap_err();
        assert!(why.starts_with("broken footer: ") && why.contains(said), "{why}");
    }
}

#[test]
fn an_index_of_pages_lies_in_its_file() {
    let bytes = file();
    let metadata = metadata(&Bytes::from(bytes.clone()), false).unwrap();
    let chunk = metadata.metadata().row_group(0).column(0);
    let at = usize::try_from(chunk.offset_index_offset().unwrap()).unwrap();
    let mut listed = bytes.clone();
    listed[at..at + 7].copy_from_slice(&LIST);
    let why = read(listed, true).unwrap_err();
    assert!(why.contains("broken index of pages: a list claims"), "{why}");
}

/// The file, whose footer claims other numbers of rows than 50,000 at the first places where it does.
fn claiming(rows: u64, places: usize) -> Vec<u8> {
    let varint = |mut value: u64| {
        let mut bytes = Vec::new();
        while value > 0x7f {
            bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        bytes.push(value as u8);
        bytes
    };
    let (from, to) = (varint(2 * 50_000), varint(2 * rows));
    with_footer(file(), |footer| {
        let mut at = 0;
        for _ in 0..places {
            let Some(found) = footer[at..].windows(from.len()).position(|bytes| bytes == from) else { break };
            footer.splice(at + found..at + found + from.len(), to.iter().copied());
            at += found + to.len();
        }
    })
}

#[test]
fn rows_are_as_many_as_a_file_can_hold() {
    assert_eq!(read(claiming(50_000, 9), false), Ok(50_000));
    let why = read(claiming(40_000, 1), false).unwrap_err();
    assert_eq!(why, "broken footer: 40000 rows claimed, 50000 in the row groups");
    let why = read(claiming(50_000_000_000, 9), false).unwrap_err();
    assert!(why.starts_with("broken footer: 50000000000 rows in "), "{why}");
    let why = read(claiming(1 << 50, 9), false).unwrap_err();
    assert!(why.contains("column `n` has 1125899906842624 values"), "{why}");
}

/// Those of a folded table are known by their places: none may be missing.
#[test]
fn a_file_has_the_rows_that_it_claims() {
    let (folder, disk, table) = (tempfile::tempdir().unwrap(), Disk::new(None), "a.b".parse().unwrap());
    let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, true)]));
    let reader = Reader { disk: &disk, table: &table, schema: schema.clone(), deleted: false, start: None };
    let by = Lookup::new(&schema, &["n".to_owned()]).unwrap();
    let rows = |name: &str, bytes: Vec<u8>| {
        let path = folder.path().join(name);
        let size = bytes.len() as u64;
        disk.persist(&[(path.clone(), bytes)], &[]).unwrap();
        reader.find((&path, size), &by, Ask::Part(Unit::ALL), &[])
    };
    assert_eq!(rows("whole.parquet", file()).unwrap().1.len(), 50_000);
    let error = rows("more.parquet", claiming(60_000, 9)).unwrap_err();
    assert!(matches!(&error, CommitError::Corrupt { what, .. } if what.ends_with("more.parquet")), "{error}");
}

#[test]
fn a_file_that_is_cut_off_has_no_footer() {
    for length in [0, 3, 7, 8, 20, 1_000] {
        let mut bytes = file();
        bytes.truncate(length);
        assert!(read(bytes, false).unwrap_err().starts_with("no Parquet: "), "{length}");
    }
    let mut bytes = file();
    let at = bytes.len() - 8;
    bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(read(bytes, false).unwrap_err(), "broken footer: it is longer than the file");
}
