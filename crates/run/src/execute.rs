//! Runs a plan: level by level of the graph, slices side by side, ready ones published together.

mod claims;
mod foreign;
mod job;
mod publisher;
mod report;
mod restamp;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use oncemore_commit::{AttemptEnd, AttemptState, Claim, Resolved};
use oncemore_core::{Interval, SliceState, TableName};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

pub use self::claims::ClaimOptions;
use self::claims::{Asked, Claims};
use self::job::{Done, Job, Outcome};
use self::publisher::Publisher;
pub use self::report::{EndedEarly, RunReport, TaskFailure, TaskTies};
use self::restamp::Sparing;
use crate::assess::{Allow, Assessment, Before, TableState, Verdict};
use crate::due::Label;
use crate::error::{ErrorKind, RunError};
use crate::fold::{self, Ties};
use crate::ground::Ground;
use crate::limit;
use crate::plan::{Held, Hold, Plan, PlanOptions, Reason, Task, keeps_serving, plan};
use crate::rebuild;
use crate::spare;
use crate::task::Failed;
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
    /// Who runs it, and how long it waits for others.
    pub claims: ClaimOptions,
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
    /// A task's changes have ties; it goes on all the same.
    Tied { model: TableName, label: Label, ties: Ties },
    /// A task's rows came out as they were.
    Unchanged { model: TableName, label: Label, rows: u64 },
    /// A planned task has nothing to do: its inputs came out equal.
    CutOff { model: TableName, label: Label },
    /// A slice got another stamp: its inputs changed in keys alone that it does not look up.
    Spared { model: TableName, label: Label },
    /// A planned task has nothing to do: another run has done it meanwhile.
    Elsewhere { model: TableName, label: Label },
    /// Attempts that runs left behind which ended early, and what became of them.
    Resolved(Vec<Resolved>),
    /// The clock is behind that of an earlier request.
    ClockBehind { seconds: u64 },
    /// Somebody else's rows in a slice are taken for ours.
    Adopted(Held),
    /// Somebody else wrote into a slice, and it is left as it is.
    Foreign(Held),
    /// Another run holds what is next, and is waited for.
    Waiting(Claim),
    /// A task failed.
    Failed(TaskFailure),
    /// Slices that were not begun, all for one file of a source that can't be read.
    Broken(Vec<TaskFailure>),
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

    /// An error once a stop was asked for.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        let stopped = || RunError::new(ErrorKind::TaskFailed, "stopped before it was done");
        if self.is_stopped() { Err(stopped()) } else { Ok(()) }
    }

    /// Whether a stop was asked for.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// Runs what `options.plan` asks for.
///
/// # Errors
/// A plan that can't be made, or that goes beyond a limit, or trouble before the first task was through; all slices are
/// as they were then. What fails later is in the report.
pub async fn run(
    workspace: &Arc<Workspace>,
    options: &RunOptions,
    observer: &Arc<dyn Observer>,
    stop: &Stop,
) -> Result<RunReport, RunError> {
    let ran = plan_and_run(workspace, options, observer, stop).await;
    ran.map_err(RunError::nothing_changed)
}

