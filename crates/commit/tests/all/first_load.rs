//! The first slice of a log: where nothing is deleted, its files are those of the state, too.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;

use arrow::array::RecordBatch;
use oncemore_commit::{FoldSpec, RowHasher, RowsPrint, Warehouse};
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
fn publish(warehouse: &Warehouse, bucket_rows: u64, group: &Log) {
    let publishes = group.iter().map(|(day, rows)| {
        let attempt = begin(warehouse, *day).unwrap();
        staged(warehouse, &spec(bucket_rows), &attempt, &batch(rows)).unwrap()
    });
    for answer in warehouse.publish(publishes.collect()) {
        answer.unwrap();
    }
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
