//! Builds a model's table anew beside the old one and has it take its place: for a changed key, order, kind or interval
//! length, which stored rows can't follow, and from scratch for any other reason.
//!
//! The model is in the project once more as `<name>__rebuild`, and is run as any: slice by slice, claimed, audited,
//! published, and fresh when it is. So a rebuild that was killed goes on where it was. The old table is read by
//! everybody until, all slices being there, one swap of pointers ends it. What the swap itself does is `commit`'s.

mod reach;

use std::collections::BTreeSet;
use std::sync::Arc;

use oncemore_commit::{CommitError, Swapped};
use oncemore_core::{Interval, REBUILD, TableName};
use oncemore_project::{Kind, Model, Project};
use serde::Serialize;

use crate::error::{ErrorKind, RunError, rebuild_help};
use crate::execute::{Observer, RunOptions, RunReport, Stop, run};
use crate::fold;
use crate::ground::{Ground, ModelGround};
use crate::limit;
use crate::number::{bytes, plural, seconds};
use crate::plan::{Held, Hold, Plan, PlanOptions, plan};
use crate::select::Selection;
use crate::workspace::Workspace;

/// How often what changed while a rebuild ran is taken in before it is given up.
const ROUNDS: usize = 5;

/// What a rebuild is going to do.
#[derive(Debug, Serialize)]
pub struct Prepared {
    /// The model.
    pub model: TableName,
    /// The table that is built beside its own.
    pub table: TableName,
    /// Slices that it is to have.
    pub due: usize,
    /// Of those, the ones that an earlier rebuild left ready.
    pub ready: usize,
    /// First and last interval, as people write them.
    pub range: Option<(String, String)>,
    /// Whether an earlier rebuild to another shape was given up.
    pub begun_anew: bool,
    /// What is to be done.
    pub plan: Plan,
}

/// What a rebuild did.
#[derive(Debug, Serialize)]
pub struct Rebuilt {
    /// The model.
    pub model: TableName,
    /// Whether the new table has taken the old one's place.
    pub swapped: bool,
    /// Tables that the model has no more.
    pub removed: Vec<TableName>,
    /// Slices of the old table that lie where the new one has none.
    pub outside: usize,
    /// Slices that keep the new table from its place, and why.
    pub missing: Vec<Held>,
    /// What was run.
    pub run: RunReport,
}

impl Rebuilt {
    /// The exit code: that of the run; where it went well and the tables were not swapped, that of a conflict.
    pub fn exit_code(&self) -> u8 {
        match self.run.exit_code() {
            0 if !self.swapped => ErrorKind::Conflict.exit_code(),
            code => code,
        }
    }
}

/// Puts the model that is to be built anew into its project once more.
pub(crate) fn add(project: &mut Project, model: &str) -> Result<(), RunError> {
    match project.model(model).map(|model| model.kind) {
        Some(Kind::View) => {
            return Err(RunError::usage(
                format!("`{model}` is a view: it has no rows that could be built"),
                "name a model that reads it",
            ));
        }
        Some(_) => {}
        None => {
            let known: Vec<String> = project.models.iter().map(|model| model.name.to_string()).collect();
            let near = oncemore_project::nearest(model, known.iter().map(String::as_str));
            return Err(RunError::usage(
                format!("no table is called `{model}`"),
                near.map_or_else(
                    || "`oncemore status` lists them".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                ),
            ));
        }
    }
    let added = project.add_rebuild(model).map_err(|_| {
        RunError::usage(
            format!("`{model}` is too long a name: `{model}{REBUILD}` would be a table, too"),
            "give the model a shorter name: its table is built anew by that, too",
        )
    })?;
    added.map(|_| ()).ok_or_else(|| RunError::new(ErrorKind::Internal, format!("`{model}` can't be found")))
}

