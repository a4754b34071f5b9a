//! Writes: what a statement does to the rows of a table.

use crate::text::Span;

use super::{Expr, Name, QueryId};

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
    /// Its alias.
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
    /// The CTE of another statement that it stands in.
    pub cte: Option<QueryId>,
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

impl Write {
    /// The expressions that stand directly in a write, not in its queries.
    pub fn each_expr<'a>(&'a self, visit: &mut impl FnMut(&'a Expr)) {
        self.filters.iter().for_each(&mut *visit);
        self.sets.iter().for_each(|set| visit(&set.value));
        self.partition.iter().filter_map(|(_, value)| value.as_ref()).for_each(&mut *visit);
        if let Some(conflict) = &self.conflict {
            conflict.sets.iter().for_each(|set| visit(&set.value));
            conflict.filters.iter().for_each(&mut *visit);
        }
        for branch in &self.branches {
            branch.filters.iter().for_each(&mut *visit);
            match &branch.action {
                BranchAction::Update(sets) => sets.iter().for_each(|set| visit(&set.value)),
                BranchAction::Insert(_, values) => values.iter().for_each(&mut *visit),
                BranchAction::UpdateAll
                | BranchAction::InsertAll
                | BranchAction::Delete
                | BranchAction::Nothing => {}
            }
        }
    }
}
