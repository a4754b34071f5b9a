//! OM308: a MERGE joins on a column that can be NULL.
use super::fixes::{null_safe, operator_between};
use super::prelude::*;
use crate::finding::{Fix, Safety};

pub(super) const RULE: Rule = Rule { id: "OM308", page: include_str!("../../rules/OM308.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for write in file.writes() {
        let Some((source, scope)) = write.source.zip(write.scope).filter(|_| write.verb == Verb::Merge)
        else {
            continue;
        };
        let inserts = write.branches.iter().any(|branch| {
            branch.when == When::NotMatched
                && matches!(branch.action, BranchAction::Insert(..) | BranchAction::InsertAll)
        });
        if !inserts {
            continue;
        }
        for condition in &write.filters {
            let ExprKind::Op(Op::Eq, sides) = &condition.kind else { continue };
            let [left, right] = sides.as_slice() else { continue };
            let of = |expr: &Expr| match write.view.source(scope, expr) {
                ColumnSource::From { query, from, column } if query == scope => Some((from, column)),
                _ => None,
            };
            let column = match (of(left), of(right)) {
                (Some((0, _)), Some((1, column))) | (Some((1, column)), Some((0, _))) => column,
                _ => continue,
            };
            let target =
                of(left).filter(|(from, _)| *from == 0).or_else(|| of(right)).map(|(_, column)| column);
            let unknown = target.is_some_and(|column| may_hold_null(&write, &column));
            if is_nullable(write.view, source, &column, (unknown, 0)) {
                out.report(
                    Draft::new(
                        Severity::Warning,
                        condition.span,
                        format!(
                            "`{column}` of the source can be \
                        NULL, and NULL is equal to nothing"
                        ),
                    )
                    .rerun(format!(
                        "a row without `{column}` never finds itself in the target: each run \
                            inserts it once more"
                    ))
                    .help(
                        "compare null-safe (IS NOT DISTINCT FROM, <=>), or put a value in place of \
                            NULL on both sides",
                    )
                    .fix(fix(file, left, right)),
                );
            }
        }
    }
}

/// The comparison made null-safe: rows without a key then find each other, which is what should change.
fn fix(file: &File<'_>, left: &Expr, right: &Expr) -> Option<Fix> {
    let text = null_safe(file.script.dialect)?.to_string();
    let span = operator_between(file, left.span, right.span, "=")?;
    Some(Fix { span, text, safety: Safety::Unsafe })
}

const DEPTH: usize = 12;

/// Whether the target's definition leaves a column without NOT NULL while it gives it to others: it is meant to hold NULL. That
/// it is merged on makes it no key that can't be NULL; a PRIMARY KEY makes its columns NOT NULL.
fn may_hold_null(write: &WriteFact<'_, '_>, column: &str) -> bool {
    write.view.knowledge.table(&write.target).is_some_and(|facts| leaves_null(facts, column))
}

/// Where nothing is NOT NULL, a definition says nothing of it.
fn leaves_null(facts: &TableFacts, column: &str) -> bool {
    facts.columns.iter().any(|other| other.not_null)
        && facts.column(column).is_some_and(|found| !found.not_null && !found.data_type.is_empty())
}

/// Whether an output of a query can be NULL. What comes as it is from a table of which nothing is known is judged by what is
/// said `unknown`; the other number is the depth.
fn is_nullable(view: &View<'_>, query: QueryId, name: &str, (unknown, depth): (bool, usize)) -> bool {
    if depth > DEPTH {
        return false;
    }
    let outputs = view.outputs(query);
    let Some(at) = outputs.list.iter().position(|output| output.name == name) else {
        return match view.select(query).map(|select| select.from.as_slice()) {
            Some([_]) if outputs.open => comes_nullable(view, query, (0, name), (unknown, depth)),
            _ => false,
        };
    };
    match &view.query(query).body {
        Body::Set { left, right, .. } => [*left, *right].iter().any(|branch| {
            let name = view.outputs(*branch).list.get(at).map(|output| output.name.clone());
            name.is_some_and(|name| is_nullable(view, *branch, &name, (unknown, depth + 1)))
        }),
        Body::Select(_) => match outputs.list.get(at).map(|output| output.value.clone()) {
            Some(OutputValue::Expr(expr)) => expr_is_nullable(view, query, expr, (unknown, depth)),
            Some(OutputValue::Column { from, column }) => {
                comes_nullable(view, query, (from, &column), (unknown, depth))
            }
            _ => false,
        },
        _ => false,
    }
}

