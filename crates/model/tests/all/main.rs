//! The protocol's model, searched exhaustively: as it is it holds, with any mistake built in it does not.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod flaws;
mod holds;
mod search;
