//! Places in a text: byte spans, and lines and columns for those who read.

use std::fmt;

/// A half-open range of bytes in one file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// First byte after.
    pub end: u32,
}

impl Span {
    /// A span that stands nowhere: what the parser gave no place for.
    pub const NOWHERE: Self = Self { start: u32::MAX, end: u32::MAX };

    /// Makes a span from byte offsets.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: offset(start), end: offset(end) }
    }

    /// Whether the span stands somewhere.
    #[must_use]
    pub fn is_somewhere(self) -> bool {
        self.start != u32::MAX
    }

    /// The smallest span that covers both; nowhere counts as nothing.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        match (self.is_somewhere(), other.is_somewhere()) {
            (true, true) => Self { start: self.start.min(other.start), end: self.end.max(other.end) },
            (true, false) => self,
            (false, _) => other,
        }
    }

    /// Whether `other` lies within.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.is_somewhere() && self.start <= other.start && other.end <= self.end
    }

    /// The span where it is one of `text`, else its beginning alone: from a place to a name that stands nowhere is no span.
    #[must_use]
    pub fn within(self, text: &str) -> Self {
        let is_in = |span: &Self| text.get(span.range()).is_some();
        let begin = Self { start: self.start, end: self.start };
        [self, begin].into_iter().find(is_in).unwrap_or_default()
    }

    /// The text of the span; empty where it doesn't fit `text`.
    #[must_use]
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or("")
    }

    /// The span as a range of indices.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// Files beyond 4 GiB are cut by the caller; the last offset stands for all that follow.
pub(crate) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX - 1)
}

/// Line and column, both from 1; columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// Where each line of a text begins.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    starts: Vec<u32>,
    /// Characters of more than one byte: line, column (both from 0), and by how many bytes the line is
    /// longer than its
    /// characters up to and with this one.
    wide: Vec<(u32, u32, u32)>,
}

impl Lines {
    /// Finds the lines of `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut lines = Self { starts: Vec::with_capacity(text.len() / 32 + 1), wide: Vec::new() };
        lines.starts.push(0);
        lines.starts.extend(text.match_indices('\n').map(|(at, _)| offset(at + 1)));
        if !text.is_ascii() {
            let (mut line, mut column, mut extra) = (0, 0, 0);
            for char in text.chars() {
                if char == '\n' {
                    (line, column, extra) = (line + 1, 0, 0);
                    continue;
                }
                if char.len_utf8() > 1 {
                    extra += offset(char.len_utf8() - 1);
                    lines.wide.push((line, column, extra));
                }
                column += 1;
            }
        }
        lines
    }

    /// The line (from 0) that holds a byte.
    #[must_use]
    pub fn line_of(&self, at: u32) -> usize {
        self.starts.partition_point(|start| *start <= at).saturating_sub(1)
    }

    /// First byte of a line (from 0).
    #[must_use]
    pub fn start_of(&self, line: usize) -> u32 {
        self.starts.get(line).copied().unwrap_or(u32::MAX)
    }

    /// Line and column of a byte.
    #[must_use]
    pub fn position(&self, text: &str, at: u32) -> Position {
        let line = self.line_of(at);
        let start = self.start_of(line);
        // What is no place in the text has no column.
        let is_place = start <= at && text.is_char_boundary(at as usize);
        let bytes = if is_place { at - start } else { 0 };
        let wide = self.wide.partition_point(|wide| (wide.0, wide.1 + wide.2 + 1) <= (offset(line), bytes));
        let extra = wide
            .checked_sub(1)
            .and_then(|last| self.wide.get(last))
            .filter(|wide| wide.0 as usize == line)
            .map_or(0, |wide| wide.2);
        Position { line: offset(line + 1), column: bytes - extra + 1 }
    }

    /// The byte at a line and a column in characters, both from 1.
    #[must_use]
    pub fn byte(&self, text: &str, line: u64, column: u64) -> usize {
        let line = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        let column = usize::try_from(column.saturating_sub(1)).unwrap_or(usize::MAX);
        let start = self.start_of(line).min(offset(text.len())) as usize;
        let end = self.start_of(line.saturating_add(1)).min(offset(text.len())) as usize;
        let before = self.wide.partition_point(|wide| (wide.0, wide.1) < (offset(line), offset(column)));
        let extra = before
            .checked_sub(1)
            .and_then(|at| self.wide.get(at))
            .filter(|wide| wide.0 as usize == line)
            .map_or(0, |wide| wide.2);
        start.saturating_add(column).saturating_add(extra as usize).min(end.max(start))
    }
}
