//! The engine that computes slices: Apache DataFusion made deterministic, and what feeds it.
//!
//! Knows SQL, Arrow and Parquet. Must not know projects, plans or how a run is scheduled.

pub mod audit;
pub mod changes;
pub mod engine;
pub mod error;
pub mod source;
pub mod table;

pub use error::EngineError;
