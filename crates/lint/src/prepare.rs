//! A statement as the parser sees it: what no grammar takes is blanked out or rewritten, byte for byte as
//! long, and told
//! apart from the text.

use std::borrow::Cow;

use crate::dialect::Dialect;
use crate::ir::Sample;
use crate::lex::{Lexed, Token, TokenKind};
use crate::split::Piece;
use crate::text::Span;

mod second;

/// A statement made ready.
pub(crate) struct Prepared<'a> {
    /// As long as the statement.
    pub(crate) text: Cow<'a, str>,
    /// The predicate of `REPLACE WHERE`.
    pub(crate) predicate: Option<Span>,
    /// `USING SAMPLE`.
    pub(crate) samples: Vec<Sample>,
    /// Where QUALIFY stands that is read as HAVING.
    pub(crate) qualifies: Vec<u32>,
    /// Whether more is rewritten than at the first time.
    pub(crate) more: bool,
}

struct Preparing<'a> {
    text: &'a str,
    tokens: &'a [Token],
    piece: &'a Piece,
    edits: Vec<(Span, String)>,
}

/// Makes a statement ready. With `again`, it was not read as it stands, and more is rewritten.
pub(crate) fn prepare<'a>(
    text: &'a str,
    lexed: &'a Lexed,
    piece: &'a Piece,
    dialect: Dialect,
    again: bool,
) -> Prepared<'a> {
    let masked = piece.span.of(&lexed.masked);
    let mut preparing = Preparing { text, tokens: &lexed.tokens, piece, edits: Vec::new() };
    let mut predicate = None;
    let mut samples = Vec::new();
    if matches!(preparing.word(piece.tokens.start).as_ref(), "insert" | "with") {
        predicate = preparing.replace_where();
    }
    match dialect {
        Dialect::TSql => {
            preparing.option();
            preparing.compound_assignments();
            preparing.words_of_arguments(&["bulk"]);
        }
        Dialect::ClickHouse => {
            preparing.mutation();
            preparing.zoned_types();
        }
        Dialect::BigQuery => preparing.words_of_arguments(&["model", "table"]),
        Dialect::DuckDb => samples = preparing.using_sample(),
        Dialect::Trino => {
            preparing.json_clauses();
            preparing.types_in_parentheses(&["array"]);
        }
        _ => {}
    }
    let first = preparing.edits.len();
    let qualifies = if again { preparing.second(dialect, &lexed.placeholders) } else { Vec::new() };
    let more = preparing.edits.len() > first;
    let edited = !preparing.edits.is_empty();
    let text = if edited { Cow::Owned(preparing.edited(masked)) } else { Cow::Borrowed(masked) };
    Prepared { text, predicate, samples, qualifies, more }
}

