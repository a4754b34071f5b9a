//! The commit crate from outside: every law of a target, crashes, other writers, many writers.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
//! The commit crate from outside: every test drives a warehouse in a temporary folder.

mod support;

mod basics;
mod crash;
mod foreign;
mod many;
mod shape;
