//! Columns by name, bytes by rows, ledgers from tables, and any sequence against an oracle.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Float32Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow::datatypes::DataType;
use oncemore_commit::{Attempt, Change, CommitError, OnTie, Publish, SliceWriter, Warehouse};
use oncemore_core::{Instant, Interval};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;

use crate::support::{
    Scene, attempt, by_slice, check_totals, code, day, draft, ids, key, publishing, replace, rows, stage,
    table, world,
};

fn write(scene: &Scene, interval: Interval, batches: &[RecordBatch]) -> Vec<u8> {
    let attempt: Attempt = attempt(&scene.warehouse, interval).unwrap();
    let schema = batches[0].schema();
    let (warehouse, table) = (&scene.warehouse, table());
    let mut writer =
        SliceWriter::new(warehouse, &table, interval, schema, &key(), &attempt, code(1)).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    let staged = writer.finish().unwrap();
    let bytes = std::fs::read(&staged.paths()[0]).unwrap();
    let publish = Publish {
        table,
        interval,
        stamp: draft(&attempt),
        change: Change::Replace(staged.audited()),
        expected: None,
        replace_foreign: false,
        read_back: false,
        on_tie: OnTie::Ignore,
        dated_by: None,
    };
    warehouse.publish(vec![publish]).remove(0).unwrap();
    bytes
}

#[test]
fn equal_rows_give_equal_bytes_whatever_the_batches() {
    let scene = Scene::new();
    let values: Vec<i64> = (0..30_000).map(|value| value * 7919 % 10_007).collect();
    let all = rows(&values);
    let mut seen = Vec::new();
    for size in [30_000, 8_192, 8_191, 777, 13] {
        let batches: Vec<RecordBatch> = (0..all.num_rows())
            .step_by(size)
            .map(|from| all.slice(from, size.min(all.num_rows() - from)))
            .collect();
        let attempt = attempt(&scene.warehouse, day(0)).unwrap();
        let (schema, table) = (all.schema(), table());
        let mut writer =
            SliceWriter::new(&scene.warehouse, &table, day(0), schema, &key(), &attempt, code(1)).unwrap();
        batches.iter().for_each(|batch| writer.write(batch).unwrap());
        let staged = writer.finish().unwrap();
        seen.push((staged.fingerprint, std::fs::read(&staged.paths()[0]).unwrap()));
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]));
    // Another order of columns is the same table row.
    let turned = all.project(&[2, 0, 1]).unwrap();
    let attempt = attempt(&scene.warehouse, day(0)).unwrap();
    let mut writer =
        SliceWriter::new(&scene.warehouse, &table(), day(0), turned.schema(), &key(), &attempt, code(1))
            .unwrap();
    writer.write(&turned).unwrap();
    let staged = writer.finish().unwrap();
    assert_eq!((staged.fingerprint, std::fs::read(&staged.paths()[0]).unwrap()), seen[0]);
}

#[test]
fn columns_evolve_by_name() {
    let scene = Scene::empty(None);
    let warehouse = &scene.warehouse;
    let int: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let real: ArrayRef = Arc::new(Float32Array::from(vec![0.5]));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let long: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let double: ArrayRef = Arc::new(Float64Array::from(vec![0.5]));
    let batch = |columns: Vec<(&str, &ArrayRef)>| {
        let columns = columns.into_iter().map(|(name, array)| (name, array.clone()));
        RecordBatch::try_from_iter(columns).unwrap()
    };
    let ensure = |rows: &RecordBatch| warehouse.ensure_table(&table(), rows.schema_ref(), &key(), true);
    let narrow = batch(vec![("id", &int), ("share", &real)]);
    ensure(&narrow).unwrap();
    write(&scene, day(0), std::slice::from_ref(&narrow));
    let before = warehouse.head(&table()).unwrap().unwrap();
    // Order is no change, and nothing is committed for it.
    ensure(&batch(vec![("share", &real), ("id", &int)])).unwrap();
    assert_eq!(warehouse.head(&table()).unwrap().unwrap().metadata_location, before.metadata_location);
    let wide = batch(vec![("note", &text), ("id", &long), ("share", &double)]);
    ensure(&wide).unwrap();
    let unchanged = scene.stamp(day(0)).unwrap();
    write(&scene, day(1), std::slice::from_ref(&wide));
    let head = warehouse.head(&table()).unwrap().unwrap();
    let types: Vec<_> =
        head.schema.fields().iter().map(|field| (field.name().as_str(), field.data_type().clone())).collect();
    assert_eq!(types, [("id", DataType::Int64), ("share", DataType::Float64), ("note", DataType::Utf8)]);
    assert_eq!(scene.stamp(day(0)).unwrap(), unchanged);
    // A column that the query no longer gives is written as NULL.
    let fewer = batch(vec![("id", &int)]);
    ensure(&fewer).unwrap();
    write(&scene, day(2), std::slice::from_ref(&fewer));
    let path = &warehouse.head(&table()).unwrap().unwrap().files(day(2))[0].path;
    let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(path).unwrap()).unwrap();
    let stored = reader.build().unwrap().next().unwrap().unwrap();
    assert!(stored.column_by_name("note").unwrap().as_string::<i32>().is_null(0));
    let error = ensure(&batch(vec![("id", &text)])).unwrap_err();
    let CommitError::Misfit { model, why: message } = &error else { panic!("{error}") };
    assert_eq!(*model, table());
    assert!(message.contains("`id`") && message.contains("BIGINT") && message.contains("TEXT"), "{message}");
    assert!(matches!(ensure(&batch(vec![("_interval_start", &int)])), Err(CommitError::Config(_))));
    let nothing: ArrayRef = Arc::new(arrow::array::NullArray::new(1));
    let error = ensure(&batch(vec![("id", &nothing)])).unwrap_err();
    assert!(error.to_string().contains("CAST"), "{error}");
}

