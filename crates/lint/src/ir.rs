//! The intermediate form: what a statement does, free of any parser's tree. Every node has its place in the
//! file.
//!
//! Names are folded to lower case; conjunctions are flattened into lists; the queries of a statement stand
//! in one
//! arena ([`Statement::queries`]), so that a CTE that is read twice is one query.

mod expr;
mod query;
mod statement;
mod write;

pub use expr::{Ask, Call, Expr, ExprKind, Frame, Literal, Op, Sort, Window};
pub use query::{
    Body, Distinct, From, Group, Item, Join, Limit, Place, Query, Relation, Sample, Select, SetOp,
};
pub use statement::{Action, Alter, AlterChange, Column, Moved, Statement, Table};
pub use write::{
    Assign, Branch, BranchAction, Conflict, ConflictAction, Creation, ModelWrite, Verb, When, Write,
};

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
