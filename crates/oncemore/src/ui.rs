//! The two streams: stdout is data, stderr is talk. The only place that writes to either.

use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;
use oncemore_core::Instant;
use serde::Serialize;
use serde_json::Value;

use crate::render::Look;

/// Form of the data on stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people.
    Text,
    /// For programs: documented in docs/json.md, stable.
    Json,
    /// `lint`: for code scanning, SARIF 2.1.0.
    Sarif,
    /// `lint`: annotations in a workflow of GitHub.
    Github,
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
        let mut value = serde_json::to_value(value).map_err(io::Error::other)?;
        spell_instants(&mut value);
        self.json_as_is(&value)
    }

    /// As [`Ui::json`], for values whose names are the user's and mean nothing to us.
    ///
    /// # Errors
    /// As [`Ui::data`].
    pub fn json_as_is(&self, value: &Value) -> io::Result<()> {
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

/// Names of fields that hold instants, which the ledger stores as microseconds and readers want as RFC 3339.
const INSTANTS: [&str; 9] =
    ["start", "end", "changed_at", "verified_at", "started", "ended", "code_seen", "since", "seen"];

/// Writes instants as RFC 3339 in UTC; the edges of a whole table are null.
fn spell_instants(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(spell_instants),
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                let micros = field.as_i64().filter(|_| INSTANTS.contains(&name.as_str())).map(Instant);
                match micros {
                    Some(Instant::MIN | Instant::MAX) => *field = Value::Null,
                    Some(instant) => *field = Value::String(instant.to_string()),
                    None => spell_instants(field),
                }
            }
        }
        _ => {}
    }
}

#[expect(clippy::disallowed_methods, reason = "the binary is the one place that reads the environment")]
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

#[cfg(test)]
mod tests {
    use oncemore_core::{Instant, Interval};

    use super::spell_instants;

    #[test]
    fn instants_are_spelled_out_for_programs() {
        let day = Interval::new(Instant(1_362_114_000_000_000), Instant(1_362_200_400_000_000));
        let mut value = serde_json::json!({
            "slices": [{ "interval": day, "changed_at": Instant(0), "rows": 5 }, { "interval": Interval::WHOLE }],
        });
        spell_instants(&mut value);
        assert_eq!(
            value.to_string(),
            "{\"slices\":[{\"changed_at\":\"1970-01-01T00:00:00Z\",\
             \"interval\":{\"end\":\"2013-03-02T05:00:00Z\",\"start\":\"2013-03-01T05:00:00Z\"},\"rows\":5},\
             {\"interval\":{\"end\":null,\"start\":null}}]}"
        );
    }
}
