//! Sources, tables and audits against real files and the real engine.
#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod bad_input;
mod delivery;
mod names;
mod pages;
mod prints;
mod support;
mod tables;
mod text;
mod zones;
