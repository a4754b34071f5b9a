//! The one atomic step: slices replaced or stamped anew, fences checked, pointers swapped, ledger written, in one
//! transaction of the catalog.
//!
//! A commit is planned on the newest head, its files are written, and the pointer is moved if the head is still the
//! same; else it is planned again. Data files stay as they are. The loop is ours: it knows its own earlier commit by
//! the attempt in the slice map.

mod compact;
mod decide;
mod fold;
pub(crate) mod snapshot;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use iceberg::spec::TableMetadata;
use oncemore_core::{AttemptId, CodeVersion, Digest, Epoch, Instant, Interval, Origin, Pin, TableName};
use rusqlite::Connection;

use crate::catalog;
use crate::error::{CommitError, Result};
use crate::fold::{OnTie, Tied};
use crate::ledger::{AttemptEnd, AttemptState, finish};
use crate::metadata::manifest;
use crate::slice_map::SliceMap;
use crate::stage::{Audited, Files};
use crate::state::State;
use crate::warehouse::{Warehouse, lock};
use decide::Decision;
use fold::Folded;

/// How often a commit is planned again when others are first. Each loss means that another one got through.
pub(crate) const TRIES: u32 = 200;

/// What a publish does to its slice.
#[expect(clippy::large_enum_variant, reason = "most are replaces, and each is moved a few times")]
#[derive(Debug)]
pub enum Change {
    /// All rows are replaced by these; where they are what the slice holds already, only the stamp is.
    Replace(Audited),
    /// The rows were found to be right, without computing them: a new stamp.
    Restamp,
    /// What the slice holds now is accepted, whoever wrote it: a new stamp over the live files. Also ends the halt
    /// after another writer set the table back.
    Adopt,
}

/// What the one who publishes knows of a stamp; the rest comes from the rows and the head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StampDraft {
    /// The code that the rows are valid for.
    pub code: CodeVersion,
    /// When that code was first seen.
    pub code_seen: Instant,
    /// Inputs at the versions that were read, by name.
    pub inputs: Vec<Pin>,
    /// Digest of the audits that passed.
    pub audits: Digest,
    /// Epoch of the attempt.
    pub epoch: Epoch,
    /// Token of the attempt.
    pub attempt: AttemptId,
    /// Engine build that computed the rows. A restamp keeps the one before.
    pub engine: String,
    /// Computed, or vouched for.
    pub origin: Origin,
}

/// One slice to publish.
#[derive(Debug)]
pub struct Publish {
    /// The table.
    pub table: TableName,
    /// The slice.
    pub interval: Interval,
    /// Its new stamp.
    pub stamp: StampDraft,
    /// What happens to its rows.
    pub change: Change,
    /// The attempt that the slice's stamp named when the run looked. A restamp of a slice that changed since is a
    /// conflict. A replace depends on nothing that the slice held: there the later request wins, see `stamp.epoch`.
    pub expected: Option<AttemptId>,
    /// Replace also what another writer put into the slice.
    pub replace_foreign: bool,
    /// Read the slice where it comes out equal: files that can't be read, or hold other rows, are replaced.
    pub read_back: bool,
    /// Of changes that are folded: what ties with other slices do.
    pub on_tie: OnTie,
    /// The column that decides the slice: two slices always differ in it, which alone makes no tie.
    pub dated_by: Option<String>,
}

/// How a publish ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Published {
    /// The slice holds the new rows.
    Replaced {
        /// The snapshot; `None` where neither before nor after there were rows.
        snapshot_id: Option<i64>,
        /// Ties with other slices that the new rows bring, where these are sought.
        ties: Option<Tied>,
    },
    /// The slice holds what it held, under a new stamp.
    Unchanged,
}

/// One table's part of a commit, its files not yet written.
#[derive(Debug)]
struct TableCommit {
    state: Arc<State>,
    metadata: TableMetadata,
    location: String,
    map: SliceMap,
    map_file: String,
    /// Files to write, all in the metadata folder.
    files: Vec<(PathBuf, Vec<u8>)>,
    manifests: Vec<(String, manifest::Entries)>,
    /// The manifest list, with its path, where there is a new one.
    list: Option<(String, manifest::List)>,
    expired: Vec<PathBuf>,
    /// Items by their place in the request: what they come to, rows and bytes.
    items: Vec<(usize, Published, AttemptEnd, Option<(u64, u64)>)>,
    /// Rows that only this commit points to: those of a table that is folded from another one.
    staged: Option<Files>,
}

