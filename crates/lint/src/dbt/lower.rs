//! A rendered model as the write that dbt makes of it, in the intermediate form.

use std::sync::Arc;

use crate::dialect::Dialect;
use crate::facts::TableFacts;
use crate::ir::{Action, Column, Conflict, ConflictAction, ModelWrite, Name, Verb, Write};
use crate::lower::name_from;
use crate::script::{self, Script};
use crate::text::Span;

use super::template::{self, Clock, Template};
use super::{Config, KnownRelation, Model, Node, NodeKind, Project, Rendered, Segment, Trust, World, Worlds};

impl Project {
    /// The dialect of the project's adapter; standard SQL where it is not known.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.adapter.as_deref().and_then(Dialect::named).unwrap_or(Dialect::Ansi)
    }

    /// Lowers each world of a model that is worth judging.
    pub(super) fn scripts(&self, node: &Node, model: Model) -> Vec<(Rendered, Script)> {
        let dialect = self.dialect();
        let incremental = matches!(kind(&model.config, node.kind), Kind::Incremental | Kind::Snapshot);
        let arguments = match &node.parsed {
            Ok(nodes) if !node.is_synthetic => template::arguments(&node.text, nodes),
            _ => Vec::new(),
        };
        let lines = crate::text::Lines::of(&node.text);
        let both = model.worlds.len() > 1;
        let mut scripts = Vec::new();
        for rendered in model.worlds {
            // `is_incremental()` is never true in a model that is none.
            if !incremental && rendered.worlds == Worlds::One(World::Steady) && both {
                continue;
            }
            let clocks = model
                .clocks
                .iter()
                .map(|clock| Clock { clock: clock.clone(), places: places_of(&rendered, clock) });
            let template = Template {
                text: node.text.clone(),
                lines: lines.clone(),
                kind: node.kind,
                config: model.config.clone(),
                arguments: arguments.clone(),
                clocks: clocks.collect(),
                worlds: rendered.worlds,
                queries: rendered.queries.clone(),
            };
            let script = self.script(node, &rendered, template, dialect);
            scripts.push((rendered, script));
        }
        scripts
    }

    fn script(&self, node: &Node, rendered: &Rendered, template: Template, dialect: Dialect) -> Script {
        let parameters: Vec<Span> = rendered
            .segments
            .iter()
            .filter(|segment| segment.stub || self.is_variable(node, segment))
            .map(|segment| Span::new(segment.rendered.start, segment.rendered.end))
            .collect();
        let mut script = script::read_with(&node.path, &rendered.sql, dialect, &parameters);
        let verb = verb(&template, dialect);
        let target = name_from(&node.relation.printed, Span::NOWHERE);
        for statement in &mut script.statements {
            let Action::Select(query) = statement.action else { continue };
            let start = statement.span.start;
            let write = Write {
                verb: Verb::Model(verb),
                span: statement.span,
                head: Span { start, end: (start + 6).min(statement.span.end) },
                target: target.clone(),
                source: Some(query),
                conflict: conflict(&template.config, verb),
                partition: partition(&template.config, verb),
                ..Write::empty()
            };
            statement.action = Action::Write;
            statement.writes.push(write);
        }
        script.index = crate::facts::ScriptIndex::of(&script.statements);
        script.template = Some(Arc::new(template));
        script
    }

    /// Whether what a segment prints is a variable of the project or of the environment: another run may
    /// give another.
    pub(super) fn is_variable(&self, node: &Node, segment: &Segment) -> bool {
        !segment.exact && self.source_text(node, segment).is_some_and(|text| text.contains("var("))
    }

    /// The text that a segment comes from.
    pub(super) fn source_text<'a>(&'a self, node: &'a Node, segment: &Segment) -> Option<&'a str> {
        let text = match segment.by {
            None => &node.text,
            Some(by) => self.macro_text(by)?,
        };
        text.get(segment.source.clone())
    }

    /// The text of the file that holds a macro.
    pub(super) fn macro_text(&self, index: usize) -> Option<&Arc<str>> {
        let source = self.library.macros.get(index)?;
        self.library.files.get(source.file as usize).map(|(_, text)| text)
    }
}

/// Bytes of the SQL that a clock's uses print.
fn places_of(rendered: &Rendered, clock: &super::TemplateClock) -> Vec<Span> {
    let used = |segment: &&Segment| {
        segment.by.is_none()
            && !segment.exact
            && clock
                .uses
                .iter()
                .any(|(place, _)| segment.source.start <= place.start && place.end <= segment.source.end)
    };
    let span = |segment: &Segment| Span::new(segment.rendered.start, segment.rendered.end);
    rendered.segments.iter().filter(used).map(span).collect()
}

/// What dbt makes of a model.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Incremental,
    Snapshot,
    /// Nothing is stored, or the engine keeps it up to date.
    View,
    Whole,
}