impl Preparing<'_> {
    fn word(&self, at: usize) -> Cow<'_, str> {
        match self.tokens.get(at) {
            Some(token) if token.kind == TokenKind::Word => {
                let written = token.span.of(self.text);
                if written.bytes().any(|byte| byte.is_ascii_uppercase()) {
                    Cow::Owned(written.to_ascii_lowercase())
                } else {
                    Cow::Borrowed(written)
                }
            }
            _ => Cow::Borrowed(""),
        }
    }

    fn is_mark(&self, at: usize, mark: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == TokenKind::Mark(mark))
    }

    /// Whether a token stands in no parentheses of the statement.
    fn top(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|t| t.outer.is_none_or(|o| (o as usize) < self.piece.tokens.start))
    }

    fn find(&self, test: impl Fn(&Self, usize) -> bool) -> Option<usize> {
        self.piece.tokens.clone().find(|at| test(self, *at))
    }

    fn blank(&mut self, span: Span) {
        self.edits.push((span, String::new()));
    }

    /// `INSERT INTO t REPLACE WHERE p SELECT …`.
    fn replace_where(&mut self) -> Option<Span> {
        let inserts = self.find(|this, at| this.top(at) && this.word(at) == "insert")?;
        let from = self.find(|this, at| {
            at > inserts
                && this.top(at)
                && this.word(at) == "replace"
                && matches!(this.word(at + 1).as_ref(), "where" | "using" | "on")
        })?;
        let ends = ["select", "with", "values", "table", "from"];
        let end = (from..self.piece.tokens.end)
            .find(|at| self.top(*at) && ends.contains(&self.word(*at).as_ref()))?;
        let (first, value, last) =
            (self.tokens.get(from)?, self.tokens.get(from + 2)?, self.tokens.get(end - 1)?);
        self.blank(first.span.to(last.span));
        Some(value.span.to(last.span))
    }

    /// `OPTION (…)` at the end.
    fn option(&mut self) {
        let tokens = self.piece.tokens.clone();
        let option = tokens
            .rev()
            .take(40)
            .find(|at| self.top(*at) && self.word(*at) == "option" && self.is_mark(*at + 1, b'('));
        if let Some(first) = option.and_then(|at| self.tokens.get(at)) {
            self.blank(Span { start: first.span.start, end: self.piece.span.end });
        }
    }

    /// `SET x += 1` is read as `SET x  = 1`, behind WITH too; lowering sees the operator in the text.
    fn compound_assignments(&mut self) {
        let first = self.word(self.piece.tokens.start);
        let Some(from) = self.find(|this, at| {
            this.top(at)
                && matches!(this.word(at).as_ref(), "update" | "merge")
                && (at == this.piece.tokens.start || first == "with")
        }) else {
            return;
        };
        for at in from..self.piece.tokens.end {
            let operator =
                [b'+', b'-', b'*', b'/', b'%', b'&', b'|', b'^'].iter().any(|mark| self.is_mark(at, *mark));
            if let (true, true, Some(token)) = (operator, self.is_mark(at + 1, b'='), self.tokens.get(at)) {
                self.blank(token.span);
            }
        }
    }

    /// `ALTER TABLE t UPDATE x = 1 WHERE p` and `ALTER TABLE t DELETE WHERE p` are UPDATE and DELETE.
    fn mutation(&mut self) {
        let start = self.piece.tokens.start;
        if self.word(start) != "alter" || self.word(start + 1) != "table" {
            return;
        }
        let verb = self.find(|this, at| {
            this.top(at) && at < start + 14 && matches!(this.word(at).as_ref(), "update" | "delete")
        });
        let (Some(verb), Some(first), Some(second)) =
            (verb, self.tokens.get(start), self.tokens.get(start + 1))
        else {
            return;
        };
        let Some(word) = self.tokens.get(verb).map(|token| token.span) else { return };
        let head = first.span.to(second.span);
        if self.word(verb) == "update" {
            self.edits.push((head, "UPDATE".to_string()));
            self.edits.push((word, "SET".to_string()));
        } else {
            self.edits.push((head, "DELETE FROM".to_string()));
            self.blank(word);
        }
    }

    /// `ML.PREDICT(MODEL m, TABLE t)`, `OPENROWSET(BULK 'path')`: words before an argument.
    fn words_of_arguments(&mut self, words: &[&str]) {
        for at in self.piece.tokens.clone().skip(1) {
            let first = self.is_mark(at - 1, b'(') || self.is_mark(at - 1, b',');
            let named = self.tokens.get(at + 1).is_some_and(|next| {
                matches!(next.kind, TokenKind::Word | TokenKind::Quoted | TokenKind::Text)
            });
            let in_call = !self.top(at)
                && !matches!(self.word(at + 1).as_ref(), "as" | "from" | "is" | "in" | "and" | "or");
            if let (true, true, true, Some(token)) =
                (first, named && in_call, words.contains(&self.word(at).as_ref()), self.tokens.get(at))
            {
                self.blank(token.span);
            }
        }
    }

    /// `DateTime('UTC')` is read as a type of one word, `DateTime_______`.
    fn zoned_types(&mut self) {
        for at in self.piece.tokens.clone() {
            let zoned = self.word(at) == "datetime"
                && self.is_mark(at + 1, b'(')
                && self.tokens.get(at + 2).is_some_and(|zone| zone.kind == TokenKind::Text);
            if let (true, true, Some(open), Some(close)) =
                (zoned, self.is_mark(at + 3, b')'), self.tokens.get(at + 1), self.tokens.get(at + 3))
            {
                let span = open.span.to(close.span);
                self.edits.push((span, "_".repeat((span.end - span.start) as usize)));
            }
        }
    }

    /// `USING SAMPLE 10%`, at the end of a SELECT.
    fn using_sample(&mut self) -> Vec<Sample> {
        let Some(at) = self.find(|this, at| this.word(at) == "using" && this.word(at + 1) == "sample") else {
            return Vec::new();
        };
        let Some(first) = self.tokens.get(at) else { return Vec::new() };
        let outer = first.outer;
        let mut end = at + 2;
        while end < self.piece.tokens.end
            && self.tokens.get(end).is_some_and(|t| t.outer.is_none_or(|o| o >= outer.unwrap_or(0)))
        {
            let closes = self.is_mark(end, b')')
                && self.tokens.get(end).is_some_and(|t| t.mate == outer && outer.is_some());
            if closes || matches!(self.word(end).as_ref(), "union" | "order" | "limit") {
                break;
            }
            end += 1;
        }
        let Some(last) = self.tokens.get(end - 1) else { return Vec::new() };
        let span = first.span.to(last.span);
        let seeded = (at..end).any(|at| matches!(self.word(at).as_ref(), "repeatable" | "seed"));
        let whole = self.tokens.get(at + 2).is_some_and(|token| token.span.of(self.text) == "100")
            && self.is_mark(at + 3, b'%');
        self.blank(span);
        vec![Sample { span, seeded, whole }]
    }

    /// The text with all edits, each padded with blanks to the length of what it replaces.
    fn edited(&self, masked: &str) -> String {
        let mut out = masked.to_string();
        for (span, with) in &self.edits {
            let range =
                (span.start - self.piece.span.start) as usize..(span.end - self.piece.span.start) as usize;
            let old = masked.get(range.clone()).unwrap_or("");
            let blanks: String = old.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
            if blanks.len() == range.len() && with.len() <= range.len() {
                let padded = format!("{with}{}", blanks.get(with.len()..).unwrap_or(""));
                out.replace_range(range, &padded);
            }
        }
        out
    }
}
