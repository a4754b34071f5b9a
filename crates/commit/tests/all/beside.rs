//! What another process does between any two calls of ours: clean-ups and rebuilds beside commits, commits beside
//! them, and hints for readers that come late.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use oncemore_commit::{Faults, Step, Warehouse, When};
use oncemore_core::{Instant, TableName};

use crate::folds;
use crate::rebuilt;
use crate::support::{Scene, attempt, code, day, ids, key, living, publishing, replace, rows, stamp, table};

type Deed = Box<dyn FnOnce() + Send>;

/// Does something once, when a call is about to happen.
#[derive(Default)]
struct Beside {
    deed: Mutex<Option<Deed>>,
    only: Option<Step>,
    calls: AtomicUsize,
    at: AtomicUsize,
}

impl std::fmt::Debug for Beside {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Beside")
    }
}

impl Beside {
    fn new(only: Option<Step>) -> Arc<Self> {
        Arc::new(Beside { only, ..Beside::default() })
    }

    /// At the `call`th call from now on.
    fn arm(&self, call: usize, deed: impl FnOnce() + Send + 'static) {
        self.calls.store(0, Ordering::Relaxed);
        self.at.store(call, Ordering::Relaxed);
        *self.deed.lock().unwrap() = Some(Box::new(deed));
    }

    /// Whether it was done.
    fn is_done(&self) -> bool {
        self.deed.lock().unwrap().take().is_none()
    }
}

impl Faults for Beside {
    fn at(&self, step: Step, when: When) -> io::Result<()> {
        // While a transaction is open others wait: nothing happens beside what is done in one.
        let locked = matches!(step, Step::Commit | Step::Note | Step::Remove);
        if when == When::After || locked || self.only.is_some_and(|only| only != step) {
            return Ok(());
        }
        if self.calls.fetch_add(1, Ordering::Relaxed) == self.at.load(Ordering::Relaxed) {
            let deed = self.deed.lock().unwrap().take();
            deed.into_iter().for_each(|deed| deed());
        }
        Ok(())
    }
}

/// Does it `once` for each call at which something else may come between, until there is none; there are more than `few`.
fn at_each_call(few: usize, once: impl Fn(usize) -> bool) {
    let calls = (0..).take_while(|call| once(*call)).count();
    assert!(calls > few, "{calls} calls");
}

fn watched(scene: &Scene, beside: &Arc<Beside>) -> Warehouse {
    Warehouse::open_with(&scene.root(), living(2), Some(beside.clone())).unwrap()
}

fn other(scene: &Scene) -> Warehouse {
    Warehouse::open(&scene.root(), living(3)).unwrap()
}

fn pointer(scene: &Scene, table: &TableName) -> PathBuf {
    let connection = rusqlite::Connection::open(scene.root().join("oncemore.db")).unwrap();
    let sql = "SELECT metadata_location FROM iceberg_tables WHERE table_namespace = ?1 AND table_name = ?2";
    let found: String = connection.query_row(sql, [table.schema(), table.name()], |row| row.get(0)).unwrap();
    PathBuf::from(found)
}

fn hint(scene: &Scene, table: &TableName) -> PathBuf {
    let folder =
        scene.root().canonicalize().unwrap().join(table.schema()).join(table.name()).join("metadata");
    let stem = fs::read_to_string(folder.join("version-hint.text")).unwrap_or_default();
    folder.join(format!("{stem}.metadata.json"))
}

#[test]
fn a_clean_up_at_any_moment_of_a_publish_takes_nothing_that_it_needs() {
    let once = |call: usize| -> bool {
        let scene = Scene::new();
        scene.replace(day(0), &[1, 2]).unwrap();
        let beside = Beside::new(None);
        let own = watched(&scene, &beside);
        let beside_it = other(&scene);
        beside.arm(call, move || drop(beside_it.gc(Instant::MAX)));
        let answer = replace(&own, day(0), &[3]);
        let is_done = beside.is_done();
        answer.unwrap();
        assert_eq!(ids(&scene.other(4)), [3], "call {call}");
        scene.replace(day(0), &[4]).unwrap();
        assert_eq!(scene.ids(), [4], "call {call}");
        is_done
    };
    at_each_call(10, once);
}

