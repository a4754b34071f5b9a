//! Rewrites that remove a finding, and which dialects have the words for them.

use crate::dialect::Dialect;
use crate::finding::{Fix, Safety};
use crate::functions::{Names, listed};

use super::prelude::*;

/// The operator between two sides of a comparison, if nothing else stands there.
pub(super) fn operator_between(file: &File<'_>, left: Span, right: Span, operator: &str) -> Option<Span> {
    if !left.is_somewhere() || !right.is_somewhere() || left.end > right.start {
        return None;
    }
    let between = Span { start: left.end, end: right.start };
    let text = between.of(&file.script.text);
    let start = between.start as usize + text.find(operator)?;
    (text.trim() == operator).then(|| Span::new(start, start + operator.len()))
}

/// An operator at the end of a place.
pub(super) fn ends_with(file: &File<'_>, place: Span, operator: &str) -> Option<Span> {
    let text = place.of(&file.script.text).trim_end();
    let start = place.start as usize + text.strip_suffix(operator)?.len();
    Some(Span::new(start, start + operator.len()))
}

/// An operator at the beginning of a place.
pub(super) fn starts_with(file: &File<'_>, place: Span, operator: &str) -> Option<Span> {
    let text = place.of(&file.script.text);
    let rest = text.trim_start();
    let start = place.start as usize + text.len() - rest.len();
    rest.starts_with(operator).then(|| Span::new(start, start + operator.len()))
}

/// Whether a text that is to be written anew holds a comment, which would be lost.
pub(super) fn has_comment(file: &File<'_>, span: Span) -> bool {
    file.script.lexed.comments.iter().any(|comment| span.contains(*comment))
}

/// The comparison that finds NULL equal to NULL.
pub(super) fn null_safe(dialect: Dialect) -> Option<&'static str> {
    match dialect {
        Dialect::Postgres
        | Dialect::Snowflake
        | Dialect::BigQuery
        | Dialect::DuckDb
        | Dialect::Trino
        | Dialect::Ansi => Some("IS NOT DISTINCT FROM"),
        Dialect::Spark | Dialect::MySql => Some("<=>"),
        // SQL Server has it since 2022 only.
        Dialect::Redshift | Dialect::TSql | Dialect::ClickHouse | Dialect::Oracle => None,
    }
}

/// A keyword as the statement writes its own: in capitals, or not.
fn cased(like: &str, words: &str) -> String {
    if like.chars().any(char::is_lowercase) { words.to_ascii_lowercase() } else { words.to_string() }
}

/// `before` is what stands before a table's name; `guard` goes after its last word, if its words are these.
pub(super) fn guarded(file: &File<'_>, before: Span, heads: &[&[&str]], guard: &str) -> Option<Fix> {
    let text = before.of(&file.script.text);
    let mut words = text.split_whitespace();
    let fits = |head: &&[&str]| {
        head.len() == text.split_whitespace().count()
            && head.iter().zip(text.split_whitespace()).all(|(a, b)| a.eq_ignore_ascii_case(b))
    };
    heads.iter().any(fits).then_some(())?;
    let last = words.next_back()?;
    let start = before.start as usize + text.rfind(last)?;
    let text = format!("{last} {}", cased(last, guard));
    Some(Fix { span: Span::new(start, start + last.len()), text, safety: Safety::Safe })
}

/// `CREATE … TABLE [IF NOT EXISTS]`, which stands before a table's name, as `CREATE OR REPLACE … TABLE`.
pub(super) fn replacing(file: &File<'_>, before: Span) -> Option<Fix> {
    let has = matches!(
        file.script.dialect,
        Dialect::Snowflake | Dialect::BigQuery | Dialect::DuckDb | Dialect::ClickHouse | Dialect::Spark
    );
    if !has || has_comment(file, before) {
        return None;
    }
    let text = before.of(&file.script.text);
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let first = *words.first().filter(|word| word.eq_ignore_ascii_case("create"))?;
    let lower: Vec<String> = words.iter().map(|word| word.to_ascii_lowercase()).collect();
    if lower.ends_with(&["if".to_string(), "not".to_string(), "exists".to_string()]) {
        words.truncate(words.len() - 3);
    }
    words.last().filter(|word| word.eq_ignore_ascii_case("table"))?;
    let replace = cased(first, "OR REPLACE");
    words.insert(1, &replace);
    let end = before.start as usize + text.trim_end().len();
    // It drops a table that is there, with its rows and grants.
    Some(Fix { span: Span::new(before.start as usize, end), text: words.join(" "), safety: Safety::Unsafe })
}

/// Whether a name can be written without quotes, whatever the dialect.
pub(super) fn is_plain(name: &str) -> bool {
    static RESERVED: Names = Names::of(include_str!("../../data/names/reserved.txt"));
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    starts
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !listed(&RESERVED, name)
}
