//! Whole projects through the binary, as a person at a terminal would run them.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod bad_input;
mod cases;
mod chains;
mod claims;
mod crashes;
mod damage;
mod histories;
mod links;
mod lint;
mod lsp;
mod memory;
mod merges;
mod mistakes;
mod mixed;
mod project;
mod rebuild;
mod recovery;
mod repairs;
mod spared;
mod unreadable;
mod views;

use oncemore_testkit::numbers;
