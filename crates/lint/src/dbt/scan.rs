//! Text to pieces and tokens: where a template's tags begin and end, and what stands in them.

use std::sync::Arc;

use super::syntax::{Parsed, Span, SyntaxError};

pub(super) enum Piece {
    Text(Span),
    Expr { inner: Span, outer: Span },
    Tag { inner: Span, outer: Span },
}

pub(super) fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    &text[..end]
}

pub(super) fn pieces_until_broken(text: &str, range: std::ops::Range<usize>) -> Parsed<Vec<Piece>> {
    cut(text, range, true)
}

pub(super) fn pieces(text: &str, range: std::ops::Range<usize>) -> Parsed<Vec<Piece>> {
    cut(text, range, false)
}

/// Cuts a template at its delimiters and applies the white space control; with `lenient`, stops at what is
/// broken.
fn cut(text: &str, range: std::ops::Range<usize>, lenient: bool) -> Parsed<Vec<Piece>> {
    let bytes = text.as_bytes();
    let mut end = range.end;
    if end == text.len() && text[range.clone()].ends_with('\n') {
        end -= if text[range.clone()].ends_with("\r\n") { 2 } else { 1 };
    }
    let mut pieces: Vec<Piece> = Vec::new();
    let mut at = range.start;
    let mut trim_next = false;
    while at < end {
        let open = find_open(bytes, at, end);
        push_text(&mut pieces, text, at, open, trim_next, bytes.get(open + 2) == Some(&b'-') && open < end);
        if open >= end {
            break;
        }
        let closed = match bytes[open + 1] {
            b'#' => find(bytes, b"#}", open + 2, end).map(|close| (close, close + 2)),
            b'{' => close_of(bytes, open + 2, end, true),
            _ => close_of(bytes, open + 2, end, false),
        };
        let Some((close, after)) = closed else {
            if lenient {
                return Ok(pieces);
            }
            return Err(SyntaxError { at: Span::new(open, open + 2), why: "not closed".to_owned() });
        };
        let signs = |byte: u8| byte == b'-' || byte == b'+';
        let first = open + 2 + usize::from(open + 2 < close && signs(bytes[open + 2]));
        let last = if close > first && signs(bytes[close - 1]) { close - 1 } else { close };
        trim_next = close > first && bytes[close - 1] == b'-';
        let (inner, outer) = (Span::new(first, last), Span::new(open, after));
        at = after;
        match bytes[open + 1] {
            b'#' => {}
            b'{' => pieces.push(Piece::Expr { inner, outer }),
            _ if text[first..last].trim() == "raw" => {
                let (stop, next, trim) = end_of_raw(text, after, end);
                push_text(&mut pieces, text, after, stop, trim_next, false);
                (at, trim_next) = (next, trim);
            }
            _ => pieces.push(Piece::Tag { inner, outer }),
        }
    }
    Ok(pieces)
}

fn push_text(
    pieces: &mut Vec<Piece>,
    text: &str,
    start: usize,
    end: usize,
    trim_start: bool,
    trim_end: bool,
) {
    let (mut start, mut end) = (start, end);
    if trim_start {
        start = end - text[start..end].trim_start().len();
    }
    if trim_end {
        end = start + text[start..end].trim_end().len();
    }
    if start < end {
        pieces.push(Piece::Text(Span::new(start, end)));
    }
}

fn find_open(bytes: &[u8], from: usize, end: usize) -> usize {
    let mut at = from;
    while at + 1 < end {
        match bytes[at..end - 1].iter().position(|byte| *byte == b'{') {
            None => return end,
            Some(step) => {
                at += step;
                if matches!(bytes[at + 1], b'{' | b'%' | b'#') {
                    return at;
                }
                at += 1;
            }
        }
    }
    end
}

fn find(bytes: &[u8], what: &[u8], from: usize, end: usize) -> Option<usize> {
    bytes.get(from..end)?.windows(what.len()).position(|part| part == what).map(|step| from + step)
}

