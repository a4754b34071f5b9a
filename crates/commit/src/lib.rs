//! Owns how a slice becomes visible: row hashes, staged files, Iceberg metadata, slice maps, fences, catalog and
//! ledger. Knows no query engine, no project, no clock: time and ids come in through `World`.

pub mod rows;
pub mod types;
