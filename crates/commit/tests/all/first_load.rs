//! The first slice of a log: where nothing is deleted, its files are those of the state, too.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;

use arrow::array::RecordBatch;
use oncemore_commit::{CommitError, FoldSpec, Publish, Published, RowHasher, RowsPrint, Warehouse};
use oncemore_core::{Instant, TableName};

use crate::folds::{begin, contents, laid_out, log, row, rows, staged, stamp, state};
use crate::oracle::{self, Key, Kind, Log, Random, Row};
use crate::support::Scene;

fn spec(bucket_rows: u64) -> FoldSpec {
    FoldSpec { beside: None, ..laid_out(Kind::Merge, (bucket_rows, 25)) }
}

fn scene(bucket_rows: u64) -> Scene {
    let scene = Scene::empty(None);
    scene.warehouse.ensure_fold(&log(), &oracle::user_schema(), false, &spec(bucket_rows)).unwrap();
    scene
}

/// The changes without the word on deletions.
fn batch(rows: &[Row]) -> RecordBatch {
    oracle::batch(rows).project(&[0, 1, 2, 3, 4]).unwrap()
}

/// Publishes days, all in one commit.
fn publish(warehouse: &Warehouse, bucket_rows: u64, group: &Log) -> Vec<Published> {
    try_publish(warehouse, bucket_rows, group, false).unwrap()
}

/// The same; `read_back`: what is there is looked at, whether it comes out equal or not.
fn try_publish(
    warehouse: &Warehouse,
    bucket_rows: u64,
    group: &Log,
    read_back: bool,
) -> Result<Vec<Published>, CommitError> {
    let publishes = group.iter().map(|(day, rows)| {
        let attempt = begin(warehouse, *day)?;
        Ok(Publish { read_back, ..staged(warehouse, &spec(bucket_rows), &attempt, &batch(rows))? })
    });
    let publishes = publishes.collect::<Result<Vec<_>, CommitError>>()?;
    warehouse.publish(publishes).into_iter().collect()
}

#[track_caller]
fn check(warehouse: &Warehouse, log: &Log, place: &str) {
    let wanted = oracle::fold(log);
    assert_eq!(rows(warehouse, &state(), false), wanted, "{place}");
    let list: Vec<Row> = wanted.into_iter().map(|(key, rank)| Row { key, rank }).collect();
    let hasher = RowHasher::new(&batch(&[]).schema(), &oracle::key()).unwrap();
    let mut print = RowsPrint::new(&hasher);
    print.add(&hasher.hash(&batch(&list)));
    let found = stamp(warehouse, &state()).unwrap();
    assert_eq!((found.fingerprint, found.columns), print.finish(), "{place}");
}

fn files(warehouse: &Warehouse, table: &TableName) -> BTreeSet<u64> {
    let head = warehouse.head(table).unwrap().unwrap();
    let files = head.all_files().iter().map(|file| std::fs::metadata(&file.path).unwrap().ino());
    files.collect()
}

/// Changes of a day, some of a key twice, some of keys that are NULL in part.
fn changes(random: &mut Random, day: i64, most: u64) -> Vec<Row> {
    let mut rows: Vec<Row> = (0..random.below(most))
        .map(|_| {
            let key = format!("key {}", random.below(most));
            row(&key, random.below(3) as i64, day, random.below(9) as i64)
        })
        .collect();
    rows.extend(oracle::changes(random, day));
    rows.iter_mut().for_each(|row| row.rank.deleted = false);
    random.shuffle(&mut rows);
    rows
}

#[test]
fn the_files_of_the_first_slice_are_those_of_the_state() {
    for (seed, bucket_rows) in [(1, 3), (2, 3), (3, 16), (4, 1_000), (5, 1)] {
        let mut random = Random(seed);
        let once = changes(&mut random, 0, 60);
        let scene = scene(bucket_rows);
        // Each key comes once: then it is known how many rows there will be.
        let mut seen = BTreeSet::<Key>::new();
        let once: Vec<Row> = once.into_iter().filter(|row| seen.insert(row.key.clone())).collect();
        let own = Log::from([(0, once.clone())]);
        publish(&scene.warehouse, bucket_rows, &own);
        check(&scene.warehouse, &own, &format!("seed {seed}"));
        assert_eq!(files(&scene.warehouse, &log()), files(&scene.warehouse, &state()), "seed {seed}");
        assert!(scene.warehouse.compact().unwrap().is_empty(), "seed {seed}: it is compact from the start");
        // The same bytes as where the state is written by itself.
        let other = self::scene(bucket_rows);
        publish(&other.warehouse, bucket_rows, &Log::from([(0, changes(&mut random, 0, 9)), (1, vec![])]));
        publish(&other.warehouse, bucket_rows, &Log::from([(1, once[..once.len() / 2].to_vec())]));
        publish(&other.warehouse, bucket_rows, &own);
        publish(&other.warehouse, bucket_rows, &Log::from([(1, vec![])]));
        other.warehouse.compact().unwrap();
        let (one, two) = (contents(&scene.warehouse, &state()), contents(&other.warehouse, &state()));
        assert!(one == two, "seed {seed}: {:?} and {:?}", one.keys(), two.keys());
    }
}

