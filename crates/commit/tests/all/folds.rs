//! Tables folded from a log, on disk: whatever is published into the log, by whom, in which order and with what failing
//! in between, the state is what all changes looked at in plain Rust give.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Field, Int64Type, Schema, TimestampMicrosecondType};
use oncemore_commit::{
    Attempt, Change, CommitError, FoldSpec, OnTie, Publish, Published, Reducer, Room, RowHasher, RowsPrint,
    SliceWriter, Starts, Validity, Warehouse,
};
use oncemore_core::{Instant, Interval, Stamp, TableName};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::crash::Failing;
use crate::oracle::{self, DAY, Key, Kind, Log, Random, Rank, Row, Stretch};
use crate::support::{Scene, code, draft, world};

pub(crate) fn log() -> TableName {
    "gold.things__changes".parse().unwrap()
}

pub(crate) fn state() -> TableName {
    "gold.things".parse().unwrap()
}

fn deleted() -> TableName {
    "gold.things__deleted".parse().unwrap()
}

/// Rows of a bucket, and how many of 100 may change before it is written anew.
type Layout = (u64, u64);

/// Buckets so small that a few keys need several.
const SMALL: Layout = (3, 25);

/// From all rewritten to nothing: rows are laid over buckets for as long as the rest allows.
const LAYOUTS: [Layout; 4] = [SMALL, (8, 60), (16, 120), (30, 400)];

pub(crate) fn spec(kind: Kind) -> FoldSpec {
    laid_out(kind, SMALL)
}

pub(crate) fn laid_out(kind: Kind, (bucket_rows, rewrite_share): Layout) -> FoldSpec {
    let validity = Validity {
        at: kind.date().map(|(name, _)| name.to_owned()),
        sliced: kind.date().is_some_and(|(_, sliced)| sliced),
        tracked: vec!["value".to_owned()],
        starts: Starts::Instant,
    };
    FoldSpec {
        state: state(),
        beside: Some(deleted()),
        key: oracle::key(),
        order: kind.order(),
        bucket_rows,
        rewrite_share,
        validity: (kind != Kind::Merge).then_some(validity),
    }
}

pub(crate) fn slice(day: i64) -> Interval {
    Interval::new(Instant(day * DAY), Instant((day + 1) * DAY)).unwrap()
}

fn ensure(warehouse: &Warehouse, kind: Kind) {
    ensure_laid_out(warehouse, kind, SMALL);
}

pub(crate) fn ensure_laid_out(warehouse: &Warehouse, kind: Kind, layout: Layout) {
    warehouse.ensure_fold(&log(), &oracle::user_schema(), true, &laid_out(kind, layout)).unwrap();
}

pub(crate) fn scene() -> Scene {
    let scene = Scene::empty(None);
    ensure(&scene.warehouse, Kind::Merge);
    scene
}

pub(crate) fn begin(warehouse: &Warehouse, day: i64) -> Result<Attempt, CommitError> {
    begin_on(warehouse, &log(), day)
}

fn begin_on(warehouse: &Warehouse, log: &TableName, day: i64) -> Result<Attempt, CommitError> {
    let request = warehouse.begin_request(None)?;
    Ok(warehouse.begin_attempts(request, &[(log.clone(), slice(day), code(1))])?.remove(0))
}

fn staging(
    warehouse: &Warehouse,
    kind: Kind,
    attempt: &Attempt,
    rows: &[Row],
) -> Result<Publish, CommitError> {
    staged(warehouse, &spec(kind), attempt, &oracle::batch(rows))
}

/// Changes of a slice, about to be published.
pub(crate) fn staged(
    warehouse: &Warehouse,
    spec: &FoldSpec,
    attempt: &Attempt,
    batch: &RecordBatch,
) -> Result<Publish, CommitError> {
    let mut reducer = Reducer::new(warehouse, &Room::new(0), &batch.schema(), spec)?;
    reducer.push(batch)?;
    let key = oracle::key();
    let log = &attempt.table;
    let mut writer =
        SliceWriter::new(warehouse, log, attempt.interval, reducer.schema(), &key, attempt, attempt.code)?;
    writer.write_reduced(&mut reducer.finish()?, &key)?;
    Ok(Publish {
        table: log.clone(),
        interval: attempt.interval,
        stamp: draft(attempt),
        change: Change::Replace(writer.finish()?.audited()),
        expected: None,
        replace_foreign: false,
        read_back: false,
        on_tie: OnTie::Ignore,
        dated_by: None,
    })
}