/// Why the table of a model has to be built anew. Asked only where some of it was written by other code or with other
/// columns: the answer costs a look at the table.
pub(crate) fn misfit(
    workspace: &Workspace,
    model: &Model,
    own: &ModelGround,
) -> Result<Option<String>, RunError> {
    let same = own.stamps.iter().all(|stamp| stamp.code == own.code && stamp.schema == own.schema);
    // A table that was begun and holds no slice has columns, too.
    if !same || own.stamps.is_empty() {
        let why = shape_misfit(workspace, model)?;
        if why.is_some() {
            return Ok(why);
        }
    }
    let mut others = own.stamps.iter().filter(|stamp| stamp.code != own.code);
    let other = others.find(|stamp| !is_cut(model, stamp.interval));
    Ok(other.map(|stamp| {
        let now = match &model.calendar {
            Some(calendar) => format!("`interval` is now {} in {}", calendar.length, calendar.zone),
            None => "the model is now one slice".to_owned(),
        };
        let label = match &model.calendar {
            Some(calendar) if !stamp.interval.is_whole() => reach::from_to(calendar, stamp.interval),
            _ if stamp.interval.is_whole() => "all".to_owned(),
            _ => stamp.interval.to_string(),
        };
        format!("`{}` is cut otherwise: it has the slice {label}, and {now}", own.sliced)
    }))
}

/// Why the table of a model can't become what the model is now, however it is cut.
pub(crate) fn shape_misfit(workspace: &Workspace, model: &Model) -> Result<Option<String>, RunError> {
    let Some(facts) = workspace.facts.get(model.name.as_str()) else { return Ok(None) };
    let warehouse = &workspace.warehouse;
    Ok(match &model.fold {
        Some(folded) => {
            let spec = fold::spec(model, folded, &facts.schema);
            warehouse.fold_misfit(&folded.log, &facts.schema, folded.deleted.is_some(), &spec)?
        }
        None => warehouse.table_misfit(&model.name, &facts.schema)?,
    })
}

/// Whether a slice is one of those that the model has.
fn is_cut(model: &Model, interval: Interval) -> bool {
    match &model.calendar {
        Some(calendar) => !interval.is_whole() && calendar.containing(interval.start()) == interval,
        None => interval.is_whole(),
    }
}

/// Whether a table that is built anew is not there any more: another process put it in its place, or gave it up.
pub(crate) fn is_gone(workspace: &Workspace, table: &TableName) -> Result<bool, RunError> {
    let is_built = workspace.model(table.as_str()).is_some_and(|model| model.rebuilds.is_some());
    Ok(is_built && !workspace.warehouse.tables()?.contains(table))
}

/// What a slice says of a table that is gone meanwhile.
pub(crate) fn overtaken(table: &TableName) -> RunError {
    RunError::new(
        ErrorKind::Conflict,
        format!("another rebuild has put `{table}` in its place meanwhile, or given it up"),
    )
    .help("`oncemore plan` says what is left to do")
}

/// How many slices a rebuild of the model holds that was begun and not ended.
pub(crate) fn unfinished(
    workspace: &Workspace,
    model: &Model,
    tables: &BTreeSet<TableName>,
) -> Result<Option<usize>, RunError> {
    let Ok(built) = model.name.with_ending(REBUILD) else { return Ok(None) };
    if model.rebuilds.is_some() || !tables.contains(&built) {
        return Ok(None);
    }
    let sliced = model.sliced().with_ending(REBUILD).unwrap_or(built);
    match workspace.warehouse.stamps(&sliced) {
        // It can be given up: the table that it is to replace does not depend on it.
        Err(CommitError::Damaged { .. }) => Ok(Some(0)),
        stamps => Ok(Some(stamps?.len())),
    }
}

/// The refusal of a model whose table has to be built anew.
pub(crate) fn needed(model: &TableName, why: &str) -> RunError {
    RunError::new(ErrorKind::Config, why).help(rebuild_help(model))
}

/// Where a model and what is built beside it are in the ground.
struct Places {
    /// The model.
    own: usize,
    /// What is built.
    built: usize,
}

fn places(workspace: &Workspace, ground: &Ground) -> Result<Places, RunError> {
    let own = workspace.options.rebuild.as_deref().unwrap_or_default();
    let found = ground.position(own).zip(ground.position(&format!("{own}{REBUILD}")));
    let found = found.map(|(own, built)| Places { own, built });
    found.ok_or_else(|| RunError::new(ErrorKind::Internal, format!("`{own}` is not opened to be built anew")))
}

/// The options of a run that builds the table.
fn building(options: &RunOptions, table: &TableName) -> RunOptions {
    let selection = Selection { include: vec![table.to_string()], exclude: Vec::new() };
    let plan = PlanOptions {
        selection,
        allow: options.plan.allow,
        newest_first: options.plan.newest_first,
        ..PlanOptions::default()
    };
    // Asked before, for all of it.
    RunOptions { plan, yes: true, ..options.clone() }
}

