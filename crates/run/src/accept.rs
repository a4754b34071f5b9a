//! Keeps published slices under the code at hand, on somebody's word instead of a computation.

use oncemore_commit::{Change, Publish};
use oncemore_core::{Interval, Origin};
use oncemore_project::Model;
use serde::Serialize;

use crate::assess::{Allow, Assessment, Before, Hold, Verdict};
use crate::due::Label;
use crate::error::{ErrorKind, RunError};
use crate::explain::states_before;
use crate::ground::ModelGround;
use crate::rebuild;
use crate::select::RangeRequest;
use crate::workspace::Workspace;

/// What was accepted.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Accepted {
    /// Labels of the slices that are vouched for now.
    pub accepted: Vec<Label>,
    /// Labels of slices in the range that were fresh already.
    pub fresh: usize,
    /// Labels of slices in the range that hold nothing that could be kept.
    pub missing: Vec<Label>,
}

/// Vouches for the published slices of a model in a range: they count as valid for the code and the inputs at hand.
///
/// With `adopt`, slices that somebody else wrote into are taken as they are now; without it they are an error.
///
/// # Errors
/// No such model, a range that can't be, a foreign write without `adopt`, or a publish that failed.
pub fn accept(
    workspace: &Workspace,
    model: &str,
    range: &RangeRequest,
    because: &str,
    adopt: bool,
) -> Result<Accepted, RunError> {
    let ground = workspace.ground()?;
    let (Some(at), Some(model_of)) = (ground.position(model), workspace.model(model)) else {
        return Err(RunError::usage(
            format!("no table is called `{model}`"),
            "`oncemore status` lists the models",
        ));
    };
    let tables = states_before(&ground, at);
    let subject = ground.subject(at, &tables, Allow { gone: true, older_code: true, ..Allow::default() });
    let own = &ground.models[at];
    let range = match &own.calendar {
        Some(calendar) => range.resolve(calendar)?,
        None => Interval::WHOLE,
    };
    let request = workspace.warehouse.begin_request(None)?;
    let mut report = Accepted::default();
    let mut publishes = Vec::new();
    let mut before = Before::Settled;
    for slot in ground.due(at).iter() {
        let (interval, label) = (slot.interval, slot.label.clone());
        let last = std::mem::take(&mut before);
        if !range.covers(interval) {
            before = subject.standing(interval, &subject.verdict(interval, &last), &last, true);
            continue;
        }
        let assessment = subject.assess(interval, &last);
        let foreign = match &assessment.verdict {
            Verdict::Fresh => {
                report.fresh += 1;
                continue;
            }
            Verdict::Held(_, Hold::Rebuild { why }) => return Err(rebuild::needed(&own.name, why)),
            Verdict::Held(_, Hold::Foreign { detail }) => Some(detail.clone()),
            _ => None,
        };
        if let Some(detail) = foreign.as_ref().filter(|_| !adopt) {
            return Err(RunError::new(ErrorKind::Conflict, format!("`{model}` {label}: {detail}")).help(
                "`--adopt` takes the slice as it is now; `oncemore run --replace-foreign` computes it again",
            ));
        }
        if subject.stamp(interval).is_none() && foreign.is_none() {
            report.missing.push(label);
            continue;
        }
        let change = if foreign.is_some() { Change::Adopt } else { Change::Restamp };
        publishes.push(vouched(workspace, own, model_of, &assessment, request, because, change)?);
        report.accepted.push(label);
    }
    for result in workspace.warehouse.publish(publishes) {
        result?;
    }
    Ok(report)
}

/// The publish of a slice whose rows are taken as they are, on somebody's word.
pub(crate) fn vouched(
    workspace: &Workspace,
    own: &ModelGround,
    model: &Model,
    assessment: &Assessment,
    request: u64,
    because: &str,
    change: Change,
) -> Result<Publish, RunError> {
    let task = [(own.sliced.clone(), assessment.interval, own.code)];
    let attempt = workspace.warehouse.begin_attempts(request, &task)?.remove(0);
    let replace_foreign = matches!(change, Change::Adopt);
    let mut publish = workspace.publish_of(model, assessment, &attempt, own.code_seen, change);
    publish.stamp.origin = Origin::Accepted { because: because.to_owned() };
    publish.replace_foreign = replace_foreign;
    Ok(publish)
}
