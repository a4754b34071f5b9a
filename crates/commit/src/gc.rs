//! Removes files that no snapshot names and no attempt can still publish.
//!
//! A data file of ours goes if nothing refers to it *and* the slice's fence has reached the epoch in its name: then
//! the attempt that wrote it can never publish. Where the fence has not, and the attempt is dead, an empty fence is
//! committed first. Metadata of a commit that is under way is named by nothing either: it goes under the catalog's lock
//! and only while the head is the one that was looked at, and a commit looks under that lock whether its files are
//! still there.
//!
//! Age only delays, for readers that opened a snapshot before: it counts from when a file was first found unreferenced,
//! which the ledger keeps. Files of other writers stay.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use oncemore_core::{Epoch, Instant, Interval, TableName};
use rusqlite::params;

use crate::catalog;
use crate::disk::{FRESH, local, remove_empty};
use crate::error::{CommitError, Result};
use crate::ledger::{AttemptRow, AttemptState};
use crate::metadata::{self, MAP, manifest};
use crate::publish::{TRIES, snapshot};
use crate::rebuilt;
use crate::recover::{may_live, names};
use crate::slice_map::Entry;
use crate::state::{IndexState, State};
use crate::warehouse::{Warehouse, lock, text};

/// Files removed while the catalog is locked, so that nobody waits long.
const LOCKED: usize = 1_000;

/// What a clean-up did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Files removed.
    pub files: u64,
    /// Their size.
    pub bytes: u64,
    /// Slices that got a fence against attempts that died.
    pub fenced: u64,
    /// Files that nothing refers to and that an attempt may still publish.
    pub kept: u64,
    /// Files that nothing refers to, and that a reader may still have open.
    pub waiting: u64,
    /// Attempts forgotten that published stamps alone, which later ones replaced.
    pub forgotten: u64,
    /// Why tables can't be read: nothing of them was removed.
    pub damaged: Vec<CommitError>,
}

impl Cleaned {
    /// Takes in how the look at a table ended: one that is damaged is passed over, and named once.
    fn pass_over<T>(&mut self, looked: Result<T>) -> Result<Option<T>> {
        match looked {
            Err(error @ CommitError::Damaged { .. }) => {
                if !self.damaged.contains(&error) {
                    self.damaged.push(error);
                }
                Ok(None)
            }
            looked => looked.map(Some),
        }
    }
}

/// A file of ours that nothing refers to.
struct Orphan {
    path: PathBuf,
    /// Its path in the table's folder.
    name: String,
    bytes: u64,
    /// Epoch, attempt and folder of a data file.
    data: Option<(Epoch, String, String)>,
}

impl Warehouse {
    /// Removes what nothing refers to and was first found so at or before `older_than`, and of the ledger attempts that
    /// ended by then and left a stamp alone which is no more. Of tables that are damaged nothing is removed.
    ///
    /// # Errors
    /// Catalog or disk can't be used.
    pub fn gc(&self, older_than: Instant) -> Result<Cleaned> {
        self.resolve()?;
        let mut cleaned = Cleaned::default();
        for _ in 0..TRIES {
            let mut again = false;
            (cleaned.kept, cleaned.waiting) = (0, 0);
            for table in self.tables()? {
                let looked = self.gc_table(&table, older_than, &mut cleaned);
                let looked = looked.map_err(|error| self.damaged(&table, error));
                again |= cleaned.pass_over(looked)?.unwrap_or(false);
            }
            // A fence is a commit, and makes garbage of its own: also in another table, where files of a folded one
            // were fenced in its log.
            if !again {
                break;
            }
        }
        self.gc_left(older_than, &mut cleaned)?;
        for name in self.left_notes(older_than)? {
            self.disk().remove(&name)?;
            cleaned.files += 1;
        }
        cleaned.forgotten = self.forget_stamps(older_than)?;
        Ok(cleaned)
    }

