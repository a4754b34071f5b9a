//! Another writer's snapshots on top of ours.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray, TimestampMicrosecondArray};
use futures::executor::block_on;
use iceberg::io::FileIO;
use iceberg::spec::{
    DataContentType, DataFile, DataFileBuilder, DataFileFormat, Literal, MAIN_BRANCH, ManifestEntry,
    ManifestList, ManifestListWriter, ManifestWriterBuilder, Operation, Snapshot, SnapshotReference,
    SnapshotRetention, Struct, Summary, TableMetadata,
};
use oncemore_commit::{CommitError, Published, Warehouse};
use oncemore_core::{Interval, Origin};
use parquet::arrow::ArrowWriter;

use crate::support::{
    Scene, attempt, by_slice, check_totals, day, draft, ids, publishing, replace, rows, stamp, table, world,
};

/// A snapshot as PyIceberg would make it: drops the files of a slice where told, and adds one with rows.
pub(crate) fn foreign_write(scene: &Scene, interval: Interval, values: &[i64], overwrite: bool) {
    let head = scene.warehouse.head(&table()).unwrap().unwrap();
    let old: TableMetadata =
        serde_json::from_slice(&std::fs::read(&head.metadata_location).unwrap()).unwrap();
    let io = FileIO::new_with_fs();
    let folder = head.location.join("metadata").to_str().unwrap().to_owned();
    let (id, sequence) = (old.next_sequence_number() + 1_000, old.next_sequence_number());
    let current = old.current_snapshot().unwrap();
    let list = std::fs::read(current.manifest_list()).unwrap();
    let list = ManifestList::parse_with_version(&list, old.format_version()).unwrap();
    let mut kept: Vec<Arc<ManifestEntry>> = Vec::new();
    for manifest in list.entries() {
        let entries = block_on(manifest.load_manifest(&io)).unwrap().into_parts().0;
        kept.extend(entries.into_iter().filter(|entry| entry.is_alive()));
    }
    let partition = Struct::from_iter([Some(Literal::timestamptz(interval.start().0))]);
    if overwrite {
        kept.retain(|entry| *entry.data_file().partition() != partition);
    }
    let mut manifests = Vec::new();
    let manifest = |name: &str| {
        let output = io.new_output(format!("{folder}/foreign-{id}-{name}.avro")).unwrap();
        let spec = old.default_partition_spec().as_ref().clone();
        ManifestWriterBuilder::new(output, Some(id), old.current_schema().clone(), spec).build_v2_data()
    };
    let mut survivors = manifest("kept");
    for entry in &kept {
        let (snapshot, number) = (entry.snapshot_id().unwrap(), entry.sequence_number().unwrap());
        let file = entry.data_file().clone();
        survivors.add_existing_file(file, snapshot, number, entry.file_sequence_number).unwrap();
    }
    manifests.push(block_on(survivors.write_manifest_file()).unwrap());
    if !values.is_empty() {
        let mut added = manifest("added");
        added.add_file(foreign_file(scene, interval, values, partition, id), -1).unwrap();
        manifests.push(block_on(added.write_manifest_file()).unwrap());
    }
    let list = format!("{folder}/foreign-{id}-list.avro");
    block_on(async {
        let output = io.new_output(&list).unwrap().writer().await.unwrap();
        let mut writer = ManifestListWriter::v2(output, id, Some(current.snapshot_id()), sequence);
        writer.add_manifests(manifests.into_iter()).unwrap();
        writer.close().await.unwrap();
    });
    let snapshot = Snapshot::builder()
        .with_snapshot_id(id)
        .with_parent_snapshot_id(Some(current.snapshot_id()))
        .with_sequence_number(sequence)
        .with_timestamp_ms(old.last_updated_ms() + 1)
        .with_manifest_list(list)
        .with_summary(Summary { operation: Operation::Overwrite, additional_properties: [].into() })
        .with_schema_id(old.current_schema_id())
        .build();
    let builder = old.into_builder(Some(head.metadata_location.clone()));
    let built = builder.set_branch_snapshot(snapshot, MAIN_BRANCH).unwrap().build().unwrap().metadata;
    point(
        scene,
        &built,
        &format!("{folder}/{:05}-00000000-0000-4000-8000-{id:012}.metadata.json", 90_000 + id),
    );
}

fn point(scene: &Scene, metadata: &TableMetadata, location: &str) {
    std::fs::write(location, serde_json::to_vec(metadata).unwrap()).unwrap();
    let connection = rusqlite::Connection::open(scene.root().join("oncemore.db")).unwrap();
    let point = "UPDATE iceberg_tables SET metadata_location = ?1 WHERE table_name = ?2";
    connection.execute(point, [location, table().name()]).unwrap();
}

