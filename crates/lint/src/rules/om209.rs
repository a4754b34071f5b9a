//! OM209: an UPDATE takes values from several rows.
use super::prelude::*;
use super::shared::looks_unique;
use super::uses::{as_written, unsure};

pub(super) const RULE: Rule = Rule { id: "OM209", page: include_str!("../../rules/OM209.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in
        file.writes().filter(|write| write.verb == Verb::Update && !write.context.is_log(&write.target))
    {
        let Some((scope, select)) = write.scope.and_then(|scope| Some((scope, write.view.select(scope)?)))
        else {
            continue;
        };
        let mut told: Vec<usize> = Vec::new();
        for set in &write.write.sets {
            for (at, known) in write.view.open_tables(scope, 0, &set.value) {
                let Some(from) = select.from.get(at).filter(|_| !told.contains(&at)) else { continue };
                if is_listed(write.view, from) {
                    continue;
                }
                told.push(at);
                let draft = Draft::new(
                    Severity::Error,
                    as_written(file, from),
                    format!("`{}` may have several rows for one row that is updated", from.alias),
                )
                .rerun("any of the rows gives the value; the second run over the same data may take another")
                .help("group or number the source so that it has one row for each row of the target");
                out.report(level(write.view, scope, select, at, known, draft));
            }
        }
    }
}

fn level<'a>(
    view: &View<'a>,
    scope: QueryId,
    select: &'a Select,
    at: usize,
    known: bool,
    mut draft: Draft,
) -> Draft {
    let joined = joined(view, scope, select, at);
    if known && joined.is_some() {
        return draft;
    }
    let from = select.from.get(at);
    let joined = joined.unwrap_or_default();
    let by_identifier = matches!(joined.as_slice(), [only] if looks_unique(only) || only.ends_with("code"));
    let own = is_lookup(from)
        || joined.iter().any(|column| is_own_identity(from, column))
        || by_identifier && !may_repeat(from);
    draft.severity = if own && !known { Severity::Info } else { Severity::Warning };
    let alias = select.from.get(at).map_or("", |from| from.alias.as_str());
    unsure(draft, format!("a key of `{alias}`"))
}

/// The columns of a table by which it is joined to others; nothing where a side can't be resolved.
fn joined<'a>(view: &View<'a>, scope: QueryId, select: &'a Select, at: usize) -> Option<Vec<String>> {
    let mut columns = Vec::new();
    for condition in select.filters.iter().chain(select.from.iter().flat_map(|from| &from.on)) {
        let ExprKind::Op(Op::Eq | Op::NullSafeEq, sides) = &condition.kind else { continue };
        for side in sides.iter().filter(|side| side.column().is_some()) {
            match view.source(scope, side) {
                ColumnSource::From { from, column, .. } if from == at => columns.push(column),
                ColumnSource::Unknown => return None,
                _ => {}
            }
        }
    }
    columns.extend(select.from.iter().flat_map(|from| from.using.iter().cloned()));
    Some(columns)
}

/// Whether a table is named as a list of one row a name.
fn is_lookup(from: Option<&From>) -> bool {
    let Some(Relation::Table(name)) = from.map(|from| &from.relation) else { return false };
    ["lkp_", "lookup_", "lu_", "dim_", "ref_", "reference_", "references_"]
        .iter()
        .any(|start| name.last().starts_with(start))
        || name.last().ends_with("_lookup")
}

/// Whether a table is named as one in which a key can stand several times: a feed, a stage, a log of what happened. What
/// is computed here is as good as one.
fn may_repeat(from: Option<&From>) -> bool {
    const WORDS: &[&str] = &[
        "raw",
        "landing",
        "import",
        "imports",
        "feed",
        "feeds",
        "sheet",
        "sheets",
        "file",
        "files",
        "in",
        "inbox",
        "log",
        "logs",
        "history",
        "hist",
        "event",
        "events",
        "change",
        "changes",
        "changed",
        "update",
        "updates",
        "delta",
        "cdc",
        "detail",
        "details",
        "line",
        "lines",
        "item",
        "items",
        "snapshot",
        "snapshots",
        "daily",
        "movement",
        "movements",
        "entry",
        "entries",
        "visit",
        "visits",
        "click",
        "clicks",
        "scan",
        "scans",
        "hit",
        "hits",
        "reading",
        "readings",
        "price",
        "prices",
        "rate",
        "rates",
        "version",
        "versions",
        "list",
        "load",
        "loads",
        "batch",
        "ext",
        "external",
    ];
    let Some(Relation::Table(name)) = from.map(|from| &from.relation) else { return true };
    name.is_stage() || name.parts.iter().any(|part| part.split(['_', '-']).any(|word| WORDS.contains(&word)))
}

/// Whether a column is named like the identity of its own table: `id`, or `customer_id` of `customers`.
fn is_own_identity(from: Option<&From>, column: &str) -> bool {
    let Some(Relation::Table(name)) = from.map(|from| &from.relation) else { return false };
    let table = name.last();
    let singular = table
        .strip_suffix("ies")
        .map(|stem| format!("{stem}y"))
        .unwrap_or_else(|| table.strip_suffix('s').unwrap_or(table).to_string());
    column == "id"
        || looks_unique(column)
            && [table, singular.as_str()].iter().any(|table| {
                column.strip_prefix(table).is_some_and(|rest| rest.starts_with('_') || rest == "id")
            })
}

/// Rows that are written out in the statement.
fn is_listed(view: &View<'_>, from: &From) -> bool {
    matches!(&from.relation, Relation::Query(id) if matches!(view.query(*id).body, Body::Values(_)))
}
