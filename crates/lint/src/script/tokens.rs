//! The tokenizer's tokens, made of those that were cut already. Its own way is by character, with a token for each blank,
//! and took a fifth of all time; of most tokens ([`easy`]) there is nothing that it could add. The others it is given, in
//! stretches as short as may be.

use std::sync::OnceLock;

use sqlparser::dialect::Dialect as Grammar;
use sqlparser::keywords::{ALL_KEYWORDS, ALL_KEYWORDS_INDEX, Keyword};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, Whitespace, Word};

use crate::lex::{self, TokenKind};

/// The tokens of a text that begins at byte `start` of the file; `lexed` are those of the file that stand in it.
pub(super) fn tokens(
    text: &str,
    lexed: &[lex::Token],
    start: u32,
    grammar: &dyn Grammar,
) -> Result<Vec<TokenWithSpan>, String> {
    let mut maker = Maker { text, start, lexed, grammar, at: Location::new(1, 1), seen: 0, out: Vec::new() };
    maker.out.reserve(lexed.len() + lexed.len() / 8);
    let (mut at, mut done) = (0, 0);
    while let Some(token) = lexed.get(at) {
        let (mut begin, end) = maker.bytes(token);
        // The mark of `E'…'` is no part of the text, and no token of its own.
        let marked = begin > done && text.as_bytes().get(begin - 1).is_some_and(u8::is_ascii_alphabetic);
        begin -= usize::from(marked);
        // Stages and names with strokes in them end at a blank: it counts beside what is not plain.
        let easy = if marked { None } else { easy(text, token.kind, begin, end, grammar) };
        if begin > done && (easy.is_none() || maker.blanks_count()) {
            maker.push(Token::Whitespace(Whitespace::Space), done, begin);
        }
        match easy {
            Some(made) => {
                maker.push(made, begin, end);
                (at, done) = (at + 1, end);
            }
            None => {
                let (next, stop) = maker.stretch(at);
                maker.tokenized(begin, stop)?;
                (at, done) = (next, stop);
                if lexed.get(at).is_some_and(|next| maker.bytes(next).0 > done) {
                    maker.push(Token::Whitespace(Whitespace::Space), done, done + 1);
                    done += 1;
                }
            }
        }
    }
    Ok(maker.out)
}

struct Maker<'a> {
    text: &'a str,
    start: u32,
    lexed: &'a [lex::Token],
    grammar: &'a dyn Grammar,
    /// The place of the byte `seen`.
    at: Location,
    seen: usize,
    out: Vec<TokenWithSpan>,
}

impl Maker<'_> {
    fn bytes(&self, token: &lex::Token) -> (usize, usize) {
        ((token.span.start - self.start) as usize, (token.span.end - self.start) as usize)
    }

    /// Whether any blank may count: names of tables with strokes, paths of stages.
    fn blanks_count(&self) -> bool {
        use sqlparser::dialect::{BigQueryDialect, SnowflakeDialect};
        self.grammar.is::<BigQueryDialect>() || self.grammar.is::<SnowflakeDialect>()
    }

    /// The place of a byte; bytes are asked for in their order.
    fn place(&mut self, byte: usize) -> Location {
        for passed in self.text.as_bytes().get(self.seen..byte).unwrap_or(&[]) {
            match passed {
                b'\n' => self.at = Location::new(self.at.line + 1, 1),
                // Columns count characters: of one of several bytes the first.
                0x80..=0xBF => {}
                _ => self.at.column += 1,
            }
        }
        self.seen = byte.max(self.seen);
        self.at
    }

    fn push(&mut self, token: Token, begin: usize, end: usize) {
        let span = Span::new(self.place(begin), self.place(end));
        self.out.push(TokenWithSpan { token, span });
    }

    /// From a token that is not easy to where one is again, or a blank stands: the next token, and the byte.
    fn stretch(&self, from: usize) -> (usize, usize) {
        let (mut at, mut stop) = (from, 0);
        while let Some(token) = self.lexed.get(at) {
            let (begin, end) = self.bytes(token);
            let apart = at > from
                && (begin > stop || easy(self.text, token.kind, begin, end, self.grammar).is_some());
            if apart {
                break;
            }
            (at, stop) = (at + 1, end);
        }
        (at, stop)
    }

    fn tokenized(&mut self, begin: usize, end: usize) -> Result<(), String> {
        let from = self.place(begin);
        let move_on = |place: Location| match place.line {
            1 => Location::new(from.line, from.column + place.column - 1),
            line => Location::new(from.line + line - 1, place.column),
        };
        let part = self.text.get(begin..end).unwrap_or("");
        Tokenizer::new(self.grammar, part)
            .tokenize_with_location_into_buf_with_mapper(&mut self.out, |mut token| {
                token.span = Span::new(move_on(token.span.start), move_on(token.span.end));
                token
            })
            .map_err(|error| error.to_string())
    }
}