#[test]
fn a_clean_up_beside_a_change_of_columns_leaves_its_metadata() {
    let scene = Scene::new();
    let beside = Beside::new(Some(Step::Begin));
    let own = watched(&scene, &beside);
    let beside_it = other(&scene);
    beside.arm(0, move || drop(beside_it.gc(Instant::MAX)));
    own.ensure_table(&table(), folds::wider(rows(&[]).schema_ref()).as_ref(), &key(), true).unwrap();
    assert!(beside.is_done());
    assert!(pointer(&scene, &table()).exists());
    scene.other(4).stamps(&table()).unwrap();
}

#[test]
fn a_publish_that_ends_at_any_moment_of_a_clean_up_keeps_its_files() {
    let once = |call: usize| -> bool {
        let scene = folds::scene();
        folds::publish_day(&scene.warehouse, 0, 1);
        // One has written all its files, and is about to commit.
        let (halt, beside) = (Beside::new(Some(Step::Begin)), Beside::new(None));
        let publisher = Warehouse::open_with(&scene.root(), living(3), Some(halt.clone())).unwrap();
        let own = watched(&scene, &beside);
        let publish = folds::staged_day(&publisher, 0, 2);
        let (written, is_written) = mpsc::channel();
        let (go, may_go) = mpsc::channel();
        let (ended, has_ended) = mpsc::channel();
        halt.arm(0, move || {
            written.send(()).unwrap();
            may_go.recv().unwrap();
        });
        let published = std::thread::spawn(move || {
            let answer = publisher.publish(vec![publish]).remove(0);
            // Nobody may wait for it any more.
            let _ = ended.send(());
            answer
        });
        is_written.recv().unwrap();
        // It does so while the clean-up is at work.
        let late = go.clone();
        beside.arm(call, move || {
            go.send(()).unwrap();
            has_ended.recv().unwrap();
        });
        own.gc(Instant::MAX).unwrap();
        let is_done = beside.is_done();
        // The publisher may be gone, done.
        let _ = late.send(());
        published.join().unwrap().unwrap();
        for name in ["gold.things", "gold.things__changes", "gold.things__deleted"] {
            let head = scene.other(4).head(&name.parse().unwrap()).unwrap().unwrap();
            for file in head.all_files() {
                assert!(Path::new(&file.path).exists(), "call {call}: {}", file.path);
            }
        }
        is_done
    };
    at_each_call(10, once);
}

#[test]
fn one_clean_up_is_enough() {
    let scene = folds::scene();
    folds::publish_day(&scene.warehouse, 0, 1);
    let folder = scene.root().join("gold/things__deleted/data/all");
    fs::create_dir_all(&folder).unwrap();
    // Attempts that died when only the table beside the state was written: each gets a fence in the log, and the
    // second one's map takes the place of the first one's.
    for number in 1..=2 {
        let name = format!("om-9999999999999.{number}-{number:032x}-19700101T000000Z-b0.0-0.parquet");
        fs::write(folder.join(name), "rows").unwrap();
        scene.warehouse.gc(Instant::MAX).unwrap();
    }
    let again = scene.warehouse.gc(Instant::MAX).unwrap();
    assert_eq!((again.files, again.kept, again.fenced), (0, 0, 0));
}

