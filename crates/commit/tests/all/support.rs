//! A warehouse in a temporary folder, and short words for what tests do with it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use arrow::array::{ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::Int64Type;
use oncemore_commit::{
    Attempt, Change, CommitError, Faults, OnTie, Publish, Published, SliceWriter, Staged, StampDraft,
    Warehouse,
};
use oncemore_core::{AttemptId, Digest, Instant, Interval, Origin, Stamp, TableName, World};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// A clock that tests set, and ids that never repeat.
#[derive(Debug)]
pub(crate) struct TestWorld {
    pub(crate) now: AtomicI64,
    ids: AtomicU64,
    process: String,
}

impl World for TestWorld {
    fn now(&self) -> Instant {
        Instant(self.now.fetch_add(1_000, Ordering::Relaxed))
    }

    fn fresh_id(&self) -> u128 {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        xxhash_rust::xxh3::xxh3_128_with_seed(&id.to_le_bytes(), 7)
    }

    fn process(&self) -> String {
        self.process.clone()
    }
}

pub(crate) const START: i64 = 1_700_000_000_000_000;

pub(crate) fn world(process: u64) -> Arc<TestWorld> {
    world_of(process, &format!("test-{process}"))
}

/// A world whose process has that name, and whose ids are those of `number`.
pub(crate) fn world_of(number: u64, process: &str) -> Arc<TestWorld> {
    Arc::new(TestWorld {
        now: AtomicI64::new(START),
        ids: AtomicU64::new(number << 40),
        process: process.to_owned(),
    })
}

/// A world of its own whose process is this one: all others see that it lives.
pub(crate) fn living(number: u64) -> Arc<TestWorld> {
    let process = oncemore_commit::process_name("here", std::process::id());
    let TestWorld { now, ids, .. } = Arc::into_inner(world(number)).unwrap();
    Arc::new(TestWorld { now, ids, process })
}

pub(crate) struct Scene {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) world: Arc<TestWorld>,
    pub(crate) warehouse: Warehouse,
}

pub(crate) fn table() -> TableName {
    "silver.flights".parse().unwrap()
}

/// A day, counted from some day.
pub(crate) fn day(number: i64) -> Interval {
    let start = START - START % 86_400_000_000 + number * 86_400_000_000;
    Interval::new(Instant(start), Instant(start + 86_400_000_000)).unwrap()
}

pub(crate) fn code(number: u8) -> Digest {
    Digest::of(&[number])
}

/// Rows with a key, a text and a number.
pub(crate) fn rows(values: &[i64]) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from(values.to_vec()));
    let texts: ArrayRef =
        Arc::new(StringArray::from_iter_values(values.iter().map(|value| format!("N{value}"))));
    let floats: ArrayRef =
        Arc::new(Float64Array::from_iter_values(values.iter().map(|value| *value as f64 / 2.0)));
    RecordBatch::try_from_iter([("id", ids), ("tail", texts), ("delay", floats)]).unwrap()
}

pub(crate) fn key() -> Vec<String> {
    vec!["id".to_owned()]
}

impl Scene {
    pub(crate) fn new() -> Self {
        let scene = Self::empty(None);
        scene.warehouse.ensure_table(&table(), rows(&[]).schema_ref(), &key(), true).unwrap();
        scene
    }

    pub(crate) fn empty(faults: Option<Arc<dyn Faults>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = world(1);
        let warehouse = Warehouse::open_with(&folder.path().join("w"), world.clone(), faults).unwrap();
        Scene { folder, world, warehouse }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("w")
    }

    /// The same folder as another process sees it.
    pub(crate) fn other(&self, process: u64) -> Warehouse {
        Warehouse::open(&self.root(), world(process)).unwrap()
    }

    pub(crate) fn replace(&self, interval: Interval, values: &[i64]) -> Result<Published, CommitError> {
        replace(&self.warehouse, interval, values)
    }

    pub(crate) fn stamp(&self, interval: Interval) -> Option<Stamp> {
        stamp(&self.warehouse, interval)
    }

    pub(crate) fn ids(&self) -> Vec<i64> {
        ids(&self.warehouse)
    }
}

pub(crate) fn stamp(warehouse: &Warehouse, interval: Interval) -> Option<Stamp> {
    warehouse.stamps(&table()).unwrap().iter().find(|stamp| stamp.interval == interval).cloned()
}

pub(crate) fn attempt(warehouse: &Warehouse, interval: Interval) -> Result<Attempt, CommitError> {
    let request = warehouse.begin_request(None)?;
    Ok(warehouse.begin_attempts(request, &[(table(), interval, code(1))])?.remove(0))
}