/// Where the tag that begins before `from` ends: before and after its closing delimiter.
fn close_of(bytes: &[u8], from: usize, end: usize, print: bool) -> Option<(usize, usize)> {
    let mut at = from;
    let mut braces = 0u32;
    while at < end {
        match bytes[at] {
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < end && bytes[at] != quote {
                    at += 1 + usize::from(bytes[at] == b'\\');
                }
            }
            b'{' => braces += 1,
            b'}' if print && braces == 0 && bytes.get(at + 1) == Some(&b'}') && at + 1 < end => {
                return Some((at, at + 2));
            }
            b'}' => braces = braces.saturating_sub(1),
            b'%' if !print && bytes.get(at + 1) == Some(&b'}') && at + 1 < end => return Some((at, at + 2)),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Where the text of a raw block stops, where the template goes on, and whether white space is trimmed there.
fn end_of_raw(text: &str, from: usize, end: usize) -> (usize, usize, bool) {
    let mut at = from;
    while let Some(step) = text[at..end].find("{%") {
        let open = at + step;
        if let Some(close) = text[open..end].find("%}") {
            let word = text[open + 2..open + close]
                .trim_matches(|c: char| c.is_whitespace() || c == '-' || c == '+');
            if word == "endraw" {
                return (open, open + close + 2, text[..open + close].ends_with('-'));
            }
        }
        at = open + 2;
    }
    (end, end, false)
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tok {
    Name,
    Str(Arc<str>),
    Int(i64),
    Float(f64),
    Op(&'static str),
}

const OPS: [&str; 26] = [
    "**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "<", ">", "=", "(", ")", "[", "]", "{",
    "}", ",", ":", ".", "|", ";",
];

pub(super) fn tokens(text: &str, span: Span) -> Parsed<Vec<(Tok, Span)>> {
    let bytes = text.as_bytes();
    let (mut at, end) = (span.start as usize, span.end as usize);
    let mut out = Vec::new();
    while at < end {
        let start = at;
        let byte = bytes[at];
        let space = text[at..end].chars().next().filter(|c| c.is_whitespace());
        if let Some(space) = space {
            at += space.len_utf8();
        } else if byte == b'"' || byte == b'\'' {
            let (value, after) = string(text, at, end)?;
            at = after;
            out.push((Tok::Str(value), Span::new(start, at)));
        } else if byte.is_ascii_digit() {
            let (token, after) = number(text, at, end);
            at = after;
            out.push((token, Span::new(start, at)));
        } else if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 {
            while at < end && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_' || bytes[at] >= 0x80) {
                at += 1;
            }
            out.push((Tok::Name, Span::new(start, at)));
        } else if let Some(op) = OPS.iter().find(|op| bytes[at..end].starts_with(op.as_bytes())) {
            at += op.len();
            out.push((Tok::Op(op), Span::new(start, at)));
        } else {
            let at = Span::new(start, start + 1);
            return Err(SyntaxError { at, why: format!("`{}` has no meaning here", byte as char) });
        }
    }
    Ok(out)
}

fn string(text: &str, from: usize, end: usize) -> Parsed<(Arc<str>, usize)> {
    let quote = text.as_bytes()[from];
    let mut value = String::new();
    let mut chars = text[from + 1..end].char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((_, 'r')) => value.push('\r'),
                Some((_, escaped @ ('\\' | '\'' | '"'))) => value.push(escaped),
                Some((_, other)) => value.extend(['\\', other]),
                None => break,
            },
            c if c == quote as char => return Ok((value.into(), from + 1 + at + 1)),
            c => value.push(c),
        }
    }
    Err(SyntaxError { at: Span::new(from, from + 1), why: "text not closed".to_owned() })
}

fn number(text: &str, from: usize, end: usize) -> (Tok, usize) {
    let bytes = text.as_bytes();
    let mut at = from;
    let mut float = false;
    while at < end {
        match bytes[at] {
            b'0'..=b'9' | b'_' => at += 1,
            b'.' if !float && at + 1 < end && bytes[at + 1].is_ascii_digit() => {
                float = true;
                at += 1;
            }
            b'e' | b'E' if at + 1 < end && bytes[at + 1].is_ascii_digit() => {
                float = true;
                at += 1;
            }
            _ => break,
        }
    }
    let digits: String = text[from..at].chars().filter(|c| *c != '_').collect();
    match digits.parse::<i64>() {
        Ok(value) if !float => (Tok::Int(value), at),
        _ => (Tok::Float(digits.parse().unwrap_or(0.0)), at),
    }
}
