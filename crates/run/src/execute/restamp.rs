//! Stamps of slices that changes of their inputs spare: they name the inputs as they are now, so that the next command has
//! nothing to look for, and older versions of the inputs may be let go. Nothing is computed.

use oncemore_commit::{AttemptEnd, AttemptState, Change, CommitError, Publish};
use oncemore_core::AttemptId;

use super::{Event, Run};
use crate::assess::Assessment;
use crate::due::Label;
use crate::error::{ErrorKind, RunError};
use crate::fold;
use crate::ground::Ground;
use crate::task::Failed;

/// Most stamps in one commit.
const STAMPS: usize = 512;

/// A slice that is to get another stamp.
pub(super) struct Sparing {
    /// Position of its model in the ground.
    pub(super) at: usize,
    pub(super) label: Label,
    /// With the inputs that the stamp is to name.
    pub(super) assessment: Assessment,
}

impl Run<'_> {
    /// Gives slices their stamps, many in one commit. A slice that another run is at, or was at first, is left to it: what
    /// it holds is right either way.
    pub(super) async fn restamp(&mut self, ground: &Ground, spared: Vec<Sparing>) -> Result<(), RunError> {
        let at_once = if self.options.single_commits { 1 } else { STAMPS };
        for batch in spared.chunks(at_once) {
            if self.stop.is_stopped() {
                return Ok(());
            }
            let publishes = self.stamps(ground, batch)?;
            let attempts: Vec<AttemptId> = publishes.iter().map(|publish| publish.stamp.attempt).collect();
            let warehouse = self.workspace.warehouse.clone();
            // Syncs to disk, and holds the catalog's write lock.
            let published = tokio::task::spawn_blocking(move || warehouse.publish(publishes)).await;
            let published = published.map_err(|panic| {
                RunError::new(ErrorKind::Internal, format!("a commit of stamps ended early: {panic}"))
            })?;
            let mut ends = Vec::new();
            for ((slice, result), id) in batch.iter().zip(published).zip(attempts) {
                let error = result.err();
                let end = error.as_ref().and_then(ended);
                ends.extend(end.map(|(state, error)| AttemptEnd { id, state, error }));
                let own = &ground.models[slice.at];
                if let (None, Some(owner), true) = (&error, slice.assessment.owner, own.is_folded()) {
                    // What can't be kept is not known to `explain`.
                    let _ = fold::carry(&self.workspace.warehouse, &own.sliced, (owner, id), false);
                }
                self.stamped(ground, slice, error);
            }
            // What can't be recorded now is found by `resolve`, too.
            let _ = self.workspace.warehouse.end_attempts(&ends);
        }
        Ok(())
    }

    fn stamps(&self, ground: &Ground, slices: &[Sparing]) -> Result<Vec<Publish>, RunError> {
        let task = |slice: &Sparing| {
            let own = &ground.models[slice.at];
            (own.sliced.clone(), slice.assessment.interval, own.code)
        };
        let tasks: Vec<_> = slices.iter().map(task).collect();
        let attempts = self.workspace.warehouse.begin_attempts(self.report.request, &tasks)?;
        let mut publishes = Vec::with_capacity(slices.len());
        for (slice, attempt) in slices.iter().zip(attempts) {
            let own = &ground.models[slice.at];
            let model = self.workspace.planned(&own.name)?;
            let assessment = &slice.assessment;
            let mut publish =
                self.workspace.publish_of(model, assessment, &attempt, own.code_seen, Change::Restamp);
            let stamps = &own.stamps;
            if let Ok(at) = stamps.binary_search_by(|stamp| stamp.interval.cmp(&assessment.interval)) {
                // What somebody vouched for is vouched for still.
                publish.stamp.origin = stamps[at].origin.clone();
            }
            publishes.push(publish);
        }
        Ok(publishes)
    }

    fn stamped(&mut self, ground: &Ground, slice: &Sparing, error: Option<CommitError>) {
        use CommitError as E;
        let model = ground.models[slice.at].name.clone();
        let (interval, label) = (slice.assessment.interval, slice.label.clone());
        match error {
            None => {
                self.report.spared += 1;
                self.observer.event(Event::Spared { model, label });
            }
            Some(E::Superseded { .. } | E::Conflict { .. } | E::Claimed { .. }) => {
                self.report.elsewhere += 1;
                self.observer.event(Event::Elsewhere { model, label });
            }
            Some(error) => {
                let failure = Failed::from(error).of(&model, interval, label);
                self.observer.event(Event::Failed(failure.clone()));
                self.report.failed.push(failure);
            }
        }
    }
}

/// How an attempt ended that published nothing; `None` where that is not known.
fn ended(error: &CommitError) -> Option<(AttemptState, Option<String>)> {
    use CommitError as E;
    match error {
        E::Unknown { .. } => None,
        E::Superseded { .. } | E::Conflict { .. } | E::Claimed { .. } => {
            Some((AttemptState::Superseded, None))
        }
        other => Some((AttemptState::Failed, Some(other.to_string()))),
    }
}
