//! `oncemore compile`: the query of one model and interval as it runs.

use oncemore_project::Kind;
use oncemore_run::query::{compile, compile_view};
use serde::Serialize;

use super::explain::find_slice;
use crate::context::{Access, Context};
use crate::failure::Failure;

/// Print the query of one model and interval: parameters filled in as typed literals, views expanded.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The model.
    pub model: String,
    /// The interval; a whole table needs none, and neither does a view that names none.
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
        let view = workspace.model(&args.model).filter(|model| model.kind == Kind::View);
        let (sql, label) = match view {
            Some(view) => compile_view(&workspace, view, args.interval.as_deref())?,
            None => {
                let slice = find_slice(&workspace.ground()?, &args.model, args.interval.as_deref())?;
                (compile(&workspace, &args.model, slice.interval)?, slice.label)
            }
        };
        if context.ui.is_json() {
            context.ui.json(&Compiled { model: &args.model, label, sql: &sql })?;
        } else {
            context.ui.data(&format!("{}\n", sql.trim_end()))?;
        }
        Ok(0)
    })
}
