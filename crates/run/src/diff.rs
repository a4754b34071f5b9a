//! Two versions of a slice side by side: rows gone, new and changed, key by key. Data only; see `workspace`.

use serde::Serialize;

/// How a key's row differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Only in the older version.
    Gone,
    /// Only in the newer version.
    New,
    /// In both, with differing values.
    Changed,
}

/// One differing row.
#[derive(Clone, Debug, Serialize)]
pub struct DiffRow {
    /// How it differs.
    pub change: Change,
    /// Values of the key (of all columns, where the table has no key), as text.
    pub key: Vec<Option<String>>,
    /// Differing columns: name, older value, newer value.
    pub columns: Vec<(String, Option<String>, Option<String>)>,
}

/// The difference of two versions of a range of slices.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Diff {
    /// Table.
    pub model: String,
    /// What is compared, for people: `snapshot 17 (2013-05-01) against the head`.
    pub versions: (String, String),
    /// Key columns.
    pub key: Vec<String>,
    /// Rows only in the older version.
    pub gone: u64,
    /// Rows only in the newer version.
    pub new: u64,
    /// Keys with differing values.
    pub changed: u64,
    /// Rows that are equal in both.
    pub same: u64,
    /// Differing rows by interval label: gone, new, changed.
    pub by_interval: Vec<(String, u64, u64, u64)>,
    /// The first differing rows, ordered by key, at most the limit asked for.
    pub rows: Vec<DiffRow>,
}
