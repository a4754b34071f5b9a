//! OM314: definitions that a second run fails at, or that keep the rows of the first.
use super::fixes::{guarded, replacing};
use super::prelude::*;
use super::shared::{NEAR, creates, gives_nothing, makes};
use crate::dialect::Dialect;
use crate::finding::Fix;

pub(super) const RULE: Rule = Rule { id: "OM314", page: include_str!("../../rules/OM314.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    // What a trigger does with rows is no part of the script's own work.
    let defines_only = file.writes().all(|write| write.statement.routine);
    if runs_once(&file.script.path, defines_only) {
        return;
    }
    for (at, statement, _) in file.statements() {
        if statement.guard.is_some() || statement.handler {
            continue;
        }
        match &statement.action {
            Action::Define(table) => {
                let head = Span { start: statement.span.start, end: table.name.span.end };
                create(file, at, &table.name, table.creation, head, false, out);
            }
            Action::Drop { names, guarded: false } => drop_table(file, at, statement, names, out),
            Action::Alter(changes) => {
                changes.iter().for_each(|alter| add_column(file, at, statement, alter, out))
            }
            _ => {
                for write in &statement.writes {
                    if let Verb::CreateAs(creation) = write.verb {
                        let empty = write.source.is_some_and(|source| gives_nothing(statement, source));
                        create(file, at, &write.target, creation, write.head, !empty, out);
                    }
                }
            }
        }
    }
}

/// Files that a tool for migrations runs once: by their folder, or by their name (`V7__regions.sql`,
/// `create_tables.sql`).
fn runs_once(path: &str, defines_only: bool) -> bool {
    const WORDS: &[&str] = &[
        "ddl",
        "migrations",
        "migration",
        "migrate",
        "schema",
        "schemas",
        "flyway",
        "liquibase",
        "alembic",
        "setup",
        "bootstrap",
    ];
    let path = path.to_ascii_lowercase();
    let mut parts = path.trim_end_matches(".sql").rsplit(['/', '\\']);
    let name = parts.next().unwrap_or("");
    let numbered = name.strip_prefix(['v', 'u', 'r']).is_some_and(|rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '_').len() < rest.len()
            && rest.contains("__")
    });
    let named = defines_only
        && (name.starts_with("create_")
            || name == "create"
            || name.contains("create_table")
            || name.split(['_', '-', '.', ' ']).any(|word| WORDS.contains(&word)));
    numbered || named || parts.any(|part| WORDS.contains(&part))
}

fn create(
    file: &File<'_>,
    at: usize,
    name: &Name,
    creation: Creation,
    head: Span,
    filled: bool,
    out: &mut Findings<'_>,
) {
    if creation.or_replace || creation.temporary || cleared(file, at, name) || moved_on(file, at, name) {
        return;
    }
    let table = name.text();
    let before = Span { start: head.start, end: name.span.start };
    if creation.if_not_exists {
        if filled {
            out.report(
                Draft::new(Severity::Error, head, format!("`{table}` is filled the first time only"))
                    .rerun(
                        "the run of 2 March finds the table and does nothing: it keeps the rows of 1 \
                        March, and reports success",
                    )
                    .help(
                        "CREATE OR REPLACE TABLE … AS; or create it empty, and replace the slice by \
                        DELETE and INSERT",
                    )
                    .fix(replacing(file, before)),
            );
        }
        return;
    }
    out.report(
        Draft::new(Severity::Warning, head, format!("`{table}` can be created once only"))
            .definition()
            .rerun("a later statement fails and the script is retried: it stops here, since the table exists")
            .help("CREATE TABLE IF NOT EXISTS, CREATE OR REPLACE TABLE, or DROP TABLE IF EXISTS before it")
            .fix(if filled { replacing(file, before) } else { create_guarded(file, before) }),
    );
}