/// Equal values of another type are equal rows, but not what the table is to hold from now on.
#[test]
fn equal_rows_of_a_wider_type_are_written_anew() {
    let scene = Scene::empty(None);
    let batch = |ids: ArrayRef| RecordBatch::try_from_iter([("id", ids)]).unwrap();
    let narrow = batch(Arc::new(Int32Array::from(vec![1])));
    let wide = batch(Arc::new(Int64Array::from(vec![1])));
    let [before, after] = [narrow, wide].map(|rows| {
        scene.warehouse.ensure_table(&table(), rows.schema_ref(), &key(), true).unwrap();
        write(&scene, day(0), &[rows]);
        (
            scene.stamp(day(0)).unwrap(),
            scene.warehouse.head(&table()).unwrap().unwrap().files(day(0))[0].path.clone(),
        )
    });
    assert_eq!(before.0.fingerprint, after.0.fingerprint);
    assert!(before.0.schema != after.0.schema && before.1 != after.1);
}

#[test]
fn another_interval_length_is_refused() {
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    let half = Interval::new(day(0).start(), Instant(day(0).start().0 + 43_200_000_000)).unwrap();
    assert!(matches!(scene.replace(half, &[2]), Err(CommitError::Misfit { .. })));
    assert!(matches!(scene.replace(Interval::WHOLE, &[2]), Err(CommitError::Misfit { .. })));
    assert_eq!(scene.ids(), [1]);
}

#[test]
fn a_table_of_one_slice_is_replaced_whole() {
    let scene = Scene::empty(None);
    scene.warehouse.ensure_table(&table(), rows(&[]).schema_ref(), &key(), false).unwrap();
    scene.replace(Interval::WHOLE, &[1, 2]).unwrap();
    scene.replace(Interval::WHOLE, &[3]).unwrap();
    assert_eq!(ids(&scene.other(2)), [3]);
    check_totals(&scene.warehouse);
}

#[test]
fn tables_are_published_together() {
    let scene = Scene::new();
    let second: oncemore_core::TableName = "gold.days".parse().unwrap();
    scene.warehouse.ensure_table(&second, rows(&[]).schema_ref(), &key(), true).unwrap();
    let request = scene.warehouse.begin_request(None).unwrap();
    let tasks = [(table(), day(0), code(1)), (second.clone(), day(0), code(1))];
    let attempts = scene.warehouse.begin_attempts(request, &tasks).unwrap();
    let group = attempts.iter().map(|attempt| publishing(&scene.warehouse, attempt, &[1], None).unwrap());
    let answers = scene.warehouse.publish(group.collect());
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(scene.other(2).stamps(&second).unwrap().len(), 1);
    assert_eq!(scene.warehouse.tables().unwrap(), [second, table()]);
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            drop(std::fs::copy(entry.path(), target))
        }
    }
}

#[test]
fn a_ledger_is_rebuilt_from_a_copied_folder_and_from_nothing() {
    let scene = Scene::new();
    let warehouse = &scene.warehouse;
    for round in 0..60i64 {
        let slice = day(round * 7 % 23);
        let values: Vec<i64> = (0..round % 4).map(|value| round * 10 + value).collect();
        scene.replace(slice, &values).unwrap();
        if round % 5 == 0 {
            drop(stage(warehouse, &attempt(warehouse, slice).unwrap(), &[1]).unwrap());
        }
    }
    let seen = warehouse.code_seen(&table(), code(1)).unwrap();
    assert_eq!(warehouse.code_seen(&table(), code(1)).unwrap(), seen);
    let (stamps, slices) = (warehouse.stamps(&table()).unwrap(), by_slice(warehouse));
    let request = warehouse.begin_request(None).unwrap();
    let copied = scene.folder.path().join("copied");
    copy(&scene.root(), &copied);
    let moved = Warehouse::open(&copied, world(5)).unwrap();
    std::fs::rename(scene.root(), scene.folder.path().join("away")).unwrap();
    assert!(matches!(moved.head(&table()), Err(CommitError::Moved { .. })));
    assert_eq!(moved.rebuild_ledger().unwrap().tables, [table()]);
    assert_eq!(moved.stamps(&table()).unwrap(), stamps);
    assert_eq!(by_slice(&moved), slices);
    assert!(moved.begin_request(None).unwrap() >= request);
    check_totals(&moved);
    replace(&moved, day(3), &[-3]).unwrap();
    check_totals(&moved);
    let after = (moved.stamps(&table()).unwrap(), by_slice(&moved));
    drop(moved);
    // Without any ledger, and with a damaged one.
    std::fs::remove_file(copied.join("oncemore.db")).unwrap();
    for round in 0..2 {
        if round == 1 {
            std::fs::write(copied.join("oncemore.db"), b"this is no database").unwrap();
        }
        let anew = Warehouse::open_to_rebuild(&copied, world(6 + round)).unwrap();
        anew.rebuild_ledger().unwrap();
        assert_eq!((anew.stamps(&table()).unwrap(), by_slice(&anew)), after);
        assert_eq!(anew.codes(&table()).unwrap().len(), 1);
    }
    let anew = Warehouse::open(&copied, world(8)).unwrap();
    replace(&anew, day(3), &[-4]).unwrap();
    anew.gc(Instant::MAX).unwrap();
    assert_eq!(by_slice(&anew)[&day(3)], [-4]);
    check_totals(&anew);
}

