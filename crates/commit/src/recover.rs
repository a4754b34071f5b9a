//! After a crash, a copy or a loss: attempts whose end nobody recorded, and a ledger made anew from the tables.

pub(crate) mod relocate;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use iceberg::spec::TableMetadata;
use oncemore_core::{AttemptId, TableName, World};
use rusqlite::{Transaction, params};

use crate::catalog::{self, CATALOG, FILE};
use crate::disk::local;
use crate::error::{CommitError, Result};
use crate::ledger::{Attempt, AttemptEnd, AttemptState, finish, raise};
use crate::metadata;
use crate::rebuilt;
use crate::state::State;
use crate::warehouse::{Warehouse, text};

/// What became of an attempt whose end nobody had recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The attempt.
    pub attempt: Attempt,
    /// How it ended.
    pub outcome: AttemptState,
    /// Files that it had staged and that nothing names: `gc` removes them.
    pub staged: u64,
}

/// What a ledger was made anew from.
#[derive(Debug)]
pub struct Rebuilt {
    /// The tables that it knows now.
    pub tables: Vec<TableName>,
    /// Why others can't be read: they stay as they are, and it goes on pointing to them.
    pub damaged: Vec<CommitError>,
    /// Those that it knew, and whose folders are gone: it knows them no longer.
    pub gone: Vec<TableName>,
}

/// Names a process so that [`Warehouse::resolve`] can tell whether it still lives: `host:pid:start`, where `start` is
/// field 22 of `/proc/<pid>/stat`.
pub fn process_name(host: &str, pid: u32) -> String {
    format!("{host}:{pid}:{}", started(pid).unwrap_or_default())
}

fn started(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field, the command's name in parentheses, may hold spaces.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19).map(str::to_owned)
}

/// Host, number and start of a process, from its name.
fn parts(name: &str) -> Option<(&str, u32, &str)> {
    let (rest, start) = name.rsplit_once(':')?;
    let (host, pid) = rest.rsplit_once(':')?;
    Some((host, pid.parse().ok()?, start))
}

/// Whether the process `name` may still live, as seen from `own`.
pub(crate) fn may_live(name: &str, own: &str) -> bool {
    if name == own {
        return true;
    }
    match (parts(name), parts(own)) {
        (Some((host, pid, start)), Some((own_host, ..))) => {
            // On another host nobody can tell.
            host != own_host || started(pid).is_some_and(|now| start.is_empty() || now == start)
        }
        _ => false,
    }
}

/// The number of the process `name`, where it is one of the host of `own` and is stopped (Ctrl-Z, SIGSTOP, a debugger).
pub(crate) fn stopped(name: &str, own: &str) -> Option<u32> {
    let ((host, pid, _), (own_host, ..)) = (parts(name)?, parts(own)?);
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok().filter(|_| host == own_host)?;
    let state = stat.rsplit_once(')')?.1.split_whitespace().next()?;
    matches!(state, "T" | "t").then_some(pid)
}

impl Warehouse {
    /// Finds out how open attempts of processes that are gone ended. The table decides: an attempt whose token is in
    /// the slice map was published. Attempts of processes that may still live are left alone. Also puts hints for
    /// readers by path right.
    ///
    /// # Errors
    /// Catalog or tables can't be read.
    pub fn resolve(&self) -> Result<Vec<Resolved>> {
        let own = self.world().process();
        let mut ends: Vec<(Resolved, AttemptEnd, Option<(u64, u64)>)> = Vec::new();
        for row in self.open_attempts()? {
            let attempt = row.attempt;
            let state = match self.state(&attempt.table) {
                // Nobody knows how it ended, until somebody mends the table.
                Err(CommitError::Damaged { .. }) => continue,
                state => state?,
            };
            let entry = state.as_ref().and_then(|state| state.map.get(attempt.interval));
            let stamp =
                entry.and_then(|entry| entry.stamp.as_ref()).filter(|stamp| stamp.attempt == attempt.id);
            let fence = state.as_ref().map(|state| state.map.fence(attempt.interval));
            let fenced = fence.is_some_and(|fence| fence > attempt.epoch);
            let (outcome, error) = match stamp {
                Some(_) => (AttemptState::Committed, None),
                None if fenced => (AttemptState::Superseded, None),
                None if may_live(&row.process, &own) => continue,
                None => (AttemptState::Failed, Some("its process ended before it published".to_owned())),
            };
            let amount = stamp.map(|stamp| (stamp.fingerprint.rows, stamp.bytes));
            let end = AttemptEnd { id: attempt.id, state: outcome, error };
            let staged = match outcome {
                AttemptState::Committed => 0,
                _ => self.staged_by(&attempt)?,
            };
            ends.push((Resolved { attempt, outcome, staged }, end, amount));
        }
        if !ends.is_empty() && !self.catalog().is_read_only() {
            let now = self.world().now();
            self.catalog().write(|transaction| {
                ends.iter().try_for_each(|(_, end, amount)| finish(transaction, end, now, *amount))
            })?;
        }
        if !self.catalog().is_read_only() {
            self.mend_hints()?;
        }
        Ok(ends.into_iter().map(|(resolved, ..)| resolved).collect())
    }

