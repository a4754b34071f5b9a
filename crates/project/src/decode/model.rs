//! Decodes the settings of one model: its own over the defaults of its folder.

use oncemore_core::{Calendar, Diagnostic, IntervalLength, Location, Zone};

use super::{Decoder, Fields, audit, project};
use crate::model::{History, Kind, OnChange, OnForeign, Ties};
use crate::names::suggest;
use crate::places::Places;
use crate::yaml::Node;

/// What a model's comment and its folder's defaults say.
pub(crate) struct ModelSettings {
    pub(crate) kind: Option<Kind>,
    pub(crate) calendar: Option<Calendar>,
    pub(crate) time: Option<String>,
    pub(crate) key: Vec<String>,
    pub(crate) effective: Option<String>,
    pub(crate) order: Vec<String>,
    pub(crate) deleted: Option<String>,
    pub(crate) ties: Ties,
    pub(crate) history: Option<History>,
    pub(crate) audits: Vec<audit::Decoded>,
    pub(crate) tags: Vec<String>,
    pub(crate) inputs: Vec<(String, Location, OnChange)>,
    pub(crate) start: Option<String>,
    pub(crate) end: Option<String>,
    pub(crate) delay_micros: i64,
    pub(crate) on_foreign: Option<OnForeign>,
    pub(crate) description: Option<String>,
    pub(crate) places: Places,
}

/// Kinds of the design that can't be run yet.
const LATER: [&str; 2] = ["raw", "effect"];
/// Keys that say how changes are folded.
const FOLDING: [&str; 4] = ["order_by", "effective", "deleted", "ties"];

/// Keys that say how changes become stretches of time.
const HISTORY: [&str; 3] = ["input", "track", "empty"];

/// Whether a kind has a use for a key.
fn applies(kind: Kind, key: &str) -> bool {
    match kind {
        Kind::History => true,
        Kind::Merge => !HISTORY.contains(&key),
        Kind::Slice => !FOLDING.contains(&key) && !HISTORY.contains(&key),
        Kind::Full => {
            matches!(key, "kind" | "key" | "audits" | "tags" | "inputs" | "foreign" | "description")
        }
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
                "begin the file with `/* oncemore`, `kind: slice` (or merge, history, full, view), `*/`",
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
    if has_slices(kind) && fields.get("time").is_none() {
        let help = "name the output column that decides which slice a row belongs to";
        decoder.missing("time", comment.clone(), help);
    }
    if is_folded(kind) && fields.get("key").is_none() {
        decoder.missing(
            "key",
            comment,
            "name the columns of which the table holds one row each: `key: [id]`",
        );
    }
    project::check_order(decoder, &fields);
    let key = fields.get("key").map(|node| decoder.columns("key", node)).unwrap_or_default();
    let effective = fields.get("effective").and_then(|node| decoder.name("effective", node));
    let date = effective.as_ref().or(time.as_ref());
    ModelSettings {
        kind,
        order: decode_order(decoder, &fields, effective.as_ref(), time.as_ref()),
        history: decode_history(decoder, &fields, date, &key).filter(|_| kind == Some(Kind::History)),
        effective,
        deleted: fields.get("deleted").and_then(|node| decoder.text("deleted", node)),
        ties: fields
            .get("ties")
            .and_then(|node| decoder.choice("ties", node, &[("warn", Ties::Warn), ("error", Ties::Error)]))
            .unwrap_or_default(),
        calendar,
        time,
        key,
        audits: fields.get("audits").map(|node| audit::decode_all(decoder, node)).unwrap_or_default(),
        tags: fields.get("tags").map(|node| decode_tags(decoder, node)).unwrap_or_default(),
        inputs: fields.get("inputs").map(|node| decode_inputs(decoder, node)).unwrap_or_default(),
        start: fields.get("start").and_then(|node| decoder.moment("start", node)),
        end: fields.get("end").and_then(|node| decoder.moment("end", node)),
        delay_micros: fields.get("delay").and_then(|node| decoder.duration("delay", node)).unwrap_or(0),
        on_foreign: project::decode_foreign(decoder, &fields),
        description: fields.get("description").and_then(|node| decoder.text("description", node)),
        places: Places::of(&fields),
    }
}

fn is_folded(kind: Option<Kind>) -> bool {
    matches!(kind, Some(Kind::Merge | Kind::History))
}

fn has_slices(kind: Option<Kind>) -> bool {
    kind == Some(Kind::Slice) || is_folded(kind)
}

/// How a history tracks; `date` is the column that dates changes: `effective`, or `time` where it is not given.
fn decode_history(
    decoder: &mut Decoder,
    fields: &Fields,
    date: Option<&String>,
    key: &[String],
) -> Option<History> {
    let inputs = [("changes", true), ("snapshot", false)];
    let changes = fields.get("input").and_then(|node| decoder.choice("input", node, &inputs)).unwrap_or(true);
    if let (false, Some(node)) = (changes, fields.get("effective")) {
        let message = "snapshots are dated by their interval's start: they have no `effective`";
        decoder.error(Diagnostic::error("wrong-key", message, node.location()).help("remove it"));
    }
    let allowed = [("error", false), ("allowed", true)];
    let track = fields.get("track").map(|node| decoder.columns("track", node)).unwrap_or_default();
    if let Some((node, column)) = fields.get("track").zip(track.iter().find(|column| key.contains(column))) {
        let message = format!("`track` names `{column}`, which is part of `key`: it never changes");
        let help = "name columns whose changes begin a stretch of time; without `track` all others do";
        decoder.error(Diagnostic::error("wrong-key", message, node.location()).help(help));
    }
    Some(History {
        at: date.filter(|_| changes).cloned(),
        track,
        empty: fields.get("empty").and_then(|node| decoder.choice("empty", node, &allowed)).unwrap_or(false),
    })
}

/// Columns that order the changes of a key: `effective` first, then `order_by`; with neither, `time`.
fn decode_order(
    decoder: &mut Decoder,
    fields: &Fields,
    effective: Option<&String>,
    time: Option<&String>,
) -> Vec<String> {
    let mut order: Vec<String> = effective.into_iter().cloned().collect();
    let listed = fields.get("order_by").map(|node| decoder.columns("order_by", node)).unwrap_or_default();
    order.extend(listed.into_iter().filter(|column| !order.contains(column)).collect::<Vec<_>>());
    if order.is_empty() {
        order.extend(time.cloned());
    }
    order
}

fn reason(kind: Kind, key: &str) -> &'static str {
    match (kind, key) {
        (Kind::Merge, _) => {
            "a merge holds the last change of a key: remove it, or make the model `kind: history`"
        }
        (Kind::Slice, _) => "a slice keeps every row: remove it, or make the model `kind: merge`",
        (Kind::View, "audits" | "key" | "inputs" | "foreign") => {
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
            Diagnostic::error("not-built-yet", message, node.location())
                .help("use slice, merge, history, full or view"),
        );
        return None;
    }
    let kinds = [
        ("slice", Kind::Slice),
        ("merge", Kind::Merge),
        ("history", Kind::History),
        ("full", Kind::Full),
        ("view", Kind::View),
    ];
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
        if has_slices(kind) {
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
