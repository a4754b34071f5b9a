//! What can go wrong around a commit. Each error knows what it left behind.

use std::panic::{AssertUnwindSafe, catch_unwind};

use oncemore_core::{AttemptId, Epoch, Interval, SliceState, TableName};

use crate::fold::Tied;
use crate::ledger::Claim;
use crate::rows::RowsError;
use crate::types::TypeError;

/// Why something in a warehouse failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// A later request committed into the slice, or closed it against the attempt.
    #[error("`{table}` {interval} was {} {by}", superseded(*.published))]
    Superseded {
        /// The table.
        table: TableName,
        /// The slice.
        interval: Interval,
        /// The fence found.
        by: Epoch,
        /// Whether rows were published under it; else it was put there to close the slice.
        published: bool,
    },
    /// The slice holds what none of our commits put there.
    #[error("`{table}` {interval} was changed by another writer: {detail}")]
    Foreign {
        /// The table.
        table: TableName,
        /// The slice.
        interval: Interval,
        /// What was found.
        detail: String,
    },
    /// Somebody set the table back to an older snapshot.
    #[error("`{table}` was set back to an older snapshot (commit {found} of {high}) by another writer")]
    RolledBack {
        /// The table.
        table: TableName,
        /// Number of the commit at the head.
        found: u64,
        /// Number of the last commit made.
        high: u64,
    },
    /// Another process took over the work on the slice.
    #[error(
        "`{table}` {interval} is being worked on by process {} on {} ({}, request {}) since {}",
        .by.holder().1, .by.holder().0, .by.user, .by.request, .by.since
    )]
    Claimed {
        /// The table.
        table: TableName,
        /// The slice.
        interval: Interval,
        /// Its claim.
        by: Box<Claim>,
    },
    /// The slice changed since the run looked at it.
    #[error("`{table}` {interval} changed since the run looked at it")]
    Conflict {
        /// The table.
        table: TableName,
        /// The slice.
        interval: Interval,
        /// The attempt that owns it now.
        found: Option<AttemptId>,
    },
    /// Changes of the slice, or what is the last one of a key without them, tie with those of other slices.
    #[error(
        "{} differing changes of equal order ({}) in two intervals; one of them: {}",
        keys_have(.tied.keys), .order.join(", "), .tied.example
    )]
    Tied {
        /// The table.
        table: TableName,
        /// The slice.
        interval: Interval,
        /// Columns by which changes are ordered.
        order: Vec<String>,
        /// The ties.
        tied: Tied,
    },
    /// Storage or catalog could not be reached; nothing was published.
    #[error("failed to {doing}: {reason}")]
    Unavailable {
        /// What was being done.
        doing: String,
        /// The answer.
        reason: String,
    },
    /// Another process kept the catalog's write lock; nothing was published.
    #[error("the catalog has been locked by another process for {seconds} s{}", at_work(.by, *.stopped))]
    Locked {
        /// How long it was waited for.
        seconds: u64,
        /// Claims of the processes that may be it.
        by: Vec<Claim>,
        /// Number of one of them that is stopped, on this host.
        stopped: Option<u32>,
    },
    /// The catalog points to an older state of the table than is there: it comes from a backup.
    #[error(
        "the catalog is older than `{table}`: it points to version {pointed} of its metadata, and version {there} was \
         published; it was restored from a backup"
    )]
    Behind {
        /// The table.
        table: TableName,
        /// Version that the catalog points to.
        pointed: u64,
        /// Version that was published.
        there: u64,
    },
    /// There is no ledger beside the tables, or what is there is none.
    #[error("{path} {detail}")]
    NoLedger {
        /// The file.
        path: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The answer of the commit was lost: `resolve` finds out.
    #[error("outcome unknown: failed to {doing}: {reason}")]
    Unknown {
        /// What was being done.
        doing: String,
        /// The answer.
        reason: String,
    },
    /// The model is no longer what its table can become: that has to be built anew.
    #[error("{why}; `oncemore rebuild {model}` builds the table anew beside the old one")]
    Misfit {
        /// The model.
        model: TableName,
        /// What differs.
        why: String,
    },
    /// The project asks for what a table can't do.
    #[error("{0}")]
    Config(String),
    /// A file or row of ours holds what we never write.
    #[error("{what} is damaged: {detail}")]
    Corrupt {
        /// The file or row.
        what: String,
        /// What is wrong.
        detail: String,
    },
    /// What a table says of itself can't be read: its metadata, or its slice map.
    #[error("the table `{table}` can't be read: {detail}")]
    Damaged {
        /// The table.
        table: TableName,
        /// The model whose rows it holds, or changes of these.
        model: TableName,
        /// The folders of that model's tables that are there.
        folders: Vec<String>,
        /// What is wrong.
        detail: String,
    },
    /// The warehouse, or a table in it, lies elsewhere than its metadata say.
    #[error("`{table}` says it lies at {said}, not in {root}: the warehouse was moved or copied")]
    Moved {
        /// The table.
        table: TableName,
        /// Where its metadata say it lies.
        said: String,
        /// The folder of the warehouse.
        root: String,
    },
    /// A bug of ours.
    #[error("internal error: {0}")]
    Internal(String),
}

