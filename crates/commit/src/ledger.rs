//! The ledger: requests, attempts, when code was first seen, and what others cache. An index, never the truth: that
//! is in the tables.

mod attempt;
mod cache;

pub use attempt::{Attempt, AttemptEnd, AttemptRow, AttemptState, Pace};
pub(crate) use attempt::{finish, raise};
pub use cache::Cached;
