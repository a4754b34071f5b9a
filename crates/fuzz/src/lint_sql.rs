//! Any text as a script of SQL.
//!
//! The first line names a dialect; where it names none, all of the text is a script whose dialect lint finds out.

use oncemore_lint::{Config, Dialect};

use crate::lint::{check, input};

/// Lints the text as a script.
///
/// # Panics
/// Where a finding's place is not in the text.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let named = text.split_once('\n').and_then(|(name, rest)| Some((Dialect::named(name)?, rest)));
    let (dialect, text) = named.map_or((None, &*text), |(dialect, text)| (Some(dialect), text));
    check(&[input("load.sql", text, dialect)], &Config::default());
}
