//! Stamps: who produced a slice, which code it is valid for, from what, and what it holds.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fingerprint::{ColumnPrint, Fingerprint, columns_version};
use crate::interval::{Instant, Interval};
use crate::version::{CodeVersion, Digest};

/// Order of requests: (request number, attempt counter). A fence compares epochs; the greater wins.
///
/// The request number is kept over retries, so that an old request that wakes up never beats a newer one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Epoch {
    /// Number of the request.
    pub request: u64,
    /// Counter of attempts, over all requests.
    pub attempt: u64,
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.request, self.attempt)
    }
}

/// Token of one attempt, known before anything is staged.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AttemptId(pub u128);

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AttemptId({self})")
    }
}

impl TryFrom<String> for AttemptId {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        u128::from_str_radix(&text, 16).map(AttemptId)
    }
}

impl From<AttemptId> for String {
    fn from(id: AttemptId) -> String {
        id.to_string()
    }
}

/// An input of a slice at the version that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// Table or source.
    pub input: String,
    /// Digest of the columns and the range that were read.
    pub version: Digest,
}

/// How a slice came to be valid for its code version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "how")]
pub enum Origin {
    /// A task computed it.
    Computed,
    /// Somebody vouched for it: kept under new code, or adopted from another writer.
    Accepted {
        /// The reason given.
        because: String,
    },
}

/// What is known of a slice, published in the same atomic step as its rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// The slice's interval; [`Interval::WHOLE`] for a `full` table.
    pub interval: Interval,
    /// The code that the rows are valid for.
    pub code: CodeVersion,
    /// When that code was first seen, so that older code can be told from newer.
    pub code_seen: Instant,
    /// The code that wrote the bytes; older than `code` after a cut-off or an acceptance.
    pub written_by: CodeVersion,
    /// Inputs at the versions that were read, by name.
    pub inputs: Vec<Pin>,
    /// Digest of the audits that passed.
    pub audits: Digest,
    /// Epoch of the request that the stamp comes from.
    pub epoch: Epoch,
    /// Token of the attempt.
    pub attempt: AttemptId,
    /// The rows, without the columns that are ours.
    pub fingerprint: Fingerprint,
    /// Prints by column, where the table has a key.
    pub columns: Vec<ColumnPrint>,
    /// Names and types of the user's columns when the rows were written.
    pub schema: Digest,
    /// Size of the data files, in bytes.
    pub bytes: u64,
    /// Last time the rows changed.
    pub changed_at: Instant,
    /// Last time they were found to be what the code gives.
    pub verified_at: Instant,
    /// Engine build that computed them.
    pub engine: String,
    /// Computed, or vouched for.
    pub origin: Origin,
}

impl Stamp {
    /// The version that a reader of `columns` sees (all columns where `None`).
    pub fn version_for(&self, columns: Option<&[String]>) -> Digest {
        columns_version(self.fingerprint, &self.columns, columns)
    }
}
