//! `oncemore ledger`: the index of requests, attempts and stamps.

use oncemore_commit::{AttemptState, CommitError, Rebuilt, Warehouse};
use oncemore_core::Instant;
use oncemore_run::RunError;
use oncemore_run::workspace::load_project;
use serde::Serialize;

use crate::context::{Context, cores};
use crate::failure::Failure;
use crate::render::number::{bytes, count, instant, plural};
use crate::render::table;

/// Show the ledger, or make it anew from the tables.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do with it.
    #[command(subcommand)]
    pub action: Action,
}

/// What to do with the ledger.
#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Make it anew from the tables: they decide, it is an index. Timings and failed attempts are lost.
    Rebuild,
    /// Show what it knows, a table a line.
    Show,
}

/// One table for programs.
#[derive(Serialize)]
struct Line {
    table: String,
    slices: usize,
    rows: u64,
    bytes: u64,
    codes: usize,
    open: usize,
    failed: usize,
    changed_at: Option<Instant>,
}

/// Shows or rebuilds.
///
/// # Errors
/// A warehouse that can't be opened or read; tables that are damaged, once all others are done.
pub fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let root = context.root()?;
    let folder = root.join(load_project(&root)?.warehouse);
    context.block_on(cores(), async {
        match args.action {
            Action::Rebuild => rebuild(context, &folder),
            Action::Show => show(context, &folder),
        }
    })
}

fn rebuild(context: &Context, folder: &std::path::Path) -> Result<u8, Failure> {
    let warehouse = Warehouse::open_to_rebuild(folder, context.world()).map_err(RunError::from)?;
    let Rebuilt { tables, damaged, gone } = warehouse.rebuild_ledger().map_err(RunError::from)?;
    if context.ui.is_json() {
        let why: Vec<String> = damaged.iter().map(ToString::to_string).collect();
        context.ui.json(&serde_json::json!({ "tables": tables, "damaged": why, "gone": gone }))?;
    } else {
        context.ui.data(&format!("the ledger is made anew from {}\n", plural(tables.len(), "table")))?;
        for table in gone {
            context.ui.data(&format!("forgotten, for its folder is gone: {table}\n"))?;
        }
    }
    Failure::of_damaged(damaged, &context.ui)
}

fn show(context: &Context, folder: &std::path::Path) -> Result<u8, Failure> {
    let (lines, damaged) = if folder.exists() { lines(folder, context)? } else { Default::default() };
    if context.ui.is_json() {
        context.ui.json(&lines)?;
        return Failure::of_damaged(damaged, &context.ui);
    }
    let header = ["table", "slices", "rows", "size", "codes", "open", "failed", "changed"].map(str::to_owned);
    let right = [false, true, true, true, true, true, true, false];
    let rows: Vec<Vec<Option<String>>> = lines
        .iter()
        .map(|line| {
            let number = |number: usize| Some(count(number as u64));
            vec![
                Some(line.table.clone()),
                number(line.slices),
                Some(count(line.rows)),
                Some(bytes(line.bytes)),
                number(line.codes),
                number(line.open),
                number(line.failed),
                Some(line.changed_at.map_or_else(|| "never".to_owned(), instant)),
            ]
        })
        .collect();
    context.ui.data(&table::render(&header, &right, &rows, &context.ui.out))?;
    Failure::of_damaged(damaged, &context.ui)
}

/// A line for each table that can be read, and what is wrong with the others.
fn lines(folder: &std::path::Path, context: &Context) -> Result<(Vec<Line>, Vec<CommitError>), RunError> {
    let opened = Warehouse::open(folder, context.world());
    let warehouse =
        opened.or_else(|error| Warehouse::open_read_only(folder, context.world()).map_err(|_| error))?;
    let (mut lines, mut damaged) = (Vec::new(), Vec::new());
    for table in warehouse.tables()? {
        let stamps = match warehouse.stamps(&table) {
            Err(error @ CommitError::Damaged { .. }) => {
                damaged.push(error);
                continue;
            }
            stamps => stamps?,
        };
        let last = warehouse.last_attempts(&table)?;
        let in_state = |state| last.iter().filter(|row| row.state == state).count();
        lines.push(Line {
            slices: stamps.len(),
            rows: stamps.iter().map(|stamp| stamp.fingerprint.rows).sum(),
            bytes: stamps.iter().map(|stamp| stamp.bytes).sum(),
            codes: warehouse.codes(&table)?.len(),
            open: in_state(AttemptState::Open),
            failed: in_state(AttemptState::Failed),
            changed_at: stamps.iter().map(|stamp| stamp.changed_at).max(),
            table: table.to_string(),
        });
    }
    Ok((lines, damaged))
}
