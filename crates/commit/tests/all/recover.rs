//! A catalog that is lost, replaced, or comes from a backup: it is named, and nothing that was published is forgotten.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow::datatypes::{DataType, Field, Schema};
use oncemore_commit::{CommitError, Warehouse};
use oncemore_core::Instant;

use crate::support::{
    START, Scene, attempt, check_totals, day, ids, key, metadata, publishing, replace, rows, stage, stamp,
    table, world,
};

fn database(scene: &Scene) -> PathBuf {
    scene.root().join("oncemore.db")
}

fn backup(scene: &Scene) -> PathBuf {
    let copy = scene.folder.path().join("backup.db");
    let connection = rusqlite::Connection::open(database(scene)).unwrap();
    connection.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    copy
}

fn remove(scene: &Scene) {
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(scene.root().join(format!("oncemore.db{suffix}")));
    }
}

#[test]
fn a_catalog_from_a_backup_is_named_and_made_anew() {
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    let copy = backup(&scene);
    scene.replace(day(0), &[2]).unwrap();
    scene.replace(day(1), &[3]).unwrap();
    let fence = scene.stamp(day(1)).unwrap().epoch;
    remove(&scene);
    std::fs::copy(copy, database(&scene)).unwrap();
    let other = scene.other(2);
    let behind = |error: CommitError| {
        assert!(matches!(&error, CommitError::Behind { pointed: 1, there: 3, .. }), "{error}");
        assert!(error.to_string().contains("was restored from a backup"), "{error}");
    };
    behind(other.stamps(&table()).unwrap_err());
    behind(other.head(&table()).unwrap_err());
    behind(replace(&other, day(5), &[9]).unwrap_err());
    behind(other.gc(oncemore_core::Instant::MAX).unwrap_err());
    let rebuilt = Warehouse::open_to_rebuild(&scene.root(), world(3)).unwrap();
    rebuilt.rebuild_ledger().unwrap();
    let again = scene.other(4);
    assert_eq!(ids(&again), [2, 3]);
    check_totals(&again);
    let next = attempt(&again, day(1)).unwrap();
    assert!(next.epoch > fence, "numbers go on where the table is");
    replace(&again, day(1), &[4]).unwrap();
    assert_eq!(ids(&scene.other(5)), [2, 4]);
}

/// One in its place would say that the tables beside it are not there.
#[test]
fn a_catalog_that_is_gone_is_not_made_beside_tables() {
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    remove(&scene);
    let error = Warehouse::open(&scene.root(), world(2)).unwrap_err();
    assert!(
        matches!(&error, CommitError::NoLedger { detail, .. } if detail.contains("is missing")),
        "{error}"
    );
    assert!(!database(&scene).exists());
    Warehouse::open_to_rebuild(&scene.root(), world(3)).unwrap().rebuild_ledger().unwrap();
    assert_eq!(ids(&scene.other(4)), [1]);
    // Where no table is, one is made.
    let empty = scene.folder.path().join("empty");
    assert!(Warehouse::open(&empty, world(5)).unwrap().tables().unwrap().is_empty());
}

/// Removed or replaced under a writer: it does not go on in a file that nobody sees.
#[test]
fn a_catalog_that_is_replaced_under_a_writer_takes_no_more() {
    for restored in [false, true] {
        let scene = Scene::new();
        scene.replace(day(0), &[1]).unwrap();
        let copy = backup(&scene);
        let begun = attempt(&scene.warehouse, day(1)).unwrap();
        let publish = publishing(&scene.warehouse, &begun, &[2], None).unwrap();
        remove(&scene);
        if restored {
            std::fs::copy(copy, database(&scene)).unwrap();
        }
        let error = scene.warehouse.publish(vec![publish]).remove(0).unwrap_err();
        assert!(error.to_string().contains("was removed or replaced while it was open"), "{error}");
        let rebuilt = Warehouse::open_to_rebuild(&scene.root(), world(3)).unwrap();
        rebuilt.rebuild_ledger().unwrap();
        assert_eq!(ids(&scene.other(4)), [1]);
        assert!(stamp(&scene.other(5), day(1)).is_none());
    }
}

