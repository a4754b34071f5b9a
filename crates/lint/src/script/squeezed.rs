//! A text as the tokenizer is given it. That makes a token of each blank, and half of a text that is set out well is blanks:
//! where several stand between two tokens one is left, the end of a line if one is among them, and places are led back to
//! the text as it was.

use sqlparser::dialect::Dialect as Grammar;
use sqlparser::tokenizer::{Location, TokenWithSpan, Tokenizer};

use crate::lex;

/// A text with one blank wherever there were several.
pub(super) struct Squeezed {
    text: String,
    cuts: Vec<Cut>,
}

/// Where blanks were left out.
struct Cut {
    /// The place behind it in the squeezed text.
    now: Location,
    /// The same place in the text as it was.
    was: Location,
}

/// Two places that move on together.
struct Places {
    now: Location,
    was: Location,
}

impl Places {
    /// Past a part that both texts hold.
    fn pass(&mut self, part: &str) {
        match part.rfind('\n') {
            Some(at) => {
                let lines = part.bytes().filter(|byte| *byte == b'\n').count() as u64;
                let column = part[at + 1..].chars().count() as u64 + 1;
                for place in [&mut self.now, &mut self.was] {
                    *place = Location::new(place.line + lines, column);
                }
            }
            None => {
                let columns = part.chars().count() as u64;
                self.now.column += columns;
                self.was.column += columns;
            }
        }
    }
}

impl Squeezed {
    /// `tokens` are those of the file that stand in the text, which begins at byte `start` of it.
    pub(super) fn of(text: &str, tokens: &[lex::Token], start: u32) -> Self {
        let mut squeezed = Self { text: String::with_capacity(text.len()), cuts: Vec::new() };
        let first = Location::new(1, 1);
        let mut places = Places { now: first, was: first };
        let mut from = 0;
        let mut done = 0;
        for token in tokens {
            let (begin, end) = ((token.span.start - start) as usize, (token.span.end - start) as usize);
            let gap = text.get(done..begin).unwrap_or("");
            if gap.len() > 1 && gap.bytes().all(|byte| byte.is_ascii_whitespace()) {
                let kept = text.get(from..done).unwrap_or("");
                squeezed.text.push_str(kept);
                places.pass(kept);
                match gap.rfind('\n') {
                    // Of texts that follow each other some dialects make one, where a line ends between them.
                    Some(at) => {
                        squeezed.text.push('\n');
                        places.now = Location::new(places.now.line + 1, 1);
                        let lines = gap.bytes().filter(|byte| *byte == b'\n').count() as u64;
                        places.was = Location::new(places.was.line + lines, (gap.len() - at) as u64);
                    }
                    None => {
                        squeezed.text.push(' ');
                        places.now.column += 1;
                        places.was.column += gap.len() as u64;
                    }
                }
                squeezed.cuts.push(Cut { now: places.now, was: places.was });
                from = begin;
            }
            done = end;
        }
        squeezed.text.push_str(text.get(from..).unwrap_or(""));
        squeezed
    }

    /// Its tokens, with their places in the text as it was.
    pub(super) fn tokens(&self, grammar: &dyn Grammar) -> Result<Vec<TokenWithSpan>, String> {
        let mut tokens = Vec::with_capacity(self.text.len() / 3 + 16);
        let mut passed = 0;
        let mut place = |now: Location| {
            while self.cuts.get(passed).is_some_and(|cut| cut.now <= now) {
                passed += 1;
            }
            let Some(cut) = passed.checked_sub(1).and_then(|at| self.cuts.get(at)) else { return now };
            if cut.now.line == now.line {
                Location::new(cut.was.line, cut.was.column + now.column - cut.now.column)
            } else {
                Location::new(cut.was.line + now.line - cut.now.line, now.column)
            }
        };
        Tokenizer::new(grammar, &self.text)
            .tokenize_with_location_into_buf_with_mapper(&mut tokens, |mut token| {
                token.span.start = place(token.span.start);
                token.span.end = place(token.span.end);
                token
            })
            .map_err(|error| error.to_string())?;
        Ok(tokens)
    }
}

#[cfg(test)]
mod tests {
    use sqlparser::dialect::GenericDialect;
    use sqlparser::tokenizer::{Token, Tokenizer};

    use super::Squeezed;
    use crate::dialect::Dialect;
    use crate::lex::lex;

    #[test]
    fn tokens_stand_where_they_stood() {
        let text = "select   'a   b',\n\n\t  é  -- so   much\n   , \"x   y\"\r\n   from t  /* a\n  b */   as   u  where '\n  ' <>   u.x  ";
        let lexed = lex(text, Dialect::Ansi);
        let squeezed = Squeezed::of(text, &lexed.tokens, 0);
        assert!(squeezed.text.len() < text.len() - 12, "{}", squeezed.text);
        let meant = |tokens: Vec<_>| -> Vec<_> {
            tokens
                .into_iter()
                .filter(|token: &sqlparser::tokenizer::TokenWithSpan| {
                    !matches!(token.token, Token::Whitespace(_))
                })
                .map(|token| (token.token, token.span))
                .collect()
        };
        let plain = Tokenizer::new(&GenericDialect, text).tokenize_with_location().expect("tokens");
        let found = squeezed.tokens(&GenericDialect).expect("tokens");
        assert_eq!(meant(found), meant(plain));
    }
}