    /// Number of files in the slice's folder that carry the token of an attempt.
    fn staged_by(&self, attempt: &Attempt) -> Result<u64> {
        let label = crate::stage::label(attempt.interval);
        let token = format!("-{}-", attempt.id);
        let names = names(&self.folder(&attempt.table).join("data").join(label))?;
        Ok(names.iter().filter(|name| name.contains(&token)).count() as u64)
    }

    /// Opens a warehouse to rebuild its ledger: a catalog that is damaged is set aside, not removed. One in which there is
    /// nothing yet, as a rebuild that was killed leaves it, is gone on with.
    ///
    /// # Errors
    /// As [`Warehouse::open`].
    pub fn open_to_rebuild(root: &Path, world: Arc<dyn World>) -> Result<Self> {
        match Self::open_anew(root, world.clone()) {
            Err(CommitError::Corrupt { .. } | CommitError::NoLedger { .. }) => {
                let id = AttemptId(world.fresh_id());
                for suffix in ["", "-wal", "-shm"] {
                    let from = root.join(format!("{FILE}{suffix}"));
                    if from.exists() {
                        let to = root.join(format!("{FILE}{suffix}.damaged-{id}"));
                        std::fs::rename(&from, &to).map_err(|error| {
                            CommitError::io(format!("set {} aside", from.display()), error)
                        })?;
                    }
                }
                Self::open_anew(root, world)
            }
            other => other,
        }
    }

    /// Makes the ledger anew from the tables in the warehouse's folder: pointers, index, numbers, when code that
    /// published was first seen, the attempts that stamps name. Other attempts, timings, keys of requests, code that
    /// never published and caches are lost. A table
    /// that was copied or moved gets metadata with its new place; its older snapshots stay behind. One that can't be read
    /// is left as it is, one whose folder is gone is forgotten.
    ///
    /// # Errors
    /// A table can't be moved; storage or catalog out of reach.
    pub fn rebuild_ledger(&self) -> Result<Rebuilt> {
        let pointers: BTreeMap<TableName, String> =
            self.catalog().tables()?.into_iter().map(|pointer| (pointer.name, pointer.location)).collect();
        let folders = self.folders()?;
        let (heads, mut damaged) = self.heads(&folders, &pointers)?;
        let metadata = heads.iter().map(|(table, (_, metadata))| (table.clone(), metadata.clone())).collect();
        let left = rebuilt::left(&metadata)?;
        let mut found = Vec::new();
        for (table, (path, metadata)) in heads.into_iter().filter(|(table, _)| !left.contains(table)) {
            let folder = self.folder(&table);
            let location = if Path::new(local(metadata.location())) == folder {
                text(&path)?
            } else {
                match relocate::relocate(self, &folder, &path, &metadata)
                    .map_err(|error| self.damaged(&table, error))
                {
                    Err(error @ CommitError::Damaged { .. }) => {
                        damaged.push(error);
                        continue;
                    }
                    location => location?,
                }
            };
            found.push((table, location));
        }
        // What another writer made elsewhere is no business of ours.
        let was_ours = |table: &TableName, at: &str| Path::new(local(at)).starts_with(self.folder(table));
        let gone = pointers.iter().filter(|(table, at)| !folders.contains(table) && was_ours(table, at));
        let gone: Vec<TableName> = gone.map(|(table, _)| table.clone()).collect();
        self.repoint(&pointers, &found, left.iter().chain(&gone))?;
        let mut tables = Vec::new();
        for (table, _) in found {
            match self.state(&table) {
                Err(error @ CommitError::Damaged { .. }) => damaged.push(error),
                state => {
                    if let Some(state) = state? {
                        self.catalog().write(|transaction| record(transaction, &state))?;
                    }
                    tables.push(table);
                }
            }
        }
        self.mend_hints()?;
        Ok(Rebuilt { tables, damaged, gone })
    }

