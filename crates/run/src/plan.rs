//! The plan: which slices need work, why, in which order, and which are held back. A pure function of its ground.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use oncemore_core::{Interval, TableName};
use serde::Serialize;

use crate::assess::{Allow, Before, Subject, TableState, Verdict};
pub use crate::assess::{Hold, Reason};
use crate::due::{Label, Slot};
use crate::error::RunError;
use crate::ground::Ground;
use crate::select::{Candidate, RangeRequest, Selection};

/// What a user asks to have planned.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// Range of time.
    pub range: RangeRequest,
    /// Models.
    pub selection: Selection,
    /// Reasons to keep, as words; none: all.
    pub reasons: Vec<String>,
    /// What is allowed.
    pub allow: Allow,
    /// Newest intervals first.
    pub newest_first: bool,
}

/// One slice to be worked on.
#[derive(Clone, Debug, Serialize)]
pub struct Task {
    /// Position of the model in the ground.
    #[serde(skip)]
    pub at: usize,
    /// The table.
    pub model: TableName,
    /// The slice's interval.
    pub interval: Interval,
    /// The interval as people write it.
    pub label: Label,
    /// Why.
    pub reason: Reason,
}

/// One slice that is held back.
#[derive(Clone, Debug, Serialize)]
pub struct Held {
    /// Position of the model in the ground.
    #[serde(skip)]
    pub at: usize,
    /// The table.
    pub model: TableName,
    /// The slice's interval.
    pub interval: Interval,
    /// The interval as people write it.
    pub label: Label,
    /// Why it would be worked on.
    pub reason: Reason,
    /// Why it is not.
    pub hold: Hold,
}

/// One slice that is not what running it now would give, because of inputs whose changes are reported alone.
#[derive(Clone, Debug, Serialize)]
pub struct Reported {
    /// The table.
    pub model: TableName,
    /// The slice's interval.
    pub interval: Interval,
    /// The interval as people write it.
    pub label: Label,
    /// The inputs that differ.
    pub inputs: Vec<String>,
}

/// One slice that changes of its inputs spare: a run gives it another stamp, and computes nothing.
#[derive(Clone, Debug, Serialize)]
pub struct Spared {
    /// Position of the model in the ground.
    #[serde(skip)]
    pub at: usize,
    /// The table.
    pub model: TableName,
    /// The slice's interval.
    pub interval: Interval,
    /// The interval as people write it.
    pub label: Label,
    /// The inputs that differ, in keys alone that the slice does not look up.
    pub inputs: Vec<String>,
}

/// A rebuild that was begun and not ended: `oncemore rebuild` goes on with it.
#[derive(Clone, Debug, Serialize)]
pub struct Unfinished {
    /// The table that goes on being read meanwhile.
    pub model: TableName,
    /// Slices that are built.
    pub slices: usize,
}

/// A parent that needs work itself and was left out of the selection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct StaleParent {
    /// The parent.
    pub parent: String,
    /// The selected model that reads it.
    pub reader: String,
}

/// Counts of one model.
#[derive(Clone, Debug, Serialize)]
pub struct ModelSummary {
    /// The table.
    pub model: TableName,
    /// Intervals that are due.
    pub due: usize,
    /// Of those, with nothing to do.
    pub fresh: usize,
    /// Of those, with nothing to do but for inputs whose changes are reported alone.
    pub reported: usize,
    /// Of those, with nothing to compute: inputs changed in keys alone that they do not look up.
    pub spared: usize,
    /// Tasks planned.
    pub tasks: usize,
    /// Slices held back.
    pub held: usize,
}

/// What is to be done.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Plan {
    /// The range asked for, in the zone of the first model that has one.
    pub range: Option<String>,
    /// Counts by model, in topological order.
    pub models: Vec<ModelSummary>,
    /// Tasks in topological order, then by interval.
    pub tasks: Vec<Task>,
    /// Slices held back.
    pub held: Vec<Held>,
    /// Slices whose inputs changed in a way that is reported alone.
    pub reported: Vec<Reported>,
    /// Slices that changes of their inputs spare: they get another stamp.
    pub spared: Vec<Spared>,
    /// Rebuilds that were begun and not ended.
    pub rebuilds: Vec<Unfinished>,
    /// Parents that need work and are not selected.
    pub stale_parents: BTreeSet<StaleParent>,
}

impl Plan {
    /// Tasks that code or a dimension causes: those that nobody wants to pay for by accident.
    pub fn guarded(&self, ground: &Ground) -> usize {
        let is_dimension = |name: &String| {
            let model = ground.position(name).map(|at| &ground.models[at]);
            model.is_some_and(|model| model.calendar.is_none() || model.is_folded())
        };
        self.tasks
            .iter()
            .filter(|task| match &task.reason {
                Reason::Code { .. } => true,
                Reason::Input { inputs, .. } => inputs.iter().any(is_dimension),
                _ => false,
            })
            .count()
    }
}