/// Publishes a day with one row, whose value is this.
pub(crate) fn publish_day(warehouse: &Warehouse, day: i64, value: i64) {
    publish(warehouse, &Log::from([(day, vec![row("a", value, day, value)])])).unwrap();
}

/// The same, about to be published.
pub(crate) fn staged_day(warehouse: &Warehouse, day: i64, value: i64) -> Publish {
    let rows = [row("a", value, day, value)];
    staging(warehouse, Kind::Merge, &begin(warehouse, day).unwrap(), &rows).unwrap()
}

/// The columns and one more.
pub(crate) fn wider(schema: &Schema) -> Arc<Schema> {
    let mut fields: Vec<_> = schema.fields().iter().cloned().collect();
    fields.push(Arc::new(Field::new("more", DataType::Int64, true)));
    Arc::new(Schema::new(fields))
}

fn publish(warehouse: &Warehouse, group: &Log) -> Result<Vec<Published>, CommitError> {
    publish_kind(warehouse, Kind::Merge, group)
}

pub(crate) fn publish_kind(
    warehouse: &Warehouse,
    kind: Kind,
    group: &Log,
) -> Result<Vec<Published>, CommitError> {
    publish_to(warehouse, &log(), kind, group)
}

/// The same into another log.
pub(crate) fn publish_to(
    warehouse: &Warehouse,
    log: &TableName,
    kind: Kind,
    group: &Log,
) -> Result<Vec<Published>, CommitError> {
    let publishes =
        group.iter().map(|(day, rows)| staging(warehouse, kind, &begin_on(warehouse, log, *day)?, rows));
    warehouse.publish(publishes.collect::<Result<_, _>>()?).into_iter().collect()
}

fn batches(warehouse: &Warehouse, table: &TableName) -> Vec<RecordBatch> {
    let Some(head) = warehouse.head(table).unwrap() else { return Vec::new() };
    let mut found = Vec::new();
    for reference in head.all_files() {
        let file = std::fs::File::open(Path::new(&reference.path)).unwrap();
        let deleted = reference.deleted().unwrap();
        let mut place = 0;
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        for batch in reader.map(Result::unwrap) {
            let there: BooleanArray = (place..place + batch.num_rows() as u64)
                .map(|place| Some(deleted.binary_search(&place).is_err()))
                .collect();
            place += batch.num_rows() as u64;
            found.push(filter_record_batch(&batch, &there).unwrap());
        }
        assert_eq!(place - deleted.len() as u64, reference.rows, "{table}");
    }
    found
}

/// The rows of a folded table.
pub(crate) fn rows(warehouse: &Warehouse, table: &TableName, deleted: bool) -> BTreeMap<Key, Rank> {
    let mut rows = BTreeMap::new();
    for batch in batches(warehouse, table) {
        let number = |name: &str, row: usize| {
            let column = batch.column_by_name(name).unwrap().as_primitive::<Int64Type>();
            column.is_valid(row).then(|| column.value(row))
        };
        let time = |name: &str, row: usize| {
            batch.column_by_name(name).unwrap().as_primitive::<TimestampMicrosecondType>().value(row)
        };
        let texts = batch.column_by_name("text").unwrap().as_string::<i32>();
        for row in 0..batch.num_rows() {
            let at = time("at", row);
            assert_eq!(time("_interval_start", row), at.div_euclid(DAY) * DAY);
            let key = (texts.is_valid(row).then(|| texts.value(row).to_owned()), number("number", row));
            let rank = Rank { version: number("version", row), deleted, at, value: number("value", row) };
            assert!(rows.insert(key, rank).is_none(), "a key twice");
        }
    }
    rows
}

