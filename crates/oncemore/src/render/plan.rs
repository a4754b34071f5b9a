//! What is going to be done: by model, why and for which intervals; and what is held back, and why.

use std::borrow::Cow;

use oncemore_core::{Interval, TableName};
use oncemore_run::plan::{Held, Reported, Spared};
use oncemore_run::{Hold, Plan, Task};
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::broken;
use super::cause::{hold_detail, hold_help, hold_title, reason_detail, reason_title};
use super::number::{count, plural};
use super::ranges::{Run, collapse, show};
use super::rebuild::unfinished;
use super::table::pad;
use super::{Look, Paint};

/// Most ranges shown for one reason of one model.
const RANGES_MAX: usize = 4;
/// What is said of slices whose inputs changed, where these changes are reported alone.
const REPORTED: &str = "reported: input changed";
/// What is said of slices whose inputs changed in keys alone that they do not look up.
const SPARED: &str = "spared: input changed in other keys";
/// Most rebuilds in one command.
const REBUILDS_MAX: usize = 4;
/// Most details shown for one reason of one model.
const DETAILS_MAX: usize = 3;

/// The whole plan.
pub fn render(plan: &Plan, look: &Look) -> String {
    let mut out = String::new();
    if let Some(range) = &plan.range {
        out += &format!("range: {range}\n");
    }
    let lists = [plan.tasks.len(), plan.held.len(), plan.reported.len(), plan.spared.len()];
    if lists.iter().all(|length| *length == 0) {
        out += &nothing_to_do(plan);
        out.push('\n');
        out += &unfinished_rebuilds(plan, look);
        return out;
    }
    let groups = group(plan);
    let width = groups.iter().map(|group| group.title.width()).max().unwrap_or(0);
    for summary in &plan.models {
        let own: Vec<&Group<'_>> = groups.iter().filter(|group| *group.model == summary.model).collect();
        if own.is_empty() {
            continue;
        }
        let held = if summary.held > 0 { format!(", {} held back", summary.held) } else { String::new() };
        out += &format!(
            "\n{}  {} of {}{held}\n",
            look.paint(Paint::Strong, &summary.model),
            count(summary.tasks as u64),
            plural(summary.due, "slice")
        );
        for group in own {
            out += &group.render(width, look);
        }
    }
    out += &broken::files(plan.held.iter().map(|held| (&held.model, &held.hold)), look);
    out += &advice(plan, look);
    out.push('\n');
    out += &totals(plan);
    out.push('\n');
    out += &unfinished_rebuilds(plan, look);
    out
}

fn unfinished_rebuilds(plan: &Plan, look: &Look) -> String {
    unfinished(plan.rebuilds.iter().map(|found| (&found.model, found.slices)), look)
}

/// `nothing to do: 3,661 slices of 9 models are fresh`.
pub fn nothing_to_do(plan: &Plan) -> String {
    if !plan.models.is_empty() && plan.models.iter().all(|model| model.due == 0) {
        let models = plural(plan.models.len(), "model");
        return format!(
            "nothing to do: no interval of {models} is due: the first one is that of `start` in oncemore.yml, each once \
             it is over; `--from` and `--to` name others"
        );
    }
    let fresh = plan.models.iter().map(|model| model.fresh).sum();
    let reported: usize = plan.models.iter().map(|model| model.reported).sum();
    let mut out = format!(
        "nothing to do: {} of {} are fresh",
        plural(fresh, "slice"),
        plural(plan.models.len(), "model")
    );
    if reported > 0 {
        out += &format!("; {} reported, `oncemore plan` says why", count(reported as u64));
    }
    out
}

