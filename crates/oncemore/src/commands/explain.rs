//! `oncemore explain`: the whole story of one slice.

use oncemore_commit::AttemptRow;
use oncemore_core::Interval;
use oncemore_run::RunError;
use oncemore_run::explain::{AttemptStory, Story, explain};
use oncemore_run::ground::Ground;

use crate::context::{Access, Context};
use crate::failure::Failure;
use crate::render::explain::render;

/// Tell the whole story of one slice: code, inputs, attempts, rows, and why it is or is not stale.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The table.
    pub model: String,
    /// The interval, `2013-03-01` say; a whole table needs none.
    pub interval: Option<String>,
}

/// Tells the story.
///
/// # Errors
/// No such model or interval, or a project that can't be opened.
pub fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let story = context.block_on(2, async {
        let workspace = context.open(Access::Read).await?;
        let ground = workspace.ground_with_spared().await?;
        let slice = find_slice(&ground, &args.model, args.interval.as_deref())?;
        let mut story = explain(&ground, slice.at, slice.interval)?;
        refuse_what_is_no_slice(&ground, &slice, &story)?;
        let attempts = workspace.warehouse.attempts(&story.sliced, story.interval).map_err(RunError::from)?;
        story.attempts = attempts.into_iter().rev().map(attempt).collect();
        if let Some(stamp) = &story.stamp {
            [story.ties, story.ties_across] =
                oncemore_run::ties_of(&workspace.warehouse, &story.sliced, stamp.attempt)?;
        }
        Ok(story)
    })?;
    if context.ui.is_json() {
        context.ui.json(&story)?;
    } else {
        context.ui.data(&render(&story, &context.ui.out))?;
    }
    Ok(0)
}

/// An interval before the first or after the last has no story, unless it was published once.
fn refuse_what_is_no_slice(ground: &Ground, slice: &Slice, story: &Story) -> Result<(), RunError> {
    let model = &ground.models[slice.at];
    let due = ground.due(slice.at);
    if story.stamp.is_some() || due.iter().any(|slot| slot.interval == slice.interval) {
        return Ok(());
    }
    let reach = match (due.first(), due.last()) {
        (Some(first), Some(last)) => format!("its slices go from {} to {}", first.label, last.label),
        _ => "none is due yet".to_owned(),
    };
    let help = match due.last() {
        Some(last) if slice.interval > last.interval && model.end.is_none() => "it is due once it has ended",
        _ => "`start` and `end` in oncemore.yml say where time begins and ends",
    };
    Err(RunError::usage(format!("`{}` has no slice {}: {reach}", model.name, slice.label), help))
}

fn attempt(row: AttemptRow) -> AttemptStory {
    AttemptStory {
        epoch: row.attempt.epoch.to_string(),
        state: row.state.as_str().to_owned(),
        code: row.attempt.code,
        started: row.started,
        ended: row.ended,
        rows: row.rows,
        error: row.error,
    }
}

/// A slice that a user named.
pub(crate) struct Slice {
    /// Position of its model in the ground.
    pub(crate) at: usize,
    /// Its interval.
    pub(crate) interval: Interval,
    /// As people write it.
    pub(crate) label: String,
}

/// The slice of `model` that `interval` names.
pub(crate) fn find_slice(ground: &Ground, model: &str, interval: Option<&str>) -> Result<Slice, RunError> {
    let at = ground.position(model).ok_or_else(|| {
        let known = ground.models.iter().map(|model| model.name.to_string()).collect::<Vec<_>>();
        let nearest = oncemore_project::nearest(model, known.iter().map(String::as_str));
        RunError::usage(
            format!("no table is called `{model}`"),
            nearest.map_or_else(
                || "`oncemore status` lists them".to_owned(),
                |near| format!("did you mean `{near}`?"),
            ),
        )
    })?;
    let Some(calendar) = &ground.models[at].calendar else {
        return match interval {
            None | Some("all") => Ok(Slice { at, interval: Interval::WHOLE, label: "all".to_owned() }),
            Some(text) => Err(RunError::usage(
                format!("`{model}` is one slice, it has no interval `{text}`"),
                "leave the interval out",
            )),
        };
    };
    let example =
        || ground.due(at).last().map_or_else(|| "2013-03-01".to_owned(), |last| last.label.to_string());
    let Some(text) = interval else {
        return Err(RunError::usage(
            format!("`{model}` has a slice each {}", calendar.length),
            format!("name one: `{}`", example()),
        ));
    };
    let range = calendar.parse_range(text).ok_or_else(|| {
        RunError::usage(
            format!("`{text}` is no interval of `{model}` ({} in {})", calendar.length, calendar.zone),
            format!("write `{}`", example()),
        )
    })?;
    let holding = calendar.containing(range.start());
    // A week goes by its first day; any finer range inside one slice names that slice.
    if holding.covers(range) {
        return Ok(Slice { at, interval: holding, label: calendar.label(holding) });
    }
    let number = calendar.touching(range).count();
    Err(RunError::usage(
        format!("`{text}` holds {number} slices of `{model}`"),
        format!("name one: `{}`; or see them all: `oncemore status {model} --why`", calendar.label(holding)),
    ))
}
