//! The nouns of Oncemore: intervals, slices, versions, fingerprints, stamps and what is said about them.
//!
//! Everything here is a value. This crate does no IO, knows no Arrow, no SQL and no table format; time,
//! randomness and ids come in as values (see [`world`]).

pub mod audit;
pub mod calendar;
pub mod capability;
pub mod column;
pub mod diagnostic;
pub mod fault;
pub mod fingerprint;
pub mod interval;
pub mod name;
pub mod outcome;
pub mod read;
pub mod set;
pub mod source;
pub mod stamp;
pub mod version;
pub mod world;
pub mod zone;

pub use audit::{Audit, AuditFailure};
pub use calendar::{Calendar, IntervalLength};
pub use column::{ColumnType, TimeType};
pub use diagnostic::{Diagnostic, Location, Severity};
pub use fingerprint::{ColumnPrint, Fingerprint};
pub use interval::{Instant, Interval};
pub use name::{CHANGES, COUNTING, DELETED_KEYS, NameError, REBUILD, TableName};
pub use outcome::SliceState;
pub use read::{Bound, ColumnsRead, Edge, Offset, Read, previous_of};
pub use set::IntervalSet;
pub use source::{CompleteWhen, Format, Missing, SourceSpec};
pub use stamp::{AttemptId, Epoch, Origin, Pin, Stamp};
pub use version::{CodeVersion, Digest, Digester, SEMANTICS};
pub use world::World;
pub use zone::Zone;
