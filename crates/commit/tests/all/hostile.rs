//! Tables whose metadata say what no writer means: nothing panics, and nothing outside the warehouse is touched.

use std::path::{Path, PathBuf};

use oncemore_commit::CommitError;
use oncemore_core::Instant;
use parquet::file::metadata::ParquetMetaDataReader;
use serde_json::{Value, json};

use crate::folds;
use crate::support::{Scene, day, metadata, replace, table};

/// Where the catalog points to.
fn head(scene: &Scene) -> PathBuf {
    scene.warehouse.head(&table()).unwrap().unwrap().metadata_location.into()
}

/// A table with a few commits whose metadata was changed by hand.
fn changed(change: impl FnOnce(&mut Value)) -> Scene {
    let scene = Scene::new();
    for number in 0..3 {
        scene.replace(day(number), &[number]).unwrap();
    }
    let mut json = metadata(&scene.warehouse);
    change(&mut json);
    std::fs::write(head(&scene), json.to_string()).unwrap();
    scene
}

/// Uses the table for all that there is; how it ends does not matter.
fn use_it(scene: &Scene) {
    let other = scene.other(2);
    let _ = (other.head(&table()), other.stamps(&table()), other.foreign_changes(&table()));
    let _ = (replace(&other, day(1), &[7, 8]), other.gc(Instant::MAX), other.resolve());
}

/// The snapshot at the head.
fn current(json: &mut Value) -> &mut Value {
    let id = json["current-snapshot-id"].clone();
    json["snapshots"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .find(|snapshot| snapshot["snapshot-id"] == id)
        .unwrap()
}

#[test]
fn numbers_at_their_ends_are_only_numbers() {
    use_it(&changed(|json| json["last-updated-ms"] = json!(i64::MAX)));
    use_it(&changed(|json| json["last-sequence-number"] = json!(i64::MAX)));
    use_it(&changed(|json| json["last-column-id"] = json!(i32::MAX)));
    use_it(&changed(|json| json["properties"]["oncemore.n"] = json!(u64::MAX.to_string())));
    use_it(&changed(|json| current(json)["timestamp-ms"] = json!(i64::MIN)));
    for total in ["total-records", "total-data-files", "total-files-size", "total-delete-files"] {
        use_it(&changed(|json| current(json)["summary"][total] = json!(u64::MAX.to_string())));
    }
}

#[test]
fn a_metadata_file_may_have_any_number() {
    let scene = changed(|_| {});
    let (old, new) = (head(&scene), head(&scene).with_file_name(format!("{}-x.metadata.json", u64::MAX)));
    std::fs::rename(&old, &new).unwrap();
    let connection = rusqlite::Connection::open(scene.root().join("oncemore.db")).unwrap();
    connection.execute("UPDATE iceberg_tables SET metadata_location = ?1", [new.to_str().unwrap()]).unwrap();
    use_it(&scene);
}

/// What a commit pushes out of the metadata's log is removed, but only in the table's own folder.
#[test]
fn nothing_outside_the_table_is_removed() {
    let scene = changed(|_| {});
    let outside = scene.folder.path().join("outside.json");
    std::fs::write(&outside, "{}").unwrap();
    let mut json = metadata(&scene.warehouse);
    let around = format!("{}/metadata/../../../../outside.json", json["location"].as_str().unwrap());
    assert!(std::fs::exists(&around).unwrap());
    let entries = (0..12).map(|number| json!({"metadata-file": around, "timestamp-ms": number})).collect();
    json["metadata-log"] = Value::Array(entries);
    for snapshot in json["snapshots"].as_array_mut().unwrap() {
        snapshot["timestamp-ms"] = json!(1_000);
    }
    std::fs::write(head(&scene), json.to_string()).unwrap();
    let other = scene.other(2);
    for number in 0..3 {
        replace(&other, day(5 + number), &[9]).unwrap();
    }
    assert!(outside.exists());
}

/// The decoder of Avro panics at a name that is none: the file is damaged, and nothing is a bug of ours.
#[test]
fn a_decoder_that_panics_names_its_file() {
    for (from, to) in [("manifest_entry", "manifest*entry"), ("manifest_file", "manifest*file")] {
        let scene = changed(|_| {});
        let folder = head(&scene).with_file_name("");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let mut bytes = std::fs::read(&path).unwrap();
            if let Some(at) = bytes.windows(from.len()).position(|window| window == from.as_bytes()) {
                bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
                std::fs::write(path, bytes).unwrap();
            }
        }
        let error = replace(&scene.other(2), day(1), &[7]).unwrap_err();
        assert!(matches!(&error, CommitError::Corrupt { what, .. } if what.ends_with(".avro")), "{error}");
    }
}

/// Begins the first page of each column with a list of more numbers than any file holds.
fn endless(path: &Path) {
    const LIST: [u8; 7] = [0x99, 0xf7, 0xff, 0xff, 0xff, 0xff, 0x07];
    let mut bytes = std::fs::read(path).unwrap();
    let metadata =
        ParquetMetaDataReader::new().parse_and_finish(&std::fs::File::open(path).unwrap()).unwrap();
    for chunk in metadata.row_group(0).columns() {
        let at = chunk.byte_range().0 as usize;
        bytes[at..at + LIST.len()].copy_from_slice(&LIST);
    }
    std::fs::write(path, bytes).unwrap();
}

/// The decoder of Parquet goes through such a list to its end, though nothing of it is there: for minutes.
#[test]
fn a_page_without_an_end_is_damage() {
    let scene = folds::scene();
    folds::publish_day(&scene.warehouse, 0, 1);
    let head = scene.warehouse.head(&folds::state()).unwrap().unwrap();
    let files = head.all_files();
    files.iter().for_each(|file| endless(Path::new(&file.path)));
    let again = folds::staged_day(&scene.warehouse, 0, 2);
    let error = scene.warehouse.publish(vec![again]).remove(0).unwrap_err();
    let CommitError::Corrupt { what, detail } = &error else { panic!("{error}") };
    assert!(*what == files[0].path && detail.contains("claims more elements"), "{error}");
}
