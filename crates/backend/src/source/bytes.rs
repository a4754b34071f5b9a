//! Bytes of one object: hashed as they are read, unpacked where the name says gzip. Knows nothing of rows.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::bufread::MultiGzDecoder;
use oncemore_core::Digest;
use sha2::{Digest as _, Sha256};

use super::error::{AGAIN, SourceError, SourceErrorKind};
use super::store::{Object, ObjectReader};

/// Read from the operating system at once.
const BLOCK: usize = 256 * 1024;
/// Characters of a line that are shown.
pub(crate) const SHOWN_CHARS: usize = 160;

/// A file's content as a stream, with the digest of the raw bytes at its end.
pub(crate) struct Content {
    stream: Box<dyn Read + Send>,
    raw: Arc<Mutex<Raw>>,
}

struct Raw {
    reader: ObjectReader,
    hash: Sha256,
}

/// Shares the raw file with [`Content`], so that what a decoder left unread is hashed as well.
struct Hashing(Arc<Mutex<Raw>>);

impl Read for Hashing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let raw = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let read = raw.reader.read(buffer)?;
        raw.hash.update(&buffer[..read]);
        Ok(read)
    }
}

impl Content {
    /// The content of `object` from its start.
    pub(crate) fn of(object: &Object) -> Result<Content, SourceError> {
        let path = object.path();
        let raw = Arc::new(Mutex::new(Raw { reader: object.reader(0), hash: Sha256::new() }));
        let mut plain = BufReader::with_capacity(BLOCK, Hashing(Arc::clone(&raw)));
        let stream: Box<dyn Read + Send> = if is_gzip(path) {
            // An empty file holds no member at all; a decoder would call it cut off.
            let start = plain.fill_buf().map_err(|error| SourceError::io(path, "can't read", &error))?;
            match start {
                [] => Box::new(plain),
                [0x1f, 0x8b, ..] | [0x1f] => Box::new(MultiGzDecoder::new(plain)),
                _ => return Err(not_gzip(path)),
            }
        } else {
            Box::new(plain)
        };
        Ok(Content { stream, raw })
    }

    /// The digest of all raw bytes; to be asked at the end of the stream.
    pub(crate) fn digest(self, path: &str) -> Result<Digest, SourceError> {
        let raw = &mut *self.raw.lock().unwrap_or_else(PoisonError::into_inner);
        io::copy(&mut raw.reader, &mut raw.hash)
            .map_err(|error| SourceError::io(path, "can't read", &error))?;
        Ok(Digest(std::mem::take(&mut raw.hash).finalize().into()))
    }
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }
}

/// The digest of an object's bytes, in one sequential read.
pub(crate) fn digest(object: &Object) -> Result<Digest, SourceError> {
    let mut hash = Sha256::new();
    let mut reader = object.reader(0);
    let mut block = vec![0; BLOCK];
    loop {
        let read = reader.read(&mut block);
        match read.map_err(|error| SourceError::io(object.path(), "can't read", &error))? {
            0 => return Ok(Digest(hash.finalize().into())),
            read => hash.update(&block[..read]),
        }
    }
}

pub(crate) fn is_gzip(path: &str) -> bool {
    path.to_ascii_lowercase().ends_with(".gz")
}

fn not_gzip(path: &str) -> SourceError {
    SourceError::new(SourceErrorKind::Malformed, path, "no gzip data, which the name promises")
        .help("compress the file, or deliver it without `.gz` in its name")
}

/// A failed read of text, told apart: broken gzip is the sender's, the rest the machine's.
pub(crate) fn broken(path: &str, line: u64, error: &io::Error) -> SourceError {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    if is_gzip(path) && matches!(error.kind(), UnexpectedEof | InvalidData | InvalidInput) {
        let what = match error.kind() {
            UnexpectedEof => "gzip data is cut off",
            _ => "gzip data is corrupt",
        };
        let message = format!("{what} after line {}", line.saturating_sub(1));
        return SourceError::new(SourceErrorKind::Malformed, path, message).help(AGAIN);
    }
    SourceError::io(path, "can't read", error)
}

/// Line `wanted` of a text file, for showing: invalid UTF-8 replaced, shortened to [`SHOWN_CHARS`].
pub(crate) fn show_line(object: &Object, wanted: u64) -> Option<String> {
    let mut lines = BufReader::new(Content::of(object).ok()?);
    for _ in 1..wanted {
        lines.skip_until(b'\n').ok()?;
    }
    let mut line = Vec::new();
    lines.by_ref().take(4_096).read_until(b'\n', &mut line).ok()?;
    let text = String::from_utf8_lossy(&line);
    let text = text.trim_end_matches(['\n', '\r']);
    let text = if wanted == 1 { text.trim_start_matches('\u{feff}') } else { text };
    let mut shown: String =
        text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(SHOWN_CHARS).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    Some(shown)
}
