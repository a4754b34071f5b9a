//! Decodes one audit.

use oncemore_core::{Audit, Diagnostic, Location};

use super::Decoder;
use crate::names::suggest;
use crate::yaml::{Data, Node};

/// An audit, and the place of the table that it names, if any.
pub(crate) struct Decoded {
    pub(crate) audit: Audit,
    pub(crate) location: Location,
}

/// All audits of a list.
pub(crate) fn decode_all(decoder: &mut Decoder, node: &Node) -> Vec<Decoded> {
    decoder.list("audits", node).iter().filter_map(|item| decode(decoder, item)).collect()
}

fn decode(decoder: &mut Decoder, node: &Node) -> Option<Decoded> {
    if let Data::Scalar(text, _) = &node.data {
        let known: Vec<&str> = crate::keys::of_scope("audit").map(|key| key.name).collect();
        let message = "an audit is a mapping of its kind to what it needs".to_owned();
        let help = match suggest(text, &known) {
            Some(_) if known.contains(&text.as_ref()) => format!("write `{text}: …`"),
            Some(help) => help,
            None => format!("known: {}", known.join(", ")),
        };
        decoder.error(Diagnostic::error("wrong-type", message, node.location()).help(help));
        return None;
    }
    let errors = decoder.diagnostics.len();
    let fields = decoder.fields("audits", "audit", node);
    let mut given = fields.iter();
    let (Some((kind, key, value)), None) = (given.next(), given.next()) else {
        if decoder.diagnostics.len() == errors {
            let message = "an audit is one key: `- not_null: [a]`";
            decoder.error(Diagnostic::error("wrong-value", message, node.location()).help("one `- ` each"));
        }
        return None;
    };
    let mut location = value.location();
    let audit = match kind {
        "not_null" => Audit::NotNull(decoder.columns(kind, value)),
        "unique" => Audit::Unique(decoder.columns(kind, value)),
        "expression" => {
            let sql = decoder.name(kind, value)?;
            if let Err(problem) = crate::sql::check_condition(&sql) {
                decoder.error(Diagnostic::error("sql", problem, value.location()));
            }
            Audit::Expression(sql)
        }
        "accepted_values" => accepted_values(decoder, key, value)?,
        "range" => range(decoder, key, value)?,
        "row_count" => row_count(decoder, key, value)?,
        "relationship" => relationship(decoder, key, value, &mut location)?,
        _ => custom(decoder, key, value, &mut location)?,
    };
    Some(Decoded { audit, location })
}

fn required<'n, 'a>(
    decoder: &mut Decoder,
    fields: &super::Fields<'n, 'a>,
    name: &str,
    key: &Node,
) -> Option<&'n Node<'a>> {
    let found = fields.get(name);
    if found.is_none() {
        decoder.missing(name, key.location(), &format!("add `{name}: …`"));
    }
    found
}

fn accepted_values(decoder: &mut Decoder, key: &Node, node: &Node) -> Option<Audit> {
    let fields = decoder.fields("accepted_values", "accepted_values", node);
    let column = required(decoder, &fields, "column", key).and_then(|node| decoder.name("column", node));
    let values = required(decoder, &fields, "values", key).map(|node| decoder.texts("values", node));
    Some(Audit::AcceptedValues { column: column?, values: values? })
}

fn range(decoder: &mut Decoder, key: &Node, node: &Node) -> Option<Audit> {
    let fields = decoder.fields("range", "range", node);
    let column = required(decoder, &fields, "column", key).and_then(|node| decoder.name("column", node));
    let min = fields.get("min").and_then(|node| decoder.text("min", node));
    let max = fields.get("max").and_then(|node| decoder.text("max", node));
    if fields.get("min").is_none() && fields.get("max").is_none() {
        decoder.missing("min", key.location(), "a range needs `min`, `max` or both");
    }
    let number = |bound: &Option<String>| bound.as_ref().and_then(|text| text.parse::<f64>().ok());
    if let (Some(low), Some(high)) = (number(&min), number(&max))
        && low > high
    {
        let message = format!("the range from {low} to {high} is empty");
        decoder.error(Diagnostic::error("wrong-value", message, node.location()));
    }
    Some(Audit::Range { column: column?, min, max })
}

fn row_count(decoder: &mut Decoder, key: &Node, node: &Node) -> Option<Audit> {
    let fields = decoder.fields("row_count", "row_count", node);
    let min = fields.get("min").and_then(|node| decoder.count("min", node));
    let max = fields.get("max").and_then(|node| decoder.count("max", node));
    if fields.get("min").is_none() && fields.get("max").is_none() {
        decoder.missing("min", key.location(), "a row count needs `min`, `max` or both");
    }
    if let (Some(low), Some(high)) = (min, max)
        && low > high
    {
        let message = format!("no count is between {low} and {high}");
        decoder.error(Diagnostic::error("wrong-value", message, node.location()));
    }
    Some(Audit::RowCount { min, max })
}

fn relationship(decoder: &mut Decoder, key: &Node, node: &Node, location: &mut Location) -> Option<Audit> {
    let fields = decoder.fields("relationship", "relationship", node);
    let columns = required(decoder, &fields, "columns", key).map(|node| decoder.columns("columns", node));
    let to = required(decoder, &fields, "to", key).and_then(|node| {
        *location = node.location();
        decoder.name("to", node)
    });
    let there = fields.get("to_columns").map(|node| (node, decoder.columns("to_columns", node)));
    let columns = columns?;
    if let Some((node, there)) = &there
        && there.len() != columns.len()
    {
        let message = format!("{} columns here, {} there", columns.len(), there.len());
        decoder.error(Diagnostic::error("wrong-value", message, node.location()));
    }
    let columns_there = there.map_or_else(|| columns.clone(), |(_, there)| there);
    Some(Audit::Relationship { columns, to: to?, columns_there })
}

fn custom(decoder: &mut Decoder, key: &Node, node: &Node, location: &mut Location) -> Option<Audit> {
    let fields = decoder.fields("sql", "sql", node);
    let name = required(decoder, &fields, "name", key).and_then(|node| decoder.name("name", node));
    let sql = required(decoder, &fields, "query", key).and_then(|node| {
        *location = node.location();
        decoder.name("query", node)
    });
    Some(Audit::Sql { name: name?, sql: sql? })
}
