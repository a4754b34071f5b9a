//! `oncemore run`: does what `plan` prints.

use std::sync::Arc;
use std::time::Instant;

use oncemore_run::{Observer, RunOptions, RunReport, Stop};

use crate::args::WorkArgs;
use crate::context::{Access, Context, cores};
use crate::failure::Failure;
use crate::observe::Watcher;
use crate::render::cause::undecided;
use crate::render::error::render_early;
use crate::render::plan::{nothing_to_do, totals};
use crate::render::progress::{going_on, summary};
use crate::ui::Ui;

/// Run what is due: each slice replaced whole and atomically, then what reads it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to run.
    #[command(flatten)]
    pub work: WorkArgs,
    /// A line for each slice.
    #[arg(long, short)]
    pub verbose: bool,
}

/// Runs.
///
/// # Errors
/// A plan that can't be made or is refused. What fails on the way is in the report, and its exit code.
pub fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let options = args.work.run_options(cores());
    let jobs = options.jobs;
    let report = context.block_on(jobs, async {
        let stop = Stop::default();
        stop_on_interrupt(stop.clone(), context.ui);
        once(context, args, &options, &stop).await
    })?;
    if context.ui.is_json() {
        context.ui.json(&report)?;
    }
    Ok(report.exit_code())
}

/// One run, with what it says on stderr.
pub(crate) async fn once(
    context: &Context,
    args: &Args,
    options: &RunOptions,
    stop: &Stop,
) -> Result<RunReport, Failure> {
    let ui = context.ui;
    let started = Instant::now();
    let workspace = context.open_with(Access::Write, args.work.how.memory, options.jobs).await?;
    let watcher = Arc::new(Watcher::new(ui, args.verbose));
    let observer: Arc<dyn Observer> = Arc::clone(&watcher) as Arc<dyn Observer>;
    let result = oncemore_run::run(&workspace, options, &observer, stop).await;
    watcher.finish();
    let report = result?;
    let told = || summary(&report, started.elapsed().as_secs_f64(), &ui.err) + &going_on(&report, &ui.err);
    match watcher.plan() {
        Some(plan) if !plan.spared.is_empty() => {
            ui.talk(&told());
        }
        Some(plan) if plan.tasks.is_empty() && plan.held.is_empty() => ui.talk(&nothing_to_do(&plan)),
        Some(plan) if plan.tasks.is_empty() => {
            ui.talk(&format!("{}\nnext: `oncemore plan` and `oncemore status --why` say why", totals(&plan)));
        }
        _ => ui.talk(&told()),
    }
    for line in watcher.plan().map(|plan| undecided(&plan.held)).unwrap_or_default() {
        ui.talk(&line);
    }
    if let Some(early) = &report.ended_early {
        ui.talk(&render_early(early, &ui.err));
    }
    Ok(report)
}

/// The first Ctrl-C lets the run end cleanly, the second ends the process.
pub(crate) fn stop_on_interrupt(stop: Stop, ui: Ui) {
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_err() {
            return;
        }
        stop.stop();
        ui.talk("stopping: what is published stays, what is being worked on is dropped; Ctrl-C again stops at once");
        if tokio::signal::ctrl_c().await.is_ok() {
            end_at_once();
        }
    });
}

#[expect(
    clippy::exit,
    reason = "asked for twice; publishes are atomic and the next command resolves what was open"
)]
fn end_at_once() {
    std::process::exit(130)
}