async fn plan_and_run(
    workspace: &Arc<Workspace>,
    options: &RunOptions,
    observer: &Arc<dyn Observer>,
    stop: &Stop,
) -> Result<RunReport, RunError> {
    let mut ground = workspace.ground_with_spared().await?;
    let check = |ground: &Ground, plan: &Plan| {
        limit::check(workspace, ground, plan, options.yes, options.stale_parents_ok)
    };
    let mut planned = plan(&ground, &options.plan)?;
    check(&ground, &planned)?;
    let mut report = RunReport::default();
    let adoptable = foreign::adoptable(&ground, &planned);
    // Attempts that a killed command left behind are dealt with before new ones begin; and hints for readers by path, also
    // where nothing is left to do.
    let resolved = workspace.warehouse.resolve()?;
    if !resolved.is_empty() {
        observer.event(Event::Resolved(resolved));
    }
    if !(adoptable.is_empty() && planned.tasks.is_empty() && planned.spared.is_empty()) {
        report.request = workspace.warehouse.begin_request(options.request.as_deref())?;
        let ahead = report.request as i64 - workspace.world.now().0 / 1_000;
        if options.request.is_none() && ahead > CLOCK_BEHIND_MS {
            observer.event(Event::ClockBehind { seconds: ahead.unsigned_abs() / 1_000 });
        }
    }
    if !adoptable.is_empty() {
        report.adopted = foreign::adopt(workspace, &ground, &adoptable, report.request, observer)?;
        ground = workspace.ground_with_spared().await?;
        planned = plan(&ground, &options.plan)?;
        check(&ground, &planned)?;
    }
    let plan = Arc::new(planned);
    observer.event(Event::Planned(Arc::clone(&plan)));
    report.hold_back(&ground, &plan, observer);
    if plan.tasks.is_empty() && plan.spared.is_empty() {
        return Ok(report);
    }
    let tables = ground.models.iter().map(|model| TableState::of(model.name.clone())).collect();
    let lease_micros = workspace.project.limits.lease_micros;
    let claims = Claims::start(workspace.warehouse.clone(), options, lease_micros);
    let mut run = Run { workspace, options, observer, stop, report, tables, claims, halted: false };
    for level in levels(&ground) {
        if let Err(error) = run.level(&mut ground, &plan, &level).await {
            return run.end_early(error);
        }
    }
    let mut report = run.report;
    report.interrupted = stop.is_stopped();
    let is_done = report.failed.is_empty() && report.not_begun == 0 && !report.interrupted;
    // What was asked for a range alone is asked again for the rest.
    if is_done && options.plan.allow.gone && options.plan.range.is_open() {
        let reads = plan.tasks.iter().flat_map(|task| &ground.models[task.at].reads);
        workspace.accept_gone(&reads.map(|read| read.input.as_str()).collect())?;
    }
    Ok(report)
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
    claims: Claims,
    /// Whether another run is at work on what comes next: nothing more is begun.
    halted: bool,
}

/// How far the clock may be behind the number of a request, which is that of a clock once, before it is said. In ms.
const CLOCK_BEHIND_MS: i64 = 60_000;

/// How many tasks are claimed at a time: a claim covers what is worked on, never a whole backfill.
const CLAIMED_TASKS: usize = 128;

