//! From marked nodes to typed values: each mistake is a diagnostic with its place, and decoding goes on.
//!
//! What each key means is in the submodules; which keys there are is in [`crate::keys`].

pub(crate) mod audit;
pub(crate) mod lint;
pub(crate) mod model;
pub(crate) mod project;
pub(crate) mod source;

use std::collections::BTreeMap;

use oncemore_core::{Diagnostic, Location, Zone};

use crate::keys;
use crate::names::suggest;
use crate::path::{self, PathProblem};
use crate::yaml::{Data, Node};

/// Collects diagnostics while values are taken out of nodes.
#[derive(Default)]
pub(crate) struct Decoder {
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Zones looked up so far: the database is asked once a name.
    zones: BTreeMap<String, Option<Zone>>,
}

/// The entries of a mapping whose keys are known and given once.
#[derive(Clone, Default)]
pub(crate) struct Fields<'n, 'a> {
    entries: Vec<(&'n str, &'n Node<'a>, &'n Node<'a>)>,
}

impl<'n, 'a> Fields<'n, 'a> {
    /// The value of a key.
    pub(crate) fn get(&self, name: &str) -> Option<&'n Node<'a>> {
        self.entries.iter().find(|(key, ..)| *key == name).map(|(_, _, value)| *value)
    }

    /// The node of the key itself.
    pub(crate) fn key_node(&self, name: &str) -> Option<&'n Node<'a>> {
        self.entries.iter().find(|(key, ..)| *key == name).map(|(_, node, _)| *node)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'n str, &'n Node<'a>, &'n Node<'a>)> + '_ {
        self.entries.iter().copied()
    }

    /// These entries, and those of `under` whose keys are not among them.
    pub(crate) fn over(mut self, under: Fields<'n, 'a>) -> Self {
        let added = under.entries.into_iter().filter(|(key, ..)| self.get(key).is_none()).collect::<Vec<_>>();
        self.entries.extend(added);
        self
    }

    /// Without the entries that `keep` refuses.
    pub(crate) fn retain(mut self, keep: impl Fn(&str) -> bool) -> Self {
        self.entries.retain(|(key, ..)| keep(key));
        self
    }
}

impl Decoder {
    pub(crate) fn error(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn wrong_type(&mut self, what: &str, expected: &str, node: &Node) {
        let message = format!("`{what}` must be {expected}, not {}", node.kind());
        let mut error = Diagnostic::error("wrong-type", message, node.location());
        if expected.starts_with("a list")
            && let Data::Scalar(text, _) = &node.data
            && !node.is_null()
        {
            error = error.help(format!("write `[{text}]`"));
        }
        self.error(error);
    }

    /// The entries of a mapping with free keys; duplicates are errors, the first one counts.
    pub(crate) fn entries<'n, 'a>(&mut self, what: &str, node: &'n Node<'a>) -> Fields<'n, 'a> {
        let Data::Map(entries) = &node.data else {
            self.wrong_type(what, "a mapping", node);
            return Fields::default();
        };
        let mut fields = Fields::default();
        for (key, value) in entries {
            let Data::Scalar(name, _) = &key.data else {
                let message = format!("a key of `{what}` must be text, not {}", key.kind());
                self.error(Diagnostic::error("wrong-type", message, key.location()));
                continue;
            };
            if fields.get(name).is_some() {
                let message = format!("`{name}` is given twice in `{what}`");
                self.error(
                    Diagnostic::error("duplicate-key", message, key.location()).help("keep one of them"),
                );
                continue;
            }
            fields.entries.push((name, key, value));
        }
        fields
    }

    /// The entries of a mapping whose keys are those of a scope.
    pub(crate) fn fields<'n, 'a>(&mut self, what: &str, scope: &str, node: &'n Node<'a>) -> Fields<'n, 'a> {
        let all = self.entries(what, node);
        let known: Vec<&str> = keys::of_scope(scope).map(|key| key.name).collect();
        for (name, key, _) in all.iter() {
            if !known.contains(&name) {
                let message = format!("unknown key `{name}` in `{what}`");
                let mut error = Diagnostic::error("unknown-key", message, key.location());
                error.help = suggest(name, &known);
                self.error(error);
            }
        }
        all.retain(|name| known.contains(&name))
    }

    /// An error where a key that must be there is not.
    pub(crate) fn missing(&mut self, key: &str, location: Location, help: &str) {
        let message = format!("`{key}` is missing");
        self.error(Diagnostic::error("missing-key", message, location).help(help));
    }

    /// Text; numbers and the like count as they are written.
    pub(crate) fn text(&mut self, what: &str, node: &Node) -> Option<String> {
        match &node.data {
            Data::Scalar(text, _) if !node.is_null() => Some(text.as_ref().to_owned()),
            _ => {
                self.wrong_type(what, "text", node);
                None
            }
        }
    }

    /// Text that is not empty.
    pub(crate) fn name(&mut self, what: &str, node: &Node) -> Option<String> {
        let text = self.text(what, node)?;
        if text.trim().is_empty() {
            self.error(Diagnostic::error("wrong-value", format!("`{what}` is empty"), node.location()));
            return None;
        }
        Some(text)
    }

    pub(crate) fn count(&mut self, what: &str, node: &Node) -> Option<u64> {
        if let Data::Scalar(text, true) = &node.data
            && let Ok(count) = text.parse()
        {
            return Some(count);
        }
        self.wrong_type(what, "a whole number, 0 or more", node);
        None
    }

    pub(crate) fn boolean(&mut self, what: &str, node: &Node) -> Option<bool> {
        match &node.data {
            Data::Scalar(text, true) if text == "true" => Some(true),
            Data::Scalar(text, true) if text == "false" => Some(false),
            _ => {
                self.wrong_type(what, "true or false", node);
                None
            }
        }
    }

    pub(crate) fn list<'n, 'a>(&mut self, what: &str, node: &'n Node<'a>) -> &'n [Node<'a>] {
        match &node.data {
            Data::List(items) => items,
            _ => {
                self.wrong_type(what, "a list", node);
                &[]
            }
        }
    }

