//! A table that was built anew beside the old one takes its place: with other slices, as another kind, beside attempts,
//! clean-ups and writers that are still at the old one, and with the ledger lost at any time.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex};

use oncemore_commit::{CommitError, Faults, FoldSpec, Step, Swapped, Warehouse, When};
use oncemore_core::{Instant, Interval, REBUILD, TableName};

use crate::folds::{self, check_kind, publish_to};
use crate::oracle::{Kind, Log, Random, changes, user_schema};
use crate::support::{
    Scene, attempt, by_slice, check_totals, day, ids, key, metadata, publishing, put, rows, stage, table,
};

/// The table that is built.
pub(crate) fn built() -> TableName {
    table().with_ending(REBUILD).unwrap()
}

/// Two days as one slice.
pub(crate) fn pair(first: i64) -> Interval {
    Interval::new(day(first).start(), day(first + 1).end()).unwrap()
}

/// Builds the table beside itself, in slices of two days.
pub(crate) fn begin(warehouse: &Warehouse) -> Result<(), CommitError> {
    warehouse.ensure_table(&built(), rows(&[]).schema_ref(), &key(), true)?;
    put(warehouse, &built(), pair(0), &[1, 2, 3])?;
    put(warehouse, &built(), pair(2), &[])
}

fn spec_of(kind: Kind) -> FoldSpec {
    let spec = folds::spec(kind);
    let ending = |table: &TableName| table.with_ending(REBUILD).unwrap();
    FoldSpec { state: ending(&spec.state), beside: spec.beside.as_ref().map(ending), ..spec }
}

fn built_log() -> TableName {
    folds::log().with_ending(REBUILD).unwrap()
}

/// Builds a folded table beside itself.
pub(crate) fn begin_fold(warehouse: &Warehouse, kind: Kind, log: &Log) -> Result<(), CommitError> {
    warehouse.ensure_fold(&built_log(), &user_schema(), true, &spec_of(kind))?;
    publish_to(warehouse, &built_log(), kind, log).map(|_| ())
}

fn names(warehouse: &Warehouse) -> Vec<String> {
    warehouse.tables().unwrap().iter().map(TableName::to_string).collect()
}

/// Every file of the warehouse but the catalog's.
fn files(scene: &Scene) -> BTreeSet<String> {
    let (mut found, mut folders) = (BTreeSet::new(), vec![scene.root()]);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(scene.root()).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found.retain(|name| !name.starts_with("oncemore.db"));
    found
}

/// Nothing of a rebuild is left in the folder, and what is there is referred to.
#[track_caller]
fn is_clean(scene: &Scene, warehouse: &Warehouse) {
    let before = (names(warehouse), files(scene));
    warehouse.gc(Instant::MAX).unwrap();
    let cleaned = warehouse.gc(Instant::MAX).unwrap();
    assert_eq!((cleaned.files, cleaned.kept, cleaned.waiting), (0, 0, 0));
    assert_eq!(names(warehouse), before.0);
    let left = files(scene);
    assert!(!left.iter().any(|name| name.contains(REBUILD)), "{left:#?}");
}

#[test]
fn other_slices_take_the_place_of_the_old_ones() {
    let scene = Scene::new();
    for (number, values) in [(0, [1, 2].as_slice()), (1, &[3]), (2, &[])] {
        scene.replace(day(number), values).unwrap();
    }
    let id = metadata(&scene.warehouse)["table-uuid"].clone();
    begin(&scene.warehouse).unwrap();
    // The old table is read until the swap.
    assert_eq!(by_slice(&scene.other(2)).len(), 2);
    let swapped = scene.warehouse.swap_rebuilt(&table(), false).unwrap().unwrap();
    assert_eq!(swapped, Swapped { tables: vec![table()], removed: Vec::new() });
    for warehouse in [scene.warehouse.clone(), scene.other(3)] {
        assert_eq!(names(&warehouse), [table().to_string()]);
        assert_eq!(by_slice(&warehouse).into_iter().collect::<Vec<_>>(), [(pair(0), vec![1, 2, 3])]);
        let stamps = warehouse.stamps(&table()).unwrap();
        assert_eq!(stamps.iter().map(|stamp| stamp.interval).collect::<Vec<_>>(), [pair(0), pair(2)]);
        check_totals(&warehouse);
    }
    assert_eq!(metadata(&scene.warehouse)["table-uuid"], id);
    // Its attempts are those of the table.
    let attempts = scene.warehouse.last_attempts(&table()).unwrap();
    let last = attempts.iter().find(|row| row.attempt.interval == pair(0)).unwrap();
    assert_eq!((last.state.as_str(), last.rows), ("committed", Some(3)));
    is_clean(&scene, &scene.other(4));
    // It goes on as any table.
    put(&scene.warehouse, &table(), pair(2), &[7]).unwrap();
    assert_eq!(ids(&scene.other(5)), [1, 2, 3, 7]);
    assert_eq!(scene.warehouse.swap_rebuilt(&table(), false).unwrap(), None);
}

