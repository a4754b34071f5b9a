//! Decodes `oncemore.yml`.

use std::collections::BTreeMap;

use oncemore_core::{Diagnostic, Location, Zone};

use super::{Decoder, Fields, lint, source};
use crate::lint::{LintSettings, facts_of};
use crate::model::{Limits, OnForeign, Source, Variable};
use crate::yaml::{Data, Node};

/// What `oncemore.yml` says.
pub(crate) struct Settings<'n, 'a> {
    pub(crate) name: String,
    pub(crate) warehouse: String,
    pub(crate) start: Option<String>,
    pub(crate) end: Option<String>,
    pub(crate) time_zone: Zone,
    pub(crate) sources: Vec<Source>,
    /// Names of sources that are declared, right or wrong: reading one is no second error.
    pub(crate) declared: Vec<(String, Location)>,
    pub(crate) variables: BTreeMap<String, Variable>,
    pub(crate) limits: Limits,
    pub(crate) on_foreign: OnForeign,
    pub(crate) lint: LintSettings,
    /// Keys of models by schema, and where the schema is named.
    pub(crate) defaults: BTreeMap<&'n str, (Location, Fields<'n, 'a>)>,
}

impl Settings<'_, '_> {
    /// What counts where nothing is said.
    pub(crate) fn empty() -> Self {
        Settings {
            name: String::new(),
            warehouse: "warehouse".to_owned(),
            start: None,
            end: None,
            time_zone: Zone::utc(),
            sources: Vec::new(),
            declared: Vec::new(),
            variables: BTreeMap::new(),
            limits: Limits::default(),
            on_foreign: OnForeign::default(),
            lint: LintSettings::default(),
            defaults: BTreeMap::new(),
        }
    }
}

/// Decodes the root of `oncemore.yml`.
pub(crate) fn decode<'n, 'a>(decoder: &mut Decoder, root: &'n Node<'a>) -> Settings<'n, 'a> {
    let mut settings = Settings::empty();
    let fields = decoder.fields("oncemore.yml", "project", root);
    match fields.get("name") {
        Some(node) => settings.name = decode_name(decoder, node).unwrap_or_default(),
        None if !matches!(root.data, Data::Map(_)) => {}
        None => {
            let location = Location { path: root.path.to_owned(), start: root.start, end: root.start };
            decoder.missing("name", location, "begin with `name: <project>`");
        }
    }
    if let Some(node) = fields.get("time_zone") {
        settings.time_zone = decoder.zone("time_zone", node).unwrap_or(settings.time_zone);
    }
    if let Some(node) = fields.get("warehouse") {
        settings.warehouse = decode_warehouse(decoder, node).unwrap_or(settings.warehouse);
    }
    settings.start = fields.get("start").and_then(|node| decoder.moment("start", node));
    settings.end = fields.get("end").and_then(|node| decoder.moment("end", node));
    check_order(decoder, &fields);
    for (name, node) in
        fields.get("variables").map(|node| decode_variables(decoder, node)).unwrap_or_default()
    {
        settings.variables.insert(name, node);
    }
    if let Some(node) = fields.get("limits") {
        let limits = decoder.fields("limits", "limits", node);
        if let Some(tasks) = limits.get("tasks").and_then(|node| decoder.count("tasks", node)) {
            settings.limits.tasks = tasks;
        }
        if let Some(node) = limits.get("lease") {
            settings.limits.lease_micros =
                decode_lease(decoder, node).unwrap_or(settings.limits.lease_micros);
        }
    }
    settings.on_foreign = decode_foreign(decoder, &fields).unwrap_or_default();
    if let Some(node) = fields.get("lint") {
        settings.lint = lint::decode(decoder, "lint", node);
    }
    if let Some(node) = fields.get("sources") {
        for (name, key, node) in decoder.entries("sources", node).iter() {
            settings.declared.push((name.to_owned(), key.location()));
            settings.sources.extend(source::decode(decoder, key, name, node, &settings.time_zone));
        }
        settings.sources.sort_by(|a, b| a.spec.name.cmp(&b.spec.name));
        settings.lint.sources = settings.sources.iter().map(|source| facts_of(&source.spec)).collect();
    }
    if let Some(node) = fields.get("defaults") {
        for (schema, key, node) in decoder.entries("defaults", node).iter() {
            let fields = decoder.fields(schema, "model", node);
            settings.defaults.insert(schema, (key.location(), fields));
        }
    }
    settings
}

