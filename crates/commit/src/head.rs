//! The head of a table as readers need it: schema, key and the data files of a range.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use oncemore_core::{AttemptId, Instant, Interval, TableName};

use crate::error::{CommitError, Result};
use crate::metadata::{self, schema};
use crate::positions::Lazy;
use crate::slice_map::{FileEntry, SliceMap};
use crate::state::State;
use crate::warehouse::{Warehouse, text};

/// A table at one snapshot.
#[derive(Clone, Debug)]
pub struct TableHead {
    /// The table.
    pub table: TableName,
    /// Folder of the table.
    pub location: PathBuf,
    /// The metadata file read.
    pub metadata_location: String,
    /// The snapshot; `None` before the first publish with rows.
    pub snapshot_id: Option<i64>,
    /// The user's columns, as stored.
    pub schema: SchemaRef,
    /// The key columns.
    pub key: Vec<String>,
    pub(crate) files: Arc<Vec<DataFileRef>>,
}

/// A live data file.
#[derive(Clone, Debug, PartialEq)]
pub struct DataFileRef {
    /// Absolute path.
    pub path: String,
    /// The slice it belongs to. Of a slice that another writer made only the start is known.
    pub interval: Interval,
    /// Rows that are in it and not deleted.
    pub rows: u64,
    /// Its size.
    pub bytes: u64,
    /// The delete files of its slice, where one of them deletes rows of it.
    pub(crate) deletes: Option<Arc<Lazy>>,
}

impl DataFileRef {
    /// Places of its rows that are deleted, in order. Reads delete files, once for all files of a head.
    ///
    /// # Errors
    /// A delete file that can't be read.
    pub fn deleted(&self) -> Result<Vec<u64>> {
        self.deletes.as_ref().map_or_else(|| Ok(Vec::new()), |deletes| deletes.of(&self.path))
    }

    /// The delete files that say which of its rows are deleted, absolute.
    ///
    /// # Errors
    /// A path that is not UTF-8.
    pub fn delete_files(&self) -> Result<Vec<String>> {
        self.deletes.as_ref().map_or_else(|| Ok(Vec::new()), |deletes| deletes.paths())
    }
}

impl TableHead {
    /// Files of all slices that share an instant with `within`, in order of slices.
    pub fn files(&self, within: Interval) -> Vec<DataFileRef> {
        self.files.iter().filter(|file| file.interval.overlaps(within)).cloned().collect()
    }

    /// All files, in order of slices.
    pub fn all_files(&self) -> &[DataFileRef] {
        &self.files
    }
}

impl Warehouse {
    /// The head of a table; `None` where there is no such table.
    ///
    /// # Errors
    /// Metadata that can't be read; delete files of another writer, which need a reader that merges them.
    pub fn head(&self, table: &TableName) -> Result<Option<TableHead>> {
        let Some(state) = self.state(table)? else { return Ok(None) };
        let files = match state.is_ours() {
            true => files_of_map(self, &state, &state.map)?,
            false => self.files_by_manifests(&state)?,
        };
        let current = &state.metadata;
        Ok(Some(TableHead {
            table: table.clone(),
            location: state.folder.clone(),
            metadata_location: state.location.clone(),
            snapshot_id: current.current_snapshot_id(),
            schema: schema::user_schema(current.current_schema())?,
            key: metadata::key_of(current),
            files: Arc::new(files),
        }))
    }

    /// The attempts that own slices now, those of `intervals` that have a stamp.
    ///
    /// # Errors
    /// The catalog or the table's metadata can't be read.
    pub fn owners(&self, table: &TableName, intervals: &[Interval]) -> Result<BTreeMap<Interval, AttemptId>> {
        let Some(state) = self.state(table)? else { return Ok(BTreeMap::new()) };
        let owner = |interval: &Interval| {
            let stamp = state.map.get(*interval)?.stamp.as_ref()?;
            Some((*interval, stamp.attempt))
        };
        Ok(intervals.iter().filter_map(owner).collect())
    }

    fn files_by_manifests(&self, state: &State) -> Result<Vec<DataFileRef>> {
        let live = state.live(self)?;
        let ours = |file: &FileEntry| {
            state.map.entries().any(|entry| entry.deletes.files.iter().any(|own| own.name == file.name))
        };
        let theirs = live
            .deletes
            .iter()
            .map(|(start, files)| (start, files.iter().filter(|file| !ours(file)).count()));
        if let Some((start, count)) = theirs.into_iter().find(|(_, count)| *count > 0) {
            return Err(CommitError::Foreign {
                table: state.table.clone(),
                interval: interval_at(state, *start),
                detail: format!(
                    "{count} delete files of a merge-on-read writer, which this version does not read; let that writer \
                     rewrite the data files, or replace the slice"
                ),
            });
        }
        if live.elsewhere > 0 {
            return Err(CommitError::Foreign {
                table: state.table.clone(),
                interval: Interval::WHOLE,
                detail: format!(
                    "{} files under another partition spec than `_interval_start`",
                    live.elsewhere
                ),
            });
        }
        let mut files = Vec::new();
        for (start, slice) in &live.files {
            let interval = interval_at(state, *start);
            let deletes = live.deletes.get(start).map_or(&[][..], Vec::as_slice);
            let deletes = lazy(self, state, deletes);
            for file in slice {
                let path = text(&state.full(&file.name))?;
                let dead = match &deletes {
                    Some(deletes) => deletes.of(&path)?.len() as u64,
                    None => 0,
                };
                files.push(reference(path, interval, file, dead, deletes.as_ref()));
            }
        }
        Ok(files)
    }
}

/// The files that a slice map names, in order of slices.
pub(crate) fn files_of_map(warehouse: &Warehouse, state: &State, map: &SliceMap) -> Result<Vec<DataFileRef>> {
    let mut files = Vec::with_capacity(map.len());
    for entry in map.entries() {
        let deletes = lazy(warehouse, state, &entry.deletes.files);
        for (place, file) in entry.files.iter().enumerate() {
            let path = text(&state.full(&file.name))?;
            files.push(reference(path, entry.interval, file, entry.deletes.of(place), deletes.as_ref()));
        }
    }
    Ok(files)
}

fn lazy(warehouse: &Warehouse, state: &State, deletes: &[FileEntry]) -> Option<Arc<Lazy>> {
    let paths = deletes.iter().map(|file| state.full(&file.name));
    (!deletes.is_empty()).then(|| Arc::new(Lazy::new(warehouse.disk(), paths.collect())))
}

fn reference(
    path: String,
    interval: Interval,
    file: &FileEntry,
    dead: u64,
    deletes: Option<&Arc<Lazy>>,
) -> DataFileRef {
    let deletes = deletes.filter(|_| dead > 0).cloned();
    DataFileRef { path, interval, rows: file.rows.saturating_sub(dead), bytes: file.bytes, deletes }
}

/// The slice that starts at `start`; where it is none of ours, everything from there on.
pub(crate) fn interval_at(state: &State, start: Option<i64>) -> Interval {
    match state.map.starting(start) {
        Some(entry) => entry.interval,
        None => {
            start.and_then(|start| Interval::new(Instant(start), Instant::MAX)).unwrap_or(Interval::WHOLE)
        }
    }
}