/// `396 slices of 4 models to run, 3 held back, 1,200 fresh`.
pub fn totals(plan: &Plan) -> String {
    let models = plan.models.iter().filter(|model| model.tasks > 0).count();
    let fresh: usize = plan.models.iter().map(|model| model.fresh).sum();
    let mut parts = vec![match plan.tasks.len() {
        0 => "nothing to run".to_owned(),
        tasks => format!("{} of {} to run", plural(tasks, "slice"), plural(models, "model")),
    }];
    if !plan.held.is_empty() {
        parts.push(format!("{} held back", count(plan.held.len() as u64)));
    }
    if !plan.reported.is_empty() {
        parts.push(format!("{} reported", count(plan.reported.len() as u64)));
    }
    if !plan.spared.is_empty() {
        parts.push(format!("{} to stamp anew", count(plan.spared.len() as u64)));
    }
    if fresh > 0 {
        parts.push(format!("{} fresh", count(fresh as u64)));
    }
    parts.join(", ")
}

/// Slices of one model with one reason and one hold.
#[derive(Debug, Serialize)]
pub struct Group<'a> {
    /// The table.
    pub model: &'a TableName,
    /// Reason and hold in words.
    pub title: String,
    /// What they are about, without repetition.
    pub details: Vec<String>,
    /// Whether the slices are held back.
    pub held: bool,
    /// Number of slices.
    pub slices: usize,
    /// Their intervals, neighbours joined.
    pub ranges: Vec<Run>,
    #[serde(skip)]
    whole: bool,
}

impl Group<'_> {
    fn render(&self, width: usize, look: &Look) -> String {
        let paint = if self.held { Paint::Held } else { Paint::Due };
        let title = look.paint(paint, pad(&self.title, width, false));
        let ranges = if self.whole { "whole table".to_owned() } else { show(&self.ranges, RANGES_MAX, look) };
        let detail = match self.details.len() {
            0..=DETAILS_MAX => self.details.join("; "),
            many => format!("{}, and {} like it", self.details[0], count(many as u64 - 1)),
        };
        let detail = if detail.is_empty() { detail } else { format!("  ({detail})") };
        let line = format!(
            "  {title}  {}  {ranges}{}",
            pad(&count(self.slices as u64), 5, true),
            look.paint(Paint::Dim, detail)
        );
        format!("{}\n", line.trim_end())
    }
}

/// The plan by model, reason and hold, in the plan's order.
pub fn group(plan: &Plan) -> Vec<Group<'_>> {
    let mut buckets: Vec<Bucket<'_>> = Vec::new();
    for task in &plan.tasks {
        let title = Cow::Borrowed(reason_title(&task.reason));
        add(&mut buckets, task_slice(task), title, reason_detail(&task.reason), false);
    }
    for held in &plan.held {
        let title = match hold_title(&held.hold) {
            title if title == reason_title(&held.reason) => Cow::Borrowed(title),
            title => Cow::Owned(format!("{title}: {}", reason_title(&held.reason))),
        };
        let detail = match &held.hold {
            Hold::Broken { what } => broken::place(what).to_owned(),
            hold => hold_detail(hold),
        };
        add(&mut buckets, held_slice(held), title, Some(detail), true);
    }
    for found in &plan.reported {
        let title = Cow::Borrowed(REPORTED);
        add(&mut buckets, reported_slice(found), title, Some(found.inputs.join(", ")), true);
    }
    for found in &plan.spared {
        let title = Cow::Borrowed(SPARED);
        add(&mut buckets, spared_slice(found), title, Some(found.inputs.join(", ")), true);
    }
    buckets
        .into_iter()
        .map(|bucket| Group {
            model: bucket.model,
            title: bucket.title.into_owned(),
            details: bucket.details,
            held: bucket.held,
            slices: bucket.slices.len(),
            whole: bucket.slices.iter().all(|(interval, _)| interval.is_whole()),
            ranges: collapse(bucket.slices),
        })
        .collect()
}

type Slice<'a> = (&'a TableName, Interval, &'a str);

fn task_slice(task: &Task) -> Slice<'_> {
    (&task.model, task.interval, &task.label)
}

fn held_slice(held: &Held) -> Slice<'_> {
    (&held.model, held.interval, &held.label)
}