pub(crate) fn stamp(warehouse: &Warehouse, table: &TableName) -> Option<Stamp> {
    warehouse.stamps(table).unwrap().first().cloned()
}

/// The stretches of a history on disk, and the sums in its stamp.
#[track_caller]
fn check_history(warehouse: &Warehouse, kind: Kind, log: &Log, place: &str) {
    let mut found: Vec<Stretch> = Vec::new();
    let user = spec(kind).validity.unwrap().columns(&oracle::user_schema()).unwrap();
    let key: Vec<String> = oracle::key().into_iter().chain(["valid_from".to_owned()]).collect();
    let hasher = RowHasher::new(&user, &key).unwrap();
    let mut print = RowsPrint::new(&hasher);
    for batch in batches(warehouse, &state()) {
        print.add(&hasher.hash(&batch));
        let number = |name: &str, row: usize| {
            let column = batch.column_by_name(name).unwrap();
            let value = || match column.data_type() {
                DataType::Int64 => column.as_primitive::<Int64Type>().value(row),
                _ => column.as_primitive::<TimestampMicrosecondType>().value(row),
            };
            column.is_valid(row).then(value)
        };
        let texts = batch.column_by_name("text").unwrap().as_string::<i32>();
        let current = batch.column_by_name("is_current").unwrap().as_boolean();
        for row in 0..batch.num_rows() {
            let key = (texts.is_valid(row).then(|| texts.value(row).to_owned()), number("number", row));
            let (from, to) = (number("valid_from", row), number("valid_to", row));
            found.push((key, number("value", row), from, to, current.value(row)));
        }
    }
    found.sort();
    assert_eq!(found, oracle::stretches(log, kind), "{kind:?} {place}");
    match stamp(warehouse, &state()) {
        Some(stamp) => assert_eq!((stamp.fingerprint, stamp.columns), print.finish(), "{kind:?} {place}"),
        None => assert!(found.is_empty(), "{kind:?} {place}"),
    }
}

#[track_caller]
pub(crate) fn check_kind(warehouse: &Warehouse, kind: Kind, log: &Log, place: &str) {
    match kind {
        Kind::Merge => check(warehouse, log, place),
        _ => check_history(warehouse, kind, log, place),
    }
}

/// State and deletions are what the log gives, and so are the sums in their stamps.
#[track_caller]
fn check(warehouse: &Warehouse, log: &Log, place: &str) {
    let folded = oracle::fold(log);
    for (table, is_deleted) in [(state(), false), (deleted(), true)] {
        let wanted: BTreeMap<Key, Rank> = folded
            .iter()
            .filter(|(_, rank)| rank.deleted == is_deleted)
            .map(|(k, r)| (k.clone(), r.clone()))
            .collect();
        assert_eq!(rows(warehouse, &table, is_deleted), wanted, "{table} {place}");
        let list: Vec<Row> = wanted.into_iter().map(|(key, rank)| Row { key, rank }).collect();
        let batch = oracle::batch(&list).project(&[0, 1, 2, 3, 4]).unwrap();
        let hasher = RowHasher::new(&batch.schema(), &oracle::key()).unwrap();
        let mut print = RowsPrint::new(&hasher);
        print.add(&hasher.hash(&batch));
        let (fingerprint, columns) = print.finish();
        match stamp(warehouse, &table) {
            Some(stamp) => {
                assert_eq!((stamp.fingerprint, stamp.columns), (fingerprint, columns), "{table} {place}")
            }
            None => assert!(log.values().all(Vec::is_empty), "{table} {place}"),
        }
        let files = warehouse.head(&table).unwrap().unwrap().all_files().to_vec();
        assert!(files.iter().all(|file| file.rows > 0), "{table} {place}");
    }
}

fn some_change(random: &mut Random, log: &Log) -> (i64, Vec<Row>) {
    let day = random.below(5) as i64;
    let mut rows = match log.get(&day) {
        Some(rows) if random.below(2) == 0 => rows.clone(),
        _ => oracle::changes(random, day),
    };
    if !rows.is_empty() && random.below(3) == 0 {
        rows.remove(random.below(rows.len() as u64) as usize);
    }
    (day, rows)
}

