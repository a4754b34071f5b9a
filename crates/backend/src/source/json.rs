//! JSON objects, one a line, taken apart: where the text of each wanted field lies. Pure; knows no file and no type.
//!
//! A reader of our own, since Arrow's lets the last of two fields of one name win. It copies no text that is written
//! without escapes. Fields that nobody wants are passed over, but must be JSON as far as strings, brackets, commas and
//! words go; what their escapes stand for is not looked at.

use std::collections::HashMap;
use std::ops::Range;

use memchr::memchr2;

use super::types::Column;

/// What is wrong with a line, and at which byte of the text.
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) message: String,
    pub(crate) help: Option<&'static str>,
}

/// What to do about a field that comes twice.
const TWICE_HELP: &str = "deliver one value a field: which of the two counts, nobody can know";

/// Where the text of a value lies: in the lines, or behind their end among what was unescaped.
#[derive(Clone, Copy, PartialEq)]
struct Span {
    from: u32,
    to: u32,
}

impl Span {
    /// No value, or `null`.
    const NULL: Span = Span { from: u32::MAX, to: u32::MAX };
    /// Not seen in this line.
    const ABSENT: Span = Span { from: u32::MAX, to: 0 };
}

/// The objects of some lines, by the fields that are wanted of them.
pub(crate) struct Objects<'a> {
    text: &'a str,
    names: HashMap<&'a str, usize>,
    /// One for each row and field.
    spans: Vec<Span>,
    unescaped: String,
    /// The names of the line before, as they are written, with their places: most lines are like the one before.
    shape: Vec<(Range<usize>, Option<usize>)>,
    /// What is open where values are passed over: `}` or `]`.
    open: Vec<u8>,
}

impl<'a> Objects<'a> {
    /// None yet, of `rows` lines of `text`, which is shorter than 2 GiB.
    pub(crate) fn new(text: &'a str, columns: &'a [Column], rows: usize) -> Self {
        Objects {
            text,
            names: columns.iter().enumerate().map(|(place, (name, _))| (name.as_str(), place)).collect(),
            spans: Vec::with_capacity(rows * columns.len()),
            unescaped: String::new(),
            shape: Vec::new(),
            open: Vec::new(),
        }
    }

    /// The lines.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// The texts of one field in all lines that were added.
    pub(crate) fn field(&self, place: usize) -> impl Iterator<Item = Option<&str>> {
        self.spans.iter().skip(place).step_by(self.names.len()).map(|span| self.text_of(*span))
    }

    /// The byte of the text at which a value lies, where it is written as it is.
    pub(crate) fn place(&self, row: usize, field: usize) -> Option<usize> {
        let span = self.spans.get(row * self.names.len() + field)?;
        Some(span.from as usize).filter(|from| *from < self.text.len())
    }

    fn text_of(&self, span: Span) -> Option<&str> {
        let (from, to) = (span.from as usize, span.to as usize);
        match from.checked_sub(self.text.len()) {
            None => self.text.get(from..to),
            Some(from) => self.unescaped.get(from..to.checked_sub(self.text.len())?),
        }
    }

    /// Takes in the object that a line is.
    ///
    /// # Errors
    /// Where the line is no JSON object or several, where a wanted field is itself an object or a list, and where one
    /// is there twice.
    pub(crate) fn add(&mut self, line: Range<usize>) -> Result<(), Fault> {
        let first = self.spans.len();
        self.spans.resize(first + self.names.len(), Span::ABSENT);
        let mut cursor = Cursor { bytes: &self.text.as_bytes()[..line.end], at: line.start };
        cursor.skip_blanks();
        if cursor.next() != Some(b'{') {
            return Err(fault(line.start, "no JSON object: it does not begin with `{`"));
        }
        let mut at_field = 0;
        cursor.skip_blanks();
        if !cursor.skip(b'}') {
            loop {
                self.add_field(&mut cursor, at_field, first)?;
                at_field += 1;
                cursor.skip_blanks();
                let at = cursor.at;
                match cursor.next() {
                    Some(b',') => cursor.skip_blanks(),
                    Some(b'}') => break,
                    Some(_) => return Err(fault(at, "no JSON object: a comma is missing")),
                    None => return Err(cut_off(at)),
                }
            }
        }
        cursor.skip_blanks();
        match cursor.peek() {
            None => Ok(()),
            Some(_) => Err(fault(cursor.at, "more than one value in the line")),
        }
    }