impl TableCommit {
    /// Adds the ties that items bring, by their place, to what they come to.
    fn tell(&mut self, found: &[(usize, Tied)]) {
        for (place, published, ..) in &mut self.items {
            if let (Published::Replaced { ties, .. }, Some((_, tied))) =
                (published, found.iter().find(|(tied, _)| tied == place))
            {
                *ties = Some(tied.clone());
            }
        }
    }
}

/// The commits that items of one table lead to, its own first, and the answers to items that take no part, by place.
struct Planned {
    commits: Vec<TableCommit>,
    answers: Vec<(usize, Result<Published>)>,
}

/// Whether the transaction moved every pointer.
enum Outcome {
    Moved,
    Stale,
    Failed(CommitError),
}

impl Warehouse {
    /// Publishes slices: those of one table in one snapshot, those of several tables in one transaction. Each has its
    /// own answer; one that is refused holds up none of the others.
    pub fn publish(&self, publishes: Vec<Publish>) -> Vec<Result<Published>> {
        let mut results: Vec<Option<Result<Published>>> = publishes.iter().map(|_| None).collect();
        let mut publishes = publishes;
        let mut tables: BTreeMap<TableName, Vec<usize>> = BTreeMap::new();
        for (place, publish) in publishes.iter().enumerate() {
            tables.entry(publish.table.clone()).or_default().push(place);
        }
        // In order of names, so that two groups never wait for each other.
        let queues: Vec<_> = tables.keys().map(|table| self.queue(table)).collect();
        let _turns: Vec<_> = queues.iter().map(|queue| lock(queue)).collect();
        for attempt in 0..TRIES {
            let mut commits = self.plan(&mut publishes, &tables, &mut results);
            if commits.is_empty() {
                break;
            }
            match self.commit(&commits, &publishes) {
                Outcome::Moved => {
                    commits.into_iter().for_each(|commit| self.settle(commit, &mut publishes, &mut results));
                    break;
                }
                Outcome::Stale if attempt + 1 < TRIES => {
                    self.withdraw(&commits);
                    // Lets the winner of this round finish; longer when many compete.
                    std::thread::sleep(Duration::from_millis(u64::from(attempt.min(20))));
                }
                Outcome::Stale => {
                    self.withdraw(&commits);
                    let error = CommitError::io("commit", "other writers kept changing the tables");
                    fail(&mut commits, &error, &mut publishes, &mut results);
                    break;
                }
                Outcome::Failed(error) => {
                    if !matches!(error, CommitError::Unknown { .. }) {
                        self.withdraw(&commits);
                    }
                    fail(&mut commits, &error, &mut publishes, &mut results);
                    break;
                }
            }
        }
        let lost = || Err(CommitError::Internal("a publish without an answer".to_owned()));
        results.into_iter().map(|result| result.unwrap_or_else(lost)).collect()
    }

    /// Plans each table's commit on its newest head; answers items that need none.
    fn plan(
        &self,
        publishes: &mut [Publish],
        tables: &BTreeMap<TableName, Vec<usize>>,
        results: &mut [Option<Result<Published>>],
    ) -> Vec<TableCommit> {
        let mut commits = Vec::new();
        for (table, places) in tables {
            let open: Vec<usize> = places.iter().copied().filter(|place| results[*place].is_none()).collect();
            if open.is_empty() {
                continue;
            }
            let planned = self.plan_table(table, publishes, &open);
            match planned {
                Ok(planned) => {
                    for (place, answer) in planned.answers {
                        // Published by an earlier try: its files are the table's.
                        if let (Ok(_), Change::Replace(audited)) = (&answer, &mut publishes[place].change) {
                            audited.0.files.keep();
                        }
                        results[place] = Some(answer);
                    }
                    commits.extend(planned.commits);
                }
                Err(error) => open.into_iter().for_each(|place| results[place] = Some(Err(error.clone()))),
            }
        }
        commits
    }

