//! OM302: a row that is there stays as it is.
use super::prelude::*;
use super::shared::claim;

pub(super) const RULE: Rule = Rule { id: "OM302", page: include_str!("../../rules/OM302.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        if write.context.is_log(&write.target) || write.statement.handler {
            continue;
        }
        if let Some(conflict) =
            write.conflict.as_ref().filter(|conflict| conflict.action == ConflictAction::Nothing)
            && !is_harmless(&write, conflict)
            && !is_claim(file, &write)
        {
            out.report(draft(&write, conflict.span));
        }
        for branch in &write.branches {
            if matches!(branch.action, BranchAction::Nothing)
                && branch.when == When::Matched
                && branch.filters.is_empty()
            {
                out.report(draft(&write, branch.span));
            }
        }
    }
}

fn draft(write: &WriteFact<'_, '_>, span: Span) -> Draft {
    let target = write.target.text();
    Draft::new(Severity::Error, span, format!("a row whose key is in `{target}` already is skipped"))
        .rerun(
            "a wrong figure is corrected in the source and the interval runs again: it succeeds, and the \
            wrong figure stays",
        )
        .help("DO UPDATE SET the columns that are no key, or delete the interval's rows first")
}

/// Nothing to correct: all columns are the key, or the rows were taken away before.
fn is_harmless(write: &WriteFact<'_, '_>, conflict: &Conflict) -> bool {
    let request = |name: &String| {
        name.contains("idempoten") || name.contains("dedup") || name == "request_id" || name == "lock_name"
    };
    if conflict.keys.iter().any(request)
        || write
            .target
            .last()
            .split('_')
            .any(|word| matches!(word, "locks" | "lock" | "idempotency" | "dedup"))
    {
        return true;
    }
    let all_key = !conflict.keys.is_empty()
        && !write.columns.is_empty()
        && write.columns.iter().all(|column| conflict.keys.contains(column));
    let known_key = write.context.knowledge.table(&write.target).is_some_and(|facts| {
        !write.columns.is_empty()
            && facts.keys.iter().any(|key| write.columns.iter().all(|column| key.contains(column)))
    });
    all_key || known_key || content_addressed(write, conflict) || emptied(write)
}

/// One row of what the run is called by, whose being there already keeps the rest of the statement from being done again.
fn is_claim(file: &File<'_>, write: &WriteFact<'_, '_>) -> bool {
    let given = |id: QueryId| match &write.view.query(id).body {
        Body::Values(rows) => rows.len() == 1,
        Body::Select(select) => select.from.is_empty(),
        _ => false,
    };
    let count = write.statement.writes.len();
    write.cte.is_some()
        && write.source.is_some_and(given)
        && (0..count)
            .filter_map(|index| file.write(write.at, index))
            .any(|other| claim(&other).is_some_and(|claim| std::ptr::eq(claim, write.write)))
}

/// The key is a hash of the row's content.
fn content_addressed(write: &WriteFact<'_, '_>, conflict: &Conflict) -> bool {
    let Some(source) = write.source else { return false };
    let outputs = write.view.outputs(source);
    conflict.keys.len() == 1
        && conflict.keys.iter().all(|key| {
            let at = write.columns.iter().position(|column| column == key);
            let output = at
                .and_then(|at| outputs.list.get(at))
                .or_else(|| outputs.list.iter().find(|output| output.name == *key));
            let hashed = matches!(output.map(|output| &output.value), Some(OutputValue::Expr(expr))
                if matches!(&expr.kind, ExprKind::Call(call)
                    if is_hash(&call.name)));
            hashed
                || ["hash", "digest", "checksum", "sha", "md5", "fingerprint"]
                    .iter()
                    .any(|word| key.split('_').any(|part| part.starts_with(word)))
        })
}

/// The slice or the table was emptied before, in the same script.
fn emptied(write: &WriteFact<'_, '_>) -> bool {
    let script = write.context.script;
    script.index.before(write.target.last(), write.at).filter_map(|at| script.statements.get(at)).any(|statement| {
        statement.writes.iter().any(|other| other.target.same(&write.target) && matches!(other.verb, Verb::Delete | Verb::Truncate))
            || matches!(&statement.action, Action::Define(table)
                    if table.name.same(&write.target) && (table.creation.temporary || !table.creation.if_not_exists))
    })
}
