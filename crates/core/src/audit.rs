//! Audits: what must hold of a slice's rows before they are published.

use serde::{Deserialize, Serialize};

/// One audit of a model, as declared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audit {
    /// No NULL in any of these columns.
    NotNull(Vec<String>),
    /// These columns together are unique within the slice, NULL equal to NULL.
    Unique(Vec<String>),
    /// The column holds only these values or NULL, compared as text.
    AcceptedValues {
        /// The column.
        column: String,
        /// Allowed values.
        values: Vec<String>,
    },
    /// The column lies in `min..=max` or is NULL; bounds are SQL literals of the column's type.
    Range {
        /// The column.
        column: String,
        /// Least allowed value.
        min: Option<String>,
        /// Greatest allowed value.
        max: Option<String>,
    },
    /// The slice has `min..=max` rows.
    RowCount {
        /// Least allowed count.
        min: Option<u64>,
        /// Greatest allowed count.
        max: Option<u64>,
    },
    /// A condition that is true for each row; NULL fails.
    Expression(String),
    /// Each value of `columns` that is not NULL is found in `to`'s `columns_there`.
    Relationship {
        /// Columns here.
        columns: Vec<String>,
        /// Model or source there.
        to: String,
        /// Columns there.
        columns_there: Vec<String>,
    },
    /// A query over the slice, named by its own table name; each row it yields is an offence.
    Sql {
        /// Name shown in reports.
        name: String,
        /// The query.
        sql: String,
    },
}

impl Audit {
    /// The kind, as written in a project.
    pub fn kind(&self) -> &'static str {
        match self {
            Audit::NotNull(_) => "not_null",
            Audit::Unique(_) => "unique",
            Audit::AcceptedValues { .. } => "accepted_values",
            Audit::Range { .. } => "range",
            Audit::RowCount { .. } => "row_count",
            Audit::Expression(_) => "expression",
            Audit::Relationship { .. } => "relationship",
            Audit::Sql { .. } => "sql",
        }
    }
}

/// An audit that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditFailure {
    /// Kind and what it is about: `not_null(carrier)`.
    pub audit: String,
    /// Number of offending rows (groups, for `unique`).
    pub offending: u64,
    /// Names of the columns of `rows`.
    pub columns: Vec<String>,
    /// Up to five offending rows, as text; `None` is NULL.
    pub rows: Vec<Vec<Option<String>>>,
}
