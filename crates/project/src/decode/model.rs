//! Decodes the settings of one model: its own over the defaults of its folder.

use oncemore_core::{Calendar, Diagnostic, IntervalLength, Location, Zone};

use super::{Decoder, Fields, audit, project};
use crate::model::{Kind, OnChange};
use crate::names::suggest;
use crate::yaml::Node;

/// What a model's comment and its folder's defaults say.
pub(crate) struct ModelSettings {
    pub(crate) kind: Option<Kind>,
    pub(crate) calendar: Option<Calendar>,
    pub(crate) time: Option<String>,
    pub(crate) key: Vec<String>,
    pub(crate) audits: Vec<audit::Decoded>,
    pub(crate) tags: Vec<String>,
    pub(crate) inputs: Vec<(String, Location, OnChange)>,
    pub(crate) start: Option<String>,
    pub(crate) end: Option<String>,
    pub(crate) delay_micros: i64,
    pub(crate) description: Option<String>,
}

/// Kinds of the design that can't be run yet.
const LATER: [&str; 4] = ["merge", "history", "raw", "effect"];

/// Whether a kind has a use for a key.
fn applies(kind: Kind, key: &str) -> bool {
    match kind {
        Kind::Slice => true,
        Kind::Full => matches!(key, "kind" | "key" | "audits" | "tags" | "inputs" | "description"),
        Kind::View => matches!(key, "kind" | "tags" | "description"),
    }
}

/// Decodes a model; `comment` is where its settings are, or should be.
pub(crate) fn decode<'n, 'a>(
    decoder: &mut Decoder,
    own: Option<&'n Node<'a>>,
    defaults: Option<&Fields<'n, 'a>>,
    project_zone: &Zone,
    comment: Location,
) -> ModelSettings {
    let own = own.map(|node| decoder.fields("model", "model", node)).unwrap_or_default();
    let defaults = defaults.cloned().unwrap_or_default();
    let kind_node = own.get("kind").or_else(|| defaults.get("kind"));
    let kind = match kind_node {
        Some(node) => decode_kind(decoder, node),
        None => {
            decoder.missing(
                "kind",
                comment.clone(),
                "begin the file with `/* oncemore`, `kind: slice` (or full, view), `*/`",
            );
            None
        }
    };
    let mut fields = own.clone().over(defaults);
    if let Some(kind) = kind {
        for (name, key, _) in own.iter().filter(|(name, ..)| !applies(kind, name)) {
            decoder.error(
                Diagnostic::error(
                    "wrong-key",
                    format!(
                        "a {} has no `{name}`",
                        if kind == Kind::Full { "full table" } else { kind.name() }
                    ),
                    key.location(),
                )
                .help(reason(kind, name)),
            );
        }
        fields = fields.retain(|name| applies(kind, name));
    }
    let calendar = decode_calendar(decoder, &fields, kind, project_zone, &comment);
    let time = fields.get("time").and_then(|node| decoder.name("time", node));
    if kind == Some(Kind::Slice) && fields.get("time").is_none() {
        decoder.missing("time", comment, "name the output column that decides which slice a row belongs to");
    }
    project::check_order(decoder, &fields);
    ModelSettings {
        kind,
        calendar,
        time,
        key: fields.get("key").map(|node| decoder.columns("key", node)).unwrap_or_default(),
        audits: fields.get("audits").map(|node| audit::decode_all(decoder, node)).unwrap_or_default(),
        tags: fields.get("tags").map(|node| decode_tags(decoder, node)).unwrap_or_default(),
        inputs: fields.get("inputs").map(|node| decode_inputs(decoder, node)).unwrap_or_default(),
        start: fields.get("start").and_then(|node| decoder.moment("start", node)),
        end: fields.get("end").and_then(|node| decoder.moment("end", node)),
        delay_micros: fields.get("delay").and_then(|node| decoder.duration("delay", node)).unwrap_or(0),
        description: fields.get("description").and_then(|node| decoder.text("description", node)),
    }
}

fn reason(kind: Kind, key: &str) -> &'static str {
    match (kind, key) {
        (Kind::View, "audits" | "key" | "inputs") => {
            "a view writes nothing: put it where the rows are written"
        }
        (Kind::View, _) => "a view takes the interval of its reader: remove it",
        _ => "a full table is one slice without interval: remove it, or make it `kind: slice`",
    }
}

fn decode_kind(decoder: &mut Decoder, node: &Node) -> Option<Kind> {
    let text = decoder.text("kind", node)?;
    if LATER.contains(&text.as_str()) {
        let message = format!("kind `{text}` is not built yet");
        decoder.error(
            Diagnostic::error("not-built-yet", message, node.location()).help("use slice, full or view"),
        );
        return None;
    }
    let kinds = [("slice", Kind::Slice), ("full", Kind::Full), ("view", Kind::View)];
    decoder.choice("kind", node, &kinds)
}

fn decode_calendar(
    decoder: &mut Decoder,
    fields: &Fields,
    kind: Option<Kind>,
    project_zone: &Zone,
    comment: &Location,
) -> Option<Calendar> {
    let zone = match fields.get("time_zone") {
        Some(node) => decoder.zone("time_zone", node),
        None => Some(project_zone.clone()),
    };
    let Some(node) = fields.get("interval") else {
        if kind == Some(Kind::Slice) {
            decoder.missing("interval", comment.clone(), "say how long a slice is: `interval: day`");
        }
        return None;
    };
    let text = decoder.text("interval", node)?;
    match text.parse::<IntervalLength>() {
        Ok(length) => zone.map(|zone| Calendar::new(length, zone)),
        Err(_) => {
            let message = format!("`{text}` is no interval length");
            let help = suggest(&text, &IntervalLength::NAMES)
                .filter(|help| help.starts_with("did"))
                .unwrap_or_else(|| {
                    "hour, day, week, month, quarter, year, or minutes that divide the day: `15 minutes`"
                        .to_owned()
                });
            decoder.error(Diagnostic::error("wrong-value", message, node.location()).help(help));
            None
        }
    }
}

fn decode_tags(decoder: &mut Decoder, node: &Node) -> Vec<String> {
    let tags = decoder.texts("tags", node);
    for tag in &tags {
        if tag.is_empty() || tag.contains([',', ' ', ':', '+']) {
            let message = format!("`{tag}` can't be a tag");
            let help = "no comma, space, colon or plus: tags are used in selections";
            decoder.error(Diagnostic::error("wrong-name", message, node.location()).help(help));
        }
    }
    tags
}

fn decode_inputs(decoder: &mut Decoder, node: &Node) -> Vec<(String, Location, OnChange)> {
    let choices = [("rerun", OnChange::Rerun), ("report", OnChange::Report), ("ignore", OnChange::Ignore)];
    let mut inputs = Vec::new();
    for (name, key, node) in decoder.entries("inputs", node).iter() {
        let fields = decoder.fields(name, "input", node);
        let on_change = fields.get("on_change").and_then(|node| decoder.choice("on_change", node, &choices));
        inputs.push((name.to_owned(), key.location(), on_change.unwrap_or_default()));
    }
    inputs
}
