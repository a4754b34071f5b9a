//! What two versions of a folded table do not share: taken off and put on, the one becomes the other, whatever lies between.

use std::collections::BTreeMap;

use arrow::util::display::array_value_to_string;
use oncemore_commit::{RowsOf, Warehouse};
use oncemore_core::Stamp;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::folds::{ensure_laid_out, publish_kind, state};
use crate::oracle::{self, Kind, Log, Random};
use crate::support::Scene;

/// Rows as text, each with how often it is there.
type Rows = BTreeMap<String, i64>;

/// The rows of a file but for those at some places; without the columns that are ours.
fn read(path: &str, skipped: &[u64], into: &mut Rows, weight: i64) -> u64 {
    let file = std::fs::File::open(path).unwrap();
    let (mut place, mut count) = (0, 0);
    for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
        let batch = batch.unwrap();
        for row in 0..batch.num_rows() {
            if skipped.binary_search(&place).is_err() {
                let text = |at: usize| array_value_to_string(batch.column(at), row).unwrap();
                let columns =
                    (0..batch.num_columns()).filter(|at| !batch.schema().field(*at).name().starts_with('_'));
                *into.entry(columns.map(text).collect::<Vec<_>>().join("|")).or_default() += weight;
                count += 1;
            }
            place += 1;
        }
    }
    into.retain(|_, count| *count != 0);
    count
}

fn all(warehouse: &Warehouse) -> Rows {
    let mut rows = Rows::new();
    for file in warehouse.head(&state()).unwrap().unwrap().all_files() {
        read(&file.path, &file.deleted().unwrap(), &mut rows, 1);
    }
    rows
}

fn add(files: &[RowsOf], rows: &mut Rows, weight: i64) {
    for file in files {
        assert_eq!(read(&file.path, &file.skipped, rows, weight), file.rows);
    }
}

fn stamp(warehouse: &Warehouse) -> Option<Stamp> {
    warehouse.stamps(&state()).unwrap().first().cloned()
}

/// Whether two versions shared a file, and not all of its rows.
fn sequence(seed: u64) -> bool {
    let mut random = Random(seed);
    let scene = Scene::empty(None);
    // Rewritten when little changes, and laid over buckets for as long as it goes.
    let layout = *[(3, 25), (16, 120), (30, 400)].get((seed % 3) as usize).unwrap();
    let kind = if seed.is_multiple_of(2) { Kind::Merge } else { Kind::Changes };
    ensure_laid_out(&scene.warehouse, kind, layout);
    let mut versions: Vec<(Option<Stamp>, Rows)> = vec![(None, Rows::new())];
    let mut is_partial = false;
    for step in 0..8 {
        if random.below(6) == 0 {
            scene.warehouse.compact().unwrap();
        } else {
            let day = random.below(5) as i64;
            let rows = oracle::changes(&mut random, day);
            publish_kind(&scene.warehouse, kind, &Log::from([(day, rows)])).unwrap();
        }
        versions.push((stamp(&scene.warehouse), all(&scene.warehouse)));
        for (then, rows) in &versions {
            let print =
                |stamp: Option<&Stamp>| stamp.map_or_else(Default::default, |stamp| stamp.fingerprint);
            let wanted = |found: Option<&Stamp>| print(found) == print(then.as_ref());
            let apart = scene.warehouse.apart(&state(), wanted).unwrap();
            let apart = apart.unwrap_or_else(|| panic!("seed {seed}, step {step}: all versions are kept"));
            let mut made = rows.clone();
            add(&apart.older, &mut made, -1);
            add(&apart.newer, &mut made, 1);
            made.retain(|_, count| *count != 0);
            assert_eq!(made, all(&scene.warehouse), "seed {seed}, step {step}");
            assert_eq!(apart.stamp, stamp(&scene.warehouse));
            is_partial |= apart.older.iter().chain(&apart.newer).any(|file| !file.skipped.is_empty());
        }
    }
    is_partial
}

#[test]
fn one_version_becomes_the_other() {
    let seeds = 0..24;
    let partial = seeds.filter(|seed| sequence(*seed)).count();
    assert!(partial > 4, "{partial}: rows of files that both versions have are seldom told apart");
}

#[test]
fn what_is_not_kept_or_not_ours_tells_nothing() {
    let scene = Scene::empty(None);
    ensure_laid_out(&scene.warehouse, Kind::Merge, (3, 25));
    let mut random = Random(7);
    let mut publish = || {
        let rows = oracle::changes(&mut random, 0);
        publish_kind(&scene.warehouse, Kind::Merge, &Log::from([(0, rows)])).unwrap();
    };
    publish();
    let nobody = scene.warehouse.apart(&state(), |_| false).unwrap();
    assert_eq!(nobody, None);
    assert_eq!(scene.warehouse.apart(&"gold.none".parse().unwrap(), |_| true).unwrap(), None);
    let then = stamp(&scene.warehouse).unwrap();
    (0..30).for_each(|_| publish());
    let found =
        scene.warehouse.apart(&state(), |stamp| stamp.is_some_and(|stamp| stamp.attempt == then.attempt));
    assert_eq!(found.unwrap(), None, "older than what is kept");
}