impl Run<'_> {
    /// Ends the run before its tasks are through: with the error alone where nothing came of it yet, else with all that
    /// did.
    fn end_early(mut self, error: RunError) -> Result<RunReport, RunError> {
        if !self.report.tried_any() {
            return Err(error);
        }
        self.report.interrupted = self.stop.is_stopped();
        self.report.ended_early = Some(error.into());
        Ok(self.report)
    }

    async fn level(&mut self, ground: &mut Ground, plan: &Plan, level: &[usize]) -> Result<(), RunError> {
        let (chained, free): (Vec<usize>, Vec<usize>) =
            level.iter().partition(|at| ground.models[**at].reads_previous());
        spare::look(self.workspace, ground, free.iter().copied()).await;
        let (due, spared) = self.due(ground, plan, &free);
        let mut failed: BTreeSet<(usize, Interval)> = BTreeSet::new();
        if self.halted {
            let behind = plan.tasks.iter().filter(|task| chained.contains(&task.at)).count();
            self.report.not_begun += due.len() + behind;
            return Ok(());
        }
        self.restamp(ground, spared).await?;
        self.prepare_tables(ground, &due)?;
        let crew = Crew {
            publisher: Publisher::start(self.workspace.warehouse.clone(), self.options.single_commits),
            permits: Arc::new(Semaphore::new(self.options.jobs.max(1))),
        };
        for chunk in due.chunks(CLAIMED_TASKS) {
            self.work(ground, chunk, &crew, &mut failed).await?;
        }
        self.chains(ground, plan, &chained, &crew, &mut failed).await?;
        drop(crew);
        for at in level {
            self.workspace.refresh(&mut ground.models[*at])?;
            self.tables[*at] = self.state_after(ground, *at, &failed);
        }
        Ok(())
    }

    /// Claims a batch of tasks, and says whether another run had to be waited for; `None` where one holds any of them:
    /// then nothing more is begun.
    async fn claim(
        &mut self,
        ground: &Ground,
        batch: &[(&Task, Assessment)],
    ) -> Result<Option<bool>, RunError> {
        if self.halted {
            self.report.not_begun += batch.len();
            return Ok(None);
        }
        let slice = |(task, _): &(&Task, Assessment)| (ground.models[task.at].sliced.clone(), task.interval);
        let slices = batch.iter().map(slice).collect();
        match self.claims.take(self.report.request, slices, self.observer, self.stop).await? {
            Asked::Granted { waited } => return Ok(Some(waited)),
            Asked::Stopped => {}
            Asked::Held(claim) => {
                let stands = |task: &Task| claim.touches(&ground.models[task.at].sliced, task.interval);
                let mut in_the_way = batch.iter().map(|(task, _)| *task).filter(|task| stands(task));
                self.report.not_begun += batch.len();
                if let Some(first) = in_the_way.next() {
                    let error = claims::held(&claim, in_the_way.count());
                    let failure = Failed::from(error).of(&first.model, first.interval, first.label.clone());
                    self.observer.event(Event::Failed(failure.clone()));
                    self.report.failed.push(failure);
                    // It speaks for the others, and counts once.
                    self.report.not_begun -= 1;
                }
                self.halted = true;
            }
        }
        Ok(None)
    }

    /// The tasks of a batch that still have to be done, now that nobody else can be at them: those that another run
    /// published since they were planned are looked at again, and all of them where it had to be `waited` for.
    fn still_due<'p>(
        &mut self,
        ground: &mut Ground,
        batch: &[(&'p Task, Assessment)],
        waited: bool,
        failed: &mut BTreeSet<(usize, Interval)>,
    ) -> Result<Vec<(&'p Task, Assessment)>, RunError> {
        if waited {
            // Others were at work: on these tables, and maybe on what they read.
            ground.models.iter_mut().try_for_each(|model| self.workspace.refresh(model))?;
        }
        let mut by_model: BTreeMap<usize, Vec<Interval>> = BTreeMap::new();
        for (task, _) in batch {
            by_model.entry(task.at).or_default().push(task.interval);
        }
        let (mut owners, mut gone) = (BTreeMap::new(), BTreeSet::new());
        for (at, intervals) in by_model {
            if rebuild::is_gone(self.workspace, &ground.models[at].name)? {
                gone.insert(at);
            }
            let found = self.workspace.warehouse.owners(&ground.models[at].sliced, &intervals)?;
            let differs = |(task, seen): &(&Task, Assessment)| {
                task.at == at && found.get(&task.interval).copied() != seen.owner
            };
            if batch.iter().any(differs) {
                self.workspace.refresh(&mut ground.models[at])?;
            }
            owners.insert(at, found);
        }
        let mut due = Vec::with_capacity(batch.len());
        for (task, seen) in batch {
            if gone.contains(&task.at) {
                self.done_elsewhere(task);
                continue;
            }
            if !waited && owners[&task.at].get(&task.interval).copied() == seen.owner {
                due.push((*task, seen.clone()));
                continue;
            }
            let subject = ground.subject(task.at, &self.tables, self.options.plan.allow);
            // Of a chain, the slice before is settled: only then is a task begun.
            let assessment = subject.assess(task.interval, &Before::Settled);
            match &assessment.verdict {
                Verdict::Due(_) => due.push((*task, assessment)),
                Verdict::Fresh => self.done_elsewhere(task),
                verdict => {
                    self.left(task, verdict);
                    if let Verdict::Held(..) = verdict
                        && ground.models[task.at].reads_previous()
                    {
                        // Nothing behind it in its chain may run.
                        failed.insert((task.at, task.interval));
                    }
                }
            }
        }
        Ok(due)
    }

    fn done_elsewhere(&mut self, task: &Task) {
        self.report.elsewhere += 1;
        let (model, label) = (task.model.clone(), task.label.clone());
        self.observer.event(Event::Elsewhere { model, label });
    }

    /// Works on tasks side by side, until all of them are done.
    async fn work(
        &mut self,
        ground: &mut Ground,
        tasks: &[(&Task, Assessment)],
        crew: &Crew,
        failed: &mut BTreeSet<(usize, Interval)>,
    ) -> Result<(), RunError> {
        let ended = self.stop.is_stopped() || self.too_many_failures();
        let claimed = if ended { None } else { self.claim(ground, tasks).await? };
        let Some(waited) = claimed else {
            failed.extend(tasks.iter().map(|(task, _)| (task.at, task.interval)));
            return Ok(());
        };
        let tasks = self.still_due(ground, tasks, waited, failed)?;
        let slice = |task: &Task| {
            let model = &ground.models[task.at];
            (model.sliced.clone(), task.interval, model.code)
        };
        let slices: Vec<_> = tasks.iter().map(|(task, _)| slice(task)).collect();
        let attempts = self.workspace.warehouse.begin_attempts(self.report.request, &slices)?;
        let mut running = JoinSet::new();
        crew.publisher.expect(tasks.len());
        for ((task, assessment), attempt) in tasks.iter().zip(attempts) {
            let job = Job {
                workspace: Arc::clone(self.workspace),
                observer: Arc::clone(self.observer),
                stop: self.stop.clone(),
                permits: Arc::clone(&crew.permits),
                publisher: crew.publisher.clone(),
                task: (*task).clone(),
                code_seen: ground.models[task.at].code_seen,
                assessment: assessment.clone(),
                attempt,
                claim_lost: self.claims.lost(),
                allow: self.options.plan.allow,
            };
            running.spawn(job.run());
        }
        let mut died = None;
        // To the last one, whatever happens: what is on its way is published all the same.
        while let Some(done) = running.join_next().await {
            match done {
                Ok(done) => self.account(done, failed),
                Err(panic) => died = Some(panic),
            }
        }
        self.claims.release();
        match died {
            None => Ok(()),
            Some(panic) => Err(RunError::new(ErrorKind::Internal, format!("a task ended early: {panic}"))
                .help("please report this")),
        }
    }

    /// Works on models whose slices read the one before: one slice of each at a time, in order. What comes out decides
    /// whether the next one has anything to do.
    async fn chains(
        &mut self,
        ground: &mut Ground,
        plan: &Plan,
        models: &[usize],
        crew: &Crew,
        failed: &mut BTreeSet<(usize, Interval)>,
    ) -> Result<(), RunError> {
        let tasks = |at: &usize| {
            let at = *at;
            Chain { tasks: plan.tasks.iter().filter(|task| task.at == at).collect(), stuck: None }
        };
        let mut chains: Vec<Chain<'_>> = models.iter().map(tasks).collect();
        let mut prepared: BTreeSet<usize> = BTreeSet::new();
        loop {
            if self.halted {
                self.report.not_begun += chains.iter().map(|chain| chain.tasks.len()).sum::<usize>();
                return Ok(());
            }
            let wave: Vec<_> = chains.iter_mut().filter_map(|chain| self.next(ground, chain)).collect();
            if wave.is_empty() {
                return Ok(());
            }
            if wave.iter().filter(|(task, _)| prepared.insert(task.at)).count() > 0 {
                self.prepare_tables(ground, &wave)?;
            }
            self.work(ground, &wave, crew, failed).await?;
            for (task, _) in &wave {
                self.workspace.refresh_slice(&mut ground.models[task.at], task.interval)?;
                let own = |chain: &&mut Chain<'_>| chain.tasks.front().is_some_and(|next| next.at == task.at);
                if let Some(chain) = chains.iter_mut().find(own)
                    && failed.contains(&(task.at, task.interval))
                {
                    chain.stuck.get_or_insert(task.interval);
                }
            }
        }
    }

    /// The next task of a chain that has something to do; those before it are reported.
    fn next<'p>(&mut self, ground: &Ground, chain: &mut Chain<'p>) -> Option<(&'p Task, Assessment)> {
        while let Some(task) = chain.tasks.pop_front() {
            let subject = ground.subject(task.at, &self.tables, self.options.plan.allow);
            let before = chain.stuck.map_or(Before::Settled, Before::Stuck);
            let mut assessment = subject.assess(task.interval, &before);
            if let (Verdict::Fresh | Verdict::Reported(_), Some(interval)) =
                (&assessment.verdict, chain.stuck)
            {
                // It was planned because the one before it might change, and that is not known now.
                let hold = Hold::Blocked { by: task.model.to_string(), interval };
                assessment.verdict = Verdict::Held(task.reason.clone(), hold);
            }
            match &assessment.verdict {
                Verdict::Due(_) => return Some((task, assessment)),
                Verdict::Held(..) => {
                    chain.stuck.get_or_insert(task.interval);
                }
                Verdict::Fresh | Verdict::Reported(_) | Verdict::Spared(_) => {}
            }
            self.left(task, &assessment.verdict);
        }
        None
    }

    /// Reports a planned task that is not worked on.
    fn left(&mut self, task: &Task, verdict: &Verdict) {
        let (model, label) = (task.model.clone(), task.label.clone());
        match verdict {
            Verdict::Held(reason, hold) => {
                let (reason, hold) = (reason.clone(), hold.clone());
                let held = Held { at: task.at, model, interval: task.interval, label, reason, hold };
                self.observer.event(Event::Blocked(held.clone()));
                self.report.blocked.push(held);
            }
            _ => {
                self.report.cut_off += 1;
                self.observer.event(Event::CutOff { model, label });
            }
        }
    }

    /// The level's tasks with their inputs pinned, and the slices that get another stamp alone; tasks that turned out to
    /// have nothing to do, or can't run, are reported and left out.
    fn due<'p>(
        &mut self,
        ground: &Ground,
        plan: &'p Plan,
        level: &[usize],
    ) -> (Vec<(&'p Task, Assessment)>, Vec<Sparing>) {
        let (mut due, mut spared) = (Vec::new(), Vec::new());
        for at in level {
            let subject = ground.subject(*at, &self.tables, self.options.plan.allow);
            let own = plan.tasks.iter().filter(|task| task.at == *at);
            let assessed: Vec<_> =
                own.map(|task| (task, subject.assess(task.interval, &Before::Settled))).collect();
            let known = plan.spared.iter().filter(|slice| slice.at == *at);
            let known = known
                .map(|slice| (slice.label.clone(), subject.assess(slice.interval, &Before::Settled)))
                // Another run may have been there.
                .filter(|(_, assessment)| matches!(assessment.verdict, Verdict::Spared(_)));
            spared.extend(known.map(|(label, assessment)| Sparing { at: *at, label, assessment }));
            for (task, assessment) in assessed {
                match &assessment.verdict {
                    Verdict::Due(_) => due.push((task, assessment)),
                    Verdict::Spared(_) => {
                        spared.push(Sparing { at: *at, label: task.label.clone(), assessment });
                    }
                    verdict => self.left(task, verdict),
                }
            }
        }
        (due, spared)
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

    fn account(&mut self, done: Done, failed: &mut BTreeSet<(usize, Interval)>) {
        self.report.ties.extend(done.ties);
        match done.result {
            Ok(Outcome::Published) => {
                self.report.published += 1;
                self.report.rows += done.rows;
            }
            Ok(Outcome::Unchanged) => self.report.unchanged += 1,
            Ok(Outcome::Audited) => self.report.audited += 1,
            Err(failure) => {
                failed.insert((done.at, failure.interval));
                // What is unknown stays open: `resolve` finds out what became of it.
                if failure.state != SliceState::Unknown {
                    let end = AttemptEnd {
                        id: done.attempt,
                        state: AttemptState::Failed,
                        error: Some(failure.message.clone()),
                    };
                    // What can't be recorded now is found by `resolve`, too.
                    let _ = self.workspace.warehouse.end_attempts(&[end]);
                }
                if !self.stop.is_stopped() {
                    self.observer.event(Event::Failed(failure.clone()));
                    self.report.failed.push(failure);
                }
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
        let mut before = Before::Settled;
        for interval in due.iter().map(|slot| slot.interval) {
            let exists = subject.stamp(interval).is_some();
            let verdict = subject.verdict(interval, &before);
            let hold = if failed.contains(&(at, interval)) {
                before = Before::Stuck(interval);
                Some(Hold::Blocked { by: model.name.to_string(), interval })
            } else {
                before = subject.standing(interval, &verdict, &before, false);
                match verdict {
                    Verdict::Held(_, hold) if !keeps_serving(&hold, exists) => Some(hold),
                    Verdict::Held(_, Hold::Rebuild { .. }) => None,
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

/// Who works on a level.
struct Crew {
    publisher: Publisher,
    permits: Arc<Semaphore>,
}

/// Tasks of a model whose slices read the one before, in order.
struct Chain<'p> {
    tasks: VecDeque<&'p Task>,
    /// The first slice that could not be worked on: nothing behind it can.
    stuck: Option<Interval>,
}