#[test]
fn two_clean_ups_at_once_leave_each_other_what_they_write() {
    let once = |call: usize| -> bool {
        let scene = Scene::new();
        scene.replace(day(0), &[1]).unwrap();
        let dying = scene.other(5);
        let attempt = attempt(&dying, day(0)).unwrap();
        drop(publishing(&dying, &attempt, &[9], None).map(std::mem::forget));
        let beside = Beside::new(None);
        let own = watched(&scene, &beside);
        let beside_it = other(&scene);
        beside.arm(call, move || drop(beside_it.gc(Instant::MAX)));
        own.gc(Instant::MAX).unwrap();
        assert_eq!(ids(&scene.other(4)), [1], "call {call}");
        scene.replace(day(0), &[2]).unwrap();
        assert_eq!(ids(&scene.other(4)), [2], "call {call}");
        beside.is_done()
    };
    at_each_call(5, once);
}

#[test]
fn what_a_dead_process_left_beside_notes_goes() {
    let scene = Scene::new();
    scene.warehouse.source_put("raw.events", b"{}").unwrap();
    let folder = scene.root().join(".sources");
    fs::write(folder.join(format!(".{:032x}", 5)), "half").unwrap();
    scene.warehouse.gc(Instant::MAX).unwrap();
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["raw.events.json"]);
}

#[test]
fn a_note_is_kept_beside_a_clean_up() {
    let scene = Scene::new();
    let folder = scene.root().join(".sources");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // What a clean-up does that counts nothing as too young, only oftener.
            while !done.load(Ordering::Relaxed) {
                for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                    if entry.file_name().to_string_lossy().starts_with('.') {
                        drop(fs::remove_file(entry.path()));
                    }
                }
            }
        });
        let kept = (0..200).try_for_each(|_| scene.warehouse.source_put("raw.events", b"{}"));
        done.store(true, Ordering::Relaxed);
        kept.unwrap();
    });
    assert_eq!(scene.warehouse.source_get("raw.events").unwrap().as_deref(), Some(&b"{}"[..]));
}

#[test]
fn a_hint_that_comes_late_names_the_newest() {
    let once = |call: usize| -> bool {
        let scene = Scene::new();
        let beside = Beside::new(None);
        let own = watched(&scene, &beside);
        let beside_it = other(&scene);
        beside.arm(call, move || drop(replace(&beside_it, day(1), &[2])));
        replace(&own, day(0), &[1]).unwrap();
        assert_eq!(hint(&scene, &table()), pointer(&scene, &table()), "call {call}");
        beside.is_done()
    };
    at_each_call(10, once);
}

#[test]
fn a_hint_that_a_crash_left_behind_is_put_right() {
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    let before = fs::read(hint(&scene, &table()).with_file_name("version-hint.text")).unwrap();
    scene.replace(day(0), &[2]).unwrap();
    fs::write(hint(&scene, &table()).with_file_name("version-hint.text"), before).unwrap();
    scene.other(2).resolve().unwrap();
    assert_eq!(hint(&scene, &table()), pointer(&scene, &table()));
}

#[test]
fn a_publish_at_any_moment_of_a_rebuild_stays() {
    let once = |call: usize| -> bool {
        let scene = Scene::new();
        scene.replace(day(0), &[1]).unwrap();
        let beside = Beside::new(None);
        let own = watched(&scene, &beside);
        let beside_it = other(&scene);
        let late = attempt(&beside_it, day(0)).unwrap();
        let publish = publishing(&beside_it, &late, &[2], None).unwrap();
        beside.arm(call, move || drop(beside_it.publish(vec![publish])));
        own.rebuild_ledger().unwrap();
        let is_done = beside.is_done();
        let again = scene.other(4);
        assert_eq!(ids(&again), if is_done { [2] } else { [1] }, "call {call}");
        assert_eq!(stamp(&again, day(0)).unwrap().attempt == late.id, is_done, "call {call}");
        is_done
    };
    at_each_call(3, once);
}

/// A table, and all of it built anew beside it.
fn built_anew() -> Scene {
    let scene = Scene::new();
    scene.replace(day(0), &[9]).unwrap();
    rebuilt::begin(&scene.warehouse).unwrap();
    scene
}

