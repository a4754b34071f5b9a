//! The ledger: requests, attempts, claims, when code was first seen, and what others cache. An index, never the truth: that
//! is in the tables.

mod attempt;
mod cache;
pub(crate) mod claim;

pub use attempt::{Attempt, AttemptEnd, AttemptRow, AttemptState, Pace};
pub(crate) use attempt::{finish, raise};
pub use cache::Cached;
pub use claim::{Broken, Claim, ClaimRequest, Claimed, Life};
