//! Statements, and those of their actions that write no rows: definitions, settings, transactions.

use crate::text::Span;

use super::{Creation, Expr, Name, Query, QueryId, Write};

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

/// `REPLACE PARTITION p FROM t`.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The partition.
    pub value: Expr,
    /// The table that its rows come from.
    pub from: Name,
}

/// What an ALTER TABLE does.
#[derive(Clone, Debug)]
pub enum AlterChange {
    /// RENAME TO.
    Rename(Name),
    /// SWAP WITH, EXCHANGE.
    Swap(Name),
    /// ATTACH, REPLACE, EXCHANGE or SWITCH PARTITION; of REPLACE what takes whose place.
    Partition(Option<Box<Moved>>),
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
