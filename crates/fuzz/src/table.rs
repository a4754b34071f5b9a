//! A whole table whose files another writer, or a fault, changed: read, written to, cleaned up and rebuilt.
//!
//! An input is a list of edits to the files of a small table, see `Edit`. Whatever they say, nothing outside the
//! warehouse may change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use oncemore_commit::{CATALOG_FILE, Change, OnTie, Publish, Published, SliceWriter, StampDraft, Warehouse};
use oncemore_core::world::SeededWorld;
use oncemore_core::{Digest, Instant, Interval, Origin, TableName, World};
use serde_json::Value;
use tempfile::TempDir;

/// Edits made of one input.
const EDITS: usize = 16;
/// A day, in microseconds.
const DAY: i64 = 86_400_000_000;
/// What stands outside the warehouse.
const OUTSIDE: &str = "outside.txt";

/// One edit: the file, what is done, where, and with which bytes.
struct Edit<'a> {
    file: usize,
    verb: u8,
    place: usize,
    bytes: &'a [u8],
}

impl<'a> Edit<'a> {
    /// Reads an edit: a byte for the file, one for the verb, two for the place, one for the length of the bytes that
    /// follow.
    fn read(input: &mut &'a [u8]) -> Option<Self> {
        let ([file, verb, low, high, length], rest) = input.split_first_chunk::<5>()?;
        let (bytes, rest) = rest.split_at(rest.len().min((*length).into()));
        *input = rest;
        let place = usize::from(u16::from_le_bytes([*low, *high]));
        Some(Edit { file: (*file).into(), verb: *verb, place, bytes })
    }

    fn make(&self, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
        let paths: Vec<PathBuf> =
            files.keys().filter(|path| !path.ends_with(CATALOG_FILE)).cloned().collect();
        let path = &paths[self.file % paths.len()];
        let Some(file) = files.get_mut(path) else { return };
        let place = self.place % (file.len() + 1);
        match self.verb % 6 {
            0 if path.extension().is_some_and(|ending| ending == "json") => self.change_value(file),
            0 => drop(
                file.splice(place..(place + self.bytes.len()).min(file.len()), self.bytes.iter().copied()),
            ),
            1 => drop(file.splice(place..place, self.bytes.iter().copied())),
            2 => file.truncate(place),
            3 => drop(file.drain(place..(place + self.bytes.len()).min(file.len()))),
            4 => drop(files.remove(path)),
            _ => {
                let other = paths[self.place % paths.len()].clone();
                let bytes = files.get(path).cloned().unwrap_or_default();
                files.insert(other, bytes);
            }
        }
    }

    /// Puts the bytes, read as JSON or taken as a text, in the place of one value of a JSON file.
    fn change_value(&self, file: &mut Vec<u8>) {
        let Ok(mut json) = serde_json::from_slice::<Value>(file) else { return };
        let text = String::from_utf8_lossy(self.bytes).into_owned();
        let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
        let count = count(&json);
        put(&mut json, &mut (self.place % count), &value);
        *file = serde_json::to_vec(&json).unwrap();
    }
}

fn count(json: &Value) -> usize {
    1 + match json {
        Value::Array(values) => values.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0usize,
    }
}

/// Replaces the value that `place` counts down to; whether it was found.
fn put(json: &mut Value, place: &mut usize, value: &Value) -> bool {
    if *place == 0 {
        *json = value.clone();
        return true;
    }
    *place -= 1;
    match json {
        Value::Array(values) => values.iter_mut().any(|inner| put(inner, place, value)),
        Value::Object(fields) => fields.values_mut().any(|inner| put(inner, place, value)),
        _ => false,
    }
}

/// A warehouse with one table, as files.
struct Scene {
    folder: TempDir,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Scene {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().join("w");
        let warehouse = Warehouse::open(&root, world(1)).unwrap();
        warehouse.ensure_table(&table(), rows(0).schema_ref(), &["id".to_owned()], true).unwrap();
        // As many commits that the next one pushes a metadata file out.
        for number in 0..11 {
            replace(&warehouse, number % 3).unwrap();
        }
        drop(warehouse);
        let mut files = BTreeMap::new();
        read_into(&root, &mut files);
        std::fs::write(folder.path().join(OUTSIDE), OUTSIDE).unwrap();
        Scene { folder, files }
    }

