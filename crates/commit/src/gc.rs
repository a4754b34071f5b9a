//! Removes files that no snapshot names and no attempt can still publish.
//!
//! A data file of ours goes if nothing refers to it *and* the slice's fence has reached the epoch in its name: then
//! the attempt that wrote it can never publish. Where the fence has not, and the attempt is dead, an empty fence is
//! committed first. A file of metadata goes if nothing refers to it *and* the head has moved since it was seen: a commit
//! that was under way then has landed, and its files are referred to, or is refused. Where the head has not, an empty
//! commit moves it.
//!
//! Age only delays, for readers that opened a snapshot before: it counts from when a file was first found unreferenced,
//! which the ledger keeps. Files of other writers stay.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use oncemore_core::{Epoch, Instant, Interval, TableName};
use rusqlite::params;

use crate::disk::local;
use crate::error::{CommitError, Result};
use crate::ledger::{AttemptRow, AttemptState};
use crate::metadata::{self, MAP, manifest};
use crate::publish::{TRIES, snapshot};
use crate::recover::{may_live, names};
use crate::slice_map::Entry;
use crate::state::{IndexState, State};
use crate::warehouse::{Warehouse, lock, text};

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
}

/// When a file was first found unreferenced, and which head its table had then.
#[derive(Clone, Debug)]
struct Mark {
    since: Instant,
    head: String,
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
    /// Removes what nothing refers to and was first found so at or before `older_than`.
    ///
    /// # Errors
    /// Metadata that can't be read: then nothing of that table is removed.
    pub fn gc(&self, older_than: Instant) -> Result<Cleaned> {
        self.resolve()?;
        let mut cleaned = Cleaned::default();
        for table in self.tables()? {
            let mut closed = false;
            // A commit of its own makes it look again.
            for _ in 0..TRIES {
                if !self.gc_table(&table, older_than, &mut closed, &mut cleaned)? {
                    break;
                }
            }
        }
        Ok(cleaned)
    }

    /// One pass over a table; true where it has to be looked at again. `closed`: whether an empty commit was made
    /// already; beside busy writers there would be no end of them.
    fn gc_table(
        &self,
        table: &TableName,
        older_than: Instant,
        closed: &mut bool,
        cleaned: &mut Cleaned,
    ) -> Result<bool> {
        let queue = self.queue(table);
        let _turn = lock(&queue);
        // Listed before the head is read: what is committed in between is referred to by that head.
        let folder = self.folder(table);
        let listed = list(&folder)?;
        let Some(state) = self.state(table)? else { return Ok(false) };
        let reached = match self.reached(&state) {
            // Commits that came after it removed what it names.
            Err(_) if self.has_moved(table, &state.location)? => return Ok(true),
            reached => reached?,
        };
        let orphans: Vec<Orphan> =
            listed.into_iter().filter(|orphan| !reached.contains(&orphan.path)).collect();
        let marks = self.mark(table, &state.location, &orphans)?;
        // A folded table has no fences: what was written for it goes with the slice of its log.
        let log = metadata::log_of(&state.metadata).map(|log| self.state(&log)).transpose()?.flatten();
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
        let due = |orphan: &Orphan| marks.get(&orphan.name).is_some_and(|mark| mark.since <= older_than);
        let moved = |orphan: &Orphan| marks.get(&orphan.name).is_some_and(|mark| mark.head != state.location);
        let open = |orphan: &Orphan| orphan.data.is_none() && due(orphan) && !moved(orphan);
        if !*closed && orphans.iter().any(open) {
            *closed = self.commit_fences(&state, &BTreeMap::new())?;
            return Ok(true);
        }
        let mut gone = Vec::new();
        for orphan in orphans {
            let dead = match &orphan.data {
                None => moved(&orphan),
                Some((epoch, attempt, label)) => {
                    let interval = interval_of(owner, attempts.get(attempt), label);
                    let entry = interval.and_then(|interval| owner.map.get(interval));
                    entry.is_some_and(|entry| entry.fence >= *epoch)
                }
            };
            if !dead {
                cleaned.kept += 1;
            } else if due(&orphan) {
                self.disk().remove(&orphan.path)?;
                cleaned.files += 1;
                cleaned.bytes += orphan.bytes;
                gone.push(orphan.name);
            } else {
                cleaned.waiting += 1;
            }
        }
        self.unmark(table, &gone)?;
        Ok(false)
    }

