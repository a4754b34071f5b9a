//! Runs a plan: level by level of the graph, slices side by side, ready ones published together.

mod publisher;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use oncemore_commit::{Attempt, AttemptEnd, AttemptState, Change, Publish, Published};
use oncemore_core::{AttemptId, AuditFailure, Instant, Interval, SliceState, TableName};
use oncemore_project::Model;
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use self::publisher::Publisher;
use crate::assess::{Allow, Assessment, TableState, Verdict};
use crate::due::Label;
use crate::error::{ErrorKind, RunError};
use crate::fold;
use crate::ground::Ground;
use crate::limit;
use crate::plan::{Held, Hold, Plan, PlanOptions, Reason, Task, keeps_serving, plan};
use crate::task::{self, Failed};
use crate::workspace::Workspace;

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
    Started { model: TableName, label: Label, reason: Reason },
    /// A task's rows were published.
    Published { model: TableName, label: Label, rows: u64 },
    /// A task's rows came out as they were.
    Unchanged { model: TableName, label: Label, rows: u64 },
    /// A planned task has nothing to do: its inputs came out equal.
    CutOff { model: TableName, label: Label },
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
    pub label: Label,
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

/// Runs what `options.plan` asks for.
///
/// # Errors
/// A plan that can't be made, or that goes beyond a limit; nothing has run then. What fails while running is in
/// the report.
pub async fn run(
    workspace: &Arc<Workspace>,
    options: &RunOptions,
    observer: &Arc<dyn Observer>,
    stop: &Stop,
) -> Result<RunReport, RunError> {
    let mut ground = workspace.ground()?;
    let plan = Arc::new(plan(&ground, &options.plan)?);
    limit::check(workspace, &ground, &plan, options.yes, options.stale_parents_ok)?;
    observer.event(Event::Planned(Arc::clone(&plan)));
    let mut report = RunReport { held: plan.held.len(), ..RunReport::default() };
    for held in &plan.held {
        if let Some(failure) = broken(held) {
            observer.event(Event::Failed(failure.clone()));
            report.failed.push(failure);
            report.held -= 1;
        }
    }
    // Attempts that a killed command left behind are dealt with before new ones begin; and hints for readers by path,
    // also where nothing is left to do.
    workspace.warehouse.resolve()?;
    if plan.tasks.is_empty() {
        return Ok(report);
    }
    report.request = workspace.warehouse.begin_request(options.request.as_deref())?;
    let tables = ground.models.iter().map(|model| TableState::of(model.name.clone())).collect();
    let mut run = Run { workspace, options, observer, stop, report, tables };
    for level in levels(&ground) {
        run.level(&mut ground, &plan, &level).await?;
    }
    run.report.interrupted = stop.is_stopped();
    Ok(run.report)
}

/// A slice whose source can't be read has failed, though it never began.
fn broken(held: &Held) -> Option<TaskFailure> {
    let Hold::Broken { what } = &held.hold else { return None };
    let (message, help) =
        what.split_once("\nhelp: ").map_or((what.as_str(), None), |(text, help)| (text, Some(help)));
    Some(TaskFailure {
        model: held.model.clone(),
        interval: held.interval,
        label: held.label.clone(),
        kind: ErrorKind::TaskFailed,
        message: message.to_owned(),
        help: help.map(str::to_owned),
        state: SliceState::Unchanged,
        audits: Vec::new(),
    })
}

/// Models by level of the graph: each reads only models of lower levels.
fn levels(ground: &Ground) -> Vec<Vec<usize>> {
    let mut level_of: Vec<usize> = Vec::with_capacity(ground.models.len());
    let mut levels: Vec<Vec<usize>> = Vec::new();
    for (at, model) in ground.models.iter().enumerate() {
        let parents = model.reads.iter().filter_map(|read| ground.position(&read.input));
        let level = parents.map(|parent| level_of[parent] + 1).max().unwrap_or(0);
        level_of.push(level);
        if levels.len() <= level {
            levels.push(Vec::new());
        }
        levels[level].push(at);
    }
    levels
}

/// A run under way.
struct Run<'a> {
    workspace: &'a Arc<Workspace>,
    options: &'a RunOptions,
    observer: &'a Arc<dyn Observer>,
    stop: &'a Stop,
    report: RunReport,
    /// States of all tables, in the order of the ground; those not dealt with yet hold nothing.
    tables: Vec<TableState>,
}

/// How many tasks are claimed at a time: a claim covers what is worked on, never a whole backfill.
const CLAIMED_TASKS: usize = 128;

