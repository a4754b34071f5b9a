//! Why audits could not be run, or a row may not be staged.

use datafusion::error::DataFusionError;

use crate::error::EngineError;

/// An audit that can't be asked, or a row that its slice does not own.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// An audit names a column that the rows don't have.
    #[error("audit `{audit}`: there is no column `{column}`{help}")]
    UnknownColumn {
        /// The audit.
        audit: String,
        /// What it names.
        column: String,
        /// Line of help with the nearest name, or all names.
        help: String,
    },
    /// An audit names a table that was not given.
    #[error("audit `{audit}`: there is no model or source `{table}`")]
    UnknownTable {
        /// The audit.
        audit: String,
        /// What it names.
        table: String,
    },
    /// A text of an audit that does not read as what it must be.
    #[error("audit `{audit}`: {message}")]
    Text {
        /// The audit.
        audit: String,
        /// What is wrong with it.
        message: String,
    },
    /// The column that places rows in time is of no type that could.
    #[error(
        "time column `{column}` is {found}: DATE, TIMESTAMP or TIMESTAMPTZ expected\nhelp: CAST it in the query"
    )]
    NoTime {
        /// The column.
        column: String,
        /// Its type.
        found: String,
    },
    /// The rows lack the column that places them in time.
    #[error("there is no column `{column}`, which `time:` names{help}")]
    NoTimeColumn {
        /// The column.
        column: String,
        /// Line of help with the nearest name, or empty.
        help: String,
    },
    /// A row whose time is NULL.
    #[error(
        "a row without time: `{column}` is NULL in {row}\n\
         help: leave such rows out with `WHERE {column} IS NOT NULL`, or give them the time of the interval they belong to"
    )]
    NullTime {
        /// The time column.
        column: String,
        /// The row, as name = value.
        row: String,
    },
    /// A row that another slice owns.
    #[error(
        "a row outside its slice: `{column}` is {value}, the slice holds {from} to before {to}; the row: {row}\n\
         help: a task replaces its own slice and nothing else: add `WHERE {column} >= :interval_start AND \
         {column} < :interval_end` on the output column, or set `time:` to the column that decides the slice"
    )]
    OutsideSlice {
        /// The time column.
        column: String,
        /// Its value.
        value: String,
        /// First value that the slice holds.
        from: String,
        /// First value after those.
        to: String,
        /// The row, as name = value.
        row: String,
    },
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] DataFusionError),
}

impl AuditError {
    /// The trouble with a row that an engine's error stems from, if it does.
    pub fn find(error: &DataFusionError) -> Option<&AuditError> {
        match error {
            DataFusionError::External(inner) => inner.downcast_ref(),
            DataFusionError::Shared(inner) => AuditError::find(inner),
            DataFusionError::Context(_, inner) => AuditError::find(inner),
            DataFusionError::Collection(all) => all.iter().find_map(AuditError::find),
            _ => None,
        }
    }
}

impl From<datafusion::arrow::error::ArrowError> for AuditError {
    fn from(error: datafusion::arrow::error::ArrowError) -> Self {
        AuditError::Engine(error.into())
    }
}

/// The engine's text, with a line of help where it has any.
pub(super) fn plain(error: DataFusionError) -> String {
    let EngineError { message, help, .. } = EngineError::from(error);
    let help = help.map(|help| format!("\nhelp: {help}")).unwrap_or_default();
    format!("{message}{help}").replace("\"?table?\".", "").replace("?table?.", "")
}
