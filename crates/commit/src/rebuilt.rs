//! A table that was built anew beside the old one takes its place: one transaction moves the pointers of all tables
//! that the model has.
//!
//! `<name>__rebuild` is an ordinary table, published into as any. When it holds all that it is to hold, its data files
//! get names in the folder of `<name>`, its head is written there with these, and the pointers are swapped: a reader
//! finds the old table or the new one. `<name>` keeps its id. The floor of its fences rises above all that was begun
//! until then, so that an attempt on the old table that is still on its way can't land on the new one. Who computes
//! what, and when a table is whole, is not known here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use iceberg::spec::TableMetadata;
use oncemore_core::{CHANGES, COUNTING, DELETED_KEYS, Epoch, Interval, REBUILD, Stamp, TableName};
use rusqlite::{Transaction, params};
use serde_json::json;

use crate::catalog;
use crate::error::{CommitError, Result};
use crate::metadata::{self, FOLD, LOG, MAP, REBUILT};
use crate::publish::TRIES;
use crate::recover::relocate::{self, Files};
use crate::slice_map::SliceMap;
use crate::state::{IndexState, State};
use crate::warehouse::{Warehouse, lock, text};

/// What a swap did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swapped {
    /// Tables that hold what was built.
    pub tables: Vec<TableName>,
    /// Tables that the model no longer has.
    pub removed: Vec<TableName>,
}

/// One table on its way to the place of another.
struct Arrival {
    /// What was built.
    from: Arc<State>,
    /// The table whose place it takes, and what is there.
    to: TableName,
    old: Option<Arc<State>>,
    /// Its metadata there.
    location: String,
    map_file: String,
    /// Files to write there.
    files: Vec<(PathBuf, Vec<u8>)>,
    /// Data files, and the names that they get.
    links: Vec<(PathBuf, PathBuf)>,
}

/// Whether the transaction moved the pointers.
enum Outcome {
    Moved,
    Stale,
    Failed(CommitError),
}

impl Warehouse {
    /// Puts what was built as `<table>__rebuild` in the place of `table`, with the tables beside it. `None` where
    /// nothing was built, or it is in its place already.
    ///
    /// # Errors
    /// Somebody else wrote into the old table, unless `replace_foreign`, or into the new one; storage or catalog out of
    /// reach: then the old table is what it was, unless the outcome is unknown.
    pub fn swap_rebuilt(&self, table: &TableName, replace_foreign: bool) -> Result<Option<Swapped>> {
        let built = rebuild_of(table)?;
        for attempt in 0..TRIES {
            let Some(state) = self.state(&built)? else { return Ok(None) };
            let family = self.family(&state)?;
            if let Some((log, spec)) = uncompacted(&family)? {
                self.compact_fold(&log, &spec)?;
                continue;
            }
            let places: BTreeSet<TableName> =
                family.iter().map(|state| place_of(&state.table)).collect::<Result<_>>()?;
            let leaving = self.leaving(table, &places)?;
            let queues: BTreeMap<TableName, _> = places
                .iter()
                .chain(family.iter().map(|state| &state.table))
                .map(|table| (table.clone(), self.queue(table)))
                .collect();
            let _turns: Vec<_> = queues.values().map(lock_queue).collect();
            let floor = Epoch { request: self.begin_request(None)?, attempt: 0 };
            let arrivals: Result<Vec<Arrival>> =
                family.iter().map(|state| self.arrival(state, floor, replace_foreign)).collect();
            let arrivals = match arrivals {
                // Another process has swapped the tables, and a clean-up removed what was read here.
                Err(_) if self.catalog().pointer(&built)?.as_ref() != Some(&state.location) => continue,
                arrivals => arrivals?,
            };
            match self.swap(&arrivals, &leaving)? {
                Outcome::Moved => return Ok(Some(self.settle_swap(arrivals, &leaving))),
                Outcome::Stale => {
                    self.withdraw_swap(&arrivals);
                    std::thread::sleep(Duration::from_millis(u64::from(attempt.min(20))));
                }
                Outcome::Failed(error) => {
                    if !matches!(error, CommitError::Unknown { .. }) {
                        self.withdraw_swap(&arrivals);
                    }
                    return Err(error);
                }
            }
        }
        Err(CommitError::io(
            format!("put the new table in the place of `{table}`"),
            "others kept changing it",
        ))
    }

    /// Id of the table that was built anew and took the place of `table` last.
    ///
    /// # Errors
    /// The catalog or the table's metadata can't be read.
    pub fn rebuilt_from(&self, table: &TableName) -> Result<Option<String>> {
        Ok(self.state(table)?.and_then(|state| state.metadata.properties().get(REBUILT).cloned()))
    }

