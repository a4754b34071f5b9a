//! `oncemore compile`: the query of one model and interval as it runs.

use serde::Serialize;

use super::explain::find_slice;
use crate::context::{Access, Context};
use crate::failure::Failure;

/// Print the query of one model and interval: parameters filled in as typed literals, views expanded.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The model.
    pub model: String,
    /// The interval; a whole table needs none.
    #[arg(long)]
    pub interval: Option<String>,
}

/// A compiled query for programs.
#[derive(Serialize)]
struct Compiled<'a> {
    model: &'a str,
    label: String,
    sql: &'a str,
}

/// Prints the query.
///
/// # Errors
/// No such model or interval, or SQL that can't be planned.
pub fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    context.block_on(2, async {
        let workspace = context.open(Access::Read).await?;
        let ground = workspace.ground()?;
        let slice = find_slice(&ground, &args.model, args.interval.as_deref())?;
        let sql = oncemore_run::query::compile(&workspace, &args.model, slice.interval)?;
        if context.ui.is_json() {
            context.ui.json(&Compiled { model: &args.model, label: slice.label, sql: &sql })?;
        } else {
            context.ui.data(&format!("{}\n", sql.trim_end()))?;
        }
        Ok(0)
    })
}
