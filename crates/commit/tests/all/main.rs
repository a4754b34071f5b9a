//! The commit crate from outside: every test drives a warehouse in a temporary folder.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "a child process is told by its environment what to do")]

mod oracle;
mod support;

mod apart;
mod basics;
mod beside;
mod claims;
mod crash;
mod first_load;
mod folds;
mod foreign;
mod gc;
mod hostile;
mod limbo;
mod many;
mod points;
mod rebuilt;
mod recover;
mod shape;
mod ties;
