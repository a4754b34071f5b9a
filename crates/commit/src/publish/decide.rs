//! What happens to each slice of a commit, decided on one head: pure but for a look at the live files.

use std::sync::Arc;

use oncemore_core::{AttemptId, ColumnPrint, Digest, Fingerprint, Instant, Stamp};

use super::{Change, Publish, Published};
use crate::error::CommitError;
use crate::ledger::Claim;
use crate::slice_map::{Entry, FileEntry, SliceMap};
use crate::stage::{Staged, start_of};
use crate::state::{Live, Standing, State};
use crate::warehouse::Warehouse;

/// What becomes of one item.
#[derive(Debug)]
pub(super) enum Decision {
    /// It takes part in the commit.
    Commit,
    /// An earlier try of the same attempt got through.
    Already(Published),
    /// It can't be published.
    Refuse(CommitError),
}

/// Items of one table that take part, and the map that they lead to.
#[derive(Debug)]
pub(super) struct Decisions<'a> {
    warehouse: &'a Warehouse,
    pub(super) state: &'a Arc<State>,
    /// Live files by manifests, where another writer was at the head.
    pub(super) live: Option<Live>,
    pub(super) map: SliceMap,
    /// Items whose files are added.
    pub(super) replaced: Vec<usize>,
    /// Items that change the stamp alone.
    pub(super) restamped: Vec<usize>,
    /// Slice starts and files that go.
    pub(super) gone: Vec<(Option<i64>, Vec<FileEntry>)>,
    /// Starts of slices whose live files are accepted.
    adopted: Vec<Option<i64>>,
    /// Claims of others at work on the table: where one of them took over, the item comes too late.
    others: Vec<Claim>,
    now: Instant,
}

