//! Tables that are a function of a stored change log: one row a key, the greatest of its changes.
//!
//! The log is an ordinary table of slices, with their fences and stamps; its metadata says what is folded from it. The
//! state has no fence of its own. Whatever is published into the log takes the state with it, in the same transaction;
//! only keys whose changes differ between the old slice and the new one are folded again. Each stored row carries the
//! start of the slice that it came from, so that a change that beats it, or loses to it, never asks the log: the log
//! is read only for keys whose row came from the replaced slice and fell or vanished. A key whose greatest change is
//! a deletion is kept in a table beside the state.
//!
//! A history is the same with one change a key and date, all of which are kept beside it: the stretches of time of a key
//! are made of these again when one of them differs.
//!
//! Rows are kept in buckets by the hash of their key. What `order` and `decide` hold is pure; `store` is the way to
//! files; when the result becomes visible is `publish`'s.

mod aside;
mod decide;
pub(crate) mod index;
mod order;
mod pick;
mod reduce;
mod reduced;
mod sort;
pub(crate) mod store;
#[cfg(test)]
mod tests;
mod tied;
mod validity;

use arrow::datatypes::Schema;
use oncemore_core::{Digest, Digester, SEMANTICS, TableName};
use serde::{Deserialize, Serialize};

pub(crate) use decide::{Change, Settled, contest, differing, in_buckets, only, settle, starts, winners};
pub(crate) use order::{Keys, Order};
pub use reduce::Reducer;
pub use reduced::Reduced;
pub(crate) use reduced::{Found, Portion, Winners};
pub(crate) use tied::Ties;
pub use tied::{OnTie, Tied};
pub(crate) use validity::stretches;
pub use validity::{IS_CURRENT, Starts, VALID_FROM, VALID_TO, Validity};

use crate::error::Result;
use crate::slice_map::SliceMap;

/// Marks a change as a deletion, in the log alone.
pub const DELETED: &str = "_deleted";

/// Rows that a bucket holds before it is halved.
pub const BUCKET_ROWS: u64 = 256 << 10;
/// Of 100 rows of a bucket, those that may change before it is written anew.
pub const REWRITE_SHARE: u64 = 25;

fn rewrite_share() -> u64 {
    REWRITE_SHARE
}

/// What is folded from a log, and how. Kept in the log's metadata.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoldSpec {
    /// The table of the rows that are there.
    pub state: TableName,
    /// The table beside it: of keys whose last change is a deletion, none where changes delete nothing; of a history,
    /// of the changes that count.
    pub beside: Option<TableName>,
    /// Columns that identify a row. NULL is a value like any other.
    pub key: Vec<String>,
    /// Columns by which changes of a key are ordered, NULL the lowest; of equals a deletion wins, then what is greatest
    /// by the remaining columns.
    pub order: Vec<String>,
    /// Rows that a bucket holds before it is halved.
    pub bucket_rows: u64,
    /// How many of 100 rows of a bucket may change before it is written anew; how many of 100 rows of a table may be
    /// deleted, or lie over its buckets, before these are.
    #[serde(default = "rewrite_share")]
    pub rewrite_share: u64,
    /// Of a history: how changes become stretches of time.
    pub validity: Option<Validity>,
}

impl FoldSpec {
    /// The tables that are folded from the log.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &TableName> {
        std::iter::once(&self.state).chain(&self.beside)
    }

    /// Columns of which one change each counts.
    pub(crate) fn identity(&self) -> Vec<String> {
        let date = self.validity.as_ref().map(|validity| validity.date().to_owned());
        self.key.iter().cloned().chain(date.filter(|date| !self.key.contains(date))).collect()
    }

    /// Columns that tell the rows of the state apart.
    pub(crate) fn state_key(&self) -> Vec<String> {
        let from = self.validity.as_ref().map(|_| VALID_FROM.to_owned());
        self.key.iter().cloned().chain(from).collect()
    }

    /// Columns of which one change each counts within a slice.
    pub fn reduced_by(&self) -> Vec<String> {
        let date = self.validity.as_ref().and_then(|validity| validity.at.clone());
        self.key.iter().cloned().chain(date.filter(|date| !self.key.contains(date))).collect()
    }

    /// Columns and key of each table that is folded from changes with the columns `user`, or as they are stored
    /// `changes`.
    pub(crate) fn shapes<'a>(
        &'a self,
        user: &Schema,
        changes: &Schema,
    ) -> Result<Vec<(&'a TableName, Schema, Vec<String>)>> {
        let beside = if self.validity.is_some() { changes } else { user };
        let state = match &self.validity {
            Some(validity) => validity.columns(user)?,
            None => user.clone(),
        };
        let mut shapes = vec![(&self.state, state, self.state_key())];
        shapes.extend(self.beside.as_ref().map(|table| (table, beside.clone(), self.key.clone())));
        Ok(shapes)
    }
}

/// What a log holds: equal for equal rows in equal slices, whoever wrote them and when. The sums of tables that are folded
/// from it go on from what they were: of other hashes, they are folded from nothing.
pub(crate) fn log_digest(map: &SliceMap) -> Digest {
    let mut digester = Digester::new("log").field("semantics", SEMANTICS.to_le_bytes());
    for stamp in map.entries().filter_map(|entry| entry.stamp.as_ref()) {
        digester = digester
            .field("start", stamp.interval.start().0.to_le_bytes())
            .field("rows", stamp.fingerprint.to_bytes());
    }
    digester.finish()
}