fn foreign_file(scene: &Scene, interval: Interval, values: &[i64], partition: Struct, id: i64) -> DataFile {
    let ours = rows(values);
    let starts = TimestampMicrosecondArray::from_value(interval.start().0, values.len()).with_timezone("UTC");
    let codes = StringArray::from_iter_values(values.iter().map(|_| "foreign"));
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    for (field, column) in ours.schema().fields().iter().zip(ours.columns()) {
        columns.push((field.name().clone(), column.clone()));
    }
    columns.push(("_interval_start".to_owned(), Arc::new(starts)));
    columns.push(("_code_version".to_owned(), Arc::new(codes)));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let path = scene.root().join(format!("silver/flights/data/foreign-{id}.parquet"));
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    DataFileBuilder::default()
        .content(DataContentType::Data)
        .file_path(path.to_str().unwrap().to_owned())
        .file_format(DataFileFormat::Parquet)
        .partition(partition)
        .record_count(values.len() as u64)
        .file_size_in_bytes(std::fs::metadata(&path).unwrap().len())
        .build()
        .unwrap()
}

fn scene() -> Scene {
    let scene = Scene::new();
    for number in 0..3 {
        scene.replace(day(number), &[number * 10]).unwrap();
    }
    scene
}

#[test]
fn a_foreign_overwrite_is_found_and_its_neighbours_go_on() {
    let scene = scene();
    foreign_write(&scene, day(1), &[15, 16], true);
    let warehouse = &scene.warehouse;
    let found = warehouse.foreign_changes(&table()).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].interval, day(1));
    assert_eq!(found[0].detail, "1 file added with 2 rows, 1 of our 1 file gone");
    assert_eq!(scene.ids(), [0, 15, 16, 20]);
    let error = scene.replace(day(1), &[11]).unwrap_err();
    assert!(matches!(&error, CommitError::Foreign { interval, .. } if *interval == day(1)), "{error}");
    // A neighbour is published on top, and the foreign slice stays known as such.
    scene.replace(day(2), &[21]).unwrap();
    assert_eq!(scene.ids(), [0, 15, 16, 21]);
    assert_eq!(warehouse.foreign_changes(&table()).unwrap(), found);
    assert_eq!(scene.other(2).foreign_changes(&table()).unwrap(), found);
    let attempt = attempt(warehouse, day(1)).unwrap();
    let mut publish = publishing(warehouse, &attempt, &[11], None).unwrap();
    publish.replace_foreign = true;
    warehouse.publish(vec![publish]).remove(0).unwrap();
    assert_eq!(scene.ids(), [0, 11, 21]);
    assert_eq!(warehouse.foreign_changes(&table()).unwrap(), []);
    check_totals(warehouse);
    assert_eq!(ids(&scene.other(3)), scene.ids());
}

#[test]
fn foreign_rows_can_be_adopted() {
    let scene = scene();
    foreign_write(&scene, day(1), &[15], false);
    let warehouse = &scene.warehouse;
    assert_eq!(scene.ids(), [0, 10, 15, 20]);
    let attempt = attempt(warehouse, day(1)).unwrap();
    let mut stamp_draft = draft(&attempt);
    stamp_draft.origin = Origin::Accepted { because: "corrected by hand".to_owned() };
    assert_eq!(warehouse.adopt(&table(), day(1), stamp_draft).unwrap(), Published::Unchanged);
    assert_eq!(warehouse.foreign_changes(&table()).unwrap(), []);
    let adopted = scene.stamp(day(1)).unwrap();
    assert_eq!(adopted.fingerprint.rows, 2);
    // The same rows computed later are found to be what is there.
    assert_eq!(scene.replace(day(1), &[15, 10]).unwrap(), Published::Unchanged);
    scene.replace(day(1), &[10]).unwrap();
    assert_eq!(scene.ids(), [0, 10, 20]);
    check_totals(warehouse);
}

#[test]
fn rows_in_a_slice_that_we_never_made_are_found() {
    let scene = scene();
    foreign_write(&scene, day(7), &[70], false);
    let found = scene.warehouse.foreign_changes(&table()).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].interval.start(), day(7).start());
    assert!(matches!(scene.replace(day(7), &[71]), Err(CommitError::Foreign { .. })));
    scene.replace(day(6), &[60]).unwrap();
    assert_eq!(scene.ids(), [0, 10, 20, 60, 70]);
}

#[test]
fn foreign_snapshots_on_top_of_a_stamp_alone_are_no_roll_back() {
    let scene = scene();
    foreign_write(&scene, day(1), &[15], false);
    let stamped = attempt(&scene.warehouse, day(1)).unwrap();
    scene.warehouse.adopt(&table(), day(1), draft(&stamped)).unwrap();
    foreign_write(&scene, day(2), &[25], false);
    let found = scene.warehouse.foreign_changes(&table()).unwrap();
    assert_eq!(found.iter().map(|foreign| foreign.interval).collect::<Vec<_>>(), [day(2)]);
    scene.replace(day(0), &[1]).unwrap();
    assert_eq!(scene.ids(), [1, 10, 15, 20, 25]);
}

