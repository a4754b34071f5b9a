//! Text to project: `oncemore.yml` and `models/<schema>/<name>.sql` in, models in order of their graph out, each with
//! its code version, and everything that is wrong with them as diagnostics.
//!
//! Pure: no IO, no clock, no engine. [`load`] can't fail on IO because it does none; it never stops at the first error.
//! What a query's columns are and which range it reads is the engine's to say, not ours.

mod code;
mod decode;
mod graph;
mod keys;
pub mod lint;
mod load;
mod model;
mod names;
mod path;
mod places;
mod rebuild;
mod sql;
mod yaml;

#[cfg(test)]
mod tests;

pub use decode::parse_duration;
pub use keys::keys_markdown;
pub use lint::LintSettings;
pub use load::{LINT_FILE, PROJECT_FILE, lint_settings, load};
pub use model::{
    Fold, History, Kind, Limits, Loaded, Model, OnChange, OnForeign, Project, Query, Source, TextFile, Ties,
    Variable,
};
pub use names::nearest;
pub use places::Places;
pub use sql::check_depth;