    fn plan_table(&self, table: &TableName, publishes: &[Publish], open: &[usize]) -> Result<Planned> {
        let state = self.state(table)?;
        let state = state.ok_or_else(|| CommitError::Config(format!("there is no table `{table}`")))?;
        if let Some(log) = crate::metadata::log_of(&state.metadata) {
            return Err(CommitError::Config(format!(
                "`{table}` is folded from `{log}`; only that can be written"
            )));
        }
        let live = if state.is_ours() { None } else { Some(state.live(self)?) };
        let others = self.others_at_work(&self.catalog().lock(), table)?;
        let spec = crate::metadata::fold_of(&state.metadata)?;
        let (mut open, mut refused) = (open.to_vec(), Vec::new());
        loop {
            let mut answers = Vec::new();
            let mut decisions = decide::Decisions::new(self, &state, live.clone(), others.clone());
            for place in &open {
                match decisions.decide(*place, &publishes[*place]) {
                    Decision::Commit => {}
                    Decision::Already(published) => answers.push((*place, Ok(published))),
                    Decision::Refuse(error) => answers.push((*place, Err(error))),
                }
            }
            let mut commits = Vec::new();
            if !decisions.is_empty() {
                commits.push(snapshot::decided(self, &decisions, publishes)?);
                let folded = match &spec {
                    Some(spec) => fold::plan(self, &decisions, publishes, spec)?,
                    None => Folded::default(),
                };
                match folded {
                    Folded::Commits(folded, found) => {
                        commits.iter_mut().for_each(|own| own.tell(&found));
                        commits.extend(folded);
                    }
                    // Without them others may tie, too: each round leaves fewer.
                    Folded::Refused(ties) => {
                        open.retain(|place| ties.iter().all(|(tied, _)| tied != place));
                        refused.extend(ties.into_iter().map(|(place, tied)| {
                            let Publish { table, interval, .. } = &publishes[place];
                            let (table, interval) = (table.clone(), *interval);
                            let order = spec.iter().flat_map(|spec| &spec.order).cloned().collect();
                            (place, Err(CommitError::Tied { table, interval, order, tied }))
                        }));
                        continue;
                    }
                }
            }
            answers.extend(refused);
            return Ok(Planned { commits, answers });
        }
    }

    /// Writes the files of all commits and moves all pointers, or none.
    fn commit(&self, commits: &[TableCommit], publishes: &[Publish]) -> Outcome {
        for commit in commits {
            let staged = commit.items.iter().filter_map(|(place, published, ..)| {
                match (published, &publishes[*place].change) {
                    (Published::Replaced { .. }, Change::Replace(audited)) => Some(&audited.0.files.list),
                    _ => None,
                }
            });
            let folded = commit.staged.iter().map(|files| &files.list);
            let staged: Vec<PathBuf> =
                staged.chain(folded).flatten().map(|(path, ..)| path.clone()).collect();
            match self.disk().persist(&commit.files, &staged) {
                Ok(true) => {}
                Ok(false) => return Outcome::Stale,
                Err(error) => return Outcome::Failed(error),
            }
        }
        let now = self.world().now();
        let mut stale = false;
        let written = self.catalog().write(|transaction| {
            for commit in commits {
                let (state, location) = (&commit.state, &commit.location);
                if !commit.files.iter().all(|(path, _)| path.exists()) {
                    // A clean-up took them for those of a dead process: they are written again.
                    stale = true;
                    return Err(CommitError::Internal("files gone".to_owned()));
                }
                if !catalog::swap(transaction, &state.table, Some(&state.location), location)? {
                    stale = true;
                    return Err(CommitError::Internal("stale".to_owned()));
                }
                if self.is_taken_over(transaction, commit, publishes)? {
                    stale = true;
                    return Err(CommitError::Internal("taken over".to_owned()));
                }
                let index = crate::state::IndexState { map: Some(commit.map_file.clone()) };
                if commit.map.clean {
                    catalog::set_index(transaction, &state.table, location, &index.to_json())?;
                }
                for (_, _, end, amount) in &commit.items {
                    finish(transaction, end, now, *amount)?;
                }
            }
            Ok(())
        });
        match written {
            Ok(()) => Outcome::Moved,
            Err(_) if stale => Outcome::Stale,
            Err(error @ CommitError::Unknown { .. }) => self.look_again(commits, publishes, error),
            Err(error) => Outcome::Failed(error),
        }
    }

