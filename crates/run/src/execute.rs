//! Runs a plan: level by level of the graph, slices side by side, ready ones published together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use oncemore_core::{AuditFailure, Interval, SliceState, TableName};
use serde::Serialize;

use crate::error::ErrorKind;
use crate::plan::{Held, Plan, PlanOptions, Reason};

/// How to run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// What to run.
    pub plan: PlanOptions,
    /// Slices worked on at the same time.
    pub jobs: usize,
    /// Stop after so many failures.
    pub max_failures: Option<usize>,
    /// Name of the request: a retry under the same name keeps its number.
    pub request: Option<String>,
    /// Go beyond `limits.tasks`.
    pub yes: bool,
    /// Run although a parent outside the selection is stale.
    pub stale_parents_ok: bool,
    /// Publish each slice in a commit of its own.
    pub single_commits: bool,
}

/// What happens while a run goes on.
#[derive(Clone, Debug)]
pub enum Event {
    /// The plan is made and the run begins.
    Planned(Arc<Plan>),
    /// A task began.
    Started { model: TableName, label: String, reason: Reason },
    /// A task's rows were published.
    Published { model: TableName, label: String, rows: u64 },
    /// A task's rows came out as they were.
    Unchanged { model: TableName, label: String, rows: u64 },
    /// A planned task has nothing to do: its inputs came out equal.
    CutOff { model: TableName, label: String },
    /// A task failed.
    Failed(TaskFailure),
    /// A planned task can't run because of what failed before it.
    Blocked(Held),
}

/// Gets told what happens.
pub trait Observer: Send + Sync {
    /// One event, in order for each task.
    fn event(&self, event: Event);
}

/// A request to stop, shared with a signal handler.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks the run to stop: what is staged is dropped, what is published stays.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether a stop was asked for.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A task that failed.
#[derive(Clone, Debug, Serialize)]
pub struct TaskFailure {
    /// The table.
    pub model: TableName,
    /// The slice's interval.
    pub interval: Interval,
    /// As people write it.
    pub label: String,
    /// Kind of failure.
    pub kind: ErrorKind,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// State of the slice.
    pub state: SliceState,
    /// Audits that did not hold.
    pub audits: Vec<AuditFailure>,
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
    /// Slices audited again without computing.
    pub audited: u64,
    /// Rows published.
    pub rows: u64,
    /// Tasks that failed.
    pub failed: Vec<TaskFailure>,
    /// Planned tasks that could not run.
    pub blocked: Vec<Held>,
    /// Slices that were held back from the start.
    pub held: usize,
    /// Whether the run was stopped before its end.
    pub interrupted: bool,
}

impl RunReport {
    /// The exit code: of several the first of 6, 7, 5, 4.
    pub fn exit_code(&self) -> u8 {
        if self.interrupted {
            return 130;
        }
        let kinds = [ErrorKind::Unknown, ErrorKind::TaskFailed, ErrorKind::AuditFailed, ErrorKind::Conflict];
        let worst = kinds.into_iter().find(|kind| self.failed.iter().any(|failure| failure.kind == *kind));
        match worst {
            Some(kind) => kind.exit_code(),
            None if self.failed.is_empty() => 0,
            None => self.failed.iter().map(|failure| failure.kind.exit_code()).max().unwrap_or(0),
        }
    }
}