impl From<RowsError> for CommitError {
    fn from(error: RowsError) -> Self {
        CommitError::Config(error.to_string())
    }
}

impl From<TypeError> for CommitError {
    fn from(error: TypeError) -> Self {
        CommitError::Config(error.to_string())
    }
}

impl CommitError {
    /// What the failed publish left behind.
    pub fn slice_state(&self) -> SliceState {
        match self {
            CommitError::Unknown { .. } => SliceState::Unknown,
            _ => SliceState::Unchanged,
        }
    }

    /// Whether the same request may succeed when tried again.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self,
            CommitError::Conflict { .. }
                | CommitError::Claimed { .. }
                | CommitError::Unavailable { .. }
                | CommitError::Locked { .. }
        )
    }

    pub(crate) fn io(doing: impl Into<String>, reason: impl ToString) -> Self {
        CommitError::Unavailable { doing: doing.into(), reason: reason.to_string() }
    }

    /// Runs a decoder of bytes that anybody may have written: where it panics, `what` is damaged.
    pub(crate) fn guard<T>(what: impl ToString, decode: impl FnOnce() -> Result<T>) -> Result<T> {
        catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|panic| {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
            let said = said.unwrap_or("no message");
            Err(CommitError::corrupt(what, format!("its decoder panicked: {said}")))
        })
    }

    pub(crate) fn corrupt(what: impl ToString, detail: impl ToString) -> Self {
        CommitError::Corrupt { what: what.to_string(), detail: detail.to_string() }
    }
}

fn keys_have(keys: u64) -> String {
    if keys == 1 { "1 key has".to_owned() } else { format!("{keys} keys have") }
}

fn superseded(published: bool) -> &'static str {
    if published {
        "published by the later request"
    } else {
        "closed against this attempt, its claim broken or its process taken for dead: fence"
    }
}

/// Who works on slices of the warehouse, for a message.
fn at_work(claims: &[Claim], stopped: Option<u32>) -> String {
    let mut text = String::new();
    for (number, claim) in claims.iter().enumerate() {
        let (host, process) = claim.holder();
        let (command, user, id) = (&claim.command, &claim.user, claim.id);
        let begin = if number == 0 { "; at work: " } else { ", " };
        let still =
            if stopped.is_some_and(|stopped| stopped.to_string() == process) { ", stopped" } else { "" };
        text += &format!("{begin}`{command}` of {user} (process {process} on {host}, claim {id}{still})");
    }
    text
}

impl From<rusqlite::Error> for CommitError {
    fn from(error: rusqlite::Error) -> Self {
        // SQLite says no more than that, also where a file can't grow.
        let io = error.sqlite_error_code() == Some(rusqlite::ErrorCode::SystemIoFailure);
        CommitError::io("use the catalog", format!("{error}{}", if io { " (is the disk full?)" } else { "" }))
    }
}

impl From<iceberg::Error> for CommitError {
    fn from(error: iceberg::Error) -> Self {
        CommitError::Internal(format!("iceberg metadata: {error}"))
    }
}

pub(crate) type Result<T, E = CommitError> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_succeed_again_is_told_from_what_does_not() {
        let text = String::new;
        assert!(CommitError::io("write", "no").is_retryable());
        assert!(CommitError::Locked { seconds: 1, by: Vec::new(), stopped: None }.is_retryable());
        assert!(!CommitError::Unknown { doing: text(), reason: text() }.is_retryable());
        assert!(!CommitError::corrupt("a file", "cut off").is_retryable());
        assert!(!CommitError::Config(text()).is_retryable());
    }

    #[test]
    fn an_error_of_a_disk_is_told_as_one() {
        let failed = |code| {
            let error = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            CommitError::from(error).to_string()
        };
        assert!(failed(rusqlite::ffi::SQLITE_IOERR_WRITE).ends_with("(is the disk full?)"));
        assert!(!failed(rusqlite::ffi::SQLITE_BUSY).contains("disk full"));
    }

    #[test]
    fn a_decoder_that_panics_is_told_with_what_it_said() {
        let found: Result<()> = CommitError::guard("a file", || std::panic::panic_any("no such length"));
        assert_eq!(found, Err(CommitError::corrupt("a file", "its decoder panicked: no such length")));
        assert_eq!(CommitError::guard("a file", || Ok(7)), Ok(7));
    }
}