/// Looks at what there is to do: gives up an earlier rebuild to another shape, or with `again` any, and refuses what can't
/// end well.
///
/// # Errors
/// No interval that is due; somebody else's rows in the table, unless `options.plan.allow.foreign`; slices with rows
/// that the new table can't have, or more tasks than `limits.tasks`, unless `options.yes`; stale parents, unless they
/// are to be read as they are.
pub fn prepare(workspace: &Workspace, options: &RunOptions, again: bool) -> Result<Prepared, RunError> {
    let mut ground = workspace.ground()?;
    let at = places(workspace, &ground)?;
    let (model, table) = (ground.models[at.own].name.clone(), ground.models[at.built].name.clone());
    if !options.plan.allow.foreign {
        refuse_foreign(workspace, &ground.models[at.own])?;
    }
    reach::refuse_nothing(&ground, &at)?;
    if !options.yes {
        reach::refuse_loss(workspace, &ground, &at)?;
    }
    let mut begun_anew = false;
    if again || ground.models[at.built].misfit.is_some() {
        begun_anew = workspace.warehouse.drop_rebuild(&model)?;
        ground = workspace.ground()?;
    }
    let plan = plan(&ground, &building(options, &table).plan)?;
    if !plan.stale_parents.is_empty() && !options.stale_parents_ok {
        return Err(stale_parents(&plan));
    }
    let limit = workspace.project.limits.tasks;
    if plan.tasks.len() as u64 > limit && !options.yes {
        return Err(too_many(workspace, &ground, &at, &model, &plan)?);
    }
    let due = ground.due(at.built);
    let range = due.first().zip(due.last()).filter(|_| ground.models[at.built].calendar.is_some());
    let range = range.map(|(first, last)| (first.label.to_string(), last.label.to_string()));
    let ready = plan.models.iter().map(|summary| summary.fresh + summary.reported).sum();
    Ok(Prepared { model, table, due: due.len(), ready, range, begun_anew, plan })
}

fn refuse_foreign(workspace: &Workspace, own: &ModelGround) -> Result<(), RunError> {
    for table in [&own.name, &own.sliced] {
        if let Some(found) = workspace.warehouse.foreign_changes(table)?.into_iter().next() {
            let detail = format!("somebody else wrote into `{table}`: {}", found.detail);
            return Err(of_foreign(&own.name, detail));
        }
    }
    Ok(())
}

fn of_foreign(model: &TableName, detail: String) -> RunError {
    RunError::new(ErrorKind::Conflict, detail).help(format!(
        "a rebuild leaves those rows behind: `oncemore rebuild {model} --replace-foreign` does so"
    ))
}

fn stale_parents(plan: &Plan) -> RunError {
    let parents: Vec<&str> = plan.stale_parents.iter().map(|pair| pair.parent.as_str()).collect();
    RunError::usage(
        format!("what it reads is stale itself: `{}`", parents.join("`, `")),
        format!(
            "run it first: `oncemore run {}`; or read it as it is: `--stale-parents ok`",
            parents.join(" ")
        ),
    )
}

/// What the limit on tasks says of a rebuild.
fn too_many(
    workspace: &Workspace,
    ground: &Ground,
    at: &Places,
    model: &TableName,
    plan: &Plan,
) -> Result<RunError, RunError> {
    // They cost what those of the table cost that is there.
    let mut like = Plan::default();
    like.tasks.extend(plan.tasks.iter().cloned().map(|task| crate::plan::Task { at: at.own, ..task }));
    let estimate = limit::estimate(workspace, ground, &like)?;
    let cost: Vec<String> =
        estimate.bytes.map(bytes).into_iter().chain(estimate.seconds.map(seconds)).collect();
    let cost = match cost.is_empty() {
        true => String::new(),
        false => format!("; they take about {}, going by earlier runs", cost.join(" and ")),
    };
    let number = plural(plan.tasks.len(), "slice");
    let limit = workspace.project.limits.tasks;
    Ok(RunError::usage(
        format!("{number} to build anew, more than `limits.tasks: {limit}`{cost}"),
        format!("add `--yes`: `oncemore rebuild {model} --yes`"),
    ))
}

