//! Two versions of a slice side by side: rows gone, new and changed, key by key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Int64Type, SchemaRef};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::StreamExt;
use oncemore_backend::engine::quoted;
use oncemore_backend::table;
use oncemore_commit::TableHead;
use oncemore_core::{Calendar, Interval};
use serde::Serialize;

use crate::error::{ErrorKind, RunError};
use crate::facts;
use crate::select::RangeRequest;
use crate::task;
use crate::workspace::Workspace;

/// How a key's row differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Only in the older version.
    Gone,
    /// Only in the newer version.
    New,
    /// In both, with differing values.
    Changed,
}

/// One differing row.
#[derive(Clone, Debug, Serialize)]
pub struct DiffRow {
    /// How it differs.
    pub change: Change,
    /// Values of the key (of all columns, where the table has no key), as text.
    pub key: Vec<Option<String>>,
    /// Differing columns: name, older value, newer value.
    pub columns: Vec<(String, Option<String>, Option<String>)>,
}

/// The difference of two versions of a range of slices.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Diff {
    /// Table.
    pub model: String,
    /// What is compared, for people: `snapshot 17 (2013-05-01) against the head`.
    pub versions: (String, String),
    /// Key columns.
    pub key: Vec<String>,
    /// Rows only in the older version.
    pub gone: u64,
    /// Rows only in the newer version.
    pub new: u64,
    /// Keys with differing values.
    pub changed: u64,
    /// Rows that are equal in both.
    pub same: u64,
    /// Differing rows by interval label: gone, new, changed.
    pub by_interval: Vec<(String, u64, u64, u64)>,
    /// The first differing rows, ordered by key, at most the limit asked for.
    pub rows: Vec<DiffRow>,
}

/// Which older version to compare with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Against {
    /// The last version in which a slice of the range differed from now.
    Previous,
    /// A snapshot by its number.
    Snapshot(i64),
}

/// Compares the published slices of `model` in a range with an older version of them.
///
/// At most `limit` differing rows are kept; counts are exact.
///
/// # Errors
/// No such model or version, or files that can't be read.
pub async fn diff(
    workspace: &Workspace,
    model: &str,
    range: &RangeRequest,
    against: &Against,
    limit: usize,
) -> Result<Diff, RunError> {
    let (Some(own), Some(facts)) = (workspace.model(model), workspace.facts.get(model)) else {
        return Err(RunError::usage(
            format!("no table is called `{model}`"),
            "`oncemore status` lists the models",
        ));
    };
    let range = match &own.calendar {
        Some(calendar) if !range.is_open() => range.resolve(calendar)?,
        _ => Interval::WHOLE,
    };
    // Rows of a folded table belong to no interval; changes do.
    let table = if range.is_whole() { &own.name } else { own.sliced() };
    let (schema, key) = if table == &own.name {
        (Arc::clone(&facts.table), facts::table_key(own))
    } else {
        (Arc::clone(&facts.schema), own.key.clone())
    };
    let head = workspace.warehouse.head(table)?.ok_or_else(|| {
        RunError::usage(
            format!("`{model}` has no version yet"),
            format!("`oncemore run {model}` makes the first"),
        )
    })?;
    let older = older(workspace, &head, range, against)?;
    let files = |head: &TableHead| -> Result<_, RunError> {
        Ok(table::provider(task::data_files(head.files(range))?, Arc::clone(&schema), None))
    };
    let inputs = vec![("diff.older".to_owned(), files(&older)?), ("diff.newer".to_owned(), files(&head)?)];
    let sql = sql(&schema, &key, own.time.as_deref());
    let mut rows = workspace.engine()?.query(&sql, inputs).await?;
    let key = if key.is_empty() { names(&schema) } else { key };
    let mut collected =
        Collected { diff: Diff { model: model.to_owned(), key, ..Diff::default() }, ..Collected::default() };
    collected.diff.versions = (version(&older), version(&head));
    while let Some(batch) = rows.next().await {
        collected.take(&batch?, &schema, own.calendar.as_ref(), limit)?;
    }
    let rows_now: u64 = head.files(range).iter().map(|file| file.rows).sum();
    collected.diff.same = rows_now.saturating_sub(collected.diff.new + collected.diff.changed);
    collected.diff.by_interval = collected
        .by_interval
        .into_iter()
        .map(|(label, [gone, new, changed])| (label, gone, new, changed))
        .collect();
    Ok(collected.diff)
}

fn version(head: &TableHead) -> String {
    head.snapshot_id.map_or_else(|| "before the first snapshot".to_owned(), |id| format!("snapshot {id}"))
}

fn older(
    workspace: &Workspace,
    head: &TableHead,
    range: Interval,
    against: &Against,
) -> Result<TableHead, RunError> {
    let paths = |head: &TableHead| -> Result<Vec<String>, RunError> {
        let mut paths = BTreeSet::new();
        for file in head.files(range) {
            paths.extend(file.delete_files()?);
            paths.insert(file.path);
        }
        Ok(paths.into_iter().collect())
    };
    let none = || {
        RunError::usage(
            "no older version of these slices is kept",
            "the newest twenty snapshots of a table are kept, and one of each six hours of the last seven days",
        )
    };
    match against {
        Against::Snapshot(id) => workspace.warehouse.head_at(&head.table, *id)?.ok_or_else(none),
        Against::Previous => {
            let now = paths(head)?;
            let newest = now.iter().filter_map(|path| request_of(path)).max();
            for id in workspace.warehouse.snapshots(&head.table)? {
                let Some(older) = workspace.warehouse.head_at(&head.table, id)? else { continue };
                // A run publishes in several commits: the version before all of them is what people compare with.
                let then = paths(&older)?;
                if then != now && !then.iter().any(|path| newest.is_some() && request_of(path) == newest) {
                    return Ok(older);
                }
            }
            Err(none())
        }
    }
}

