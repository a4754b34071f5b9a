//! OM307: several rows of a MERGE's source fit one row of the target.
use super::prelude::*;
use super::shared::{is_own_key, parts_of_hashes};

pub(super) const RULE: Rule = Rule { id: "OM307", page: include_str!("../../rules/OM307.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        if write.verb == Verb::Merge
            && let Some(draft) = judge(file, &write)
        {
            out.report(draft);
        }
    }
}

fn judge(file: &File<'_>, write: &WriteFact<'_, '_>) -> Option<Draft> {
    let source = write.source?;
    let updates = write.branches.iter().any(|branch| {
        branch.when == When::Matched
            && matches!(branch.action, BranchAction::Update(_) | BranchAction::UpdateAll)
    });
    let pairs = write.view.merge_pairs(write.write);
    let compared = compared(write);
    if !updates || pairs.is_empty() || is_literal(write, source) {
        return None;
    }
    let target = write.target.text();
    let columns: Vec<&str> = compared.iter().map(String::as_str).collect();
    let draft = Draft::new(
        Severity::Error,
        using(write)?,
        format!(
            "several rows of the source fit one row \
        of `{target}`: they are joined by {}",
            listed(&columns)
        ),
    )
    .rerun(
        "two rows of the source have one key: the statement stops, or one of the two wins by chance, \
            another one on each run",
    )
    .help("leave one row a key: GROUP BY the key, or row_number() over it by a total order");
    let keys = write.view.keys(source, 0);
    let parts = parts_of_hashes(write.view, source, &compared);
    let told: Vec<String> = compared.iter().chain(&parts).cloned().collect();
    if keys.iter().any(|key| key.iter().all(|column| told.contains(column))) {
        return None;
    }
    if goes_along(write.view, source, &told) {
        return None;
    }
    if let Some(key) = keys.first().filter(|_| is_least(write.view, source, 0)) {
        let key: Vec<&str> = key.iter().map(String::as_str).collect();
        return Some(draft.help(format!(
            "the source has one row for each {}: leave one for each {}",
            listed(&key),
            listed(&columns)
        )));
    }
    let lacking = match below(write, source, &compared) {
        Answer::Yes => return None,
        Answer::No if is_least(write.view, source, 0) => return Some(draft),
        Answer::No => "a least key of the source".to_string(),
        Answer::Unknown(lacking) => lacking,
    };
    // What another part of the same file has filled is judged there.
    if read_from_here(file, write, source) {
        return None;
    }
    Some(draft.lacked(lacking))
}

/// `GROUP BY a.account_id, a.segment`, joined by `account_id`: the segment goes with the account, though nothing says so.
fn goes_along(view: &View<'_>, source: QueryId, compared: &[String]) -> bool {
    let Some(Select { group: Group::By(list), .. }) = view.select(source) else { return false };
    let of = |expr: &Expr| match view.source(source, expr) {
        ColumnSource::From { from, column, .. } => Some((from, column)),
        _ => None,
    };
    let own: Vec<usize> = list
        .iter()
        .filter(|by| is_own_key(view, source, by))
        .filter_map(of)
        .filter(|(_, column)| compared.contains(column))
        .map(|(from, _)| from)
        .collect();
    !own.is_empty() && list.iter().all(|by| of(by).is_some_and(|(from, _)| own.contains(&from)))
}

/// Whether the known key of a query is the least one: it is that of one table, of a GROUP BY, of the first
/// row of a
/// partition. What DISTINCT or a join gives may hold columns too many, and says nothing against a lesser key.
fn is_least(view: &View<'_>, query: QueryId, depth: usize) -> bool {
    let Some(select) = view.select(query).filter(|_| depth < 12) else { return false };
    match (&select.distinct, &select.group) {
        (Distinct::Rows, _) | (_, Group::Sets(_) | Group::All) => false,
        (Distinct::On(..), _) | (_, Group::By(_)) => true,
        (Distinct::No, Group::No) => match select.from.as_slice() {
            [From { relation: Relation::Table(_), .. }] => true,
            [From { relation: Relation::Query(inner), .. }] => is_least(view, *inner, depth + 1),
            _ => false,
        },
    }
}

/// Whether the compared columns tell apart the rows of the source's own FROM.
fn below(write: &WriteFact<'_, '_>, source: QueryId, compared: &[String]) -> Answer {
    let outputs = write.view.outputs(source);
    let exprs =
        outputs.list.iter().filter(|output| compared.contains(&output.name)).filter_map(
            |output| match output.value {
                OutputValue::Expr(expr) => Some(expr),
                _ => None,
            },
        );
    let exprs: Vec<&Expr> = exprs.collect();
    let plain = matches!(write.view.select(source), Some(Select { distinct: Distinct::No, .. }))
        && exprs.len() == compared.len();
    if plain {
        write.view.determines(source, &exprs)
    } else {
        Answer::Unknown("a key of the source".to_string())
    }
}

fn listed(columns: &[&str]) -> String {
    columns.iter().map(|column| format!("`{column}`")).collect::<Vec<_>>().join(", ")
}

/// All columns of the source that are compared with something.
fn compared(write: &WriteFact<'_, '_>) -> Vec<String> {
    let Some(scope) = write.scope else { return Vec::new() };
    let mut found = Vec::new();
    for condition in &write.filters {
        let ExprKind::Op(Op::Eq | Op::NullSafeEq, _) = &condition.kind else { continue };
        condition.walk(&mut |part| {
            if let ColumnSource::From { query, from: 1, column } = write.view.source(scope, part)
                && query == scope
                && !found.contains(&column)
            {
                found.push(column);
            }
        });
    }
    found
}

/// Rows written down.
fn is_literal(write: &WriteFact<'_, '_>, source: QueryId) -> bool {
    write.view.reachable(source).iter().any(|id| matches!(write.view.query(*id).body, Body::Values(_)))
        || write.view.tables(source).is_empty()
        || write.view.scopes(source).iter().all(|scope| scope.tables.is_empty())
}

/// `USING …` up to the condition.
fn using(write: &WriteFact<'_, '_>) -> Option<Span> {
    let text = &write.context.script.text;
    let head = write.head.end as usize;
    let rest = Span::new(head, write.span.end as usize).of(text);
    let start = head + rest.to_ascii_lowercase().find("using")?;
    let first = write.filters.first()?.span;
    let before = Span::new(start, first.start as usize).of(text).trim_end();
    let before = before
        .strip_suffix(['o', 'O', 'n', 'N', '('])
        .map_or(before, |_| before.trim_end_matches(['(', ' ', '\n', '\t', '\r']));
    let end =
        before.to_ascii_lowercase().strip_suffix("on").map_or(before.len(), |kept| kept.trim_end().len());
    Some(Span::new(start, start + end))
}

/// How many writes are looked at. Scripts with more are data, not logic.
const NEAR: usize = 500;

/// Whether the source is a table that this file fills before.
fn read_from_here(file: &File<'_>, write: &WriteFact<'_, '_>, source: QueryId) -> bool {
    write.view.tables(source).iter().any(|(_, _, name)| {
        let filled = file.script.index.is_filled(name.last())
            && file
                .writes()
                .take(NEAR)
                .any(|other| other.at < write.at && other.verb == Verb::Insert && other.target.same(name));
        filled
            || file.changes_before(name, write.at).any(|other| {
                matches!(other.verb, Verb::CreateAs(_) | Verb::Update | Verb::Delete | Verb::Merge)
            })
    })
}
