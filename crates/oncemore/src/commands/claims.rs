//! `oncemore claims`: who is working on which slices.

use oncemore_commit::{Broken, Claim, Life, Warehouse};
use oncemore_core::{Instant, Interval, TableName, Zone};
use oncemore_project::Project;
use oncemore_run::workspace::load_project;
use oncemore_run::{ErrorKind, RunError};
use serde::Serialize;

use crate::context::Context;
use crate::failure::Failure;
use crate::render::number::{count, instant, plural};
use crate::render::table;

/// Show which slices are being worked on and by whom, or push a run aside.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do; without it, the claims are shown.
    #[command(subcommand)]
    pub action: Option<Action>,
}

/// What to do with claims.
#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Take a claim from its holder. What that one had begun it can't publish any more; what it published stays.
    Break {
        /// Number of the claim.
        id: i64,
    },
}

/// One claim for programs.
#[derive(Serialize)]
struct Line<'a> {
    claim: i64,
    state: &'static str,
    host: &'a str,
    process: &'a str,
    user: &'a str,
    command: &'a str,
    request: u64,
    since: Instant,
    seen: Instant,
    lease_seconds: i64,
    tasks: u64,
    slices: Vec<Slices<'a>>,
}

/// What a claim covers of a table.
#[derive(Serialize)]
struct Slices<'a> {
    table: &'a TableName,
    interval: Interval,
}

/// Shows or breaks.
///
/// # Errors
/// A warehouse that can't be opened, a number that no claim has.
pub fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let root = context.root()?;
    let project = load_project(&root)?;
    let folder = root.join(&project.warehouse);
    match &args.action {
        None => {
            let claims = if folder.exists() { claims(&folder, context)? } else { Vec::new() };
            show(&claims, &project, context)
        }
        Some(Action::Break { id }) => {
            let warehouse = Warehouse::open(&folder, context.world()).map_err(RunError::from)?;
            let broken = warehouse.break_claim(*id).map_err(RunError::from)?;
            let broken = broken.ok_or_else(|| {
                RunError::new(ErrorKind::Usage, format!("there is no claim {id}"))
                    .help("`oncemore claims` lists them; one that its run has given up is gone")
            })?;
            say(&broken, context)
        }
    }
}

fn claims(folder: &std::path::Path, context: &Context) -> Result<Vec<(Claim, Life)>, RunError> {
    let opened = Warehouse::open(folder, context.world());
    let warehouse =
        opened.or_else(|error| Warehouse::open_read_only(folder, context.world()).map_err(|_| error))?;
    Ok(warehouse.claims()?)
}

fn show(claims: &[(Claim, Life)], project: &Project, context: &Context) -> Result<u8, Failure> {
    if context.ui.is_json() {
        let lines: Vec<Line<'_>> = claims.iter().map(|(claim, life)| line(claim, *life)).collect();
        context.ui.json(&lines)?;
        return Ok(0);
    }
    if claims.is_empty() {
        context.ui.data("nobody is working on any slice\n")?;
        return Ok(0);
    }
    let header = ["claim", "state", "since", "sign of life", "who", "request", "command", "slices", "range"];
    let right = [true, false, false, false, false, true, false, true, false];
    let rows: Vec<Vec<Option<String>>> = claims
        .iter()
        .map(|(claim, life)| {
            let (host, process) = claim.holder();
            vec![
                Some(claim.id.to_string()),
                Some(life.as_str().to_owned()),
                Some(instant(claim.since)),
                Some(instant(claim.seen)),
                Some(format!("{} ({process} on {host})", claim.user)),
                Some(claim.request.to_string()),
                Some(claim.command.clone()),
                Some(count(claim.tasks)),
                Some(covered(claim, project)),
            ]
        })
        .collect();
    context.ui.data(&table::render(&header.map(str::to_owned), &right, &rows, &context.ui.out))?;
    Ok(0)
}

fn line(claim: &Claim, life: Life) -> Line<'_> {
    let (host, process) = claim.holder();
    Line {
        claim: claim.id,
        state: life.as_str(),
        host,
        process,
        user: &claim.user,
        command: &claim.command,
        request: claim.request,
        since: claim.since,
        seen: claim.seen,
        lease_seconds: claim.lease_micros / 1_000_000,
        tasks: claim.tasks,
        slices: claim.slices.iter().map(|(table, interval)| Slices { table, interval: *interval }).collect(),
    }
}

/// What a claim covers, in the zones of its models.
fn covered(claim: &Claim, project: &Project) -> String {
    let range = |(table, interval): &(TableName, Interval)| {
        let model = project.models.iter().find(|model| model.sliced() == table);
        let name = model.map_or(table, |model| &model.name);
        if interval.is_whole() {
            return name.to_string();
        }
        let calendar = model.and_then(|model| model.calendar.as_ref());
        let zone = calendar.map_or_else(Zone::utc, |calendar| calendar.zone.clone());
        let wall = |instant| {
            let text = zone.wall(instant).to_string();
            text.strip_suffix("T00:00:00").map_or(text.clone(), str::to_owned)
        };
        format!("{name} {} to {}", wall(interval.start()), wall(interval.end()))
    };
    claim.slices.iter().map(range).collect::<Vec<_>>().join(", ")
}

fn say(broken: &Broken, context: &Context) -> Result<u8, Failure> {
    let claim = &broken.claim;
    if context.ui.is_json() {
        context.ui.json(&serde_json::json!({ "broken": claim.id, "fenced": broken.fenced }))?;
        return Ok(0);
    }
    let (host, process) = claim.holder();
    context.ui.data(&format!(
        "claim {} of {} (process {process} on {host}) is broken: {} closed against what it had begun, what it published \
         stays\n",
        claim.id,
        claim.user,
        plural(usize::try_from(broken.fenced).unwrap_or(usize::MAX), "slice"),
    ))?;
    Ok(0)
}
