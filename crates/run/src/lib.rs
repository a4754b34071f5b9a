//! Plans and runs a project: which slices need work and why, and the way of each from its query to its publish.
//!
//! `load → plan → render → compute → stage → audit → publish`, one direction. This crate owns the order of things;
//! it knows no SQL dialect, no file format and no terminal.

pub mod accept;
pub mod assess;
pub mod audits;
mod confine;
pub mod diff;
pub mod due;
pub mod error;
pub mod execute;
pub mod explain;
pub mod facts;
mod fold;
pub mod ground;
pub mod inputs;
mod kept;
pub mod limit;
pub mod lint;
pub mod number;
pub mod plan;
pub mod query;
pub mod rebuild;
pub mod select;
pub mod spare;
pub mod status;
mod supply;
mod task;
pub mod workspace;

pub use error::{ErrorKind, RunError};
pub use execute::{
    ClaimOptions, EndedEarly, Event, Observer, RunOptions, RunReport, Stop, TaskFailure, TaskTies, run,
};
pub use fold::{Ties, ties_of};
pub use plan::{Hold, Plan, PlanOptions, Reason, Task, plan};
pub use select::{RangeRequest, Selection};
pub use workspace::{Ports, Workspace, WorkspaceOptions};
