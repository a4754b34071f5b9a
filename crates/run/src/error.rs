//! What can go wrong around a run: few kinds, each with its exit code and the state of the slice.

use std::path::Path;

use oncemore_core::{Diagnostic, SliceState};

/// Kind of a failure; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// Wrong arguments, or a limit was reached.
    Usage,
    /// The project or its SQL is wrong.
    Config,
    /// Somebody else was faster or holds the slice: retry.
    Conflict,
    /// An audit did not hold.
    AuditFailed,
    /// The answer of a commit was lost.
    Unknown,
    /// A task failed.
    TaskFailed,
    /// A bug of ours.
    Internal,
}

impl ErrorKind {
    /// The exit code of a command that ends with this kind.
    pub fn exit_code(self) -> u8 {
        match self {
            ErrorKind::Usage => 2,
            ErrorKind::Config => 3,
            ErrorKind::Conflict => 4,
            ErrorKind::AuditFailed => 5,
            ErrorKind::Unknown => 6,
            ErrorKind::TaskFailed => 7,
            ErrorKind::Internal => 70,
        }
    }
}

/// A failure, with what a user needs: what, the state of the slice, what to type next.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct RunError {
    /// Kind.
    pub kind: ErrorKind,
    /// What happened: lower-case fragment, names in backticks.
    pub message: String,
    /// What to type or write next.
    pub help: Option<String>,
    /// State of the slice, where a slice is concerned.
    pub state: Option<SliceState>,
    /// What is wrong in the project's files.
    pub diagnostics: Vec<Diagnostic>,
}

impl RunError {
    /// A failure of `kind`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        RunError { kind, message: message.into(), help: None, state: None, diagnostics: Vec::new() }
    }

    /// Wrong use of a command.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        RunError::new(ErrorKind::Usage, message).help(help)
    }

    /// Adds what to do next.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the state that the slice is in.
    #[must_use]
    pub fn state(mut self, state: SliceState) -> Self {
        self.state = Some(state);
        self
    }

    /// The same of a command that ended before it changed anything: where the project or the arguments are wrong, that
    /// goes without saying.
    #[must_use]
    pub fn nothing_changed(mut self) -> Self {
        if !matches!(self.kind, ErrorKind::Usage | ErrorKind::Config) {
            self.state.get_or_insert(SliceState::Unchanged);
        }
        self
    }

    /// Adds what is wrong in the project's files.
    #[must_use]
    pub fn diagnostics(mut self, diagnostics: Vec<Diagnostic>) -> Self {
        self.diagnostics = diagnostics;
        self
    }
}

impl From<oncemore_commit::CommitError> for RunError {
    fn from(error: oncemore_commit::CommitError) -> Self {
        use oncemore_commit::CommitError as E;
        let state = error.slice_state();
        let (kind, help) = match &error {
            E::Superseded { published: false, .. } => {
                (ErrorKind::Conflict, "see `oncemore claims`, then run the same command again")
            }
            E::Superseded { .. } => (
                ErrorKind::Conflict,
                "the rows that are there come from a later request and stay; to replace them run again, without `--request` or under a new name",
            ),
            E::Foreign { table, .. } | E::RolledBack { table, .. } => {
                let help = format!(
                    "take the rows as they are: `oncemore accept {table} --adopt --because TEXT`; \
                     or replace them: `oncemore run {table} --replace-foreign`"
                );
                return RunError::new(ErrorKind::Conflict, error.to_string()).help(help).state(state);
            }
            E::Claimed { by, .. } => {
                let help = format!(
                    "wait for it, or push it aside: `oncemore claims break {}`; then run the same command again",
                    by.id
                );
                return RunError::new(ErrorKind::Conflict, error.to_string()).help(help).state(state);
            }
            E::Misfit { model, why } => {
                return RunError::new(ErrorKind::Config, why.clone()).help(rebuild_help(model)).state(state);
            }
            E::Locked { by, stopped, .. } => {
                let help = locked(by.first(), *stopped);
                return RunError::new(ErrorKind::Conflict, error.to_string()).help(help).state(state);
            }
            E::Damaged { model, folders, .. } => {
                let help = damaged_help(model, folders);
                return RunError::new(ErrorKind::TaskFailed, error.to_string()).help(help);
            }
            E::Moved { .. } => (
                ErrorKind::Config,
                "`oncemore ledger rebuild` makes tables that were moved or copied those of the folder they are in",
            ),
            E::Tied { .. } => (
                ErrorKind::TaskFailed,
                "add columns to `order_by` until no two changes of a key are equal; with the model's `time` among them no two \
                 intervals have such changes",
            ),
            E::Conflict { .. } => (ErrorKind::Conflict, "run the same command again"),
            E::Unavailable { .. } => {
                (ErrorKind::TaskFailed, "mend what the message names, then run the same command again")
            }
            E::Unknown { .. } => (ErrorKind::Unknown, "`oncemore resolve` finds out what became of it"),
            E::Config(_) => (ErrorKind::Config, "nothing was changed"),
            E::Corrupt { what, .. } if Path::new(what).extension().is_some_and(|kind| kind == "parquet") => (
                ErrorKind::TaskFailed,
                "`oncemore run MODEL --force` writes slices anew whose rows can't be read, and `oncemore rebuild MODEL` a \
                 table that is folded",
            ),
            E::Corrupt { what, .. } if Path::new(what).extension().is_some_and(|kind| kind == "avro") => (
                ErrorKind::TaskFailed,
                "bring the file back from a backup; or have its table made anew: move the table's folder out of the \
                 warehouse, with those beside it, `oncemore ledger rebuild`, then `oncemore run MODEL`",
            ),
            E::Corrupt { .. } | E::NoLedger { .. } | E::Behind { .. } => {
                (ErrorKind::TaskFailed, "`oncemore ledger rebuild` makes the ledger again from the tables")
            }
            E::Internal(_) => (ErrorKind::Internal, "please report this"),
        };
        let converted = RunError::new(kind, error.to_string()).help(help);
        match &error {
            E::Superseded { .. } | E::Conflict { .. } | E::Tied { .. } | E::Unknown { .. } => {
                converted.state(state)
            }
            _ => converted,
        }
    }
}

