//! The intermediate form: what a statement does, free of any parser's tree. Every node has its place in the
//! file.
//!
//! Names are folded to lower case; conjunctions are flattened into lists; the queries of a statement stand
//! in one
//! arena ([`Statement::queries`]), so that a CTE that is read twice is one query.

use crate::text::Span;

/// A query within its statement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct QueryId(pub u32);

/// A table's name as written, folded to lower case.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Name {
    /// Catalog, schema, table: as many as were written.
    pub parts: Vec<String>,
    /// Where it stands.
    pub span: Span,
}

impl Name {
    /// The last part.
    #[must_use]
    pub fn last(&self) -> &str {
        self.parts.last().map_or("", String::as_str)
    }

    /// The parts with dots between.
    #[must_use]
    pub fn text(&self) -> String {
        self.parts.join(".")
    }

    /// Whether two names are the same table without a search path between: as [`Self::same`], but a name
    /// without a schema
    /// is not one with a schema, unless that is the engine's default.
    #[must_use]
    pub fn surely_same(&self, other: &Self) -> bool {
        let bare = self.parts.len().min(other.parts.len()) == 1 && self.parts.len() != other.parts.len();
        let longer = if self.parts.len() > other.parts.len() { self } else { other };
        let default = longer
            .parts
            .iter()
            .rev()
            .nth(1)
            .is_some_and(|schema| matches!(schema.as_str(), "public" | "dbo" | "default" | "main"));
        self.same(other) && (!bare || default)
    }

    /// Whether the name says that the table is a stage: emptied and filled by each run.
    #[must_use]
    pub fn is_stage(&self) -> bool {
        const WORDS: &[&str] =
            &["staging", "stage", "stg", "tmp", "temp", "work", "scratch", "wrk", "swap", "interim"];
        let word = |part: &str| part.split(['_', '-']).any(|word| WORDS.contains(&word));
        self.parts.iter().any(|part| word(part)) || self.last().starts_with('#')
    }

    /// Whether two names can be the same table: the shorter is the end of the longer.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        !self.parts.is_empty()
            && !other.parts.is_empty()
            && self.parts.iter().rev().zip(other.parts.iter().rev()).all(|(a, b)| a == b)
    }
}

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

/// What a statement writes.
#[derive(Clone, Debug)]
pub struct Write {
    /// What it does.
    pub verb: Verb,
    /// The whole write.
    pub span: Span,
    /// `INSERT INTO t`: what a finding on the write as such points at.
    pub head: Span,
    /// The table.
    pub target: Name,
    /// Its alias in MERGE and UPDATE.
    pub alias: Option<String>,
    /// Columns listed.
    pub columns: Vec<String>,
    /// BY NAME.
    pub by_name: bool,
    /// The query whose rows are written; of MERGE the source.
    pub source: Option<QueryId>,
    /// Of MERGE, UPDATE, DELETE: target and joined tables, in which conditions and values are to be read.
    /// The first
    /// table is the target, of MERGE the second is the source.
    pub scope: Option<QueryId>,
    /// ON CONFLICT, ON DUPLICATE KEY, OR REPLACE, IGNORE.
    pub conflict: Option<Conflict>,
    /// MERGE … ON, as a conjunction; of UPDATE and DELETE the WHERE.
    pub filters: Vec<Expr>,
    /// WHEN … of a MERGE.
    pub branches: Vec<Branch>,
    /// SET of an UPDATE.
    pub sets: Vec<Assign>,
    /// PARTITION (a = 1, b).
    pub partition: Vec<(String, Option<Expr>)>,
    /// Stands in a CTE of another statement.
    pub in_cte: bool,
}

/// What a write does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verb {
    /// INSERT INTO.
    Insert,
    /// INSERT OVERWRITE.
    Overwrite,
    /// INSERT INTO … REPLACE WHERE.
    ReplaceWhere,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
    /// MERGE.
    Merge,
    /// TRUNCATE.
    Truncate,
    /// CREATE TABLE … AS, SELECT … INTO.
    CreateAs(Creation),
    /// CREATE VIEW.
    View {
        /// MATERIALIZED.
        materialized: bool,
    },
    /// COPY into a table.
    Copy {
        /// The engine remembers which files it loaded.
        remembers: bool,
    },
    /// One of our own models, or a dbt model: what its configuration says.
    Model(ModelWrite),
}

/// How a table is created.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Creation {
    /// OR REPLACE.
    pub or_replace: bool,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// TEMPORARY, `#t`.
    pub temporary: bool,
}

/// How a model is written by the tool that runs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModelWrite {
    /// Replaces the interval's slice, atomically.
    Slice,
    /// One row a key, folded from a change log; or dbt `merge`.
    Keyed,
    /// The whole table.
    Full,
    /// Nothing is stored.
    View,
    /// Appends.
    Append,
    /// Deletes the rows of the keys that come, then inserts.
    DeleteInsert,
    /// Replaces the partitions that come.
    OverwritePartitions,
}

/// What happens with a row whose key is there.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// Where the clause stands.
    pub span: Span,
    /// Key columns, where written.
    pub keys: Vec<String>,
    /// The action.
    pub action: ConflictAction,
    /// DO UPDATE SET.
    pub sets: Vec<Assign>,
    /// DO UPDATE … WHERE.
    pub filters: Vec<Expr>,
}