fn expr_is_nullable(view: &View<'_>, query: QueryId, expr: &Expr, (unknown, depth): (bool, usize)) -> bool {
    if is_tested(view, query, expr) {
        return false;
    }
    match &expr.kind {
        ExprKind::Literal(Literal::Null) => true,
        ExprKind::Cast { expr, .. } => expr_is_nullable(view, query, expr, (unknown, depth + 1)),
        ExprKind::Call(call) => {
            let first = || {
                call.args.first().is_some_and(|arg| expr_is_nullable(view, query, arg, (unknown, depth + 1)))
            };
            match call.name.as_str() {
                "nullif" => true,
                "upper" | "lower" | "trim" | "ltrim" | "rtrim" | "date" | "max" | "min" => first(),
                _ => false,
            }
        }
        ExprKind::Column { .. } => match view.source(query, expr) {
            ColumnSource::From { query: at, from, column } if at == query => {
                comes_nullable(view, query, (from, &column), (unknown, depth))
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether a column of a table in FROM can be NULL, by its definition or by an outer join.
fn comes_nullable(
    view: &View<'_>,
    query: QueryId,
    (at, column): (usize, &str),
    (unknown, depth): (bool, usize),
) -> bool {
    let Some(select) = view.select(query) else { return false };
    let Some(from) = select.from.get(at) else { return false };
    let rejects = |condition: &Expr| {
        rejects_null(condition)
            && condition.any(&mut |part| {
                view.source(query, part) == ColumnSource::From { query, from: at, column: column.to_string() }
            })
    };
    let joined = select.from.iter().filter(|from| from.join == Join::Inner).flat_map(|from| &from.on);
    if select.filters.iter().chain(joined).any(rejects)
        || select.from.iter().any(|from| from.using.iter().any(|name| name == column))
    {
        return false;
    }
    // A filter on any column of the outer side, or a join through it, makes it an inner join.
    let joined = select.from.iter().filter(|other| other.join == Join::Inner).flat_map(|other| &other.on);
    let kept = select.filters.iter().chain(joined).any(|condition| {
        rejects_null(condition)
            && condition.any(&mut |part| {
                matches!(view.source(query, part), ColumnSource::From { query: id, from, .. } if id == query && from == at)
            })
    });
    if matches!(from.join, Join::Left | Join::Full) && !kept {
        return true;
    }
    match &from.relation {
        Relation::Table(name) => match view.knowledge.table(name) {
            Some(facts) if facts.keys.iter().any(|key| key.iter().any(|name| name == column)) => false,
            Some(facts) if facts.columns.iter().any(|other| other.not_null) => {
                leaves_null(facts, column) || unknown && facts.column(column).is_none()
            }
            _ => unknown,
        },
        Relation::Query(inner) => is_nullable(view, *inner, column, (unknown, depth + 1)),
        _ => false,
    }
}

fn is_tested(view: &View<'_>, query: QueryId, expr: &Expr) -> bool {
    let Some(select) = view.select(query) else { return false };
    let text = render(expr);
    select
        .filters
        .iter()
        .chain(&select.having)
        .any(|condition| rejects_null(condition) && condition.any(&mut |part| render(part) == text))
}

/// Whether a condition is not met where what it looks at is NULL.
fn rejects_null(condition: &Expr) -> bool {
    use Op::{Eq, Gt, GtEq, IsNotNull, Like, Lt, LtEq, NotEq};
    matches!(
        &condition.kind,
        ExprKind::Op(IsNotNull | Eq | NotEq | Lt | LtEq | Gt | GtEq | Like, _)
            | ExprKind::Between { .. }
            | ExprKind::In { .. }
            | ExprKind::Subquery { ask: Ask::In, .. }
    )
}