    /// The stamps of a table's slices; of a table that is folded from a log, those of the log.
    ///
    /// # Errors
    /// The catalog or the tables' metadata can't be read.
    pub fn slices_of(&self, table: &TableName) -> Result<Arc<Vec<Stamp>>> {
        let log = self.state(table)?.and_then(|state| metadata::log_of(&state.metadata));
        self.stamps(log.as_ref().unwrap_or(table))
    }

    /// Forgets what was built as `<table>__rebuild`; `gc` removes its files. Whether there was any.
    ///
    /// # Errors
    /// A catalog that can't be written.
    pub fn drop_rebuild(&self, table: &TableName) -> Result<bool> {
        let known = self.catalog().tables()?;
        let built: Vec<_> = known
            .into_iter()
            .filter(|pointer| {
                let place = pointer.name.without_ending(REBUILD);
                place.is_some_and(|place| place == *table || is_beside(&place, table))
            })
            .collect();
        if built.is_empty() {
            return Ok(false);
        }
        self.catalog().write(|transaction| {
            for pointer in &built {
                // One that moved since is dropped by whoever looks again.
                catalog::remove(transaction, &pointer.name, &pointer.location)?;
                close_attempts(transaction, &pointer.name)?;
            }
            Ok(())
        })?;
        built.iter().for_each(|pointer| self.forget(&pointer.name));
        Ok(true)
    }

    /// A table that was built with those beside it: the log that it is folded from, and what else is.
    fn family(&self, built: &Arc<State>) -> Result<Vec<Arc<State>>> {
        let mut family = vec![built.clone()];
        if let Some(log) = metadata::log_of(&built.metadata) {
            let lost =
                |table: &TableName| CommitError::corrupt(format!("table `{table}`"), "it is not there");
            let log = self.state(&log)?.ok_or_else(|| lost(&log))?;
            let beside = metadata::fold_of(&log.metadata)?.and_then(|spec| spec.beside);
            family.push(log);
            if let Some(beside) = beside {
                family.push(self.state(&beside)?.ok_or_else(|| lost(&beside))?);
            }
        }
        for state in &family {
            if !state.is_ours() {
                let detail = "what is built anew has to be our own; `oncemore rebuild` with `--again` builds it once more";
                return Err(foreign(state, detail.to_owned()));
            }
        }
        Ok(family)
    }

    /// Tables beside `table` that its model will not have any more, and those of rebuilds that were given up, with
    /// their pointers.
    fn leaving(&self, table: &TableName, staying: &BTreeSet<TableName>) -> Result<Vec<(TableName, String)>> {
        let leaves = |name: &TableName| {
            let built = name.without_ending(REBUILD);
            let own = built.as_ref().unwrap_or(name);
            is_beside(own, table) && !staying.contains(own)
        };
        let known = self.catalog().tables()?.into_iter();
        Ok(known
            .filter(|pointer| leaves(&pointer.name))
            .map(|pointer| (pointer.name, pointer.location))
            .collect())
    }

    fn arrival(&self, from: &Arc<State>, floor: Epoch, replace_foreign: bool) -> Result<Arrival> {
        let to = place_of(&from.table)?;
        let folder = self.folder(&to);
        let old = self.state(&to)?;
        if let Some(old) = old.as_ref().filter(|old| !old.is_ours() && !replace_foreign) {
            let detail = self.foreign_changes(&to)?.into_iter().map(|found| found.detail).next();
            return Err(foreign(old, detail.unwrap_or_else(|| "its snapshots are not all ours".to_owned())));
        }
        let map_file = format!("om-map-{:08}-{:032x}.bin", from.map.n, self.world().fresh_id());
        let mut map = named_anew(from.map.clone().moved_out());
        map.floor = floor.max(from.map.max_fence());
        if let Some(old) = &old {
            map.floor = map.floor.max(old.map.max_fence());
            map.note_codes(&old.map);
        }
        let (value, mut files) = relocate::head(self, &folder, &from.metadata, Files::Here)?;
        let value = self.as_of(value, from, old.as_deref(), &map_file)?;
        let bytes = serde_json::to_vec(&value).map_err(|error| CommitError::Internal(error.to_string()))?;
        metadata::parse(&bytes, "metadata of a table that was built anew")?;
        files.push((folder.join("metadata").join(&map_file), map.encode(&map_file)));
        // Where there is none, the folder may hold what is left of one: its versions count on.
        let before = old.as_ref().map(|old| old.location.clone()).or_else(|| self.hint_of(&to));
        let path = folder.join("metadata").join(metadata::next_name(before.as_deref(), self.world()));
        let location = text(&path)?;
        files.push((path, bytes));
        let names = map.entries().flat_map(|entry| &entry.files).map(|file| &file.name);
        let links = names.map(|name| (from.full(name), folder.join(name))).collect();
        Ok(Arrival { from: from.clone(), to, old, location, map_file, files, links })
    }