fn create_guarded(file: &File<'_>, before: Span) -> Option<Fix> {
    let has = !matches!(file.script.dialect, Dialect::TSql | Dialect::Oracle | Dialect::Ansi);
    let heads: &[&[&str]] = &[&["create", "table"], &["create", "transient", "table"]];
    has.then(|| guarded(file, before, heads, "IF NOT EXISTS")).flatten()
}

fn drop_guarded(file: &File<'_>, before: Span) -> Option<Fix> {
    let has = !matches!(file.script.dialect, Dialect::Oracle | Dialect::Ansi);
    has.then(|| guarded(file, before, &[&["drop", "table"]], "IF EXISTS")).flatten()
}

/// What stands between the first word of a statement and a name.
fn head_before(statement: &Statement, name: &Name) -> Span {
    Span { start: statement.span.start, end: name.span.start }
}

fn add_guarded(file: &File<'_>, added: Span, column: &str) -> Option<Fix> {
    let has = matches!(
        file.script.dialect,
        Dialect::Postgres
            | Dialect::Snowflake
            | Dialect::BigQuery
            | Dialect::DuckDb
            | Dialect::Trino
            | Dialect::ClickHouse
    );
    let at = find_word(&added.of(&file.script.text).to_ascii_lowercase(), column, 0).filter(|_| has)?;
    let before = Span::new(added.start as usize, added.start as usize + at);
    guarded(file, before, &[&["add", "column"]], "IF NOT EXISTS")
}

/// Earlier statements that touch a table, and those near that were not understood.
fn before<'f>(file: &'f File<'_>, at: usize, name: &'f Name) -> impl Iterator<Item = &'f Statement> {
    let unread = file.script.statements.iter().take(at).rev().take(NEAR);
    let unread = unread
        .filter(|statement| matches!(statement.action, Action::Utility | Action::Call | Action::Unread(_)));
    file.script.index.before(name.last(), at).filter_map(|at| file.script.statements.get(at)).chain(unread)
}

/// Whether an earlier statement takes the table away, or moves it.
fn cleared(file: &File<'_>, at: usize, name: &Name) -> bool {
    before(file, at, name).any(|statement| match &statement.action {
        Action::Drop { names, .. } => names.iter().any(|dropped| dropped.same(name)),
        Action::Alter(changes) => changes
            .iter()
            .any(|alter| alter.name.same(name) && matches!(alter.change, AlterChange::Rename(_))),
        _ => {
            let text = statement.span.of(&file.script.text).to_ascii_lowercase();
            matches!(statement.action, Action::Unread(_) | Action::Call | Action::Utility)
                && text.contains("drop")
                && text.contains(name.last())
        }
    })
}

/// The transaction of a statement, where it takes definitions back, too.
fn undoing(file: &File<'_>, at: usize) -> Option<u32> {
    let undoes = matches!(
        file.script.dialect,
        Dialect::Postgres | Dialect::Redshift | Dialect::DuckDb | Dialect::TSql | Dialect::Ansi
    );
    file.script.statements.get(at)?.transaction.filter(|_| undoes)
}

/// Later statements of the same transaction that touch a table.
fn later<'f>(file: &'f File<'_>, at: usize, name: &'f Name) -> impl Iterator<Item = &'f Statement> {
    let own = undoing(file, at);
    let after = file.script.index.after(name.last(), at).filter_map(|at| file.script.statements.get(at));
    after.filter(move |statement| own.is_some() && statement.transaction == own)
}

/// Whether the transaction that makes a table gives it another name, or drops it: it is gone when the next run begins.
fn moved_on(file: &File<'_>, at: usize, name: &Name) -> bool {
    later(file, at, name).any(|statement| match &statement.action {
        Action::Drop { names, .. } => names.iter().any(|dropped| dropped.same(name)),
        Action::Alter(changes) => changes
            .iter()
            .any(|alter| alter.name.same(name) && matches!(alter.change, AlterChange::Rename(_))),
        _ => false,
    })
}

