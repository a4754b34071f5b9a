//! Fingerprints of rows as a multiset: equal for equal rows in any order, file layout or batch split.
//!
//! Here is the arithmetic; hashing of Arrow values is `oncemore_commit::rows`.

use serde::{Deserialize, Serialize};

use crate::version::{Digest, Digester};

/// Two independent 128-bit hashes a row, each summed modulo 2^128 over all rows, with the number of rows.
///
/// A sum, never XOR: with XOR two equal rows would cancel out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Number of rows.
    pub rows: u64,
    /// Sum of the first hash.
    #[serde(with = "hex")]
    pub first: u128,
    /// Sum of the second hash.
    #[serde(with = "hex")]
    pub second: u128,
}

impl Fingerprint {
    /// Adds one row.
    pub fn add_row(&mut self, first: u128, second: u128) {
        self.rows += 1;
        self.first = self.first.wrapping_add(first);
        self.second = self.second.wrapping_add(second);
    }

    /// The fingerprint of both multisets together.
    #[must_use]
    pub fn union(self, other: Fingerprint) -> Fingerprint {
        Fingerprint {
            rows: self.rows + other.rows,
            first: self.first.wrapping_add(other.first),
            second: self.second.wrapping_add(other.second),
        }
    }

    /// The fingerprint of what is left without `other`, which is part of it.
    #[must_use]
    pub fn without(self, other: Fingerprint) -> Fingerprint {
        Fingerprint {
            rows: self.rows.saturating_sub(other.rows),
            first: self.first.wrapping_sub(other.first),
            second: self.second.wrapping_sub(other.second),
        }
    }

    /// Bytes for a [`Digester`] field.
    pub fn to_bytes(self) -> [u8; 40] {
        let mut bytes = [0; 40];
        bytes[..8].copy_from_slice(&self.rows.to_le_bytes());
        bytes[8..24].copy_from_slice(&self.first.to_le_bytes());
        bytes[24..].copy_from_slice(&self.second.to_le_bytes());
        bytes
    }

    /// Sixteen hex digits for people.
    pub fn short(&self) -> String {
        format!("{:016x}", (self.first ^ self.second.rotate_left(64)) as u64)
    }
}

/// The fingerprint of one column, tied to the rows by their key: the sum of `hash(key, value)`.
///
/// Where the key is unique, equal prints of the key columns and of a column mean that the pairs
/// (key, value) are equal, so equal prints of all columns that a reader uses mean that it sees equal
/// rows. Without a key no such tie exists and a column's print is the whole row's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnPrint {
    /// Column name.
    pub name: String,
    /// Sum of the tied hashes, modulo 2^128.
    #[serde(with = "hex")]
    pub print: u128,
}

/// The version of a table's content as a reader of `columns` sees it: digest over the prints of those columns.
pub fn columns_version(
    fingerprint: Fingerprint,
    prints: &[ColumnPrint],
    columns: Option<&[String]>,
) -> Digest {
    let whole = || Digester::new("rows").field("all", fingerprint.to_bytes()).finish();
    let Some(columns) = columns else { return whole() };
    let mut digester = Digester::new("columns").field("rows", fingerprint.rows.to_le_bytes());
    for column in columns {
        // A column without a print of its own (no key, or written before it existed): the whole row speaks for it.
        let Some(found) = prints.iter().find(|print| print.name == *column) else { return whole() };
        digester = digester.field(column, found.print.to_le_bytes());
    }
    digester.finish()
}

mod hex {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(value: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&format!("{value:032x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
        let text = String::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16).map_err(D::Error::custom)
    }
}
