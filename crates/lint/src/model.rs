//! The header of one of our own models, as far as lint needs it, and the write that it stands for.

use serde_json::Value as Json;

use crate::ir::{Action, ModelWrite, Name, Verb, Write};
use crate::script::Script;
use crate::text::Span;

/// What a model's header says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Header {
    /// `slice`, `merge`, `history`, `full`, `view`.
    pub kind: String,
    /// Length of an interval.
    pub interval: Option<String>,
    /// Output column that decides which slice a row belongs to.
    pub time: Option<String>,
    /// Key columns.
    pub key: Vec<String>,
    /// Columns that are stamps, not content.
    pub provenance: Vec<String>,
    /// The model's time zone.
    pub time_zone: Option<String>,
    /// Columns with an audit `not_null`.
    pub not_null: Vec<String>,
    /// Column by which changes are ordered.
    pub order_by: Vec<String>,
}

/// The header of a text that is one of our models: a leading comment whose first word is `oncemore`.
#[must_use]
pub fn header(text: &str) -> Option<Header> {
    let inner = text.trim_start().strip_prefix("/*")?.trim_start().strip_prefix("oncemore")?;
    let yaml = inner.get(..inner.find("*/")?)?;
    if !yaml.starts_with(['\n', '\r', ' ', '\t']) {
        return None;
    }
    let mut header = Header { kind: "slice".to_string(), ..Header::default() };
    let Ok(root) = crate::yaml::parse(yaml) else { return Some(header) };
    let word = |name: &str| root.get(name).and_then(Json::as_str).map(str::to_ascii_lowercase);
    let list = |name: &str| root.get(name).map_or_else(Vec::new, words);
    if let Some(kind) = word("kind") {
        header.kind = kind;
    }
    header.interval = word("interval");
    header.time = word("time");
    header.time_zone = word("time_zone");
    header.key = list("key");
    header.provenance = list("provenance");
    header.order_by = list("order_by");
    let audits = root.get("audits").and_then(Json::as_array);
    for columns in audits.into_iter().flatten().filter_map(|audit| audit.get("not_null")) {
        header.not_null.extend(words(columns));
    }
    Some(header)
}

fn words(node: &Json) -> Vec<String> {
    match node {
        Json::Array(list) => list.iter().filter_map(Json::as_str).map(str::to_ascii_lowercase).collect(),
        one => one.as_str().map(|word| vec![word.to_ascii_lowercase()]).unwrap_or_default(),
    }
}

/// Makes the query of a model the write it stands for.
pub(crate) fn apply(script: &mut Script, header: Header) {
    let target = target_of(&script.path);
    let verb = Verb::Model(match header.kind.as_str() {
        "merge" | "history" => ModelWrite::Keyed,
        "full" => ModelWrite::Full,
        "view" => ModelWrite::View,
        _ => ModelWrite::Slice,
    });
    for statement in &mut script.statements {
        if let Action::Select(query) = statement.action {
            let start = statement.span.start;
            let head = Span { start, end: start + 6 };
            let write = Write {
                verb,
                span: statement.span,
                head,
                target: target.clone(),
                source: Some(query),
                ..Write::empty()
            };
            statement.action = Action::Write;
            statement.writes.push(write);
        }
    }
    script.index = crate::facts::ScriptIndex::of(&script.statements);
    script.model = Some(header);
}

/// `models/gold/flights.sql` is `gold.flights`.
fn target_of(path: &str) -> Name {
    let path = path.strip_suffix(".sql").unwrap_or(path).to_ascii_lowercase();
    let mut parts: Vec<String> = path.rsplit(['/', '\\']).take(2).map(str::to_string).collect();
    parts.reverse();
    Name { parts, span: Span::NOWHERE }
}
