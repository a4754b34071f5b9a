//! What a write replaces, as a range on columns of its target, and how the rows it writes are chosen.

use super::prelude::*;

/// What takes away the rows before new ones are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum By {
    /// A DELETE, or REPLACE WHERE.
    Predicate,
    /// PARTITION (day = …).
    Partition,
    /// PARTITION (day): those that come.
    Coming,
    /// One of our models: the interval that runs.
    Model,
}

/// A range on a column of the target.
pub(super) struct Part {
    /// The column of the target.
    pub(super) column: String,
    /// Lower edge.
    pub(super) low: Option<Edging>,
    /// Upper edge.
    pub(super) high: Option<Edging>,
    /// One value.
    pub(super) exact: bool,
    /// Parameters of the edges.
    pub(super) params: Vec<String>,
    /// Values, in one way of writing.
    pub(super) texts: Vec<String>,
    /// Where it stands.
    pub(super) span: Span,
}

/// An edge in time.
#[derive(Clone)]
pub(super) struct Edging {
    pub(super) at: Instant,
    pub(super) inclusive: bool,
}

/// The slice that a write replaces.
pub(super) struct Slice {
    pub(super) by: By,
    pub(super) parts: Vec<Part>,
    /// Nothing else decides what is taken away.
    pub(super) sure: bool,
}

impl Slice {
    /// All parameters that decide what is taken away.
    pub(super) fn params(&self) -> Vec<&str> {
        self.parts.iter().flat_map(|part| part.params.iter().map(String::as_str)).collect()
    }

    /// Whether it is a slice at all: a range with both ends, decided by a parameter.
    pub(super) fn is_closed(&self) -> bool {
        self.by == By::Model
            || self
                .parts
                .iter()
                .any(|part| part.low.is_some() && part.high.is_some() && !part.params.is_empty())
    }

    /// Where it stands.
    pub(super) fn span(&self) -> Span {
        self.parts.iter().fold(Span::NOWHERE, |span, part| span.to(part.span))
    }
}

/// An end of a range as an edge in time; what is no time is told apart by its text.
pub(super) fn edging(limit: Option<&RangeEnd<'_>>) -> Option<Edging> {
    let limit = limit?;
    let at = instant(limit.value)
        .unwrap_or_else(|| Instant { base: format!("?{}", render(limit.value)), offset: 0 });
    Some(Edging { at, inclusive: limit.inclusive })
}

pub(super) fn part(column: String, range: &Range<'_>) -> Part {
    Part {
        column,
        low: edging(range.low.as_ref()),
        high: edging(range.high.as_ref()),
        exact: range.exact,
        params: range.params(),
        texts: range.limits().map(|limit| render(limit.value)).collect(),
        span: range.span,
    }
}

/// The slice that a write replaces, if it replaces one.
pub(super) fn slice<'a>(file: &File<'a>, write: &WriteFact<'_, 'a>) -> Option<Slice> {
    if let Verb::Model(ModelWrite::Slice) = write.verb {
        return model_slice(file, write);
    }
    if let Verb::Model(ModelWrite::OverwritePartitions) = write.verb {
        return Some(Slice { by: By::Coming, parts: coming(write), sure: true });
    }
    let Effect::ReplaceSlice(replaced) = write.effect() else { return None };
    match replaced.by {
        Some(by) => {
            let removal = file.write(by.0, by.1)?;
            let scope = removal.scope?;
            let found = removal.view.scope_of(scope, &removal.write.filters);
            let own = |range: &&Range<'_>| {
                matches!(
                    removal.view.source(scope, range.column),
                    ColumnSource::From { from: 0, .. } | ColumnSource::Unknown
                )
            };
            let parts = found
                .ranges
                .iter()
                .filter(own)
                .filter_map(|range| Some(part(range.column.column()?.1.to_string(), range)))
                .collect();
            Some(Slice { by: By::Predicate, parts, sure: found.sure })
        }
        None if write.verb == Verb::Overwrite => {
            let fixed: Vec<Part> = write
                .partition
                .iter()
                .filter_map(|(column, value)| Some(fixed_part(write, column, value.as_ref()?)))
                .collect();
            if fixed.is_empty() {
                return Some(Slice { by: By::Coming, parts: coming(write), sure: true });
            }
            Some(Slice { by: By::Partition, parts: fixed, sure: true })
        }
        None if write.verb == Verb::ReplaceWhere => {
            let found = write.view.scope_of(write.source?, &write.write.filters);
            let column = |range: &Range<'_>| Some(part(range.column.column()?.1.to_string(), range));
            let parts = found.ranges.iter().filter_map(column).collect();
            Some(Slice { by: By::Predicate, parts, sure: found.sure })
        }
        None => None,
    }
}