impl<'a> Decisions<'a> {
    pub(super) fn new(
        warehouse: &'a Warehouse,
        state: &'a Arc<State>,
        live: Option<Live>,
        others: Vec<Claim>,
    ) -> Self {
        Decisions {
            warehouse,
            state,
            adopted: Vec::new(),
            others,
            live,
            map: state.map.clone(),
            replaced: Vec::new(),
            restamped: Vec::new(),
            gone: Vec::new(),
            now: warehouse.world().now(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.replaced.is_empty() && self.restamped.is_empty()
    }

    pub(super) fn decide(&mut self, place: usize, publish: &Publish) -> Decision {
        let entry = self.map.get(publish.interval).cloned().unwrap_or_else(|| Entry::empty(publish.interval));
        if entry.stamp.as_ref().is_some_and(|stamp| stamp.attempt == publish.stamp.attempt) {
            return Decision::Already(Published::Replaced {
                snapshot_id: self.state.map.snapshot,
                ties: None,
            });
        }
        if let Err(error) = self.check(&entry, publish) {
            return Decision::Refuse(error);
        }
        let decision = match &publish.change {
            Change::Restamp => self.restamp(place, entry, publish),
            Change::Adopt => self.adopt(place, entry, publish),
            Change::Replace(audited) => self.replace(place, entry, publish, &audited.0),
        };
        if matches!(decision, Decision::Commit) {
            self.map.note_code(publish.stamp.code, publish.stamp.code_seen);
        }
        decision
    }

    /// What holds for every change: fence, claims, history, foreign files, neighbours.
    fn check(&self, entry: &Entry, publish: &Publish) -> Result<(), CommitError> {
        let (table, interval) = (publish.table.clone(), publish.interval);
        let (fence, floor) = (entry.fence.max(self.map.floor), self.map.floor);
        if fence >= publish.stamp.epoch {
            // A table that was built anew took the place of whatever older attempts could have put there.
            let published = floor >= publish.stamp.epoch
                || entry.stamp.as_ref().is_some_and(|stamp| stamp.epoch >= publish.stamp.epoch);
            return Err(CommitError::Superseded { table, interval, by: fence, published });
        }
        if let Some(claim) = self.others.iter().find(|claim| claim.touches(&table, interval)) {
            return Err(CommitError::Claimed { table, interval, by: Box::new(claim.clone()) });
        }
        if let Change::Replace(audited) = &publish.change
            && audited.0.uuid != self.state.metadata.uuid()
        {
            // Another table of that name, with fences of its own, stands where the rows were staged for.
            return Err(CommitError::Conflict { table, interval, found: None });
        }
        let takes_foreign = publish.replace_foreign || matches!(publish.change, Change::Adopt);
        if let Standing::RolledBack { found } = self.state.standing
            && !takes_foreign
        {
            return Err(CommitError::RolledBack { table, found, high: self.state.high() });
        }
        let other = self
            .map
            .overlapping(interval)
            .into_iter()
            .find(|other| other.interval != interval && other.stamp.is_some());
        if let Some(other) = other {
            let why = format!("`{table}` is cut into other slices: {interval} overlaps {}", other.interval);
            return Err(crate::shape::misfit(&table, why));
        }
        match self.foreign(entry) {
            Some(detail) if !takes_foreign => Err(CommitError::Foreign { table, interval, detail }),
            _ => Ok(()),
        }
    }

    /// How the live files of a slice differ from what we put there.
    fn foreign(&self, entry: &Entry) -> Option<String> {
        let live = self.live.as_ref()?;
        crate::foreign::difference(live, entry)
    }

    /// The live files of a slice.
    fn live_files(&self, entry: &Entry) -> Vec<FileEntry> {
        match &self.live {
            None => entry.files.clone(),
            Some(live) => live.files.get(&start_of(entry.interval)).cloned().unwrap_or_default(),
        }
    }

    fn restamp(&mut self, place: usize, mut entry: Entry, publish: &Publish) -> Decision {
        let found = entry.stamp.as_ref().map(|stamp| stamp.attempt);
        let (Some(stamp), true) = (entry.stamp.take(), found == publish.expected) else {
            return Decision::Refuse(conflict(publish, found));
        };
        let engine = stamp.engine.clone();
        entry.stamp = Some(self.unchanged(stamp, publish, engine));
        entry.fence = publish.stamp.epoch;
        self.map.put(entry);
        self.restamped.push(place);
        Decision::Commit
    }

    fn adopt(&mut self, place: usize, mut entry: Entry, publish: &Publish) -> Decision {
        let start = start_of(entry.interval);
        let deletes = self.live.as_ref().and_then(|live| live.deletes.get(&start));
        if let Some(files) = deletes {
            let count = files.len();
            return Decision::Refuse(CommitError::Foreign {
                table: publish.table.clone(),
                interval: publish.interval,
                detail: format!("{count} delete files can't be adopted; replace the slice instead"),
            });
        }
        let live = self.live_files(&entry);
        let (fingerprint, columns, schema) =
            match crate::foreign::read_print(self.warehouse, self.state, &live) {
                Ok(read) => read,
                Err(error) => return Decision::Refuse(error),
            };
        let same = entry.stamp.as_ref().filter(|stamp| stamp.fingerprint == fingerprint);
        let changed_at = same.map_or(self.now, |stamp| stamp.changed_at);
        let bytes = live.iter().map(|file| file.bytes).sum();
        let fresh = self.fresh(publish, fingerprint, columns, schema, bytes);
        entry.stamp = Some(Stamp { changed_at, ..fresh });
        entry.fence = publish.stamp.epoch;
        entry.files = live;
        self.map.put(entry);
        self.adopted.push(start);
        self.restamped.push(place);
        Decision::Commit
    }

    fn replace(&mut self, place: usize, mut entry: Entry, publish: &Publish, staged: &Staged) -> Decision {
        entry.fence = publish.stamp.epoch;
        let live = self.live_files(&entry);
        if let Some(stamp) = entry.stamp.take_if(|stamp| {
            stamp.fingerprint == staged.fingerprint
                && stamp.columns == staged.columns
                && stamp.schema == staged.schema
        }) && sorted(&live) == sorted(&entry.files)
            && live.iter().all(|file| self.state.has(file))
            && (!publish.read_back || self.read_as(&live, staged))
        {
            let engine = publish.stamp.engine.clone();
            entry.stamp = Some(self.unchanged(stamp, publish, engine));
            self.map.put(entry);
            self.restamped.push(place);
            return Decision::Commit;
        }
        if !live.is_empty() {
            self.gone.push((start_of(entry.interval), live));
        }
        entry.files = staged.files.list.iter().map(|(_, _, file)| file.clone()).collect();
        let (fingerprint, columns) = (staged.fingerprint, staged.columns.clone());
        entry.stamp = Some(self.fresh(publish, fingerprint, columns, staged.schema, staged.bytes));
        self.map.put(entry);
        self.replaced.push(place);
        Decision::Commit
    }

    /// Whether the files, read again, hold what was staged.
    fn read_as(&self, files: &[FileEntry], staged: &Staged) -> bool {
        crate::foreign::read_print(self.warehouse, self.state, files)
            .is_ok_and(|(fingerprint, ..)| fingerprint == staged.fingerprint)
    }

    fn fresh(
        &self,
        publish: &Publish,
        fingerprint: Fingerprint,
        columns: Vec<ColumnPrint>,
        schema: Digest,
        bytes: u64,
    ) -> Stamp {
        let draft = publish.stamp.clone();
        Stamp {
            interval: publish.interval,
            code: draft.code,
            code_seen: draft.code_seen,
            written_by: draft.code,
            inputs: draft.inputs,
            audits: draft.audits,
            epoch: draft.epoch,
            attempt: draft.attempt,
            fingerprint,
            columns,
            schema,
            bytes,
            changed_at: self.now,
            verified_at: self.now,
            engine: draft.engine,
            origin: draft.origin,
        }
    }

    fn unchanged(&self, before: Stamp, publish: &Publish, engine: String) -> Stamp {
        let draft = publish.stamp.clone();
        Stamp {
            code: draft.code,
            code_seen: draft.code_seen,
            inputs: draft.inputs,
            audits: draft.audits,
            epoch: draft.epoch,
            attempt: draft.attempt,
            verified_at: self.now,
            engine,
            origin: draft.origin,
            ..before
        }
    }

    /// Whether everything that is live is what the new map says.
    pub(super) fn is_clean(&self) -> bool {
        let Some(live) = &self.live else { return true };
        let replaced = |start: &Option<i64>| {
            self.adopted.contains(start) || self.gone.iter().any(|(gone, _)| gone == start)
        };
        live.elsewhere == 0
            && live.deletes.is_empty()
            && live.files.keys().all(|start| replaced(start) || self.map.starting(*start).is_some())
            && self
                .state
                .map
                .entries()
                .all(|entry| replaced(&start_of(entry.interval)) || self.foreign(entry).is_none())
    }
}

fn conflict(publish: &Publish, found: Option<AttemptId>) -> CommitError {
    CommitError::Conflict { table: publish.table.clone(), interval: publish.interval, found }
}

fn sorted(files: &[FileEntry]) -> Vec<FileEntry> {
    let mut files = files.to_vec();
    files.sort_unstable();
    files
}
