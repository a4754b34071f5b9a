//! CSV by the names in its header: order is free, every declared column must be there, every row has as many
//! fields.
//!
//! Built on `csv-core` rather than on a typed reader, because an error must name line and column, NULL has
//! several spellings, and nothing may be rounded to fit.

use std::io::Read;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use csv_core::ReadRecordResult;
use oncemore_core::{Digest, Format, SourceSpec};

use super::bytes::{Content, SHOWN_CHARS, broken, show_line};
use super::error::{SourceError, SourceErrorKind, nearest};
use super::quotes::Quotes;
use super::read::{BATCH_ROWS, Rows, Take, Wanted};
use super::store::Object;
use super::types::{BadValue, arrow_type, parse_column, schema};

/// Longest record, in bytes: a quote that never closes must not swallow the memory.
const MAX_RECORD: usize = 64 << 20;
/// Most columns.
const MAX_COLUMNS: usize = 65_536;
/// Bytes of records that close a batch before it has all its rows.
const BATCH_BYTES: usize = 8 << 20;

struct Dialect<'a> {
    header: bool,
    delimiter: u8,
    null: &'a [String],
}

impl Dialect<'_> {
    fn of(spec: &SourceSpec) -> Result<Dialect<'_>, SourceError> {
        match &spec.format {
            Format::Csv { header, delimiter, null } if delimiter.is_ascii() => {
                Ok(Dialect { header: *header, delimiter: *delimiter as u8, null })
            }
            _ => Err(SourceError::new(
                SourceErrorKind::Declaration,
                &spec.path,
                "the delimiter must be one ASCII character",
            )),
        }
    }
}

/// Names in the header of one file.
pub(crate) fn header(spec: &SourceSpec, object: &Object) -> Result<Vec<String>, SourceError> {
    let dialect = Dialect::of(spec)?;
    if !dialect.header {
        return Err(SourceError::new(
            SourceErrorKind::Declaration,
            &spec.path,
            "a CSV without a header needs its columns declared",
        )
        .help(format!("list them, in the file's order, under `columns:` of source `{}`", spec.name)));
    }
    Records::new(object, &dialect)?.header()
}

/// Reads one file to its end, or until `take` has enough.
pub(crate) fn read(
    spec: &SourceSpec,
    object: &Object,
    wanted: &Wanted<'_>,
    take: Take<'_>,
) -> Result<Option<Digest>, SourceError> {
    let dialect = Dialect::of(spec)?;
    let mut records = Records::new(object, &dialect)?;
    let names = if dialect.header {
        records.header()?
    } else {
        spec.columns.iter().map(|(name, _)| name.clone()).collect()
    };
    for (name, _) in wanted.required {
        if !names.contains(name) {
            return Err(lacking(object, name, &names));
        }
    }
    let places: Vec<Option<usize>> =
        wanted.columns.iter().map(|(name, _)| names.iter().position(|own| own == name)).collect();
    let fields = names.len();
    let mut before = 0;
    loop {
        let more = records.fill(fields)?;
        if !records.lines.is_empty() {
            let batch = records.batch(&names, wanted, &places)?;
            let lines = std::mem::take(&mut records.lines);
            let rows = lines.len() as u64;
            if take(Rows { batch, lines: Some(lines), before })?.is_break() {
                return Ok(None);
            }
            before += rows;
        }
        if !more {
            return records.content.digest(object.path()).map(Some);
        }
    }
}

fn lacking(object: &Object, name: &str, names: &[String]) -> SourceError {
    let mut error = SourceError::new(
        SourceErrorKind::Malformed,
        object.path(),
        format!("the header lacks column `{name}`, which is declared"),
    )
    .at_line(1);
    error.shown = show_line(object, 1);
    error.help = Some(match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "deliver the column, or take it out of `columns:`".to_owned(),
    });
    error
}

/// Records of one file, gathered by the batch.
struct Records<'a> {
    content: Content,
    reader: csv_core::Reader,
    null: &'a [String],
    delimiter: u8,
    object: &'a Object,
    input: Vec<u8>,
    at: usize,
    filled: usize,
    finished: bool,
    /// Whether the input is the line break that is put behind the last byte: it ends a row, or shows an open quote.
    at_end: bool,
    quotes: Quotes,
    /// Byte of the input that stands behind a closing quote.
    stray: Option<usize>,
    /// Newlines consumed so far.
    newlines: u64,
    /// Unquoted bytes of the batch's fields, one after another.
    data: Vec<u8>,
    used: usize,
    /// End of each field in `data`.
    ends: Vec<usize>,
    /// Line of each record.
    lines: Vec<u64>,
}

impl<'a> Records<'a> {
    fn new(object: &'a Object, dialect: &Dialect<'a>) -> Result<Self, SourceError> {
        Ok(Records {
            content: Content::of(object)?,
            reader: csv_core::ReaderBuilder::new().delimiter(dialect.delimiter).build(),
            null: dialect.null,
            delimiter: dialect.delimiter,
            object,
            input: vec![0; 256 * 1024],
            at: 0,
            filled: 0,
            finished: false,
            at_end: false,
            quotes: Quotes::new(dialect.delimiter),
            stray: None,
            newlines: 0,
            data: vec![0; 64 * 1024],
            used: 0,
            ends: Vec::new(),
            lines: Vec::new(),
        })
    }