/// Whether the transaction that drops a table makes it again: it is there when the next run begins.
fn put_back(file: &File<'_>, at: usize, name: &Name) -> bool {
    later(file, at, name).any(|statement| match &statement.action {
        Action::Define(table) => table.name.same(name),
        Action::Alter(changes) => {
            changes.iter().any(|alter| matches!(&alter.change, AlterChange::Rename(to) if to.same(name)))
        }
        _ => statement
            .writes
            .iter()
            .any(|write| matches!(write.verb, Verb::CreateAs(_)) && write.target.same(name)),
    })
}

fn drop_table(file: &File<'_>, at: usize, statement: &Statement, names: &[Name], out: &mut Findings<'_>) {
    let made = |name: &Name| {
        before(file, at, name).any(|statement| match &statement.action {
            Action::Alter(changes) => changes.iter().any(|alter| {
                matches!(&alter.change, AlterChange::Rename(to) | AlterChange::Swap(to) if to.same(name))
                    || matches!(alter.change, AlterChange::Swap(_)) && alter.name.same(name)
            }),
            _ => makes(file, statement, name),
        })
    };
    // Made again further on: the table is there when the script begins, and when it ends.
    let made_again = |name: &Name| {
        let mut after =
            file.script.index.after(name.last(), at).filter_map(|at| file.script.statements.get(at));
        after.any(|statement| makes(file, statement, name))
    };
    let Some(name) = names.iter().find(|name| !made(name) && !put_back(file, at, name)) else { return };
    if name.last().starts_with('#')
        || statement.span.of(&file.script.text).to_ascii_lowercase().contains("temporary")
    {
        return;
    }
    let again = if made_again(name) {
        "the script fails between DROP and CREATE: the retry stops here, since the table is gone"
    } else {
        "the script is run again: it stops here, since the table is gone"
    };
    let end = names.last().map_or(statement.span.end, |name| name.span.end);
    out.report(
        Draft::new(
            Severity::Warning,
            Span { start: statement.span.start, end },
            format!("`{}` can be dropped once only", name.text()),
        )
        .rerun(again)
        .help("DROP TABLE IF EXISTS")
        .fix(names.first().and_then(|first| drop_guarded(file, head_before(statement, first)))),
    );
}

fn add_column(file: &File<'_>, at: usize, statement: &Statement, alter: &Alter, out: &mut Findings<'_>) {
    let AlterChange::AddColumn { guarded: false, column } = &alter.change else { return };
    // A table that this script makes has its columns of it.
    let own = before(file, at, &alter.name).any(|statement| match &statement.action {
        Action::Define(table) => table.name.same(&alter.name) && !table.creation.if_not_exists,
        _ => creates(statement, &alter.name),
    });
    if own {
        return;
    }
    let added = added(file, statement, &column.name);
    out.report(
        Draft::new(Severity::Warning, added, format!("the column `{}` can be added once only", column.name))
            .rerun(
                "a later statement fails and the script is retried: it stops here, since the column exists",
            )
            .help(
                "ADD COLUMN IF NOT EXISTS where the engine has it; or move it to a migration that runs once",
            )
            .fix(add_guarded(file, added, &column.name)),
    );
}

/// `ADD COLUMN region text`: from ADD to the comma or the end.
fn added(file: &File<'_>, statement: &Statement, column: &str) -> Span {
    let text = statement.span.of(&file.script.text);
    let lower = text.to_ascii_lowercase();
    let name = find_word(&lower, column, 0).unwrap_or(0);
    let start = lower.get(..name).and_then(|before| before.rfind("add")).unwrap_or(0);
    let mut depth = 0_i32;
    let mut end = text.len();
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < start) {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    let from = statement.span.start as usize;
    Span::new(from + start, from + end)
}

fn find_word(text: &str, word: &str, from: usize) -> Option<usize> {
    let at = from + text.get(from..)?.find(word)?;
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let before = text.get(..at)?.chars().next_back().is_some_and(is_part);
    let after = text.get(at + word.len()..)?.chars().next().is_some_and(is_part);
    if before || after { find_word(text, word, at + word.len()) } else { Some(at) }
}
