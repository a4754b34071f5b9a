//! The part of a text that is shown with a finding: its lines, and of a long line what is around it. What is looked at is
//! bounded, whatever the length of the line: a dump may hold a hundred thousand findings on one.

use std::ops::Range;

/// Most lines of a statement that are shown.
const LINES_MAX: u32 = 8;
/// Most bytes of a line that are kept before and after a finding. More than a terminal is wide: what does not fit is cut when
/// it is drawn, and marked.
const AROUND_MAX: usize = 500;
/// Most bytes that are pointed at.
const POINTED_MAX: usize = 4_000;

/// The lines around a finding.
pub(super) struct Window<'t> {
    /// What is shown.
    pub(super) text: &'t str,
    /// Number of the first line, from 1.
    pub(super) line: usize,
    /// What is pointed at, in bytes of `text`.
    pub(super) span: Range<usize>,
    /// What is said of it.
    pub(super) label: Option<String>,
    /// Whether the first line begins before `text`: columns are counted from elsewhere then.
    pub(super) is_cut: bool,
}

impl<'t> Window<'t> {
    /// The window of the bytes `range`, which begin on the line `first` and end on `last`; none where they are not in `text`.
    pub(super) fn of(range: Range<usize>, text: &'t str, first: u32, last: u32) -> Option<Self> {
        let pointed = text.get(range.clone())?;
        let is_long = last.saturating_sub(first) >= LINES_MAX || pointed.len() > POINTED_MAX;
        let shown = if is_long { head(pointed) } else { pointed };
        let end = range.start + shown.len();
        let before = text.get(floor(text, range.start.saturating_sub(AROUND_MAX))..range.start)?;
        let after = text.get(end..floor(text, end.saturating_add(AROUND_MAX)))?;
        let line_start = before.rfind('\n').map(|at| at + 1);
        let from = range.start - before.len() + line_start.unwrap_or(0);
        let to = end + after.find('\n').unwrap_or(after.len());
        Some(Window {
            text: text.get(from..to)?.trim_end_matches('\r'),
            line: first as usize,
            span: range.start - from..end - from,
            label: (is_long && last > first).then(|| format!("to line {last}")),
            is_cut: line_start.is_none() && from > 0,
        })
    }

    /// What was drawn of a window that is cut, with the true column instead of the one in the window.
    pub(super) fn placed(&self, drawn: String, path: &str, column: u32) -> String {
        let cut = self.text.get(..self.span.start).map_or(0, |before| before.chars().count()) + 1;
        let place = |column: &dyn std::fmt::Display| format!("{path}:{}:{column}", self.line);
        // The title comes first, and may speak of anything.
        match drawn.split_once('\n') {
            Some((title, rest)) => format!("{title}\n{}", rest.replacen(&place(&cut), &place(&column), 1)),
            None => drawn,
        }
    }
}

/// The first line of what is pointed at, as far as there is room.
fn head(pointed: &str) -> &str {
    let room = pointed.get(..floor(pointed, AROUND_MAX)).unwrap_or(pointed);
    room.split('\n').next().unwrap_or("").trim_end()
}

/// The last character boundary at or before a byte.
fn floor(text: &str, byte: usize) -> usize {
    text.floor_char_boundary(byte)
}
