//! Sources: files that others deliver, as an index of what they hold and as tables that a task reads.
//!
//! Owns the formats, the walk over folders, the port to their bytes and the fingerprints of cells. Knows no model, no ledger and no
//! table of ours; whether something is stale is decided elsewhere, from the index.

mod bytes;
mod cache;
pub(crate) mod cells;
mod csv;
mod discover;
mod error;
mod gather;
mod index;
mod json;
mod ndjson;
mod parquet;
mod pattern;
mod provider;
mod quotes;
mod read;
mod scan;
mod store;
mod types;

pub use cache::ProviderCache;
pub(crate) use error::nearest;
pub use error::{SourceError, SourceErrorKind};
pub use index::{BrokenFile, Cell, Delivery, GoneFile, SourceFile, SourceIndex};
pub use provider::{SourceTable, provider};
pub use scan::{look, scan};
pub use store::{Identity, Store};
pub(crate) use types::type_name;
pub use types::{arrow_type, column_type, time_type};
