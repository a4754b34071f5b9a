//! The commit crate from outside: every test drives a warehouse in a temporary folder.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

mod basics;
mod crash;
mod foreign;
mod many;
mod shape;