    fn header(&mut self) -> Result<Vec<String>, SourceError> {
        let mut scratch = vec![0; 1_024];
        let Some(fields) = self.record(&mut scratch)? else {
            return Err(SourceError::new(
                SourceErrorKind::Malformed,
                self.object.path(),
                "the file is empty: no header",
            )
            .help("a delivery without rows still has its header line"));
        };
        if fields > scratch.len() {
            let message = format!("the header has more than {MAX_COLUMNS} columns");
            return Err(SourceError::new(SourceErrorKind::Malformed, self.object.path(), message));
        }
        let mut names: Vec<String> = Vec::with_capacity(fields);
        let mut from = 0;
        for (field, end) in scratch[..fields].iter().enumerate() {
            let bytes = &self.data[from..*end];
            from = *end;
            let Ok(name) = std::str::from_utf8(bytes) else {
                return Err(self.place(1, field, "invalid UTF-8 in the header".to_owned()));
            };
            let name = name.trim();
            if names.iter().any(|other| other == name) {
                return Err(self.place(1, field, format!("the header names column `{name}` twice")));
            }
            names.push(name.to_owned());
        }
        self.used = 0;
        self.lines.clear();
        Ok(names)
    }

    /// Gathers records until a batch is full; whether there may be more.
    fn fill(&mut self, fields: usize) -> Result<bool, SourceError> {
        self.used = 0;
        self.ends.clear();
        self.lines.clear();
        let mut scratch = vec![0; fields + 1];
        while self.lines.len() < BATCH_ROWS && self.used < BATCH_BYTES {
            let start = self.used;
            let Some(found) = self.record(&mut scratch)? else { return Ok(false) };
            if found != fields {
                let line = self.lines.last().copied().unwrap_or(1);
                let message = if found > fields {
                    format!("the row has more than the {} expected", counted(fields))
                } else {
                    format!("the row has {}, {fields} expected", counted(found))
                };
                let mut error = self.place(line, found.min(fields), message);
                error.column = None;
                return Err(error);
            }
            self.ends.extend(scratch[..fields].iter().map(|end| start + end));
        }
        Ok(true)
    }

    /// Appends one record to `data`; the number of its fields, one more than `ends` can hold at most, or
    /// `None` at the end. `ends` are relative to the record's start.
    fn record(&mut self, ends: &mut Vec<usize>) -> Result<Option<usize>, SourceError> {
        let start = self.used;
        let mut fields = 0;
        let mut line = None;
        loop {
            while self.at == self.filled && !self.finished {
                self.refill()?;
            }
            let (result, read, written, ended) = self.reader.read_record(
                &self.input[self.at..self.filled],
                &mut self.data[self.used..],
                &mut ends[fields..],
            );
            if !self.at_end {
                self.count_lines(read, &mut line);
            }
            self.at += read;
            if let Some(stray) = self.stray.filter(|stray| *stray < self.at) {
                return Err(self.behind_quote(stray, line));
            }
            self.used += written;
            fields += ended;
            match result {
                ReadRecordResult::Record => {
                    self.lines.push(line.unwrap_or(self.newlines + 1));
                    return Ok(Some(fields));
                }
                ReadRecordResult::End => return Ok(None),
                ReadRecordResult::InputEmpty if self.at_end && written > 0 => {
                    let message =
                        "a quote of this row is never closed: the file ends inside of it".to_owned();
                    let mut error = self.place(line.unwrap_or(self.newlines + 1), fields, message);
                    error.column = None;
                    return Err(error.help("close it, or deliver the file again if it was cut off"));
                }
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if self.used - start > MAX_RECORD => {
                    let line = line.unwrap_or(self.newlines + 1);
                    let message = "the row is longer than 64 MiB: a quote that is never closed?".to_owned();
                    return Err(self.place(line, 0, message));
                }
                ReadRecordResult::OutputFull => {
                    let larger = self.data.len() * 2;
                    self.data.resize(larger, 0);
                }
                ReadRecordResult::OutputEndsFull if fields < MAX_COLUMNS && self.newlines == 0 => {
                    let larger = ends.len() * 2;
                    ends.resize(larger, 0);
                }
                ReadRecordResult::OutputEndsFull => {
                    self.lines.push(line.unwrap_or(self.newlines + 1));
                    return Ok(Some(fields + 1));
                }
            }
        }
    }

    fn refill(&mut self) -> Result<(), SourceError> {
        let first = self.filled == 0;
        self.at = 0;
        self.filled = loop {
            match self.content.read(&mut self.input) {
                Ok(read) => break read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(broken(self.object.path(), self.newlines + 1, &error)),
            }
        };
        if self.filled == 0 && !std::mem::replace(&mut self.at_end, true) {
            self.input[0] = b'\n';
            self.filled = 1;
            return Ok(());
        }
        self.finished = self.filled == 0;
        if first && self.input[..self.filled].starts_with(b"\xef\xbb\xbf") {
            self.at = 3;
        }
        self.stray = self.quotes.stray(&self.input[self.at..self.filled]).map(|stray| self.at + stray);
        Ok(())
    }

