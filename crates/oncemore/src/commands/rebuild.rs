//! `oncemore rebuild`: builds a model's table anew beside the old one, then swaps the two.

use std::sync::Arc;
use std::time::Instant;

use oncemore_run::rebuild::{Rebuilt, prepare, rebuild};
use oncemore_run::{Observer, Stop};

use super::run::stop_on_interrupt;
use crate::args::HowArgs;
use crate::context::{Context, cores};
use crate::failure::Failure;
use crate::observe::Watcher;
use crate::render::progress::summary;
use crate::render::rebuild::{ended, intention};

/// Build the table of a model anew beside the old one, which is read until the new one takes its place.
///
/// For a changed key, order, kind or interval length, and from scratch for any other reason. One that was stopped goes on
/// where it was.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The model: `gold.carrier_day`.
    #[arg(value_name = "MODEL")]
    pub model: String,
    /// Give up what an unfinished rebuild has built, and begin anew.
    #[arg(long)]
    pub again: bool,
    /// How to run it.
    #[command(flatten)]
    pub how: HowArgs,
    /// A line for each slice.
    #[arg(long, short)]
    pub verbose: bool,
}

/// Builds and swaps.
///
/// # Errors
/// A model that can't be built, or is refused. What fails on the way is in the report, and its exit code.
pub fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let options = args.how.run_options(cores());
    let jobs = options.jobs;
    let ui = context.ui;
    let rebuilt: Rebuilt = context.block_on(jobs, async {
        let stop = Stop::default();
        stop_on_interrupt(stop.clone(), ui);
        let started = Instant::now();
        let workspace = context.open_to_rebuild(&args.model, args.how.memory, jobs).await?;
        let prepared = prepare(&workspace, &options, args.again)?;
        ui.talk(&intention(&prepared));
        let watcher = Arc::new(Watcher::new(ui, args.verbose));
        let observer: Arc<dyn Observer> = Arc::clone(&watcher) as Arc<dyn Observer>;
        let result = rebuild(&workspace, &prepared, &options, &observer, &stop).await;
        watcher.finish();
        let rebuilt = result?;
        if rebuilt.run.request > 0 {
            ui.talk(summary(&rebuilt.run, started.elapsed().as_secs_f64(), &ui.err).trim_end());
        }
        ui.talk(&ended(&rebuilt, &ui.err));
        Ok(rebuilt)
    })?;
    if ui.is_json() {
        ui.json(&rebuilt)?;
    }
    Ok(rebuilt.exit_code())
}