#[test]
fn what_comes_after_a_first_load_finds_the_state_as_any_other() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let bucket_rows = [1, 3, 16, 1_000][random.below(4) as usize];
        let mut scene = scene(bucket_rows);
        let mut all = Log::new();
        for step in 0..6 {
            match random.below(8) {
                0 => drop(scene.warehouse.compact().unwrap()),
                1 => drop(scene.warehouse.gc(Instant::MAX).unwrap()),
                2 => drop(scene.warehouse.rebuild_ledger().unwrap()),
                3 => scene.warehouse = scene.other(seed * 100 + step),
                _ => {}
            }
            let days = if step == 0 { 1 + random.below(2) } else { 1 };
            let group: Log = (0..days)
                .map(|nth| {
                    let day = if step == 0 { nth as i64 } else { random.below(3) as i64 };
                    (day, changes(&mut random, day, 40))
                })
                .collect();
            publish(&scene.warehouse, bucket_rows, &group);
            all.extend(group);
            check(&scene.warehouse, &all, &format!("seed {seed}, step {step}"));
        }
        scene.warehouse.gc(Instant::MAX).unwrap();
        check(&scene.warehouse, &all, &format!("seed {seed}, cleaned up"));
        assert_eq!(scene.warehouse.gc(Instant::MAX).unwrap().kept, 0, "seed {seed}");
    }
}

fn keys(count: i64, value: i64) -> Vec<Row> {
    (0..count).map(|number| row(&format!("key {number}"), 0, 0, value)).collect()
}

#[test]
fn the_same_again_is_unchanged_however_many_files_it_has() {
    let scene = scene(1);
    let day = Log::from([(0, keys(100, 7))]);
    publish(&scene.warehouse, 1, &day);
    assert!(files(&scene.warehouse, &log()).len() > 20);
    assert_eq!(publish(&scene.warehouse, 1, &day), [Published::Unchanged]);
    check(&scene.warehouse, &day, "again");
}

/// A file that log and state share, damaged in place, with other rows and of another size.
fn damage(warehouse: &Warehouse) {
    let head = warehouse.head(&state()).unwrap().unwrap();
    let path = &head.all_files()[0].path;
    // Another file of the same table reads well.
    let other = head.all_files().iter().find(|file| file.bytes != head.all_files()[0].bytes).unwrap();
    std::fs::write(path, std::fs::read(&other.path).unwrap()).unwrap();
}

#[test]
fn a_damaged_file_is_never_written_anew_as_ours() {
    let scene = scene(16);
    let mut all = Log::from([(0, keys(60, 7))]);
    // Each key once: the files are shared.
    publish(&scene.warehouse, 16, &all);
    damage(&scene.warehouse);
    // A few keys of every bucket: those of the damaged file among them.
    let group = Log::from([(1, keys(60, 9).into_iter().map(|r| row(&r.key.0.unwrap(), 9, 1, 9)).collect())]);
    let error = try_publish(&scene.warehouse, 16, &group, false).unwrap_err();
    assert!(matches!(error, CommitError::Corrupt { .. }), "{error}");
    // The slice, looked at, is written anew, and with it what is folded from it.
    assert!(matches!(
        try_publish(&scene.warehouse, 16, &all, true).unwrap()[..],
        [Published::Replaced { .. }]
    ));
    check(&scene.warehouse, &all, "mended");
    publish(&scene.warehouse, 16, &group);
    all.extend(group);
    check(&scene.warehouse, &all, "goes on");
}

#[test]
fn a_state_that_lost_a_file_is_folded_again_on_demand() {
    let scene = scene(16);
    let day = Log::from([(0, keys(60, 7))]);
    publish(&scene.warehouse, 16, &day);
    let head = scene.warehouse.head(&state()).unwrap().unwrap();
    std::fs::remove_file(&head.all_files()[0].path).unwrap();
    assert_eq!(try_publish(&scene.warehouse, 16, &day, true).unwrap(), [Published::Unchanged]);
    check(&scene.warehouse, &day, "folded again");
}
