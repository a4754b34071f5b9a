//! Every key of a project, in one table: what is known, for the decoder's errors, and what it means, for the docs.

use std::fmt::Write as _;

/// A key that a project may hold.
pub(crate) struct Key {
    /// Which mapping it stands in; a heading of the docs.
    pub(crate) scope: &'static str,
    pub(crate) name: &'static str,
    /// Type of its value, in words.
    pub(crate) kind: &'static str,
    /// What counts where it is absent; `required` where it must not be.
    pub(crate) default: &'static str,
    pub(crate) doc: &'static str,
}

/// Scopes in the order of the docs: name, heading, what it stands in.
const SCOPES: &[(&str, &str, &str)] = &[
    ("project", "Project", "At the top of `oncemore.yml`."),
    ("limits", "Limits", "Under `limits` of the project."),
    ("source", "Source", "Under `sources: {<schema>.<name>: …}`."),
    ("complete_when", "Complete when", "Under `complete_when` of a source: one of these."),
    (
        "model",
        "Model",
        "In the comment `/* oncemore … */` that opens a model's file, or under `defaults` of its folder.",
    ),
    ("input", "Input", "Under `inputs: {<schema>.<name>: …}` of a model."),
    ("audit", "Audit", "In the list `audits` of a model: one key an item."),
    ("accepted_values", "Audit `accepted_values`", "Its keys."),
    ("range", "Audit `range`", "Its keys; at least one bound."),
    ("row_count", "Audit `row_count`", "Its keys; at least one bound."),
    ("relationship", "Audit `relationship`", "Its keys."),
    ("sql", "Audit `sql`", "Its keys."),
    (
        "lint",
        "Lint",
        "Under `lint` of the project, or at the top of `.oncemore-lint.yml`, which needs no project. Paths and patterns are \
         relative to that file: `folder/` is a folder of that name anywhere, `a/b/` that folder, `*.sql` a file anywhere, \
         `a/**/*.sql` files below `a`. A rule is an id `OM301`, a name, or how ids begin: `OM3`.",
    ),
    ("lint_allow", "Allow", "In the list `allow` of lint."),
];

const fn key(
    scope: &'static str,
    name: &'static str,
    kind: &'static str,
    default: &'static str,
    doc: &'static str,
) -> Key {
    Key { scope, name, kind, default, doc }
}

