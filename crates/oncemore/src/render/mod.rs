//! From data to text: pure functions of what is to be shown and of how the reader looks at it.
//!
//! Nothing here prints, reads the environment or knows where the data come from.

pub mod broken;
pub mod cause;
pub mod diagnostic;
pub mod diff;
pub mod error;
pub mod explain;
pub mod github;
pub mod lint;
pub mod number;
pub mod page;
pub mod plan;
pub mod progress;
pub mod ranges;
pub mod rebuild;
pub mod sarif;
pub mod status;
pub mod table;
#[cfg(test)]
pub(crate) mod tests;

use anstyle::{AnsiColor, Style};

/// How the reader looks at the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether escape codes for colour are understood.
    pub color: bool,
    /// Whether more than ASCII can be shown.
    pub unicode: bool,
}

/// What a piece of text means; decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// As it should be.
    Good,
    /// Vouched for.
    Vouched,
    /// To be done.
    Due,
    /// Can't go on yet.
    Waiting,
    /// Needs work.
    Stale,
    /// Held back.
    Held,
    /// Went wrong.
    Bad,
    /// A name or a heading.
    Strong,
    /// Less important.
    Dim,
}

impl Look {
    /// ASCII, no colour: what a file gets.
    pub const PLAIN: Look = Look { width: 100, color: false, unicode: false };

    /// `text`, painted if colours are on.
    pub fn paint(&self, paint: Paint, text: impl std::fmt::Display) -> String {
        if !self.color {
            return text.to_string();
        }
        let style = paint.style();
        format!("{style}{text}{style:#}")
    }

    /// `unicode` where it can be shown, else `ascii`.
    pub fn pick<'a>(&self, unicode: &'a str, ascii: &'a str) -> &'a str {
        if self.unicode { unicode } else { ascii }
    }
}

impl Paint {
    fn style(self) -> Style {
        let colored = |color: AnsiColor| color.on_default();
        match self {
            Paint::Good => colored(AnsiColor::Green),
            Paint::Vouched => colored(AnsiColor::Cyan),
            Paint::Due => colored(AnsiColor::Blue),
            Paint::Waiting => colored(AnsiColor::BrightBlack),
            Paint::Stale => colored(AnsiColor::Yellow),
            Paint::Held => colored(AnsiColor::Magenta),
            Paint::Bad => colored(AnsiColor::Red).bold(),
            Paint::Strong => Style::new().bold(),
            Paint::Dim => Style::new().dimmed(),
        }
    }
}
