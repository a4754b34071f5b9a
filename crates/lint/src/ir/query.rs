//! Queries: what they list, what they read, how they are bounded and ordered.

use crate::text::Span;

use super::{Ask, Call, Expr, Name, QueryId, Sort};

/// A query.
#[derive(Clone, Debug)]
pub struct Query {
    /// Where it stands.
    pub span: Span,
    /// Name of the CTE or alias of the subquery.
    pub name: Option<String>,
    /// The query around it, for correlated names.
    pub parent: Option<QueryId>,
    /// What it is for.
    pub place: Place,
    /// What it does.
    pub body: Body,
    /// ORDER BY.
    pub order: Vec<Sort>,
    /// Where ORDER BY stands.
    pub order_span: Span,
    /// LIMIT, TOP, FETCH.
    pub limit: Option<Limit>,
    /// Names given by `cte(a, b)` or `AS t(a, b)`.
    pub columns: Vec<String>,
    /// Reads itself.
    pub recursive: bool,
}

/// What a query is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The query of a statement.
    Root,
    /// WITH.
    Cte,
    /// In FROM.
    Derived,
    /// In an expression.
    Nested(Ask),
    /// A branch of UNION and its kin.
    Branch,
}

/// What a query does.
#[derive(Clone, Debug)]
pub enum Body {
    /// SELECT.
    Select(Box<Select>),
    /// UNION, EXCEPT, INTERSECT.
    Set {
        /// Which.
        op: SetOp,
        /// ALL.
        all: bool,
        /// From the operator to the end of the right branch.
        span: Span,
        /// Left branch.
        left: QueryId,
        /// Right branch.
        right: QueryId,
    },
    /// VALUES.
    Values(Vec<Vec<Expr>>),
    /// Something that is not understood.
    Opaque,
}

/// Set operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetOp {
    /// UNION
    Union,
    /// EXCEPT, MINUS
    Except,
    /// INTERSECT
    Intersect,
}

/// LIMIT, TOP, FETCH FIRST.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Where the words stand.
    pub span: Span,
    /// How many rows.
    pub count: Option<Expr>,
    /// OFFSET.
    pub offset: Option<Expr>,
    /// WITH TIES.
    pub with_ties: bool,
    /// PERCENT.
    pub percent: bool,
    /// `ClickHouse` LIMIT n BY.
    pub by: Vec<Expr>,
}

/// SELECT.
#[derive(Clone, Debug, Default)]
pub struct Select {
    /// Where `SELECT` and what follows stands.
    pub span: Span,
    /// DISTINCT, DISTINCT ON.
    pub distinct: Distinct,
    /// What is selected.
    pub items: Vec<Item>,
    /// Tables.
    pub from: Vec<From>,
    /// WHERE, as a conjunction.
    pub filters: Vec<Expr>,
    /// GROUP BY.
    pub group: Group,
    /// HAVING, as a conjunction.
    pub having: Vec<Expr>,
    /// QUALIFY, as a conjunction.
    pub qualify: Vec<Expr>,
    /// DISTRIBUTE BY, CLUSTER BY.
    pub spread: Vec<Expr>,
}

/// DISTINCT.
#[derive(Clone, Debug, Default)]
pub enum Distinct {
    /// All rows.
    #[default]
    No,
    /// DISTINCT.
    Rows,
    /// DISTINCT ON.
    On(Vec<Expr>, Span),
}

/// GROUP BY.
#[derive(Clone, Debug, Default)]
pub enum Group {
    /// None written.
    #[default]
    No,
    /// GROUP BY ALL.
    All,
    /// By these.
    By(Vec<Expr>),
    /// ROLLUP, CUBE, GROUPING SETS.
    Sets(Vec<Expr>),
}

/// What a SELECT lists.
#[derive(Clone, Debug)]
pub enum Item {
    /// An expression.
    Expr {
        /// The expression.
        expr: Expr,
        /// AS.
        alias: Option<String>,
    },
    /// `*` or `t.*`.
    Star {
        /// Where it stands.
        span: Span,
        /// Of which table.
        qualifier: Option<String>,
        /// EXCEPT, EXCLUDE.
        except: Vec<String>,
        /// REPLACE.
        replace: Vec<(String, Expr)>,
    },
}

/// How a table is joined to those before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Join {
    /// The first, or after a comma.
    First,
    /// INNER.
    Inner,
    /// LEFT.
    Left,
    /// RIGHT.
    Right,
    /// FULL.
    Full,
    /// CROSS, lateral, array joins.
    Cross,
    /// LEFT SEMI.
    Semi,
    /// LEFT ANTI.
    Anti,
}

/// A table in FROM.
#[derive(Clone, Debug)]
pub struct From {
    /// Where it stands.
    pub span: Span,
    /// Its alias, or its own name.
    pub alias: String,
    /// What it is.
    pub relation: Relation,
    /// How it is joined.
    pub join: Join,
    /// ON, as a conjunction.
    pub on: Vec<Expr>,
    /// USING.
    pub using: Vec<String>,
    /// TABLESAMPLE and its kin: where, and the percentage or count, and the seed.
    pub sample: Option<Sample>,
    /// FINAL, time travel.
    pub modifier: Option<String>,
    /// As of when it is read.
    pub as_of: Option<Box<Expr>>,
}

/// A sample of rows.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Where it stands.
    pub span: Span,
    /// Whether a seed is given.
    pub seeded: bool,
    /// Whether it takes all rows.
    pub whole: bool,
}

/// What stands in FROM.
#[derive(Clone, Debug)]
pub enum Relation {
    /// A table, or a view.
    Table(Name),
    /// A CTE or subquery.
    Query(QueryId),
    /// A table function.
    Function(Box<Call>),
    /// UNNEST, FLATTEN, EXPLODE.
    Unnest(Vec<Expr>),
    /// PIVOT and others, over these.
    Other(Vec<QueryId>),
}
