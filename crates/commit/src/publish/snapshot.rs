//! From decisions to the files of one table's commit: manifests, list, slice map, metadata.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use iceberg::spec::{
    DataContentType, DataFile, MAIN_BRANCH, ManifestContentType, ManifestEntry, ManifestFile, Snapshot,
    SnapshotRef, TableMetadata, TableMetadataBuilder,
};
use uuid::Uuid;

use super::decide::Decisions;
use super::{Change, Publish, Published, TableCommit, committed};
use crate::disk::local;
use crate::error::{CommitError, Result};
use crate::metadata::manifest::{self, Writer};
use crate::metadata::summary::{self, Amount};
use crate::metadata::{self, MAP, N};
use crate::slice_map::{FileEntry, SliceMap};
use crate::state::State;
use crate::warehouse::{Warehouse, text};

/// Newest snapshots, kept whatever their age.
const NEWEST: usize = 20;
/// For so long older ones are kept, too: 7 days.
const KEPT_MS: i64 = 7 * 24 * 3_600_000;
/// Of older ones only the last of each stretch this long, 6 hours: a commit writes all snapshots again, so that their
/// number must have a bound.
const STRETCH_MS: i64 = 6 * 3_600_000;

/// A new snapshot before it is in the metadata.
struct Made {
    snapshot: Snapshot,
    manifests: Vec<(String, manifest::Entries)>,
    list: manifest::List,
}

/// What one table's commit is made of.
pub(super) struct Parts<'a> {
    pub(super) state: &'a Arc<State>,
    /// The slice map that the commit leads to.
    pub(super) map: SliceMap,
    /// Whether all that is live is in the map.
    pub(super) clean: bool,
    /// Files that are added.
    pub(super) added: Vec<&'a DataFile>,
    /// Slice starts and files that go.
    pub(super) gone: &'a [(Option<i64>, Vec<FileEntry>)],
    /// Number of slices that get other rows.
    pub(super) slices: usize,
    /// Whether `gone` may name delete files.
    pub(super) deletes: bool,
}

/// The commit of decided slices.
pub(super) fn decided(
    warehouse: &Warehouse,
    decisions: &Decisions<'_>,
    publishes: &[Publish],
) -> Result<TableCommit> {
    let parts = Parts {
        state: decisions.state,
        map: decisions.map.clone(),
        clean: decisions.is_clean(),
        added: added(decisions, publishes),
        gone: &decisions.gone,
        slices: decisions.replaced.len(),
        deletes: false,
    };
    let (mut commit, snapshot_id) = build(warehouse, parts)?;
    let item = |place: &usize, published: Published| {
        let publish = &publishes[*place];
        let amount = match &publish.change {
            Change::Replace(audited) => Some((audited.0.rows, audited.0.bytes)),
            Change::Restamp | Change::Adopt => None,
        };
        (*place, published, committed(publish.stamp.attempt), amount)
    };
    let replaced =
        decisions.replaced.iter().map(|place| item(place, Published::Replaced { snapshot_id, ties: None }));
    let restamped = decisions.restamped.iter().map(|place| item(place, Published::Unchanged));
    commit.items = replaced.chain(restamped).collect();
    Ok(commit)
}

