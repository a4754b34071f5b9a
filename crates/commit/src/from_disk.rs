//! What bytes go through that were read from disk, a function for each kind of file. For fuzz targets alone, which would
//! get through few inputs a second with whole warehouses; decides and writes nothing.

use std::path::Path;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};
use iceberg::spec::{FormatVersion, ManifestContentType, ManifestFile, Schema as IcebergSchema};
use oncemore_core::world::SeededWorld;
use oncemore_core::{Instant, Interval, TableName};

use crate::disk::Disk;
use crate::error::Result;
use crate::fold::Order;
use crate::fold::store::{Ask, Lookup, Reader, Unit, Wanted, columns};
use crate::metadata::manifest::{self, Writer};
use crate::metadata::summary::{self, Amount};
use crate::metadata::{self, schema};
use crate::positions;
use crate::slice_map::{Entry, SliceMap};
use crate::state::own_map;

/// A metadata file: what a commit looks up in it before it writes the next one.
pub fn table_metadata(bytes: &[u8]) {
    let Ok(found) = metadata::parse(bytes, "metadata") else { return };
    let world = SeededWorld::new(1, Instant(0));
    let _ = (metadata::key_of(&found), metadata::fold_of(&found), metadata::log_of(&found));
    let _ = (metadata::named_snapshots(&found), metadata::snapshot_id(&found, &world));
    let _ = metadata::next_name(Some(found.location()), &world);
    let current = found.current_schema();
    let _ = schema::user_schema(current);
    if let Ok(columns) = schema::file_schema(current).and_then(|file| schema::columns(&file)) {
        let table = TableName::new("silver", "flights");
        let _ = table.map(|table| schema::evolve(&table, current, found.last_column_id(), &columns));
    }
    if let Some(head) = found.current_snapshot() {
        let _ = own_map(head);
        let base = summary::totals(head.summary()).unwrap_or_default();
        let one = Amount { files: 1, rows: 1, delete_files: 1, deletes: 1, bytes: 1 };
        let _ = summary::summary(base, Some(head.summary()), one, one, 1, Default::default());
    }
    let now = metadata::next_ms(&found, &world);
    let _ = metadata::build(found.into_builder(None), now);
}

/// A manifest list: which of its manifests a commit merges, and the list written again.
pub fn manifest_list(bytes: &[u8]) {
    for version in [FormatVersion::V1, FormatVersion::V2] {
        let Ok(mut files) = manifest::parse_list(bytes, version, "list") else { continue };
        let _ = files.iter().map(manifest::live_count).fold(0, u64::wrapping_add);
        let _ = manifest::to_merge(&files, 0);
        files.truncate(8);
        let _ = manifest::list_bytes(&files, 1, None, 1);
    }
}

/// A manifest: its live files, and the manifest without them.
pub fn manifest(bytes: &[u8]) {
    let file = named();
    let Ok(entries) = manifest::parse(bytes, &file) else { return };
    for entry in &entries {
        let _ = (manifest::start_of(entry.data_file()), entry.file_path());
    }
    let _ = rewritten(&entries);
}

fn rewritten(entries: &[iceberg::spec::ManifestEntry]) -> Result<()> {
    let columns = [("id".to_owned(), oncemore_core::ColumnType::BigInt)];
    let schema: IcebergSchema = schema::create(&columns)?;
    let spec = schema::partition_spec(&schema)?.bind(schema.clone())?;
    let fresh = || "manifest".to_owned();
    let mut writer =
        Writer { schema: Arc::new(schema), spec, snapshot_id: 1, fresh_path: &fresh, written: Vec::new() };
    let gone = entries.first().map(|entry| entry.file_path().to_owned());
    writer.without(entries, &gone.into_iter().collect())?;
    Ok(())
}

fn named() -> ManifestFile {
    ManifestFile {
        manifest_path: "manifest".to_owned(),
        manifest_length: 1,
        partition_spec_id: 0,
        content: ManifestContentType::Data,
        sequence_number: 1,
        min_sequence_number: 1,
        added_snapshot_id: 1,
        added_files_count: None,
        existing_files_count: None,
        deleted_files_count: None,
        added_rows_count: None,
        existing_rows_count: None,
        deleted_rows_count: None,
        partitions: None,
        key_metadata: None,
        first_row_id: None,
    }
}

/// A slice map, all of whose pages are in one file: what is found in it by interval, and the map written again.
///
/// # Panics
/// Where a slice that is in it is not found, or the map comes back as another one.
pub fn slice_map(bytes: &[u8]) {
    let bytes = Arc::new(bytes.to_vec());
    let Ok(mut map) = SliceMap::load("map", |_| Ok(bytes.clone())) else { return };
    let entries: Vec<Entry> = map.entries().cloned().collect();
    for entry in &entries {
        assert_eq!(map.get(entry.interval), Some(entry));
        let _ = map.overlapping(entry.interval);
    }
    let mut other = SliceMap::default();
    entries.iter().for_each(|entry| other.put(entry.clone()));
    other.raise_fences(&map);
    assert!(other.entries().eq(&entries));
    let _ = (map.homes(), map.max_fence(), map.starting(None));
    map.put(Entry::empty(Interval::WHOLE));
    let again = Arc::new(other.encode("map"));
    let read = SliceMap::load("map", |_| Ok(again.clone()));
    assert!(read.is_ok_and(|read| read.entries().eq(&entries)));
}

/// A Parquet file: as a delete file, and as rows of a folded table, whole and by key.
pub fn parquet(path: &Path) {
    let disk = Disk::new(None);
    let _ = positions::read(&disk, path);
    let _ = rows(&disk, path);
}

fn rows(disk: &Disk, path: &Path) -> Result<()> {
    let user = Schema::new(vec![
        Field::new("id", DataType::Int64, true),
        Field::new("tail", DataType::Utf8, true),
        Field::new("delay", DataType::Float64, true),
    ]);
    let Ok(table) = TableName::new("silver", "flights") else { return Ok(()) };
    let (columns, key) = (columns(&user), ["id".to_owned()]);
    let reader = Reader { disk, table: &table, schema: columns.clone(), deleted: false, start: None };
    let by = Lookup::new(&columns, &key)?;
    let path = (path, std::fs::metadata(path).map_or(0, |found| found.len()));
    let (found, _) = reader.find(path, &by, Ask::Part(Unit::ALL), &[1, 3])?;
    let order = Order::new(&columns, &key, &[])?;
    let wanted = Wanted::of(&order, &found.iter().take(1).collect::<Vec<_>>())?;
    let _ = reader.find(path, &by, Ask::Keys(&wanted, Unit::ALL), &[])?;
    for half in Unit::ALL.halves() {
        let _ = reader.find(path, &by, Ask::Part(half), &[])?;
    }
    Ok(())
}
