//! Text to tokens with byte spans, knowing strings, comments and placeholders of templates, and nothing of
//! grammar.
//!
//! The tokens serve the splitter, the scanner for what can't be parsed, and spans that the parser doesn't
//! give. A
//! placeholder (`${x}`, `%(x)s`, `{{ x }}`, `<% x %>`, `&{x}`, `@schema.`) becomes a word, and
//! [`Lexed::masked`] holds
//! the text with such words in place of it, byte for byte as long, so that every span stays true.

mod client;

use crate::dialect::Dialect;
use crate::text::{Span, offset};

/// What a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// Keyword, unquoted name, or placeholder.
    Word,
    /// Quoted name.
    Quoted,
    /// String literal, with its quotes.
    Text,
    /// String in dollar quotes.
    Dollar,
    /// Number.
    Number,
    /// Begin of a routine's body in dollar quotes.
    BodyOpen,
    /// Its end.
    BodyClose,
    /// A single other character.
    Mark(u8),
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it stands.
    pub span: Span,
    /// Of a bracket: the index of its counterpart.
    pub mate: Option<u32>,
    /// The index of the innermost open parenthesis around it.
    pub outer: Option<u32>,
}

/// A text in tokens.
#[derive(Clone, Debug, Default)]
pub struct Lexed {
    /// Tokens, without comments.
    pub tokens: Vec<Token>,
    /// Comments.
    pub comments: Vec<Span>,
    /// Placeholders of templates.
    pub placeholders: Vec<Span>,
    /// The text as the parser sees it; as long as the original.
    pub masked: String,
}

impl Lexed {
    /// The placeholder that begins at a byte.
    #[must_use]
    pub fn placeholder_at(&self, start: u32) -> Option<Span> {
        let at = self.placeholders.partition_point(|span| span.start < start);
        self.placeholders.get(at).copied().filter(|span| span.start == start)
    }

    /// Whether a placeholder stands within a place.
    #[must_use]
    pub fn holds_placeholder(&self, place: Span) -> bool {
        let at = self.placeholders.partition_point(|span| span.start < place.start);
        self.placeholders.get(at).is_some_and(|span| span.end <= place.end)
    }

    /// The index of the first token that begins at or after a byte.
    #[must_use]
    pub fn index_at(&self, start: u32) -> usize {
        self.tokens.partition_point(|token| token.span.start < start)
    }
}

struct Lexer<'a> {
    text: &'a [u8],
    dialect: Dialect,
    at: usize,
    out: Lexed,
    masks: Vec<Mask>,
    open: Vec<u32>,
    /// Where open bodies in dollar quotes close: first byte of the closing tag, first after.
    bodies: Vec<(usize, usize)>,
    /// Parts of a template that are left out, last first.
    left_out: Vec<Span>,
    /// What `DELIMITER` has put in the semicolon's place; empty where nothing.
    delimiter: Vec<u8>,
}

struct Mask {
    span: Span,
    /// Blocks of a template become blanks, values become a word.
    blank: bool,
}

/// Cuts `text` into tokens.
#[must_use]
pub fn lex(text: &str, dialect: Dialect) -> Lexed {
    let mut lexer = Lexer {
        text: text.as_bytes(),
        dialect,
        at: 0,
        out: Lexed::default(),
        masks: Vec::new(),
        open: Vec::new(),
        bodies: Vec::new(),
        left_out: crate::branches::left_out(text),
        delimiter: Vec::new(),
    };
    lexer.left_out.reverse();
    lexer.out.tokens.reserve(text.len() / 5);
    lexer.run();
    let Lexer { mut out, masks, .. } = lexer;
    out.masked = mask(text, &masks);
    out
}