    /// The metadata of what was built, as those of the table whose place it takes.
    fn as_of(
        &self,
        mut value: serde_json::Value,
        from: &State,
        old: Option<&State>,
        map_file: &str,
    ) -> Result<serde_json::Value> {
        let mut now_ms = metadata::next_ms(&from.metadata, self.world());
        value["properties"][MAP] = json!(map_file);
        value["properties"][REBUILT] = json!(from.metadata.uuid().to_string());
        if let Some(spec) = metadata::fold_of(&from.metadata)? {
            let spec = crate::fold::FoldSpec {
                state: place_of(&spec.state)?,
                beside: spec.beside.as_ref().map(place_of).transpose()?,
                ..spec
            };
            let spec =
                serde_json::to_string(&spec).map_err(|error| CommitError::Internal(error.to_string()))?;
            value["properties"][FOLD] = json!(spec);
        }
        if let Some(log) = metadata::log_of(&from.metadata) {
            value["properties"][LOG] = json!(place_of(&log)?);
        }
        if let Some(snapshot) = value["snapshots"].get_mut(0) {
            snapshot["summary"][MAP] = json!(map_file);
        }
        if let Some(old) = old {
            now_ms = now_ms.max(metadata::next_ms(&old.metadata, self.world()));
            value["table-uuid"] = json!(old.metadata.uuid().to_string());
            // Who looks for the newest metadata without a catalog follows these.
            let before =
                json!({ "timestamp-ms": old.metadata.last_updated_ms(), "metadata-file": old.location });
            value["metadata-log"] = json!([before]);
            for (name, kept) in sorted(old.metadata.properties()) {
                let properties = &mut value["properties"];
                if !name.starts_with("oncemore.") && properties.get(name).is_none() {
                    properties[name] = json!(kept);
                }
            }
        }
        value["last-updated-ms"] = json!(now_ms);
        Ok(value)
    }

    fn swap(&self, arrivals: &[Arrival], leaving: &[(TableName, String)]) -> Result<Outcome> {
        for arrival in arrivals {
            if !self.bring(arrival)? {
                return Ok(Outcome::Stale);
            }
        }
        let mut stale = false;
        let written = self.catalog().write(|transaction| {
            let done = swap_all(transaction, arrivals, leaving)?;
            stale = !done;
            if done { Ok(()) } else { Err(CommitError::Internal("stale".to_owned())) }
        });
        Ok(match written {
            Ok(()) => Outcome::Moved,
            Err(_) if stale => Outcome::Stale,
            Err(error @ CommitError::Unknown { .. }) => self.look_after_swap(arrivals, error),
            Err(error) => Outcome::Failed(error),
        })
    }

    /// Brings a table's files to where they are going to be; false where a clean-up took one, here or where they are:
    /// then another process has swapped the tables.
    fn bring(&self, arrival: &Arrival) -> Result<bool> {
        let folder = self.folder(&arrival.to);
        let folders = arrival.links.iter().filter_map(|(_, to)| to.parent());
        let mut folders: BTreeSet<PathBuf> = folders.map(std::path::Path::to_path_buf).collect();
        folders.extend([folder.join("metadata"), folder.join("data")]);
        for path in folders.iter().filter(|path| !path.is_dir()) {
            self.disk().create_folder(path)?;
        }
        if arrival.old.is_none() {
            self.disk().sync_folders(&folder, 3)?;
        }
        for (from, to) in &arrival.links {
            match self.disk().link(from, to) {
                Err(_) if !from.exists() => return Ok(false),
                linked => linked?,
            }
        }
        let links: Vec<PathBuf> = arrival.links.iter().map(|(_, to)| to.clone()).collect();
        self.disk().persist(&arrival.files, &links)
    }