    /// Text that stands behind a closing quote: `"a"b`. What the field is to be, nobody can know.
    fn behind_quote(&self, stray: usize, row: Option<u64>) -> SourceError {
        let line = self.newlines + 1 - newlines(&self.input[stray..self.at]);
        let message = "text stands behind a closing quote".to_owned();
        let mut error =
            SourceError::new(SourceErrorKind::Malformed, self.object.path(), message).at_line(line);
        error.shown = show_line(self.object, line);
        let before = &self.input[..stray];
        // Without one, the line began in an earlier block, or is the first.
        let newline = before.iter().rposition(|byte| *byte == b'\n');
        let column =
            newline.map(|newline| String::from_utf8_lossy(&before[newline + 1..]).chars().count() + 1);
        error.column = column.filter(|column| *column <= SHOWN_CHARS);
        let twice = "a quote within quotes is written twice, `\"\"`";
        error.help(match row {
            Some(row) if row < line => {
                format!("{twice}; or a quote of the row that begins in line {row} is never closed")
            }
            _ => twice.to_owned(),
        })
    }

    fn count_lines(&mut self, read: usize, line: &mut Option<u64>) {
        let mut consumed = &self.input[self.at..self.at + read];
        if line.is_none() {
            let blank = consumed.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            self.newlines += newlines(&consumed[..blank]);
            consumed = &consumed[blank..];
            if !consumed.is_empty() {
                *line = Some(self.newlines + 1);
            }
        }
        self.newlines += newlines(consumed);
    }

    fn batch(
        &self,
        names: &[String],
        wanted: &Wanted<'_>,
        places: &[Option<usize>],
    ) -> Result<RecordBatch, SourceError> {
        let rows = self.lines.len();
        let fields = names.len();
        let Ok(text) = std::str::from_utf8(&self.data[..self.used]) else {
            return Err(self.not_utf8(fields));
        };
        let field = |row: usize, place: usize| {
            let index = row * fields + place;
            let from = if index == 0 { 0 } else { self.ends[index - 1] };
            text.get(from..self.ends[index])
        };
        // Two broken halves may join into one valid character; they don't in their own fields.
        if (0..rows * fields).any(|index| !text.is_char_boundary(self.ends[index])) {
            return Err(self.not_utf8(fields));
        }
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(places.len());
        for (place, (name, kind)) in places.iter().zip(wanted.columns) {
            let Some(place) = *place else {
                arrays.push(new_null_array(&arrow_type(*kind), rows));
                continue;
            };
            let values = (0..rows).map(|row| field(row, place).filter(|text| !self.is_null(text)));
            arrays.push(parse_column(*kind, rows, values).map_err(|bad| self.bad(name, place, bad))?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(schema(wanted.columns), arrays, &options).map_err(|error| {
            SourceError::new(SourceErrorKind::Internal, self.object.path(), error.to_string())
        })
    }

    fn is_null(&self, text: &str) -> bool {
        self.null.iter().any(|spelling| spelling == text)
    }

    fn not_utf8(&self, fields: usize) -> SourceError {
        let mut from = 0;
        for (index, end) in self.ends.iter().enumerate() {
            if std::str::from_utf8(&self.data[from..*end]).is_err() {
                let line = self.lines[index / fields];
                return self
                    .place(line, index % fields, "invalid UTF-8".to_owned())
                    .help("deliver the file in UTF-8; it may be Latin-1 or Windows-1252");
            }
            from = *end;
        }
        SourceError::new(SourceErrorKind::Malformed, self.object.path(), "invalid UTF-8")
    }

    fn bad(&self, name: &str, place: usize, bad: BadValue) -> SourceError {
        let mut error =
            self.place(self.lines[bad.row], place, format!("{}, in column `{name}`", bad.message));
        error.help = bad.help.map(str::to_owned);
        error
    }

    /// An error at a field, with the line shown.
    fn place(&self, line: u64, field: usize, message: String) -> SourceError {
        let mut error =
            SourceError::new(SourceErrorKind::Malformed, self.object.path(), message).at_line(line);
        error.shown = show_line(self.object, line);
        error.column =
            error.shown.as_deref().and_then(|shown| column_of(shown, field, self.delimiter as char));
        error
    }
}

fn counted(fields: usize) -> String {
    format!("{fields} field{}", if fields == 1 { "" } else { "s" })
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// The character, from 1, at which a field of a shown line starts; `None` where the line is cut before it.
fn column_of(line: &str, field: usize, delimiter: char) -> Option<usize> {
    let (mut seen, mut quoted) = (0, false);
    for (at, c) in line.chars().enumerate() {
        if seen == field {
            return Some(at + 1);
        }
        match c {
            '"' => quoted = !quoted,
            c if c == delimiter && !quoted => seen += 1,
            _ => {}
        }
    }
    (seen == field).then(|| line.chars().count().max(1))
}
