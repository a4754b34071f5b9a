//! `oncemore gc`: removes files that no table names.

use std::time::Duration;

use oncemore_core::Instant;
use oncemore_run::RunError;

use crate::context::{Access, Context};
use crate::failure::Failure;
use crate::render::number::{bytes, count, parse_duration, plural};

/// Remove files that no table names any more; readers that are open keep theirs for `--older-than`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Keep files that were first found unnamed within this time, for readers that are open.
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = parse_duration)]
    pub older_than: Duration,
    /// First write merged tables and histories anew, so that nothing is deleted of their files: the same rows, read
    /// faster by other engines.
    #[arg(long)]
    pub compact: bool,
}

/// Cleans up.
///
/// # Errors
/// A warehouse that can't be used; tables that are damaged, of which nothing is removed, once all others are done.
pub fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let age = i64::try_from(args.older_than.as_micros()).unwrap_or(i64::MAX);
    let before = if age == 0 { Instant::MAX } else { Instant(context.now().0.saturating_sub(age)) };
    let (compacted, cleaned) = context.block_on(2, async {
        let warehouse = context.open(Access::Write).await?.warehouse.clone();
        let compacted = if args.compact { warehouse.compact() } else { Ok(Vec::new()) };
        let compacted = compacted.map_err(RunError::from)?;
        Ok((compacted, warehouse.gc(before).map_err(RunError::from)?))
    })?;
    if context.ui.is_json() {
        context.ui.json(&serde_json::json!({
            "files": cleaned.files, "bytes": cleaned.bytes, "fenced": cleaned.fenced, "kept": cleaned.kept,
            "waiting": cleaned.waiting, "forgotten": cleaned.forgotten,
            "damaged": cleaned.damaged.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "compacted": compacted.iter().map(ToString::to_string).collect::<Vec<_>>(),
        }))?;
        return Failure::of_damaged(cleaned.damaged, &context.ui);
    }
    let mut text = String::new();
    if args.compact {
        text += &format!("{} compacted; ", plural(compacted.len(), "table"));
    }
    text += &format!(
        "{} removed, {}",
        plural(usize::try_from(cleaned.files).unwrap_or(usize::MAX), "file"),
        bytes(cleaned.bytes)
    );
    if cleaned.fenced > 0 {
        text += &format!("; {} fenced against attempts that died", count(cleaned.fenced));
    }
    if cleaned.kept > 0 {
        text += &format!("; {} kept that an attempt may still publish", count(cleaned.kept));
    }
    if cleaned.waiting > 0 {
        text += &format!(
            "; {} wait until `--older-than` has passed since they were first found, for readers that are open",
            count(cleaned.waiting)
        );
    }
    if cleaned.forgotten > 0 {
        text += &format!(
            "; {} of superseded stamps forgotten",
            plural(usize::try_from(cleaned.forgotten).unwrap_or(usize::MAX), "attempt")
        );
    }
    context.ui.data(&format!("{text}\n"))?;
    Failure::of_damaged(cleaned.damaged, &context.ui)
}
