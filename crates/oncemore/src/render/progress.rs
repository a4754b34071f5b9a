//! What is said while a run goes on, and its summary. Counts only; the terminal's bar is `crate::observe`.

use std::collections::BTreeMap;

use oncemore_commit::{AttemptState, Claim, Resolved};
use oncemore_core::TableName;
use oncemore_run::plan::Held;
use oncemore_run::{ErrorKind, Event, RunReport, TaskFailure};

use super::broken;
use super::error::{render_failure, render_file};
use super::number::{count, instant, plural, rows as counted, seconds};
use super::{Look, Paint};

/// Most failures repeated in the summary.
const FAILURES_MAX: usize = 10;

/// Most tasks with ties named in the summary.
const TIES_MAX: usize = 5;

/// Counts of a run, by model.
#[derive(Debug, Default)]
pub struct Tally {
    models: BTreeMap<TableName, Counts>,
    total: u64,
    done: u64,
    rows: u64,
}

#[derive(Debug, Default)]
struct Counts {
    planned: u64,
    published: u64,
    unchanged: u64,
    cut_off: u64,
    spared: u64,
    elsewhere: u64,
    failed: u64,
    blocked: u64,
    rows: u64,
}

impl Counts {
    fn done(&self) -> u64 {
        let ended = self.published + self.unchanged + self.cut_off + self.spared + self.elsewhere;
        ended + self.failed + self.blocked
    }
}

impl Tally {
    /// Takes in one event and says what a reader should see of it: a line for each failure and each model that is
    /// done; with `verbose` one for each slice.
    pub fn take(&mut self, event: &Event, verbose: bool, look: &Look) -> Vec<String> {
        let mut lines = Vec::new();
        let mut say = |model: &TableName, label: &str, what: String| {
            if verbose {
                lines.push(format!("{model} {label}: {what}"));
            }
        };
        let model = match event {
            Event::Planned(plan) => {
                self.total = (plan.tasks.len() + plan.spared.len()) as u64;
                let tasks = plan.tasks.iter().map(|task| &task.model);
                for model in tasks.chain(plan.spared.iter().map(|slice| &slice.model)) {
                    self.models.entry(model.clone()).or_default().planned += 1;
                }
                return lines;
            }
            Event::Started { .. } => return lines,
            Event::Waiting(claim) => return vec![waiting(claim)],
            Event::Resolved(found) => return vec![resolved(found)],
            Event::ClockBehind { seconds: behind } => return vec![clock(*behind)],
            Event::Adopted(held) => return vec![foreign(held, "taken for ours as it is")],
            Event::Foreign(held) => return vec![foreign(held, "left as it is")],
            Event::Broken(failures) => return vec![render_file(failures, look)],
            Event::Tied { model, label, ties } => {
                say(model, label, tied(ties.keys, &ties.example, ties.across));
                return lines;
            }
            Event::Published { model, label, rows } => {
                say(model, label, format!("published, {}", counted(*rows)));
                self.rows += rows;
                let counts = self.models.entry(model.clone()).or_default();
                counts.published += 1;
                counts.rows += rows;
                model
            }
            Event::Unchanged { model, label, rows } => {
                say(model, label, format!("unchanged, {}", counted(*rows)));
                self.models.entry(model.clone()).or_default().unchanged += 1;
                model
            }
            Event::CutOff { model, label } => {
                say(model, label, "cut off: its inputs came out equal".to_owned());
                self.models.entry(model.clone()).or_default().cut_off += 1;
                model
            }
            Event::Spared { model, label } => {
                say(model, label, "spared: its inputs changed in keys that it does not look up".to_owned());
                self.models.entry(model.clone()).or_default().spared += 1;
                model
            }
            Event::Elsewhere { model, label } => {
                say(model, label, "done by another run meanwhile".to_owned());
                self.models.entry(model.clone()).or_default().elsewhere += 1;
                model
            }
            Event::Failed(failure) => {
                lines.push(render_failure(failure, look));
                self.models.entry(failure.model.clone()).or_default().failed += 1;
                &failure.model
            }
            Event::Blocked(held) => {
                say(&held.model, &held.label, format!("blocked {}", super::cause::hold_detail(&held.hold)));
                self.models.entry(held.model.clone()).or_default().blocked += 1;
                &held.model
            }
        };
        self.done += 1;
        let counts = &self.models[model];
        if counts.planned > 0 && counts.done() == counts.planned {
            lines.push(format!("{}: {}", look.paint(Paint::Strong, model), words(counts, look)));
        }
        lines
    }

