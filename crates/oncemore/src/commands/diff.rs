//! `oncemore diff`: two versions of slices side by side.

use oncemore_run::diff::{Against, diff};

use super::FINDINGS;
use crate::args::RangeArgs;
use crate::context::{Access, Context, cores};
use crate::failure::Failure;
use crate::render::diff::render;
use crate::render::number::parse_bytes;

/// Compare published slices with an older version of them: rows gone, new, changed, key by key.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The table.
    pub model: String,
    /// Which slices; all by default.
    #[command(flatten)]
    pub range: RangeArgs,
    /// `previous`, or the number of a snapshot.
    #[arg(long, default_value = "previous", value_parser = parse_against, allow_hyphen_values = true)]
    pub against: Against,
    /// Most rows shown.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub limit: usize,
    /// Memory for comparing, `256MB` or `2GB`; what does not fit spills to disk.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, default_value = "1GB")]
    pub memory: usize,
    /// End with exit code 1 where the versions differ.
    #[arg(long)]
    pub exit_code: bool,
}

fn parse_against(text: &str) -> Result<Against, String> {
    match text {
        "previous" => Ok(Against::Previous),
        number => number
            .parse()
            .map(Against::Snapshot)
            .map_err(|_| format!("`{text}` is neither `previous` nor the number of a snapshot")),
    }
}

/// Compares.
///
/// # Errors
/// No such table or version, or a range that can't be.
pub fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let found = context.block_on(cores(), async {
        let workspace = context.open_with(Access::Read, args.memory, cores()).await?;
        Ok(diff(&workspace, &args.model, &args.range.request(), &args.against, args.limit).await?)
    })?;
    if context.ui.is_json() {
        context.ui.json(&found)?;
    } else {
        context.ui.data(&render(&found, &context.ui.out))?;
    }
    let differs = found.gone + found.new + found.changed > 0;
    Ok(if args.exit_code && differs { FINDINGS } else { 0 })
}
