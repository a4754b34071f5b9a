//! Keys that comments state: `FROM ods.orders AS o  -- key: id, updated_at`, `-- orders has PRIMARY KEY (id, day)`. Who
//! writes so knows the table; it is believed as a definition would be.

use crate::ir::Name;
use crate::lex::{Lexed, TokenKind};
use crate::lower::name_from;
use crate::text::Span;

/// A table and columns of which no two rows of it are equal.
pub(crate) type Stated = (Name, Vec<String>);

/// What comments say of keys, each of a table that the comment names, or that stands before it on its line.
pub(crate) fn stated(text: &str, lexed: &Lexed) -> Vec<Stated> {
    let mut found = Vec::new();
    for comment in &lexed.comments {
        let written = comment.of(text);
        let listed =
            written.contains([',', '(', ':']) || written.contains(" and ") || written.contains(" per ");
        if written.len() > 400 || !listed {
            continue;
        }
        let lower = written.to_ascii_lowercase();
        let Some((before, key)) = key_in(&lower) else { continue };
        let name = subject(before, text, lexed).or_else(|| table_before(*comment, text, lexed));
        found.extend(name.map(|name| (name, key)));
    }
    found
}

/// The words that lead to the columns of a key, and those columns.
fn key_in(comment: &str) -> Option<(&str, Vec<String>)> {
    const LEADS: &[&str] = &[
        "primary key",
        "unique key",
        "unique on",
        "unique by",
        "unique per",
        "keyed by",
        "one row per",
        "unique",
        "key",
        "pk",
    ];
    let (at, rest) = LEADS.iter().find_map(|lead| {
        let (at, _) = comment.match_indices(lead).find(|(at, _)| is_word(comment, *at, lead.len()))?;
        let rest = comment.get(at + lead.len()..)?.trim_start();
        let rest = rest.strip_prefix("is ").unwrap_or(rest).trim_start();
        let marked = rest.starts_with([':', '(', '=']);
        // Bare words are a key only behind a phrase that asks for one.
        (marked || lead.contains(' ')).then_some((at, rest.trim_start_matches([':', '=', ' '])))
    })?;
    let list = match rest.strip_prefix('(') {
        Some(inner) => inner.split(')').next()?,
        None => rest.split(['.', ';', '\n', '(']).next()?.trim_end_matches(['*', '/', ' ']),
    };
    let list = list.replace(" and ", ", ");
    let columns: Vec<String> = list.split(',').map(|column| column.trim().to_owned()).collect();
    let plain = |column: &String| {
        !column.is_empty() && column.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    (columns.iter().all(plain) && columns.len() <= 8).then(|| (comment.get(..at).unwrap_or(""), columns))
}

fn is_word(text: &str, at: usize, length: usize) -> bool {
    let word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = text.as_bytes();
    !word(at.checked_sub(1).and_then(|at| bytes.get(at))) && !word(bytes.get(at + length))
}

/// A table of the script that the comment names before it speaks of the key: `orders has`, `orders is`, `of orders:`.
fn subject(before: &str, text: &str, lexed: &Lexed) -> Option<Name> {
    let words = before.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')));
    let named = |word: &&str| word.len() > 2;
    words.filter(named).find_map(|word| {
        let last = word.rsplit('.').next().unwrap_or(word);
        let tokens = lexed.tokens.iter().enumerate();
        let mut tables = tokens.filter(|(_, token)| {
            token.kind == TokenKind::Word && token.span.of(text).eq_ignore_ascii_case(last)
        });
        tables.find_map(|(at, _)| table_at(at, text, lexed))
    })
}

/// The table that stands before a comment on its line: `FROM a.orders AS o   -- key: id`.
fn table_before(comment: Span, text: &str, lexed: &Lexed) -> Option<Name> {
    let line = text.get(..comment.start as usize)?.rfind('\n').map_or(0, |at| at + 1);
    let end = lexed.index_at(comment.start);
    let start = lexed.index_at(u32::try_from(line).ok()?);
    (start..end).rev().find_map(|at| table_at(at, text, lexed))
}

/// The table whose name ends at a token: what stands before it says that it is one.
fn table_at(at: usize, text: &str, lexed: &Lexed) -> Option<Name> {
    const BEFORE: &[&str] = &["from", "join", "using", "into", "update", "table"];
    let part = |at: usize| {
        let token = lexed.tokens.get(at)?;
        matches!(token.kind, TokenKind::Word | TokenKind::Quoted | TokenKind::Mark(b'.'))
            .then_some(token.span)
    };
    let last = part(at).filter(|span| span.of(text) != ".")?;
    let (mut span, mut first) = (last, at);
    while let Some(before) = first.checked_sub(1).and_then(part).filter(|before| before.end == span.start) {
        span = before.to(span);
        first -= 1;
    }
    let lead = lexed.tokens.get(first.checked_sub(1)?)?.span.of(text);
    BEFORE.iter().any(|word| lead.eq_ignore_ascii_case(word)).then(|| name_from(span.of(text), span))
}

#[cfg(test)]
mod tests {
    use super::stated;
    use crate::dialect::Dialect;
    use crate::lex::lex;

    fn keys(text: &str) -> Vec<String> {
        let found = stated(text, &lex(text, Dialect::Postgres));
        found.into_iter().map(|(name, key)| format!("{}({})", name.text(), key.join(","))).collect()
    }

    #[test]
    fn a_comment_beside_a_table_or_about_it_states_its_key() {
        assert_eq!(
            keys("SELECT 1 FROM plant.cycle AS c   -- primary key (machine_id, day, no)"),
            ["plant.cycle(machine_id,day,no)"]
        );
        assert_eq!(keys("SELECT 1\nFROM a.t r -- key: site_id, reading_no\n"), ["a.t(site_id,reading_no)"]);
        assert_eq!(
            keys("FROM hr.change AS h  -- unique: EmployeeNo, ChangeSeq\n"),
            ["hr.change(employeeno,changeseq)"]
        );
        assert_eq!(
            keys("-- orders has PRIMARY KEY (id, updated_at)\nSELECT 1 FROM ods.orders"),
            ["ods.orders(id,updated_at)"]
        );
        assert_eq!(keys("/* one row per id and day */ SELECT 1 FROM ods.orders"), [""; 0]);
        assert_eq!(keys("SELECT 1 FROM ods.orders -- one row per id and day"), ["ods.orders(id,day)"]);
    }

    #[test]
    fn other_remarks_state_nothing() {
        for text in [
            "SELECT 1 FROM a.t -- the key is not unique, see OPS-3",
            "SELECT 1 FROM a.t -- key point: slow",
            "SELECT 1 FROM a.t -- unique visitors only (see wiki)",
            "SELECT 1, 2 -- key: a, b",
        ] {
            assert_eq!(keys(text), [""; 0], "{text}");
        }
    }
}
