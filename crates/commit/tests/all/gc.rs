//! Clean-up beside writers and readers at work: what is under way lands, what is open is read to its end, and nothing is
//! left over once all have ended.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use oncemore_commit::{CommitError, Faults, Step, Warehouse, When, process_name};
use oncemore_core::Instant;

use crate::support::{
    START, Scene, attempt, by_slice, check_totals, day, ids, publishing, read_ids, replace, world_of,
};

/// Does something once, just before the writer's transaction begins.
#[derive(Default)]
struct Meanwhile(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl fmt::Debug for Meanwhile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Meanwhile")
    }
}

impl Faults for Meanwhile {
    fn at(&self, step: Step, when: When) -> io::Result<()> {
        if (step, when) == (Step::Begin, When::Before)
            && let Some(work) = self.0.lock().unwrap().take()
        {
            work();
        }
        Ok(())
    }
}

/// A process that lives: this one, with other ids.
fn living(scene: &Scene, number: u64, faults: Option<Arc<dyn Faults>>) -> Warehouse {
    let world = world_of(number, &process_name("here", std::process::id()));
    Warehouse::open_with(&scene.root(), world, faults).unwrap()
}

/// The files of a commit are written and the pointer has not moved: they must not go.
#[test]
fn a_commit_under_way_keeps_its_files() {
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    let meanwhile = Arc::new(Meanwhile::default());
    let writer = living(&scene, 20, Some(meanwhile.clone()));
    let cleaner = living(&scene, 21, None);
    let slow = attempt(&writer, day(0)).unwrap();
    let publish = publishing(&writer, &slow, &[2], None).unwrap();
    *meanwhile.0.lock().unwrap() = Some(Box::new(move || {
        cleaner.gc(Instant::MAX).unwrap();
    }));
    writer.publish(vec![publish]).remove(0).unwrap();
    assert!(meanwhile.0.lock().unwrap().is_none());
    // Seen by one that has nothing of it in memory.
    let other = scene.other(2);
    assert_eq!(ids(&other), [2]);
    check_totals(&other);
    other.gc(Instant::MAX).unwrap();
    let again = other.gc(Instant::MAX).unwrap();
    assert_eq!((again.files, again.kept, again.waiting), (0, 0, 0));
    assert_eq!(ids(&scene.other(3)), [2]);
}

/// A reader holds a snapshot that expires while it reads: its files stay for the time that they have from then on,
/// however old they are.
#[test]
fn a_reader_of_an_expired_snapshot_finishes() {
    const HOUR: i64 = 3_600_000_000;
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    // Past the days of which a snapshot is kept.
    scene.world.now.store(START + 240 * HOUR, Ordering::Relaxed);
    let opened = scene.warehouse.head(&crate::support::table()).unwrap().unwrap();
    for number in 0..25 {
        scene.replace(day(0), &[number]).unwrap();
    }
    let an_hour_ago = |scene: &Scene| Instant(scene.world.now.load(Ordering::Relaxed) - HOUR);
    for _ in 0..2 {
        let cleaned = scene.warehouse.gc(an_hour_ago(&scene)).unwrap();
        assert!(cleaned.files == 0 && cleaned.waiting > 0, "{cleaned:?}");
    }
    let old = Path::new(&opened.all_files()[0].path);
    assert_eq!(read_ids(old), [1]);
    scene.world.now.fetch_add(2 * HOUR, Ordering::Relaxed);
    let cleaned = scene.warehouse.gc(an_hour_ago(&scene)).unwrap();
    assert!(cleaned.files > 0 && cleaned.waiting == 0, "{cleaned:?}");
    assert!(!old.exists());
    assert_eq!(scene.ids(), [24]);
}

/// Writers that publish, writers that die with files staged, and clean-up without any delay, all at once.
#[test]
fn clean_up_in_a_loop_beside_writers_harms_nobody() {
    let scene = Scene::new();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let cleaner = living(&scene, 30, None);
        let done = &done;
        let cleaning = scope.spawn(move || {
            let mut rounds = 0;
            while !done.load(Ordering::Acquire) {
                cleaner.gc(Instant::MAX).unwrap();
                rounds += 1;
                // Without a pause it takes the files of each commit before that gets to the catalog.
                std::thread::sleep(Duration::from_millis(150));
            }
            rounds
        });
        let writers: Vec<_> = (0..2_i64)
            .map(|writer| {
                let warehouse = living(&scene, 40 + writer as u64, None);
                let dead =
                    Warehouse::open(&scene.root(), world_of(50 + writer as u64, "here:4194305:1")).unwrap();
                scope.spawn(move || {
                    for number in 0..4 {
                        let slice = writer * 4 + number % 4;
                        // Its files are staged, and nobody ends it.
                        let left = attempt(&dead, day(slice)).unwrap();
                        std::mem::forget(publishing(&dead, &left, &[-1], None).unwrap());
                        match replace(&warehouse, day(slice), &[writer * 100 + number]) {
                            // Fenced against one that came before it and looked dead: it is tried again.
                            Ok(_) | Err(CommitError::Superseded { .. }) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                    for slice in 0..4 {
                        replace(&warehouse, day(writer * 4 + slice), &[writer * 4 + slice]).unwrap();
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        done.store(true, Ordering::Release);
        assert!(cleaning.join().unwrap() > 0);
    });
    let other = scene.other(2);
    assert_eq!(by_slice(&other).into_values().flatten().collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    check_totals(&other);
    other.gc(Instant::MAX).unwrap();
    let again = other.gc(Instant::MAX).unwrap();
    assert_eq!((again.files, again.kept, again.waiting), (0, 0, 0));
    assert_eq!(ids(&scene.other(3)), (0..8).collect::<Vec<_>>());
}