    fn run(&self, mut input: &[u8]) {
        let mut files = self.files.clone();
        for _ in 0..EDITS {
            match Edit::read(&mut input) {
                Some(edit) if files.len() > 1 => edit.make(&mut files),
                _ => break,
            }
        }
        let root = self.folder.path().join("w");
        std::fs::remove_dir_all(&root).unwrap();
        for (path, bytes) in &files {
            std::fs::create_dir_all(path.parent().unwrap_or(path)).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        use_it(&root);
        let outside = std::fs::read(self.folder.path().join(OUTSIDE));
        assert!(outside.is_ok_and(|text| text == OUTSIDE.as_bytes()), "a file outside the warehouse changed");
    }
}

thread_local! {
    static SCENE: Scene = Scene::new();
}

/// Makes the edits and uses the table.
///
/// # Panics
/// Where something outside the warehouse changed, or what was published can't be read.
pub fn run(bytes: &[u8]) {
    SCENE.with(|scene| scene.run(bytes));
}

fn use_it(root: &Path) {
    let Ok(warehouse) = Warehouse::open(root, world(2)) else { return };
    look(&warehouse);
    if let Ok(Published::Replaced { .. }) = replace(&warehouse, 1) {
        let again = Warehouse::open(root, world(3)).unwrap();
        assert!(again.stamp(&table(), day(1)).unwrap().is_some_and(|stamp| stamp.fingerprint.rows == 3));
    }
    let _ = (warehouse.gc(Instant::MAX), warehouse.resolve(), warehouse.compact());
    if let Ok(rebuilt) = Warehouse::open_to_rebuild(root, world(4)) {
        let _ = rebuilt.rebuild_ledger();
        look(&rebuilt);
    }
}

fn look(warehouse: &Warehouse) {
    let table = &table();
    let _ = (warehouse.stamps(table), warehouse.foreign_changes(table), warehouse.resolve());
    if let Ok(Some(head)) = warehouse.head(table) {
        let _ = head.all_files().iter().map(|file| file.deleted()).collect::<Vec<_>>();
    }
    for id in warehouse.snapshots(table).unwrap_or_default() {
        let _ = warehouse.head_at(table, id);
    }
}

fn replace(warehouse: &Warehouse, number: i64) -> Result<Published, oncemore_commit::CommitError> {
    let key = ["id".to_owned()];
    let rows = rows(number);
    warehouse.ensure_table(&table(), rows.schema_ref(), &key, true)?;
    let request = warehouse.begin_request(None)?;
    let code = Digest::of(b"code");
    let attempt = warehouse.begin_attempts(request, &[(table(), day(number), code)])?.remove(0);
    let mut writer = SliceWriter::new(warehouse, &table(), day(number), rows.schema(), &key, &attempt, code)?;
    writer.write(&rows)?;
    let stamp = StampDraft {
        code,
        code_seen: Instant(0),
        inputs: Vec::new(),
        audits: code,
        epoch: attempt.epoch,
        attempt: attempt.id,
        engine: "none".to_owned(),
        origin: Origin::Computed,
    };
    let change = Change::Replace(writer.finish()?.audited());
    let publish = Publish {
        table: table(),
        interval: day(number),
        stamp,
        change,
        expected: None,
        replace_foreign: true,
        read_back: false,
        on_tie: OnTie::Ignore,
        dated_by: None,
    };
    warehouse.publish(vec![publish]).remove(0)
}

/// Three rows that differ from one commit to the next.
fn rows(number: i64) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values((0..3).map(|row| number * 10 + row)));
    RecordBatch::try_from_iter([("id", ids)]).unwrap()
}

fn read_into(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_into(&path, files);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            files.insert(path, bytes);
        }
    }
}

fn world(process: u64) -> Arc<dyn World> {
    Arc::new(SeededWorld::new(process, Instant(1_700_000_000_000_000)))
}

fn table() -> TableName {
    TableName::new("silver", "flights").unwrap()
}

fn day(number: i64) -> Interval {
    Interval::new(Instant(number * DAY), Instant((number + 1) * DAY)).unwrap()
}