    /// The newest metadata of each table, with its file, and those that can't be read.
    fn heads(
        &self,
        folders: &[TableName],
        pointers: &BTreeMap<TableName, String>,
    ) -> Result<(BTreeMap<TableName, (PathBuf, TableMetadata)>, Vec<CommitError>)> {
        let (mut heads, mut damaged) = (BTreeMap::new(), Vec::new());
        for table in folders {
            let Some(path) = newest(self, &self.folder(table), pointers.get(table))? else {
                if let Some(pointer) = pointers.get(table) {
                    damaged.push(self.damaged(table, CommitError::corrupt(local(pointer), "it is gone")));
                }
                continue;
            };
            match metadata::parse(&self.disk().read(&path)?, &path.to_string_lossy()) {
                Err(error @ CommitError::Corrupt { .. }) => damaged.push(self.damaged(table, error)),
                found => drop(heads.insert(table.clone(), (path, found?))),
            }
        }
        Ok((heads, damaged))
    }

    /// Empties the ledger, points to the tables where they were found, and to none of those to `forget`.
    fn repoint<'a>(
        &self,
        pointers: &BTreeMap<TableName, String>,
        found: &[(TableName, String)],
        forget: impl Iterator<Item = &'a TableName>,
    ) -> Result<()> {
        for (table, _) in found {
            self.forget(table);
        }
        self.catalog().write(|transaction| {
            transaction.execute_batch(
                "DELETE FROM om_index; DELETE FROM om_requests; DELETE FROM om_attempts; DELETE FROM om_code;
                 DELETE FROM om_cache;",
            )?;
            for table in forget {
                if let Some(location) = pointers.get(table) {
                    catalog::remove(transaction, table, location)?;
                }
            }
            for (table, location) in found {
                let now = catalog::pointer(transaction, table)?;
                // A commit since the look stands: what it made follows what was found.
                if now.as_ref() == pointers.get(table) {
                    set_pointer(transaction, table, location, now.as_deref())?;
                }
            }
            Ok(())
        })
    }

    /// Tables by their folders.
    pub(crate) fn folders(&self) -> Result<Vec<TableName>> {
        let mut found = Vec::new();
        for schema in names(self.root())? {
            for name in names(&self.root().join(&schema))? {
                if let Ok(table) = TableName::new(&schema, &name)
                    && self.folder(&table).join("metadata").is_dir()
                {
                    found.push(table);
                }
            }
        }
        Ok(found)
    }
}

/// Names in a folder, sorted; none where it is no folder.
pub(crate) fn names(folder: &Path) -> Result<Vec<String>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| CommitError::io(format!("list {}", folder.display()), error))?;
        names.extend(entry.file_name().into_string());
    }
    names.sort_unstable();
    Ok(names)
}

