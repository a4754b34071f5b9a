//! What is looked at in a Parquet file before its decoder believes it: a decoder reserves room for as many elements,
//! bytes and rows as a file claims to have, and goes through lists for as long as they claim to be.
//!
//! Owns which claims can't be. Knows no meaning of rows. Errors say what is wrong; who asks names the file.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::{ParquetError, Result as Decoded};
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};

pub mod thrift;

#[cfg(test)]
mod tests;

/// Most rows that a footer may claim.
const MAX_ROWS: i64 = 1 << 40;
/// Most rows for each byte of a file. Encoders make a thousand of a column that never changes.
const MAX_DENSITY: u64 = 1 << 14;
/// Most columns, nested ones by their leaves.
const MAX_COLUMNS: usize = 10_000;
/// Most bytes that a page may unpack to. Writers make pages of one megabyte, few of a hundred.
pub const MAX_PAGE: u64 = 256 << 20;
/// What a page's header is looked for in; larger where it does not end there.
const HEADER_WINDOWS: [u64; 3] = [4 << 10, 256 << 10, 16 << 20];

/// Refuses sizes that can't be, of a file of `size` bytes: they would be believed by a decoder's allocations.
///
/// # Errors
/// What the footer claims that can't be.
pub fn sane(metadata: &ParquetMetaData, size: u64) -> Result<(), String> {
    let leaves = metadata.file_metadata().schema_descr().num_columns();
    if leaves > MAX_COLUMNS {
        return Err(format!("{leaves} columns, {MAX_COLUMNS} are the most"));
    }
    let claimed = metadata.file_metadata().num_rows();
    let mut rows: i64 = 0;
    for group in metadata.row_groups() {
        if group.num_rows() < 0 {
            return Err(format!("a row group of {} rows", group.num_rows()));
        }
        rows = rows.saturating_add(group.num_rows());
        for chunk in group.columns() {
            let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
            let length = chunk.compressed_size();
            let end = start.checked_add(length);
            let inside = end.and_then(|end| u64::try_from(end).ok()).is_some_and(|end| end <= size);
            if start < 0 || length < 0 || !inside || chunk.uncompressed_size() < 0 {
                return Err(format!("column `{}` lies outside of the file", chunk.column_path().string()));
            }
            if chunk.num_values() < 0 || chunk.num_values() > MAX_ROWS {
                let (name, values) = (chunk.column_path().string(), chunk.num_values());
                return Err(format!("column `{name}` has {values} values"));
            }
        }
    }
    if rows != claimed || !(0..=MAX_ROWS).contains(&rows) {
        return Err(format!("{claimed} rows claimed, {rows} in the row groups"));
    }
    Ok(())
}

/// The header of the page at `at`, of a column with `left` bytes from there on.
///
/// # Errors
/// What is wrong with it, or with reading it.
pub fn page_header<T: ChunkReader>(file: &T, at: u64, left: u64) -> Result<thrift::Page, String> {
    window(file, at, left).map(|(page, _)| page)
}

/// The header of a page, and bytes that begin with it.
fn window<T: ChunkReader>(file: &T, at: u64, left: u64) -> Result<(thrift::Page, Vec<u8>), String> {
    let mut bytes = Vec::new();
    for window in HEADER_WINDOWS {
        bytes.clear();
        let reader = file.get_read(at).map_err(|error| io::Error::other(error.to_string()));
        reader
            .and_then(|reader| reader.take(window.min(left)).read_to_end(&mut bytes))
            .map_err(|error| error.to_string())?;
        match thrift::page(&bytes) {
            Err(_) if window < left && window < HEADER_WINDOWS[2] => {}
            read => return read.map(|page| (page, bytes)).map_err(str::to_owned),
        }
    }
    Err("its header does not end".to_owned())
}

/// The footer of a file of a table, and where its pages begin if that is `wanted`.
pub(crate) fn metadata<T: ChunkReader>(file: &T, wanted: bool) -> Result<ArrowReaderMetadata, String> {
    let size = file.len();
    let tail = size.checked_sub(8).ok_or("no Parquet: it is too short for a footer")?;
    let length = match *bytes_of(file, tail..size)? {
        [l0, l1, l2, l3, b'P', b'A', b'R', b'1'] => u32::from_le_bytes([l0, l1, l2, l3]),
        _ => return Err("no Parquet: it does not end in `PAR1`".to_owned()),
    };
    let broken = |why: &dyn std::fmt::Display| format!("broken footer: {why}");
    let from = tail.checked_sub(u64::from(length)).ok_or_else(|| broken(&"it is longer than the file"))?;
    thrift::check(&bytes_of(file, from..tail)?).map_err(|why| broken(&why))?;
    let found = ParquetMetaDataReader::new().parse_and_finish(file).map_err(|error| broken(&error))?;
    sane(&found, size).map_err(|why| broken(&why))?;
    let rows = found.file_metadata().num_rows().unsigned_abs();
    if rows > size.saturating_mul(MAX_DENSITY) {
        return Err(broken(&format!("{rows} rows in {size} bytes")));
    }
    let found = if wanted { with_pages(file, found)? } else { found };
    ArrowReaderMetadata::try_new(Arc::new(found), ArrowReaderOptions::new()).map_err(|error| broken(&error))
}

