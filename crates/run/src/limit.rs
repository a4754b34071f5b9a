//! What a run is refused for before it begins: more work than anybody meant to pay for, parents that are stale, and
//! models that lint finds not repeatable.

use oncemore_commit::Pace;
use oncemore_core::Stamp;
use serde::Serialize;

use crate::error::RunError;
use crate::ground::Ground;
use crate::lint;
use crate::number::{bytes, count, plural, seconds};
use crate::plan::Plan;
use crate::workspace::Workspace;

/// What a plan costs, going by earlier attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// Bytes to write; `None` where nothing was ever written.
    pub bytes: Option<u64>,
    /// Time in seconds; `None` where nothing ever ran.
    pub seconds: Option<f64>,
}

/// What the plan costs: slices as large as they are, or as their neighbours, at the pace of earlier runs.
///
/// # Errors
/// A ledger that can't be read.
pub fn estimate(workspace: &Workspace, ground: &Ground, plan: &Plan) -> Result<Estimate, RunError> {
    let mut size: Option<u64> = None;
    let (mut micros, mut timed, mut untimed) = (0.0, 0_u64, 0_u64);
    for tasks in plan.tasks.chunk_by(|one, next| one.at == next.at) {
        let model = &ground.models[tasks[0].at];
        let stamps = &model.stamps;
        let whole: u64 = stamps.iter().map(|stamp| stamp.bytes).sum();
        if let Some(mean) = whole.checked_div(stamps.len() as u64) {
            let own = |interval| {
                let at = stamps.binary_search_by(|stamp: &Stamp| stamp.interval.cmp(&interval)).ok()?;
                stamps.get(at).map(|stamp| stamp.bytes)
            };
            let all: u64 = tasks.iter().map(|task| own(task.interval).unwrap_or(mean)).sum();
            size = Some(size.unwrap_or(0) + all);
        }
        match workspace.warehouse.pace(&model.name)? {
            Some(Pace { slices, micros: took }) if slices > 0 => {
                micros += took as f64 / slices as f64 * tasks.len() as f64;
                timed += tasks.len() as u64;
            }
            _ => untimed += tasks.len() as u64,
        }
    }
    // Models that never ran are taken to be like those that did.
    let all = (timed > 0).then(|| micros / 1e6 * (timed + untimed) as f64 / timed as f64);
    Ok(Estimate { bytes: size, seconds: all })
}

/// Refuses a plan with a stale parent outside its selection, unless `stale_parents_ok`; with a model that lint finds not
/// repeatable; and beyond `limits.tasks`, unless `yes`.
///
/// # Errors
/// The refusal, or a ledger that can't be read.
pub fn check(
    workspace: &Workspace,
    ground: &Ground,
    plan: &Plan,
    yes: bool,
    stale_parents_ok: bool,
) -> Result<(), RunError> {
    if !plan.stale_parents.is_empty() && !stale_parents_ok {
        return Err(stale_parents(plan));
    }
    lint::guard(&workspace.project, plan)?;
    let guarded = plan.guarded(ground);
    let limit = workspace.project.limits.tasks;
    if guarded as u64 > limit && !yes {
        return Err(too_many(plan, guarded, limit, estimate(workspace, ground, plan)?));
    }
    Ok(())
}

/// What the limit on tasks says: counts by model, what they cost, and how to go on.
pub fn too_many(plan: &Plan, guarded: usize, limit: u64, estimate: Estimate) -> RunError {
    let models: Vec<String> = plan
        .models
        .iter()
        .filter(|model| model.tasks > 0)
        .map(|model| format!("{} {}", model.model, count(model.tasks as u64)))
        .collect();
    let cost: Vec<String> =
        estimate.bytes.map(bytes).into_iter().chain(estimate.seconds.map(seconds)).collect();
    let cost = match cost.is_empty() {
        true => String::new(),
        false => format!(
            "; all {} take about {}, going by earlier runs",
            count(plan.tasks.len() as u64),
            cost.join(" and ")
        ),
    };
    RunError::usage(
        format!(
            "{} to run because code or a dimension changed, more than `limits.tasks: {limit}` ({}){cost}",
            plural(guarded, "slice"),
            models.join(", ")
        ),
        "look at `oncemore plan`; then add `--yes`, narrow it with `--from` and `--to`, \
         or keep the rows under the new code: `oncemore accept MODEL --from .. --to .. --because TEXT`",
    )
}

/// What a selection that leaves out stale parents says.
pub fn stale_parents(plan: &Plan) -> RunError {
    let pairs: Vec<String> = plan
        .stale_parents
        .iter()
        .map(|pair| format!("`{}` (read by `{}`)", pair.parent, pair.reader))
        .collect();
    let first = plan.stale_parents.first().map_or("MODEL", |pair| &pair.reader);
    RunError::usage(
        format!("stale parents are not selected: {}", pairs.join(", ")),
        format!("select them too: `+{first}`; or read them as they are: `--stale-parents ok`"),
    )
}
