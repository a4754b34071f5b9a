//! Decodes the settings of lint: the section `lint` of `oncemore.yml`, or a file of their own.

use oncemore_core::Diagnostic;
use oncemore_lint::{Dialect, Severity, page};

use super::Decoder;
use crate::lint::{Level, LintSettings, PathAllowance, Pattern};
use crate::names::{nearest, suggest};
use crate::yaml::Node;

/// Decodes a mapping with the keys of lint.
pub(crate) fn decode(decoder: &mut Decoder, what: &str, node: &Node) -> LintSettings {
    let mut settings = LintSettings::default();
    let fields = decoder.fields(what, "lint", node);
    settings.dialect = fields.get("dialect").and_then(|node| dialect(decoder, "dialect", node));
    if let Some(node) = fields.get("dialects") {
        for (text, key, node) in decoder.entries("dialects", node).iter() {
            let pair = (pattern(decoder, text, key), dialect(decoder, text, node));
            if let (Some(pattern), Some(dialect)) = pair {
                settings.dialects.push((pattern, dialect));
            }
        }
    }
    if let Some(node) = fields.get("rules") {
        for (word, key, node) in decoder.entries("rules", node).iter() {
            let rules = rules(decoder, word, key);
            let level = decoder.choice("severity", node, &LEVELS);
            settings.rules.extend(level.iter().flat_map(|level| rules.iter().map(|rule| (*rule, *level))));
        }
    }
    if let Some(node) = fields.get("ignore") {
        settings.ignore = patterns(decoder, "ignore", node);
    }
    if let Some(node) = fields.get("run_once") {
        settings.run_once = patterns(decoder, "run_once", node);
    }
    if let Some(node) = fields.get("provenance") {
        settings.provenance =
            decoder.texts("provenance", node).into_iter().map(|name| name.to_lowercase()).collect();
    }
    settings.atomic_scripts =
        fields.get("atomic_scripts").and_then(|node| decoder.boolean("atomic_scripts", node)) == Some(true);
    settings.baseline = fields.get("baseline").and_then(|node| decoder.path("baseline", node));
    if let Some(node) = fields.get("allow") {
        for item in decoder.list("allow", node) {
            settings.allow.extend(allowance(decoder, item));
        }
    }
    settings
}

const LEVELS: [(&str, Level); 4] = [
    ("error", Level::At(Severity::Error)),
    ("warning", Level::At(Severity::Warning)),
    ("info", Level::At(Severity::Info)),
    ("off", Level::Off),
];

fn dialect(decoder: &mut Decoder, what: &str, node: &Node) -> Option<Dialect> {
    let text = decoder.text(what, node)?;
    let found = Dialect::named(&text);
    if found.is_none() {
        let known = Dialect::ALL.map(Dialect::name);
        let error = Diagnostic::error("wrong-value", format!("`{text}` is no dialect"), node.location());
        let help = suggest(&text, &known).unwrap_or_default();
        decoder.error(error.help(help));
    }
    found
}

fn pattern(decoder: &mut Decoder, text: &str, node: &Node) -> Option<Pattern> {
    match Pattern::new(text) {
        Ok(pattern) => Some(pattern),
        Err(why) => {
            let error = Diagnostic::error("path", format!("`{text}` is no pattern: {why}"), node.location());
            decoder
                .error(error.help("write `folder/`, `*.ending` or `folder/**/*.sql`, relative to this file"));
            None
        }
    }
}

fn patterns(decoder: &mut Decoder, what: &str, node: &Node) -> Vec<Pattern> {
    let mut patterns = Vec::new();
    for item in decoder.list(what, node) {
        if let Some(text) = decoder.name(what, item) {
            patterns.extend(pattern(decoder, &text, item));
        }
    }
    patterns
}

/// The rules that a word means: an id, a name, or how ids begin.
fn rules(decoder: &mut Decoder, word: &str, node: &Node) -> Vec<&'static str> {
    let found = page::select(word);
    if found.is_empty() {
        let error = Diagnostic::error("unknown-rule", format!("there is no rule `{word}`"), node.location());
        let known = page::all();
        let near = nearest(word, known.iter().flat_map(|page| [page.id, page.name]));
        let help = near.map_or_else(
            || "`oncemore lint --explain` lists the rules".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        decoder.error(error.help(help));
    }
    found
}

fn allowance(decoder: &mut Decoder, node: &Node) -> Option<PathAllowance> {
    let errors = decoder.diagnostics.len();
    let fields = decoder.fields("allow", "lint_allow", node);
    if decoder.diagnostics.len() > errors {
        return None;
    }
    for (key, help) in [
        ("path", "which files: `path: legacy/`"),
        ("rules", "what is allowed there: `rules: [OM301]`"),
        ("because", "nothing is allowed without a reason: `because: <reason>`"),
    ] {
        if fields.get(key).is_none() {
            decoder.missing(key, node.location(), help);
        }
    }
    let (path, list, because) = (fields.get("path")?, fields.get("rules")?, fields.get("because")?);
    let path = decoder.name("path", path).and_then(|text| pattern(decoder, &text, path));
    let mut ids = Vec::new();
    for item in decoder.list("rules", list) {
        if let Some(word) = decoder.text("rules", item) {
            ids.extend(rules(decoder, &word, item));
        }
    }
    let because = decoder.name("because", because);
    Some(PathAllowance { path: path?, rules: ids, because: because? })
}