fn kind(config: &Config, node: NodeKind) -> Kind {
    match config.materialized.as_str() {
        _ if node == NodeKind::Snapshot => Kind::Snapshot,
        // An ephemeral model is part of those that read it: what it says is stored there.
        "view" | "materialized_view" | "dynamic_table" => Kind::View,
        name if name.contains("incremental") => Kind::Incremental,
        _ => Kind::Whole,
    }
}

/// What a model's configuration makes of its rows.
fn verb(template: &Template, dialect: Dialect) -> ModelWrite {
    let config = &template.config;
    match kind(config, template.kind) {
        Kind::View => ModelWrite::View,
        Kind::Whole => ModelWrite::Full,
        Kind::Snapshot => ModelWrite::Keyed,
        Kind::Incremental
            if template.worlds == Worlds::One(World::FullRefresh) || config.full_refresh == Some(true) =>
        {
            ModelWrite::Full
        }
        Kind::Incremental => incremental(config, dialect),
    }
}

/// What a run that is no full refresh does to the table.
fn incremental(config: &Config, dialect: Dialect) -> ModelWrite {
    let keyed = !config.unique_key.is_empty();
    let strategy = config.incremental_strategy.as_deref().map(str::to_ascii_lowercase);
    match strategy.as_deref() {
        Some("append") => ModelWrite::Append,
        Some("delete+insert" | "delete_insert") if keyed => ModelWrite::DeleteInsert,
        Some("merge" | "delete+insert" | "delete_insert") | None if !keyed => ModelWrite::Append,
        Some("insert_overwrite") if replaces_all(config, dialect) => ModelWrite::Full,
        Some("insert_overwrite" | "dynamic_insert_overwrite" | "insert+replace") => {
            ModelWrite::OverwritePartitions
        }
        Some("microbatch") if dialect == Dialect::Postgres => ModelWrite::Keyed,
        Some("microbatch") => ModelWrite::Slice,
        None if matches!(dialect, Dialect::Postgres | Dialect::Redshift | Dialect::DuckDb) => {
            ModelWrite::DeleteInsert
        }
        // A strategy of the project's own is taken to be one that can be repeated.
        _ => ModelWrite::Keyed,
    }
}

/// Whether `insert_overwrite` replaces the whole table.
pub(crate) fn replaces_all(config: &Config, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Snowflake => true,
        Dialect::Spark | Dialect::BigQuery => config.partition_by.is_empty(),
        _ => false,
    }
}

fn conflict(config: &Config, verb: ModelWrite) -> Option<Conflict> {
    if !matches!(verb, ModelWrite::Keyed | ModelWrite::DeleteInsert) || config.unique_key.is_empty() {
        return None;
    }
    let keys = config.unique_key.iter().map(|key| key.to_ascii_lowercase()).collect();
    Some(Conflict {
        span: Span::NOWHERE,
        keys,
        action: ConflictAction::Replace,
        sets: Vec::new(),
        filters: Vec::new(),
    })
}

fn partition(config: &Config, verb: ModelWrite) -> Vec<(String, Option<crate::ir::Expr>)> {
    if verb != ModelWrite::OverwritePartitions {
        return Vec::new();
    }
    config.partition_by.iter().map(|column| (column.to_ascii_lowercase(), None)).collect()
}

/// What tests, contracts, constraints and catalog say of a relation.
pub(super) fn facts(known: &KnownRelation) -> TableFacts {
    let said = &known.knowledge;
    let sure = |trust: &Trust| *trust > Trust::WeakTest;
    let not_null: Vec<String> = said
        .not_null
        .iter()
        .filter(|(_, trust)| sure(trust))
        .map(|(column, _)| column.to_ascii_lowercase())
        .collect();
    let mut columns: Vec<Column> = said
        .columns
        .iter()
        .map(|column| {
            let name = column.name.to_ascii_lowercase();
            let data_type = column.data_type.as_deref().unwrap_or_default().to_ascii_lowercase();
            Column { not_null: not_null.contains(&name), name, data_type, ..Column::default() }
        })
        .collect();
    for name in not_null {
        if !columns.iter().any(|column| column.name == name) {
            columns.push(Column { name, not_null: true, ..Column::default() });
        }
    }
    let keys = said.unique.iter().filter(|(_, trust)| sure(trust));
    TableFacts {
        name: name_of(known),
        columns,
        keys: keys.map(|(key, _)| key.iter().map(|column| column.to_ascii_lowercase()).collect()).collect(),
        partial: !said.complete,
        source: "the project's tests and contracts",
        ..TableFacts::default()
    }
}

/// The name of a relation as it stands in rendered SQL.
pub(super) fn name_of(known: &KnownRelation) -> Name {
    name_from(&known.name.printed, Span::NOWHERE)
}
