//! Scopes: which columns a query bounds, by what, pushed through CTEs, subqueries and aliases.

use crate::ir::{Expr, ExprKind, Join, Literal, Op, QueryId, Relation};
use crate::text::Span;

use super::view::{Origin, View};

/// A range on one column.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The query that has the condition.
    pub query: QueryId,
    /// The stored table, if it is known.
    pub table: Option<String>,
    /// The column at its origin.
    pub column: String,
    /// Through which function or cast it is compared, if any: `date(ts)`.
    pub through: Option<String>,
    /// Lower edge.
    pub low: Option<Edge>,
    /// Upper edge.
    pub high: Option<Edge>,
    /// One value, or a list.
    pub exact: bool,
    /// The conditions.
    pub span: Span,
}

/// One edge of a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The value, rendered in one way.
    pub text: String,
    /// Whether the value itself is within.
    pub inclusive: bool,
    /// What the value is.
    pub kind: EdgeKind,
    /// Where the value stands.
    pub span: Span,
}

/// What an edge is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EdgeKind {
    /// A parameter, perhaps with arithmetic.
    Param,
    /// A constant.
    Literal,
    /// A query: `(select max(ts) from t)`.
    Query,
    /// Another column.
    Column,
    /// A call without parameters: the clock.
    Other,
}

/// One column against one value, before conditions on the same column are joined.
struct Side<'a> {
    column: &'a Expr,
    op: Op,
    value: &'a Expr,
}

impl<'a> View<'a> {
    /// All ranges by which a query and what it reads in FROM are bounded.
    #[must_use]
    pub fn bounds(&self, root: QueryId) -> Vec<Bound> {
        let mut all = Vec::new();
        let mut stack = vec![root];
        let mut done = Vec::new();
        while let Some(id) = stack.pop() {
            if done.contains(&id) {
                continue;
            }
            done.push(id);
            match &self.query(id).body {
                crate::ir::Body::Set { left, right, .. } => stack.extend([*left, *right]),
                crate::ir::Body::Select(select) => {
                    for from in &select.from {
                        match &from.relation {
                            Relation::Query(inner) => stack.push(*inner),
                            Relation::Other(inner) => stack.extend(inner),
                            _ => {}
                        }
                        if from.join == Join::Inner {
                            self.collect(id, &from.on, &mut all);
                        }
                    }
                    self.collect(id, &select.filters, &mut all);
                }
                _ => {}
            }
        }
        all
    }

    /// The ranges that a conjunction puts on columns of a query.
    #[must_use]
    pub fn bounds_of(&self, query: QueryId, conditions: &'a [Expr]) -> Vec<Bound> {
        let mut all = Vec::new();
        self.collect(query, conditions, &mut all);
        all
    }

    fn collect(&self, query: QueryId, conditions: &'a [Expr], all: &mut Vec<Bound>) {
        let before = all.len();
        for condition in conditions {
            match &condition.kind {
                ExprKind::Op(op, sides) if op.compares() => {
                    let [left, right] = sides.as_slice() else { continue };
                    if column_within(left).is_some() && column_within(right).is_none() {
                        self.add(
                            query,
                            before,
                            all,
                            &Side { column: left, op: *op, value: right },
                            condition.span,
                        );
                    } else if column_within(right).is_some() && column_within(left).is_none() {
                        self.add(
                            query,
                            before,
                            all,
                            &Side { column: right, op: op.flipped(), value: left },
                            condition.span,
                        );
                    }
                }
                ExprKind::Between { expr, low, high } if column_within(expr).is_some() => {
                    self.add(
                        query,
                        before,
                        all,
                        &Side { column: expr, op: Op::GtEq, value: low },
                        condition.span,
                    );
                    self.add(
                        query,
                        before,
                        all,
                        &Side { column: expr, op: Op::LtEq, value: high },
                        condition.span,
                    );
                }
                ExprKind::In { expr, list, negated: false } if column_within(expr).is_some() => {
                    if let Some(first) = list.first() {
                        self.add(
                            query,
                            before,
                            all,
                            &Side { column: expr, op: Op::Eq, value: first },
                            condition.span,
                        );
                    }
                }
                _ => {}
            }
        }
    }

    fn add(&self, query: QueryId, before: usize, all: &mut Vec<Bound>, side: &Side<'a>, span: Span) {
        let Some(inner) = column_within(side.column) else { return };
        let through = (!std::ptr::eq(inner, side.column)).then(|| render(side.column));
        let (table, column) = match self.origin(query, inner) {
            Origin::Base { table, column } => (Some(table.text()), column),
            _ => (None, inner.column().map_or_else(String::new, |(_, name)| name.to_string())),
        };
        let edge = Edge {
            text: render(side.value),
            inclusive: matches!(side.op, Op::Eq | Op::NullSafeEq | Op::LtEq | Op::GtEq),
            kind: edge_kind(side.value),
            span: side.value.span,
        };
        let exact = matches!(side.op, Op::Eq | Op::NullSafeEq);
        let (low, high) = match side.op {
            Op::Gt | Op::GtEq => (Some(edge), None),
            Op::Lt | Op::LtEq => (None, Some(edge)),
            _ => (Some(edge.clone()), Some(edge)),
        };
        let known = all.iter_mut().skip(before).find(|bound| {
            bound.query == query && bound.column == column && bound.table == table && bound.through == through
        });
        match known {
            Some(bound) => {
                bound.span = bound.span.to(span);
                bound.exact |= exact;
                bound.low = bound.low.take().or(low);
                bound.high = bound.high.take().or(high);
            }
            None => all.push(Bound { query, table, column, through, low, high, exact, span }),
        }
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

fn edge_kind(expr: &Expr) -> EdgeKind {
    let mut kind = EdgeKind::Literal;
    expr.walk(&mut |part| match &part.kind {
        ExprKind::Subquery { .. } => kind = EdgeKind::Query,
        ExprKind::Param(_) if kind != EdgeKind::Query => kind = EdgeKind::Param,
        ExprKind::Column { .. } if kind == EdgeKind::Literal => kind = EdgeKind::Column,
        ExprKind::Call(call) if kind == EdgeKind::Literal && (call.args.is_empty() || call.bare) => {
            kind = EdgeKind::Other
        }
        _ => {}
    });
    kind
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
