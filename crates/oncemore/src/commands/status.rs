//! `oncemore status`: the picture of all slices.

use oncemore_run::ground::Ground;
use oncemore_run::select::Candidate;
use oncemore_run::status::{ModelLine, status};

use crate::args::SelectionArgs;
use crate::context::{Access, Context};
use crate::failure::Failure;
use crate::render::status::render;

/// Show all slices: a model a line, an interval a cell, worst first.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Models.
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// List the causes, grouped.
    #[arg(long)]
    pub why: bool,
}

/// Shows the status.
///
/// # Errors
/// A selection without a model, or a project that can't be opened.
pub fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let lines = context.block_on(2, async {
        let workspace = context.open(Access::Read).await?;
        let ground = workspace.ground_with_spared().await?;
        selected(&ground, args)
    })?;
    if context.ui.is_json() {
        context.ui.json(&lines)?;
    } else {
        context.ui.data(&render(&lines, args.why, &context.ui.out))?;
    }
    Ok(0)
}

fn selected(ground: &Ground, args: &Args) -> Result<Vec<ModelLine>, Failure> {
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
    let selected = args.selection.selection().resolve(&candidates)?;
    let lines = status(ground).into_iter().enumerate();
    Ok(lines.filter(|(at, _)| selected.contains(at)).map(|(_, line)| line).collect())
}