/// Publishes rows into a slice of any table, computed by `code`.
pub(crate) fn put(
    warehouse: &Warehouse,
    table: &TableName,
    interval: Interval,
    values: &[i64],
) -> Result<(), CommitError> {
    let request = warehouse.begin_request(None)?;
    let attempt = warehouse.begin_attempts(request, &[(table.clone(), interval, code(2))])?.remove(0);
    let publish = publishing(warehouse, &attempt, values, None)?;
    warehouse.publish(vec![publish]).remove(0).map(|_| ())
}

pub(crate) fn stage(warehouse: &Warehouse, attempt: &Attempt, values: &[i64]) -> Result<Staged, CommitError> {
    let batch = rows(values);
    let mut writer = SliceWriter::new(
        warehouse,
        &attempt.table,
        attempt.interval,
        batch.schema(),
        &key(),
        attempt,
        attempt.code,
    )?;
    writer.write(&batch)?;
    writer.finish()
}

pub(crate) fn draft(attempt: &Attempt) -> StampDraft {
    StampDraft {
        code: attempt.code,
        code_seen: Instant(1),
        inputs: Vec::new(),
        audits: code(0),
        epoch: attempt.epoch,
        attempt: attempt.id,
        engine: "test".to_owned(),
        origin: Origin::Computed,
    }
}

pub(crate) fn publishing(
    warehouse: &Warehouse,
    attempt: &Attempt,
    values: &[i64],
    expected: Option<AttemptId>,
) -> Result<Publish, CommitError> {
    Ok(Publish {
        table: attempt.table.clone(),
        interval: attempt.interval,
        stamp: draft(attempt),
        change: Change::Replace(stage(warehouse, attempt, values)?.audited()),
        expected,
        replace_foreign: false,
        read_back: false,
        on_tie: OnTie::Ignore,
        dated_by: None,
    })
}

pub(crate) fn replace(
    warehouse: &Warehouse,
    interval: Interval,
    values: &[i64],
) -> Result<Published, CommitError> {
    let attempt = attempt(warehouse, interval)?;
    let publish = publishing(warehouse, &attempt, values, None)?;
    warehouse.publish(vec![publish]).remove(0)
}

/// The ids in all live files, sorted.
pub(crate) fn ids(warehouse: &Warehouse) -> Vec<i64> {
    let mut ids: Vec<i64> = by_slice(warehouse).into_values().flatten().collect();
    ids.sort_unstable();
    ids
}

/// The ids in the live files of each slice that has any, sorted.
pub(crate) fn by_slice(warehouse: &Warehouse) -> BTreeMap<Interval, Vec<i64>> {
    let mut slices: BTreeMap<Interval, Vec<i64>> = BTreeMap::new();
    let Some(head) = warehouse.head(&table()).unwrap() else { return slices };
    for file in head.all_files() {
        let ids = slices.entry(file.interval).or_default();
        ids.extend(read_ids(Path::new(&file.path)));
        ids.sort_unstable();
    }
    slices
}

pub(crate) fn read_ids(path: &Path) -> Vec<i64> {
    let file = std::fs::File::open(path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let mut ids = Vec::new();
    for batch in reader {
        let batch = batch.unwrap();
        ids.extend_from_slice(batch.column_by_name("id").unwrap().as_primitive::<Int64Type>().values());
    }
    ids
}

/// The table's metadata as the catalog points to it.
pub(crate) fn metadata(warehouse: &Warehouse) -> serde_json::Value {
    let head = warehouse.head(&table()).unwrap().unwrap();
    serde_json::from_slice(&std::fs::read(head.metadata_location).unwrap()).unwrap()
}

/// What the summary of the head says of rows and files, checked against the live files.
pub(crate) fn check_totals(warehouse: &Warehouse) {
    let metadata = metadata(warehouse);
    let head = warehouse.head(&table()).unwrap().unwrap();
    let Some(current) = metadata["current-snapshot-id"].as_i64().filter(|id| *id != -1) else { return };
    let snapshots = metadata["snapshots"].as_array().unwrap();
    let snapshot = snapshots.iter().find(|snapshot| snapshot["snapshot-id"] == current).unwrap();
    let total = |key: &str| snapshot["summary"][key].as_str().unwrap().parse::<u64>().unwrap();
    let files = head.all_files();
    assert_eq!(total("total-data-files"), files.len() as u64);
    assert_eq!(total("total-records"), files.iter().map(|file| file.rows).sum::<u64>());
    assert_eq!(total("total-files-size"), files.iter().map(|file| file.bytes).sum::<u64>());
}