    fn add_field(&mut self, cursor: &mut Cursor<'a>, at_field: usize, first: usize) -> Result<(), Fault> {
        let at = cursor.at;
        let name = match cursor.next() {
            Some(b'"') => cursor.string()?,
            Some(_) => return Err(fault(at, "no JSON object: a name in quotes is missing")),
            None => return Err(cut_off(at)),
        };
        let place = self.place_of(name, at_field)?;
        cursor.skip_blanks();
        let colon = cursor.at;
        match cursor.next() {
            Some(b':') => cursor.skip_blanks(),
            Some(_) => return Err(fault(colon, "no JSON object: a colon is missing")),
            None => return Err(cut_off(colon)),
        }
        let Some(place) = place else { return cursor.pass_over(&mut self.open) };
        let span = self.value(cursor)?;
        let own = &mut self.spans[first + place];
        if *own != Span::ABSENT {
            let name = self.names.iter().find(|(_, own)| **own == place).map_or("", |(name, _)| *name);
            let message = format!("the object has field `{name}` twice");
            return Err(Fault { at, message, help: Some(TWICE_HELP) });
        }
        *own = span;
        Ok(())
    }

    /// Which wanted field a name means.
    fn place_of(&mut self, name: Text, at_field: usize) -> Result<Option<usize>, Fault> {
        let bytes = self.text.as_bytes();
        if let Some((like, place)) = self.shape.get(at_field)
            && bytes[like.clone()] == bytes[name.range.clone()]
        {
            return Ok(*place);
        }
        let written = &self.text[name.range.clone()];
        let place = if name.escaped {
            let mut plain = String::new();
            unescape(written, name.range.start, &mut plain)?;
            self.names.get(plain.as_str()).copied()
        } else {
            self.names.get(written).copied()
        };
        self.shape.truncate(at_field);
        self.shape.push((name.range, place));
        Ok(place)
    }

    fn value(&mut self, cursor: &mut Cursor<'a>) -> Result<Span, Fault> {
        let at = cursor.at;
        let range = match cursor.peek() {
            Some(b'"') => {
                cursor.at += 1;
                let text = cursor.string()?;
                if text.escaped {
                    let from = self.unescaped.len();
                    unescape(&self.text[text.range.clone()], text.range.start, &mut self.unescaped)?;
                    self.text.len() + from..self.text.len() + self.unescaped.len()
                } else {
                    text.range
                }
            }
            Some(b'{' | b'[') => {
                return Err(Fault {
                    at,
                    message: "the value is an object or a list, which no column holds".to_owned(),
                    help: Some("deliver it as text, or take the column out of `columns:`"),
                });
            }
            _ => match cursor.scalar()? {
                Scalar::Null => return Ok(Span::NULL),
                Scalar::Value => at..cursor.at,
            },
        };
        // Both ends lie below the sum of a batch and of what it unescapes to, which is shorter still.
        match (u32::try_from(range.start), u32::try_from(range.end)) {
            (Ok(from), Ok(to)) => Ok(Span { from, to }),
            _ => Err(fault(at, "the lines are too long")),
        }
    }
}

/// A string without its quotes.
struct Text {
    range: Range<usize>,
    escaped: bool,
}

enum Scalar {
    Null,
    Value,
}