    /// Tasks done, tasks planned, rows published.
    pub fn position(&self) -> (u64, u64, u64) {
        (self.done, self.total, self.rows)
    }
}

/// What became of the attempts of runs that ended early.
fn resolved(found: &[Resolved]) -> String {
    let published = found.iter().filter(|one| one.outcome == AttemptState::Committed).count();
    let staged: u64 = found.iter().map(|one| one.staged).sum();
    let mut out = format!(
        "an earlier run ended early: of {} it had published {published}",
        plural(found.len(), "open slice")
    );
    if staged > 0 {
        let files = plural(usize::try_from(staged).unwrap_or(usize::MAX), "file");
        out += &format!("; {files} it had staged are named by nothing, `oncemore gc` removes them");
    }
    out
}

fn clock(behind: u64) -> String {
    format!(
        "warning: the clock is {} behind that of an earlier request: was it set back? Requests keep their order, which \
         no clock decides; which intervals are due does follow the clock",
        seconds(behind as f64)
    )
}

/// What is said of a slice that somebody else wrote into, and that no failure speaks of.
fn foreign(held: &Held, what: &str) -> String {
    let label = if held.label == *"all" { String::new() } else { format!(" {}", held.label) };
    let detail = super::cause::hold_detail(&held.hold);
    format!("warning: {}{label}: somebody else wrote into it, {what}: {detail}", held.model)
}

/// For whom a run waits.
fn waiting(claim: &Claim) -> String {
    let (host, process) = claim.holder();
    format!(
        "waiting for another run: `{}` of {} (process {process} on {host}, request {}), at work since {}",
        claim.command,
        claim.user,
        claim.request,
        instant(claim.since)
    )
}

fn words(counts: &Counts, look: &Look) -> String {
    let parts: Vec<String> = [
        (counts.published, "published", Paint::Good),
        (counts.unchanged, "unchanged", Paint::Good),
        (counts.cut_off, "cut off", Paint::Dim),
        (counts.spared, "spared", Paint::Dim),
        (counts.elsewhere, "done by another run", Paint::Dim),
        (counts.failed, "failed", Paint::Bad),
        (counts.blocked, "blocked", Paint::Held),
    ]
    .into_iter()
    .filter(|(number, ..)| *number > 0)
    .map(|(number, word, paint)| look.paint(paint, format!("{} {word}", count(number))))
    .chain((counts.published > 0).then(|| counted(counts.rows)))
    .collect();
    parts.join(", ")
}

/// What a run did, and what to type about it; how to go on where it was interrupted depends on the command.
pub fn summary(report: &RunReport, took_seconds: f64, look: &Look) -> String {
    let failed = report.failed.len() as u64;
    let blocked = report.blocked.len() as u64;
    let parts: Vec<String> = [
        (report.published, "published", Paint::Good),
        (report.unchanged, "unchanged", Paint::Good),
        (report.cut_off, "cut off", Paint::Dim),
        (report.spared, "spared", Paint::Dim),
        (report.elsewhere, "done by another run", Paint::Dim),
        (report.audited, "audited", Paint::Good),
        (report.adopted, "adopted", Paint::Vouched),
        (failed, "failed", Paint::Bad),
        (blocked, "blocked", Paint::Held),
        (report.not_begun as u64, "not begun", Paint::Held),
        (report.held as u64, "held back", Paint::Held),
    ]
    .into_iter()
    .filter(|(number, ..)| *number > 0)
    .map(|(number, word, paint)| look.paint(paint, format!("{} {word}", count(number))))
    .collect();
    let what = if parts.is_empty() { "nothing done".to_owned() } else { parts.join(", ") };
    let head = if report.interrupted { "interrupted" } else { "done" };
    let mut out = format!(
        "{head}: {what}; {} in {} (request {})\n",
        counted(report.rows),
        seconds(took_seconds),
        report.request
    );
    out += &failures(report, look);
    out += &tied_tasks(report, look);
    for help in advice(report) {
        out += &format!("{}: {help}\n", look.paint(Paint::Vouched, "next"));
    }
    out
}

