//! `oncemore plan`: what `run` would do, and why.

use oncemore_run::limit::{self, Estimate};
use oncemore_run::{Plan, plan};
use serde::Serialize;

use super::FINDINGS;
use crate::args::WorkArgs;
use crate::context::{Access, Context, cores};
use crate::failure::Failure;
use crate::render::plan::render;

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
    /// What the plan costs, where that is more than the limit allows.
    estimate: Option<Estimate>,
}

/// Plans.
///
/// # Errors
/// A plan that can't be made, and one that `run` would refuse: beyond `limits.tasks`, on stale parents, or with models
/// that lint finds not repeatable.
pub fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let jobs = args.work.how.jobs.map_or_else(cores, usize::from);
    let (yes, stale_ok) = (args.work.how.yes, args.work.how.stale_parents.is_some());
    let (plan, guarded, limit, estimate, refused) = context.block_on(jobs, async {
        let workspace = context.open_with(Access::Read, args.work.how.memory, jobs).await?;
        let ground = workspace.ground_with_spared().await?;
        let plan = plan(&ground, &args.work.plan_options())?;
        let refused = limit::check(&workspace, &ground, &plan, yes, stale_ok).err();
        let guarded = plan.guarded(&ground);
        let is_wanted = context.ui.is_json() && guarded as u64 > workspace.project.limits.tasks;
        let estimate = is_wanted.then(|| limit::estimate(&workspace, &ground, &plan)).transpose()?;
        Ok((plan, guarded, workspace.project.limits.tasks, estimate, refused))
    })?;
    if context.ui.is_json() {
        context.ui.json(&Document { plan: &plan, guarded, limit, estimate })?;
    } else {
        context.ui.data(&render(&plan, &context.ui.out))?;
    }
    if let Some(refused) = refused {
        return Err(refused.into());
    }
    let is_something = !plan.tasks.is_empty() || !plan.spared.is_empty();
    Ok(if args.exit_code && is_something { FINDINGS } else { 0 })
}