/// One line, from left to right.
struct Cursor<'a> {
    /// The text up to the line's end.
    bytes: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn skip(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    /// A string behind its opening quote, up to and with the closing one.
    fn string(&mut self) -> Result<Text, Fault> {
        let start = self.at;
        let mut escaped = false;
        loop {
            let Some(found) = memchr2(b'"', b'\\', &self.bytes[self.at..]) else {
                return Err(fault(start - 1, "no JSON object: the string does not end in its line"));
            };
            self.at += found;
            if self.bytes[self.at] == b'"' {
                self.at += 1;
                return Ok(Text { range: start..self.at - 1, escaped });
            }
            escaped = true;
            // What is escaped is looked at where the text is wanted; a quote ends nothing here.
            self.at = (self.at + 2).min(self.bytes.len());
        }
    }

    /// A number, `true`, `false` or `null`. Whether a number is one, the column's type decides.
    fn scalar(&mut self) -> Result<Scalar, Fault> {
        let at = self.at;
        let rest = &self.bytes[at..];
        let length = match rest.first() {
            Some(b'-' | b'0'..=b'9') => rest
                .iter()
                .position(|byte| !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
                .unwrap_or(rest.len()),
            Some(b't') if rest.starts_with(b"true") => 4,
            Some(b'f') if rest.starts_with(b"false") => 5,
            Some(b'n') if rest.starts_with(b"null") => 4,
            Some(_) => return Err(fault(at, "no JSON object: no value stands here")),
            None => return Err(cut_off(at)),
        };
        self.at += length;
        Ok(if rest[0] == b'n' { Scalar::Null } else { Scalar::Value })
    }

    /// Goes behind a value of any kind. `open` is for its use.
    fn pass_over(&mut self, open: &mut Vec<u8>) -> Result<(), Fault> {
        open.clear();
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    self.string()?;
                }
                Some(bracket @ (b'{' | b'[')) => {
                    self.at += 1;
                    open.push(if bracket == b'{' { b'}' } else { b']' });
                    self.skip_blanks();
                    if open.last().is_none_or(|end| self.peek() != Some(*end)) {
                        self.name(open)?;
                        continue;
                    }
                }
                _ => {
                    self.scalar()?;
                }
            }
            // Behind a value: what ends here, or the next one.
            loop {
                self.skip_blanks();
                let Some(end) = open.last() else { return Ok(()) };
                let at = self.at;
                match self.next() {
                    Some(byte) if byte == *end => drop(open.pop()),
                    Some(b',') => {
                        self.skip_blanks();
                        break self.name(open)?;
                    }
                    Some(_) => return Err(fault(at, "no JSON object: a comma is missing")),
                    None => return Err(cut_off(at)),
                }
            }
        }
    }

    /// The name of a field and its colon, where an object is open.
    fn name(&mut self, open: &[u8]) -> Result<(), Fault> {
        if open.last() != Some(&b'}') {
            return Ok(());
        }
        let at = self.at;
        match self.next() {
            Some(b'"') => {
                self.string()?;
            }
            Some(_) => return Err(fault(at, "no JSON object: a name in quotes is missing")),
            None => return Err(cut_off(at)),
        }
        self.skip_blanks();
        if self.skip(b':') { Ok(()) } else { Err(fault(self.at, "no JSON object: a colon is missing")) }
    }
}

/// Appends what a string without its quotes means; it begins at byte `at` of the text.
fn unescape(written: &str, at: usize, to: &mut String) -> Result<(), Fault> {
    let mut rest = written;
    while let Some(found) = rest.find('\\') {
        to.push_str(&rest[..found]);
        let here = at + (written.len() - rest.len()) + found;
        let mut after = rest[found + 1..].chars();
        let plain = match after.next() {
            Some('u') => {
                let (c, behind) = code_point(after.as_str()).ok_or_else(|| {
                    fault(here, "no JSON object: `\\u` without the four digits of a character")
                })?;
                rest = behind;
                to.push(c);
                continue;
            }
            Some(same @ ('"' | '\\' | '/')) => same,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            _ => return Err(fault(here, "no JSON object: nothing is escaped like this")),
        };
        to.push(plain);
        rest = after.as_str();
    }
    to.push_str(rest);
    Ok(())
}

/// The character behind `\u`, two of them where it is a pair, and what is left.
fn code_point(text: &str) -> Option<(char, &str)> {
    let unit = |text: &str| {
        let digits = text.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u32::from_str_radix(digits, 16).ok()
    };
    let first = unit(text)?;
    let rest = &text[4..];
    if let Some(c) = char::from_u32(first) {
        return Some((c, rest));
    }
    let low = rest.strip_prefix("\\u")?;
    let second = unit(low)?;
    if !(0xd800..0xdc00).contains(&first) || !(0xdc00..0xe000).contains(&second) {
        return None;
    }
    let c = char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00))?;
    Some((c, &low[4..]))
}

fn fault(at: usize, message: &str) -> Fault {
    Fault { at, message: message.to_owned(), help: None }
}

fn cut_off(at: usize) -> Fault {
    fault(at, "no JSON object: it does not end in its line")
}