    /// One pass over a table; true where all have to be looked at again: it committed a fence, or somebody was at it.
    fn gc_table(&self, table: &TableName, older_than: Instant, cleaned: &mut Cleaned) -> Result<bool> {
        let queue = self.queue(table);
        let _turn = lock(&queue);
        // Listed before the head is read: what is committed in between is referred to by that head.
        let folder = self.folder(table);
        let listed = list(&folder)?;
        // Before the head, too: what a swap brought into its place by then is named by that head.
        let coming: BTreeSet<PathBuf> = rebuilt::coming(self, table)?.into_iter().collect();
        let Some(state) = self.state(table)? else { return Ok(false) };
        // A folded table has no fences: what was written for it goes with the slice of its log. That is looked at
        // before the head: a fence that it has reached then is one whose files the head names, if any does.
        let log = metadata::log_of(&state.metadata).map(|log| self.state(&log)).transpose()?.flatten();
        let Some(state) = self.state(table)? else { return Ok(false) };
        let reached = match self.reached(&state) {
            // Somebody committed since, and removed what only older heads name.
            Err(_) if self.has_moved(table, &state.location)? => return Ok(true),
            reached => reached?,
        };
        let named = |orphan: &Orphan| reached.contains(&orphan.path) || coming.contains(&orphan.path);
        let orphans: Vec<Orphan> = listed.into_iter().filter(|orphan| !named(orphan)).collect();
        let marks = self.mark(table, &orphans)?;
        let owner = log.as_ref().unwrap_or(&state);
        let attempts: BTreeMap<String, AttemptRow> = self.attempts_of(&owner.table)?;
        let fences = self.wanted_fences(owner, &orphans, &attempts);
        // A map of a head that is not ours would make it ours; what is left waits until that is settled.
        if !fences.is_empty() && owner.is_ours() {
            if self.commit_fences(owner, &fences)? {
                cleaned.fenced += fences.len() as u64;
            }
            return Ok(true);
        }
        let due = |orphan: &Orphan| marks.get(&orphan.name).is_some_and(|since| *since <= older_than);
        let (data, metadata): (Vec<Orphan>, Vec<Orphan>) =
            orphans.into_iter().partition(|orphan| orphan.data.is_some());
        let dead = |orphan: &Orphan| {
            let Some((epoch, attempt, label)) = &orphan.data else { return false };
            let interval = interval_of(owner, attempts.get(attempt), label);
            interval.map_or(owner.map.floor, |interval| owner.map.fence(interval)) >= *epoch
        };
        for orphan in &data {
            match (dead(orphan), due(orphan)) {
                (false, _) => cleaned.kept += 1,
                (true, false) => cleaned.waiting += 1,
                (true, true) => self.take(orphan, cleaned)?,
            }
        }
        let (metadata, waiting): (Vec<Orphan>, Vec<Orphan>) = metadata.into_iter().partition(due);
        cleaned.waiting += waiting.len() as u64;
        if !metadata.is_empty() {
            // Of a commit that failed at its end nobody knows whether it lands after all; after this one it is known.
            self.catalog().settle()?;
        }
        for some in metadata.chunks(LOCKED) {
            let unmoved = self.catalog().write(|transaction| {
                if catalog::pointer(transaction, table)?.as_deref() != Some(&state.location) {
                    return Ok(false);
                }
                some.iter().try_for_each(|orphan| self.take(orphan, cleaned)).map(|()| true)
            })?;
            if !unmoved {
                // Somebody committed since: what they need is known once that is looked at.
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes the folders of tables that nothing points to any more, because others took their places.
    fn gc_left(&self, older_than: Instant, cleaned: &mut Cleaned) -> Result<()> {
        let (known, own) = (self.tables()?, self.world().process());
        let open = self.open_attempts()?;
        let alive = |orphan: &Orphan| {
            let Some((_, attempt, _)) = &orphan.data else { return false };
            let row = open.iter().find(|row| row.attempt.id.to_string() == *attempt);
            row.is_some_and(|row| may_live(&row.process, &own))
        };
        for table in self.folders()? {
            if known.contains(&table) || cleaned.pass_over(rebuilt::is_left(self, &table))? != Some(true) {
                continue;
            }
            let orphans = list(&self.folder(&table))?;
            let marks = self.mark(&table, &orphans)?;
            let due = |orphan: &Orphan| marks.get(&orphan.name).is_some_and(|since| *since <= older_than);
            let (alive, dead): (Vec<Orphan>, Vec<Orphan>) = orphans.into_iter().partition(alive);
            let (dead, waiting): (Vec<Orphan>, Vec<Orphan>) = dead.into_iter().partition(due);
            cleaned.kept += alive.len() as u64;
            cleaned.waiting += waiting.len() as u64;
            let mut gone = true;
            for some in dead.chunks(LOCKED) {
                gone &= self.catalog().write(|transaction| {
                    // A table of that name may have been begun anew.
                    if catalog::pointer(transaction, &table)?.is_some() {
                        return Ok(false);
                    }
                    some.iter().try_for_each(|orphan| self.take(orphan, cleaned)).map(|()| true)
                })?;
            }
            if gone && alive.is_empty() && waiting.is_empty() {
                self.mark(&table, &[])?;
                self.catalog().write(|transaction| {
                    // Of a table that was begun anew the hint and the folders stay.
                    match catalog::pointer(transaction, &table)? {
                        Some(_) => Ok(()),
                        None => self.remove_left(&table),
                    }
                })?;
            }
        }
        Ok(())
    }

    /// Removes what is left of a table without files. Under the catalog's lock.
    fn remove_left(&self, table: &TableName) -> Result<()> {
        let folder = self.folder(table);
        self.disk().remove(&folder.join("metadata").join("version-hint.text"))?;
        for label in names(&folder.join("data"))? {
            remove_empty(&folder.join("data").join(label));
        }
        [folder.join("data"), folder.join("metadata"), folder].iter().for_each(|path| remove_empty(path));
        Ok(())
    }

    /// When files were first found unreferenced: now, those that never were before. Forgets those that no longer are. In a
    /// warehouse whose ledger was lost all are found for the first time.
    fn mark(&self, table: &TableName, orphans: &[Orphan]) -> Result<BTreeMap<String, Instant>> {
        let (now, name) = (self.world().now(), table.as_str());
        self.catalog().note(|transaction| {
            let mut known: BTreeMap<String, Instant> = BTreeMap::new();
            let mut query =
                transaction.prepare_cached("SELECT file, since FROM om_garbage WHERE name = ?1")?;
            let mut rows = query.query([name])?;
            while let Some(row) = rows.next()? {
                known.insert(row.get(0)?, Instant(row.get(1)?));
            }
            let mut marks = BTreeMap::new();
            let mut insert = transaction.prepare_cached("INSERT INTO om_garbage VALUES (?1, ?2, ?3)")?;
            for orphan in orphans {
                let since = known.remove(&orphan.name);
                if since.is_none() {
                    insert.execute(params![name, orphan.name, now.0])?;
                }
                marks.insert(orphan.name.clone(), since.unwrap_or(now));
            }
            let mut remove =
                transaction.prepare_cached("DELETE FROM om_garbage WHERE name = ?1 AND file = ?2")?;
            known.keys().try_for_each(|stale| remove.execute([name, stale]).map(|_| ()))?;
            Ok(marks)
        })
    }

    fn take(&self, orphan: &Orphan, cleaned: &mut Cleaned) -> Result<()> {
        self.disk().remove(&orphan.path)?;
        cleaned.files += 1;
        cleaned.bytes += orphan.bytes;
        Ok(())
    }

    fn attempts_of(&self, table: &TableName) -> Result<BTreeMap<String, AttemptRow>> {
        Ok(self.all_attempts(table)?.into_iter().map(|row| (row.attempt.id.to_string(), row)).collect())
    }

    /// Fences against attempts that died with files staged.
    fn wanted_fences(
        &self,
        state: &State,
        orphans: &[Orphan],
        attempts: &BTreeMap<String, AttemptRow>,
    ) -> BTreeMap<Interval, Epoch> {
        let own = self.world().process();
        let mut fences: BTreeMap<Interval, Epoch> = BTreeMap::new();
        for (epoch, attempt, label) in orphans.iter().filter_map(|orphan| orphan.data.as_ref()) {
            let row = attempts.get(attempt);
            let alive =
                row.is_some_and(|row| row.state == AttemptState::Open && may_live(&row.process, &own));
            let Some(interval) = interval_of(state, row, label).filter(|_| !alive) else { continue };
            if state.map.fence(interval) < *epoch {
                let fence = fences.entry(interval).or_default();
                *fence = (*fence).max(*epoch);
            }
        }
        fences
    }

    /// Raises the fences of slices that have not reached these epochs; returns how many there were. In a table that
    /// another writer was last at, none is: whoever settles that passes them.
    ///
    /// # Errors
    /// Tables or catalog can't be written.
    pub(crate) fn raise_fences(&self, table: &TableName, fences: &BTreeMap<Interval, Epoch>) -> Result<u64> {
        let queue = self.queue(table);
        let _turn = lock(&queue);
        for attempt in 0..TRIES {
            let Some(state) = self.state(table)? else { return Ok(0) };
            let mut wanted = fences.clone();
            wanted.retain(|interval, epoch| state.map.fence(*interval) < *epoch);
            if wanted.is_empty() {
                return Ok(0);
            }
            if !state.is_ours() {
                return Ok(0);
            }
            if self.commit_fences(&state, &wanted)? {
                return Ok(wanted.len() as u64);
            }
            std::thread::sleep(Duration::from_millis(u64::from(attempt.min(20))));
        }
        Err(CommitError::io("commit fences", "other writers kept changing the table"))
    }

    /// Raises fences, and nothing else; false where another writer was first.
    fn commit_fences(&self, state: &State, fences: &BTreeMap<Interval, Epoch>) -> Result<bool> {
        let now_ms = metadata::next_ms(&state.metadata, self.world());
        let (name, map) = self.fenced(state, fences);
        let properties = [(MAP.to_owned(), name.clone())].into();
        let (pushed_out, (_, bytes)) = snapshot::unchanged(state, now_ms, &properties)?;
        let path = state.folder.join("metadata").join(&name);
        let index = IndexState { map: Some(name) };
        let moved = self.swap_metadata(&state.table, Some(state), bytes, Some(index), vec![(path, map)])?;
        for path in pushed_out.iter().filter(|_| moved) {
            self.disk().remove(path)?;
        }
        Ok(moved)
    }

    /// A slice map with these fences, as a name and bytes.
    fn fenced(&self, state: &State, fences: &BTreeMap<Interval, Epoch>) -> (String, Vec<u8>) {
        let mut map = state.map.clone();
        for (interval, epoch) in fences {
            let mut entry = map.get(*interval).cloned().unwrap_or_else(|| Entry::empty(*interval));
            entry.fence = entry.fence.max(*epoch);
            map.put(entry);
        }
        let name = format!("om-map-{:08}-{:032x}.bin", state.high(), self.world().fresh_id());
        let bytes = map.encode(&name);
        (name, bytes)
    }

    /// Everything that the table's retained snapshots and metadata files refer to.
    fn reached(&self, state: &State) -> Result<BTreeSet<PathBuf>> {
        let current = &state.metadata;
        let folder = state.folder.join("metadata");
        let mut reached =
            BTreeSet::from([PathBuf::from(local(&state.location)), folder.join("version-hint.text")]);
        reached.extend(current.metadata_log().iter().map(|log| PathBuf::from(local(&log.metadata_file))));
        let mut maps: BTreeSet<String> = current.properties().get(MAP).cloned().into_iter().collect();
        for snapshot in current.snapshots() {
            maps.extend(snapshot.summary().additional_properties.get(MAP).cloned());
            reached.insert(PathBuf::from(local(snapshot.manifest_list())));
            let bytes = self.read_own(Path::new(local(snapshot.manifest_list())))?;
            for file in manifest::parse_list(&bytes, current.format_version(), snapshot.manifest_list())? {
                if reached.insert(PathBuf::from(local(&file.manifest_path))) {
                    let entries = self.manifest(&file)?;
                    reached.extend(entries.iter().map(|entry| PathBuf::from(local(entry.file_path()))));
                }
            }
        }
        for map in maps {
            let homes = self.load_map(&state.folder, Some(&map))?.homes();
            reached.extend(homes.into_iter().map(|home| folder.join(home)));
            reached.insert(folder.join(map));
        }
        Ok(reached)
    }
}

/// The slice that a data file of an attempt belongs to: by the ledger, else by the folder it lies in.
fn interval_of(state: &State, row: Option<&AttemptRow>, label: &str) -> Option<Interval> {
    let known = row.map(|row| row.attempt.interval);
    let by_label = || {
        state
            .map
            .entries()
            .map(|entry| entry.interval)
            .find(|interval| crate::stage::label(*interval) == label)
    };
    known.or_else(by_label)
}

/// Files of ours in a table's folder.
fn list(folder: &Path) -> Result<Vec<Orphan>> {
    let mut found = Vec::new();
    let mut add = |path: PathBuf, data: Option<(Epoch, String, String)>| -> Result<()> {
        let Ok(about) = std::fs::metadata(&path) else { return Ok(()) };
        if about.is_file() {
            let name = text(path.strip_prefix(folder).unwrap_or(&path))?;
            found.push(Orphan { path, name, bytes: about.len(), data });
        }
        Ok(())
    };
    let metadata = folder.join("metadata");
    for name in names(&metadata)? {
        let ours = name.starts_with("om-map-")
            || name.starts_with("snap-")
            || name.starts_with(".version-hint.")
            || name.ends_with("-m.avro")
            || name.ends_with(".metadata.json");
        if ours {
            add(metadata.join(name), None)?;
        }
    }
    let data = folder.join("data");
    for label in names(&data)? {
        for name in names(&data.join(&label))? {
            if let Some((epoch, attempt, slice)) = parse_name(&name) {
                let slice = slice.unwrap_or_else(|| label.clone());
                add(data.join(&label).join(&name), Some((epoch, attempt, slice)))?;
            }
        }
    }
    Ok(found)
}

/// Epoch and attempt in the name of a data file of ours, or of a copy on its way to that name, and the slice where the
/// file's folder is not that of one.
pub(crate) fn parse_name(name: &str) -> Option<(Epoch, String, Option<String>)> {
    let whole = name.strip_suffix(".parquet").or_else(|| name.strip_suffix(FRESH))?;
    let parts: Vec<&str> = whole.strip_prefix("om-")?.split('-').collect();
    let slice = if let [_, _, slice, _, _] = parts[..] { Some(slice.to_owned()) } else { None };
    let mut parts = parts.into_iter();
    let (request, attempt) = parts.next()?.split_once('.')?;
    let epoch = Epoch { request: request.parse().ok()?, attempt: attempt.parse().ok()? };
    Some((epoch, parts.next()?.to_owned(), slice))
}
