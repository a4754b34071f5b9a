//! OM315: values go by position from a star into a table whose columns are fixed elsewhere.
use super::fixes::{has_comment, is_plain};
use super::prelude::*;
use super::shared::{NEAR, creates, makes};
use crate::finding::{Fix, Safety};

pub(super) const RULE: Rule = Rule { id: "OM315", page: include_str!("../../rules/OM315.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        let Some(source) = write.source else { continue };
        let positional = matches!(write.verb, Verb::Insert | Verb::Overwrite | Verb::ReplaceWhere)
            && write.columns.is_empty()
            && !write.by_name;
        if !positional || write.target.parts.is_empty() {
            continue;
        }
        if let Some(span) = star(file, write.view, source, 0).filter(|_| !is_made_alike(file, &write, source))
        {
            let target = write.target.text();
            out.report(
                Draft::new(
                    Severity::Warning,
                    span,
                    format!(
                        "the columns of `{target}` are filled by \
                    position from whatever columns the source has"
                    ),
                )
                .rerun(
                    "the source gets a column in the middle: the retry of an old interval puts \
                        values into the wrong columns, or stops",
                )
                .help("name the columns on both sides, or insert BY NAME")
                .fix(fix(file, &write, source)),
            );
        }
    }
}

/// The columns of both tables in place of the star, where the files define both. The tables may have moved on since: so it
/// is not safe.
fn fix(file: &File<'_>, write: &WriteFact<'_, '_>, source: QueryId) -> Option<Fix> {
    let plain = write.verb == Verb::Insert && write.partition.is_empty() && write.alias.is_none();
    let select = write.view.select(source).filter(|_| plain)?;
    let ([Item::Star { span: star, qualifier, except, replace, .. }], [from]) =
        (select.items.as_slice(), select.from.as_slice())
    else {
        return None;
    };
    let Relation::Table(read) = &from.relation else { return None };
    let (into, out) = (columns(file, &write.target)?, columns(file, read)?);
    let between = Span { start: write.target.span.end, end: star.start };
    if into.len() != out.len() || !except.is_empty() || !replace.is_empty() || has_comment(file, between) {
        return None;
    }
    let prefix = qualifier.as_ref().map_or_else(String::new, |qualifier| format!("{qualifier}."));
    let out: Vec<String> = out.iter().map(|name| format!("{prefix}{name}")).collect();
    let text = format!(" ({}){}{}", into.join(", "), between.of(&file.script.text), out.join(", "));
    Some(Fix { span: between.to(*star), text, safety: Safety::Unsafe })
}

/// All columns of a table, if they are known and need no quotes.
fn columns<'a>(file: &File<'a>, name: &Name) -> Option<Vec<&'a str>> {
    let facts = file.knowledge.table(name).filter(|facts| !facts.partial && !facts.columns.is_empty())?;
    facts.columns.iter().map(|column| is_plain(&column.name).then_some(column.name.as_str())).collect()
}

/// How deep a star is followed.
const DEPTH: usize = 12;

/// A star over a stored table, directly or through queries that give out a star themselves.
fn star(file: &File<'_>, view: &View<'_>, query: QueryId, depth: usize) -> Option<Span> {
    if depth > DEPTH {
        return None;
    }
    if let Body::Set { left, right, .. } = &view.query(query).body {
        return star(file, view, *left, depth + 1).or_else(|| star(file, view, *right, depth + 1));
    }
    let select = view.select(query)?;
    select.items.iter().find_map(|item| {
        let Item::Star { span, qualifier, .. } = item else { return None };
        let over = select
            .from
            .iter()
            .filter(|from| qualifier.as_ref().is_none_or(|qualifier| *qualifier == from.alias));
        let fixed = over.clone().all(|from| match &from.relation {
            Relation::Table(name) => made_here(file, name),
            Relation::Query(inner) => star(file, view, *inner, depth + 1).is_none(),
            Relation::Function(call) => !reads_files(&call.name),
            _ => true,
        });
        let start = if select.span.is_somewhere() && select.span.start <= span.start {
            select.span.start
        } else {
            span.start
        };
        (!fixed).then_some(Span { start, end: span.end })
    })
}

fn reads_files(name: &str) -> bool {
    ["read_", "csv", "parquet", "json", "s3", "url", "file", "openrowset"]
        .iter()
        .any(|part| name.contains(part))
}

/// Whether this script makes a table, so that its columns stand here.
fn made_here(file: &File<'_>, name: &Name) -> bool {
    let near = file
        .script
        .statements
        .iter()
        .take(NEAR)
        .filter(|statement| matches!(statement.action, Action::Utility | Action::Unread(_)));
    let around = file.script.index.around(name.last()).filter_map(|at| file.script.statements.get(at));
    around.chain(near).any(|statement| makes(file, statement, name))
}

/// Whether the target is made like what is read, or the other way round.
fn is_made_alike(file: &File<'_>, write: &WriteFact<'_, '_>, source: QueryId) -> bool {
    let tables = write.view.tables(source);
    let names = tables.iter().map(|(_, _, name)| name.last()).chain([write.target.last()]);
    names.flat_map(|name| file.script.index.around(name)).filter_map(|at| file.script.statements.get(at)).any(
        |statement| match &statement.action {
            Action::Define(Table { name, like: Some(like), .. }) => {
                name.same(&write.target) && tables.iter().any(|(_, _, read)| read.same(like))
                    || like.same(&write.target) && tables.iter().any(|(_, _, read)| read.same(name))
            }
            _ => creates(statement, &write.target),
        },
    )
}
