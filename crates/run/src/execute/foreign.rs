//! What a run does about slices that somebody else wrote into, by the policy of their model.

use std::sync::Arc;

use oncemore_commit::{Change, CommitError};
use oncemore_core::{Interval, SliceState};
use oncemore_project::OnForeign;

use super::{Event, Observer, TaskFailure};
use crate::accept::vouched;
use crate::assess::{Allow, Before};
use crate::error::{ErrorKind, RunError};
use crate::explain::states_before;
use crate::ground::Ground;
use crate::plan::{Held, Hold, Plan};
use crate::workspace::Workspace;

/// Why an adopted slice is taken as it is, in its stamp.
const BECAUSE: &str = "`foreign: adopt`";

/// Slices of a plan that its policy takes as they are. A table that was set back is none of these: what is missing there
/// is nobody's rows.
pub(super) fn adoptable(ground: &Ground, plan: &Plan) -> Vec<Held> {
    let adopts = |held: &&Held| {
        let model = &ground.models[held.at];
        model.on_foreign == OnForeign::Adopt
            && matches!(held.hold, Hold::Foreign { .. })
            && model.foreign.contains_key(&held.interval)
            && (model.calendar.is_none() || held.interval != Interval::WHOLE)
    };
    plan.held.iter().filter(adopts).cloned().collect()
}

/// Takes slices as they are. What can't be taken stays as it was found, and is reported with the plan; returns how many
/// were.
pub(super) fn adopt(
    workspace: &Workspace,
    ground: &Ground,
    slices: &[Held],
    request: u64,
    observer: &Arc<dyn Observer>,
) -> Result<u64, RunError> {
    let mut publishes = Vec::with_capacity(slices.len());
    for held in slices {
        let own = &ground.models[held.at];
        let model = workspace.planned(&own.name)?;
        let tables = states_before(ground, held.at);
        let allow = Allow { gone: true, older_code: true, ..Allow::default() };
        let assessment = ground.subject(held.at, &tables, allow).assess(held.interval, &Before::Settled);
        publishes.push(vouched(workspace, own, model, &assessment, request, BECAUSE, Change::Adopt)?);
    }
    let mut adopted = 0;
    for (result, held) in workspace.warehouse.publish(publishes).into_iter().zip(slices) {
        match result {
            Ok(_) => {
                adopted += 1;
                observer.event(Event::Adopted(held.clone()));
            }
            Err(CommitError::Foreign { .. } | CommitError::Corrupt { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(adopted)
}

/// A slice that a run fails for, though it is not begun.
pub(super) fn refused(held: &Held, policy: OnForeign) -> Option<TaskFailure> {
    let Hold::Foreign { detail } = &held.hold else { return None };
    if policy == OnForeign::Warn {
        return None;
    }
    let interval = if held.label == *"all" { String::new() } else { format!(" --interval {}", held.label) };
    let model = &held.model;
    Some(TaskFailure {
        model: model.clone(),
        interval: held.interval,
        label: held.label.clone(),
        kind: ErrorKind::Conflict,
        message: format!("somebody else wrote into it: {detail}"),
        help: Some(format!(
            "take the rows as they are: `oncemore accept {model}{interval} --adopt --because TEXT`; or replace them: \
             `oncemore run {model}{interval} --replace-foreign`; `foreign:` in oncemore.yml says what a run does"
        )),
        state: SliceState::Unchanged,
        begun: true,
        audits: Vec::new(),
    })
}
