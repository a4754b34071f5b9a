//! What is wrong with a source's files, with the place and the line shown. Data and text; no rendering.

use std::fmt;

use datafusion::error::DataFusionError;

/// What to do about a file that is damaged or cut off.
pub(crate) const AGAIN: &str = "deliver the file again, under another name first and renamed when complete";

/// Kinds of trouble with a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceErrorKind {
    /// The declaration itself can't work: pattern, columns, time.
    Declaration,
    /// A file, folder or column that must be there is not.
    Missing,
    /// A path that leaves the project's folder.
    Outside,
    /// Bytes that don't read as the declared format and types.
    Malformed,
    /// Files of one source that contradict each other.
    Conflict,
    /// The bytes are not those that the index pinned.
    InputMoved,
    /// The operating system refused.
    Io,
    /// A fault of ours or of a decoder: it panicked.
    Internal,
}

/// Trouble with one source, with the place where it shows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct SourceError {
    /// What kind.
    pub kind: SourceErrorKind,
    /// Path relative to the project's folder, with `/`; the pattern where no file is to blame.
    pub path: String,
    /// Line from 1, for text formats.
    pub line: Option<u64>,
    /// Character in the line, from 1.
    pub column: Option<usize>,
    /// The line, shortened.
    pub shown: Option<String>,
    /// Lower-case fragment, names in backticks.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl SourceError {
    /// Trouble in `path` as a whole.
    pub fn new(kind: SourceErrorKind, path: impl Into<String>, message: impl Into<String>) -> Self {
        SourceError {
            kind,
            path: path.into(),
            line: None,
            column: None,
            shown: None,
            message: message.into(),
            help: None,
        }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the line.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// The trouble with a source that an engine's error stems from, if it does.
    pub fn find(error: &DataFusionError) -> Option<&SourceError> {
        let mut at: Option<&(dyn std::error::Error + 'static)> = Some(error);
        while let Some(error) = at {
            if let Some(found) = error.downcast_ref::<SourceError>() {
                return Some(found);
            }
            at = match error.downcast_ref::<DataFusionError>() {
                Some(DataFusionError::External(inner)) => Some(inner.as_ref()),
                Some(DataFusionError::Shared(inner)) => Some(inner.as_ref()),
                Some(DataFusionError::Context(_, inner)) => Some(inner.as_ref()),
                Some(DataFusionError::Collection(all)) => all.first().map(|first| first as _),
                _ => error.source(),
            };
        }
        None
    }

    pub(crate) fn io(path: &str, what: &str, error: &std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::NotFound => SourceErrorKind::Missing,
            _ => SourceErrorKind::Io,
        };
        let found = SourceError::new(kind, path, format!("{what}: {}", io_text(error)));
        match kind {
            SourceErrorKind::Io => found.help(crate::error::UNREADABLE),
            _ => found,
        }
    }
}

/// The error without its number: the same on every platform.
fn io_text(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        write!(f, ": {}", self.message)?;
        if let (Some(shown), Some(line)) = (&self.shown, self.line) {
            let pad = " ".repeat(line.to_string().len());
            write!(f, "\n{line} | {shown}")?;
            if let Some(column) = self.column {
                write!(f, "\n{pad} | {}^", " ".repeat(column - 1))?;
            }
        }
        match &self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

impl From<SourceError> for DataFusionError {
    fn from(error: SourceError) -> Self {
        DataFusionError::External(Box::new(error))
    }
}

/// The nearest of `names` to `wanted`, where one is near enough to be meant.
pub(crate) fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names
        .into_iter()
        .map(|name| (distance(&wanted.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(distance, _)| {
            *distance <= (wanted.chars().count() + 1) / 3 && *distance + 1 < wanted.len().max(2)
        })
        .min()
        .map(|(_, name)| name)
}

/// Levenshtein's distance.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}
