//! How far a table that is built anew can reach: which intervals are due, and which slices of the old table lie where it
//! has none. Such rows can't be computed again, so that a rebuild leaves them behind by consent alone.

use oncemore_core::{Calendar, Instant, Interval};

use super::Places;
use crate::error::{ErrorKind, RunError};
use crate::ground::{Ground, ModelGround};
use crate::number::plural;
use crate::workspace::Workspace;

/// Refuses what has nothing to build: the old table stays, for an empty one would be no better.
pub(super) fn refuse_nothing(ground: &Ground, at: &Places) -> Result<(), RunError> {
    let built = &ground.models[at.built];
    let Some(calendar) = &built.calendar else { return Ok(()) };
    if !ground.due(at.built).is_empty() {
        return Ok(());
    }
    let model = &ground.models[at.own].name;
    let when = built.start.map(|start| due(built, calendar, calendar.containing(start)));
    let when = when.map_or_else(String::new, |when| format!(": {when}"));
    let refused = RunError::new(
        ErrorKind::Conflict,
        format!(
            "no interval of `{model}` is due, so that nothing can be built and nothing was swapped{when}"
        ),
    );
    Err(refused
        .help("the table is as it was: type it again when the interval is due, or take the change back"))
}

/// Refuses what would lose rows of the old table.
pub(super) fn refuse_loss(workspace: &Workspace, ground: &Ground, at: &Places) -> Result<(), RunError> {
    let lost = outside(workspace, ground, at)?;
    let Some((first, last)) = lost.first().zip(lost.last()) else { return Ok(()) };
    let Some(range) = Interval::new(first.start(), last.end()) else { return Ok(()) };
    let (model, built) = (&ground.models[at.own].name, &ground.models[at.built]);
    let next = built.calendar.as_ref().zip(ground.due(at.built).last().map(|slot| slot.interval));
    let next = next.filter(|(_, reach)| last.end() > reach.end());
    let next =
        next.map(|(calendar, reach)| format!("; or wait: {}", due(built, calendar, calendar.next(reach))));
    let range =
        built.calendar.as_ref().map_or_else(|| range.to_string(), |calendar| from_to(calendar, range));
    Err(RunError::usage(
        format!(
            "{} with rows ({range}) would be gone: they lie where no interval is due, in whole or in part",
            plural(lost.len(), "slice")
        ),
        format!("leave them behind: `oncemore rebuild {model} --yes`{}", next.unwrap_or_default()),
    ))
}

/// The slices with rows of the old table that what is due does not cover.
pub(super) fn outside(
    workspace: &Workspace,
    ground: &Ground,
    at: &Places,
) -> Result<Vec<Interval>, RunError> {
    let due = ground.due(at.built);
    let reach = due.first().zip(due.last());
    let covered = |slice: &Interval| {
        reach.is_some_and(|(first, last)| {
            first.interval.start() <= slice.start() && slice.end() <= last.interval.end()
        })
    };
    let old = old_slices(workspace, &ground.models[at.own].name)?;
    Ok(old.into_iter().filter(|slice| !covered(slice)).collect())
}

/// The slices of a table that hold rows, by the log where it is folded from one; none of what is one slice.
pub(super) fn old_slices(
    workspace: &Workspace,
    table: &oncemore_core::TableName,
) -> Result<Vec<Interval>, RunError> {
    let stamps = workspace.warehouse.slices_of(table)?;
    let held = stamps.iter().filter(|stamp| !stamp.interval.is_whole() && stamp.fingerprint.rows > 0);
    Ok(held.map(|stamp| stamp.interval).collect())
}

/// An interval by its bounds, the end exclusive, as wall times of the calendar.
pub(super) fn from_to(calendar: &Calendar, interval: Interval) -> String {
    format!("{} to {}", wall(calendar, interval.start()), wall(calendar, interval.end()))
}

/// When an interval that is not due yet becomes due.
fn due(model: &ModelGround, calendar: &Calendar, interval: Interval) -> String {
    let label = calendar.label(interval);
    let from = wall(calendar, Instant(interval.end().0.saturating_add(model.delay_micros)));
    match model.end.filter(|end| *end < interval.end()) {
        Some(end) => format!("{label} would be due from {from}, and `end` is {}", wall(calendar, end)),
        None => format!("{label} is due from {from}"),
    }
}

fn wall(calendar: &Calendar, instant: Instant) -> String {
    calendar.zone.wall(instant).to_string().replace("T00:00:00", "")
}