/// The files of a commit, and the id of its snapshot where files come or go.
pub(super) fn build(warehouse: &Warehouse, parts: Parts<'_>) -> Result<(TableCommit, Option<i64>)> {
    let state = parts.state;
    let folder = state.folder.join("metadata");
    let now_ms = metadata::next_ms(&state.metadata, warehouse.world());
    let n = state.high().saturating_add(1);
    let map_file = format!("om-map-{n:08}-{:032x}.bin", warehouse.world().fresh_id());
    let mut files = Vec::new();
    let made = if parts.added.is_empty() && parts.gone.is_empty() {
        None
    } else {
        Some(make(warehouse, &parts, (n, now_ms, &map_file), &mut files)?)
    };
    let mut map = parts.map;
    map.clean = parts.clean;
    let mut properties = HashMap::from([(MAP.to_owned(), map_file.clone())]);
    if let Some(made) = &made {
        map.n = n;
        map.snapshot = Some(made.snapshot.snapshot_id());
        properties.insert(N.to_owned(), n.to_string());
    } else {
        map.snapshot = state.metadata.current_snapshot_id();
    }
    files.push((folder.join(&map_file), map.encode(&map_file)));
    let snapshot_id = made.as_ref().map(|made| made.snapshot.snapshot_id());
    let (expired, (built, bytes)) = match &made {
        Some(made) => {
            let (builder, expired) = change(&state.metadata, state, made, now_ms)?;
            (expired, metadata::build(builder.set_properties(properties)?, now_ms)?)
        }
        None => unchanged(state, now_ms, &properties)?,
    };
    let path = folder.join(metadata::next_name(Some(&state.location), warehouse.world()));
    let location = text(&path)?;
    files.push((path, bytes));
    let commit = TableCommit {
        state: state.clone(),
        metadata: built,
        location,
        map,
        map_file,
        files,
        list: made.as_ref().map(|made| (made.snapshot.manifest_list().to_owned(), made.list.clone())),
        manifests: made.map(|made| made.manifests).unwrap_or_default(),
        expired,
        items: Vec::new(),
        staged: None,
    };
    Ok((commit, snapshot_id))
}

fn added<'a>(decisions: &Decisions<'_>, publishes: &'a [Publish]) -> Vec<&'a DataFile> {
    let staged = decisions.replaced.iter().filter_map(|place| match &publishes[*place].change {
        Change::Replace(audited) => Some(&audited.0),
        Change::Restamp | Change::Adopt => None,
    });
    staged.flat_map(|staged| staged.files.list.iter().map(|(_, file, _)| file)).collect()
}

fn make(
    warehouse: &Warehouse,
    parts: &Parts<'_>,
    (n, now_ms, map_file): (u64, i64, &str),
    files: &mut Vec<(PathBuf, Vec<u8>)>,
) -> Result<Made> {
    let (state, added): (&State, _) = (parts.state, &parts.added);
    let current = &state.metadata;
    let id = metadata::snapshot_id(current, warehouse.world());
    let folder = state.folder.join("metadata");
    let root = text(&folder)?;
    let fresh = || format!("{root}/{}-m.avro", Uuid::from_u128(warehouse.world().fresh_id()));
    let mut writer = Writer {
        schema: current.current_schema().clone(),
        spec: current.default_partition_spec().as_ref().clone(),
        snapshot_id: id,
        fresh_path: &fresh,
        written: Vec::new(),
    };
    let (mut manifests, removed) = manifests(warehouse, parts, &mut writer)?;
    let sequence = current.next_sequence_number();
    writer.number(&mut manifests, sequence);
    let parent = current.current_snapshot();
    let parent_id = parent.map(|parent| parent.snapshot_id());
    let list = writer.list(&manifests, parent_id, sequence)?;
    let list_path = folder.join(format!("snap-{id}-{}.avro", Uuid::from_u128(warehouse.world().fresh_id())));
    let mut amount = Amount::default();
    added.iter().for_each(|file| count_file(&mut amount, file));
    let base = match parent {
        None => Amount::default(),
        Some(parent) => match summary::totals(parent.summary()) {
            Some(totals) => totals,
            None => count(warehouse, state)?,
        },
    };
    let ours = HashMap::from([(MAP.to_owned(), map_file.to_owned()), (N.to_owned(), n.to_string())]);
    let parent_summary = parent.map(|parent| parent.summary());
    let summary = summary::summary(base, parent_summary, amount, removed, parts.slices, ours);
    let snapshot = Snapshot::builder()
        .with_snapshot_id(id)
        .with_parent_snapshot_id(parent_id)
        .with_sequence_number(sequence)
        .with_timestamp_ms(now_ms)
        .with_manifest_list(text(&list_path)?)
        .with_summary(summary)
        .with_schema_id(current.current_schema_id())
        .build();
    let mut kept = Vec::with_capacity(writer.written.len());
    for (path, bytes, entries) in writer.written {
        files.push((PathBuf::from(&path), bytes));
        kept.push((path, inherit(&entries, id, sequence)));
    }
    files.push((list_path, list));
    Ok(Made { snapshot, manifests: kept, list: Arc::new(manifests) })
}

