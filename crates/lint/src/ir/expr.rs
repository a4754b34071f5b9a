//! Expressions: columns, literals, operators, calls with their windows.

use crate::text::Span;

use super::QueryId;

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: ExprKind,
}

/// Kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A column.
    Column {
        /// Alias or table before the dot.
        qualifier: Option<String>,
        /// The column.
        name: String,
    },
    /// A parameter or placeholder: `:interval_start`, `@d`, `{{ ds }}`; the name without marks, folded.
    Param(String),
    /// A literal.
    Literal(Literal),
    /// A function.
    Call(Box<Call>),
    /// An operator with its operands; chains of AND, OR, +, * and || are one node.
    Op(Op, Vec<Expr>),
    /// CAST and its shorthands.
    Cast {
        /// What is cast.
        expr: Box<Expr>,
        /// To which type, folded.
        to: String,
    },
    /// CASE.
    Case {
        /// After CASE.
        operand: Option<Box<Expr>>,
        /// WHEN, THEN.
        branches: Vec<(Expr, Expr)>,
        /// ELSE.
        otherwise: Option<Box<Expr>>,
    },
    /// `x IN (list)`.
    In {
        /// What is looked for.
        expr: Box<Expr>,
        /// Where.
        list: Vec<Expr>,
        /// NOT IN.
        negated: bool,
    },
    /// BETWEEN; NOT BETWEEN is an operator of other kind.
    Between {
        /// What is bounded.
        expr: Box<Expr>,
        /// Lower bound, included.
        low: Box<Expr>,
        /// Upper bound, included.
        high: Box<Expr>,
    },
    /// A query within an expression.
    Subquery {
        /// The query.
        query: QueryId,
        /// What is asked of it.
        ask: Ask,
        /// Of IN: what is looked for.
        expr: Option<Box<Expr>>,
    },
    /// An element or field of something: `x[OFFSET(0)]`, `x.y`.
    Element {
        /// Of what.
        expr: Box<Expr>,
        /// Which.
        path: Vec<Expr>,
    },
    /// Something else with parts.
    Other(Vec<Expr>),
}

/// What an expression asks of a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ask {
    /// A single value.
    Scalar,
    /// EXISTS.
    Exists,
    /// NOT EXISTS.
    NotExists,
    /// IN, = ANY.
    In,
    /// NOT IN.
    NotIn,
    /// ARRAY(…).
    Array,
}

/// A literal.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// Text, without quotes.
    Text(String),
    /// A number as written.
    Number(String),
    /// TRUE, FALSE.
    Bool(bool),
    /// NULL.
    Null,
    /// `INTERVAL '1 day'` and other things that are constant.
    Other(String),
}

/// An operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// AND
    And,
    /// OR
    Or,
    /// NOT
    Not,
    /// =
    Eq,
    /// IS NOT DISTINCT FROM, <=>
    NullSafeEq,
    /// <>
    NotEq,
    /// <
    Lt,
    /// <=
    LtEq,
    /// >
    Gt,
    /// >=
    GtEq,
    /// +
    Add,
    /// - between two
    Sub,
    /// *
    Mul,
    /// /
    Div,
    /// %
    Mod,
    /// ||
    Concat,
    /// - before one
    Neg,
    /// IS NULL
    IsNull,
    /// IS NOT NULL
    IsNotNull,
    /// IS DISTINCT FROM
    Distinct,
    /// LIKE and its kin
    Like,
    /// another
    Other,
}

impl Op {
    /// Whether it compares.
    #[must_use]
    pub fn compares(self) -> bool {
        matches!(self, Self::Eq | Self::NullSafeEq | Self::Lt | Self::LtEq | Self::Gt | Self::GtEq)
    }

    /// The comparison seen from the other side.
    #[must_use]
    pub fn flipped(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::LtEq => Self::GtEq,
            Self::Gt => Self::Lt,
            Self::GtEq => Self::LtEq,
            other => other,
        }
    }
}

