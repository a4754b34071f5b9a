//! Sources: files that somebody else delivers, as a project declares them.

use serde::{Deserialize, Serialize};

use crate::calendar::IntervalLength;
use crate::column::ColumnType;

/// A source as declared; its name is what FROM uses, `raw.flights` say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceSpec {
    /// Name in FROM: `<schema>.<name>`.
    pub name: String,
    /// Path relative to the project's folder; may hold globs and `{interval:<strftime>}`.
    pub path: String,
    /// Format of every file.
    pub format: Format,
    /// Declared columns; those of a CSV without declared type are TEXT. Empty for Parquet: the file knows.
    pub columns: Vec<(String, ColumnType)>,
    /// Column that places a row in time.
    pub time: Option<String>,
    /// Key of a row, where there is one: lets a change in one column leave readers of others alone.
    pub key: Vec<String>,
    /// Zone of dates and wall times in `time` and in `{interval}`; a name of the IANA database.
    pub time_zone: String,
    /// Length of the interval that one path stands for, from the finest field in `{interval:…}`.
    pub path_interval: Option<IntervalLength>,
    /// What an interval without a file means.
    pub missing: Missing,
    /// When an interval counts as delivered.
    pub complete_when: Option<CompleteWhen>,
}

/// Format of a source's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "name")]
pub enum Format {
    /// Comma-separated text, plain or gzip by its name (`.gz`).
    Csv {
        /// Whether the first line names the columns; values then go by name.
        header: bool,
        /// One ASCII character.
        delimiter: char,
        /// Spellings of NULL, the empty field among them where listed.
        null: Vec<String>,
    },
    /// One JSON object a line, plain or gzip by its name.
    NdJson,
    /// Apache Parquet.
    Parquet,
}

/// What an interval without a file means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Not yet arrived: tasks wait.
    Wait,
    /// No rows.
    Empty,
    /// An error.
    Error,
}

/// When an interval of a source counts as delivered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompleteWhen {
    /// This file exists; `{interval:…}` is filled in.
    Marker(String),
    /// At least so many rows are there.
    Rows(u64),
    /// The source holds a row at or after the interval's end, moved back by so many microseconds.
    Watermark(i64),
}