#[test]
fn a_newer_catalog_is_refused() {
    let scene = Scene::new();
    let connection = rusqlite::Connection::open(scene.root().join("oncemore.db")).unwrap();
    connection.execute("UPDATE om_meta SET value = 99 WHERE key = 'format'", []).unwrap();
    for error in [
        Warehouse::open(&scene.root(), world(2)).unwrap_err(),
        Warehouse::open_read_only(&scene.root(), world(2)).unwrap_err(),
    ] {
        assert!(error.to_string().contains("catalog of a newer version"), "{error}");
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Replace(i64, Vec<i64>),
    Group(Vec<(i64, Vec<i64>)>),
    Restamp(i64),
    Reopen,
    Clean,
    Rebuild,
}

fn operation() -> impl Strategy<Value = Operation> {
    let slice = 0..12i64;
    let values = prop::collection::vec(-50..50i64, 0..5);
    prop_oneof![
        6 => (slice.clone(), values.clone()).prop_map(|(slice, values)| Operation::Replace(slice, values)),
        2 => prop::collection::btree_map(slice.clone(), values, 1..6)
            .prop_map(|group| Operation::Group(group.into_iter().collect())),
        1 => slice.prop_map(Operation::Restamp),
        1 => Just(Operation::Reopen),
        1 => Just(Operation::Clean),
        1 => Just(Operation::Rebuild),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_equals_a_map(operations in prop::collection::vec(operation(), 1..25)) {
        let mut scene = Scene::new();
        let mut oracle: BTreeMap<Interval, Vec<i64>> = BTreeMap::new();
        for (number, operation) in operations.into_iter().enumerate() {
            match operation {
                Operation::Replace(slice, values) => {
                    scene.replace(day(slice), &values).unwrap();
                    oracle.insert(day(slice), values);
                }
                Operation::Group(group) => {
                    let warehouse = &scene.warehouse;
                    let publishes = group.iter().map(|(slice, values)| {
                        publishing(warehouse, &attempt(warehouse, day(*slice)).unwrap(), values, None).unwrap()
                    });
                    let answers = warehouse.publish(publishes.collect());
                    prop_assert!(answers.iter().all(Result::is_ok));
                    oracle.extend(group.into_iter().map(|(slice, values)| (day(slice), values)));
                }
                Operation::Restamp(slice) => {
                    if let Some(stamp) = scene.stamp(day(slice)) {
                        let attempt = attempt(&scene.warehouse, day(slice)).unwrap();
                        let publish = Publish {
                            table: table(),
                            interval: day(slice),
                            stamp: draft(&attempt),
                            change: Change::Restamp,
                            expected: Some(stamp.attempt),
                            replace_foreign: false,
                            read_back: false,
                            on_tie: OnTie::Ignore,
                            dated_by: None,
                        };
                        scene.warehouse.publish(vec![publish]).remove(0).unwrap();
                    }
                }
                Operation::Reopen => {
                    let other = scene.other(100 + number as u64);
                    scene.warehouse = other;
                }
                Operation::Clean => drop(scene.warehouse.gc(Instant::MAX).unwrap()),
                Operation::Rebuild => drop(scene.warehouse.rebuild_ledger().unwrap()),
            }
            let expected: BTreeMap<Interval, Vec<i64>> = oracle
                .iter()
                .filter(|(_, values)| !values.is_empty())
                .map(|(interval, values)| {
                    let mut values = values.clone();
                    values.sort_unstable();
                    (*interval, values)
                })
                .collect();
            prop_assert_eq!(by_slice(&scene.warehouse), expected);
            let stamps = scene.warehouse.stamps(&table()).unwrap();
            let rows: Vec<_> = stamps.iter().map(|stamp| (stamp.interval, stamp.fingerprint.rows as usize)).collect();
            let wanted: Vec<_> = oracle.iter().map(|(interval, values)| (*interval, values.len())).collect();
            prop_assert_eq!(rows, wanted);
            check_totals(&scene.warehouse);
        }
    }
}