/// Builds what is missing, and swaps the tables once all of it is there.
///
/// # Errors
/// What a run can't begin with; a swap that failed. What fails while running is in the report, and the old table is
/// what it was.
pub async fn rebuild(
    workspace: &Arc<Workspace>,
    prepared: &Prepared,
    options: &RunOptions,
    observer: &Arc<dyn Observer>,
    stop: &Stop,
) -> Result<Rebuilt, RunError> {
    let own = building(options, &prepared.table);
    let before = workspace.warehouse.rebuilt_from(&prepared.model)?;
    let mut report = run(workspace, &own, observer, stop).await?;
    for _ in 1..ROUNDS {
        if is_gone(workspace, &prepared.table)?
            && workspace.warehouse.rebuilt_from(&prepared.model)? != before
        {
            // Another process was faster: what was asked for is done.
            return Ok(swapped(prepared, report, Swapped::default(), 0));
        }
        let went_well = report.exit_code() == 0 && report.blocked.is_empty() && report.not_begun == 0;
        let ground = workspace.ground()?;
        let at = places(workspace, &ground)?;
        let left = plan(&ground, &own.plan)?;
        let missing = if went_well { missing(workspace, &ground, &at, &left)? } else { left.held.clone() };
        if !went_well || !missing.is_empty() || stop.is_stopped() {
            return Ok(unswapped(prepared, report, missing));
        }
        if left.tasks.is_empty() {
            let outside = reach::outside(workspace, &ground, &at)?.len();
            return swap(workspace, prepared, options, report, outside);
        }
        // What it reads changed meanwhile.
        add_up(&mut report, run(workspace, &own, observer, stop).await?);
    }
    Ok(unswapped(prepared, report, Vec::new()))
}

fn unswapped(prepared: &Prepared, run: RunReport, missing: Vec<Held>) -> Rebuilt {
    let model = prepared.model.clone();
    Rebuilt { model, swapped: false, removed: Vec::new(), outside: 0, missing, run }
}

fn swap(
    workspace: &Workspace,
    prepared: &Prepared,
    options: &RunOptions,
    run: RunReport,
    outside: usize,
) -> Result<Rebuilt, RunError> {
    let model = prepared.model.clone();
    let done = match workspace.warehouse.swap_rebuilt(&model, options.plan.allow.foreign) {
        Ok(done) => done,
        Err(CommitError::Foreign { table, detail, .. }) if table.without_ending(REBUILD).is_none() => {
            return Err(of_foreign(&model, format!("somebody else wrote into `{table}`: {detail}")));
        }
        Err(error) => return Err(error.into()),
    };
    // Where another process was faster, it is in its place.
    Ok(swapped(prepared, run, done.unwrap_or_default(), outside))
}

fn swapped(prepared: &Prepared, run: RunReport, done: Swapped, outside: usize) -> Rebuilt {
    let model = prepared.model.clone();
    Rebuilt { model, swapped: true, removed: done.removed, outside, missing: Vec::new(), run }
}

/// Adds what a further round did.
fn add_up(report: &mut RunReport, more: RunReport) {
    report.published += more.published;
    report.unchanged += more.unchanged;
    report.cut_off += more.cut_off;
    report.spared += more.spared;
    report.elsewhere += more.elsewhere;
    report.audited += more.audited;
    report.adopted += more.adopted;
    report.rows += more.rows;
    report.ties.extend(more.ties);
    report.failed.extend(more.failed);
    report.blocked.extend(more.blocked);
    report.not_begun += more.not_begun;
    report.held = more.held;
    report.interrupted |= more.interrupted;
    if more.request > 0 {
        report.request = more.request;
    }
}

/// Slices that keep the new table from its place: all that are held back, but for those that have not arrived yet and
/// are not in the old table either.
fn missing(workspace: &Workspace, ground: &Ground, at: &Places, left: &Plan) -> Result<Vec<Held>, RunError> {
    let old = reach::old_slices(workspace, &ground.models[at.own].name)?;
    let lacks = |held: &&Held| {
        !matches!(held.hold, Hold::Waiting { .. }) || old.iter().any(|slice| slice.overlaps(held.interval))
    };
    Ok(left.held.iter().filter(lacks).cloned().collect())
}