    /// The answer of COMMIT was lost: the pointers tell, once another transaction has been written after it.
    fn look_after_swap(&self, arrivals: &[Arrival], lost: CommitError) -> Outcome {
        if self.catalog().settle().is_err() {
            return Outcome::Failed(lost);
        }
        let Some(arrival) = arrivals.first() else { return Outcome::Moved };
        match self.catalog().pointer(&arrival.from.table) {
            Ok(Some(now)) if now == arrival.from.location => {
                Outcome::Failed(CommitError::io("commit to the catalog", lost))
            }
            // Whoever moved or dropped it since did so after the swap, or in its stead.
            Ok(_) => match self.catalog().pointer(&arrival.to) {
                Ok(Some(now)) if now == arrival.location => Outcome::Moved,
                _ => Outcome::Failed(lost),
            },
            Err(_) => Outcome::Failed(lost),
        }
    }

    fn settle_swap(&self, arrivals: Vec<Arrival>, leaving: &[(TableName, String)]) -> Swapped {
        let mut swapped = Swapped::default();
        for arrival in arrivals {
            self.forget(&arrival.from.table);
            self.forget(&arrival.to);
            self.write_hint(&arrival.to, &arrival.location);
            swapped.tables.push(arrival.to);
        }
        for (table, _) in leaving {
            self.forget(table);
            self.remove_hint(table);
            swapped.removed.push(table.clone());
        }
        swapped
    }

    /// Removes the metadata that a swap which did not happen wrote; names of data files stay for the next try.
    fn withdraw_swap(&self, arrivals: &[Arrival]) {
        for (path, _) in arrivals.iter().flat_map(|arrival| &arrival.files) {
            // What can't be removed now is an orphan that `gc` finds.
            let _ = self.disk().remove(path);
        }
    }
}

/// Moves all pointers, and what the ledger has under the old names; false where one is no longer where it was.
fn swap_all(
    transaction: &Transaction<'_>,
    arrivals: &[Arrival],
    leaving: &[(TableName, String)],
) -> Result<bool> {
    for Arrival { from, to, old, location, map_file, files, links } in arrivals {
        // Looked at under the lock that a clean-up takes metadata under.
        let named = files.iter().map(|(path, _)| path).chain(links.iter().map(|(_, to)| to));
        let before = old.as_ref().map(|old| old.location.as_str());
        if !named.into_iter().all(|path| path.exists())
            || !catalog::remove(transaction, &from.table, &from.location)?
            || !catalog::swap(transaction, to, before, location)?
        {
            return Ok(false);
        }
        let index = IndexState { map: Some(map_file.clone()) };
        catalog::set_index(transaction, to, location, &index.to_json())?;
        close_attempts(transaction, to)?;
        hand_over(transaction, &from.table, to)?;
    }
    for (table, location) in leaving {
        if !catalog::remove(transaction, table, location)? {
            return Ok(false);
        }
        close_attempts(transaction, table)?;
    }
    Ok(true)
}

/// What failed on a table that is gone is no reason to run anything on the one in its place.
fn close_attempts(transaction: &Transaction<'_>, table: &TableName) -> Result<()> {
    transaction.execute(
        "UPDATE om_attempts SET state = 'superseded' WHERE name = ?1 AND state = 'failed'",
        [table.as_str()],
    )?;
    Ok(())
}

/// Attempts, codes and notes of a table, under the name that it has from now on.
fn hand_over(transaction: &Transaction<'_>, from: &TableName, to: &TableName) -> Result<()> {
    let names = params![from.as_str(), to.as_str()];
    transaction.execute("UPDATE om_attempts SET name = ?2 WHERE name = ?1", names)?;
    transaction.execute("UPDATE OR REPLACE om_cache SET name = ?2 WHERE name = ?1", names)?;
    transaction.execute(
        "INSERT INTO om_code SELECT ?2, code, seen FROM om_code WHERE name = ?1
         ON CONFLICT DO UPDATE SET seen = min(seen, excluded.seen)",
        names,
    )?;
    transaction.execute("DELETE FROM om_code WHERE name = ?1", [from.as_str()])?;
    Ok(())
}

/// The table that is built to take the place of `table`.
fn rebuild_of(table: &TableName) -> Result<TableName> {
    table.with_ending(REBUILD).map_err(|error| CommitError::Config(error.to_string()))
}

/// The table whose place a table that is built takes.
fn place_of(built: &TableName) -> Result<TableName> {
    let place = built.without_ending(REBUILD);
    place.ok_or_else(|| {
        CommitError::corrupt(format!("table `{built}`"), "it is beside a table that is built anew")
    })
}

/// Names of data files that are to come into the folder of `table` from the one that is built to take its place.
pub(crate) fn coming(warehouse: &Warehouse, table: &TableName) -> Result<Vec<PathBuf>> {
    let Ok(built) = table.with_ending(REBUILD) else { return Ok(Vec::new()) };
    let Some(state) = warehouse.state(&built)? else { return Ok(Vec::new()) };
    let folder = warehouse.folder(table);
    let files = state.map.entries().flat_map(|entry| &entry.files);
    Ok(files.map(|file| folder.join(&file.name)).collect())
}