/// The slice of another table whose place a later statement gives to what is written: `REPLACE PARTITION p FROM t`. Which
/// columns a partition is made of is not known here, so its one part has none.
pub(super) fn moved<'a>(file: &File<'a>, write: &WriteFact<'_, 'a>) -> Option<Slice> {
    let later = file.script.index.partitions.iter().filter(|at| **at > write.at);
    later.filter_map(|at| file.script.statements.get(*at)).find_map(|statement| {
        let Action::Alter(changes) = &statement.action else { return None };
        changes.iter().find_map(|alter| match &alter.change {
            AlterChange::Partition(Some(moved)) if moved.from.same(&write.target) => {
                let mut part = fixed_part(write, "", &moved.value);
                part.span = moved.value.span;
                Some(Slice { by: By::Partition, parts: vec![part], sure: true })
            }
            _ => None,
        })
    })
}

fn coming(write: &WriteFact<'_, '_>) -> Vec<Part> {
    let open = |(column, _): &(String, Option<Expr>)| Part {
        column: column.clone(),
        low: None,
        high: None,
        exact: false,
        params: Vec::new(),
        texts: Vec::new(),
        span: write.head,
    };
    write.partition.iter().map(open).collect()
}

fn fixed_part(write: &WriteFact<'_, '_>, column: &str, value: &Expr) -> Part {
    let at = instant(value).unwrap_or_else(|| Instant { base: format!("?{}", render(value)), offset: 0 });
    let mut params = Vec::new();
    params_of(value, &mut params);
    let edge = Edging { at, inclusive: true };
    let span = partition_span(write, column, value);
    Part {
        column: column.to_string(),
        low: Some(edge.clone()),
        high: Some(edge),
        exact: true,
        params,
        texts: vec![render(value)],
        span,
    }
}

/// `day = '2024-03-01'` within PARTITION (…).
fn partition_span(write: &WriteFact<'_, '_>, column: &str, value: &Expr) -> Span {
    let text = &write.context.script.text;
    let before = Span { start: write.head.end, end: value.span.start }.of(text).to_ascii_lowercase();
    match before.rfind(column) {
        Some(at) => Span::new(write.head.end as usize + at, write.head.end as usize + at + 1).to(value.span),
        None => value.span,
    }
}

/// `PARTITION (…)` as a whole.
pub(super) fn partition_clause(write: &WriteFact<'_, '_>) -> Option<Span> {
    let text = &write.context.script.text;
    let last = write.partition.iter().filter_map(|(_, value)| value.as_ref()).next_back()?;
    let before = Span { start: write.head.end, end: last.span.start }.of(text).to_ascii_lowercase();
    let start = write.head.end as usize + before.rfind("partition")?;
    let rest = text.get(last.span.end as usize..)?;
    Some(Span::new(start, last.span.end as usize + rest.find(')')? + 1))
}

fn model_slice(file: &File<'_>, write: &WriteFact<'_, '_>) -> Option<Slice> {
    let header = file.script.model.as_ref()?;
    let time = header.time.clone()?;
    let edge =
        |name: &str, inclusive| Some(Edging { at: Instant { base: name.to_string(), offset: 0 }, inclusive });
    let part = Part {
        column: time,
        low: edge("interval_start", true),
        high: edge("interval_end", false),
        exact: false,
        params: vec!["interval_start".to_string(), "interval_end".to_string()],
        texts: Vec::new(),
        span: write.head,
    };
    Some(Slice { by: By::Model, parts: vec![part], sure: true })
}

/// The index of the output that fills a column of the target.
pub(super) fn output_of(write: &WriteFact<'_, '_>, branch: QueryId, column: &str) -> Option<usize> {
    let outputs = write.view.outputs(branch);
    // Partitions that come with the rows are the last outputs, in their order.
    if write.verb == Verb::Overwrite && write.columns.is_empty() && !outputs.open {
        let coming: Vec<&String> =
            write.partition.iter().filter(|(_, value)| value.is_none()).map(|(column, _)| column).collect();
        if let Some(at) = coming.iter().position(|name| *name == column) {
            return (outputs.list.len() + at).checked_sub(coming.len());
        }
    }
    if write.columns.is_empty() || write.by_name {
        return outputs.list.iter().position(|output| output.name == column).or_else(|| {
            let columns = write.view.knowledge.table(&write.target).map(|facts| &facts.columns)?;
            let at = columns.iter().position(|known| known.name == column)?;
            (!outputs.open && outputs.list.len() == columns.len()).then_some(at)
        });
    }
    let at = write.columns.iter().position(|name| name == column)?;
    (at < outputs.list.len() && !outputs.open).then_some(at)
}

/// Whether a range of the source bounds what fills a column of the target.
pub(super) fn carries(write: &WriteFact<'_, '_>, branch: QueryId, range: &Range<'_>, column: &str) -> bool {
    let outputs = write.view.outputs(branch);
    match output_of(write, branch, column) {
        Some(at) if !outputs.open => range.outputs.contains(&at),
        _ => range.names.iter().any(|name| name == column),
    }
}

/// The expression that fills a column of the target.
pub(super) fn filling<'a>(write: &WriteFact<'_, 'a>, branch: QueryId, column: &str) -> Option<&'a Expr> {
    let at = output_of(write, branch, column)?;
    match write.view.outputs(branch).list.get(at)?.value {
        OutputValue::Expr(expr) => Some(expr),
        _ => None,
    }
}

