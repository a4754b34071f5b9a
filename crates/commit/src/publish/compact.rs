//! Folded tables written anew, so that nothing is deleted of their files or lies over them: the same rows, and the same
//! bytes whatever happened before.

use std::time::Duration;

use oncemore_core::{AttemptId, TableName};

use super::{Outcome, TRIES, TableCommit, committed, fold};
use crate::error::{CommitError, Result};
use crate::fold::FoldSpec;
use crate::ledger::{Attempt, AttemptEnd, AttemptState};
use crate::metadata;
use crate::state::State;
use crate::warehouse::{Warehouse, lock};

impl Warehouse {
    /// Compacts all tables that are folded from logs; returns those that were written anew. A table that another writer
    /// changed, and one that is damaged, stays as it is.
    ///
    /// # Errors
    /// Files that can't be read or written; the tables hold what they held.
    pub fn compact(&self) -> Result<Vec<TableName>> {
        let mut written = Vec::new();
        for log in self.tables()? {
            match self.compact_log(&log) {
                // Whoever cleans up says so.
                Err(CommitError::Damaged { .. }) => {}
                compacted => written.extend(compacted?),
            }
        }
        Ok(written)
    }

    fn compact_log(&self, log: &TableName) -> Result<Vec<TableName>> {
        let Some(state) = self.state(log)? else { return Ok(Vec::new()) };
        let spec = metadata::fold_of(&state.metadata)?;
        spec.map_or_else(|| Ok(Vec::new()), |spec| self.compact_fold(log, &spec))
    }

    pub(crate) fn compact_fold(&self, log: &TableName, spec: &FoldSpec) -> Result<Vec<TableName>> {
        let queue = self.queue(log);
        let _turn = lock(&queue);
        let mut begun: Option<Attempt> = None;
        for attempt in 0..TRIES {
            let Some(state) = self.state(log)? else { break };
            let mut name = || match &begun {
                Some(attempt) => Ok(attempt.clone()),
                None => Ok(begun.insert(self.begin_compaction(&state)?).clone()),
            };
            let commits = match fold::compacted(self, &state, spec, &mut name) {
                Ok(commits) => commits,
                Err(error) => {
                    self.end_compaction(begun.as_ref(), Some(&error))?;
                    return Err(error);
                }
            };
            if commits.is_empty() {
                break;
            }
            match self.commit(&commits, &[]) {
                Outcome::Moved => {
                    let written = commits.iter().map(|commit| commit.state.table.clone()).collect();
                    commits.into_iter().for_each(|commit| self.settle(commit, &mut [], &mut []));
                    self.end_compaction(begun.as_ref(), None)?;
                    return Ok(written);
                }
                Outcome::Stale => {
                    self.withdraw(&commits);
                    std::thread::sleep(Duration::from_millis(u64::from(attempt.min(20))));
                }
                Outcome::Failed(error) => return Err(self.compaction_failed(commits, begun.as_ref(), error)),
            }
        }
        self.end_compaction(begun.as_ref(), None)?;
        Ok(Vec::new())
    }

    /// An attempt that the new files are named by, so that `gc` knows whose they are: of a slice of the log, since what
    /// is folded has no fences.
    fn begin_compaction(&self, log: &State) -> Result<Attempt> {
        let stamp = log.map.entries().filter_map(|entry| entry.stamp.as_ref()).last();
        let stamp = stamp.ok_or_else(|| CommitError::Internal("rows folded from an empty log".to_owned()))?;
        let request = self.begin_request(None)?;
        let begun = self.begin_attempts(request, &[(log.table.clone(), stamp.interval, stamp.code)])?;
        begun.into_iter().next().ok_or_else(|| CommitError::Internal("no attempt was begun".to_owned()))
    }

    fn end_compaction(&self, attempt: Option<&Attempt>, error: Option<&CommitError>) -> Result<()> {
        let Some(Attempt { id, .. }) = attempt else { return Ok(()) };
        let failed = |id: &AttemptId, error: &CommitError| AttemptEnd {
            id: *id,
            state: AttemptState::Failed,
            error: Some(error.to_string()),
        };
        let end = error.map_or_else(|| committed(*id), |error| failed(id, error));
        self.end_attempts(&[end])
    }

    fn compaction_failed(
        &self,
        mut commits: Vec<TableCommit>,
        attempt: Option<&Attempt>,
        error: CommitError,
    ) -> CommitError {
        if let CommitError::Unknown { .. } = error {
            commits
                .iter_mut()
                .filter_map(|commit| commit.staged.as_mut())
                .for_each(crate::stage::Files::keep);
            return error;
        }
        self.withdraw(&commits);
        // What the ledger does not learn now it does when the process has ended.
        let _ = self.end_compaction(attempt, Some(&error));
        error
    }
}
