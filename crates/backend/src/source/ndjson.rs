//! NDJSON: one object a line. Declared columns by name, unknown fields ignored, absent ones NULL.
//!
//! Values go through text, so that the same parsers as for CSV decide what fits a type: 1.5 is no INTEGER
//! here either.

use std::io::{BufRead, BufReader, Read};
use std::ops::Range;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use oncemore_core::Digest;

use super::bytes::{Content, SHOWN_CHARS, broken, show_line};
use super::error::{SourceError, SourceErrorKind};
use super::json::Objects;
use super::read::{BATCH_ROWS, Rows, Take, Wanted};
use super::store::Object;
use super::types::{BadValue, Column, parse_column, schema};

/// Longest line, in bytes.
const MAX_LINE: u64 = 64 << 20;
/// Bytes of lines that close a batch before it has all its rows.
const BATCH_BYTES: usize = 8 << 20;

/// Lines of a batch, joined, with the end and number of each.
#[derive(Default)]
struct Lines {
    text: Vec<u8>,
    ends: Vec<usize>,
    numbers: Vec<u64>,
}

impl Lines {
    /// The bytes of a line.
    fn range(&self, row: usize) -> Range<usize> {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[row]
    }

    /// The line in which a byte lies.
    fn row_of(&self, at: usize) -> usize {
        self.ends.partition_point(|end| *end <= at).min(self.ends.len() - 1)
    }
}

/// Reads one file to its end, or until `take` has enough.
pub(crate) fn read(
    object: &Object,
    wanted: &Wanted<'_>,
    take: Take<'_>,
) -> Result<Option<Digest>, SourceError> {
    let mut content = BufReader::new(Content::of(object)?);
    let file = File { object };
    let (mut number, mut before) = (0, 0);
    loop {
        let mut lines = Lines::default();
        let more = file.gather(&mut content, &mut lines, &mut number)?;
        if !lines.numbers.is_empty() {
            let batch = file.batch(&lines, wanted.columns)?;
            let rows = lines.numbers.len() as u64;
            if take(Rows { batch, lines: Some(lines.numbers), before })?.is_break() {
                return Ok(None);
            }
            before += rows;
        }
        if !more {
            return content.into_inner().digest(object.path()).map(Some);
        }
    }
}

struct File<'a> {
    object: &'a Object,
}

impl File<'_> {
    /// Gathers lines until a batch is full; whether there may be more.
    fn gather(
        &self,
        content: &mut impl BufRead,
        lines: &mut Lines,
        number: &mut u64,
    ) -> Result<bool, SourceError> {
        while lines.numbers.len() < BATCH_ROWS && lines.text.len() < BATCH_BYTES {
            let start = lines.text.len();
            let read = content
                .by_ref()
                .take(MAX_LINE)
                .read_until(b'\n', &mut lines.text)
                .map_err(|error| broken(self.object.path(), *number + 1, &error))?;
            if read == 0 {
                return Ok(false);
            }
            *number += 1;
            if read as u64 == MAX_LINE {
                return Err(self.malformed(*number, "the line is longer than 64 MiB".to_owned()));
            }
            if *number == 1 && lines.text.starts_with(b"\xef\xbb\xbf") {
                lines.text.drain(..3);
            }
            if lines.text[start..].trim_ascii().is_empty() {
                lines.text.truncate(start);
                continue;
            }
            lines.ends.push(lines.text.len());
            lines.numbers.push(*number);
        }
        Ok(true)
    }

    fn batch(&self, lines: &Lines, columns: &[Column]) -> Result<RecordBatch, SourceError> {
        let rows = lines.numbers.len();
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.len());
        if !columns.is_empty() {
            let objects = self.objects(lines, columns)?;
            for (place, (name, kind)) in columns.iter().enumerate() {
                let parsed = parse_column(*kind, rows, objects.field(place));
                arrays.push(parsed.map_err(|bad| self.bad(lines, &objects, (name, place), bad))?);
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(schema(columns), arrays, &options).map_err(|error| {
            SourceError::new(SourceErrorKind::Internal, self.object.path(), error.to_string())
        })
    }

    /// The object that each line is.
    fn objects<'a>(&self, lines: &'a Lines, columns: &'a [Column]) -> Result<Objects<'a>, SourceError> {
        let text = std::str::from_utf8(&lines.text).map_err(|error| {
            let row = lines.row_of(error.valid_up_to());
            self.malformed(lines.numbers[row], "invalid UTF-8".to_owned())
        })?;
        let mut objects = Objects::new(text, columns, lines.numbers.len());
        for row in 0..lines.numbers.len() {
            objects.add(lines.range(row)).map_err(|fault| {
                let mut error = self.malformed(lines.numbers[row], fault.message);
                error.help = fault.help.map(str::to_owned);
                error.column = column_of(text, lines.range(row).start, fault.at);
                error
            })?;
        }
        Ok(objects)
    }

    fn bad(
        &self,
        lines: &Lines,
        objects: &Objects<'_>,
        (name, place): (&str, usize),
        bad: BadValue,
    ) -> SourceError {
        let mut error = self.malformed(lines.numbers[bad.row], format!("{}, in field `{name}`", bad.message));
        error.help = bad.help.map(str::to_owned);
        error.column = objects
            .place(bad.row, place)
            .and_then(|at| column_of(objects.text(), lines.range(bad.row).start, at));
        error
    }

    fn malformed(&self, line: u64, message: String) -> SourceError {
        let mut error =
            SourceError::new(SourceErrorKind::Malformed, self.object.path(), message).at_line(line);
        error.shown = show_line(self.object, line);
        error
    }
}

/// The character of a line, from 1, at byte `at` of the text; `None` where the shown line is cut before it.
fn column_of(text: &str, start: usize, at: usize) -> Option<usize> {
    let before = text.get(start..at)?.chars().count();
    (before < SHOWN_CHARS).then_some(before + 1)
}