    /// Notes files that are found unreferenced for the first time, and forgets those that no longer are. In a warehouse
    /// whose ledger was lost all are found for the first time.
    fn mark(&self, table: &TableName, head: &str, orphans: &[Orphan]) -> Result<BTreeMap<String, Mark>> {
        let (now, name) = (self.world().now(), table.as_str());
        self.catalog().note(|transaction| {
            let mut known: BTreeMap<String, Mark> = BTreeMap::new();
            let mut query =
                transaction.prepare_cached("SELECT file, since, head FROM om_garbage WHERE name = ?1")?;
            let mut rows = query.query([name])?;
            while let Some(row) = rows.next()? {
                known.insert(row.get(0)?, Mark { since: Instant(row.get(1)?), head: row.get(2)? });
            }
            let mut marks = BTreeMap::new();
            let mut insert = transaction.prepare_cached("INSERT INTO om_garbage VALUES (?1, ?2, ?3, ?4)")?;
            for orphan in orphans {
                let mark = match known.remove(&orphan.name) {
                    Some(mark) => mark,
                    None => {
                        insert.execute(params![name, orphan.name, now.0, head])?;
                        Mark { since: now, head: head.to_owned() }
                    }
                };
                marks.insert(orphan.name.clone(), mark);
            }
            let mut remove =
                transaction.prepare_cached("DELETE FROM om_garbage WHERE name = ?1 AND file = ?2")?;
            for stale in known.keys() {
                remove.execute([name, stale])?;
            }
            Ok(marks)
        })
    }

    fn unmark(&self, table: &TableName, files: &[String]) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        self.catalog().note(|transaction| {
            let mut remove =
                transaction.prepare_cached("DELETE FROM om_garbage WHERE name = ?1 AND file = ?2")?;
            files.iter().try_for_each(|file| remove.execute([table.as_str(), file]).map(|_| ()))?;
            Ok(())
        })
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
            if state.map.get(interval).is_none_or(|entry| entry.fence < *epoch) {
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
            wanted
                .retain(|interval, epoch| state.map.get(*interval).is_none_or(|entry| entry.fence < *epoch));
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

    /// Raises fences, and nothing else, or nothing at all but the number of the head; false where another writer was
    /// first.
    fn commit_fences(&self, state: &State, fences: &BTreeMap<Interval, Epoch>) -> Result<bool> {
        let now_ms = metadata::next_ms(&state.metadata, self.world());
        let (mut builder, pushed_out) = snapshot::unchanged(state, now_ms)?;
        let mut index = state.is_ours().then(|| state.index());
        if !fences.is_empty() {
            let name = self.persist_fences(state, fences)?;
            builder = builder.set_properties([(MAP.to_owned(), name.clone())].into())?;
            index = Some(IndexState { map: Some(name) });
        }
        let (_, bytes) = metadata::build(builder, now_ms)?;
        let moved = self.swap_metadata(&state.table, Some(state), bytes, index)?;
        for path in pushed_out.iter().filter(|_| moved) {
            self.disk().remove(path)?;
        }
        Ok(moved)
    }

    /// Writes a slice map with these fences, and returns its name.
    fn persist_fences(&self, state: &State, fences: &BTreeMap<Interval, Epoch>) -> Result<String> {
        let mut map = state.map.clone();
        for (interval, epoch) in fences {
            let mut entry = map.get(*interval).cloned().unwrap_or_else(|| Entry::empty(*interval));
            entry.fence = entry.fence.max(*epoch);
            map.put(entry);
        }
        let name = format!("om-map-{:08}-{:032x}.bin", state.high(), self.world().fresh_id());
        let bytes = map.encode(&name);
        let path = state.folder.join("metadata").join(&name);
        self.disk().persist(&[(path, bytes)], &[])?;
        Ok(name)
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
            let bytes = self.disk().read(Path::new(local(snapshot.manifest_list())))?;
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

/// Epoch and attempt in the name of a data file of ours, and the slice where the file's folder is not that of one.
fn parse_name(name: &str) -> Option<(Epoch, String, Option<String>)> {
    let parts: Vec<&str> = name.strip_prefix("om-")?.strip_suffix(".parquet")?.split('-').collect();
    let slice = if let [_, _, slice, _, _] = parts[..] { Some(slice.to_owned()) } else { None };
    let mut parts = parts.into_iter();
    let (request, attempt) = parts.next()?.split_once('.')?;
    let epoch = Epoch { request: request.parse().ok()?, attempt: attempt.parse().ok()? };
    Some((epoch, parts.next()?.to_owned(), slice))
}