impl Run<'_> {
    async fn level(&mut self, ground: &mut Ground, plan: &Plan, level: &[usize]) -> Result<(), RunError> {
        let due = self.due(ground, plan, level);
        let mut failed: BTreeSet<(usize, Interval)> = BTreeSet::new();
        self.prepare_tables(ground, &due)?;
        let publisher = Publisher::start(self.workspace.warehouse.clone(), self.options.single_commits);
        let permits = Arc::new(Semaphore::new(self.options.jobs.max(1)));
        for chunk in due.chunks(CLAIMED_TASKS) {
            if self.stop.is_stopped() || self.too_many_failures() {
                failed.extend(chunk.iter().map(|(task, _)| (task.at, task.interval)));
                continue;
            }
            let claims: Vec<_> = chunk
                .iter()
                .map(|(task, _)| {
                    let model = &ground.models[task.at];
                    (model.sliced.clone(), task.interval, model.code)
                })
                .collect();
            let attempts = self.workspace.warehouse.begin_attempts(self.report.request, &claims)?;
            let mut running = JoinSet::new();
            publisher.expect(chunk.len());
            for ((task, assessment), attempt) in chunk.iter().zip(attempts) {
                let job = Job {
                    workspace: Arc::clone(self.workspace),
                    observer: Arc::clone(self.observer),
                    stop: self.stop.clone(),
                    permits: Arc::clone(&permits),
                    publisher: publisher.clone(),
                    task: (*task).clone(),
                    code_seen: ground.models[task.at].code_seen,
                    assessment: assessment.clone(),
                    attempt,
                    replace_foreign: self.options.plan.allow.foreign,
                };
                running.spawn(job.run());
            }
            while let Some(done) = running.join_next().await {
                let done = done.map_err(|panic| {
                    RunError::new(ErrorKind::Internal, format!("a task ended early: {panic}"))
                })?;
                self.account(done, &mut failed)?;
            }
        }
        drop(publisher);
        for at in level {
            self.workspace.refresh(&mut ground.models[*at])?;
            self.tables[*at] = self.state_after(ground, *at, &failed);
        }
        Ok(())
    }

    /// The level's tasks with their inputs pinned; those that turned out to have nothing to do, or can't run, are
    /// reported and left out.
    fn due<'p>(&mut self, ground: &Ground, plan: &'p Plan, level: &[usize]) -> Vec<(&'p Task, Assessment)> {
        let mut due = Vec::new();
        for at in level {
            let subject = ground.subject(*at, &self.tables, self.options.plan.allow);
            for task in plan.tasks.iter().filter(|task| task.at == *at) {
                let assessment = subject.assess(task.interval);
                match &assessment.verdict {
                    Verdict::Due(_) => due.push((task, assessment)),
                    Verdict::Fresh => {
                        self.report.cut_off += 1;
                        self.observer
                            .event(Event::CutOff { model: task.model.clone(), label: task.label.clone() });
                    }
                    Verdict::Held(reason, hold) => {
                        let held = Held {
                            at: *at,
                            model: task.model.clone(),
                            interval: task.interval,
                            label: task.label.clone(),
                            reason: reason.clone(),
                            hold: hold.clone(),
                        };
                        self.observer.event(Event::Blocked(held.clone()));
                        self.report.blocked.push(held);
                    }
                }
            }
        }
        due
    }

    /// Makes or widens the tables of the models that are going to write.
    fn prepare_tables(&self, ground: &Ground, due: &[(&Task, Assessment)]) -> Result<(), RunError> {
        let writing: BTreeSet<usize> = due.iter().map(|(task, _)| task.at).collect();
        for at in writing {
            let name = &ground.models[at].name;
            let text = name.to_string();
            let (Some(model), Some(facts)) = (self.workspace.model(&text), self.workspace.facts.get(&text))
            else {
                continue;
            };
            let (warehouse, sliced) = (&self.workspace.warehouse, model.calendar.is_some());
            match &model.fold {
                Some(fold) => {
                    let spec = fold::spec(model, fold, &facts.schema);
                    warehouse.ensure_fold(&fold.log, &facts.schema, fold.deleted.is_some(), &spec)?;
                }
                None => warehouse.ensure_table(name, &facts.schema, &model.key, sliced)?,
            }
        }
        Ok(())
    }

    fn account(&mut self, done: Done, failed: &mut BTreeSet<(usize, Interval)>) -> Result<(), RunError> {
        match done.result {
            Ok(outcome) => {
                match outcome {
                    Outcome::Published => {
                        self.report.published += 1;
                        self.report.rows += done.rows;
                    }
                    Outcome::Unchanged => self.report.unchanged += 1,
                    Outcome::Audited => self.report.audited += 1,
                }
                Ok(())
            }
            Err(failure) => {
                failed.insert((done.at, failure.interval));
                // What is unknown stays open: `resolve` finds out what became of it.
                if failure.state != SliceState::Unknown {
                    let end = AttemptEnd {
                        id: done.attempt,
                        state: AttemptState::Failed,
                        error: Some(failure.message.clone()),
                    };
                    self.workspace.warehouse.end_attempts(&[end])?;
                }
                if !self.stop.is_stopped() {
                    self.observer.event(Event::Failed(failure.clone()));
                    self.report.failed.push(failure);
                }
                Ok(())
            }
        }
    }

    fn too_many_failures(&self) -> bool {
        self.options.max_failures.is_some_and(|most| self.report.failed.len() >= most)
    }

    /// What readers of a table find after its tasks are through.
    fn state_after(&self, ground: &Ground, at: usize, failed: &BTreeSet<(usize, Interval)>) -> TableState {
        let model = &ground.models[at];
        let due = ground.due(at);
        let mut state = model.state(&due);
        let subject = ground.subject(at, &self.tables, Allow::default());
        for interval in due.iter().map(|slot| slot.interval) {
            let exists = subject.stamp(interval).is_some();
            let hold = if failed.contains(&(at, interval)) {
                Some(Hold::Blocked { by: model.name.to_string(), interval })
            } else {
                match subject.verdict(interval) {
                    Verdict::Held(_, hold) if !keeps_serving(&hold, exists) => Some(hold),
                    _ if !exists => Some(Hold::Blocked { by: model.name.to_string(), interval }),
                    _ => None,
                }
            };
            if let Some(hold) = hold {
                state.unavailable.insert(interval, hold);
            }
        }
        state
    }
}