/// What to do about a table of which nothing can be read any more.
fn damaged_help(model: &oncemore_core::TableName, folders: &[String]) -> String {
    let away = match folders {
        [] => String::new(),
        folders => format!("move {} out of the warehouse, ", folders.join(" and ")),
    };
    format!(
        "bring its files back from a backup; or have it made anew: {away}`oncemore ledger rebuild`, then \
         `oncemore run {model}`"
    )
}

/// What to type where a table has to be built anew.
pub(crate) fn rebuild_help(model: &oncemore_core::TableName) -> String {
    format!(
        "build the table anew beside the old one, which stays readable until the new one takes its place: \
         `oncemore rebuild {model}`"
    )
}

/// What to do about a process that keeps the catalog locked.
fn locked(first: Option<&oncemore_commit::Claim>, stopped: Option<u32>) -> String {
    let again = "then run the same command again";
    match (stopped, first.map(oncemore_commit::Claim::holder)) {
        (Some(process), _) => format!(
            "`kill -CONT {process}` lets it go on, `kill -9 {process}` ends it and loses nothing that was published; {again}"
        ),
        (None, Some((host, process))) => {
            format!("see on {host} what it is doing, `ps -o stat,etime,args -p {process}`; {again}")
        }
        (None, None) => format!("`fuser -v oncemore.db` in the warehouse's folder names it; {again}"),
    }
}

impl From<oncemore_backend::EngineError> for RunError {
    fn from(error: oncemore_backend::EngineError) -> Self {
        use oncemore_backend::error::ErrorKind as E;
        let kind = match error.kind {
            E::Internal => ErrorKind::Internal,
            E::Resources | E::Input => ErrorKind::TaskFailed,
            _ => ErrorKind::Config,
        };
        let mut converted = RunError::new(kind, error.message);
        converted.help = error.help;
        converted
    }
}

impl From<oncemore_backend::source::SourceError> for RunError {
    fn from(mut error: oncemore_backend::source::SourceError) -> Self {
        // The text of the error would hold the help, too.
        let help = error.help.take();
        let mut converted = RunError::new(ErrorKind::TaskFailed, error.to_string());
        converted.help = help;
        converted
    }
}

impl From<oncemore_backend::audit::AuditError> for RunError {
    fn from(error: oncemore_backend::audit::AuditError) -> Self {
        use oncemore_backend::audit::AuditError as E;
        match error {
            E::Engine(error) => error.into(),
            E::NullTime { .. } | E::OutsideSlice { .. } => row_error(&error),
            other => {
                let (message, help) = with_help(&other);
                let mut converted = RunError::new(ErrorKind::Config, message).state(SliceState::Unchanged);
                converted.help = help;
                converted
            }
        }
    }
}

impl From<datafusion::error::DataFusionError> for RunError {
    /// What a stream ends with: trouble with a row or a file where that is at the bottom of it, else the engine's own.
    fn from(error: datafusion::error::DataFusionError) -> Self {
        if let Some(row) = oncemore_backend::audit::AuditError::find(&error) {
            return row_error(row);
        }
        if let Some(source) = oncemore_backend::source::SourceError::find(&error) {
            return source.clone().into();
        }
        let mut converted = RunError::from(oncemore_backend::EngineError::from(error));
        // The query was planned and typed before: what a stream trips over is in the data.
        if converted.kind == ErrorKind::Config {
            converted.kind = ErrorKind::TaskFailed;
        }
        converted
    }
}

/// The error of a row that its slice does not own.
fn row_error(error: &oncemore_backend::audit::AuditError) -> RunError {
    let (message, help) = with_help(error);
    let help = help.unwrap_or_else(|| "nothing was published".to_owned());
    RunError::new(ErrorKind::TaskFailed, message).help(help).state(SliceState::Unchanged)
}

/// The text of an audit's error and its help, which it carries behind `help: `.
fn with_help(error: &oncemore_backend::audit::AuditError) -> (String, Option<String>) {
    let text = error.to_string();
    match text.split_once("\nhelp: ") {
        Some((message, help)) => (message.to_owned(), Some(help.to_owned())),
        None => (text, None),
    }
}