/// Plans what `options` ask for on `ground`.
///
/// # Errors
/// A selection that matches nothing, or a range that can't be.
pub fn plan(ground: &Ground, options: &PlanOptions) -> Result<Plan, RunError> {
    let names: Vec<String> = ground.models.iter().map(|model| model.name.to_string()).collect();
    let candidates: Vec<Candidate<'_>> = ground
        .models
        .iter()
        .zip(&names)
        .map(|(model, name)| Candidate {
            name,
            tags: &model.tags,
            parents: model.reads.iter().filter_map(|read| ground.position(&read.input)).collect(),
        })
        .collect();
    let selected = options.selection.resolve(&candidates)?;
    let mut plan = Plan::default();
    let mut tables: Vec<TableState> = Vec::with_capacity(ground.models.len());
    for at in 0..ground.models.len() {
        let state = plan_model(ground, at, &tables, options, selected.contains(&at), &mut plan)?;
        tables.push(state);
    }
    if options.newest_first {
        plan.tasks.sort_by(|a, b| match a.at.cmp(&b.at) {
            // What reads the slice before goes forward in time, whatever is wished.
            Ordering::Equal if ground.models[a.at].reads_previous() => a.interval.cmp(&b.interval),
            Ordering::Equal => b.interval.cmp(&a.interval),
            other => other,
        });
    }
    Ok(plan)
}

fn plan_model(
    ground: &Ground,
    at: usize,
    tables: &[TableState],
    options: &PlanOptions,
    selected: bool,
    plan: &mut Plan,
) -> Result<TableState, RunError> {
    let slots = ground.due(at);
    let range = asked_range(ground, at, options, plan)?;
    let allow = if selected { options.allow } else { Allow { force: false, ..options.allow } };
    let model = &ground.models[at];
    let mut pass = Pass {
        ground,
        at,
        tables,
        options,
        selected,
        range,
        subject: ground.subject(at, tables, allow),
        state: model.state(&slots),
        before: Before::Settled,
        summary: ModelSummary {
            model: model.name.clone(),
            due: slots.len(),
            fresh: 0,
            reported: 0,
            spared: 0,
            tasks: 0,
            held: 0,
        },
        plan,
    };
    for slot in slots.iter() {
        pass.slice(slot);
    }
    if selected {
        pass.plan.models.push(pass.summary);
        let unfinished = model.rebuild.map(|slices| Unfinished { model: model.name.clone(), slices });
        pass.plan.rebuilds.extend(unfinished);
    }
    Ok(pass.state)
}

/// One model's slices on their way into the plan.
struct Pass<'a> {
    ground: &'a Ground,
    at: usize,
    tables: &'a [TableState],
    options: &'a PlanOptions,
    selected: bool,
    range: Option<Interval>,
    subject: Subject<'a>,
    state: TableState,
    /// How the slice before the one at hand stands.
    before: Before,
    summary: ModelSummary,
    plan: &'a mut Plan,
}