#[test]
fn an_attempt_on_the_old_table_never_lands_on_the_new_one() {
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    let late = scene.other(9);
    // One on a slice that the old table had, one on a slice that neither has.
    let began: Vec<_> = [day(0), day(30)].map(|slice| attempt(&late, slice).unwrap()).to_vec();
    let staged: Vec<_> =
        began.iter().map(|attempt| publishing(&late, attempt, &[9], None).unwrap()).collect();
    // And one on a slice of the table that was built, which is gone as such.
    begin(&scene.warehouse).unwrap();
    let other = scene.other(10);
    let request = other.begin_request(None).unwrap();
    let into =
        other.begin_attempts(request, &[(built(), pair(4), crate::support::code(2))]).unwrap().remove(0);
    let into = publishing(&other, &into, &[8], None).unwrap();
    scene.warehouse.swap_rebuilt(&table(), false).unwrap().unwrap();
    for publish in staged {
        let error = late.publish(vec![publish]).remove(0).unwrap_err();
        assert!(matches!(error, CommitError::Superseded { published: true, .. }), "{error}");
    }
    assert!(matches!(other.publish(vec![into]).remove(0), Err(CommitError::Config(_))));
    // Restarted as a table of that name, with fences of its own, it takes nothing from before either.
    let into =
        other.begin_attempts(request, &[(built(), pair(4), crate::support::code(2))]).unwrap().remove(0);
    begin(&scene.warehouse).unwrap();
    let into = publishing(&other, &into, &[8], None).unwrap();
    assert!(scene.warehouse.drop_rebuild(&table()).unwrap());
    begin(&scene.warehouse).unwrap();
    let error = other.publish(vec![into]).remove(0).unwrap_err();
    assert!(matches!(error, CommitError::Conflict { .. }), "{error}");
    scene.warehouse.drop_rebuild(&table()).unwrap();
    assert_eq!(ids(&scene.other(11)), [1, 2, 3]);
    // A new request does.
    put(&scene.warehouse, &table(), pair(4), &[8]).unwrap();
    is_clean(&scene, &scene.other(12));
    assert_eq!(ids(&scene.other(13)), [1, 2, 3, 8]);
}

#[test]
fn a_clean_up_beside_a_swap_takes_nothing_that_it_brings() {
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    begin(&scene.warehouse).unwrap();
    // As if a swap had died once the files had their names.
    let from = scene.root().join("silver/flights__rebuild/data");
    for folder in std::fs::read_dir(&from).unwrap().map(|entry| entry.unwrap().path()) {
        let to = scene.root().join("silver/flights/data").join(folder.file_name().unwrap());
        std::fs::create_dir_all(&to).unwrap();
        for file in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            std::fs::hard_link(&file, to.join(file.file_name().unwrap())).unwrap();
        }
    }
    let before = files(&scene);
    scene.other(2).gc(Instant::MAX).unwrap();
    assert_eq!(files(&scene), before);
    scene.warehouse.swap_rebuilt(&table(), false).unwrap().unwrap();
    assert_eq!(ids(&scene.other(3)), [1, 2, 3]);
    is_clean(&scene, &scene.other(4));
    assert_eq!(ids(&scene.other(5)), [1, 2, 3]);
}

