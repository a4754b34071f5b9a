//! Parquet files that a commit reads: position deletes, rows of folded tables, and what their footers say of buckets.

use std::path::PathBuf;

use oncemore_commit::from_disk;
use tempfile::TempDir;

thread_local! {
    static FOLDER: TempDir = TempDir::new().unwrap();
}

/// Reads the bytes as a delete file and as a file of rows.
///
/// # Panics
/// Where there is no room for a temporary file.
pub fn run(bytes: &[u8]) {
    let path: PathBuf = FOLDER.with(|folder| folder.path().join("rows.parquet"));
    std::fs::write(&path, bytes).unwrap();
    from_disk::parquet(&path);
}
