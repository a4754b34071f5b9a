//! What a failure left behind: every error around a publish says which of the three it is.

use serde::{Deserialize, Serialize};

/// The state of a slice after an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SliceState {
    /// Readers see what they saw before the attempt.
    Unchanged,
    /// The attempt's rows are visible.
    Published,
    /// The answer of the commit was lost; the attempt's token decides, `resolve` finds it.
    Unknown,
}

impl std::fmt::Display for SliceState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            SliceState::Unchanged => "slice unchanged",
            SliceState::Published => "slice published",
            SliceState::Unknown => "outcome unknown",
        })
    }
}
