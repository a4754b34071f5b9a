//! `oncemore plan`: what `run` would do, and why.

use oncemore_run::{Plan, plan};
use serde::Serialize;

use super::FINDINGS;
use crate::args::WorkArgs;
use crate::context::{Access, Context, cores};
use crate::failure::Failure;
use crate::render::plan::{guard, render, stale_parents};

/// Say what `run` would do with the same flags, and why; changes nothing.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to run.
    #[command(flatten)]
    pub work: WorkArgs,
    /// End with exit code 1 where there is something to do.
    #[arg(long)]
    pub exit_code: bool,
}

/// A plan for programs: the plan's own fields and those of the guard.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    plan: &'a Plan,
    guarded: usize,
    limit: u64,
}

/// Plans.
///
/// # Errors
/// A plan that can't be made, and one that `run` would refuse: beyond `limits.tasks`, on stale parents, or with models
/// that lint finds not repeatable.
pub fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let jobs = args.work.jobs.map_or_else(cores, usize::from);
    let (plan, guarded, limit, fit) = context.block_on(jobs, async {
        let workspace = context.open_with(Access::Read, args.work.memory, jobs).await?;
        let ground = workspace.ground()?;
        let plan = plan(&ground, &args.work.plan_options())?;
        let guarded = plan.guarded(&ground);
        let fit = oncemore_run::lint::guard(&workspace.project, &plan);
        Ok((plan, guarded, workspace.project.limits.tasks, fit))
    })?;
    if context.ui.is_json() {
        context.ui.json(&Document { plan: &plan, guarded, limit })?;
    } else {
        context.ui.data(&render(&plan, &context.ui.out))?;
    }
    if !plan.stale_parents.is_empty() && args.work.stale_parents.is_none() {
        return Err(stale_parents(&plan).into());
    }
    fit?;
    if guarded as u64 > limit && !args.work.yes {
        return Err(guard(&plan, guarded, limit).into());
    }
    Ok(if args.exit_code && !plan.tasks.is_empty() { FINDINGS } else { 0 })
}
