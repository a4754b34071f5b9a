//! What rules see: statements with their writes, and answers about columns, keys, scopes and roles.
//!
//! [`Knowledge`] is gathered once over all files; a [`View`] answers for one statement.

mod bounds;
mod context;
mod index;
mod keys;
mod knowledge;
mod roles;
mod scope;
mod view;

pub use bounds::{Bound, Edge, EdgeKind, column_within, render};
pub use context::{Effect, Replaced, SelfRead, StatementContext};
pub use index::ScriptIndex;
pub use keys::{Answer, constant, equal, is_aggregate};
pub use knowledge::{Knowledge, TableFacts};
pub use roles::{Occurrence, Role, is_audit_name, is_hash};
pub use scope::{Instant, Range, RangeEnd, Scope, date_seconds, duration, has_param, instant, params_of};
pub use view::{ColumnSource, Origin, Output, OutputValue, Outputs, View};