/// Two requests at once: both staged on what is there, then published side by side.
fn race(scene: &Scene, kind: Kind, random: &mut Random, log: &mut Log) {
    let other = scene.other(1_000 + random.below(1_000_000));
    let (one, two) = (some_change(random, log), some_change(random, log));
    let first = begin(&scene.warehouse, one.0).unwrap();
    let second = begin(&other, two.0).unwrap();
    let first = staging(&scene.warehouse, kind, &first, &one.1).unwrap();
    let second = staging(&other, kind, &second, &two.1).unwrap();
    let answers: Vec<_> = std::thread::scope(|scope| {
        let here = scope.spawn(|| scene.warehouse.publish(vec![first]).remove(0));
        let there = scope.spawn(|| other.publish(vec![second]).remove(0));
        [here.join().unwrap(), there.join().unwrap()].into_iter().collect()
    });
    // Of two that want one slice the later request's rows stay, whoever came first.
    assert!(answers[1].is_ok(), "{:?}", answers[1]);
    assert!(answers[0].is_ok() || one.0 == two.0, "{:?}", answers[0]);
    log.insert(one.0, one.1);
    log.insert(two.0, two.1);
}

/// Live delete files of all tables that are folded.
fn delete_files(warehouse: &Warehouse) -> BTreeSet<String> {
    let heads = [state(), deleted()].map(|table| warehouse.head(&table).unwrap().unwrap());
    let files = heads.iter().flat_map(|head| head.all_files());
    files.flat_map(|file| file.delete_files().unwrap()).collect()
}

/// Publishes days in one commit, where ties are counted or refused as all changes looked at say; returns how many days
/// have any.
fn publish_seeking(
    warehouse: &Warehouse,
    kind: Kind,
    on_tie: OnTie,
    log: &mut Log,
    group: &Log,
    place: &str,
) -> usize {
    let publishes = group.iter().map(|(day, rows)| {
        let publish = staging(warehouse, kind, &begin(warehouse, *day).unwrap(), rows).unwrap();
        Publish { on_tie, ..publish }
    });
    let answers = warehouse.publish(publishes.collect());
    let (mut counted, mut refused) = (BTreeMap::new(), BTreeMap::new());
    for (day, answer) in group.keys().zip(answers) {
        match answer {
            Ok(Published::Replaced { ties: Some(tied), .. }) => drop(counted.insert(*day, tied.keys)),
            Ok(_) => {}
            Err(CommitError::Tied { interval, tied, .. }) if interval == slice(*day) => {
                refused.insert(*day, tied.keys);
            }
            Err(error) => panic!("{place}: {error}"),
        }
    }
    let wanted = match on_tie {
        OnTie::Refuse => oracle::admitted(log, group, kind),
        OnTie::Count | OnTie::Ignore => (group.clone(), BTreeMap::new()),
    };
    assert_eq!(refused, wanted.1, "{place}");
    assert_eq!(counted, oracle::counted(log, &wanted.0, kind), "{place}");
    log.extend(wanted.0);
    refused.len() + counted.len()
}

/// One sequence of whatever happens; returns after how many steps there were delete files, and how many slices had ties.
fn sequence(seed: u64) -> [usize; 2] {
    let on_tie = if (seed / 20).is_multiple_of(2) { OnTie::Count } else { OnTie::Refuse };
    let mut random = Random(seed);
    let kind = Kind::of(seed);
    let layout = LAYOUTS[(seed / 5 % 4) as usize];
    let mut scene = Scene::empty(None);
    ensure_laid_out(&scene.warehouse, kind, layout);
    let (mut log, mut with_deletes, mut ties) = (Log::new(), 0, 0);
    for step in 0..2 + random.below(6) {
        match random.below(13) {
            0 => {
                scene.warehouse.gc(Instant::MAX).unwrap();
            }
            12 => {
                scene.warehouse.compact().unwrap();
                assert!(delete_files(&scene.warehouse).is_empty());
                assert!(scene.warehouse.compact().unwrap().is_empty());
            }
            1 => {
                scene.warehouse.rebuild_ledger().unwrap();
            }
            2 => scene.warehouse = scene.other(seed * 100 + step),
            3 | 4 => race(&scene, kind, &mut random, &mut log),
            _ => {
                let group: Log = (0..1 + random.below(2)).map(|_| some_change(&mut random, &log)).collect();
                let place = format!("seed {seed}, step {step}");
                ties += publish_seeking(&scene.warehouse, kind, on_tie, &mut log, &group, &place);
            }
        }
        check_kind(&scene.warehouse, kind, &log, &format!("seed {seed}, step {step}"));
        with_deletes += usize::from(!delete_files(&scene.warehouse).is_empty());
    }
    check_kind(&scene.other(seed * 100 + 99), kind, &log, &format!("seed {seed}, opened again"));
    [with_deletes, ties]
}