/// Whether a column of the target gets one value for the whole run.
pub(super) fn is_stamped<'a>(write: &WriteFact<'_, 'a>, branch: QueryId, column: &str) -> bool {
    filling(write, branch, column).is_some_and(|expr| write.view.is_one_value(branch, expr))
}

/// Names of columns that tell when something was.
pub(super) fn is_time_name(name: &str) -> bool {
    is_day_name(name)
        || name.split('_').any(|word| {
            matches!(
                word,
                "at" | "ts"
                    | "time"
                    | "timestamp"
                    | "datetime"
                    | "dttm"
                    | "dts"
                    | "instant"
                    | "when"
                    | "created"
                    | "updated"
                    | "modified"
                    | "loaded"
                    | "ingested"
                    | "received"
                    | "arrived"
                    | "landed"
                    | "processed"
                    | "started"
                    | "ended"
                    | "hour"
                    | "utc"
            )
        })
        || ["time", "timestamp", "datetime", "_at", "date"].iter().any(|end| name.ends_with(end))
}

/// Names of columns that hold whole days, or longer.
pub(super) fn is_day_name(name: &str) -> bool {
    let bare = name.trim_start_matches('_');
    bare.split('_').any(|word| {
        matches!(
            word,
            "day"
                | "date"
                | "ds"
                | "dt"
                | "on"
                | "month"
                | "week"
                | "year"
                | "quarter"
                | "suffix"
                | "partitiondate"
                | "yyyymmdd"
                | "ymd"
        )
    }) || bare.ends_with("date")
        || bare.ends_with("day")
}

/// Names of columns that tell when a row was loaded, not when what it tells of happened.
pub(super) fn is_load_name(name: &str) -> bool {
    let words: Vec<&str> = name.split('_').filter(|word| !word.is_empty()).collect();
    words.iter().any(|word| {
        matches!(
            *word,
            "load"
                | "loaded"
                | "ingest"
                | "ingested"
                | "ingestion"
                | "batch"
                | "run"
                | "etl"
                | "insert"
                | "inserted"
                | "import"
                | "imported"
                | "extract"
                | "extracted"
                | "landed"
                | "arrived"
                | "received"
                | "processed"
                | "processing"
        )
    })
}

/// Names of columns that tell when a row was changed or came.
pub(super) fn is_change_name(name: &str) -> bool {
    is_load_name(name)
        || name.split('_').any(|word| {
            matches!(
                word,
                "updated"
                    | "update"
                    | "modified"
                    | "modification"
                    | "changed"
                    | "change"
                    | "synced"
                    | "touched"
                    | "committed"
                    | "commit"
                    | "cdc"
                    | "replicated"
            )
        })
}

/// How far back a stage is searched for.
const NEAR: usize = 60;

/// The writes of the same script, of other tables, from which a write takes its rows, through two stages at most.
pub(super) fn feeders<'f, 'a>(file: &'f File<'a>, write: &WriteFact<'_, 'a>) -> Vec<WriteFact<'f, 'a>> {
    let names = |fact: &WriteFact<'_, 'a>| -> Vec<&'a Name> {
        let roots = fact.write.source.iter().chain(&fact.write.scope);
        let tables = roots.flat_map(|root| fact.view.tables(*root)).map(|(_, _, name)| name);
        let made = |name: &&Name| {
            file.script.index.is_filled(name.last()) || file.script.index.around(name.last()).next().is_some()
        };
        tables.filter(|name| !name.same(&write.target)).filter(made).collect()
    };
    let mut wanted = names(write);
    let mut found = Vec::new();
    for at in (write.at.saturating_sub(NEAR)..write.at).rev() {
        if wanted.is_empty() {
            break;
        }
        let count = file.script.statements.get(at).map_or(0, |statement| statement.writes.len());
        for other in (0..count).filter_map(|index| file.write(at, index)) {
            let fills = matches!(other.verb, Verb::CreateAs(_) | Verb::Insert);
            if fills && wanted.iter().any(|name| name.same(&other.target)) {
                wanted.extend(names(&other));
                found.push(other);
            }
        }
    }
    found
}

/// Whether a later statement of the script reads a table to write another.
pub(super) fn read_later(file: &File<'_>, write: &WriteFact<'_, '_>) -> bool {
    let moved = file.script.index.partitions.iter().any(|at| {
        let text = file.script.statements.get(*at).map_or("", |other| other.span.of(&file.script.text));
        *at > write.at && text.to_ascii_lowercase().contains(&format!("from {}", write.target.text()))
    });
    moved
        || file.script.index.readers_after(write.target.last(), write.at).any(|at| {
            let count = file.script.statements.get(at).map_or(0, |statement| statement.writes.len());
            (0..count).filter_map(|index| file.write(at, index)).any(|other| {
                !other.target.same(&write.target)
                    && other.source.iter().chain(&other.scope).any(|query| {
                        other.view.tables(*query).iter().any(|(_, _, name)| name.same(&write.target))
                    })
            })
        })
}