/// A token that means the same in all grammars and beside all neighbours: words, whole numbers, plain texts, brackets,
/// commas, a dot in a name, an equals sign.
fn easy(text: &str, kind: TokenKind, begin: usize, end: usize, grammar: &dyn Grammar) -> Option<Token> {
    let bytes = text.as_bytes();
    let before = begin.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    let after = bytes.get(end).copied().unwrap_or(b' ');
    let written = text.get(begin..end)?;
    let in_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    match kind {
        TokenKind::Word => {
            let plain =
                written.bytes().all(in_word) && !written.starts_with(|first: char| first.is_ascii_digit());
            // `N'…'`, `$tag$`, `@x`, `:x`; behind two colons stands a type.
            let colon = before == b':' && begin.checked_sub(2).and_then(|at| bytes.get(at)) != Some(&b':');
            let touched =
                matches!(before, b'@' | b'#' | b'$' | b'?' | b'\\' | b'`' | b'"' | b'\'' | b'{' | b'%')
                    || in_word(before)
                    || matches!(after, b'\'' | b'"' | b'&' | b'$' | b'#' | b'@' | b'`' | b'{' | b'-' | b'!')
                    || colon;
            (plain && !touched).then(|| word(written))
        }
        TokenKind::Number => {
            let apart =
                |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'(' | b')' | b',' | b';' | b'=');
            if !apart(before) || !apart(after) {
                return None;
            }
            let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            let hex = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_hexdigit());
            match written.strip_prefix("0x").filter(hex) {
                Some(_) if grammar.supports_non_decimal_integer_literals() => {
                    Some(Token::Number(written.to_owned(), false))
                }
                Some(inner) => Some(Token::HexStringLiteral(inner.to_owned())),
                None => {
                    let (whole, part) = written.split_once('.').unwrap_or((written, "0"));
                    (digits(whole) && digits(part)).then(|| Token::Number(written.to_owned(), false))
                }
            }
        }
        TokenKind::Text => {
            let inner = written.strip_prefix('\'')?.strip_suffix('\'')?;
            let touched = in_word(before) || matches!(before, b'&' | b'\'' | b'@') || after == b'\'';
            (written.len() >= 2 && !touched && !inner.contains(['\'', '\\']))
                .then(|| Token::SingleQuotedString(inner.to_owned()))
        }
        TokenKind::Mark(mark) => match mark {
            b'(' => Some(Token::LParen),
            b')' => Some(Token::RParen),
            b',' => Some(Token::Comma),
            b'.' => {
                let named = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
                let digits =
                    bytes.get(..begin).unwrap_or(&[]).iter().rev().take_while(|byte| in_word(**byte));
                let is_name = digits.last().copied().is_some_and(named);
                (is_name && (named(after) || matches!(after, b'*'))).then_some(Token::Period)
            }
            b'=' => {
                let apart = |byte: u8| {
                    byte.is_ascii_whitespace() || in_word(byte) || matches!(byte, b')' | b'(' | b'\'')
                };
                (apart(before) && apart(after)).then_some(Token::Eq)
            }
            _ => None,
        },
        _ => None,
    }
}