    /// Whether another process claimed one of the slices since the commit was planned.
    fn is_taken_over(
        &self,
        connection: &Connection,
        commit: &TableCommit,
        publishes: &[Publish],
    ) -> Result<bool> {
        if commit.items.is_empty() {
            return Ok(false);
        }
        let table = &commit.state.table;
        let others = self.others_at_work(connection, table)?;
        let touched =
            |place: usize| others.iter().any(|claim| claim.touches(table, publishes[place].interval));
        Ok(commit.items.iter().any(|(place, ..)| touched(*place)))
    }

    /// The answer of COMMIT was lost: the pointers tell, once another transaction has been written after it. All moved
    /// or none, so one of them speaks for all.
    fn look_again(&self, commits: &[TableCommit], publishes: &[Publish], lost: CommitError) -> Outcome {
        let speaks = commits.iter().find(|commit| !commit.items.is_empty()).or(commits.first());
        let Some(commit) = speaks else { return Outcome::Moved };
        let table = &commit.state.table;
        if self.catalog().settle().is_err() {
            return Outcome::Failed(lost);
        }
        match self.catalog().pointer(table) {
            Ok(Some(now)) if now == commit.location => Outcome::Moved,
            Ok(Some(now)) if now == commit.state.location => {
                Outcome::Failed(CommitError::io("commit to the catalog", lost))
            }
            Ok(_) => {
                let Ok(Some(state)) = self.state(table) else { return Outcome::Failed(lost) };
                let there = commit.items.iter().any(|(place, ..)| {
                    let publish = &publishes[*place];
                    let stamp = state.map.get(publish.interval).and_then(|entry| entry.stamp.as_ref());
                    stamp.is_some_and(|stamp| stamp.attempt == publish.stamp.attempt)
                });
                if there { Outcome::Moved } else { Outcome::Failed(lost) }
            }
            Err(_) => Outcome::Failed(lost),
        }
    }

    /// After a commit: staged files are the table's now, caches and hints follow.
    fn settle(
        &self,
        commit: TableCommit,
        publishes: &mut [Publish],
        results: &mut [Option<Result<Published>>],
    ) {
        let TableCommit {
            state,
            metadata,
            location,
            map,
            map_file,
            manifests,
            list,
            expired,
            items,
            staged,
            ..
        } = commit;
        if let Some(mut files) = staged {
            files.keep();
        }
        for (place, published, ..) in items {
            if let (Published::Replaced { .. }, Change::Replace(audited)) =
                (&published, &mut publishes[place].change)
            {
                audited.0.files.keep();
            }
            results[place] = Some(Ok(published));
        }
        manifests.into_iter().for_each(|(path, entries)| self.remember_manifest(path, entries));
        if let Some((path, list)) = list {
            self.remember_list(&metadata, path, list);
        }
        self.write_hint(&state.table, &location);
        for path in expired {
            // Left over files are found by `gc`.
            let _ = self.disk().remove(&path);
        }
        if map.clean {
            self.remember(Arc::new(State {
                table: state.table.clone(),
                location,
                folder: state.folder.clone(),
                metadata,
                map,
                map_file: Some(map_file),
                standing: crate::state::Standing::Ours,
                named: state.named.clone(),
            }));
        } else {
            self.forget(&state.table);
        }
    }

    /// Removes what a commit that did not happen wrote; data files stay for the next try.
    fn withdraw(&self, commits: &[TableCommit]) {
        for (path, _) in commits.iter().flat_map(|commit| &commit.files) {
            // What can't be removed now is an orphan that `gc` finds.
            let _ = self.disk().remove(path);
        }
    }
}

/// Answers every item of the commits with an error. Where the outcome is unknown, staged files stay.
fn fail(
    commits: &mut [TableCommit],
    error: &CommitError,
    publishes: &mut [Publish],
    results: &mut [Option<Result<Published>>],
) {
    if let CommitError::Unknown { .. } = error {
        commits.iter_mut().filter_map(|commit| commit.staged.as_mut()).for_each(Files::keep);
    }
    for (place, ..) in commits.iter().flat_map(|commit| &commit.items) {
        if let (CommitError::Unknown { .. }, Change::Replace(audited)) =
            (error, &mut publishes[*place].change)
        {
            audited.0.files.keep();
        }
        results[*place] = Some(Err(error.clone()));
    }
}

fn committed(attempt: AttemptId) -> AttemptEnd {
    AttemptEnd { id: attempt, state: AttemptState::Committed, error: None }
}