/// The manifests of the new snapshot, and what they no longer list.
fn manifests(
    warehouse: &Warehouse,
    parts: &Parts<'_>,
    writer: &mut Writer<'_>,
) -> Result<(Vec<ManifestFile>, Amount)> {
    let (state, added): (&State, _) = (parts.state, &parts.added);
    let gone: HashSet<&str> =
        parts.gone.iter().flat_map(|(_, files)| files.iter().map(|file| file.name.as_str())).collect();
    let starts: BTreeSet<Option<i64>> = parts.gone.iter().map(|(start, _)| *start).collect();
    let spec_id = state.metadata.default_partition_spec_id();
    // Those of other writers stay with the rows of theirs that do.
    let sweeps = |file: &ManifestFile| file.content == ManifestContentType::Data || parts.deletes;
    let (mut carried, mut rewritten, mut removed) = (Vec::new(), Vec::new(), Amount::default());
    for file in warehouse.manifest_list(&state.metadata)?.iter() {
        if sweeps(file) && manifest::live_count(file) == 0 {
            continue; // only tombstones of older snapshots
        }
        if !sweeps(file) || file.partition_spec_id != spec_id || !may_hold(file, &starts) {
            carried.push(file.clone());
            continue;
        }
        let entries = warehouse.manifest(file)?;
        let mut hit = HashSet::new();
        for entry in entries.iter().filter(|entry| gone.contains(state.relative(entry.file_path()).as_str()))
        {
            count_file(&mut removed, entry.data_file());
            hit.insert(entry.file_path().to_owned());
        }
        if hit.is_empty() {
            carried.push(file.clone())
        } else {
            rewritten.push(writer.without(&entries, &hit)?)
        }
    }
    let found = removed.files + removed.delete_files;
    if found != gone.len() as u64 {
        let detail = format!("{found} of the {} files to replace are in its manifests", gone.len());
        return Err(CommitError::corrupt(format!("table `{}`", state.table), detail));
    }
    while let Some(places) = manifest::to_merge(&carried, spec_id) {
        let all: Result<Vec<_>> = places.iter().map(|place| warehouse.manifest(&carried[*place])).collect();
        let merged = writer.merged(&all?)?;
        let mut place = 0;
        carried.retain(|_| {
            place += 1;
            !places.contains(&(place - 1))
        });
        carried.push(merged);
        // Its entries are found in the cache, should it be merged again in this commit.
        if let Some((path, _, entries)) = writer.written.last() {
            warehouse.remember_manifest(path.clone(), entries.clone());
        }
    }
    carried.extend(rewritten);
    let (data, deletes): (Vec<&DataFile>, Vec<&DataFile>) =
        added.iter().partition(|file| file.content_type() == DataContentType::Data);
    for files in [data, deletes] {
        if !files.is_empty() {
            let files: Vec<DataFile> = files.into_iter().cloned().collect();
            carried.push(writer.added(&files)?);
        }
    }
    Ok((carried, removed))
}

/// Whether a manifest may list files of these slices, by its partition bounds.
fn may_hold(file: &ManifestFile, starts: &BTreeSet<Option<i64>>) -> bool {
    let Some([field]) = file.partitions.as_deref() else { return !starts.is_empty() };
    let bound = |bytes: &Option<serde_bytes::ByteBuf>| {
        bytes.as_ref().and_then(|bytes| Some(i64::from_le_bytes(bytes.as_slice().try_into().ok()?)))
    };
    let (low, high) = (bound(&field.lower_bound), bound(&field.upper_bound));
    starts.iter().any(|start| match start {
        None => field.contains_null,
        Some(start) => low.is_none_or(|low| low <= *start) && high.is_none_or(|high| *start <= high),
    })
}

/// Entries as a later snapshot reads them.
fn inherit(entries: &manifest::Entries, id: i64, sequence: i64) -> manifest::Entries {
    let inherit = |entry: &ManifestEntry| {
        let mut entry = entry.clone();
        entry.snapshot_id = entry.snapshot_id.or(Some(id));
        entry.sequence_number = entry.sequence_number.or(Some(sequence));
        entry.file_sequence_number = entry.file_sequence_number.or(Some(sequence));
        entry
    };
    Arc::new(entries.iter().map(inherit).collect())
}

