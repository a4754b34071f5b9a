//! Decodes one source.

use oncemore_core::{ColumnType, CompleteWhen, Diagnostic, Format, Missing, SourceSpec, TableName, Zone};

use super::{Decoder, Fields};
use crate::model::Source;
use crate::names::suggest;
use crate::path;
use crate::yaml::Node;

/// Formats by name, and the endings that mean them.
const FORMATS: [(&str, &[&str]); 3] =
    [("csv", &["csv"]), ("ndjson", &["ndjson", "jsonl"]), ("parquet", &["parquet"])];

/// The types, for who wrote none of them.
const TYPES: &str = "known: BOOLEAN, INTEGER, BIGINT, REAL, DOUBLE, DECIMAL(p, s), TEXT, DATE, TIMESTAMP, TIMESTAMPTZ, BINARY";

/// The source called by `key`, where enough of it is right.
pub(crate) fn decode(
    decoder: &mut Decoder,
    key: &Node,
    name: &str,
    node: &Node,
    zone: &Zone,
) -> Option<Source> {
    let table = match name.parse::<TableName>() {
        Ok(table) => Some(table),
        Err(error) => {
            decoder.error(Diagnostic::error("wrong-name", error.to_string(), key.location()));
            None
        }
    };
    let fields = decoder.fields(name, "source", node);
    let path = decode_path(decoder, &fields, key);
    let format = decode_format(decoder, &fields, path.as_ref().map(|(path, _)| path.as_str()), key);
    let columns = decode_columns(decoder, &fields);
    let time_zone = fields.get("time_zone").and_then(|node| decoder.zone("time_zone", node));
    let choices = [("wait", Missing::Wait), ("empty", Missing::Empty), ("error", Missing::Error)];
    let missing = fields.get("missing").and_then(|node| decoder.choice("missing", node, &choices));
    let complete_when = fields.get("complete_when").and_then(|node| decode_complete(decoder, node));
    let time = fields.get("time").and_then(|node| decoder.name("time", node));
    let keys = fields.get("key").map(|node| decoder.columns("key", node)).unwrap_or_default();
    check_columns(decoder, &fields, format.as_ref(), &columns);
    let (path, path_interval) = path?;
    let default_missing = if path_interval.is_some() { Missing::Wait } else { Missing::Error };
    let spec = SourceSpec {
        name: table?.to_string(),
        path,
        format: format?,
        columns,
        time,
        key: keys,
        time_zone: time_zone.as_ref().unwrap_or(zone).name().to_owned(),
        path_interval,
        missing: missing.unwrap_or(default_missing),
        complete_when,
    };
    Some(Source { spec, location: key.location() })
}

fn decode_path(
    decoder: &mut Decoder,
    fields: &Fields,
    key: &Node,
) -> Option<(String, Option<oncemore_core::IntervalLength>)> {
    let Some(node) = fields.get("path") else {
        decoder.missing("path", key.location(), "say where the files are: `path: data/flights/*.csv`");
        return None;
    };
    let path = decoder.path("path", node)?;
    let checked = path::interval_of(&path).and_then(|length| path::check_glob(&path).map(|()| length));
    match checked {
        Ok(length) => Some((path, length)),
        Err(problem) => {
            decoder.path_problem(problem, node);
            None
        }
    }
}

fn decode_format(decoder: &mut Decoder, fields: &Fields, path: Option<&str>, key: &Node) -> Option<Format> {
    let name = match fields.get("format") {
        Some(node) => decoder.choice("format", node, &FORMATS.map(|(name, _)| (name, name)))?,
        None => {
            let path = path?;
            let ending = path.strip_suffix(".gz").unwrap_or(path).rsplit('.').next().unwrap_or_default();
            let known = FORMATS.iter().find(|(_, endings)| endings.contains(&ending));
            let Some((name, _)) = known else {
                let help = "write `format: csv`, `ndjson` or `parquet`: the path's ending does not say";
                decoder.missing("format", key.location(), help);
                return None;
            };
            *name
        }
    };
    if name != "csv" {
        for only_csv in ["header", "delimiter", "null"] {
            if let Some(node) = fields.key_node(only_csv) {
                let message = format!("`{only_csv}` is for csv, and this source is {name}");
                decoder.error(Diagnostic::error("wrong-key", message, node.location()).help("remove it"));
            }
        }
        return Some(if name == "ndjson" { Format::NdJson } else { Format::Parquet });
    }
    let header = fields.get("header").and_then(|node| decoder.boolean("header", node)).unwrap_or(true);
    let delimiter = fields.get("delimiter").and_then(|node| decode_delimiter(decoder, node)).unwrap_or(',');
    let null = fields.get("null").map(|node| decoder.texts("null", node));
    Some(Format::Csv { header, delimiter, null: null.unwrap_or_else(|| vec![String::new()]) })
}