fn word(written: &str) -> Token {
    Token::Word(Word { value: written.to_owned(), quote_style: None, keyword: keyword(written) })
}

/// Keywords by their length and first letter: few have both.
fn keyword(word: &str) -> Keyword {
    static TABLE: OnceLock<Vec<Vec<(&str, Keyword)>>> = OnceLock::new();
    const LONGEST: usize = 64;
    let slot = |word: &str| {
        let first = word.bytes().next()?.to_ascii_uppercase();
        (first.is_ascii_uppercase() && word.len() < LONGEST)
            .then(|| word.len() * 26 + usize::from(first - b'A'))
    };
    let table = TABLE.get_or_init(|| {
        let mut table = vec![Vec::new(); LONGEST * 26];
        for (name, keyword) in ALL_KEYWORDS.iter().zip(ALL_KEYWORDS_INDEX) {
            if let Some(list) = slot(name).and_then(|at| table.get_mut(at)) {
                list.push((*name, *keyword));
            }
        }
        table
    });
    let list = slot(word).and_then(|at| table.get(at)).map_or(&[] as &[_], Vec::as_slice);
    list.iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(word))
        .map_or(Keyword::NoKeyword, |(_, keyword)| *keyword)
}

#[cfg(test)]
mod tests {
    use sqlparser::dialect::{Dialect as Grammar, GenericDialect, PostgreSqlDialect};
    use sqlparser::keywords::{ALL_KEYWORDS, ALL_KEYWORDS_INDEX};
    use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

    use super::{keyword, tokens};
    use crate::dialect::Dialect;
    use crate::lex::lex;

    fn meant(tokens: Vec<TokenWithSpan>) -> Vec<(Token, sqlparser::tokenizer::Span)> {
        let written = tokens.into_iter().filter(|token| !matches!(token.token, Token::Whitespace(_)));
        written.map(|token| (token.token, token.span)).collect()
    }

    #[test]
    fn tokens_are_those_of_the_tokenizer() {
        let grammars: [(&dyn Grammar, Dialect); 2] =
            [(&GenericDialect, Dialect::Ansi), (&PostgreSqlDialect {}, Dialect::Postgres)];
        let texts = [
            "select a.b, t.*, \"x y\".z, 1, 1.5, .5, 1e5, 'a''b', N'x', E'\\n' from s.t as u where a >= 1 and b<>2 and c=d",
            "select x::date, y :: timestamp, a||b, a->>'k', $1, :p, :'q', @v, #t from \"T\" -- remark\n where a = 'x\ny' /* r */ and b = 3",
            "select count(*), sum(a*b)/2, -1, a-1, (1-2), a!=b, a % 2, arr[1], x.y.z from t;",
            "select 'é', ü.x, 0xFF, 2.50 from t -- ñ\n where x = 'é' and y = 1",
            "with a as (select 1)\n\n  select   distinct on (k) k , date'2024-01-01', U&'x' from a where k in ('1','2',3)",
        ];
        for (grammar, dialect) in grammars {
            for text in texts {
                let lexed = lex(text, dialect);
                let Ok(plain) = Tokenizer::new(grammar, text).tokenize_with_location() else { continue };
                let found = tokens(text, &lexed.tokens, 0, grammar).expect("tokens");
                for (found, plain) in meant(found).into_iter().zip(meant(plain.clone())) {
                    assert_eq!(found, plain, "{text}");
                }
                assert_eq!(
                    meant(tokens(text, &lexed.tokens, 0, grammar).expect("tokens")).len(),
                    meant(plain).len()
                );
            }
        }
    }

    #[test]
    fn all_keywords_are_known() {
        for (name, known) in ALL_KEYWORDS.iter().zip(ALL_KEYWORDS_INDEX) {
            assert_eq!(keyword(&name.to_ascii_lowercase()), *known, "{name}");
        }
        assert_eq!(keyword("no_keyword_at_all"), sqlparser::keywords::Keyword::NoKeyword);
    }
}