/// A hint that is gone or behind, as after a power cut, means nothing.
#[test]
fn a_stale_hint_is_no_sign_of_a_backup() {
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    let hint = scene.root().join("silver/flights/metadata/version-hint.text");
    let old = std::fs::read(&hint).unwrap();
    scene.replace(day(0), &[2]).unwrap();
    std::fs::write(&hint, old).unwrap();
    assert_eq!(ids(&scene.other(2)), [2]);
    std::fs::remove_file(&hint).unwrap();
    replace(&scene.other(3), day(1), &[3]).unwrap();
    assert_eq!(ids(&scene.other(4)), [2, 3]);
}

/// With the catalog gone as well, the commits that came after the one that the hint names are followed.
#[test]
fn a_stale_hint_leads_to_the_newest_commit() {
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    let hint = scene.root().join("silver/flights/metadata/version-hint.text");
    let old = std::fs::read(&hint).unwrap();
    scene.replace(day(0), &[2]).unwrap();
    scene.replace(day(1), &[3]).unwrap();
    std::fs::write(&hint, old).unwrap();
    remove(&scene);
    Warehouse::open_to_rebuild(&scene.root(), world(2)).unwrap().rebuild_ledger().unwrap();
    assert_eq!(ids(&scene.other(3)), [2, 3]);
}

/// What a killed process had staged is named by its token, beside what it had published.
#[test]
fn attempts_of_the_dead_are_told_by_token() {
    let scene = Scene::new();
    let dying = scene.other(2);
    let request = dying.begin_request(None).unwrap();
    let tasks = [0, 1].map(|number| (table(), day(number), crate::support::code(1)));
    let attempts = dying.begin_attempts(request, &tasks).unwrap();
    let publish = |at: usize| publishing(&dying, &attempts[at], &[7], None).unwrap();
    dying.publish(vec![publish(0)]).remove(0).unwrap();
    std::mem::forget(publish(1));
    // As if the ledger had not heard of the commit.
    let connection = rusqlite::Connection::open(database(&scene)).unwrap();
    connection.execute("UPDATE om_attempts SET state = 'open', ended = NULL", []).unwrap();
    let found = scene.warehouse.resolve().unwrap();
    let told: Vec<_> = found.iter().map(|one| (one.attempt.id, one.outcome.as_str(), one.staged)).collect();
    assert_eq!(told, [(attempts[0].id, "committed", 0), (attempts[1].id, "failed", 1)]);
    assert_eq!(scene.warehouse.gc(oncemore_core::Instant::MAX).unwrap().fenced, 1);
    assert_eq!(scene.ids(), [7]);
}

/// The clock was an hour ahead, or another host's was, and is right now: changes that make no snapshot (columns, stamps
/// alone, fences) are dated after what is there, as those with one are.
#[test]
fn a_clock_that_was_set_back_stops_no_commit() {
    let scene = Scene::new();
    // The library looks at the machine's clock: far beyond it.
    scene.world.now.store(4_000_000_000_000_000, Ordering::Relaxed);
    for version in 1..4 {
        scene.replace(day(0), &[version]).unwrap();
    }
    scene.world.now.store(START, Ordering::Relaxed);
    let before = metadata(&scene.warehouse);
    let files = |metadata: &serde_json::Value| metadata["metadata-log"].as_array().unwrap().len();
    scene.replace(day(0), &[3]).unwrap();
    scene.replace(day(1), &[4]).unwrap();
    std::mem::forget(stage(&scene.warehouse, &attempt(&scene.warehouse, day(5)).unwrap(), &[9]).unwrap());
    let mut fields = rows(&[]).schema().fields().to_vec();
    fields.push(Arc::new(Field::new("more", DataType::Int64, true)));
    scene.warehouse.ensure_table(&table(), &Schema::new(fields), &key(), true).unwrap();
    scene.other(2).gc(Instant::MAX).unwrap();
    let after = metadata(&scene.warehouse);
    assert_eq!((scene.ids(), files(&after)), (vec![3, 4], files(&before) + 4));
    assert!(after["last-updated-ms"].as_i64() > before["last-updated-ms"].as_i64());
    assert_eq!(after["snapshot-log"].as_array().unwrap().len(), 4);
    check_totals(&scene.warehouse);
}