/// The metadata of the head, as another reader finds them.
fn metadata(scene: &Scene) -> TableMetadata {
    let head = scene.warehouse.head(&table()).unwrap().unwrap();
    serde_json::from_slice(&std::fs::read(&head.metadata_location).unwrap()).unwrap()
}

/// Names a snapshot, as another writer does.
fn name_snapshot(scene: &Scene, name: &str, id: i64, retention: SnapshotRetention) {
    let head = scene.warehouse.head(&table()).unwrap().unwrap();
    let builder = metadata(scene).into_builder(Some(head.metadata_location.clone()));
    let named = builder.set_ref(name, SnapshotReference::new(id, retention)).unwrap();
    let built = named.build().unwrap().metadata;
    let location = head.location.join("metadata/99999-00000000-0000-4000-8000-000000000000.metadata.json");
    point(scene, &built, location.to_str().unwrap());
}

#[test]
fn a_snapshot_that_others_named_is_not_let_go() {
    let scene = scene();
    let tagged = metadata(&scene).current_snapshot().unwrap().clone();
    name_snapshot(&scene, "audit", tagged.snapshot_id(), SnapshotRetention::Tag { max_ref_age_ms: None });
    for value in 0..30 {
        scene.replace(day(1), &[100 + value]).unwrap();
    }
    let now = metadata(&scene);
    assert!(now.snapshots().count() < 30, "others are let go");
    assert!(now.snapshot_by_id(tagged.snapshot_id()).is_some());
    assert!(std::fs::exists(tagged.manifest_list()).unwrap());
}

#[test]
fn a_table_set_back_stops_until_it_is_adopted() {
    let scene = scene();
    let warehouse = &scene.warehouse;
    let old = metadata(&scene);
    let parent = old.current_snapshot().unwrap().parent_snapshot_id().unwrap();
    name_snapshot(&scene, MAIN_BRANCH, parent, SnapshotRetention::branch(None, None, None));
    // The rows of day 2 are gone, and so is its stamp; its fence is not.
    assert_eq!(scene.ids(), [0, 10]);
    assert!(scene.stamp(day(2)).is_none());
    assert!(matches!(scene.replace(day(0), &[1]), Err(CommitError::RolledBack { found: 2, high: 3, .. })));
    assert_eq!(warehouse.foreign_changes(&table()).unwrap()[0].interval, Interval::WHOLE);
    let attempt = attempt(warehouse, day(0)).unwrap();
    warehouse.adopt(&table(), day(0), draft(&attempt)).unwrap();
    assert_eq!(warehouse.foreign_changes(&table()).unwrap(), []);
    scene.replace(day(2), &[22]).unwrap();
    assert_eq!(scene.ids(), [0, 10, 22]);
    check_totals(warehouse);
}

/// Their snapshot on top hides neither that the table was set back nor how far.
#[test]
fn a_table_set_back_and_written_into_stops_as_well() {
    let scene = scene();
    let parent = metadata(&scene).current_snapshot().unwrap().parent_snapshot_id().unwrap();
    name_snapshot(&scene, MAIN_BRANCH, parent, SnapshotRetention::branch(None, None, None));
    foreign_write(&scene, day(5), &[50], false);
    assert_eq!(scene.ids(), [0, 10, 50]);
    assert!(matches!(scene.replace(day(0), &[1]), Err(CommitError::RolledBack { found: 2, high: 3, .. })));
}

#[test]
fn a_foreign_write_between_staging_and_publish_is_caught() {
    let scene = scene();
    let warehouse = &scene.warehouse;
    let attempt = attempt(warehouse, day(1)).unwrap();
    let publish = publishing(warehouse, &attempt, &[11], None).unwrap();
    foreign_write(&scene, day(1), &[15], true);
    let error = warehouse.publish(vec![publish]).remove(0).unwrap_err();
    assert!(matches!(error, CommitError::Foreign { .. }));
    assert_eq!(by_slice(warehouse)[&day(1)], [15]);
}

/// Another process' ledger is older than the table: the table decides.
#[test]
fn a_restored_ledger_follows_the_table() {
    let scene = scene();
    let other = Warehouse::open(&scene.root(), world(2)).unwrap();
    replace(&other, day(1), &[12]).unwrap();
    let connection = rusqlite::Connection::open(scene.root().join("oncemore.db")).unwrap();
    connection
        .execute_batch("DELETE FROM om_index; UPDATE om_meta SET value = 0 WHERE key != 'format'")
        .unwrap();
    let third = Warehouse::open(&scene.root(), world(3)).unwrap();
    assert_eq!(stamp(&third, day(1)).unwrap().fingerprint.rows, 1);
    replace(&third, day(1), &[13]).unwrap();
    assert_eq!(ids(&third), [0, 13, 20]);
}
