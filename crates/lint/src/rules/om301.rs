//! OM301: an INSERT that adds the same rows again.
use super::om316::adds_versions;
use super::prelude::*;
use super::shared::{claim, is_history};
use super::slices::feeders;

pub(super) const RULE: Rule = Rule { id: "OM301", page: include_str!("../../rules/OM301.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        if write.verb != Verb::Insert || write.effect() != Effect::Append {
            continue;
        }
        if let Some(draft) = judge(file, &write) {
            out.report(draft);
        }
    }
}

fn judge<'f, 'a>(file: &'f File<'a>, write: &WriteFact<'f, 'a>) -> Option<Draft> {
    // Cassandra keeps one row a key, whatever is inserted.
    let keyed_store = file.script.path.to_ascii_lowercase().contains("cassandra");
    let excused = keyed_store
        || is_history(write)
        || adds_versions(write)
        || (write.target.is_stage() && is_read_later(file, write))
        || by_trigger(write)
        || write.context.is_stage(write.write)
        || write.context.is_log(&write.target)
        || write.statement.handler
        || asks_first(write)
        || claim(write).is_some();
    if excused || is_consumed(file, write) || adds_missing(file, write) {
        return None;
    }
    let target = write.target.text();
    let facts = file.knowledge.table(&write.target);
    let mut draft = Draft::new(
        Severity::Error,
        write.head,
        format!(
            "rows are added to `{target}`, and \
        nothing takes away what the same run added before"
        ),
    )
    .rerun(format!(
        "the scheduler loses an answer and runs the interval again: its rows stand in \
            `{target}` twice"
    ))
    .help(
        "delete the interval's rows first, in the same transaction; or MERGE on a key; or overwrite \
            the partition",
    );
    if facts.is_some_and(|facts| facts.replacing) {
        draft = draft.rerun(
            "the engine merges rows of equal key some day; until then, and in every query \
            without FINAL, both are there",
        );
        draft.severity = Severity::Warning;
    }
    Some(draft)
}

/// `IF NOT EXISTS (SELECT …) INSERT`, `IF @id IS NULL INSERT`: only what was looked for and not found is put in. A switch
/// such as `IF @full = 1` asks nothing.
fn asks_first(write: &WriteFact<'_, '_>) -> bool {
    let Some(guard) = write.statement.guard else { return false };
    let text = guard.of(&write.context.script.text).to_ascii_lowercase();
    ["exists", "select", "count", "null", "found", "object_id", "matched"]
        .iter()
        .any(|word| text.contains(word))
}

/// `INSERT INTO t VALUES (NEW.*)`: a trigger sends on the row of another write, which is judged where it stands.
fn by_trigger(write: &WriteFact<'_, '_>) -> bool {
    let text = write.span.of(&write.context.script.text).to_ascii_lowercase();
    write.statement.routine && (text.contains("(new.") || text.contains(" new.") || text.contains("(:new."))
}

/// Whether a later write of the script reads the table: then it is a stage, and OM318 speaks of what is left
/// in it.
fn is_read_later(file: &File<'_>, write: &WriteFact<'_, '_>) -> bool {
    (write.at + 1..file.script.statements.len()).take(100).filter_map(|at| file.write(at, 0)).any(|other| {
        other.source.iter().chain(&other.scope).any(|root| {
            other
                .view
                .tables(*root)
                .iter()
                .any(|(_, _, name)| name.same(&write.target) && !other.target.same(&write.target))
        })
    })
}

/// Whether what is read is gone afterwards: rows taken by a DELETE in the same statement, a stream.
fn is_consumed(file: &File<'_>, write: &WriteFact<'_, '_>) -> bool {
    let Some(source) = write.source else { return false };
    let taken = write.statement.writes.iter().any(|other| other.cte.is_some() && other.verb == Verb::Delete);
    let tables = write.view.tables(source);
    let moved = write.statement.transaction.is_some()
        && !tables.is_empty()
        && tables.iter().all(|(_, _, name)| {
            file.changes_after(name, write.at).any(|other| {
                matches!(other.verb, Verb::Delete | Verb::Truncate)
                    && other.target.same(name)
                    && other.statement.transaction == write.statement.transaction
            })
        });
    let stream = file.script.dialect == crate::dialect::Dialect::Snowflake
        && tables
            .iter()
            .any(|(_, _, name)| name.last().ends_with("_stream") || name.last().starts_with("stream_"));
    taken || moved || stream
}

/// Whether only rows are added that are not there, or newer than all that are: OM304 and OM305 speak of it.
fn adds_missing<'f, 'a>(file: &'f File<'a>, write: &WriteFact<'f, 'a>) -> bool {
    std::iter::once(*write).chain(feeders(file, write)).any(|reader| {
        let reads = reader.source.map(|source| reader.view.reads_of(source, &write.target));
        reads
            .into_iter()
            .flatten()
            .any(|(read, _)| matches!(read, SelfRead::AntiJoin | SelfRead::Watermark | SelfRead::Presence))
            || super::om305::by_variable(&reader, &write.target).is_some()
    })
}