#[test]
fn any_sequence_on_disk_equals_all_changes_looked_at() {
    let found = (0..80).map(sequence).reduce(|[deletes, ties], [more, tied]| [deletes + more, ties + tied]);
    let [with_deletes, ties] = found.unwrap();
    assert!(with_deletes > 40, "{with_deletes} steps with delete files: the sequences no longer reach them");
    assert!(ties > 20, "{ties} slices with ties: the sequences no longer reach them");
}

/// Names of a table's files without who wrote them, and their bytes.
pub(crate) fn contents(warehouse: &Warehouse, table: &TableName) -> BTreeMap<String, Vec<u8>> {
    let head = warehouse.head(table).unwrap().unwrap();
    let unit = |path: &str| path.rsplitn(3, '-').take(2).collect::<Vec<_>>().join("-");
    head.all_files().iter().map(|file| (unit(&file.path), std::fs::read(&file.path).unwrap())).collect()
}

#[test]
fn after_compaction_the_bytes_are_the_same_whatever_came_before() {
    for seed in 0..24 {
        let mut random = Random(seed);
        let kind = Kind::of(seed);
        let (scene, mut log) = (Scene::empty(None), Log::new());
        ensure_laid_out(&scene.warehouse, kind, LAYOUTS[3]);
        for _ in 0..2 + random.below(5) {
            let group = Log::from([some_change(&mut random, &log)]);
            publish_kind(&scene.warehouse, kind, &group).unwrap();
            log.extend(group);
        }
        let other = Scene::empty(None);
        ensure_laid_out(&other.warehouse, kind, LAYOUTS[3]);
        let mut days: Vec<i64> = log.keys().copied().collect();
        random.shuffle(&mut days);
        for day in days {
            publish_kind(&other.warehouse, kind, &Log::from([(day, log[&day].clone())])).unwrap();
        }
        scene.warehouse.compact().unwrap();
        other.warehouse.compact().unwrap();
        for table in [state(), deleted()] {
            let (one, two) = (contents(&scene.warehouse, &table), contents(&other.warehouse, &table));
            assert!(one == two, "seed {seed}: {:?} and {:?}", one.keys(), two.keys());
        }
        check_kind(&scene.warehouse, kind, &log, &format!("seed {seed}, compacted"));
        // What is no longer named goes, and nothing else.
        scene.warehouse.gc(Instant::MAX).unwrap();
        check_kind(&scene.warehouse, kind, &log, &format!("seed {seed}, cleaned up"));
        assert_eq!(scene.warehouse.gc(Instant::MAX).unwrap().kept, 0, "seed {seed}");
    }
}

