//! Places of nodes: the parser's line and column to bytes, widened by tokens where the parser gives too
//! little.

use sqlparser::tokenizer::Span as AstSpan;

use crate::lex::TokenKind;
use crate::text::Span;

use super::Lowering;

impl Lowering<'_> {
    /// Bytes of a parser's span.
    pub(super) fn place(&self, span: AstSpan) -> Span {
        if span.start.line == 0 || span.end.line == 0 {
            return Span::NOWHERE;
        }
        let byte = |location: sqlparser::tokenizer::Location| {
            let column = if location.line == 1 { location.column + self.origin.1 } else { location.column };
            self.source.lines.byte(&self.source.lexed.masked, location.line + self.origin.0, column)
        };
        Span::new(byte(span.start), byte(span.end))
    }

    pub(super) fn token_word(&self, index: usize) -> &str {
        self.source
            .lexed
            .tokens
            .get(index)
            .filter(|token| token.kind == TokenKind::Word)
            .map_or("", |token| token.span.of(self.source.text))
    }

    pub(super) fn token_is(&self, index: usize, words: &[&str]) -> bool {
        let word = self.token_word(index);
        !word.is_empty() && words.iter().any(|w| word.eq_ignore_ascii_case(w))
    }

    fn mark(&self, index: usize) -> u8 {
        match self.source.lexed.tokens.get(index).map(|token| token.kind) {
            Some(TokenKind::Mark(mark)) => mark,
            _ => 0,
        }
    }

    fn token_span(&self, index: usize) -> Span {
        self.source.lexed.tokens.get(index).map_or(Span::NOWHERE, |token| token.span)
    }

    /// The innermost parentheses around a place.
    fn parens(&self, inner: Span) -> Option<(usize, Span)> {
        if !inner.is_somewhere() {
            return None;
        }
        let tokens = &self.source.lexed.tokens;
        let open = tokens.get(self.source.lexed.index_at(inner.start))?.outer? as usize;
        let close = tokens.get(open)?.mate? as usize;
        Some((open, self.token_span(open).to(self.token_span(close))))
    }

    /// `inner` with the parentheses around it.
    pub(super) fn with_parens(&self, inner: Span) -> Span {
        self.parens(inner).map_or(inner, |(_, span)| span)
    }

    /// `WORD(… inner …)`, where the parentheses around `inner` follow one of `words`.
    pub(super) fn wrapped(&self, inner: Span, words: &[&str]) -> Span {
        match self.parens(inner) {
            Some((open, span)) if open > 0 && self.token_is(open - 1, words) => {
                self.token_span(open - 1).to(span)
            }
            _ => inner,
        }
    }

    /// A parenthesised query with the words (EXISTS, NOT) before it.
    pub(super) fn wrapped_query(&self, inner: Span, words: &[&str]) -> Span {
        let Some((open, mut span)) = self.parens(inner) else { return inner };
        let mut at = open;
        while at > 0 && self.token_is(at - 1, words) {
            at -= 1;
            span = self.token_span(at).to(span);
        }
        span
    }

    /// A call, from its name: arguments, FILTER, WITHIN GROUP, OVER.
    pub(super) fn call_span(&self, name: Span) -> Span {
        if !name.is_somewhere() {
            return name;
        }
        let mut at = self.source.lexed.index_at(name.end);
        let mut span = name;
        let group = |at: usize| {
            let close =
                (self.mark(at) == b'(').then(|| self.source.lexed.tokens.get(at)?.mate).flatten()? as usize;
            Some((self.token_span(at).to(self.token_span(close)), close + 1))
        };
        while let Some((parens, next)) = group(at) {
            span = span.to(parens);
            at = next;
        }
        loop {
            let words = if self.token_is(at, &["filter", "over"]) {
                1
            } else if self.token_is(at, &["within", "ignore", "respect"])
                && self.token_is(at + 1, &["group", "nulls"])
            {
                2
            } else {
                return span;
            };
            if let Some((parens, next)) = group(at + words) {
                span = span.to(parens);
                at = next;
            } else if self.token_is(at, &["over"]) {
                return span.to(self.token_span(at + 1));
            } else if words == 2 {
                span = span.to(self.token_span(at + 1));
                at += 2;
            } else {
                return span;
            }
        }
    }

    /// `inner::type`, from its operand.
    pub(super) fn colon_cast_span(&self, inner: Span) -> Span {
        if !inner.is_somewhere() {
            return inner;
        }
        let mut at = self.source.lexed.index_at(inner.end);
        if self.mark(at) != b':' || self.mark(at + 1) != b':' {
            return inner;
        }
        at += 2;
        let mut span = inner.to(self.token_span(at));
        at += 1;
        while self.token_is(at, &["with", "without", "time", "zone", "precision", "varying", "local"])
            || self.mark(at) == b'('
        {
            if self.mark(at) == b'(' {
                let Some(close) = self.source.lexed.tokens.get(at).and_then(|token| token.mate) else {
                    break;
                };
                at = close as usize;
            }
            span = span.to(self.token_span(at));
            at += 1;
        }
        span
    }

    /// `inner` with the words and marks directly before it.
    pub(super) fn with_before(&self, inner: Span, words: &[&str]) -> Span {
        if !inner.is_somewhere() {
            return inner;
        }
        let mut at = self.source.lexed.index_at(inner.start);
        let mut span = inner;
        while at > 0
            && (self.token_is(at - 1, words)
                || (words.contains(&"-") && matches!(self.mark(at - 1), b'-' | b'+' | b'!')))
        {
            at -= 1;
            span = self.token_span(at).to(span);
        }
        span
    }

    /// `inner` with the words directly after it.
    pub(super) fn with_after(&self, inner: Span, words: &[&str]) -> Span {
        if !inner.is_somewhere() {
            return inner;
        }
        let mut at = self.source.lexed.index_at(inner.end);
        let mut span = inner;
        while self.token_is(at, words) {
            span = span.to(self.token_span(at));
            at += 1;
        }
        span
    }

    /// `inner` with one of the words and the parentheses that follow it.
    pub(super) fn with_group_after(&self, inner: Span, words: &[&str]) -> Span {
        if !inner.is_somewhere() {
            return inner;
        }
        let at = self.source.lexed.index_at(inner.end);
        let close = self.source.lexed.tokens.get(at + 1).and_then(|token| token.mate);
        match close.filter(|_| self.token_is(at, words)) {
            Some(close) => inner.to(self.token_span(close as usize)),
            None => inner,
        }
    }

    /// `inner` with a closing mark directly after it.
    pub(super) fn with_close(&self, inner: Span, close: u8) -> Span {
        if !inner.is_somewhere() {
            return inner;
        }
        let at = self.source.lexed.index_at(inner.end);
        if self.mark(at) == close { inner.to(self.token_span(at)) } else { inner }
    }

    /// From a token to the end of the query it begins: the closing parenthesis, or the end of the statement.
    pub(super) fn query_span(&self, first: Span) -> Span {
        if !first.is_somewhere() {
            return self.span;
        }
        match self.parens(first) {
            Some((_, span)) => Span { start: first.start, end: span.end - 1 },
            None => Span { start: first.start, end: self.span.end.max(first.end) },
        }
    }

    /// From the last of `words` before `name` to the end of it: `INSERT INTO t`.
    pub(super) fn head(&self, name: Span, words: &[&str]) -> Span {
        if !name.is_somewhere() {
            return Span { start: self.span.start, end: self.span.start + 6 };
        }
        let tokens = &self.source.lexed.tokens;
        let mut at = self.source.lexed.index_at(name.start);
        let lowest = self.source.lexed.index_at(self.span.start);
        while at > lowest && at > 0 {
            at -= 1;
            if self.token_is(at, words) {
                return tokens.get(at).map_or(name, |token| token.span.to(name));
            }
        }
        name
    }
}
