//! What a run did, and the exit code that follows from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use oncemore_core::{AuditFailure, Interval, SliceState, TableName};
use serde::Serialize;

use super::{Event, Observer, foreign};
use crate::assess::Damage;
use crate::due::Label;
use crate::error::{ErrorKind, RunError};
use crate::ground::Ground;
use crate::plan::{Held, Hold, Plan};
use crate::rebuild;

/// A task that failed.
#[derive(Clone, Debug, Serialize)]
pub struct TaskFailure {
    /// The table.
    pub model: TableName,
    /// The slice's interval.
    pub interval: Interval,
    /// As people write it.
    pub label: Label,
    /// Kind of failure.
    pub kind: ErrorKind,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// State of the slice.
    pub state: SliceState,
    /// Whether its task was begun, or could have been: not where a file of its source can't be read.
    #[serde(skip)]
    pub begun: bool,
    /// Audits that did not hold.
    pub audits: Vec<AuditFailure>,
}

/// Ties that a task met.
#[derive(Clone, Debug, Serialize)]
pub struct TaskTies {
    /// The table.
    pub model: TableName,
    /// The interval as people write it.
    pub label: Label,
    /// Keys that have changes of equal order which differ.
    pub keys: u64,
    /// One of these changes, as text.
    pub example: String,
    /// Whether they are of two intervals; the example is of the other one.
    pub across: bool,
}

/// What a run did.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunReport {
    /// Number of the request.
    pub request: u64,
    /// Slices published with new rows.
    pub published: u64,
    /// Slices computed and found equal.
    pub unchanged: u64,
    /// Planned tasks with nothing to do, their inputs having come out equal.
    pub cut_off: u64,
    /// Slices that got another stamp alone: their inputs changed in keys that they do not look up.
    pub spared: u64,
    /// Planned tasks that another run did meanwhile.
    pub elsewhere: u64,
    /// Slices in which somebody else's rows were taken for ours.
    pub adopted: u64,
    /// Slices audited again without computing.
    pub audited: u64,
    /// Rows published.
    pub rows: u64,
    /// Ties among changes, by task.
    pub ties: Vec<TaskTies>,
    /// Tasks that failed.
    pub failed: Vec<TaskFailure>,
    /// Planned tasks that could not run.
    pub blocked: Vec<Held>,
    /// Planned tasks that were not begun, another run being at work on them or on one before them.
    pub not_begun: usize,
    /// Slices that were held back from the start.
    pub held: usize,
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
    /// What ended it before all its tasks were tried; no slice is changed by that.
    pub ended_early: Option<EndedEarly>,
}

/// Trouble that is no single task's: a catalog that can't be written, say.
#[derive(Clone, Debug, Serialize)]
pub struct EndedEarly {
    /// Kind of failure.
    pub kind: ErrorKind,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl From<RunError> for EndedEarly {
    fn from(error: RunError) -> Self {
        EndedEarly { kind: error.kind, message: error.message, help: error.help }
    }
}

impl RunReport {
    /// Takes in what the plan holds back: a source that can't be read is a failure, a write of somebody else by the
    /// policy of its model.
    pub(super) fn hold_back(&mut self, ground: &Ground, plan: &Plan, observer: &Arc<dyn Observer>) {
        self.held = plan.held.len();
        for failure in refused(plan) {
            observer.event(Event::Failed(failure.clone()));
            self.failed.push(failure);
        }
        let mut files: BTreeMap<String, Vec<TaskFailure>> = BTreeMap::new();
        for held in &plan.held {
            if let Some(failure) = broken(held) {
                files.entry(failure.message.clone()).or_default().push(failure.clone());
                self.failed.push(failure);
                self.held -= 1;
            } else if let Some(failure) = foreign::refused(held, ground.models[held.at].on_foreign) {
                observer.event(Event::Failed(failure.clone()));
                self.failed.push(failure);
                self.held -= 1;
            } else if matches!(held.hold, Hold::Foreign { .. }) {
                observer.event(Event::Foreign(held.clone()));
            }
        }
        files.into_values().for_each(|file| observer.event(Event::Broken(file)));
    }

    /// The exit code: of several the first of 6, 7, 5, 4.
    pub fn exit_code(&self) -> u8 {
        if self.interrupted {
            return 130;
        }
        let kinds = [ErrorKind::Unknown, ErrorKind::TaskFailed, ErrorKind::AuditFailed, ErrorKind::Conflict];
        let found = || {
            let early = self.ended_early.iter().map(|early| early.kind);
            self.failed.iter().map(|failure| failure.kind).chain(early)
        };
        match kinds.into_iter().find(|kind| found().any(|own| own == *kind)) {
            Some(kind) => kind.exit_code(),
            None => found().map(ErrorKind::exit_code).max().unwrap_or(0),
        }
    }

    /// Whether any task came to an end, good or bad.
    pub(super) fn tried_any(&self) -> bool {
        self.published + self.unchanged + self.spared + self.audited + self.adopted > 0
            || !self.failed.is_empty()
    }
}

/// What a run says of models whose tables have to be built anew or can't be read: one failure each.
fn refused(plan: &Plan) -> Vec<TaskFailure> {
    let mut found: Vec<TaskFailure> = Vec::new();
    for held in &plan.held {
        let error = match &held.hold {
            Hold::Rebuild { why } => rebuild::needed(&held.model, why),
            Hold::Damaged(Damage { what, help }) => RunError::new(ErrorKind::TaskFailed, what).help(help),
            _ => continue,
        };
        if found.last().is_some_and(|last| last.model == held.model) {
            continue;
        }
        found.push(TaskFailure {
            model: held.model.clone(),
            interval: held.interval,
            label: held.label.clone(),
            kind: error.kind,
            message: error.message,
            help: error.help,
            state: SliceState::Unchanged,
            begun: true,
            audits: Vec::new(),
        });
    }
    found
}

/// A slice whose source can't be read has failed, though it never began.
fn broken(held: &Held) -> Option<TaskFailure> {
    let (message, help) = match &held.hold {
        Hold::Broken { what } => what
            .split_once("\nhelp: ")
            .map_or((what.clone(), None), |(text, help)| (text.to_owned(), Some(help))),
        Hold::Missing { what } => (
            format!("{what} is not there"),
            Some("deliver it, or say by `missing:` of the source what its absence means"),
        ),
        _ => return None,
    };
    Some(TaskFailure {
        model: held.model.clone(),
        interval: held.interval,
        label: held.label.clone(),
        kind: ErrorKind::TaskFailed,
        message,
        help: help.map(str::to_owned),
        state: SliceState::Unchanged,
        begun: false,
        audits: Vec::new(),
    })
}