/// Forty commits of a few keys each: files that lie over others, and delete files, become one again and again.
#[test]
fn many_small_changes_in_a_row_keep_few_files() {
    let scene = Scene::empty(None);
    ensure_laid_out(&scene.warehouse, Kind::Merge, (1_000, 100_000));
    let many: Vec<Row> = (0..400).map(|number| row(&format!("key {number}"), 0, 0, number)).collect();
    let mut log = Log::from([(0, many)]);
    publish(&scene.warehouse, &log).unwrap();
    let mut most = (0, 0);
    for day in 1..40 {
        let changed =
            (0..5).map(|number| row(&format!("key {}", (day * 37 + number * 80) % 420), day, day, day));
        let group = Log::from([(day, changed.collect())]);
        publish(&scene.warehouse, &group).unwrap();
        log.extend(group);
        let head = scene.warehouse.head(&state()).unwrap().unwrap();
        most.0 = most.0.max(head.all_files().len());
        most.1 = most.1.max(delete_files(&scene.warehouse).len());
    }
    check(&scene.warehouse, &log, "after forty");
    assert!((8..18).contains(&most.0) && (6..16).contains(&most.1), "{most:?} files");
    assert_eq!(scene.warehouse.compact().unwrap(), [state()]);
    check(&scene.warehouse, &log, "compacted");
    assert_eq!(scene.warehouse.head(&state()).unwrap().unwrap().all_files().len(), 1);
    assert_eq!(scene.warehouse.open_attempts().unwrap(), []);
}

/// Delete files hold full paths: in a copy those of the copy.
#[test]
fn a_copied_table_with_delete_files_goes_on_by_itself() {
    let scene = Scene::empty(None);
    ensure_laid_out(&scene.warehouse, Kind::Merge, LAYOUTS[3]);
    let mut log =
        Log::from([(0, (0..9).map(|number| row(&format!("key {number}"), 0, 0, number)).collect())]);
    publish(&scene.warehouse, &log).unwrap();
    let second = Log::from([(1, vec![row("key 3", 1, 1, 1), row("key 5", 1, 1, 1)])]);
    publish(&scene.warehouse, &second).unwrap();
    log.extend(second);
    let copied = scene.folder.path().join("copied");
    crate::shape::copy(&scene.root(), &copied);
    // Nothing may come from the table that was copied.
    std::fs::rename(scene.root(), scene.folder.path().join("gone")).unwrap();
    let warehouse = Warehouse::open(&copied, world(7)).unwrap();
    warehouse.rebuild_ledger().unwrap();
    let files = delete_files(&warehouse);
    assert!(!files.is_empty() && files.iter().all(|file| Path::new(file).starts_with(&copied)), "{files:?}");
    check(&warehouse, &log, "copied");
    assert!(warehouse.foreign_changes(&state()).unwrap().is_empty());
    let third = Log::from([(2, vec![row("key 3", 2, 2, 2), row("key 6", 1, 2, 1)])]);
    publish(&warehouse, &third).unwrap();
    log.extend(third);
    check(&warehouse, &log, "changed after it was copied");
    warehouse.gc(Instant::MAX).unwrap();
    warehouse.compact().unwrap();
    check(&warehouse, &log, "compacted after it was copied");
}

pub(crate) fn row(text: &str, version: i64, day: i64, value: i64) -> Row {
    let rank = Rank { version: Some(version), deleted: false, at: day * DAY, value: Some(value) };
    Row { key: (Some(text.to_owned()), None), rank }
}

#[test]
fn a_correction_of_equal_order_lands_and_a_vanished_change_gives_way_to_the_one_before() {
    let scene = scene();
    let mut log =
        Log::from([(0, vec![row("a", 1, 0, 10)]), (1, vec![row("a", 2, 1, 20), row("b", 1, 1, 1)])]);
    publish(&scene.warehouse, &log).unwrap();
    check(&scene.warehouse, &log, "first");
    log.insert(1, vec![row("a", 2, 1, 5), row("b", 1, 1, 1)]);
    publish(&scene.warehouse, &Log::from([(1, log[&1].clone())])).unwrap();
    check(&scene.warehouse, &log, "corrected to less, of equal order");
    log.insert(1, Vec::new());
    publish(&scene.warehouse, &Log::from([(1, Vec::new())])).unwrap();
    check(&scene.warehouse, &log, "vanished");
    assert_eq!(rows(&scene.warehouse, &state(), false).len(), 1);
}