/// A function call.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// Name folded to lower case, with its schema where written.
    pub name: String,
    /// Arguments.
    pub args: Vec<Expr>,
    /// Without parentheses: `CURRENT_DATE`.
    pub bare: bool,
    /// DISTINCT within.
    pub distinct: bool,
    /// ORDER BY within, or WITHIN GROUP.
    pub order: Vec<Sort>,
    /// LIMIT or HAVING MAX within.
    pub bounded: Option<Box<Expr>>,
    /// FILTER (WHERE …).
    pub filter: Option<Box<Expr>>,
    /// OVER (…).
    pub over: Option<Window>,
    /// `f(*)`.
    pub star: bool,
}

/// OVER (…).
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// PARTITION BY.
    pub partition: Vec<Expr>,
    /// ORDER BY.
    pub order: Vec<Sort>,
    /// The frame.
    pub frame: Option<Frame>,
}

/// The frame of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// ROWS; otherwise RANGE or GROUPS.
    pub rows: bool,
    /// UNBOUNDED PRECEDING to UNBOUNDED FOLLOWING.
    pub whole: bool,
    /// Whether it begins a bounded number of rows before.
    pub bounded: bool,
}

/// One expression of an ORDER BY.
#[derive(Clone, Debug)]
pub struct Sort {
    /// By what.
    pub expr: Expr,
    /// DESC.
    pub descending: bool,
}

impl Expr {
    /// The column's name, if it is one.
    #[must_use]
    pub fn column(&self) -> Option<(Option<&str>, &str)> {
        match &self.kind {
            ExprKind::Column { qualifier, name } => Some((qualifier.as_deref(), name)),
            _ => None,
        }
    }

    /// The expressions directly within.
    pub fn each_child<'a>(&'a self, mut visit: impl FnMut(&'a Expr)) {
        match &self.kind {
            ExprKind::Column { .. } | ExprKind::Param(_) | ExprKind::Literal(_) => {}
            ExprKind::Call(call) => call.each_child(&mut visit),
            ExprKind::Op(_, args) | ExprKind::Other(args) => args.iter().for_each(visit),
            ExprKind::Cast { expr, .. } => visit(expr),
            ExprKind::Case { operand, branches, otherwise } => {
                operand.iter().for_each(|expr| visit(expr));
                for (when, then) in branches {
                    visit(when);
                    visit(then);
                }
                otherwise.iter().for_each(|expr| visit(expr));
            }
            ExprKind::In { expr, list, .. } => {
                visit(expr);
                list.iter().for_each(visit);
            }
            ExprKind::Between { expr, low, high } => {
                [expr, low, high].into_iter().for_each(|expr| visit(expr))
            }
            ExprKind::Subquery { expr, .. } => expr.iter().for_each(|expr| visit(expr)),
            ExprKind::Element { expr, path } => {
                visit(expr);
                path.iter().for_each(visit);
            }
        }
    }

    /// This expression and all within it, outer first; not those of subqueries.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Expr)) {
        visit(self);
        self.each_child(|child| child.walk(&mut *visit));
    }

    /// Whether any part, not of subqueries, is as `test` says.
    pub fn any(&self, test: &mut impl FnMut(&Expr) -> bool) -> bool {
        let mut found = false;
        self.walk(&mut |expr| found = found || test(expr));
        found
    }
}

impl Call {
    /// The expressions within a call, its window included.
    pub fn each_child<'a>(&'a self, visit: &mut impl FnMut(&'a Expr)) {
        self.args.iter().for_each(&mut *visit);
        self.order.iter().for_each(|sort| visit(&sort.expr));
        self.bounded.iter().chain(self.filter.iter()).for_each(|expr| visit(expr));
        if let Some(over) = &self.over {
            over.partition.iter().for_each(&mut *visit);
            over.order.iter().for_each(|sort| visit(&sort.expr));
        }
    }
}
