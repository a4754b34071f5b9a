//! What is wrong, where, and what to type next: plain data, rendered by the binary alone.

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Likely wrong.
    Warning,
    /// Nothing runs until it is mended.
    Error,
}

/// A place in a file of the project: byte range into its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Location {
    /// Path relative to the project's folder, with `/`.
    pub path: String,
    /// First byte.
    pub start: usize,
    /// First byte after.
    pub end: usize,
}

/// One thing said about a project, with its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// How bad.
    pub severity: Severity,
    /// Stable short name, `unknown-key` say.
    pub code: &'static str,
    /// Lower-case fragment, names in backticks.
    pub message: String,
    /// Where, if it is in a file.
    pub location: Option<Location>,
    /// What the place is, printed beside the carets.
    pub label: Option<String>,
    /// What to write or type instead.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(
        code: &'static str,
        message: impl Into<String>,
        location: impl Into<Option<Location>>,
    ) -> Self {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            location: location.into(),
            label: None,
            help: None,
        }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds what the place is.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }
}

/// Line and column of a byte offset, both from 1, the column counted in characters.
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