#[test]
fn equal_changes_are_unchanged_and_leave_the_state_alone() {
    let scene = scene();
    let log = Log::from([(0, vec![row("a", 1, 0, 10), row("b", 1, 0, 10)])]);
    publish(&scene.warehouse, &log).unwrap();
    let before = scene.warehouse.head(&state()).unwrap().unwrap();
    assert_eq!(publish(&scene.warehouse, &log).unwrap(), [Published::Unchanged]);
    let after = scene.warehouse.head(&state()).unwrap().unwrap();
    assert_eq!(before.metadata_location, after.metadata_location);
}

/// A change that touches one key writes one bucket.
#[test]
fn buckets_without_a_changed_key_keep_their_files() {
    let scene = scene();
    let many: Vec<Row> = (0..40).map(|number| row(&format!("key {number}"), 1, 0, number)).collect();
    publish(&scene.warehouse, &Log::from([(0, many)])).unwrap();
    let paths = || -> BTreeSet<String> {
        let head = scene.warehouse.head(&state()).unwrap().unwrap();
        head.all_files().iter().map(|file| file.path.clone()).collect()
    };
    let before = paths();
    assert!(before.len() > 8, "{before:?}");
    publish(&scene.warehouse, &Log::from([(1, vec![row("key 7", 2, 1, 0)])])).unwrap();
    assert_eq!(before.difference(&paths()).count(), 1);
}

#[test]
fn every_call_fails_once_around_a_fold() {
    let calls = (0..).take_while(|call| failing(*call, false)).count();
    assert!(calls > 50, "{calls} calls");
}

#[test]
fn the_process_dies_at_every_call_around_a_fold() {
    let calls = (0..).take_while(|call| failing(*call, true)).count();
    assert!(calls > 50, "{calls} calls");
}

/// A publish whose `fail_at`th call fails: log and state are both as before or both new, and a retry converges.
fn failing(fail_at: usize, dies: bool) -> bool {
    let faults = Arc::new(Failing::default());
    let scene = Scene::empty(Some(faults.clone()));
    ensure(&scene.warehouse, Kind::Merge);
    let old = Log::from([(0, vec![row("a", 1, 0, 1), row("b", 1, 0, 1)]), (1, vec![row("a", 2, 1, 2)])]);
    publish(&scene.warehouse, &old).unwrap();
    let change = Log::from([(1, vec![row("b", 3, 1, 7)])]);
    let new: Log = old.clone().into_iter().chain(change.clone()).collect();
    faults.arm(fail_at, dies);
    let answer = publish(&scene.warehouse, &change);
    let reached = faults.reached(fail_at);
    faults.disarm();
    let other = scene.other(2);
    let there = rows(&other, &state(), false);
    let place = format!("call {fail_at}");
    match answer {
        Ok(_) => check(&other, &new, &place),
        Err(error) if error.slice_state() == oncemore_core::SliceState::Unchanged => {
            check(&other, &old, &place)
        }
        Err(_) if there == oracle::fold(&new) => check(&other, &new, &place),
        Err(_) => check(&other, &old, &place),
    }
    other.resolve().unwrap();
    publish(&other, &change).unwrap();
    check(&other, &new, &place);
    other.gc(Instant::MAX).unwrap();
    check(&other, &new, &place);
    let again = other.gc(Instant::MAX).unwrap();
    assert_eq!((again.files, again.kept), (0, 0), "{place}");
    reached
}

#[test]
fn only_the_log_can_be_written() {
    let scene = scene();
    let attempt = begin(&scene.warehouse, 0).unwrap();
    let publish = staging(&scene.warehouse, Kind::Merge, &attempt, &[row("a", 1, 0, 1)]).unwrap();
    let error = scene.warehouse.publish(vec![Publish { table: state(), ..publish }]).remove(0).unwrap_err();
    assert!(error.to_string().contains("is folded from `gold.things__changes`"), "{error}");
    let error =
        scene.warehouse.ensure_table(&state(), &oracle::user_schema(), &oracle::key(), true).unwrap_err();
    assert!(error.to_string().contains("another kind"), "{error}");
}

