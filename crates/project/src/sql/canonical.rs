//! The canonical text of a query: what is left of it without comments, layout, case and the names of CTEs and aliases.
//!
//! It is made of the query's own tokens, not printed from the syntax tree: nothing that a printer forgets can make two
//! queries look alike, and a newer parser does not change the code version of everybody's models.

use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::Lines;
use super::scope::Found;

/// What is hashed of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Canonical {
    /// Tokens, a space between each two.
    pub(crate) text: String,
    /// Old names of CTEs and aliases that output columns without alias are named after, in order.
    pub(crate) naming: Vec<String>,
}

/// A token, as far as the canonical form cares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: PieceKind,
}

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// A keyword or a name without quotes.
    Word,
    /// A name in quotes.
    Quoted,
    Dot,
    Semicolon,
    /// White space and comments.
    Blank,
    /// Everything else: literals, operators.
    Other,
}

/// The pieces of a query; each ends where the next begins, so that all of the text is in one of them.
pub(crate) fn pieces(sql: &str, lines: &Lines, tokens: &[TokenWithSpan]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let kind = match &token.token {
            Token::Whitespace(_) | Token::EOF => PieceKind::Blank,
            Token::Word(word) if word.quote_style.is_some() => PieceKind::Quoted,
            Token::Word(_) => PieceKind::Word,
            Token::Period => PieceKind::Dot,
            Token::SemiColon => PieceKind::Semicolon,
            _ => PieceKind::Other,
        };
        let start = lines.start_of(token.span);
        if let Some(before) = pieces.last_mut() {
            before.end = start.max(before.start);
        }
        pieces.push(Piece { start, end: sql.len(), kind });
    }
    pieces
}

/// The canonical form of a query.
pub(crate) fn canonical(sql: &str, pieces: &[Piece], found: &Found) -> Canonical {
    let solid: Vec<&Piece> = pieces
        .iter()
        .filter(|piece| !matches!(piece.kind, PieceKind::Blank | PieceKind::Semicolon))
        .collect();
    let rename = !found.doubt && is_sure(sql, &solid, found);
    let mut text = String::with_capacity(sql.len());
    for piece in solid {
        if !text.is_empty() {
            text.push(' ');
        }
        let written = &sql[piece.start..piece.end];
        match (piece.kind, found.renamed.get(&piece.start)) {
            (_, Some(new)) if rename => text.push_str(new),
            (PieceKind::Word, _) => text.extend(written.chars().map(|char| char.to_ascii_lowercase())),
            _ => text.push_str(written.trim_end()),
        }
    }
    let naming = if rename { found.naming.values().cloned().collect() } else { Vec::new() };
    Canonical { text, naming }
}

/// Whether every name before a dot that is one of the old names was bound: then nothing is missed by renaming.
fn is_sure(sql: &str, solid: &[&Piece], found: &Found) -> bool {
    let mut bound = found.bound.clone();
    bound.sort_unstable();
    solid.windows(2).enumerate().all(|(index, pair)| {
        let [name, Piece { kind: PieceKind::Dot, .. }] = pair else { return true };
        // The middle of `a.b.c` is no qualifier of its own.
        if index > 0 && solid[index - 1].kind == PieceKind::Dot {
            return true;
        }
        let written = &sql[name.start..name.end];
        let key = match name.kind {
            PieceKind::Word => written.to_ascii_lowercase(),
            PieceKind::Quoted => unquoted(written),
            _ => return true,
        };
        let is_table = found.tables.iter().any(|table| table.span.start == name.start);
        is_table || !found.old_names.contains(&key) || bound.binary_search(&name.start).is_ok()
    })
}

/// The name inside quotes, doubled quotes made single.
fn unquoted(written: &str) -> String {
    let mut inside = written.chars();
    let quote = inside.next().unwrap_or('"');
    inside.next_back();
    let single = quote.to_string();
    inside.as_str().replace(&single.repeat(2), &single)
}