fn reported_slice(found: &Reported) -> Slice<'_> {
    (&found.model, found.interval, &found.label)
}

fn spared_slice(found: &Spared) -> Slice<'_> {
    (&found.model, found.interval, &found.label)
}

struct Bucket<'a> {
    model: &'a TableName,
    title: Cow<'static, str>,
    details: Vec<String>,
    held: bool,
    slices: Vec<(Interval, &'a str)>,
}

fn add<'a>(
    buckets: &mut Vec<Bucket<'a>>,
    (model, interval, label): Slice<'a>,
    title: Cow<'static, str>,
    detail: Option<String>,
    held: bool,
) {
    // Tasks come model by model, so a bucket is found among the last few.
    let found = buckets
        .iter_mut()
        .rev()
        .take(16)
        .find(|bucket| bucket.model == model && bucket.title == title && bucket.held == held);
    let bucket = match found {
        Some(bucket) => bucket,
        None => {
            buckets.push(Bucket { model, title, details: Vec::new(), held, slices: Vec::new() });
            let last = buckets.len() - 1;
            &mut buckets[last]
        }
    };
    bucket.slices.push((interval, label));
    // A detail for each slice (a file that each waits for) would be quadratic; past a few hundred nobody reads them.
    if let Some(detail) = detail
        && bucket.details.len() < 400
        && !bucket.details.contains(&detail)
    {
        bucket.details.push(detail);
    }
}

/// What to do about what is held back or reported, once for each kind.
fn advice(plan: &Plan, look: &Look) -> String {
    let mut out = String::new();
    if let Some(found) = plan.reported.first() {
        let model = &found.model;
        out += &format!(
            "\n{}: `on_change: report` runs nothing; compute anew: `oncemore run {model} --force`; \
             or keep the rows: `oncemore accept {model} --from .. --to .. --because TEXT`\n",
            look.paint(Paint::Vouched, "help")
        );
    }
    for (first, models) in held_alike(plan) {
        if out.is_empty() {
            out.push('\n');
        }
        let help = help_for(&first.hold, &models);
        out += &format!("{}: {}: {help}\n", look.paint(Paint::Vouched, "help"), hold_title(&first.hold));
    }
    out
}

/// Models that the same help gets past a hold, in the plan's order, with the first slice that is held so.
fn held_alike(plan: &Plan) -> Vec<(&Held, Vec<&TableName>)> {
    let mut alike: Vec<(&str, &Held, Vec<&TableName>)> = Vec::new();
    for held in &plan.held {
        let Some(help) = hold_help(&held.hold) else { continue };
        match alike.iter_mut().find(|(known, ..)| *known == help) {
            Some((_, _, models)) if models.last() == Some(&&held.model) => {}
            Some((_, _, models)) => models.push(&held.model),
            None => alike.push((help, held, vec![&held.model])),
        }
    }
    alike.into_iter().map(|(_, first, models)| (first, models)).collect()
}

/// What to type to get past a hold of all these models, in one command.
fn help_for(hold: &Hold, models: &[&TableName]) -> String {
    let names: Vec<&str> = models.iter().map(|model| model.as_str()).collect();
    let help = hold_help(hold).unwrap_or_default();
    match (hold, &names[..]) {
        (Hold::Rebuild { .. }, [_, _, ..]) => {
            let typed = &names[..names.len().min(REBUILDS_MAX)];
            let commands: Vec<String> = typed.iter().map(|name| format!("oncemore rebuild {name}")).collect();
            let rest = match &names[typed.len()..] {
                [] => String::new(),
                rest => format!("; then {} more: {}", count(rest.len() as u64), rest.join(", ")),
            };
            format!(
                "build each table anew beside the old one, which stays readable until the new one takes its place: \
                 `{}`{rest}",
                commands.join(" && ")
            )
        }
        // `accept` takes one model.
        (Hold::Foreign { .. }, [first, ..]) => help.replace("{model}", first),
        _ => help.replace("{model}", &names.join(" ")),
    }
}