#[test]
fn a_rebuild_that_is_given_up_leaves_nothing() {
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    begin(&scene.warehouse).unwrap();
    begin_fold(&scene.warehouse, Kind::Merge, &Log::from([(0, vec![folds::row("a", 1, 0, 1)])])).unwrap();
    assert!(scene.warehouse.drop_rebuild(&table()).unwrap());
    assert!(scene.warehouse.drop_rebuild(&folds::state()).unwrap());
    assert!(!scene.warehouse.drop_rebuild(&folds::state()).unwrap());
    is_clean(&scene, &scene.other(2));
    assert_eq!(ids(&scene.other(3)), [1]);
}

#[test]
fn a_ledger_made_anew_knows_what_took_which_place() {
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    let one = Log::from([(0, vec![folds::row("a", 1, 0, 1)]), (1, vec![folds::row("b", 1, 1, 1)])]);
    scene.warehouse.ensure_fold(&folds::log(), &user_schema(), true, &folds::spec(Kind::Merge)).unwrap();
    folds::publish_kind(&scene.warehouse, Kind::Merge, &one).unwrap();
    let lose = |number: u64| {
        for ending in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(scene.root().join(format!("oncemore.db{ending}")));
        }
        let anew = Warehouse::open_to_rebuild(&scene.root(), crate::support::world(number)).unwrap();
        anew.rebuild_ledger().unwrap();
        anew
    };
    begin(&scene.warehouse).unwrap();
    // Before the swap: both are there, and it goes on.
    let anew = lose(20);
    assert!(names(&anew).contains(&built().to_string()));
    assert_eq!(ids(&anew), [1]);
    anew.swap_rebuilt(&table(), false).unwrap().unwrap();
    // Of the merged table a slice model is made.
    let plain = folds::state().with_ending(REBUILD).unwrap();
    anew.ensure_table(&plain, rows(&[]).schema_ref(), &key(), true).unwrap();
    put(&anew, &plain, day(0), &[5]).unwrap();
    let swapped = anew.swap_rebuilt(&folds::state(), false).unwrap().unwrap();
    let gone = ["gold.things__changes", "gold.things__deleted"];
    assert_eq!(swapped.removed.iter().map(TableName::as_str).collect::<Vec<_>>(), gone);
    // After it: what it left behind is no table.
    let again = lose(21);
    assert_eq!(names(&again), ["gold.things", "silver.flights"]);
    assert_eq!(ids(&again), [1, 2, 3]);
    assert_eq!(names(&anew), names(&again));
    let late = attempt(&again, day(0)).unwrap();
    assert!(late.epoch > again.stamps(&table()).unwrap()[0].epoch);
    is_clean(&scene, &again);
    assert_eq!(ids(&scene.other(22)), [1, 2, 3]);
}

#[test]
fn folded_tables_are_swapped_with_what_is_beside_them() {
    let mut random = Random(7);
    let log: Log = (0..12).map(|day| (day, changes(&mut random, day))).collect();
    let scene = folds::scene();
    folds::publish_kind(&scene.warehouse, Kind::Merge, &log).unwrap();
    for (round, kind) in (0..).zip([Kind::Changes, Kind::Dated, Kind::Merge]) {
        let reader = |number: u64| scene.other(100 + 10 * round + number);
        // Day by day, so that rows lie over others and delete files say which.
        for (day, rows) in &log {
            begin_fold(&scene.warehouse, kind, &Log::from([(*day, rows.clone())])).unwrap();
        }
        scene.warehouse.swap_rebuilt(&folds::state(), false).unwrap().unwrap();
        let other = reader(0);
        check_kind(&other, kind, &log, "swapped");
        // A change after it finds what is there.
        let again = Log::from([(3, changes(&mut random, 3))]);
        let mut after = log.clone();
        after.extend(again.clone());
        folds::publish_kind(&other, kind, &again).unwrap();
        check_kind(&reader(1), kind, &after, "published into");
        folds::publish_kind(&other, kind, &Log::from([(3, log[&3].clone())])).unwrap();
        is_clean(&scene, &reader(2));
        check_kind(&reader(3), kind, &log, "cleaned");
    }
}

