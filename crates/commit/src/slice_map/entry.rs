//! One slice in the map, and pages of them as bytes.

use oncemore_core::{AttemptId, ColumnPrint, Epoch, Fingerprint, Instant, Interval, Origin, Pin, Stamp};

use crate::codec::{Decoder, Encoder};
use crate::error::{CommitError, Result};

/// A slice: its fence, its stamp where something was published, its live files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) interval: Interval,
    pub(crate) fence: Epoch,
    pub(crate) stamp: Option<Stamp>,
    pub(crate) files: Vec<FileEntry>,
    /// What of the files is there no more: in slices of folded tables alone.
    pub(crate) deletes: Deletes,
}

/// Rows of live data files that are there no more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deletes {
    /// Position delete files.
    pub(crate) files: Vec<FileEntry>,
    /// How many rows of each data file they delete, in the order of these; empty where they delete none.
    pub(crate) dead: Vec<u64>,
}

impl Deletes {
    /// How many rows of the data file at `place` are deleted.
    pub(crate) fn of(&self, place: usize) -> u64 {
        self.dead.get(place).copied().unwrap_or(0)
    }
}

/// A live data file, or a delete file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileEntry {
    /// Path relative to the table's folder.
    pub(crate) name: String,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
}

impl Entry {
    pub(crate) fn empty(interval: Interval) -> Self {
        Entry {
            interval,
            fence: Epoch::default(),
            stamp: None,
            files: Vec::new(),
            deletes: Deletes::default(),
        }
    }
}

/// What follows the files of an entry.
const STAMP: u64 = 1;
const DELETES: u64 = 2;

pub(super) fn encode(entries: &[Entry]) -> Vec<u8> {
    let mut out = Encoder::default();
    out.number(entries.len() as u64);
    for entry in entries {
        out.signed(entry.interval.start().0);
        out.signed(entry.interval.end().0);
        epoch(&mut out, entry.fence);
        encode_files(&mut out, &entry.files);
        let has_deletes = !entry.deletes.files.is_empty();
        let has = |flag: bool, value: u64| if flag { value } else { 0 };
        out.number(has(entry.stamp.is_some(), STAMP) | has(has_deletes, DELETES));
        if let Some(stamp) = &entry.stamp {
            encode_stamp(&mut out, stamp);
        }
        if has_deletes {
            encode_files(&mut out, &entry.deletes.files);
            (0..entry.files.len()).for_each(|place| out.number(entry.deletes.of(place)));
        }
    }
    out.finish()
}

fn encode_files(out: &mut Encoder, files: &[FileEntry]) {
    out.number(files.len() as u64);
    for file in files {
        out.text(&file.name);
        out.number(file.rows);
        out.number(file.bytes);
    }
}

fn decode_files(input: &mut Decoder<'_>) -> Result<Vec<FileEntry>> {
    let count = input.count()?;
    let mut files = Vec::with_capacity(count);
    for _ in 0..count {
        files.push(FileEntry { name: input.text()?, rows: input.number()?, bytes: input.number()? });
    }
    Ok(files)
}

fn epoch(out: &mut Encoder, epoch: Epoch) {
    out.number(epoch.request);
    out.number(epoch.attempt);
}

fn encode_stamp(out: &mut Encoder, stamp: &Stamp) {
    for digest in [stamp.code, stamp.written_by, stamp.audits, stamp.schema] {
        out.shared(&digest.0);
    }
    out.number(stamp.inputs.len() as u64);
    for pin in &stamp.inputs {
        out.shared(pin.input.as_bytes());
        out.shared(&pin.version.0);
    }
    epoch(out, stamp.epoch);
    out.wide(stamp.attempt.0);
    out.number(stamp.fingerprint.rows);
    out.wide(stamp.fingerprint.first);
    out.wide(stamp.fingerprint.second);
    out.number(stamp.columns.len() as u64);
    for column in &stamp.columns {
        out.shared(column.name.as_bytes());
        out.wide(column.print);
    }
    out.number(stamp.bytes);
    for instant in [stamp.code_seen, stamp.changed_at, stamp.verified_at] {
        out.signed(instant.0);
    }
    out.shared(stamp.engine.as_bytes());
    match &stamp.origin {
        Origin::Computed => out.number(0),
        Origin::Accepted { because } => {
            out.number(1);
            out.shared(because.as_bytes());
        }
    }
}

pub(super) fn decode(page: &[u8]) -> Result<Vec<Entry>> {
    let mut input = Decoder::new(page)?;
    let count = input.count()?;
    let mut entries = Vec::with_capacity(count);
    for _ in 0..count {
        let (start, end) = (Instant(input.signed()?), Instant(input.signed()?));
        let interval = Interval::new(start, end)
            .ok_or_else(|| CommitError::corrupt("slice map", "an interval holds no instant"))?;
        let fence = decode_epoch(&mut input)?;
        let files = decode_files(&mut input)?;
        let has = input.number()?;
        if has & !(STAMP | DELETES) != 0 {
            return Err(CommitError::corrupt("slice map", "an entry holds what this version does not know"));
        }
        let stamp = if has & STAMP != 0 { Some(decode_stamp(&mut input, interval)?) } else { None };
        let mut deletes = Deletes::default();
        if has & DELETES != 0 {
            deletes.files = decode_files(&mut input)?;
            if deletes.files.is_empty() {
                return Err(CommitError::corrupt("slice map", "rows are deleted by no file"));
            }
            deletes.dead = files.iter().map(|_| input.number()).collect::<Result<_>>()?;
        }
        entries.push(Entry { interval, fence, stamp, files, deletes });
    }
    Ok(entries)
}

fn decode_epoch(input: &mut Decoder<'_>) -> Result<Epoch> {
    Ok(Epoch { request: input.number()?, attempt: input.number()? })
}

fn decode_stamp(input: &mut Decoder<'_>, interval: Interval) -> Result<Stamp> {
    let (code, written_by, audits, schema) =
        (input.digest()?, input.digest()?, input.digest()?, input.digest()?);
    let count = input.count()?;
    let mut inputs = Vec::with_capacity(count);
    for _ in 0..count {
        inputs.push(Pin { input: input.shared_text()?, version: input.digest()? });
    }
    let epoch = decode_epoch(input)?;
    let attempt = AttemptId(input.wide()?);
    let fingerprint = Fingerprint { rows: input.number()?, first: input.wide()?, second: input.wide()? };
    let count = input.count()?;
    let mut columns = Vec::with_capacity(count);
    for _ in 0..count {
        columns.push(ColumnPrint { name: input.shared_text()?, print: input.wide()? });
    }
    let bytes = input.number()?;
    let (code_seen, changed_at, verified_at) =
        (Instant(input.signed()?), Instant(input.signed()?), Instant(input.signed()?));
    let engine = input.shared_text()?;
    let origin = match input.number()? {
        0 => Origin::Computed,
        _ => Origin::Accepted { because: input.shared_text()? },
    };
    Ok(Stamp {
        interval,
        code,
        code_seen,
        written_by,
        inputs,
        audits,
        epoch,
        attempt,
        fingerprint,
        columns,
        schema,
        bytes,
        changed_at,
        verified_at,
        engine,
        origin,
    })
}
