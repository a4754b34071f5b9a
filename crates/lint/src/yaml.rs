//! YAML to JSON: of headers and of dbt's files only the data counts, and their positions are not needed.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value as Json};

const DEPTH_MAX: usize = 64;
/// Nodes that aliases may copy, so that a small file can't become a huge tree.
const COPIES_MAX: usize = 100_000;

enum Open {
    List(Vec<Json>, usize),
    Map(Map<String, Json>, Option<String>, usize),
}

/// The first document of a text; null where it is empty.
///
/// # Errors
/// Why the text is not YAML, in words.
pub(crate) fn parse(text: &str) -> Result<Json, String> {
    let mut open: Vec<Open> = Vec::new();
    let mut anchors: HashMap<usize, Json> = HashMap::new();
    let mut copied = 0;
    for event in Parser::new_from_str(text) {
        let (event, _) =
            event.map_err(|error| format!("YAML, line {}: {}", error.marker().line(), error.info()))?;
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, _) => (scalar(&text, style), anchor),
            Event::Alias(anchor) => {
                let value = anchors.get(&anchor).cloned().unwrap_or(Json::Null);
                copied += size(&value);
                if copied > COPIES_MAX {
                    return Err("YAML: aliases copy too much".to_owned());
                }
                (value, 0)
            }
            Event::SequenceStart(anchor, _) => {
                open.push(Open::List(Vec::new(), anchor));
                if open.len() > DEPTH_MAX {
                    return Err("YAML: nested too deep".to_owned());
                }
                continue;
            }
            Event::MappingStart(anchor, _) => {
                open.push(Open::Map(Map::new(), None, anchor));
                if open.len() > DEPTH_MAX {
                    return Err("YAML: nested too deep".to_owned());
                }
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(items, anchor)) => (Json::Array(items), anchor),
                Some(Open::Map(items, _, anchor)) => (Json::Object(items), anchor),
                None => continue,
            },
            Event::DocumentEnd | Event::StreamEnd => return Ok(Json::Null),
            _ => continue,
        };
        if anchor != 0 {
            anchors.insert(anchor, value.clone());
        }
        match open.last_mut() {
            None => return Ok(value),
            Some(Open::List(items, _)) => items.push(value),
            Some(Open::Map(items, key, _)) => put(items, key, value),
        }
    }
    Ok(Json::Null)
}

fn put(items: &mut Map<String, Json>, key: &mut Option<String>, value: Json) {
    match key.take() {
        None => *key = Some(text_of(&value)),
        Some(key) if key == "<<" => {
            let merged = match value {
                Json::Array(parts) => parts,
                one => vec![one],
            };
            for part in merged {
                if let Json::Object(part) = part {
                    for (key, value) in part {
                        items.entry(key).or_insert(value);
                    }
                }
            }
        }
        Some(key) => {
            items.insert(key, value);
        }
    }
}

/// Any scalar as text.
pub(crate) fn text_of(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Null => String::new(),
        other => other.to_string(),
    }
}

fn size(value: &Json) -> usize {
    match value {
        Json::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Json::Object(items) => 1 + items.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Json {
    if !matches!(style, ScalarStyle::Plain) {
        return Json::String(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Json::Null,
        "true" | "True" | "TRUE" | "yes" | "Yes" | "on" => Json::Bool(true),
        "false" | "False" | "FALSE" | "no" | "No" | "off" => Json::Bool(false),
        _ => match text.parse::<i64>() {
            Ok(value) => Json::from(value),
            Err(_) => match text.parse::<f64>() {
                Ok(value) if text.contains('.') && value.is_finite() => Json::from(value),
                _ => Json::String(text.to_owned()),
            },
        },
    }
}