#[test]
fn what_was_beside_the_old_table_alone_goes() {
    let scene = folds::scene();
    let one = Log::from([(0, vec![folds::row("a", 1, 0, 1)])]);
    folds::publish_kind(&scene.warehouse, Kind::Merge, &one).unwrap();
    let beside = "gold.things__dated".parse::<TableName>().unwrap().with_ending(REBUILD).unwrap();
    let spec = FoldSpec { beside: Some(beside), ..spec_of(Kind::Changes) };
    scene.warehouse.ensure_fold(&built_log(), &user_schema(), true, &spec).unwrap();
    publish_to(&scene.warehouse, &built_log(), Kind::Changes, &one).unwrap();
    let swapped = scene.warehouse.swap_rebuilt(&folds::state(), false).unwrap().unwrap();
    assert_eq!(swapped.removed.iter().map(TableName::as_str).collect::<Vec<_>>(), ["gold.things__deleted"]);
    is_clean(&scene, &scene.other(2));
    let left = files(&scene);
    assert!(!left.iter().any(|name| name.contains("__deleted")), "{left:#?}");
    assert!(left.iter().any(|name| name.contains("__dated")), "{left:#?}");
}

#[test]
fn what_somebody_else_wrote_is_not_left_behind_unasked() {
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    begin(&scene.warehouse).unwrap();
    crate::foreign::foreign_write(&scene, day(0), &[5], false);
    let error = scene.warehouse.swap_rebuilt(&table(), false).unwrap_err();
    assert!(matches!(error, CommitError::Foreign { .. }), "{error}");
    scene.warehouse.swap_rebuilt(&table(), true).unwrap().unwrap();
    assert_eq!(ids(&scene.other(2)), [1, 2, 3]);
    assert_eq!(scene.warehouse.foreign_changes(&table()).unwrap(), []);
}

#[test]
fn what_died_while_it_staged_for_either_table_goes() {
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    begin(&scene.warehouse).unwrap();
    let dead = scene.other(90);
    std::mem::forget(stage(&dead, &attempt(&dead, day(0)).unwrap(), &[4]).unwrap());
    std::mem::forget(stage(&dead, &attempt(&dead, day(40)).unwrap(), &[4]).unwrap());
    let request = dead.begin_request(None).unwrap();
    let task = (built(), pair(0), crate::support::code(2));
    let of_built = dead.begin_attempts(request, &[task]).unwrap().remove(0);
    std::mem::forget(stage(&dead, &of_built, &[4]).unwrap());
    scene.warehouse.swap_rebuilt(&table(), false).unwrap().unwrap();
    let other = scene.other(2);
    is_clean(&scene, &other);
    assert_eq!(other.open_attempts().unwrap(), []);
    assert_eq!(ids(&scene.other(3)), [1, 2, 3]);
}

/// Loses the next COMMIT, or its answer.
#[derive(Debug, Default)]
struct Lost(Mutex<Option<When>>);

impl Faults for Lost {
    fn at(&self, step: Step, when: When) -> io::Result<()> {
        let mut lost = self.0.lock().unwrap();
        if step == Step::Commit && *lost == Some(when) {
            *lost = None;
            return Err(io::Error::from_raw_os_error(5));
        }
        Ok(())
    }
}

#[test]
fn a_swap_whose_answer_is_lost_says_what_became_of_it() {
    for when in [When::Before, When::After] {
        let faults = Arc::new(Lost::default());
        let scene = Scene::empty(Some(faults.clone()));
        scene.warehouse.ensure_table(&table(), rows(&[]).schema_ref(), &key(), true).unwrap();
        scene.replace(day(0), &[1]).unwrap();
        begin(&scene.warehouse).unwrap();
        *faults.0.lock().unwrap() = Some(when);
        let swapped = scene.warehouse.swap_rebuilt(&table(), false);
        if when == When::Before {
            let error = swapped.unwrap_err();
            assert!(
                matches!(&error, CommitError::Unavailable { doing, .. } if doing == "commit to the catalog")
            );
            assert_eq!(ids(&scene.other(2)), [1]);
            scene.warehouse.swap_rebuilt(&table(), false).unwrap().unwrap();
        } else {
            assert_eq!(swapped.unwrap().unwrap().tables, [table()]);
        }
        assert_eq!(ids(&scene.other(3)), [1, 2, 3]);
        is_clean(&scene, &scene.other(4));
    }
}