/// The metadata file of a table: what the catalog pointed to, unless the hint for readers names a later one, the catalog
/// being from a backup; else what that hint names, or the one commit that came after it; else the highest number.
fn newest(warehouse: &Warehouse, folder: &Path, pointer: Option<&String>) -> Result<Option<PathBuf>> {
    let folder = folder.join("metadata");
    let in_folder = |location: &str| folder.join(location.rsplit('/').next().unwrap_or(location));
    let hint = std::fs::read_to_string(folder.join("version-hint.text")).unwrap_or_default();
    let hinted = format!("{}.metadata.json", hint.trim());
    let later = |path: &Path| {
        let pointed = path.file_name().and_then(|name| metadata::version(&name.to_string_lossy()));
        folder.join(&hinted).exists() && metadata::version(&hinted) > pointed
    };
    if let Some(path) = pointer.map(|pointer| in_folder(local(pointer))).filter(|path| path.exists())
        && !later(&path)
    {
        return Ok(Some(path));
    }
    let all: Vec<String> =
        names(&folder)?.into_iter().filter(|name| name.ends_with(".metadata.json")).collect();
    let mut current = match all.iter().find(|name| **name == hinted) {
        Some(name) => name.clone(),
        None => {
            return Ok(all.iter().max_by_key(|name| metadata::version(name)).map(|name| folder.join(name)));
        }
    };
    loop {
        let mut next = Vec::new();
        for name in
            all.iter().filter(|name| metadata::version(name) == metadata::version(&current).map(|v| v + 1))
        {
            let path = folder.join(name);
            let Ok(metadata) = metadata::parse(&warehouse.disk().read(&path)?, name) else { continue };
            let before = metadata.metadata_log().last().map(|log| log.metadata_file.clone());
            if before.is_some_and(|before| before.ends_with(&current)) {
                next.push(name.clone());
            }
        }
        match next.pop() {
            // Of two that followed one was not committed, and nothing tells which.
            Some(only) if next.is_empty() => current = only,
            _ => return Ok(Some(folder.join(current))),
        }
    }
}

fn set_pointer(
    transaction: &Transaction<'_>,
    table: &TableName,
    location: &str,
    old: Option<&str>,
) -> Result<()> {
    if old != Some(location) && !catalog::swap(transaction, table, old, location)? {
        transaction.execute(
            "UPDATE iceberg_tables SET metadata_location = ?4
             WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3",
            params![CATALOG, table.schema(), table.name(), location],
        )?;
    }
    Ok(())
}

/// Writes what a table says about itself into an empty ledger.
fn record(transaction: &Transaction<'_>, state: &State) -> Result<()> {
    let name = state.table.to_string();
    let fence = state.map.max_fence();
    let counted = state.map.entries().map(|entry| entry.fence.attempt).max().unwrap_or(0);
    raise(transaction, "request", fence.request)?;
    raise(transaction, "attempt", counted)?;
    if state.is_ours() {
        catalog::set_index(transaction, &state.table, &state.location, &state.index().to_json())?;
    }
    if metadata::log_of(&state.metadata).is_some() {
        // Its one stamp names an attempt on the log.
        return Ok(());
    }
    let mut code = transaction.prepare_cached(
        "INSERT INTO om_code VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET seen = min(seen, excluded.seen)",
    )?;
    let mut attempt = transaction.prepare_cached(
        "INSERT OR REPLACE INTO om_attempts VALUES
         (?1, ?2, ?3, ?4, ?5, ?6, 'committed', ?7, ?8, ?8, ?9, ?10, NULL, '')",
    )?;
    for (known, seen) in state.map.codes.iter() {
        code.execute(params![name, known.to_string(), seen.0])?;
    }
    for stamp in state.map.entries().filter_map(|entry| entry.stamp.as_ref()) {
        code.execute(params![name, stamp.code.to_string(), stamp.code_seen.0])?;
        attempt.execute(params![
            stamp.attempt.to_string(),
            stamp.epoch.request,
            stamp.epoch.attempt,
            name,
            stamp.interval.start().0,
            stamp.interval.end().0,
            stamp.code.to_string(),
            stamp.verified_at.0,
            stamp.fingerprint.rows,
            stamp.bytes
        ])?;
    }
    Ok(())
}

/// A path below `old` as a path below `new`.
fn moved(path: &str, old: &str, new: &Path) -> Result<String> {
    match Path::new(local(path)).strip_prefix(local(old)) {
        Ok(rest) => text(&new.join(rest)),
        Err(_) => Ok(path.to_owned()),
    }
}

/// Metadata as JSON.
fn json(metadata: &TableMetadata) -> Result<serde_json::Value> {
    serde_json::to_value(metadata).map_err(|error| CommitError::Internal(error.to_string()))
}