/// The one table.
#[rustfmt::skip]
pub(crate) const KEYS: &[Key] = &[
    key("project", "name", "text", "required", "Name of the project: letters, digits, `_` and `-`."),
    key("project", "start", "date or instant", "none", "First instant that tasks are due for. A date means midnight in each model's zone."),
    key("project", "end", "date or instant", "now", "First instant that no task is due for."),
    key("project", "time_zone", "IANA name", "`UTC`", "Zone of models and sources that name none."),
    key("project", "warehouse", "relative path", "`warehouse`", "Folder of the tables, below the project's folder."),
    key("project", "sources", "mapping", "none", "Files that somebody else delivers, by the name that FROM uses."),
    key("project", "variables", "mapping of scalars", "none", "Values for `:name` in queries. A changed value changes the code version of the models that use it."),
    key("project", "limits", "mapping", "none", "Limits of one command."),
    key("project", "defaults", "mapping", "none", "Keys of models by folder: `defaults: {silver: {time_zone: America/New_York}}`. A model's own key wins; a default that its kind has no use for is passed over."),
    key("project", "foreign", "`warn`, `error` or `adopt`", "`error`", "What a run does about a slice that somebody else wrote into: leave it and say so, leave it and fail (exit 4), or take what is there for ours."),
    key("project", "lint", "mapping", "none", "What `oncemore lint` judges, and how."),
    key("limits", "tasks", "whole number", "100", "More tasks than this, caused by code or a dimension, need `--yes`."),
    key("limits", "lease", "duration", "1 minute", "How long a run keeps its claim on slices without a sign of life: `5 minutes`. One that was stopped or cut off for longer may be taken over. Between a second and a day."),
    key("source", "path", "relative path", "required", "Where its files are: may hold `*`, `**`, `?`, `[…]` and `{interval:%Y-%m-%d}` (fields %Y, %m, %d, %j, %H; the finest one is the length of the interval that a file stands for)."),
    key("source", "format", "`csv`, `ndjson` or `parquet`", "by the path's ending", "Format of every file. `.gz` after the ending means gzip."),
    key("source", "columns", "mapping of types", "none", "Columns and their types: BOOLEAN, INTEGER, BIGINT, REAL, DOUBLE, DECIMAL(p, s), TEXT, DATE, TIMESTAMP, TIMESTAMPTZ, BINARY. Columns of a CSV that are not listed are TEXT."),
    key("source", "header", "true or false", "true", "CSV: whether the first line names the columns."),
    key("source", "delimiter", "one character", "`,`", "CSV: what stands between two fields."),
    key("source", "null", "list of text", "`['']`", "CSV: spellings of NULL."),
    key("source", "time", "column", "none", "Column that places a row in time: a fingerprint is kept for each interval, so that late, corrected and vanished rows are found."),
    key("source", "key", "list of columns", "none", "What identifies a row: lets a change in one column leave readers of other columns alone."),
    key("source", "time_zone", "IANA name", "the project's", "Zone of dates and wall times in `time` and in `{interval:…}`."),
    key("source", "missing", "`wait`, `empty` or `error`", "`wait` with `{interval:…}`, else `error`", "What an interval without a file means: not yet arrived, no rows, an error."),
    key("source", "complete_when", "mapping", "none", "When an interval counts as delivered; until then tasks wait."),
    key("complete_when", "marker", "relative path", "-", "This file exists; may hold `{interval:…}`."),
    key("complete_when", "rows", "whole number", "-", "At least so many rows are there."),
    key("complete_when", "watermark", "duration", "-", "The source holds a row at or after the interval's end, moved back by this: `2 hours`."),
    key("model", "kind", "`slice`, `merge`, `history`, `full` or `view`", "required", "How it is stored: replaced by interval, the last row of each key or all its stretches of time folded from changes, replaced whole, or expanded into its readers."),
    key("model", "interval", "length", "required for `slice`, `merge`, `history`", "Length of a slice: hour, day, week, month, quarter, year, or minutes that divide the day (`15 minutes`)."),
    key("model", "time_zone", "IANA name", "the project's", "`slice`, `merge`, `history`: zone in which intervals begin and end."),
    key("model", "time", "column", "required for `slice`, `merge`, `history`", "Output column that decides which slice a row belongs to."),
    key("model", "key", "list of columns", "required for `merge`, `history`", "What identifies a row. Unique within a slice, or within a `full` table; a `merge` holds one row for each, a `history` one for each and stretch of time, NULL equal to NULL."),
    key("model", "order_by", "list of columns", "`time`", "`merge`, `history`: of several changes of a key (and date) the greatest by these columns counts, NULL the lowest; of equal ones a deletion, then the greatest by all other columns, by name."),
    key("model", "effective", "column", "none; `time` for `history`", "`merge`: column that orders changes before `order_by` does; `history`: column that dates them. It may lie outside the interval, which `time` alone decides."),
    key("model", "deleted", "SQL condition", "none", "`merge`, `history`: a change for which it is true deletes its key."),
    key("model", "ties", "`warn` or `error`", "`warn`", "`merge`, `history`: what changes of one key (and date) and equal order do that differ otherwise, of one interval or, where the last change of a key is one of them, of two."),
    key("model", "input", "`changes` or `snapshot`", "`changes`", "`history`: whether an interval holds what changed, or all keys that are there at its start."),
    key("model", "track", "list of columns", "all but key, time, date and order", "`history`: columns whose values make a stretch of time; equal neighbours are one. None of the key's."),
    key("model", "empty", "`error` or `allowed`", "`error`", "`history` of snapshots: whether an interval without rows means that nothing is there."),
    key("model", "audits", "list of audits", "none", "What must hold of the rows before they are published."),
    key("model", "tags", "list of text", "none", "Labels, to select by `tag:<name>`."),
    key("model", "inputs", "mapping", "none", "What a change of an input does."),
    key("model", "start", "date or instant", "the project's", "`slice`, `merge`, `history`: first instant that tasks are due for."),
    key("model", "end", "date or instant", "the project's", "`slice`, `merge`, `history`: first instant that no task is due for."),
    key("model", "delay", "duration", "none", "`slice`, `merge`, `history`: how long after its end an interval becomes due: `2 hours`."),
    key("model", "foreign", "`warn`, `error` or `adopt`", "the project's", "`slice`, `merge`, `history`, `full`: what a run does about a slice that somebody else wrote into."),
    key("model", "description", "text", "none", "For people."),
    key("input", "on_change", "`rerun`, `report` or `ignore`", "`rerun`", "A change of the input makes slices stale, is only named, or counts for nothing."),
    key("audit", "not_null", "list of columns", "-", "No NULL in any of these columns."),
    key("audit", "unique", "list of columns", "-", "These columns together are unique within the slice, NULL equal to NULL."),
    key("audit", "accepted_values", "mapping", "-", "The column holds only these values, or NULL."),
    key("audit", "range", "mapping", "-", "The column lies between the bounds, both inclusive, or is NULL."),
    key("audit", "row_count", "mapping", "-", "The slice has so many rows, both bounds inclusive."),
    key("audit", "expression", "SQL condition", "-", "A condition that is true for each row; NULL fails."),
    key("audit", "relationship", "mapping", "-", "Each value that is not NULL is found in another table."),
    key("audit", "sql", "mapping", "-", "A query over the slice, named by the model's table name; each row it yields is an offence."),
    key("accepted_values", "column", "column", "required", "The column."),
    key("accepted_values", "values", "list of scalars", "required", "Allowed values, compared as text."),
    key("range", "column", "column", "required", "The column."),
    key("range", "min", "scalar", "none", "Least allowed value."),
    key("range", "max", "scalar", "none", "Greatest allowed value."),
    key("row_count", "min", "whole number", "none", "Least allowed count."),
    key("row_count", "max", "whole number", "none", "Greatest allowed count."),
    key("relationship", "columns", "list of columns", "required", "Columns here."),
    key("relationship", "to", "table", "required", "Model or source there."),
    key("relationship", "to_columns", "list of columns", "the same as `columns`", "Columns there."),
    key("sql", "name", "text", "required", "Shown in reports."),
    key("sql", "query", "SQL query", "required", "The query."),
    key("lint", "dialect", "dialect", "by path and words", "Dialect of files that `dialects` says nothing about: postgres, redshift, snowflake, bigquery, spark, duckdb, trino, mysql, tsql, clickhouse, oracle or ansi; also the names of dbt adapters."),
    key("lint", "dialects", "mapping of dialects", "none", "Dialects by pattern: `dialects: {etl/pg/: postgres}`. The first that fits counts."),
    key("lint", "rules", "mapping", "none", "`error`, `warning`, `info` or `off` by rule, for all of its findings."),
    key("lint", "ignore", "list of patterns", "none", "Files that are not looked at."),
    key("lint", "run_once", "list of patterns", "`[migrations/, ddl/]`", "Files that run once and never again: their definitions of tables count, they are not judged."),
    key("lint", "provenance", "list of columns", "none", "Columns that tell when or by whom a row was written, beside those whose names say so (`loaded_at`, `updated_by`): a clock may fill them."),
    key("lint", "atomic_scripts", "true or false", "false", "Whether what runs the scripts makes each file one transaction."),
    key("lint", "allow", "list of mappings", "none", "Rules that may be broken in some files, each with a reason."),
    key("lint", "baseline", "relative path", "none", "File of the findings that are known and not shown; `oncemore lint --write-baseline` makes it."),
    key("lint_allow", "path", "pattern", "required", "The files."),
    key("lint_allow", "rules", "list of rules", "required", "What is allowed there."),
    key("lint_allow", "because", "text", "required", "The reason."),
];

/// The keys of a scope.
pub(crate) fn of_scope(scope: &str) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.scope == scope)
}

/// The page that lists every key, as Markdown.
pub fn keys_markdown() -> String {
    let mut page = String::from(
        "# Keys\n\nEvery key of `oncemore.yml` and of models. This page is generated from the table that the \
         decoder reads.\n",
    );
    let escape = |text: &str| text.replace('|', "\\|");
    for (scope, heading, place) in SCOPES {
        let _ = write!(
            page,
            "\n## {heading}\n\n{place}\n\n| key | value | default | meaning |\n|---|---|---|---|\n"
        );
        for key in of_scope(scope) {
            let (kind, default, doc) = (escape(key.kind), escape(key.default), escape(key.doc));
            let _ = writeln!(page, "| `{}` | {kind} | {default} | {doc} |", key.name);
        }
    }
    page
}
