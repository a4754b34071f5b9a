//! OM321: columns that only the INSERT of an upsert names.
use super::prelude::*;
use super::shared::{looks_unique, parts_of_hashes};

pub(super) const RULE: Rule = Rule { id: "OM321", page: include_str!("../../rules/OM321.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        if write.context.is_log(&write.target) {
            continue;
        }
        let Some((span, left)) = upsert(&write).or_else(|| merge(&write)) else { continue };
        let Some(first) = left.first() else { continue };
        let named = left.iter().map(|column| format!("`{column}`")).collect::<Vec<_>>().join(", ");
        out.report(
            Draft::new(
                Severity::Warning,
                span,
                format!(
                    "{named} of a row that is there already never \
                changes"
                ),
            )
            .rerun(format!(
                "`{first}` is corrected in the source and the run repeated: the row is \
                    found, and keeps the wrong `{first}`"
            ))
            .help(
                "set all columns that are no key; leave out only those that say when a row was first \
                    seen",
            ),
        );
    }
}

/// Columns that are meant to stay as they were first written.
fn is_first(name: &str) -> bool {
    // So does what tells of the load, and a number that only served to pick the row.
    let aside = is_audit_name(name)
        || super::slices::is_load_name(name)
        || matches!(name, "num" | "rn" | "row_num" | "rownum" | "row_number" | "seq_no" | "rank");
    aside
        || name.split('_').any(|word| {
            matches!(word, "created" | "inserted" | "first" | "initial" | "original" | "creation" | "insert")
        })
        || name.starts_with("create")
        || name.starts_with("insert")
        || name.starts_with("load")
}

fn left_over(
    columns: &[String],
    set: &[String],
    keys: &[String],
    constant: &dyn Fn(usize) -> bool,
) -> Vec<String> {
    columns
        .iter()
        .enumerate()
        .filter(|(at, column)| {
            !column.is_empty()
                && !set.contains(column)
                && !keys.contains(column)
                && !is_first(column)
                && !constant(*at)
        })
        .map(|(_, column)| column.clone())
        .collect()
}

fn upsert(write: &WriteFact<'_, '_>) -> Option<(Span, Vec<String>)> {
    let conflict = write
        .conflict
        .as_ref()
        .filter(|conflict| conflict.action == ConflictAction::Update && !conflict.sets.is_empty())?;
    let source = write.source?;
    let set: Vec<String> = conflict.sets.iter().map(|set| set.column.clone()).collect();
    let known = write
        .view
        .knowledge
        .table(&write.target)
        .map(|facts| facts.keys.iter().flatten().cloned().collect::<Vec<_>>())
        .unwrap_or_default();
    let by_constraint =
        conflict.span.of(&write.context.script.text).to_ascii_lowercase().contains("constraint");
    let grouped = if by_constraint { keys_of_source(write, source) } else { Vec::new() };
    let guessed: Vec<String> = if conflict.keys.is_empty() && known.is_empty() && !grouped.is_empty() {
        // Which columns the constraint holds is not known; those that tell the source's rows apart are.
        grouped
    } else if conflict.keys.is_empty() && known.is_empty() {
        // ON DUPLICATE KEY names no key: what looks like one isn't counted, nor where nothing does.
        let looks: Vec<String> = write
            .columns
            .iter()
            .filter(|column| looks_unique(column) || super::slices::is_day_name(column))
            .cloned()
            // Of a grouped source the key can hold no less than what it is grouped by.
            .chain(keys_of_source(write, source))
            .collect();
        if looks.is_empty() {
            return None;
        }
        looks
    } else {
        conflict.keys.iter().chain(&known).cloned().collect()
    };
    // One row of values is an application's own: it knows which columns it changes.
    if matches!(write.view.query(source).body, Body::Values(_)) {
        return None;
    }
    let outputs = write.view.outputs(source);
    let constant = |at: usize| matches!(outputs.list.get(at).map(|output| &output.value), Some(OutputValue::Expr(expr)) if constant(expr));
    let left = left_over(&write.columns, &set, &guessed, &constant);
    let text = &write.context.script.text;
    let lower = conflict.span.of(text).to_ascii_lowercase();
    let start = conflict.span.start as usize
        + lower.find("do ").filter(|_| !conflict.keys.is_empty() || lower.contains("conflict")).unwrap_or(0);
    Some((Span::new(start, conflict.span.end as usize), left))
}

/// Columns of the target that are filled from what tells the source's rows apart.
fn keys_of_source(write: &WriteFact<'_, '_>, source: QueryId) -> Vec<String> {
    let keys: Vec<String> = write.view.keys(source, 0).into_iter().flatten().collect();
    let outputs = write.view.outputs(source);
    let named = outputs.list.iter().zip(&write.columns).filter(|(output, _)| keys.contains(&output.name));
    named.map(|(_, column)| column.clone()).collect()
}

fn merge(write: &WriteFact<'_, '_>) -> Option<(Span, Vec<String>)> {
    if write.verb != Verb::Merge {
        return None;
    }
    let (columns, values) = write.branches.iter().find_map(|branch| match &branch.action {
        BranchAction::Insert(columns, values) if branch.when == When::NotMatched => Some((columns, values)),
        _ => None,
    })?;
    let mut set = Vec::new();
    let mut place = None;
    for branch in write.branches.iter().filter(|branch| branch.when == When::Matched) {
        match &branch.action {
            BranchAction::Update(sets) => {
                set.extend(sets.iter().map(|set| set.column.clone()));
                place = place.or_else(|| Some((branch, sets.last()?.span.end)));
            }
            // Deleted and inserted anew, or all columns.
            _ => return None,
        }
    }
    let (branch, end) = place?;
    let pairs = write.view.merge_pairs(write.write);
    let sources: Vec<String> = pairs.iter().map(|(_, source)| source.clone()).collect();
    // What the key is a hash of can't change without another key.
    let parts = write.source.map_or_else(Vec::new, |source| parts_of_hashes(write.view, source, &sources));
    let keys: Vec<String> =
        pairs.into_iter().map(|(target, _)| target).chain(compared_targets(write)).collect();
    let hashed = |at: usize| {
        let column = values.get(at).and_then(column_within).and_then(Expr::column);
        column.is_some_and(|(_, name)| parts.iter().any(|part| part == name))
    };
    // A number of the engine's is given once.
    let numbered = |at: usize| values.get(at).is_some_and(|value| is_numbered(write, value));
    let constant = |at: usize| values.get(at).is_some_and(constant) || hashed(at) || numbered(at);
    let left = left_over(columns, &set, &keys, &constant);
    let start = branch.span.start as usize;
    let at = branch.span.of(&write.context.script.text).to_ascii_lowercase().find("update")?;
    Some((Span::new(start + at, end as usize), left))
}

/// Whether a value is the next of a sequence.
fn is_numbered(write: &WriteFact<'_, '_>, value: &Expr) -> bool {
    value.any(&mut |part| match &part.kind {
        ExprKind::Call(call) => {
            crate::functions::class(write.view.dialect, &call.name, call.args.len()) == Some(Class::Identity)
        }
        ExprKind::Column { name, .. } => name == "nextval",
        _ => false,
    })
}

/// Columns of the target anywhere in the condition of the MERGE.
fn compared_targets(write: &WriteFact<'_, '_>) -> Vec<String> {
    let Some(scope) = write.scope else { return Vec::new() };
    let mut found = Vec::new();
    for condition in &write.filters {
        condition.walk(&mut |part| {
            if let ColumnSource::From { query, from: 0, column } = write.view.source(scope, part)
                && query == scope
            {
                found.push(column);
            }
        });
    }
    found
}
