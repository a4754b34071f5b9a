//! The whole way of a run, in this process: `load → plan → render → compute → stage → audit → publish`.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod laws;
mod scene;
