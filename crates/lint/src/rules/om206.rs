//! OM206: LIMIT without a total order.
use super::prelude::*;
use super::shared::{Tie, orders_nothing, severity, tie};

pub(super) const RULE: Rule = Rule { id: "OM206", page: include_str!("../../rules/OM206.md"), check };

fn check(file: &File<'_>, out: &mut Findings<'_>) {
    for (_, statement, view) in file.statements() {
        if severity(file, statement, Severity::Error).is_none() {
            continue;
        }
        for (id, query) in view.queries() {
            let Some(limit) = query.limit.as_ref().filter(|limit| limit.by.is_empty() && !limit.with_ties)
            else {
                continue;
            };
            if let Some(draft) = judge(view, id, query, limit) {
                out.report(draft);
            }
        }
    }
}

fn judge<'a>(view: &View<'a>, id: QueryId, query: &'a Query, limit: &'a Limit) -> Option<Draft> {
    // The elements of an array have places.
    let elements = view.select(id).is_some_and(|select| {
        !select.from.is_empty() && select.from.iter().all(|from| matches!(from.relation, Relation::Unnest(_)))
    });
    if leaves_no_choice(view, id, query, limit) || (elements && !query.order.is_empty()) {
        return None;
    }
    let outputs = view.outputs(id);
    let place = if query.order_span.is_somewhere() && !orders_nothing(&query.order) {
        query.order_span
    } else {
        limit.span
    };
    let draft = |level, message: &str| {
        Draft::new(level, place, message.to_string())
            .rerun("the second run over the same data may keep other rows")
            .help("order by columns that tell all rows apart, a key last")
    };
    // `(SELECT value FROM UNNEST(params) WHERE key = 'x' LIMIT 1)`: a lookup in the row's own array, where a key stands once.
    if elements
        && single_by_limit(limit)
        && view.select(id).is_some_and(|select| select.filters.iter().any(names_element))
    {
        return None;
    }
    if orders_nothing(&query.order) {
        return Some(draft(Severity::Error, "rows are cut off without an order"));
    }
    let order: Vec<&Expr> = query.order.iter().map(|sort| &sort.expr).collect();
    let alike = {
        !outputs.open
            && outputs.list.iter().all(|output| {
                matches!(&output.value, OutputValue::Expr(expr)
                if view.depends_only_on(id, expr, &order))
            })
    };
    if alike {
        return None;
    }
    // Hive wants a LIMIT beside every ORDER BY: one that is not meant to cut anything off.
    if wide(limit) {
        return Some(draft(
            Severity::Info,
            "more rows than this would be cut off by an order that leaves ties open",
        ));
    }
    match tie(view, id, &[], &order) {
        Tie::None => None,
        Tie::Known => Some(draft(Severity::Warning, "rows are cut off by an order that leaves ties open")),
        Tie::Unknown(lacking) => {
            let mut draft =
                draft(Severity::Warning, "rows are cut off by an order that can't be shown to be total");
            draft.lacked = Some(lacking);
            Some(draft)
        }
        Tie::Presumed(lacking) => Some(
            draft(Severity::Info, "rows are cut off by an order that can't be shown to be total")
                .lacked(lacking),
        ),
    }
}

/// Whether the limit cuts nothing off, or what it leaves is the same whatever it cuts off. Chance is OM105's.
fn leaves_no_choice<'a>(view: &View<'a>, id: QueryId, query: &'a Query, limit: &'a Limit) -> bool {
    let is_number = |wanted: &str| {
        limit
            .count
            .as_ref()
            .is_some_and(|count| matches!(&count.kind, ExprKind::Literal(Literal::Number(n)) if n == wanted))
    };
    let presence = matches!(query.place, Place::Nested(Ask::Exists | Ask::NotExists));
    if is_number("0")
        || presence
        || view.keys(id, 0).iter().any(|key| key.is_empty() && !single_by_limit(limit))
        || is_single(view, id)
    {
        return true;
    }
    let whole = limit.percent && is_number("100");
    let by_chance = query.order.iter().any(|sort| {
        sort.expr.any(&mut |part| {
            matches!(&part.kind, ExprKind::Call(call)
                if crate::functions::class(view.dialect, &call.name, call.args.len()) == Some(Class::Random))
        })
    });
    let outputs = view.outputs(id);
    let constants = !outputs.open
        && single_by_limit(limit)
        && outputs
            .list
            .iter()
            .all(|output| matches!(&output.value, OutputValue::Expr(expr) if constant(expr)));
    whole || by_chance || constants
}

fn wide(limit: &Limit) -> bool {
    matches!(limit.count.as_ref().map(|count| &count.kind), Some(ExprKind::Literal(Literal::Number(n)))
        if n.parse::<u64>().is_ok_and(|n| n >= 100_000))
}

/// `key = 'page_location'`.
fn names_element(filter: &Expr) -> bool {
    let ExprKind::Op(Op::Eq, sides) = &filter.kind else { return false };
    sides.iter().any(|side| side.column().is_some()) && sides.iter().any(constant)
}

fn single_by_limit(limit: &Limit) -> bool {
    limit
        .count
        .as_ref()
        .is_some_and(|count| matches!(&count.kind, ExprKind::Literal(Literal::Number(n)) if n == "1"))
}

/// Whether a query has one row at most whatever the limit: an aggregate.
fn is_single(view: &View<'_>, id: QueryId) -> bool {
    view.select(id).is_some_and(|select| view.is_aggregate(select))
}
