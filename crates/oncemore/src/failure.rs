//! How a command fails: with an error for the user, or because nobody listens any more.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use oncemore_commit::CommitError;
use oncemore_run::{ErrorKind, RunError};
use serde::Serialize;

use crate::render::diagnostic::{JsonDiagnostic, to_json};
use crate::render::error;
use crate::ui::Ui;

/// Why a command ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An error with its kind, the state of the slice, and what to type next.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A stream or a file.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// An error as `--output json` shows it, on stderr.
#[derive(Serialize)]
struct JsonError<'a> {
    kind: ErrorKind,
    message: &'a str,
    help: Option<&'a str>,
    state: Option<oncemore_core::SliceState>,
    diagnostics: Vec<JsonDiagnostic<'a>>,
}

impl Failure {
    /// The failure of a command that writes nothing: the state of a slice is not worth a word.
    #[must_use]
    pub fn of_reading(self) -> Self {
        match self {
            Failure::Run(error) => Failure::Run(RunError { state: None, ..error }),
            other => other,
        }
    }

    /// How a command ends that passed over tables that are damaged: each is named, the last by the error itself.
    ///
    /// # Errors
    /// There are any.
    pub fn of_damaged(damaged: Vec<CommitError>, ui: &Ui) -> Result<u8, Failure> {
        let mut errors = damaged.into_iter().map(RunError::from);
        let last = errors.next_back();
        for error in errors {
            Failure::from(error).report(None, ui);
        }
        last.map_or(Ok(0), |error| Err(error.into()))
    }

    /// Says what happened on stderr and gives the exit code.
    pub fn report(&self, root: Option<&Path>, ui: &Ui) -> u8 {
        let error = match self {
            // Whoever read our output has seen enough (`oncemore status | head`).
            Failure::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => return 0,
            Failure::Io(error) => &RunError::new(ErrorKind::TaskFailed, error.to_string()),
            Failure::Run(error) => error,
        };
        let texts = texts(error, root);
        let text_of = |path: &str| texts.get(path).map(String::as_str);
        if ui.is_json() {
            let json = JsonError {
                kind: error.kind,
                message: &error.message,
                help: error.help.as_deref(),
                state: error.state,
                diagnostics: to_json(&error.diagnostics, &text_of),
            };
            ui.talk(&serde_json::to_string(&json).unwrap_or_else(|_| error.message.clone()));
        } else {
            ui.talk(&error::render(error, &text_of, &ui.err));
        }
        error.kind.exit_code()
    }
}

/// The texts of the files that an error is about.
pub fn texts(error: &RunError, root: Option<&Path>) -> BTreeMap<String, String> {
    // Paths are relative to the project; those of lint, which needs none, to the current folder.
    let read = |path: &str| {
        let in_project = root.and_then(|root| std::fs::read_to_string(root.join(path)).ok());
        in_project.or_else(|| std::fs::read_to_string(path).ok())
    };
    let paths =
        error.diagnostics.iter().filter_map(|found| found.location.as_ref()).map(|location| &location.path);
    paths.filter_map(|path| Some((path.clone(), read(path)?))).collect()
}
