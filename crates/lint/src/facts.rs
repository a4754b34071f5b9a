//! What rules see: statements with their writes, and answers about columns, keys, scopes and roles.
//!
//! [`Knowledge`] is gathered once over all files; a [`View`] answers for one statement.

mod alike;
mod context;
mod determine;
mod index;
mod instant;
mod keys;
mod knowledge;
mod roles;
mod scope;
mod stages;
mod view;

pub use alike::{column_within, constant, equal, is_aggregate, render};
pub use context::{Effect, Replaced, SelfRead, StatementContext};
pub use determine::Answer;
pub use index::ScriptIndex;
pub use instant::{Instant, date_seconds, duration, instant};
pub use knowledge::{Knowledge, TableFacts};
pub use roles::{Fate, Occurrence, Role, is_audit_name, is_hash};
pub use scope::{Range, RangeEnd, Scope, has_param, params_of};
pub(crate) use stages::Stages;
pub use view::{ColumnSource, Origin, Output, OutputValue, Outputs, View};
