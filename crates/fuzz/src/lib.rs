//! What each fuzz target does with its bytes: reads them as we read what others hand us, and asserts what must hold of
//! the result. Dev only; knows no fuzzer, so that plain tests replay the same.
//!
//! A target is a file here, a row in [`TARGETS`], and three lines in `fuzz/fuzz_targets` and `fuzz/Cargo.toml`.
#![expect(clippy::unwrap_used, reason = "a target tells what it found by panicking")]

pub mod interval;
#[cfg(feature = "commit")]
pub mod ledger;
pub mod lint_comments;
pub mod lint_dbt;
pub mod lint_sql;
#[cfg(feature = "commit")]
pub mod metadata;
#[cfg(feature = "commit")]
pub mod parquet;
pub mod project;
#[cfg(feature = "commit")]
pub mod slice_map;
#[cfg(feature = "commit")]
pub mod table;

mod lint;

/// What a target does with an input.
pub type Body = fn(&[u8]);

/// All targets by name: that of the binary and of the folder of its corpus.
pub const TARGETS: &[(&str, Body)] = &[
    ("interval", interval::run),
    #[cfg(feature = "commit")]
    ("ledger", ledger::run),
    ("lint_comments", lint_comments::run),
    ("lint_dbt", lint_dbt::run),
    ("lint_sql", lint_sql::run),
    #[cfg(feature = "commit")]
    ("metadata", metadata::run),
    #[cfg(feature = "commit")]
    ("parquet", parquet::run),
    ("project", project::run),
    #[cfg(feature = "commit")]
    ("slice_map", slice_map::run),
    #[cfg(feature = "commit")]
    ("table", table::run),
];