/// Reads where pages begin, if the file says so.
fn with_pages<T: ChunkReader>(file: &T, found: ParquetMetaData) -> Result<ParquetMetaData, String> {
    let broken = |why: &dyn std::fmt::Display| format!("broken index of pages: {why}");
    let mut ranges = Vec::new();
    for chunk in found.row_groups().iter().flat_map(|group| group.columns()) {
        if let (Some(from), Some(length)) = (chunk.offset_index_offset(), chunk.offset_index_length()) {
            let from = u64::try_from(from).map_err(|error| broken(&error))?;
            ranges.push(from..from.saturating_add(u64::from(length.unsigned_abs())));
        }
    }
    let from = ranges.iter().map(|range| range.start).min().unwrap_or(0);
    let to = ranges.iter().map(|range| range.end).max().unwrap_or(0);
    let bytes = bytes_of(file, from..to).map_err(|why| broken(&why))?;
    for range in ranges {
        // Both lie within the file, which is in memory here.
        let part = (range.start - from) as usize..(range.end - from) as usize;
        thrift::check(&bytes[part]).map_err(|why| broken(&why))?;
    }
    let mut reader =
        ParquetMetaDataReader::new_with_metadata(found).with_offset_index_policy(PageIndexPolicy::Optional);
    reader.read_page_indexes(file).and_then(|()| reader.finish()).map_err(|error| broken(&error))
}

fn bytes_of<T: ChunkReader>(file: &T, range: Range<u64>) -> Result<Bytes, String> {
    let size = file.len();
    if range.end > size {
        return Err(format!("bytes {} to {} of {size}", range.start, range.end));
    }
    let length = usize::try_from(range.end.saturating_sub(range.start)).map_err(|error| error.to_string())?;
    file.get_bytes(range.start, length).map_err(|error| error.to_string())
}

/// A file whose pages are looked at before they are decoded, and those alone that are.
#[derive(Debug)]
pub(crate) struct Pages<T> {
    file: Arc<T>,
    /// Pages are asked for whole, at the places that the file said; else each begins with a look at its header.
    whole: bool,
}

impl<T: ChunkReader> Pages<T> {
    /// Pages of a file with this footer.
    pub(crate) fn new(file: T, metadata: &ArrowReaderMetadata) -> Self {
        let index = metadata.metadata().offset_index();
        let whole = index.is_some_and(|groups| groups.iter().all(|group| !group.is_empty()));
        Pages { file: Arc::new(file), whole }
    }
}

impl<T: ChunkReader> Length for Pages<T> {
    fn len(&self) -> u64 {
        self.file.len()
    }
}

impl<T: ChunkReader> ChunkReader for Pages<T> {
    type T = Header<T>;

    fn get_read(&self, start: u64) -> Decoded<Header<T>> {
        Ok(Header { file: self.file.clone(), start, bytes: None })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Decoded<Bytes> {
        let damaged = ParquetError::General;
        let bytes = bytes_of(&*self.file, start..start.saturating_add(length as u64)).map_err(damaged)?;
        if self.whole {
            let page = thrift::page(&bytes).map_err(|why| why.to_owned());
            page.and_then(fitting).map_err(|why| damaged(format!("broken page: {why}")))?;
        }
        Ok(bytes)
    }
}

fn fitting(page: thrift::Page) -> Result<(), String> {
    if page.unpacked > page.packed.max(MAX_PAGE) {
        return Err(format!("{} bytes claim to unpack to {}", page.packed, page.unpacked));
    }
    Ok(())
}

/// The header of a page, looked at when it is read: there may be none, where a decoder has it already.
#[derive(Debug)]
pub(crate) struct Header<T> {
    file: Arc<T>,
    start: u64,
    bytes: Option<io::Cursor<Vec<u8>>>,
}

impl<T: ChunkReader> Read for Header<T> {
    /// Its end is an error: a decoder that skips does not see that there is nothing left.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let bytes = match &mut self.bytes {
            Some(bytes) => bytes,
            empty => {
                let left = self.file.len().saturating_sub(self.start);
                let found = window(&*self.file, self.start, left).and_then(|(page, bytes)| {
                    fitting(page)?;
                    Ok(bytes)
                });
                let damaged = |why| io::Error::new(io::ErrorKind::InvalidData, format!("broken page: {why}"));
                empty.insert(io::Cursor::new(found.map_err(damaged)?))
            }
        };
        match bytes.read(into)? {
            0 if !into.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            read => Ok(read),
        }
    }
}