fn decode_name(decoder: &mut Decoder, node: &Node) -> Option<String> {
    let name = decoder.name("name", node)?;
    if name.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-')) {
        return Some(name);
    }
    let message = format!("`{name}` can't be a project's name");
    decoder.error(
        Diagnostic::error("wrong-name", message, node.location()).help("use letters, digits, `_` and `-`"),
    );
    None
}

/// What a write of somebody else does, where it is said.
pub(crate) fn decode_foreign(decoder: &mut Decoder, fields: &Fields) -> Option<OnForeign> {
    let choices = [("warn", OnForeign::Warn), ("error", OnForeign::Error), ("adopt", OnForeign::Adopt)];
    fields.get("foreign").and_then(|node| decoder.choice("foreign", node, &choices))
}

/// Between what a busy machine can keep up, and what makes somebody wait for a dead one all day.
fn decode_lease(decoder: &mut Decoder, node: &Node) -> Option<i64> {
    let micros = decoder.duration("lease", node)?;
    if (1_000_000..=86_400_000_000).contains(&micros) {
        return Some(micros);
    }
    let message = "`lease` must lie between a second and a day";
    let help = "a minute is what counts without it: leave it out, or write `lease: 5 minutes`";
    decoder.error(Diagnostic::error("wrong-value", message, node.location()).help(help));
    None
}

fn decode_warehouse(decoder: &mut Decoder, node: &Node) -> Option<String> {
    let path = decoder.path("warehouse", node)?;
    let path = path.trim_end_matches('/').trim_start_matches("./");
    let first = path.split('/').next().unwrap_or_default();
    if path.is_empty() || path.contains(['*', '?', '{', '[']) || matches!(first, "." | "models" | "tests") {
        let message = "`warehouse` must be a folder of its own";
        let help = "write `warehouse: warehouse`";
        decoder.error(Diagnostic::error("path", message, node.location()).help(help));
        return None;
    }
    Some(path.to_owned())
}

/// `start` before `end`, where both can be compared.
pub(crate) fn check_order(decoder: &mut Decoder, fields: &Fields) {
    let calendar = oncemore_core::Calendar::new(oncemore_core::IntervalLength::Day, Zone::utc());
    let at = |name: &str| match fields.get(name).map(|node| &node.data) {
        Some(Data::Scalar(text, _)) => calendar.parse_instant(text),
        _ => None,
    };
    if let (Some(start), Some(end), Some(node)) = (at("start"), at("end"), fields.get("end"))
        && start >= end
    {
        let message = "`end` does not come after `start`";
        decoder.error(Diagnostic::error("wrong-value", message, node.location()));
    }
}

fn decode_variables(decoder: &mut Decoder, node: &Node) -> Vec<(String, Variable)> {
    let mut variables = Vec::new();
    for (name, key, node) in decoder.entries("variables", node).iter() {
        let starts = name.starts_with(|char: char| char.is_ascii_lowercase() || char == '_');
        let rest = name.chars().all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_');
        if !(starts && rest) {
            let message = format!("`{name}` can't be a variable's name");
            let help = "use a-z, 0-9 and _, starting with a letter";
            decoder.error(Diagnostic::error("wrong-name", message, key.location()).help(help));
            continue;
        }
        if matches!(name, "interval_start" | "interval_end") {
            let message = format!("`:{name}` is the task's own, no variable");
            decoder.error(Diagnostic::error("wrong-name", message, key.location()).help("take another name"));
            continue;
        }
        if let Some(value) = variable(decoder, name, node) {
            variables.push((name.to_owned(), value));
        }
    }
    variables
}

fn variable(decoder: &mut Decoder, name: &str, node: &Node) -> Option<Variable> {
    let text = decoder.text(name, node)?;
    if let Data::Scalar(_, true) = &node.data {
        if let Some(value) = match text.as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        } {
            return Some(Variable::Boolean(value));
        }
        if let Ok(value) = text.parse() {
            return Some(Variable::Integer(value));
        }
        let numeric = text.starts_with(|char: char| char.is_ascii_digit() || matches!(char, '-' | '+' | '.'));
        if let Ok(value) = text.parse::<f64>()
            && numeric
            && value.is_finite()
        {
            return Some(Variable::Float(value));
        }
    }
    Some(Variable::Text(text))
}
