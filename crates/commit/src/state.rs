//! A table's state at its head: metadata, the slice map that goes with it, and who wrote the head.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use iceberg::spec::{ManifestContentType, Snapshot, TableMetadata};
use oncemore_core::TableName;
use serde::{Deserialize, Serialize};

use crate::disk::local;
use crate::error::{CommitError, Result};
use crate::metadata::{self, MAP, N, manifest};
use crate::slice_map::{FileEntry, SliceMap};
use crate::warehouse::Warehouse;

/// A table as of one metadata file.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) table: TableName,
    pub(crate) location: String,
    pub(crate) folder: PathBuf,
    pub(crate) metadata: TableMetadata,
    /// Stamps and files as of the head, fences as of the newest commit.
    pub(crate) map: SliceMap,
    /// Name of the map's file.
    pub(crate) map_file: Option<String>,
    pub(crate) standing: Standing,
    /// See [`State::named_snapshots`]: kept from commit to commit, which name and unname none.
    pub(crate) named: OnceLock<BTreeSet<i64>>,
}

/// Who wrote the head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// We did, and nothing came after.
    Ours,
    /// Somebody else's snapshot lies on top of ours: what is live must be looked up.
    Foreign,
    /// Somebody set the table back to commit `found` of ours.
    RolledBack {
        /// Number of the commit at the head.
        found: u64,
    },
}

/// What the ledger's index keeps of a state.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct IndexState {
    pub(crate) map: Option<String>,
}

impl IndexState {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| CommitError::corrupt("ledger index", error))
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::json!({ "map": self.map }).to_string()
    }
}

/// Live files by the start of their slice.
#[derive(Clone, Debug, Default)]
pub(crate) struct Live {
    pub(crate) files: BTreeMap<Option<i64>, Vec<FileEntry>>,
    /// Delete files by the start of their slice.
    pub(crate) deletes: BTreeMap<Option<i64>, Vec<FileEntry>>,
    /// Files under another partition spec.
    pub(crate) elsewhere: usize,
}

impl State {
    pub(crate) fn load(
        warehouse: &Warehouse,
        table: &TableName,
        location: String,
        metadata: TableMetadata,
    ) -> Result<State> {
        let folder = warehouse.folder(table);
        let newest = metadata.properties().get(MAP).cloned();
        let newest_map = warehouse.load_map(&folder, newest.as_deref())?;
        let head = metadata.current_snapshot();
        let own = head.and_then(|head| own_map(head));
        let (map, map_file, standing) = match own {
            _ if head.map(|head| head.snapshot_id()) == newest_map.snapshot => {
                let standing = if newest_map.clean { Standing::Ours } else { Standing::Foreign };
                (newest_map, newest, standing)
            }
            Some((file, found)) => {
                // Stamps roll back with the data; fences don't.
                let mut map = warehouse.load_map(&folder, Some(&file))?;
                map.raise_fences(&newest_map);
                (map, Some(file), Standing::RolledBack { found })
            }
            None => {
                let standing = match own_ancestor(&metadata, newest_map.snapshot) {
                    Some(found) => Standing::RolledBack { found },
                    _ if head.is_none() => Standing::RolledBack { found: 0 },
                    _ => Standing::Foreign,
                };
                (newest_map, newest, standing)
            }
        };
        Ok(State {
            table: table.clone(),
            location,
            folder,
            metadata,
            map,
            map_file,
            standing,
            named: OnceLock::new(),
        })
    }

    /// Snapshots that tags and branches name, `main` aside: no commit of ours may let them go.
    pub(crate) fn named_snapshots(&self) -> Result<&BTreeSet<i64>> {
        if let Some(named) = self.named.get() {
            return Ok(named);
        }
        let named = metadata::named_snapshots(&self.metadata)?;
        Ok(self.named.get_or_init(|| named))
    }

    pub(crate) fn is_ours(&self) -> bool {
        self.standing == Standing::Ours
    }

    pub(crate) fn index(&self) -> IndexState {
        IndexState { map: self.map_file.clone() }
    }

    /// Number of the last commit of ours.
    pub(crate) fn high(&self) -> u64 {
        self.metadata.properties().get(N).and_then(|n| n.parse().ok()).unwrap_or(0)
    }

    /// The path of a file of the table, relative to its folder where it lies inside.
    pub(crate) fn relative(&self, path: &str) -> String {
        let path = Path::new(local(path));
        path.strip_prefix(&self.folder).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// The full path of a file by the name that the slice map has for it.
    pub(crate) fn full(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Whether a file is there, in its size.
    pub(crate) fn has(&self, file: &FileEntry) -> bool {
        std::fs::metadata(self.full(&file.name)).is_ok_and(|found| found.len() == file.bytes)
    }

    /// Live files as the head's manifests list them.
    pub(crate) fn live(&self, warehouse: &Warehouse) -> Result<Live> {
        let mut live = Live::default();
        for file in warehouse.manifest_list(&self.metadata)?.iter() {
            let deletes = file.content == ManifestContentType::Deletes;
            let ours = file.partition_spec_id == self.metadata.default_partition_spec_id();
            for entry in warehouse.manifest(file)?.iter() {
                let data = entry.data_file();
                let list = if deletes { &mut live.deletes } else { &mut live.files };
                match manifest::start_of(data) {
                    Ok(start) if ours => list.entry(start).or_default().push(FileEntry {
                        name: self.relative(data.file_path()),
                        rows: data.record_count(),
                        bytes: data.file_size_in_bytes(),
                    }),
                    _ => live.elsewhere += 1,
                }
            }
        }
        live.files.values_mut().chain(live.deletes.values_mut()).for_each(|files| files.sort_unstable());
        Ok(live)
    }
}

/// The map file and commit number that a snapshot of ours names.
pub(crate) fn own_map(snapshot: &Snapshot) -> Option<(String, u64)> {
    let values = &snapshot.summary().additional_properties;
    Some((values.get(MAP)?.clone(), values.get(N)?.parse().ok()?))
}

/// Number of the nearest snapshot of ours below the head, as far as history goes; `None` where the snapshot `known` to
/// the newest map comes first: then nothing of ours was taken back.
fn own_ancestor(metadata: &TableMetadata, known: Option<i64>) -> Option<u64> {
    let mut next = metadata.current_snapshot()?.parent_snapshot_id();
    while let Some(snapshot) = next.filter(|id| Some(*id) != known).and_then(|id| metadata.snapshot_by_id(id))
    {
        if let Some((_, n)) = own_map(snapshot) {
            return Some(n);
        }
        next = snapshot.parent_snapshot_id();
    }
    None
}
