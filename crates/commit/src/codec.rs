//! A compact byte format for slice maps: variable-length integers, and each string or digest stored once a page.

use std::collections::HashMap;

use oncemore_core::Digest;

use crate::error::{CommitError, Result};

/// Writes values, interning repeated byte strings.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    bytes: Vec<u8>,
    table: Vec<Vec<u8>>,
    known: HashMap<Vec<u8>, u64>,
}

impl Encoder {
    pub(crate) fn number(&mut self, value: u64) {
        varint(&mut self.bytes, value);
    }

    pub(crate) fn signed(&mut self, value: i64) {
        self.number(((value << 1) ^ (value >> 63)) as u64);
    }

    pub(crate) fn wide(&mut self, value: u128) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn shared(&mut self, value: &[u8]) {
        let next = self.table.len() as u64;
        let place = *self.known.entry(value.to_vec()).or_insert(next);
        if place == next {
            self.table.push(value.to_vec());
        }
        self.number(place);
    }

    pub(crate) fn text(&mut self, value: &str) {
        self.bytes_of(value.as_bytes());
    }

    fn bytes_of(&mut self, value: &[u8]) {
        self.number(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    /// The table of shared values, then everything else.
    pub(crate) fn finish(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.bytes.len() + 64 * self.table.len());
        varint(&mut out, self.table.len() as u64);
        for value in &self.table {
            varint(&mut out, value.len() as u64);
            out.extend_from_slice(value);
        }
        out.extend_from_slice(&self.bytes);
        out
    }
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads what an [`Encoder`] wrote; never panics, whatever the bytes.
#[derive(Debug)]
pub(crate) struct Decoder<'a> {
    bytes: &'a [u8],
    table: Vec<&'a [u8]>,
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self> {
        let mut decoder = Decoder { bytes, table: Vec::new() };
        let count = decoder.count()?;
        for _ in 0..count {
            let length = decoder.count()?;
            let value = decoder.take(length)?;
            decoder.table.push(value);
        }
        Ok(decoder)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) =
            self.bytes.split_at_checked(length).ok_or_else(|| damaged("it ends too early"))?;
        self.bytes = rest;
        Ok(taken)
    }

    pub(crate) fn number(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(damaged("a number is too long"))
    }

    /// A number of things that follow, each at least one byte long.
    pub(crate) fn count(&mut self) -> Result<usize> {
        let count = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if count > self.bytes.len() { Err(damaged("a count exceeds the file")) } else { Ok(count) }
    }

    /// Whether everything is read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn signed(&mut self) -> Result<i64> {
        let value = self.number()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    pub(crate) fn wide(&mut self) -> Result<u128> {
        let bytes = self.take(16)?;
        Ok(u128::from_le_bytes(bytes.try_into().map_err(|_| damaged("a wide number"))?))
    }

    pub(crate) fn shared(&mut self) -> Result<&'a [u8]> {
        let place = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        self.table.get(place).copied().ok_or_else(|| damaged("a reference leads nowhere"))
    }

    pub(crate) fn shared_text(&mut self) -> Result<String> {
        text(self.shared()?)
    }

    pub(crate) fn digest(&mut self) -> Result<Digest> {
        Ok(Digest(self.shared()?.try_into().map_err(|_| damaged("a digest is not 32 bytes"))?))
    }

    pub(crate) fn text(&mut self) -> Result<String> {
        let length = self.count()?;
        text(self.take(length)?)
    }
}

fn text(bytes: &[u8]) -> Result<String> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| damaged("a text is not UTF-8"))
}

fn damaged(detail: &str) -> CommitError {
    CommitError::corrupt("slice map", detail)
}