/// How a run that was interrupted is gone on with.
pub fn going_on(report: &RunReport, look: &Look) -> String {
    match report.interrupted {
        true => format!(
            "{}: what is published stays; the same command goes on from there\n",
            look.paint(Paint::Vouched, "next")
        ),
        false => String::new(),
    }
}

fn failures(report: &RunReport, look: &Look) -> String {
    let (files, single): (Vec<_>, Vec<_>) =
        broken::by_file(&report.failed).into_iter().partition(|file| file.len() > 1);
    let one = |failure: &TaskFailure| {
        let label = if failure.label == *"all" { String::new() } else { format!(" {}", failure.label) };
        format!("{}{label}; {}", failure.model, failure.state)
    };
    let file = |file: &Vec<&TaskFailure>| {
        let slices = broken::waiting(file.iter().map(|failure| &failure.model));
        format!("{slices} ({}); slices unchanged", broken::place(&file[0].message))
    };
    let begun = report.failed.iter().filter(|failure| failure.begun);
    let mut lines: Vec<String> = files.iter().map(file).collect();
    lines.extend(single.into_iter().flatten().chain(begun).map(one));
    let more = lines.len().saturating_sub(FAILURES_MAX);
    lines.truncate(FAILURES_MAX);
    let mut out: String =
        lines.iter().map(|line| format!("  {} {line}\n", look.paint(Paint::Bad, "failed"))).collect();
    if more > 0 {
        out += &format!("  and {more} more\n");
    }
    out
}

/// `2 keys have differing changes of equal order, one of them: …`.
pub fn tied(keys: u64, example: &str, across: bool) -> String {
    let keys = if keys == 1 { "1 key has".to_owned() } else { format!("{} keys have", count(keys)) };
    let across = if across { " in two intervals" } else { "" };
    format!("{keys} differing changes of equal order{across}, one of them: {example}")
}

fn tied_tasks(report: &RunReport, look: &Look) -> String {
    let mut out = String::new();
    for task in report.ties.iter().take(TIES_MAX) {
        let what = tied(task.keys, &task.example, task.across);
        out += &format!("  {} {} {}: {what}\n", look.paint(Paint::Vouched, "ties"), task.model, task.label);
    }
    if report.ties.len() > TIES_MAX {
        out += &format!("  and ties in {} more\n", report.ties.len() - TIES_MAX);
    }
    out
}

/// What to type next, most pressing first.
fn advice(report: &RunReport) -> Vec<String> {
    let mut out = Vec::new();
    let has = |kind| report.failed.iter().any(|failure| failure.kind == kind);
    if has(ErrorKind::Unknown) {
        out.push(
            "`oncemore resolve` finds out what became of the commits whose answers were lost".to_owned(),
        );
    }
    if let Some(failure) = report.failed.iter().find(|failure| failure.kind == ErrorKind::Conflict) {
        let help = failure.help.clone();
        out.push(help.unwrap_or_else(|| "somebody else was faster: run the same command again".to_owned()));
    }
    let is_own = |kind| kind != ErrorKind::Unknown && kind != ErrorKind::Conflict;
    if let Some(failure) = report.failed.iter().find(|failure| is_own(failure.kind)) {
        let label = if failure.label == *"all" { String::new() } else { format!(" {}", failure.label) };
        out.push(format!("`oncemore explain {}{label}` tells the whole story", failure.model));
    }
    if !report.ties.is_empty() {
        out.push(
            "ties are broken by all remaining columns, the same in every run; columns added to `order_by` decide them"
                .to_owned(),
        );
    }
    if report.failed.is_empty() && report.held > 0 {
        out.push("`oncemore status --why` says what the slices that are held back wait for".to_owned());
    }
    out
}
