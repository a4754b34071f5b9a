//! The engine as a whole, on small tables in memory.
#![allow(clippy::unwrap_used, reason = "a test that fails is what unwrap is for")]
#![allow(clippy::disallowed_methods, reason = "SEED and ROUNDS replay a random test")]

mod checked;
mod determinism;
mod lookups;
mod parameters;
mod previous;
mod reads;
mod support;
mod thin;
mod upstream;
