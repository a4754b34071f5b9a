//! NDJSON: one object a line. Declared columns by name, unknown fields ignored, absent ones NULL.
//!
//! Values go through text, so that the same parsers as for CSV decide what fits a type: 1.5 is no INTEGER
//! here either. A batch that fails is decoded again line by line, to find the line at fault.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, RecordBatchOptions, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::json::ReaderBuilder;
use oncemore_core::Digest;

use super::bytes::{Content, broken, show_line};
use super::error::{SourceError, SourceErrorKind};
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
            let texts = self.texts(lines, columns)?;
            for ((name, kind), texts) in columns.iter().zip(texts.columns()) {
                let texts: &StringArray = texts.as_string();
                let parsed = parse_column(*kind, rows, texts.iter());
                arrays.push(parsed.map_err(|bad| self.bad(lines, name, bad))?);
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(schema(columns), arrays, &options).map_err(|error| {
            SourceError::new(SourceErrorKind::Internal, self.object.path(), error.to_string())
        })
    }

    /// Every column as text.
    fn texts(&self, lines: &Lines, columns: &[Column]) -> Result<RecordBatch, SourceError> {
        let fields = columns.iter().map(|(name, _)| Field::new(name, DataType::Utf8, true));
        let texts: SchemaRef = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let rows = lines.numbers.len();
        match decode(&texts, &lines.text, rows) {
            Ok(batch) if batch.num_rows() == rows => return Ok(batch),
            _ => {}
        }
        let mut from = 0;
        for (end, number) in lines.ends.iter().zip(&lines.numbers) {
            let line = &lines.text[from..*end];
            from = *end;
            if std::str::from_utf8(line).is_err() {
                return Err(self.malformed(*number, "invalid UTF-8".to_owned()));
            }
            match decode(&texts, line, 2) {
                Ok(batch) if batch.num_rows() == 1 => {}
                Ok(_) => return Err(self.malformed(*number, "more than one value in the line".to_owned())),
                Err(why) => {
                    return Err(self.malformed(*number, format!("no JSON object of these columns: {why}")));
                }
            }
        }
        Err(SourceError::new(SourceErrorKind::Malformed, self.object.path(), "not one JSON object a line"))
    }

    fn bad(&self, lines: &Lines, name: &str, bad: BadValue) -> SourceError {
        let mut error = self.malformed(lines.numbers[bad.row], format!("{}, in field `{name}`", bad.message));
        error.help = bad.help.map(str::to_owned);
        error
    }

    fn malformed(&self, line: u64, message: String) -> SourceError {
        let mut error =
            SourceError::new(SourceErrorKind::Malformed, self.object.path(), message).at_line(line);
        error.shown = show_line(self.object, line);
        error
    }
}

fn decode(schema: &SchemaRef, text: &[u8], rows: usize) -> Result<RecordBatch, String> {
    let plain = |error: arrow::error::ArrowError| {
        let text = error.to_string();
        text.strip_prefix("Json error: ").unwrap_or(&text).to_owned()
    };
    let mut decoder = ReaderBuilder::new(Arc::clone(schema))
        .with_batch_size(rows)
        .with_coerce_primitive(true)
        .build_decoder()
        .map_err(plain)?;
    let read = decoder.decode(text).map_err(plain)?;
    if decoder.has_partial_record() {
        return Err("the object does not end in its line".to_owned());
    }
    if !text[read..].trim_ascii().is_empty() {
        return Err("more objects than lines".to_owned());
    }
    decoder.flush().map_err(plain)?.ok_or_else(|| "no object".to_owned())
}
