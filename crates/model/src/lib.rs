//! The commit protocol as a small executable model, to be searched exhaustively.
//!
//! Pure: a [`Config`] says who runs, what may go wrong and which [`Flaw`] is built in; [`Config::start`],
//! [`Config::actions`] and [`Config::next`] are the state machine, [`INVARIANTS`] what must hold in each state. There
//! is no lock and no clock in it: every lease counts as expired at every moment, every process as dead or alive as it
//! suits the case. Steps bear the names that DESIGN gives them. Knows none of the real code; the tests of that compare
//! themselves with [`step::STEPS`].

mod background;
mod config;
mod invariant;
mod runner;
mod state;
pub mod step;

pub use config::{Config, Flaw, Job};
pub use invariant::{GOALS, Goal, INVARIANTS, Invariant};
pub use state::{Act, State};