/// The table holds these rows, also once all else is cleaned up.
#[track_caller]
fn holds(scene: &Scene, expected: &[i64], told: &str) {
    assert_eq!(ids(&scene.other(4)), expected, "{told}");
    scene.other(5).gc(Instant::MAX).unwrap();
    assert_eq!(ids(&scene.other(6)), expected, "{told}");
}

#[test]
fn a_clean_up_at_any_moment_of_a_swap_takes_nothing_that_it_needs() {
    let once = |call: usize| -> bool {
        let scene = built_anew();
        let beside = Beside::new(None);
        let own = watched(&scene, &beside);
        let beside_it = other(&scene);
        beside.arm(call, move || drop(beside_it.gc(Instant::MAX)));
        own.swap_rebuilt(&table(), false).unwrap().unwrap();
        let is_done = beside.is_done();
        holds(&scene, &[1, 2, 3], &format!("call {call}"));
        is_done
    };
    at_each_call(10, once);
}

/// What comes into the new table before the swap is swapped in with it, what comes later is refused; what comes into the
/// old one is behind the new one in any case.
#[test]
fn a_publish_at_any_moment_of_a_swap_is_in_it_or_refused() {
    let once = |call: usize, into_new: bool| -> bool {
        let scene = built_anew();
        let beside = Beside::new(None);
        let own = watched(&scene, &beside);
        let beside_it = other(&scene);
        let (target, slice) = if into_new { (rebuilt::built(), rebuilt::pair(0)) } else { (table(), day(0)) };
        let request = beside_it.begin_request(None).unwrap();
        let late = beside_it.begin_attempts(request, &[(target, slice, code(2))]).unwrap().remove(0);
        let publish = publishing(&beside_it, &late, &[7], None).unwrap();
        let (told, landed) = mpsc::channel();
        beside.arm(call, move || told.send(beside_it.publish(vec![publish]).remove(0).is_ok()).unwrap());
        own.swap_rebuilt(&table(), false).unwrap().unwrap();
        let is_done = beside.is_done();
        let expected = if into_new && landed.try_recv() == Ok(true) { vec![7] } else { vec![1, 2, 3] };
        holds(&scene, &expected, &format!("call {call}, {into_new}"));
        is_done
    };
    for into_new in [true, false] {
        at_each_call(10, |call| once(call, into_new));
    }
}

/// What was built may be in its place already, and its files gone from where they were built.
#[test]
fn another_swap_and_a_clean_up_at_any_moment_of_a_swap_do_no_harm() {
    let once = |call: usize| -> bool {
        let scene = built_anew();
        let beside = Beside::new(None);
        let own = watched(&scene, &beside);
        let beside_it = other(&scene);
        beside.arm(call, move || {
            drop(beside_it.swap_rebuilt(&table(), false));
            drop(beside_it.gc(Instant::MAX));
        });
        own.swap_rebuilt(&table(), false).unwrap();
        let is_done = beside.is_done();
        holds(&scene, &[1, 2, 3], &format!("call {call}"));
        is_done
    };
    at_each_call(10, once);
}

/// A clean-up may take the folders of an earlier rebuild while another one begins in them.
#[test]
fn a_clean_up_at_any_moment_of_a_beginning_leaves_its_folders() {
    let once = |call: usize| -> bool {
        let scene = built_anew();
        scene.other(2).swap_rebuilt(&table(), false).unwrap().unwrap();
        let beside = Beside::new(None);
        let own = watched(&scene, &beside);
        let beside_it = other(&scene);
        beside.arm(call, move || drop(beside_it.gc(Instant::MAX)));
        own.ensure_table(&rebuilt::built(), rows(&[]).schema_ref(), &key(), true).unwrap();
        let is_done = beside.is_done();
        assert!(hint(&scene, &rebuilt::built()).exists(), "call {call}");
        is_done
    };
    at_each_call(4, once);
}