/// Replaces masked ranges by blanks or words of the same number of bytes; line ends stay.
fn mask(text: &str, masks: &[Mask]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut done = 0;
    for mask in masks {
        let range = mask.span.range();
        masked.push_str(text.get(done..range.start).unwrap_or(""));
        for (index, byte) in text.as_bytes().get(range.clone()).unwrap_or(&[]).iter().enumerate() {
            masked.push(match (byte, mask.blank, index) {
                (b'\n', true, _) => '\n',
                (_, true, _) => ' ',
                (_, false, 0) => 'p',
                (_, false, _) => '_',
            });
        }
        done = range.end;
    }
    masked.push_str(text.get(done..).unwrap_or(""));
    masked
}

fn is_word_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn starts(&self, what: &[u8]) -> bool {
        self.text.get(self.at..).is_some_and(|rest| rest.starts_with(what))
    }

    /// The offset after the next `what`, or the end.
    fn past(&self, from: usize, what: &[u8]) -> usize {
        let Some(rest) = self.text.get(from..) else { return self.text.len() };
        rest.windows(what.len())
            .position(|window| window == what)
            .map_or(self.text.len(), |at| from + at + what.len())
    }

    fn push(&mut self, kind: TokenKind, start: usize, end: usize) {
        let outer = self.open.last().copied();
        self.out.tokens.push(Token { kind, span: Span::new(start, end), mate: None, outer });
        self.at = end;
    }

    fn run(&mut self) {
        while self.at < self.text.len() {
            let byte = self.peek(0);
            if let Some((_, after)) = self.bodies.last().copied().filter(|(close, _)| self.at >= *close) {
                self.bodies.pop();
                self.open.clear();
                let start = self.at.min(after);
                self.push(TokenKind::BodyClose, start, after);
                continue;
            }
            if self.left_out.last().is_some_and(|part| part.start as usize <= self.at) {
                let part = self.left_out.pop().unwrap_or(Span::NOWHERE);
                if part.is_somewhere() && part.end as usize > self.at {
                    let span = Span::new(self.at, part.end as usize);
                    self.masks.push(Mask { span, blank: true });
                    self.at = part.end as usize;
                }
            } else if byte.is_ascii_whitespace() {
                self.at += 1;
            } else if !self.delimiter() && !self.comment() && !self.placeholder() && !self.string(byte) {
                self.plain(byte);
            }
        }
    }

    /// What `DELIMITER $$` has made the end of a statement, and the line that makes it so.
    fn delimiter(&mut self) -> bool {
        if self.dialect != Dialect::MySql {
            return false;
        }
        const WORD: &[u8] = b"delimiter";
        let rest = self.text.get(self.at..).unwrap_or(&[]);
        let head = rest.get(..WORD.len()).is_some_and(|word| word.eq_ignore_ascii_case(WORD));
        if head && self.is_line_start() && rest.get(WORD.len()).is_some_and(u8::is_ascii_whitespace) {
            let line = rest.split(|b| *b == b'\n').next().unwrap_or(&[]);
            let made = line.get(WORD.len()..).unwrap_or(&[]).trim_ascii();
            self.delimiter = if made == b";" { Vec::new() } else { made.to_vec() };
            return false;
        }
        if self.delimiter.is_empty() || !rest.starts_with(&self.delimiter) {
            return false;
        }
        self.push(TokenKind::Mark(b';'), self.at, self.at + self.delimiter.len());
        true
    }

    fn comment(&mut self) -> bool {
        let start = self.at;
        let line = self.starts(b"--")
            || (self.dialect.hash_comments() && self.peek(0) == b'#')
            || (self.dialect == Dialect::Snowflake && self.starts(b"//"))
            || (self.peek(0) == b'\\' && self.is_line_start())
            || self.is_client_line();
        let end = if line {
            self.text
                .get(start..)
                .and_then(|rest| rest.iter().position(|b| *b == b'\n'))
                .map_or(self.text.len(), |n| start + n)
        } else if self.starts(b"/*") {
            self.block_comment(start)
        } else if self.starts(b"{#") {
            let end = self.past(start, b"#}");
            self.masks.push(Mask { span: Span::new(start, end), blank: true });
            end
        } else {
            return false;
        };
        self.out.comments.push(Span::new(start, end));
        self.at = end;
        true
    }

    /// Whether a line for the client alone begins here.
    fn is_client_line(&self) -> bool {
        let first = self.peek(0);
        let may = match self.dialect {
            Dialect::Oracle | Dialect::MySql => first.is_ascii_alphabetic(),
            Dialect::TSql => first == b':',
            _ => false,
        };
        if !may || !self.is_line_start() {
            return false;
        }
        let line = self.text.get(self.at..).and_then(|rest| rest.split(|byte| *byte == b'\n').next());
        let line = line.and_then(|line| std::str::from_utf8(line).ok());
        line.is_some_and(|line| client::is_command(line, self.dialect))
    }

    /// Whether only blanks stand before on the line: psql's own commands begin there.
    fn is_line_start(&self) -> bool {
        let before = self.text.get(..self.at).unwrap_or(&[]);
        let blank = before.iter().rev().take_while(|b| matches!(b, b' ' | b'\t')).count();
        before.len() == blank || before.get(before.len() - blank - 1) == Some(&b'\n')
    }

    fn block_comment(&self, start: usize) -> usize {
        let nests =
            matches!(self.dialect, Dialect::Postgres | Dialect::DuckDb | Dialect::TSql | Dialect::Redshift);
        let (mut at, mut depth) = (start + 2, 1);
        while at < self.text.len() {
            match self.text.get(at..at + 2) {
                Some(b"*/") => {
                    depth -= 1;
                    at += 2;
                    if depth == 0 {
                        return at;
                    }
                }
                Some(b"/*") if nests => {
                    depth += 1;
                    at += 2;
                }
                _ => at += 1,
            }
        }
        self.text.len()
    }

    /// The end of a placeholder that begins here.
    fn placeholder_end(&self) -> Option<usize> {
        let start = self.at;
        let end = match (self.peek(0), self.peek(1)) {
            (b'{', b'{') => self.past(start, b"}}"),
            (b':', quote @ (b'\'' | b'"')) if self.is_psql_variable() => self.past(start + 2, &[quote]),
            (b'$' | b'&', b'{') => self.past(start, b"}"),
            (b'<', b'%') => self.past(start, b"%>"),
            (b'%', b'(') => {
                let close = self.past(start, b")");
                if self.text.get(close).is_some_and(|b| matches!(b, b's' | b'd' | b'i' | b'f')) {
                    close + 1
                } else {
                    return None;
                }
            }
            (b'%', b's') if !is_word(self.peek(2)) && !self.after_operand() => start + 2,
            (b'@', next) if is_word_start(next) => {
                let mut end = start + 1;
                while self.text.get(end).copied().is_some_and(is_word) {
                    end += 1;
                }
                if self.text.get(end) == Some(&b'.') { end } else { return None }
            }
            (b'{', next) if self.dialect == Dialect::ClickHouse && is_word_start(next) => {
                let close = self.past(start, b"}");
                let inner = self.text.get(start + 1..close.saturating_sub(1))?;
                if inner.contains(&b':') && !inner.contains(&b'\'') { close } else { return None }
            }
            (b'{', next) if is_word_start(next) => {
                let close = self.past(start, b"}");
                let inner = self.text.get(start + 1..close.saturating_sub(1))?;
                if inner.iter().all(|b| is_word(*b) || *b == b'.') { close } else { return None }
            }
            _ => return None,
        };
        Some(end)
    }

    /// `:'day'` and `:"table"` of psql, not a slice, a cast or a pair of JSON.
    fn is_psql_variable(&self) -> bool {
        let free = self
            .text
            .get(self.at.wrapping_sub(1))
            .is_none_or(|b| b.is_ascii_whitespace() || b"(=<>,".contains(b));
        let value = self.out.tokens.last().is_some_and(|token| {
            matches!(
                token.kind,
                TokenKind::Text | TokenKind::Quoted | TokenKind::Number | TokenKind::Mark(b')' | b']')
            )
        });
        matches!(self.dialect, Dialect::Postgres | Dialect::Redshift | Dialect::Ansi) && free && !value
    }

    fn after_operand(&self) -> bool {
        self.out.tokens.last().is_some_and(|token| match token.kind {
            TokenKind::Mark(mark) => mark == b')',
            TokenKind::Word => {
                let word = self.text.get(token.span.range()).unwrap_or(&[]);
                ![
                    "and", "or", "between", "in", "values", "select", "when", "then", "else", "limit",
                    "where", "not", "like",
                ]
                .iter()
                .any(|key| word.eq_ignore_ascii_case(key.as_bytes()))
            }
            _ => true,
        })
    }

    fn placeholder(&mut self) -> bool {
        let start = self.at;
        if self.starts(b"{%") {
            let end = self.past(start, b"%}");
            self.masks.push(Mask { span: Span::new(start, end), blank: true });
            self.at = end;
            return true;
        }
        let Some(end) = self.placeholder_end() else { return false };
        let span = Span::new(start, end);
        // `{{ ", " if not loop.last }}`: of a loop one round is read.
        let separates = |what: &[u8]| what.windows(8).any(|part| part == b"not loop");
        if self.text.get(span.range()).is_some_and(separates) {
            self.masks.push(Mask { span, blank: true });
            self.at = end;
            return true;
        }
        self.masks.push(Mask { span, blank: false });
        self.out.placeholders.push(span);
        self.word(start, end);
        true
    }

    /// A word from `start` whose first part, to `end`, is known; placeholders within it belong to it.
    fn word(&mut self, start: usize, mut end: usize) {
        loop {
            while self.text.get(end).copied().is_some_and(is_word) {
                end += 1;
            }
            self.at = end;
            let inner = (self.starts(b"${") || self.starts(b"{{")).then(|| self.placeholder_end()).flatten();
            let Some(inner) = inner else { break };
            self.masks.push(Mask { span: Span::new(end, inner), blank: false });
            self.out.placeholders.push(Span::new(end, inner));
            end = inner;
        }
        // `END$$`.
        if !self.delimiter.is_empty() {
            let inner = self.text.get(start + 1..end).unwrap_or(&[]);
            let cut = inner.windows(self.delimiter.len()).position(|part| part == self.delimiter);
            end = cut.map_or(end, |at| start + 1 + at);
        }
        self.push(TokenKind::Word, start, end);
    }

    fn string(&mut self, byte: u8) -> bool {
        let start = self.at;
        match byte {
            b'\'' => self.quoted(start, b'\'', TokenKind::Text, self.dialect.backslash_escapes()),
            b'"' if self.dialect.double_quoted_strings() => self.quoted(start, b'"', TokenKind::Text, true),
            b'"' => self.quoted(start, b'"', TokenKind::Quoted, false),
            b'`' => self.quoted(start, b'`', TokenKind::Quoted, false),
            b'[' if self.dialect == Dialect::TSql => {
                let end = self.past(start, b"]");
                self.push(TokenKind::Quoted, start, end);
            }
            b'$' if self.dialect.dollar_quotes() => return self.dollar(start),
            _ => return false,
        }
        true
    }

    fn quoted(&mut self, start: usize, quote: u8, kind: TokenKind, backslash: bool) {
        let triple = [quote; 3];
        if self.dialect == Dialect::BigQuery && self.starts(&triple) {
            let end = self.past(start + 3, &triple);
            return self.push(kind, start, end);
        }
        let mut at = start + 1;
        while let Some(byte) = self.text.get(at).copied() {
            let next = self.text.get(at + 1).copied().unwrap_or(0);
            if byte == b'\\' && backslash {
                at += 2;
            } else if byte == b'{' && next == b'{' {
                let end = self.past(at, b"}}");
                self.masks.push(Mask { span: Span::new(at, end), blank: false });
                at = end;
            } else if byte == quote {
                if next != quote {
                    return self.push(kind, start, at + 1);
                }
                at += 2;
            } else {
                at += 1;
            }
        }
        self.push(kind, start, self.text.len());
    }

    fn dollar(&mut self, start: usize) -> bool {
        let mut end = start + 1;
        while self.text.get(end).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') {
            end += 1;
        }
        if self.text.get(end) != Some(&b'$') || self.text.get(start + 1).is_some_and(u8::is_ascii_digit) {
            return false;
        }
        let tag = self.text.get(start..=end).unwrap_or(b"$$").to_vec();
        let close = self.past(end + 1, &tag);
        if self.is_routine_body(close) {
            self.bodies.push((close.saturating_sub(tag.len()), close));
            self.push(TokenKind::BodyOpen, start, end + 1);
        } else {
            self.push(TokenKind::Dollar, start, close);
        }
        true
    }

    /// Whether what is quoted here is the body of a routine in SQL.
    fn is_routine_body(&self, close: usize) -> bool {
        let statement = self
            .out
            .tokens
            .iter()
            .rev()
            .take_while(|t| t.kind != TokenKind::Mark(b';') && t.kind != TokenKind::BodyClose);
        let words: Vec<&[u8]> = statement
            .filter(|token| token.kind == TokenKind::Word)
            .map(|token| self.text.get(token.span.range()).unwrap_or(&[]))
            .collect();
        let is = |word: &[u8], what: &[&str]| what.iter().any(|w| word.eq_ignore_ascii_case(w.as_bytes()));
        let Some(first) = words.last() else { return false };
        let opens = is(first, &["do", "execute"])
            || (is(first, &["create"])
                && words.iter().rev().take(6).any(|word| is(word, &["function", "procedure"])));
        let foreign = ["javascript", "python", "plpython3u", "java", "scala", "plperl", "plpythonu", "c"];
        let after = self.text.get(close..(close + 120).min(self.text.len())).unwrap_or(&[]);
        let after = after.split(|b| *b == b';').next().unwrap_or(&[]);
        let tail_foreign = after.split(|b| !is_word(*b)).any(|word| is(word, &foreign));
        opens && !tail_foreign && !words.iter().any(|word| is(word, &foreign))
    }

    fn plain(&mut self, byte: u8) {
        let start = self.at;
        let next = self.peek(1);
        if is_word_start(byte) {
            let escape = (byte == b'e' || byte == b'E') && next == b'\'';
            if escape && matches!(self.dialect, Dialect::Postgres | Dialect::Redshift | Dialect::DuckDb) {
                self.at += 1;
                self.quoted(start + 1, b'\'', TokenKind::Text, true);
                return;
            }
            self.word(start, start + 1);
        } else if byte.is_ascii_digit() {
            let mut end = start + 1;
            while self.text.get(end).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'.' || *b == b'_') {
                end += 1;
            }
            self.push(TokenKind::Number, start, end);
        } else if (matches!(byte, b'@' | b'#' | b'$')
            || (byte == b':' && self.text.get(start.wrapping_sub(1)) != Some(&b':')))
            && (is_word(next) || (byte == next && matches!(byte, b'@' | b'#')))
        {
            self.word(start, start + 2);
        } else {
            self.bracket(byte, start);
        }
    }

    fn bracket(&mut self, byte: u8, start: usize) {
        let index = offset(self.out.tokens.len());
        match byte {
            b'(' => {
                self.push(TokenKind::Mark(byte), start, start + 1);
                self.open.push(index);
            }
            b')' => {
                let mate = self.open.pop();
                self.push(TokenKind::Mark(byte), start, start + 1);
                if let (Some(mate), Some(last)) = (mate, self.out.tokens.last_mut()) {
                    last.mate = Some(mate);
                    if let Some(open) = self.out.tokens.get_mut(mate as usize) {
                        open.mate = Some(index);
                    }
                }
            }
            _ => {
                // A semicolon at which a parenthesis stays open: text is broken, and must not stay so.
                if byte == b';' {
                    self.open.clear();
                }
                self.push(TokenKind::Mark(byte), start, start + 1);
            }
        }
    }
}