/// DO NOTHING, DO UPDATE, REPLACE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConflictAction {
    /// The row that is there stays.
    Nothing,
    /// Columns are set.
    Update,
    /// The row is replaced.
    Replace,
}

/// WHEN … THEN of a MERGE.
#[derive(Clone, Debug)]
pub struct Branch {
    /// Where it stands.
    pub span: Span,
    /// When it is taken.
    pub when: When,
    /// AND …, as a conjunction.
    pub filters: Vec<Expr>,
    /// What it does.
    pub action: BranchAction,
}

/// When a branch of a MERGE is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// MATCHED.
    Matched,
    /// NOT MATCHED (BY TARGET).
    NotMatched,
    /// NOT MATCHED BY SOURCE.
    NotMatchedBySource,
}

/// What a branch of a MERGE does.
#[derive(Clone, Debug)]
pub enum BranchAction {
    /// UPDATE SET.
    Update(Vec<Assign>),
    /// UPDATE SET *.
    UpdateAll,
    /// INSERT (columns) VALUES (values).
    Insert(Vec<String>, Vec<Expr>),
    /// INSERT *, INSERT ROW.
    InsertAll,
    /// DELETE.
    Delete,
    /// DO NOTHING.
    Nothing,
}

/// `column = value`.
#[derive(Clone, Debug)]
pub struct Assign {
    /// Where it stands.
    pub span: Span,
    /// The column.
    pub column: String,
    /// The value.
    pub value: Expr,
    /// `column += value`.
    pub compound: bool,
}

/// A table's definition.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Its name.
    pub name: Name,
    /// How it is created.
    pub creation: Creation,
    /// Columns.
    pub columns: Vec<Column>,
    /// Sets of columns of which no two rows are equal.
    pub keys: Vec<Vec<String>>,
    /// Partition columns.
    pub partition: Vec<String>,
    /// Engine, for `ClickHouse`.
    pub engine: Option<String>,
    /// Whether rows with equal keys are merged by the engine some day.
    pub replacing: bool,
    /// Kept by another server, or in files.
    pub foreign: bool,
    /// `CREATE TABLE a (LIKE b)`, `CREATE TABLE a LIKE b`, CLONE.
    pub like: Option<Name>,
}

/// A column's definition.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// Name.
    pub name: String,
    /// Type, folded; empty if unknown.
    pub data_type: String,
    /// NOT NULL.
    pub not_null: bool,
    /// Value assigned by the engine: identity, serial, auto increment, with its place.
    pub generated: Option<Span>,
    /// DEFAULT.
    pub default: Option<Expr>,
}

/// A change of a table's definition.
#[derive(Clone, Debug)]
pub struct Alter {
    /// The table.
    pub name: Name,
    /// What is done.
    pub change: AlterChange,
}

/// What an ALTER TABLE does.
#[derive(Clone, Debug)]
pub enum AlterChange {
    /// RENAME TO.
    Rename(Name),
    /// SWAP WITH, EXCHANGE.
    Swap(Name),
    /// ATTACH, REPLACE, EXCHANGE or SWITCH PARTITION.
    Partition,
    /// DROP PARTITION.
    DropPartition,
    /// ADD COLUMN.
    AddColumn {
        /// IF NOT EXISTS.
        guarded: bool,
        /// The column.
        column: Column,
    },
    /// ADD PRIMARY KEY, ADD UNIQUE.
    AddKey(Vec<String>),
    /// Another.
    Other,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum Action {
    /// A query whose rows go to the client.
    Select(QueryId),
    /// Writes; see [`Statement::writes`].
    Write,
    /// CREATE TABLE without a query.
    Define(Table),
    /// DROP TABLE.
    Drop {
        /// Which.
        names: Vec<Name>,
        /// IF EXISTS.
        guarded: bool,
    },
    /// ALTER TABLE.
    Alter(Vec<Alter>),
    /// SET or DECLARE of a variable.
    Variable {
        /// Names folded, without marks.
        name: String,
        /// Its value, where written.
        value: Option<Expr>,
    },
    /// SET of a session's setting, USE.
    Session {
        /// The setting.
        name: String,
        /// Its value as written.
        value: String,
    },
    /// BEGIN.
    Begin,
    /// COMMIT.
    Commit,
    /// ROLLBACK.
    Rollback,
    /// GRANT, ANALYZE, …: writes no rows of interest.
    Utility,
    /// A procedure does the work; what it does stands where it is defined.
    Call,
    /// Not understood, and why.
    Unread(String),
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Where it stands.
    pub span: Span,
    /// What it does.
    pub action: Action,
    /// What it writes, in order.
    pub writes: Vec<Write>,
    /// Its queries.
    pub queries: Vec<Query>,
    /// The transaction it stands in.
    pub transaction: Option<u32>,
    /// In a procedure or function.
    pub routine: bool,
    /// The condition it is guarded by.
    pub guard: Option<Span>,
    /// In a handler of errors.
    pub handler: bool,
}

impl Statement {
    /// A query of this statement.
    #[must_use]
    pub fn query(&self, id: QueryId) -> &Query {
        &self.queries[id.0 as usize]
    }
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