/// The request that wrote a data file, by its name: `om-<request>.<attempt>-…`.
fn request_of(path: &str) -> Option<u64> {
    let name = path.rsplit('/').next()?.strip_prefix("om-")?;
    name.split('.').next()?.parse().ok()
}

fn names(schema: &SchemaRef) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

/// One row a difference: what it is (-1 gone, 1 new, 0 changed), the time, the older columns, the newer columns.
fn sql(schema: &SchemaRef, key: &[String], time: Option<&str>) -> String {
    let columns = names(schema);
    let key = if key.is_empty() { &columns } else { key };
    let listed = columns.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    // Rows without a key are told apart by all columns; equal ones are counted, so that a doubled row shows.
    let counted = |table: &str| {
        let nth = format!(
            "row_number() OVER (PARTITION BY {} ORDER BY {listed}) AS \"__nth\"",
            key.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
        );
        format!("(SELECT {listed}, {nth}, 1 AS \"__there\" FROM {table})")
    };
    let joined = key
        .iter()
        .map(|name| format!("(o.{0} IS NOT DISTINCT FROM n.{0})", quoted(name)))
        .chain(["(o.\"__nth\" IS NOT DISTINCT FROM n.\"__nth\")".to_owned()])
        .collect::<Vec<_>>()
        .join(" AND ");
    let differs = columns
        .iter()
        .map(|name| format!("(o.{0} IS DISTINCT FROM n.{0})", quoted(name)))
        .collect::<Vec<_>>()
        .join(" OR ");
    let order =
        key.iter().map(|name| format!("coalesce(n.{0}, o.{0})", quoted(name))).collect::<Vec<_>>().join(", ");
    let time = time.map_or_else(|| "NULL".to_owned(), |time| format!("coalesce(n.{0}, o.{0})", quoted(time)));
    format!(
        "SELECT CAST(CASE WHEN n.\"__there\" IS NULL THEN -1 WHEN o.\"__there\" IS NULL THEN 1 ELSE 0 END AS BIGINT) AS \"__change\", \
         CAST({time} AS TEXT) AS \"__time\", {}, {} FROM {} AS o FULL JOIN {} AS n ON {joined} \
         WHERE o.\"__there\" IS NULL OR n.\"__there\" IS NULL OR ({differs}) ORDER BY {order}",
        columns
            .iter()
            .map(|name| format!("o.{} AS {}", quoted(name), quoted(&format!("older {name}"))))
            .collect::<Vec<_>>()
            .join(", "),
        columns
            .iter()
            .map(|name| format!("n.{} AS {}", quoted(name), quoted(&format!("newer {name}"))))
            .collect::<Vec<_>>()
            .join(", "),
        counted("diff.older"),
        counted("diff.newer"),
    )
}

#[derive(Default)]
struct Collected {
    diff: Diff,
    by_interval: BTreeMap<String, [u64; 3]>,
}

impl Collected {
    fn take(
        &mut self,
        batch: &RecordBatch,
        schema: &SchemaRef,
        calendar: Option<&Calendar>,
        limit: usize,
    ) -> Result<(), RunError> {
        let internal =
            |error: arrow::error::ArrowError| RunError::new(ErrorKind::Internal, error.to_string());
        let options = FormatOptions::default();
        let texts: Vec<ArrayFormatter<'_>> = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column, &options))
            .collect::<Result<_, _>>()
            .map_err(internal)?;
        let text = |column: usize, row: usize| {
            (!batch.column(column).is_null(row)).then(|| texts[column].value(row).to_string())
        };
        let columns = names(schema);
        let changes = batch.column(0).as_primitive::<Int64Type>();
        for row in 0..batch.num_rows() {
            let (change, place) = match changes.value(row) {
                -1 => (Change::Gone, 0),
                1 => (Change::New, 1),
                _ => (Change::Changed, 2),
            };
            *[&mut self.diff.gone, &mut self.diff.new, &mut self.diff.changed][place] += 1;
            let label = text(1, row).and_then(|time| {
                let calendar = calendar?;
                Some(calendar.label(calendar.containing(calendar.parse_instant(&time)?)))
            });
            self.by_interval.entry(label.unwrap_or_else(|| "all".to_owned())).or_default()[place] += 1;
            if self.diff.rows.len() >= limit {
                continue;
            }
            let older = |at: usize| text(2 + at, row);
            let newer = |at: usize| text(2 + columns.len() + at, row);
            let place_of = |name: &String| columns.iter().position(|column| column == name).unwrap_or(0);
            let key = self
                .diff
                .key
                .iter()
                .map(|name| newer(place_of(name)).or_else(|| older(place_of(name))))
                .collect();
            let differing = columns.iter().enumerate().filter(|(at, _)| older(*at) != newer(*at));
            let columns = differing.map(|(at, name)| (name.clone(), older(at), newer(at))).collect();
            self.diff.rows.push(DiffRow { change, key, columns });
        }
        Ok(())
    }
}
