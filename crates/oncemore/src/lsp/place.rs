//! Places as the protocol counts them: lines from 0, columns in UTF-16 units; and files as URIs.

use std::path::PathBuf;

use lsp_types::{Position, Range, Uri};
use oncemore_lint::text::Span;

/// Where lines of a text begin, and which of its characters are not one byte and one unit: places are looked up in it, however
/// many there are and however long a line is.
#[derive(Default)]
pub(super) struct Places {
    /// Bytes of the text.
    length: usize,
    /// First bytes of lines.
    starts: Vec<usize>,
    /// First bytes behind characters of several bytes, and how many bytes more than units there are up to there.
    wide: Vec<(usize, usize)>,
}

impl Places {
    /// Looks through a text.
    pub(super) fn of(text: &str) -> Self {
        let mut places = Places { length: text.len(), starts: vec![0], wide: Vec::new() };
        let mut more = 0;
        for (at, char) in text.char_indices() {
            if char == '\n' {
                places.starts.push(at + 1);
            } else if !char.is_ascii() {
                more += char.len_utf8() - char.len_utf16();
                places.wide.push((at + char.len_utf8(), more));
            }
        }
        places
    }

    /// The range of bytes.
    pub(super) fn range(&self, span: Span) -> Range {
        let bytes = span.range();
        Range { start: self.position(bytes.start), end: self.position(bytes.end) }
    }

    /// The place of a byte; within a character, of that; past the end, the end.
    pub(super) fn position(&self, byte: usize) -> Position {
        let byte = byte.min(self.length);
        let line = self.starts.partition_point(|start| *start <= byte).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let column = byte - start - (self.more(byte) - self.more(start));
        let number = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
        Position { line: number(line), character: number(column) }
    }

    /// How many bytes more than units there are before a byte.
    fn more(&self, byte: usize) -> usize {
        let before = self.wide.partition_point(|(end, _)| *end <= byte);
        before.checked_sub(1).and_then(|last| self.wide.get(last)).map_or(0, |(_, more)| *more)
    }

    /// The byte at a place of the text; past the end of a line, its end.
    pub(super) fn byte(&self, text: &str, position: Position) -> usize {
        let Some(start) = self.starts.get(position.line as usize) else { return text.len() };
        let line = text.get(*start..).unwrap_or("").split('\n').next().unwrap_or("");
        let mut column = 0;
        for (at, char) in line.char_indices() {
            if column >= position.character as usize {
                return start + at;
            }
            column += char.len_utf16();
        }
        start + line.len()
    }
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

    use super::{Places, path};

    #[test]
    fn columns_are_utf16_units() {
        let text = "ab\n'\u{1F600}' é x\n";
        let places = Places::of(text);
        let x = text.find('x').unwrap_or_default();
        let place = Position { line: 1, character: 7 };
        assert_eq!(places.position(x), place);
        assert_eq!(places.byte(text, place), x);
        assert_eq!(places.byte(text, Position { line: 0, character: 99 }), 2);
        assert_eq!(places.byte(text, Position { line: 99, character: 0 }), text.len());
        assert_eq!(places.position(text.len() + 9), Position { line: 2, character: 0 });
    }

    #[test]
    fn a_place_leads_back_to_its_byte() {
        for text in ["", "a", "\n", "é\n\u{1F600}é\r\nx", "ab\n\ncd"] {
            let places = Places::of(text);
            for (byte, _) in text.char_indices().chain([(text.len(), ' ')]) {
                assert_eq!(places.byte(text, places.position(byte)), byte, "{text:?} {byte}");
            }
        }
    }

    #[test]
    fn uris_name_files() {
        let named = |text: &str| Uri::from_str(text).ok().as_ref().and_then(path);
        assert_eq!(named("file:///a%20b/c.sql"), Some(PathBuf::from("/a b/c.sql")));
        assert_eq!(named("untitled:Untitled-1"), None);
        assert_eq!(named("file:///a%2"), None);
    }
}
