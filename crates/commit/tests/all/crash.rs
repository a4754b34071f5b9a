//! Every call to disk and catalog fails once, before or after it took effect, with the process going on or dying:
//! what readers see is the old or the new, the answer is true, and a retry converges.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use oncemore_commit::{AttemptState, CommitError, Faults, Published, Step, Warehouse, When};
use oncemore_core::{Instant, SliceState};

use crate::support::{
    Scene, attempt, by_slice, check_totals, day, ids, key, publishing, replace, rows, table, world,
};

#[derive(Debug, Default)]
pub(crate) struct Failing {
    armed: AtomicBool,
    seen: AtomicUsize,
    fail_at: AtomicUsize,
    dies: AtomicBool,
}

impl Failing {
    /// From now on the `fail_at`th call fails, and where the process dies all after it.
    pub(crate) fn arm(&self, fail_at: usize, dies: bool) {
        self.fail_at.store(fail_at, Ordering::Relaxed);
        self.dies.store(dies, Ordering::Relaxed);
        self.armed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn disarm(&self) {
        self.armed.store(false, Ordering::Relaxed);
    }

    /// Whether there were as many calls.
    pub(crate) fn reached(&self, fail_at: usize) -> bool {
        self.seen.load(Ordering::Relaxed) > fail_at
    }
}

impl Faults for Failing {
    fn at(&self, _: Step, _: When) -> io::Result<()> {
        if !self.armed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let seen = self.seen.fetch_add(1, Ordering::Relaxed);
        let at = self.fail_at.load(Ordering::Relaxed);
        let fails = if self.dies.load(Ordering::Relaxed) { seen >= at } else { seen == at };
        if fails { Err(io::Error::other("injected")) } else { Ok(()) }
    }
}

/// Publishes two slices with the `fail_at`th call failing; false when there were fewer calls.
fn one(fail_at: usize, dies: bool) -> bool {
    let faults = Arc::new(Failing::default());
    let scene = Scene::empty(Some(faults.clone()));
    let warehouse = &scene.warehouse;
    warehouse.ensure_table(&table(), rows(&[]).schema_ref(), &key(), true).unwrap();
    scene.replace(day(0), &[1, 2]).unwrap();
    scene.replace(day(1), &[3]).unwrap();
    faults.arm(fail_at, dies);
    let outcome = both(warehouse);
    let reached = faults.reached(fail_at);
    faults.disarm();
    let other = scene.other(2);
    let now = by_slice(&other);
    let (old, new) = (vec![vec![1, 2], vec![3]], vec![vec![4], vec![5, 6]]);
    let now: Vec<Vec<i64>> = now.into_values().collect();
    match outcome.map_err(|error| error.slice_state()) {
        Ok(()) => assert_eq!(now, new, "call {fail_at}"),
        Err(SliceState::Unchanged) => assert_eq!(now, old, "call {fail_at}"),
        Err(_) => assert!(now == old || now == new, "call {fail_at}"),
    }
    check_totals(&other);
    for resolved in other.resolve().unwrap() {
        let published = now == new;
        assert_eq!(resolved.outcome == AttemptState::Committed, published, "call {fail_at}");
    }
    assert_eq!(other.resolve().unwrap(), []);
    replace(&other, day(0), &[4]).unwrap();
    replace(&other, day(1), &[5, 6]).unwrap();
    assert_eq!(ids(&other), [4, 5, 6]);
    check_totals(&other);
    other.gc(Instant::MAX).unwrap();
    assert_eq!(ids(&other), [4, 5, 6]);
    let again = other.gc(Instant::MAX).unwrap();
    assert_eq!((again.files, again.kept), (0, 0), "call {fail_at}");
    reached
}

fn both(warehouse: &Warehouse) -> Result<(), CommitError> {
    let first = attempt(warehouse, day(0))?;
    let second = attempt(warehouse, day(1))?;
    let group =
        vec![publishing(warehouse, &first, &[4], None)?, publishing(warehouse, &second, &[5, 6], None)?];
    warehouse.publish(group).into_iter().try_for_each(|answer| answer.map(|_| ()))
}

#[test]
fn every_call_fails_once() {
    let calls = (0..).take_while(|call| one(*call, false)).count();
    assert!(calls > 30, "{calls} calls");
}

#[test]
fn the_process_dies_at_every_call() {
    let calls = (0..).take_while(|call| one(*call, true)).count();
    assert!(calls > 30, "{calls} calls");
}

#[test]
fn files_of_a_dead_attempt_go_after_its_fence_and_it_can_never_publish() {
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    let dying = scene.other(2);
    let attempt = attempt(&dying, day(0)).unwrap();
    let publish = publishing(&dying, &attempt, &[9], None).unwrap();
    // Seen from a process that takes the other one for dead.
    let cleaned = scene.warehouse.gc(Instant::MAX).unwrap();
    assert_eq!((cleaned.fenced, cleaned.kept), (1, 0));
    let error = dying.publish(vec![publish]).remove(0).unwrap_err();
    assert!(matches!(error, CommitError::Superseded { .. }), "{error}");
    assert_eq!(scene.ids(), [1]);
    assert!(matches!(scene.replace(day(0), &[2]).unwrap(), Published::Replaced { .. }));
}

#[test]
fn staged_files_of_a_living_attempt_stay() {
    let scene = Scene::new();
    let attempt = attempt(&scene.warehouse, day(0)).unwrap();
    let publish = publishing(&scene.warehouse, &attempt, &[9], None).unwrap();
    let cleaned = scene.warehouse.gc(Instant::MAX).unwrap();
    assert_eq!((cleaned.fenced, cleaned.kept), (0, 1));
    scene.warehouse.publish(vec![publish]).remove(0).unwrap();
    assert_eq!(scene.ids(), [9]);
}

#[test]
fn a_writer_that_is_dropped_leaves_nothing() {
    let scene = Scene::new();
    let attempt = attempt(&scene.warehouse, day(0)).unwrap();
    drop(publishing(&scene.warehouse, &attempt, &[9], None).unwrap());
    let left = std::fs::read_dir(scene.root().join("silver/flights/data")).unwrap().flatten();
    assert_eq!(left.map(|folder| std::fs::read_dir(folder.path()).unwrap().count()).sum::<usize>(), 0);
    let _ = world(9);
}
