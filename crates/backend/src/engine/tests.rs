//! The engine as a whole, on small tables in memory.
#![allow(clippy::unwrap_used, reason = "a test that fails is what unwrap is for")]

mod support;
mod thin;
