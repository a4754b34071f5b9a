//! Places as the protocol counts them: lines from 0, columns in UTF-16 units; and files as URIs.

use std::path::PathBuf;

use lsp_types::{Position, Range, Uri};
use oncemore_lint::text::Span;

/// The range of bytes in a text.
pub(super) fn range(text: &str, span: Span) -> Range {
    let bytes = span.range();
    Range { start: position(text, bytes.start), end: position(text, bytes.end) }
}

/// The place of a byte.
pub(super) fn position(text: &str, byte: usize) -> Position {
    let mut end = byte.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let column: usize = before[line_start..].chars().map(char::len_utf16).sum();
    let line = before.bytes().filter(|byte| *byte == b'\n').count();
    Position {
        line: u32::try_from(line).unwrap_or(u32::MAX),
        character: u32::try_from(column).unwrap_or(u32::MAX),
    }
}

/// The byte at a place; past the end of a line, its end.
pub(super) fn byte(text: &str, position: Position) -> usize {
    let mut start = 0;
    for _ in 0..position.line {
        match text[start..].find('\n') {
            Some(at) => start += at + 1,
            None => return text.len(),
        }
    }
    let line = text[start..].split('\n').next().unwrap_or("");
    let mut column = 0;
    for (at, char) in line.char_indices() {
        if column >= position.character as usize {
            return start + at;
        }
        column += char.len_utf16();
    }
    start + line.len()
}

/// The file that a URI names; none where it names something else, an unsaved text say.
pub(super) fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let encoded = &rest[rest.find('/')?..];
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut left = encoded.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit =
            |byte: Option<u8>| char::from(byte?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        bytes.push(digit(left.next())? * 16 + digit(left.next())?);
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::str::FromStr;

    use lsp_types::{Position, Uri};

    use super::{byte, path, position};

    #[test]
    fn columns_are_utf16_units() {
        let text = "ab\n'\u{1F600}' é x\n";
        let x = text.find('x').unwrap_or_default();
        let place = Position { line: 1, character: 7 };
        assert_eq!(position(text, x), place);
        assert_eq!(byte(text, place), x);
        assert_eq!(byte(text, Position { line: 0, character: 99 }), 2);
        assert_eq!(byte(text, Position { line: 99, character: 0 }), text.len());
    }

    #[test]
    fn uris_name_files() {
        let named = |text: &str| Uri::from_str(text).ok().as_ref().and_then(path);
        assert_eq!(named("file:///a%20b/c.sql"), Some(PathBuf::from("/a b/c.sql")));
        assert_eq!(named("untitled:Untitled-1"), None);
        assert_eq!(named("file:///a%2"), None);
    }
}