fn decode_delimiter(decoder: &mut Decoder, node: &Node) -> Option<char> {
    let text = decoder.text("delimiter", node)?;
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(char), None) if char.is_ascii() && !matches!(char, '"' | '\n' | '\r' | '\0') => Some(char),
        _ => {
            let message = format!("`{}` is no delimiter", text.escape_debug());
            let help = "write one ASCII character, a tab as \"\\t\"";
            decoder.error(Diagnostic::error("wrong-value", message, node.location()).help(help));
            None
        }
    }
}

fn decode_columns(decoder: &mut Decoder, fields: &Fields) -> Vec<(String, ColumnType)> {
    let Some(node) = fields.get("columns") else { return Vec::new() };
    let known: Vec<&str> = ColumnType::names().collect();
    let mut columns: Vec<(String, ColumnType)> = Vec::new();
    for (name, key, node) in decoder.entries("columns", node).iter() {
        if columns.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
            let message = format!("two columns `{name}`, but for upper and lower case");
            decoder.error(Diagnostic::error("duplicate-name", message, key.location()));
        }
        let Some(text) = decoder.text(name, node) else { continue };
        match text.parse() {
            Ok(kind) => columns.push((name.to_owned(), kind)),
            Err(_) => {
                let message = format!("unknown type `{text}`");
                let help = suggest(&text, &known).unwrap_or_else(|| TYPES.to_owned());
                decoder.error(Diagnostic::error("wrong-value", message, node.location()).help(help));
            }
        }
    }
    columns
}

fn decode_complete(decoder: &mut Decoder, node: &Node) -> Option<CompleteWhen> {
    let fields = decoder.fields("complete_when", "complete_when", node);
    let mut given = fields.iter();
    let (Some((name, _, value)), None) = (given.next(), given.next()) else {
        let message = "`complete_when` takes one of marker, rows and watermark";
        decoder.error(Diagnostic::error("wrong-value", message, node.location()));
        return None;
    };
    match name {
        "marker" => {
            let path = decoder.path("marker", value)?;
            match path::interval_of(&path) {
                Ok(_) => Some(CompleteWhen::Marker(path)),
                Err(problem) => {
                    decoder.path_problem(problem, value);
                    None
                }
            }
        }
        "rows" => decoder.count("rows", value).map(CompleteWhen::Rows),
        _ => decoder.duration("watermark", value).map(CompleteWhen::Watermark),
    }
}

/// Whether `time` and `key` name columns that can be what they are used for.
fn check_columns(
    decoder: &mut Decoder,
    fields: &Fields,
    format: Option<&Format>,
    columns: &[(String, ColumnType)],
) {
    let Some(format) = format else { return };
    let header = matches!(format, Format::Csv { header: true, .. });
    if let Format::Csv { header: false, .. } = format
        && columns.is_empty()
        && let Some(node) = fields.key_node("header")
    {
        decoder.missing("columns", node.location(), "without a header, list the columns in their order");
    }
    let known: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    // A header may name columns that are not declared, and a Parquet file knows its own.
    let complete = !columns.is_empty() && !header && *format != Format::Parquet;
    let times = [ColumnType::Date, ColumnType::Timestamp, ColumnType::TimestampTz];
    if let Some(node) = fields.get("time")
        && let Some(name) = decoder.name("time", node)
    {
        match columns.iter().find(|(column, _)| *column == name) {
            Some((_, kind)) if !times.contains(kind) => {
                let message = format!("`time` is column `{name}`, which is {kind}");
                let help = "declare it as DATE, TIMESTAMP or TIMESTAMPTZ";
                decoder.error(Diagnostic::error("wrong-type", message, node.location()).help(help));
            }
            None if matches!(format, Format::Csv { .. }) && !complete => {
                let message = format!("`time` is column `{name}`, which has no declared type");
                let help = format!("add `{name}: DATE` (or TIMESTAMP, TIMESTAMPTZ) to `columns`");
                decoder.error(Diagnostic::error("wrong-type", message, node.location()).help(help));
            }
            None if complete => unknown_column(decoder, &name, node, &known),
            _ => {}
        }
    }
    if complete && let Some(node) = fields.get("key") {
        if let crate::yaml::Data::List(items) = &node.data {
            for item in items {
                if let crate::yaml::Data::Scalar(name, _) = &item.data
                    && !known.contains(&name.as_ref())
                {
                    unknown_column(decoder, name, item, &known);
                }
            }
        }
    }
}

fn unknown_column(decoder: &mut Decoder, name: &str, node: &Node, known: &[&str]) {
    let mut error = Diagnostic::error("unknown-column", format!("unknown column `{name}`"), node.location());
    error.help = suggest(name, known);
    decoder.error(error);
}
