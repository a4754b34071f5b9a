//! Chores of the workspace as functions: what `cargo xtask` runs and what the tests hold the tree to.

pub mod docs;
pub mod tidy;

use std::path::{Path, PathBuf};

/// The workspace's folder.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
