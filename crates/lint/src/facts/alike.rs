//! Expressions by themselves: which are the same, which are constant or aggregate, which only convert a column.

use crate::ir::{Expr, ExprKind, Literal, Op};

/// Names of aggregates, for telling apart what groups.
const AGGREGATES: &[&str] = &[
    "any_value",
    "approx_count_distinct",
    "approx_distinct",
    "arbitrary",
    "arg_max",
    "arg_min",
    "argmax",
    "argmin",
    "array_agg",
    "avg",
    "bit_and",
    "bit_or",
    "bool_and",
    "bool_or",
    "collect_list",
    "collect_set",
    "corr",
    "count",
    "count_if",
    "countif",
    "every",
    "first",
    "group_concat",
    "grouparray",
    "groupuniqarray",
    "json_agg",
    "jsonb_agg",
    "last",
    "list",
    "listagg",
    "logical_and",
    "logical_or",
    "max",
    "max_by",
    "median",
    "min",
    "min_by",
    "mode",
    "percentile",
    "percentile_cont",
    "quantile",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "string_agg",
    "sum",
    "sumif",
    "uniq",
    "uniqexact",
    "var_pop",
    "var_samp",
    "variance",
    "anylast",
    "any",
    "count_big",
    "max_if",
    "maxif",
    "minif",
    "avgif",
    "anyif",
    "object_agg",
    "hll_sketch_agg",
    "total",
];

/// Whether a function aggregates.
#[must_use]
pub fn is_aggregate(name: &str) -> bool {
    AGGREGATES.contains(&name)
}

/// Whether an expression is the same for all rows of one run.
#[must_use]
pub fn constant(expr: &Expr) -> bool {
    let mut constant = true;
    expr.walk(&mut |part| {
        constant = constant && !matches!(part.kind, ExprKind::Column { .. } | ExprKind::Subquery { .. })
    });
    constant
}

/// `x` of `x = 1`, `1 = x`, `x <= 1`, `x < 2`.
pub(crate) fn equals_one(expr: &Expr) -> Option<&Expr> {
    let ExprKind::Op(op, sides) = &expr.kind else { return None };
    let [left, right] = sides.as_slice() else { return None };
    let number =
        |expr: &Expr, value: &str| matches!(&expr.kind, ExprKind::Literal(Literal::Number(n)) if n == value);
    match op {
        Op::Eq if number(right, "1") => Some(left),
        Op::Eq if number(left, "1") => Some(right),
        Op::LtEq if number(right, "1") => Some(left),
        Op::Lt if number(right, "2") => Some(left),
        _ => None,
    }
}

/// Whether two expressions are written alike.
#[must_use]
pub fn equal(a: &Expr, b: &Expr) -> bool {
    match (&a.kind, &b.kind) {
        (ExprKind::Column { name: a, qualifier: qa }, ExprKind::Column { name: b, qualifier: qb }) => {
            a == b && (qa == qb || qa.is_none() || qb.is_none())
        }
        (ExprKind::Param(a), ExprKind::Param(b)) => a == b,
        (ExprKind::Literal(a), ExprKind::Literal(b)) => a == b,
        (ExprKind::Cast { expr: a, to: ta }, ExprKind::Cast { expr: b, to: tb }) => ta == tb && equal(a, b),
        (ExprKind::Op(oa, a), ExprKind::Op(ob, b)) => {
            oa == ob && a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (ExprKind::Call(a), ExprKind::Call(b)) => {
            a.name == b.name
                && a.over.is_none()
                && b.over.is_none()
                && a.distinct == b.distinct
                && a.args.len() == b.args.len()
                && a.args.iter().zip(&b.args).all(|(a, b)| equal(a, b))
        }
        (ExprKind::Element { expr: a, path: pa }, ExprKind::Element { expr: b, path: pb }) => {
            equal(a, b) && pa.len() == pb.len() && pa.iter().zip(pb).all(|(a, b)| equal(a, b))
        }
        (
            ExprKind::Case { operand: oa, branches: a, otherwise: ea },
            ExprKind::Case { operand: ob, branches: b, otherwise: eb },
        ) => {
            let both = |a: Option<&Expr>, b: Option<&Expr>| match (a, b) {
                (Some(a), Some(b)) => equal(a, b),
                (a, b) => a.is_none() && b.is_none(),
            };
            both(oa.as_deref(), ob.as_deref())
                && both(ea.as_deref(), eb.as_deref())
                && a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| equal(&a.0, &b.0) && equal(&a.1, &b.1))
        }
        (
            ExprKind::In { expr: a, list: la, negated: na },
            ExprKind::In { expr: b, list: lb, negated: nb },
        ) => na == nb && equal(a, b) && la.len() == lb.len() && la.iter().zip(lb).all(|(a, b)| equal(a, b)),
        (ExprKind::Other(a), ExprKind::Other(b)) => {
            a.len() == b.len() && !a.is_empty() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        _ => false,
    }
}

/// The one column within an expression that only converts it: casts, truncations, zones.
#[must_use]
pub fn column_within(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Column { .. } => Some(expr),
        ExprKind::Cast { expr, .. } => column_within(expr),
        ExprKind::Call(call) if call.over.is_none() => {
            let mut columns = call.args.iter().filter_map(column_within);
            let first = columns.next()?;
            columns.next().is_none().then_some(first)
        }
        ExprKind::Element { expr, .. } => column_within(expr),
        ExprKind::Op(Op::Add | Op::Sub, args) => {
            let mut columns = args.iter().filter_map(column_within);
            let first = columns.next()?;
            let alone =
                columns.next().is_none() && !args.iter().any(|arg| matches!(arg.kind, ExprKind::Param(_)));
            alone.then_some(first)
        }
        _ => None,
    }
}

/// An expression as text in one way, so that equal expressions are equal texts.
#[must_use]
pub fn render(expr: &Expr) -> String {
    let list = |exprs: &[Expr]| exprs.iter().map(render).collect::<Vec<_>>().join(",");
    match &expr.kind {
        ExprKind::Column { name, .. } => name.clone(),
        ExprKind::Param(name) => format!(":{name}"),
        ExprKind::Literal(literal) => match literal {
            Literal::Text(text) => format!("'{text}'"),
            Literal::Number(number) => number.clone(),
            Literal::Bool(value) => value.to_string(),
            Literal::Null => "null".to_string(),
            Literal::Other(text) => text.clone(),
        },
        ExprKind::Call(call) => format!("{}({})", call.name, list(&call.args)),
        ExprKind::Op(op, args) => format!("{op:?}({})", list(args)),
        // A cast of a parameter says nothing about which value it is.
        ExprKind::Cast { expr, .. } if matches!(expr.kind, ExprKind::Param(_) | ExprKind::Literal(_)) => {
            render(expr)
        }
        ExprKind::Cast { expr, to } => format!("cast({},{to})", render(expr)),
        ExprKind::Case { .. } => "case".to_string(),
        ExprKind::In { expr, .. } => format!("in({})", render(expr)),
        ExprKind::Between { expr, low, high } => {
            format!("between({},{},{})", render(expr), render(low), render(high))
        }
        ExprKind::Subquery { query, .. } => format!("query{}", query.0),
        ExprKind::Element { expr, path } => format!("{}[{}]", render(expr), list(path)),
        ExprKind::Other(args) => format!("({})", list(args)),
    }
}