impl Pass<'_> {
    fn slice(&mut self, slot: &Slot) {
        let interval = slot.interval;
        let inside = self.range.is_none_or(|range| range.covers(interval));
        let touched = !inside && self.range.is_some_and(|range| range.overlaps(interval));
        let before = std::mem::take(&mut self.before);
        let verdict = match self.subject.verdict(interval, &before) {
            Verdict::Due(Reason::Forced) if !inside => Verdict::Fresh,
            verdict => verdict,
        };
        let wanted = self.is_wanted(&verdict);
        self.before = self.subject.standing(interval, &verdict, &before, wanted && inside);
        let (reason, hold) = match verdict {
            Verdict::Fresh => return self.fresh(interval, inside),
            Verdict::Reported(inputs) => return self.report(slot, inputs, inside || touched),
            Verdict::Spared(inputs) => return self.spare(slot, inputs, inside),
            Verdict::Due(reason) => (reason, None),
            Verdict::Held(reason, hold) => (reason, Some(hold)),
        };
        let exists = self.subject.stamp(interval).is_some();
        match hold {
            Some(hold) => {
                if !keeps_serving(&hold, exists) {
                    self.state.unavailable.insert(interval, hold.clone());
                }
                if wanted && (inside || touched) {
                    self.hold(slot, reason, hold);
                }
            }
            None if wanted && inside => self.task(slot, reason, &before),
            None => {
                let columns = self.subject.columns(interval, &reason, &before);
                leave_out(&mut self.state, interval, exists, &reason, columns);
                if wanted && touched {
                    let what = "a range that covers all of it".to_owned();
                    self.hold(slot, reason, Hold::Waiting { what });
                }
            }
        }
    }

    fn fresh(&mut self, interval: Interval, inside: bool) {
        self.summary.fresh += 1;
        self.stays(interval, inside);
    }

    /// Nothing is to be done, unless for what was left out before it: its readers are told, as of what was left out.
    fn stays(&mut self, interval: Interval, inside: bool) {
        if self.subject.rests_on_stale(interval) {
            self.state.left_out.add(interval, None);
            if self.selected && inside {
                note_stale_parents(self.ground, self.at, self.tables, interval, self.plan);
            }
        }
    }

    fn report(&mut self, slot: &Slot, inputs: Vec<String>, asked: bool) {
        self.summary.reported += 1;
        if self.selected && asked {
            let (model, label) = (self.summary.model.clone(), slot.label.clone());
            self.plan.reported.push(Reported { model, interval: slot.interval, label, inputs });
        }
    }

    fn spare(&mut self, slot: &Slot, inputs: Vec<String>, inside: bool) {
        self.summary.spared += 1;
        self.stays(slot.interval, inside);
        let reason = Reason::Input { inputs: Vec::new(), certain: true };
        if inside && self.is_asked(&reason) {
            let (at, model, label) = (self.at, self.summary.model.clone(), slot.label.clone());
            self.plan.spared.push(Spared { at, model, interval: slot.interval, label, inputs });
        }
    }

    fn is_wanted(&self, verdict: &Verdict) -> bool {
        let (Verdict::Due(reason) | Verdict::Held(reason, _)) = verdict else { return false };
        self.is_asked(reason)
    }

    /// Whether work for this reason is asked for.
    fn is_asked(&self, reason: &Reason) -> bool {
        let reasons = &self.options.reasons;
        self.selected && (reasons.is_empty() || reasons.iter().any(|word| word == reason.word()))
    }

    fn task(&mut self, slot: &Slot, reason: Reason, before: &Before) {
        note_stale_parents(self.ground, self.at, self.tables, slot.interval, self.plan);
        self.state.pending.add(slot.interval, self.subject.columns(slot.interval, &reason, before));
        self.summary.tasks += 1;
        let model = self.summary.model.clone();
        let label = slot.label.clone();
        self.plan.tasks.push(Task { at: self.at, model, interval: slot.interval, label, reason });
    }

    fn hold(&mut self, slot: &Slot, reason: Reason, hold: Hold) {
        self.summary.held += 1;
        let model = self.summary.model.clone();
        let label = slot.label.clone();
        self.plan.held.push(Held { at: self.at, model, interval: slot.interval, label, reason, hold });
    }
}

/// Whether a held slice still holds what its readers may go on reading.
pub(crate) fn keeps_serving(hold: &Hold, exists: bool) -> bool {
    match hold {
        // Slices of the old table are cut otherwise, if it has any.
        Hold::Rebuild { .. } => true,
        Hold::Gone { .. } | Hold::OlderCode { .. } | Hold::Waiting { .. } => exists,
        Hold::Blocked { .. }
        | Hold::Foreign { .. }
        | Hold::Broken { .. }
        | Hold::Missing { .. }
        | Hold::Damaged(_) => false,
    }
}

/// A slice that needs work and is not going to get it: its readers are told, or can't run where it never ran.
fn leave_out(
    state: &mut TableState,
    interval: Interval,
    exists: bool,
    reason: &Reason,
    columns: Option<Arc<[String]>>,
) {
    let certain = !matches!(reason, Reason::Input { certain: false, .. } | Reason::Audits | Reason::Forced);
    if !exists {
        let hold = Hold::Blocked { by: state.name.to_string(), interval };
        state.unavailable.insert(interval, hold);
    } else if certain {
        state.left_out.add(interval, columns);
    }
}

fn note_stale_parents(
    ground: &Ground,
    at: usize,
    tables: &[TableState],
    interval: Interval,
    plan: &mut Plan,
) {
    let model = &ground.models[at];
    for read in &model.reads {
        let Some(parent) = ground.position(&read.input) else { continue };
        let table = &tables[parent];
        if table.left_out.is_empty() {
            continue;
        }
        let range = read.range(interval, &model.zone(), &ground.models[parent].zone());
        if range.is_some_and(|range| table.left_out.touch(range, read.columns.as_deref())) {
            plan.stale_parents
                .insert(StaleParent { parent: table.name.to_string(), reader: model.name.to_string() });
        }
    }
}

fn asked_range(
    ground: &Ground,
    at: usize,
    options: &PlanOptions,
    plan: &mut Plan,
) -> Result<Option<Interval>, RunError> {
    if options.range.is_open() {
        return Ok(None);
    }
    let model = &ground.models[at];
    let Some(calendar) = &model.calendar else { return Ok(None) };
    let range = options.range.resolve(calendar)?;
    if range.end() > ground.now && range.end() != oncemore_core::Instant::MAX {
        return Err(RunError::usage(
            format!("the range ends in the future, at {}", range.end()),
            "only intervals that have ended can run: give an earlier `--to`",
        ));
    }
    if plan.range.is_none() {
        let days = (range.end().0.saturating_sub(range.start().0)) as f64 / 86_400e6;
        plan.range = Some(format!(
            "{} to {} ({days:.0} days, {})",
            calendar.zone.wall(range.start()),
            calendar.zone.wall(range.end()),
            calendar.zone
        ));
    }
    Ok(Some(range))
}
