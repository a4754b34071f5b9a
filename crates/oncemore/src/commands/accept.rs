//! `oncemore accept`: keeps slices as they are, on somebody's word.

use oncemore_run::accept::{Accepted, accept};

use crate::args::RangeArgs;
use crate::context::{Access, Context};
use crate::failure::Failure;
use crate::render::number::plural;

/// Keep published slices under the code and inputs at hand without computing them; the stamp says so.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The model.
    pub model: String,
    /// Which slices.
    #[command(flatten)]
    pub range: RangeArgs,
    /// Why they are right as they are; kept in the stamp.
    #[arg(long, value_name = "TEXT", value_parser = parse_because)]
    pub because: String,
    /// Take over rows that somebody else wrote.
    #[arg(long)]
    pub adopt: bool,
}

fn parse_because(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        Err("say why the rows are right as they are".to_owned())
    } else {
        Ok(text.to_owned())
    }
}

/// Accepts.
///
/// # Errors
/// No such model, a range that can't be, a foreign write without `--adopt`.
pub fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let accepted = context.block_on(2, async {
        let workspace = context.open(Access::Write).await?;
        Ok(accept(&workspace, &args.model, &args.range.request(), &args.because, args.adopt)?)
    })?;
    if context.ui.is_json() {
        context.ui.json(&accepted)?;
    } else {
        context.ui.data(&text(&args.model, &accepted))?;
    }
    Ok(0)
}

fn text(model: &str, accepted: &Accepted) -> String {
    let mut out = format!("{model}: {} accepted", plural(accepted.accepted.len(), "slice"));
    if let (Some(first), Some(last)) = (accepted.accepted.first(), accepted.accepted.last())
        && *first != *"all"
    {
        out += &if first == last { format!(" ({first})") } else { format!(" ({first} to {last})") };
    }
    if accepted.fresh > 0 {
        out += &format!(", {} fresh already", accepted.fresh);
    }
    if !accepted.missing.is_empty() {
        out += &format!(", {} never ran and hold nothing to keep", plural(accepted.missing.len(), "slice"));
    }
    out.push('\n');
    out
}
