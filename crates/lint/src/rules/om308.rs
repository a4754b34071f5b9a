//! OM308: a MERGE joins on a column that can be NULL.
use super::prelude::*;

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
            if is_nullable(write.view, source, &column, 0) {
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
                    ),
                );
            }
        }
    }
}

const DEPTH: usize = 12;

/// Whether an output of a query is known to be able to be NULL.
fn is_nullable(view: &View<'_>, query: QueryId, name: &str, depth: usize) -> bool {
    if depth > DEPTH {
        return false;
    }
    let outputs = view.outputs(query);
    let Some(at) = outputs.list.iter().position(|output| output.name == name) else {
        return match view.select(query).map(|select| select.from.as_slice()) {
            Some([_]) if outputs.open => comes_nullable(view, query, 0, name, depth),
            _ => false,
        };
    };
    match &view.query(query).body {
        Body::Set { left, right, .. } => [*left, *right].iter().any(|branch| {
            let name = view.outputs(*branch).list.get(at).map(|output| output.name.clone());
            name.is_some_and(|name| is_nullable(view, *branch, &name, depth + 1))
        }),
        Body::Select(_) => match outputs.list.get(at).map(|output| output.value.clone()) {
            Some(OutputValue::Expr(expr)) => expr_is_nullable(view, query, expr, depth),
            Some(OutputValue::Column { from, column }) => comes_nullable(view, query, from, &column, depth),
            _ => false,
        },
        _ => false,
    }
}

fn expr_is_nullable(view: &View<'_>, query: QueryId, expr: &Expr, depth: usize) -> bool {
    if is_tested(view, query, expr) {
        return false;
    }
    match &expr.kind {
        ExprKind::Literal(Literal::Null) => true,
        ExprKind::Cast { expr, .. } => expr_is_nullable(view, query, expr, depth + 1),
        ExprKind::Call(call) => {
            let first = || call.args.first().is_some_and(|arg| expr_is_nullable(view, query, arg, depth + 1));
            match call.name.as_str() {
                "nullif" => true,
                "upper" | "lower" | "trim" | "ltrim" | "rtrim" | "date" | "max" | "min" => first(),
                _ => false,
            }
        }
        ExprKind::Column { .. } => match view.source(query, expr) {
            ColumnSource::From { query: at, from, column } if at == query => {
                comes_nullable(view, query, from, &column, depth)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether a column of a table in FROM can be NULL, by its definition or by an outer join.
fn comes_nullable(view: &View<'_>, query: QueryId, at: usize, column: &str, depth: usize) -> bool {
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
        Relation::Table(name) => {
            let facts = view
                .knowledge
                .table(name)
                .filter(|facts| !facts.keys.iter().any(|key| key.iter().any(|name| name == column)));
            // Where nothing is NOT NULL, the definition says nothing of it.
            facts.is_some_and(|facts| {
                facts.columns.iter().any(|other| other.not_null)
                    && facts
                        .column(column)
                        .is_some_and(|found| !found.not_null && !found.data_type.is_empty())
            })
        }
        Relation::Query(inner) => is_nullable(view, *inner, column, depth + 1),
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
