//! The two streams: stdout is data, stderr is talk. The only place that writes to either.

use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;
use serde::Serialize;

use crate::render::Look;

/// Form of the data on stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people.
    Text,
    /// For programs: documented in docs/json.md, stable.
    Json,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The streams and how their reader looks at them.
#[derive(Clone, Copy, Debug)]
pub struct Ui {
    /// Form of the data.
    pub output: Output,
    /// How data are looked at.
    pub out: Look,
    /// How talk is looked at.
    pub err: Look,
    /// Whether stderr is a terminal that can show a bar.
    pub bar: bool,
}

impl Ui {
    /// The streams of this process.
    pub fn new(output: Output, color: Color) -> Self {
        let width = terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0)).max(40);
        let unicode = is_utf8();
        let dumb = variable("TERM").is_some_and(|term| term == "dumb");
        let look = |is_terminal: bool| Look {
            width,
            unicode,
            color: match color {
                Color::Always => true,
                Color::Never => false,
                Color::Auto => is_terminal && !dumb && variable("NO_COLOR").is_none(),
            },
        };
        let err_is_terminal = io::stderr().is_terminal();
        Ui {
            output,
            out: look(io::stdout().is_terminal()),
            err: look(err_is_terminal),
            bar: err_is_terminal && !dumb,
        }
    }

    /// Whether data are for programs.
    pub fn is_json(&self) -> bool {
        self.output == Output::Json
    }

    /// Writes data.
    ///
    /// # Errors
    /// stdout can't be written to; a reader that has gone is [`io::ErrorKind::BrokenPipe`].
    pub fn data(&self, text: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()
    }

    /// Writes data for programs: one JSON document and a line end.
    ///
    /// # Errors
    /// As [`Ui::data`].
    pub fn json(&self, value: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
        text.push('\n');
        self.data(&text)
    }

    /// Writes talk. Nobody listening is no failure.
    pub fn talk(&self, text: &str) {
        let mut stderr = io::stderr().lock();
        let end = if text.ends_with('\n') { "" } else { "\n" };
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.write_all(end.as_bytes()));
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn is_utf8() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable);
    // Containers often set no locale at all, and their terminals show UTF-8; only a locale that says otherwise counts.
    locale.is_none_or(|locale| {
        let lower = locale.to_ascii_lowercase();
        lower.contains("utf-8") || lower.contains("utf8")
    })
}