#[test]
fn another_key_or_order_is_refused_where_there_are_changes() {
    let scene = scene();
    let other = FoldSpec { order: vec!["at".to_owned()], ..spec(Kind::Merge) };
    scene.warehouse.ensure_fold(&log(), &oracle::user_schema(), true, &other).unwrap();
    ensure(&scene.warehouse, Kind::Merge);
    publish(&scene.warehouse, &Log::from([(0, vec![row("a", 1, 0, 1)])])).unwrap();
    let error = scene.warehouse.ensure_fold(&log(), &oracle::user_schema(), true, &other).unwrap_err();
    assert!(
        error.to_string().contains("`order_by` of `gold.things` was [version] and is now [at]"),
        "{error}"
    );
    let other = FoldSpec { key: vec!["text".to_owned()], ..spec(Kind::Merge) };
    let error = scene.warehouse.ensure_fold(&log(), &oracle::user_schema(), true, &other).unwrap_err();
    assert!(error.to_string().contains("`key` of `gold.things` was"), "{error}");
    // Nothing was touched: changes and sums go on as before.
    let mut all = Log::from([(0, vec![row("a", 1, 0, 1)])]);
    let more = Log::from([(1, vec![row("a", 2, 1, 1)])]);
    publish(&scene.warehouse, &more).unwrap();
    all.extend(more);
    check(&scene.warehouse, &all, "after the refusals");
}

/// A state that somebody set back is found, and folded again where that is asked for.
#[test]
fn a_state_that_was_changed_by_another_writer_is_folded_again_on_demand() {
    let scene = scene();
    let warehouse = &scene.warehouse;
    let mut log_rows = Log::from([(0, vec![row("a", 1, 0, 1), row("b", 1, 0, 1)])]);
    publish(warehouse, &log_rows).unwrap();
    let old = warehouse.head(&state()).unwrap().unwrap().metadata_location;
    let second = Log::from([(1, vec![row("a", 2, 1, 2)])]);
    publish(warehouse, &second).unwrap();
    log_rows.extend(second.clone());
    let catalog = rusqlite::Connection::open(scene.root().join("oncemore.db")).unwrap();
    let set = "UPDATE iceberg_tables SET metadata_location = ?1 WHERE table_name = 'things'";
    // As another writer does it: the older state under a newer name. An older name would be a catalog from a backup.
    let newer =
        std::path::Path::new(&old).with_file_name("00099-00000000-0000-4000-8000-0000000000ff.metadata.json");
    std::fs::copy(&old, &newer).unwrap();
    catalog.execute(set, [newer.to_str().unwrap()]).unwrap();
    drop(catalog);
    // With the hint ahead of it the pointer would be taken for one of an older catalog.
    std::fs::remove_file(Path::new(&old).with_file_name("version-hint.text")).unwrap();
    // The state is of an older log, as its stamp says: the next publish folds all of it.
    let other = Warehouse::open(&scene.root(), world(9)).unwrap();
    let third = Log::from([(2, vec![row("c", 1, 2, 3)])]);
    publish(&other, &third).unwrap();
    log_rows.extend(third);
    check(&other, &log_rows, "after the state was set back");
}

/// Tables of a time when all starts were instants are known as such, and are not read as what they are to be now.
#[test]
fn a_history_whose_starts_are_written_otherwise_does_not_fit() {
    let scene = Scene::empty(None);
    let warehouse = &scene.warehouse;
    ensure(warehouse, Kind::Snapshots);
    let rows = [row("a", 1, 1, 1)];
    let publish = staging(warehouse, Kind::Snapshots, &begin(warehouse, 1).unwrap(), &rows).unwrap();
    warehouse.publish(vec![publish]).remove(0).unwrap();
    let mut stored = serde_json::to_value(spec(Kind::Snapshots)).unwrap();
    stored["validity"].as_object_mut().unwrap().remove("starts").unwrap();
    let mut wanted: FoldSpec = serde_json::from_value(stored).unwrap();
    let misfit = |spec: &FoldSpec| warehouse.fold_misfit(&log(), &oracle::user_schema(), true, spec).unwrap();
    assert_eq!(misfit(&wanted), None);
    wanted.validity.as_mut().unwrap().starts = Starts::Day("UTC".to_owned());
    let why = misfit(&wanted).unwrap();
    assert!(why.contains("is now dated"), "{why}");
}
