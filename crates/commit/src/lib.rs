//! Owns how a slice becomes visible: row hashes, staged files, Iceberg metadata, slice maps, fences, catalog and
//! ledger. Knows no query engine, no project, no clock: time and ids come in through `World`.

mod apart;
#[doc(hidden)]
pub mod border;
mod catalog;
mod codec;
mod disk;
mod error;
mod fold;
mod foreign;
#[doc(hidden)]
pub mod from_disk;
mod gc;
mod head;
mod history;
pub mod ledger;
mod metadata;
mod parallel;
mod positions;
mod publish;
mod rebuilt;
mod recover;
mod room;
pub mod rows;
mod shape;
mod slice_map;
pub mod stage;
mod state;
pub mod types;
mod warehouse;

pub use apart::{Apart, RowsOf};
pub use catalog::{CATALOG, FILE as CATALOG_FILE};
pub use error::CommitError;
pub use fold::{
    BUCKET_ROWS, DELETED, FoldSpec, IS_CURRENT, OnTie, REWRITE_SHARE, Reduced, Reducer, Starts, Tied,
    VALID_FROM, VALID_TO, Validity,
};
pub use foreign::Foreign;
pub use gc::Cleaned;
pub use head::{DataFileRef, TableHead};
pub use ledger::{
    Attempt, AttemptEnd, AttemptRow, AttemptState, Broken, Claim, ClaimRequest, Claimed, Life, Pace,
};
pub use metadata::schema::{CODE_VERSION, INTERVAL_START};
pub use oncemore_core::fault::{Faults, Step, When};
pub use publish::{Change, Publish, Published, StampDraft};
pub use rebuilt::Swapped;
pub use recover::{Rebuilt, Resolved, process_name};
pub use room::Room;
pub use rows::{HashedRows, RowHasher, RowsError, RowsPrint, schema_digest};
pub use stage::{Audited, SliceWriter, Staged};
pub use warehouse::Warehouse;
