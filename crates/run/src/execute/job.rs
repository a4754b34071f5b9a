//! One task on its way: computed, staged, audited and handed to be published. What it means for the rest of the run is
//! `execute`'s.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use oncemore_commit::{Attempt, Change, Publish, Published};
use oncemore_core::{AttemptId, Instant, Pin, SliceState};
use oncemore_project::Model;
use tokio::sync::Semaphore;

use super::publisher::Publisher;
use super::{Event, Observer, Stop, TaskFailure, TaskTies};
use crate::assess::{Allow, Assessment, Verdict};
use crate::error::{ErrorKind, RunError};
use crate::fold::{self, Ties};
use crate::plan::{Reason, Task};
use crate::rebuild;
use crate::task::{self, Failed};
use crate::workspace::Workspace;

/// One task on its way, with all that it needs.
pub(super) struct Job {
    pub(super) workspace: Arc<Workspace>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) stop: Stop,
    pub(super) permits: Arc<Semaphore>,
    pub(super) publisher: Publisher,
    pub(super) task: Task,
    pub(super) code_seen: Instant,
    pub(super) assessment: Assessment,
    pub(super) attempt: Attempt,
    pub(super) claim_lost: Arc<AtomicBool>,
    pub(super) allow: Allow,
}

/// What became of a task.
pub(super) struct Done {
    pub(super) at: usize,
    pub(super) attempt: AttemptId,
    pub(super) rows: u64,
    pub(super) ties: Vec<TaskTies>,
    pub(super) result: Result<Outcome, TaskFailure>,
}

pub(super) enum Outcome {
    Published,
    Unchanged,
    Audited,
}

impl Job {
    pub(super) async fn run(self) -> Done {
        let (at, attempt) = (self.task.at, self.attempt.id);
        let (mut rows, mut ties) = (0, Vec::new());
        let (workspace, task) = (Arc::clone(&self.workspace), self.task.clone());
        let result = self.work(&mut rows, &mut ties).await.map_err(|failure| {
            // Whatever it met, the reason is that its table is gone.
            let gone = rebuild::is_gone(&workspace, &task.model).unwrap_or(false);
            if !gone || failure.state == SliceState::Unknown {
                return failure;
            }
            Failed::from(rebuild::overtaken(&task.model)).of(&task.model, task.interval, task.label)
        });
        Done { at, attempt, rows, ties, result }
    }

    async fn work(self, rows: &mut u64, ties: &mut Vec<TaskTies>) -> Result<Outcome, TaskFailure> {
        let model = self.workspace.planned(&self.task.model).map_err(|error| {
            self.publisher.give_up();
            self.failure(error)
        })?;
        let audits_only = matches!(self.assessment.verdict, Verdict::Due(Reason::Audits));
        let (change, pins) = match self.prepare(model, audits_only, ties).await {
            Ok(prepared) => prepared,
            Err(failed) => {
                self.publisher.give_up();
                return Err(failed.of(&model.name, self.task.interval, self.task.label.clone()));
            }
        };
        if let Change::Replace(audited) = &change {
            *rows = audited.staged().rows;
        }
        let mut publish =
            self.workspace.publish_of(model, &self.assessment, &self.attempt, self.code_seen, change);
        for read in pins {
            let own = publish.stamp.inputs.iter_mut().find(|own| own.input == read.input);
            own.into_iter().for_each(|own| own.version = read.version);
        }
        let Allow { foreign: replace_foreign, force: read_back, .. } = self.allow;
        let publish = Publish { replace_foreign, read_back, ..publish };
        let (table, label) = (self.task.model.clone(), self.task.label.clone());
        match self.publisher.publish(publish).await {
            Ok(_) if audits_only => {
                self.carry(model, false);
                self.observer.event(Event::Unchanged { model: table, label, rows: *rows });
                Ok(Outcome::Audited)
            }
            Ok(Published::Unchanged) => {
                self.carry(model, true);
                self.observer.event(Event::Unchanged { model: table, label, rows: *rows });
                Ok(Outcome::Unchanged)
            }
            Ok(Published::Replaced { ties: found, .. }) => {
                // The slice is published: what can't be kept of it is not known to `explain`.
                let _ = found.map_or(Ok(()), |found| self.tied(model, Ties::across(found), ties));
                self.observer.event(Event::Published { model: table, label, rows: *rows });
                Ok(Outcome::Published)
            }
            Err(error) => Err(self.failure(error.into())),
        }
    }

    /// Computes, stages and audits; for changed audits alone, audits what is published. With tables that were read whole, at
    /// the versions that they had then.
    async fn prepare(
        &self,
        model: &Model,
        audits_only: bool,
        ties: &mut Vec<TaskTies>,
    ) -> Result<(Change, Vec<Pin>), Failed> {
        // Held while the slice is computed, not while it waits to be published.
        let _permit = self.permits.acquire().await;
        if self.stop.is_stopped() {
            return Err(RunError::new(ErrorKind::TaskFailed, "stopped before it began").into());
        }
        if self.claim_lost.load(Ordering::Acquire) {
            return Err(super::claims::lost().into());
        }
        let (table, label, reason) =
            (self.task.model.clone(), self.task.label.clone(), self.task.reason.clone());
        self.observer.event(Event::Started { model: table, label, reason });
        if audits_only {
            task::audit_published(&self.workspace, model, self.task.interval).await?;
            return Ok((Change::Restamp, Vec::new()));
        }
        let prepared =
            task::prepare(&self.workspace, model, self.task.interval, &self.attempt, &self.stop).await?;
        if let Some(found) = prepared.ties {
            self.tied(model, found, ties)?;
        }
        Ok((Change::Replace(prepared.audited), prepared.pins))
    }

    /// Tells ties, and keeps them for `explain`.
    fn tied(&self, model: &Model, found: Ties, ties: &mut Vec<TaskTies>) -> Result<(), RunError> {
        let (label, name) = (self.task.label.clone(), self.task.model.clone());
        let Ties { keys, example, across } = found.clone();
        ties.push(TaskTies { model: name.clone(), label: label.clone(), keys, example, across });
        let kept = found.keep(&self.workspace.warehouse, model.sliced(), self.attempt.id);
        self.observer.event(Event::Tied { model: name, label, ties: found });
        kept
    }

    /// What is known of the ties of rows that stay, `explain` knows of their new stamp.
    fn carry(&self, model: &Model, computed: bool) {
        if let (Some(owner), true) = (self.assessment.owner, model.fold.is_some()) {
            let (warehouse, attempts) = (&self.workspace.warehouse, (owner, self.attempt.id));
            // The slice is published: what can't be kept of it is not known.
            let _ = fold::carry(warehouse, model.sliced(), attempts, computed);
        }
    }

    fn failure(&self, error: RunError) -> TaskFailure {
        Failed::from(error).of(&self.task.model, self.task.interval, self.task.label.clone())
    }
}