    /// A list of text, each once.
    pub(crate) fn texts(&mut self, what: &str, node: &Node) -> Vec<String> {
        let mut texts = Vec::new();
        for item in self.list(what, node) {
            let Some(text) = self.text(what, item) else { continue };
            if texts.contains(&text) {
                let message = format!("`{text}` is given twice in `{what}`");
                self.error(Diagnostic::error("duplicate-name", message, item.location()));
            } else {
                texts.push(text);
            }
        }
        texts
    }

    /// A list of columns, at least one.
    pub(crate) fn columns(&mut self, what: &str, node: &Node) -> Vec<String> {
        let errors = self.diagnostics.len();
        let columns = self.texts(what, node);
        if columns.is_empty() && self.diagnostics.len() == errors {
            let message = format!("`{what}` names no column");
            self.error(Diagnostic::error("wrong-value", message, node.location()));
        }
        columns
    }

    /// One of a few words.
    pub(crate) fn choice<T: Copy>(&mut self, what: &str, node: &Node, choices: &[(&str, T)]) -> Option<T> {
        let text = self.text(what, node)?;
        if let Some((_, value)) = choices.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let message = format!("`{text}` is no `{what}`");
        let help = suggest(&text, &words).unwrap_or_else(|| format!("known: {}", words.join(", ")));
        self.error(Diagnostic::error("wrong-value", message, node.location()).help(help));
        None
    }

    pub(crate) fn zone(&mut self, what: &str, node: &Node) -> Option<Zone> {
        let text = self.name(what, node)?;
        let found = self.zones.entry(text.clone()).or_insert_with(|| Zone::named(&text)).clone();
        if found.is_none() {
            let known: Vec<String> = jiff::tz::db().available().map(|name| name.to_string()).collect();
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let help =
                suggest(&text, &known).unwrap_or_else(|| "write an IANA name: `America/New_York`".to_owned());
            let message = format!("unknown time zone `{text}`");
            self.error(Diagnostic::error("wrong-value", message, node.location()).help(help));
        }
        found
    }

    /// A date, a wall time or an instant, kept as written.
    pub(crate) fn moment(&mut self, what: &str, node: &Node) -> Option<String> {
        let text = self.text(what, node)?;
        let calendar = oncemore_core::Calendar::new(oncemore_core::IntervalLength::Day, Zone::utc());
        if calendar.parse_instant(&text).is_some() {
            return Some(text);
        }
        let message = format!("`{text}` is no date or instant");
        let help = "write `2013-03-01`, `2013-03-01T05:00` (in the model's zone) or `2013-03-01T05:00Z`";
        self.error(Diagnostic::error("wrong-value", message, node.location()).help(help));
        None
    }

    /// A duration in microseconds.
    pub(crate) fn duration(&mut self, what: &str, node: &Node) -> Option<i64> {
        let text = self.text(what, node)?;
        let parsed = parse_duration(&text);
        if parsed.is_none() {
            let message = format!("`{text}` is no duration");
            let help = "write a number and a unit: `30 minutes`, `2 hours`, `1 day`";
            self.error(Diagnostic::error("wrong-value", message, node.location()).help(help));
        }
        parsed
    }

    /// A path below the project's folder.
    pub(crate) fn path(&mut self, what: &str, node: &Node) -> Option<String> {
        let text = self.text(what, node)?;
        match path::check_inside(&text) {
            Ok(()) => Some(text),
            Err(problem) => {
                self.path_problem(problem, node);
                None
            }
        }
    }

    pub(crate) fn path_problem(&mut self, problem: PathProblem, node: &Node) {
        self.error(Diagnostic::error("path", problem.message, node.location()).help(problem.help));
    }
}

/// Microseconds of a number and a unit, as in `2 hours` and `90s`; `None`: it is no duration.
pub fn parse_duration(text: &str) -> Option<i64> {
    const UNITS: [(&[&str], i64); 5] = [
        (&["s", "second", "seconds"], 1),
        (&["m", "min", "minute", "minutes"], 60),
        (&["h", "hour", "hours"], 3_600),
        (&["d", "day", "days"], 86_400),
        (&["w", "week", "weeks"], 604_800),
    ];
    let text = text.trim();
    let digits = text.find(|char: char| !char.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let (_, seconds) = UNITS.iter().find(|(names, _)| names.contains(&unit.trim()))?;
    number.parse::<i64>().ok()?.checked_mul(*seconds)?.checked_mul(1_000_000)
}