fn count_file(amount: &mut Amount, file: &DataFile) {
    match file.content_type() {
        DataContentType::Data => amount.add(file.record_count(), file.file_size_in_bytes()),
        DataContentType::PositionDeletes | DataContentType::EqualityDeletes => {
            amount.add_deletes(file.record_count(), file.file_size_in_bytes());
        }
    }
}

/// Totals counted, where another writer's snapshot does not say them.
fn count(warehouse: &Warehouse, state: &State) -> Result<Amount> {
    let mut amount = Amount::default();
    let live = state.live(warehouse)?;
    live.files.values().flatten().for_each(|file| amount.add(file.rows, file.bytes));
    live.deletes.values().flatten().for_each(|file| amount.add_deletes(file.rows, file.bytes));
    Ok(amount)
}

/// Metadata files that a new one pushes out of the log.
fn pushed_out(state: &State) -> Vec<PathBuf> {
    let log = state.metadata.metadata_log();
    // One entry is added.
    let over = (log.len() + 1).saturating_sub(metadata::LOGGED);
    let files = log[..over].iter().map(|entry| PathBuf::from(local(&entry.metadata_file)));
    files.filter(|path| inside(path, &state.folder)).collect()
}

/// The metadata with other properties, for a commit that makes no snapshot, and the metadata files that it pushes out.
pub(crate) fn unchanged(
    state: &State,
    now_ms: i64,
    properties: &HashMap<String, String>,
) -> Result<(Vec<PathBuf>, (TableMetadata, Vec<u8>))> {
    let set = |builder: TableMetadataBuilder| builder.set_properties(properties.clone());
    Ok((pushed_out(state), metadata::change(&state.metadata, &state.location, now_ms, set)?))
}

/// The metadata with the new snapshot, without snapshots and metadata files whose time is over.
fn change(
    current: &TableMetadata,
    state: &State,
    made: &Made,
    now_ms: i64,
) -> Result<(TableMetadataBuilder, Vec<PathBuf>)> {
    let mut expired = Vec::new();
    let mut builder = current.clone().into_builder(Some(state.location.clone()));
    builder = builder.set_branch_snapshot(made.snapshot.clone(), MAIN_BRANCH)?;
    if current.snapshots().len() + 1 > NEWEST {
        let named = state.named_snapshots()?;
        let mut old = past(current, now_ms);
        old.retain(|snapshot| !named.contains(&snapshot.snapshot_id()));
        let ids: Vec<i64> = old.iter().map(|snapshot| snapshot.snapshot_id()).collect();
        // Another writer's rollback may name the list of the snapshot that it goes back to.
        let kept: HashSet<&str> = current
            .snapshots()
            .filter(|snapshot| !ids.contains(&snapshot.snapshot_id()))
            .map(|snapshot| snapshot.manifest_list())
            .collect();
        let lists = old.iter().map(|snapshot| snapshot.manifest_list()).filter(|list| !kept.contains(list));
        expired.extend(lists.map(|list| PathBuf::from(local(list))));
        builder = builder.remove_snapshots(&ids);
    }
    expired.retain(|path: &PathBuf| inside(path, &state.folder));
    expired.extend(pushed_out(state));
    Ok((builder, expired))
}

/// Snapshots whose time is over once a new one is there at `now_ms`.
fn past(current: &TableMetadata, now_ms: i64) -> Vec<&SnapshotRef> {
    let mut snapshots: Vec<_> = current.snapshots().collect();
    snapshots.sort_unstable_by_key(|snapshot| std::cmp::Reverse(snapshot.sequence_number()));
    let mut later = now_ms.div_euclid(STRETCH_MS);
    let mut past = Vec::new();
    for (place, snapshot) in snapshots.into_iter().enumerate() {
        let at = snapshot.timestamp_ms();
        let is_last = std::mem::replace(&mut later, at.div_euclid(STRETCH_MS)) != at.div_euclid(STRETCH_MS);
        let is_kept = place + 1 < NEWEST || (is_last && now_ms.saturating_sub(at) < KEPT_MS);
        if !is_kept {
            past.push(snapshot);
        }
    }
    past
}

/// Whether a path leads into a folder, without a way out of it on the way.
fn inside(path: &Path, folder: &Path) -> bool {
    path.strip_prefix(folder)
        .is_ok_and(|rest| rest.components().all(|part| matches!(part, Component::Normal(_))))
}
