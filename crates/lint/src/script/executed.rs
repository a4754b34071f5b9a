//! Statements in constant texts that are run: `EXECUTE IMMEDIATE 'TRUNCATE TABLE t'`, `EXEC('…')`, `sp_executesql N'…'`.
//! Knows where such a text stands and what it says, byte for byte where it says it; nothing of what the statement means.

use std::collections::HashMap;

use crate::dialect::Dialect;
use crate::lex::{Lexed, TokenKind, lex};
use crate::split::{Piece, PieceKind, split};
use crate::text::Lines;

/// All constant texts of a file that are run.
pub(super) struct Executed {
    /// As long as the file: the texts without their quotes where they stand, blanks elsewhere.
    pub(super) text: String,
    pub(super) lexed: Lexed,
    pub(super) lines: Lines,
    /// The one statement of a text, by the token that holds the text.
    pieces: HashMap<usize, Piece>,
}

impl Executed {
    /// The statement that a piece of the file runs.
    pub(super) fn piece(&self, text: Option<usize>) -> Option<&Piece> {
        self.pieces.get(&text?)
    }
}

/// The constant texts that pieces run, if there are any.
pub(super) fn executed(text: &str, lexed: &Lexed, pieces: &[Piece], dialect: Dialect) -> Option<Executed> {
    let tokens: Vec<usize> = pieces.iter().filter_map(|piece| constant(text, lexed, piece)).collect();
    if tokens.is_empty() {
        return None;
    }
    let blank = |byte: u8| if byte == b'\n' { byte } else { b' ' };
    let mut shown: Vec<u8> = text.bytes().map(blank).collect();
    for at in &tokens {
        let Some(span) = lexed.tokens.get(*at).map(|token| token.span) else { continue };
        let Some(said) = unquoted(span.of(text)) else { continue };
        if let Some(place) = shown.get_mut(span.start as usize..span.end as usize) {
            place.copy_from_slice(&said);
        }
    }
    let shown = String::from_utf8(shown).ok()?;
    let lexed_inner = lex(&shown, dialect);
    let mut found: HashMap<usize, Piece> = HashMap::new();
    let inner = split(&shown, &lexed_inner, dialect);
    for at in tokens {
        let Some(span) = lexed.tokens.get(at).map(|token| token.span) else { continue };
        let from = inner.partition_point(|piece| piece.span.start < span.start);
        let mut within = inner.iter().skip(from).take_while(|piece| piece.span.start < span.end);
        if let (Some(piece), None) = (within.next(), within.next())
            && piece.kind == PieceKind::Sql
            && span.contains(piece.span)
        {
            found.insert(at, piece.clone());
        }
    }
    let lines = Lines::of(&lexed_inner.masked);
    Some(Executed { text: shown, lexed: lexed_inner, lines, pieces: found })
}

/// The token of the constant text that a piece runs: nothing is joined to it, and nothing in it is filled in by a template.
pub(super) fn constant(text: &str, lexed: &Lexed, piece: &Piece) -> Option<usize> {
    let word = |at: usize| match lexed.tokens.get(at) {
        Some(token) if token.kind == TokenKind::Word => token.span.of(text).to_ascii_lowercase(),
        _ => String::new(),
    };
    let is_mark =
        |at: usize, mark: u8| lexed.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Mark(mark));
    let start = piece.tokens.start;
    if !matches!(word(start).as_str(), "execute" | "exec") {
        return None;
    }
    let mut at = start + 1;
    if matches!(word(at).as_str(), "immediate" | "sp_executesql") {
        at += 1;
    }
    let parenthesised = is_mark(at, b'(');
    at += usize::from(parenthesised);
    at += usize::from(word(at) == "n");
    let token = lexed.tokens.get(at).filter(|token| token.kind == TokenKind::Text)?;
    let ends = if parenthesised {
        is_mark(at + 1, b')') && at + 2 >= piece.tokens.end
    } else {
        at + 1 >= piece.tokens.end
            || is_mark(at + 1, b',')
            || matches!(word(at + 1).as_str(), "using" | "into")
    };
    (ends && piece.tokens.contains(&at) && !lexed.holds_placeholder(token.span)).then_some(at)
}

/// What a text says, as long as the text with its quotes; its last byte ends the statement. A pair of quotes within is one,
/// beside which a blank is put on the outer side; quotes within quotes are not read.
fn unquoted(written: &str) -> Option<Vec<u8>> {
    let quote = written.bytes().next().filter(|quote| matches!(quote, b'\'' | b'"'))?;
    let open_comment = written.contains("/*") != written.contains("*/");
    if written.contains(['\\', '{']) || open_comment || written.len() < 4 {
        return None;
    }
    let mut said = written.as_bytes().to_vec();
    let last = said.len() - 1;
    *said.first_mut()? = b' ';
    *said.get_mut(last)? = b';';
    let (mut at, mut opens) = (1, true);
    while at < last {
        if said.get(at) != Some(&quote) {
            at += 1;
            continue;
        }
        let more = !opens && at + 2 < last && said.get(at + 2) == Some(&quote);
        if said.get(at + 1) != Some(&quote) || at + 1 >= last || more {
            return None;
        }
        *said.get_mut(if opens { at } else { at + 1 })? = b' ';
        opens = !opens;
        at += 2;
    }
    opens.then_some(said)
}

#[cfg(test)]
mod tests {
    use super::unquoted;

    #[test]
    fn a_text_says_its_statement_where_it_stands() {
        let said = |written: &str| unquoted(written).and_then(|said| String::from_utf8(said).ok());
        assert_eq!(said("'DROP TABLE t'").as_deref(), Some(" DROP TABLE t;"));
        assert_eq!(
            said("'DELETE FROM t WHERE a = ''x'''").as_deref(),
            Some(" DELETE FROM t WHERE a =  'x' ;")
        );
        assert_eq!(said("'x = ''it''''s'''"), None);
        assert_eq!(said("'a {{ b }}'"), None);
    }
}