/// Whether a table that no pointer leads to is what a swap left behind, or a rebuild that was given up.
pub(crate) fn is_left(warehouse: &Warehouse, table: &TableName) -> Result<bool> {
    if table.without_ending(REBUILD).is_some() {
        return Ok(true);
    }
    let model = crate::shape::model_of(table);
    // Of what belongs to no table that is there nothing is known.
    let Some(state) = warehouse.state(&model)?.filter(|_| model != *table) else { return Ok(false) };
    let Some(log) = metadata::log_of(&state.metadata) else { return Ok(true) };
    let Some(log) = warehouse.state(&log)?.filter(|_| log != *table) else { return Ok(false) };
    let spec = metadata::fold_of(&log.metadata)?;
    Ok(spec.is_some_and(|spec| spec.beside.as_ref() != Some(table)))
}

/// Of tables found by their folders, those that what took their place, or the model that they were beside, knows no
/// more: a ledger made anew must not bring them back.
pub(crate) fn left(found: &BTreeMap<TableName, TableMetadata>) -> Result<BTreeSet<TableName>> {
    let mut left = BTreeSet::new();
    for (table, own) in found {
        let place = table.without_ending(REBUILD).and_then(|place| found.get(&place));
        let taken = place.and_then(|place| place.properties().get(REBUILT));
        if taken.is_some_and(|taken| *taken == own.uuid().to_string()) {
            left.insert(table.clone());
        }
        let Some(model) =
            found.get(&crate::shape::model_of(table)).filter(|_| table.without_ending(REBUILD).is_none())
        else {
            continue;
        };
        let (log_of, spec) = (metadata::log_of(own), metadata::fold_of(own)?);
        let is_log = spec.is_some() && metadata::log_of(model).as_ref() != Some(table);
        let named =
            log_of.as_ref().and_then(|log| found.get(log)).map(metadata::fold_of).transpose()?.flatten();
        let is_beside =
            log_of.is_some() && named.is_some_and(|spec| spec.tables().all(|named| named != table));
        let is_orphan = log_of.is_some() && metadata::log_of(model) != log_of;
        if is_log || is_beside || is_orphan {
            left.insert(table.clone());
        }
    }
    Ok(left)
}

/// Whether a table has a name of those that a model `table` has beside its own.
fn is_beside(name: &TableName, table: &TableName) -> bool {
    let endings = [CHANGES, COUNTING, DELETED_KEYS];
    endings.into_iter().any(|ending| name.without_ending(ending).as_ref() == Some(table))
}

/// The map of a table folded from a log, whose stamps name that by the name that it gets.
fn named_anew(mut map: SliceMap) -> SliceMap {
    let built = |name: &str| name.parse::<TableName>().ok()?.without_ending(REBUILD);
    let named: Vec<_> = map
        .entries()
        .filter(|entry| {
            entry.stamp.iter().flat_map(|stamp| &stamp.inputs).any(|pin| built(&pin.input).is_some())
        })
        .cloned()
        .collect();
    for mut entry in named {
        for pin in entry.stamp.iter_mut().flat_map(|stamp| &mut stamp.inputs) {
            if let Some(place) = built(&pin.input) {
                pin.input = place.to_string();
            }
        }
        map.put(entry);
    }
    map
}

/// The log of tables some of whose rows are deleted by files beside them: these name full paths.
fn uncompacted(family: &[Arc<State>]) -> Result<Option<(TableName, crate::fold::FoldSpec)>> {
    let has_deletes = |state: &Arc<State>| state.map.entries().any(|entry| !entry.deletes.files.is_empty());
    if !family.iter().any(has_deletes) {
        return Ok(None);
    }
    for state in family {
        if let Some(spec) = metadata::fold_of(&state.metadata)? {
            return Ok(Some((state.table.clone(), spec)));
        }
    }
    Ok(None)
}

fn foreign(state: &State, detail: String) -> CommitError {
    CommitError::Foreign { table: state.table.clone(), interval: Interval::WHOLE, detail }
}

fn lock_queue(queue: &Arc<std::sync::Mutex<()>>) -> std::sync::MutexGuard<'_, ()> {
    lock(queue)
}

fn sorted(properties: &std::collections::HashMap<String, String>) -> BTreeMap<&String, &String> {
    properties.iter().collect()
}
