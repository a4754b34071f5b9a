//! The canonical text of a query: what is left of it without comments, layout, case and the names of CTEs and aliases.
//!
//! It is made of the query's own tokens, not printed from the syntax tree: nothing that a printer forgets can make two
//! queries look alike, and a newer parser does not change the code version of everybody's models.

use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::scope::Found;
use super::{Lines, is_blank};

/// What is hashed of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Canonical {
    /// Tokens, a space between each two.
    pub(crate) text: String,
    /// Old names of CTEs and aliases that output columns without alias are named after, in order.
    pub(crate) naming: Vec<String>,
}

/// The canonical form of a query.
pub(crate) fn canonical(sql: &str, lines: &Lines, tokens: &[TokenWithSpan], found: &Found) -> Canonical {
    let solid: Vec<(usize, &Token)> = starts(lines, tokens);
    let rename = !found.doubt && is_sure(sql, &solid, found);
    let mut text = String::with_capacity(sql.len());
    for (index, (start, token)) in solid.iter().enumerate() {
        if **token == Token::SemiColon || is_blank(token) {
            continue;
        }
        let end = solid.get(index + 1).map_or(sql.len(), |(next, _)| *next);
        if !text.is_empty() {
            text.push(' ');
        }
        match (token, found.renamed.get(start)) {
            (_, Some(new)) if rename => text.push_str(new),
            (Token::Word(word), _) if word.quote_style.is_none() => {
                text.push_str(&word.value.to_ascii_lowercase())
            }
            _ => text.push_str(sql[*start..end].trim_end()),
        }
    }
    let naming = if rename { found.naming.values().cloned().collect() } else { Vec::new() };
    Canonical { text, naming }
}

/// Every token and its first byte, comments and white space included: they end the token before.
fn starts<'t>(lines: &Lines, tokens: &'t [TokenWithSpan]) -> Vec<(usize, &'t Token)> {
    tokens.iter().map(|token| (lines.start_of(token.span), &token.token)).collect()
}

/// Whether every word before a dot that bears one of the old names was bound: then nothing is missed by renaming.
fn is_sure(sql: &str, solid: &[(usize, &Token)], found: &Found) -> bool {
    let mut bound = found.bound.clone();
    bound.sort_unstable();
    let words: Vec<&(usize, &Token)> = solid.iter().filter(|(_, token)| !is_blank(token)).collect();
    words.windows(2).enumerate().all(|(index, pair)| {
        let [(start, Token::Word(word)), (_, Token::Period)] = pair else { return true };
        // The middle of `a.b.c` is no qualifier of its own.
        if index > 0 && matches!(words[index - 1], (_, Token::Period)) {
            return true;
        }
        let key =
            if word.quote_style.is_some() { word.value.clone() } else { word.value.to_ascii_lowercase() };
        let is_table = found.tables.iter().any(|table| table.span.start == *start);
        debug_assert!(*start <= sql.len());
        is_table || !found.old_names.contains(&key) || bound.binary_search(start).is_ok()
    })
}