/// One task on its way, with all that it needs.
struct Job {
    workspace: Arc<Workspace>,
    observer: Arc<dyn Observer>,
    stop: Stop,
    permits: Arc<Semaphore>,
    publisher: Publisher,
    task: Task,
    code_seen: Instant,
    assessment: Assessment,
    attempt: Attempt,
    replace_foreign: bool,
}

/// What became of a task.
struct Done {
    at: usize,
    attempt: AttemptId,
    rows: u64,
    result: Result<Outcome, TaskFailure>,
}

enum Outcome {
    Published,
    Unchanged,
    Audited,
}

impl Job {
    async fn run(self) -> Done {
        let (at, attempt) = (self.task.at, self.attempt.id);
        let mut rows = 0;
        let result = self.work(&mut rows).await;
        Done { at, attempt, rows, result }
    }

    async fn work(self, rows: &mut u64) -> Result<Outcome, TaskFailure> {
        let name = self.task.model.to_string();
        let Some(model) = self.workspace.model(&name) else {
            self.publisher.give_up();
            return Err(
                self.failure(RunError::new(ErrorKind::Internal, format!("no model is called `{name}`")))
            );
        };
        let audits_only = matches!(self.assessment.verdict, Verdict::Due(Reason::Audits));
        let change = match self.prepare(model, audits_only).await {
            Ok(change) => change,
            Err(failed) => {
                self.publisher.give_up();
                return Err(failed.of(&model.name, self.task.interval, self.task.label.clone()));
            }
        };
        if let Change::Replace(audited) = &change {
            *rows = audited.staged().rows;
        }
        let publish =
            self.workspace.publish_of(model, &self.assessment, &self.attempt, self.code_seen, change);
        let publish = Publish { replace_foreign: self.replace_foreign, ..publish };
        let (table, label) = (self.task.model.clone(), self.task.label.clone());
        match self.publisher.publish(publish).await {
            Ok(_) if audits_only => {
                self.observer.event(Event::Unchanged { model: table, label, rows: *rows });
                Ok(Outcome::Audited)
            }
            Ok(Published::Unchanged) => {
                self.observer.event(Event::Unchanged { model: table, label, rows: *rows });
                Ok(Outcome::Unchanged)
            }
            Ok(Published::Replaced { .. }) => {
                self.observer.event(Event::Published { model: table, label, rows: *rows });
                Ok(Outcome::Published)
            }
            Err(error) => Err(self.failure(error.into())),
        }
    }

    /// Computes, stages and audits; for changed audits alone, audits what is published.
    async fn prepare(&self, model: &Model, audits_only: bool) -> Result<Change, Failed> {
        // Held while the slice is computed, not while it waits to be published.
        let _permit = self.permits.acquire().await;
        if self.stop.is_stopped() {
            return Err(RunError::new(ErrorKind::TaskFailed, "stopped before it began").into());
        }
        let (table, label, reason) =
            (self.task.model.clone(), self.task.label.clone(), self.task.reason.clone());
        self.observer.event(Event::Started { model: table, label, reason });
        if audits_only {
            task::audit_published(&self.workspace, model, self.task.interval).await?;
            return Ok(Change::Restamp);
        }
        let audited =
            task::prepare(&self.workspace, model, self.task.interval, &self.attempt, &self.stop).await?;
        Ok(Change::Replace(audited))
    }

    fn failure(&self, error: RunError) -> TaskFailure {
        Failed::from(error).of(&self.task.model, self.task.interval, self.task.label.clone())
    }
}
