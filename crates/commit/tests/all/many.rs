//! Many writers, many commits.

use std::process::Command;
use std::time::Instant as Clock;

use oncemore_commit::{CommitError, Warehouse};

use crate::support::publishing;
use crate::support::{START, Scene, check_totals, day, ids, metadata, replace, stamp, table, world};

#[test]
fn threads_on_disjoint_slices_lose_nothing() {
    let scene = Scene::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let warehouse = scene.other(10 + thread as u64);
            scope.spawn(move || {
                for number in 0..6 {
                    let slice = thread * 6 + number;
                    replace(&warehouse, day(slice), &[slice]).unwrap();
                }
            });
        }
    });
    assert_eq!(scene.ids(), (0..24).collect::<Vec<_>>());
    assert_eq!(scene.warehouse.stamps(&table()).unwrap().len(), 24);
    check_totals(&scene.warehouse);
}

#[test]
fn threads_on_the_same_slice_leave_the_latest_request() {
    let scene = Scene::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let warehouse = scene.other(10 + thread as u64);
            scope.spawn(move || {
                for number in 0..5 {
                    match replace(&warehouse, day(0), &[thread * 10 + number]) {
                        Ok(_) | Err(CommitError::Superseded { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    let live = scene.ids();
    assert_eq!(live.len(), 1);
    let stamp = scene.stamp(day(0)).unwrap();
    let attempts = scene.warehouse.attempts(&table(), day(0)).unwrap();
    let mut committed = attempts.iter().filter(|row| row.state == oncemore_commit::AttemptState::Committed);
    assert_eq!(committed.next_back().unwrap().attempt.id, stamp.attempt);
    assert_eq!(attempts.iter().map(|row| row.attempt.epoch).max().unwrap(), stamp.epoch);
    check_totals(&scene.warehouse);
}

const CHILD: &str = "ONCEMORE_TEST_CHILD";

/// Not a test of its own: what the processes of the test below run.
#[test]
fn child_publishes() {
    let Ok(told) = std::env::var(CHILD) else { return };
    let (number, root) = told.split_once(':').unwrap();
    let number: i64 = number.parse().unwrap();
    let warehouse = Warehouse::open(root.as_ref(), world(100 + number as u64)).unwrap();
    for slice in 0..8 {
        replace(&warehouse, day(number * 8 + slice), &[number * 8 + slice]).unwrap();
        match replace(&warehouse, day(500), &[1_000 + number]) {
            Ok(_) | Err(CommitError::Superseded { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn processes_share_a_warehouse() {
    let scene = Scene::new();
    let root = scene.root();
    let children: Vec<_> = (0..2)
        .map(|number| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "many::child_publishes"])
                .env(CHILD, format!("{number}:{}", root.display()))
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let all = scene.ids();
    assert_eq!(all[..16], (0..16).collect::<Vec<_>>());
    assert_eq!(all.len(), 17);
    check_totals(&scene.warehouse);
}

#[test]
fn a_clock_set_back_stops_nobody() {
    let scene = Scene::new();
    // Milliseconds, so that numbers of a ledger made anew go on, too.
    let number = scene.warehouse.begin_request(None).unwrap() as i64 - START / 1_000;
    assert!((0..1_000).contains(&number), "{number}");
    scene.replace(day(0), &[1]).unwrap();
    scene.world.now.store(START - 3_600_000_000, std::sync::atomic::Ordering::Relaxed);
    scene.replace(day(0), &[2]).unwrap();
    scene.replace(day(1), &[3]).unwrap();
    assert_eq!(scene.ids(), [2, 3]);
    scene.world.now.store(-5, std::sync::atomic::Ordering::Relaxed);
    scene.replace(day(0), &[4]).unwrap();
    assert_eq!(ids(&scene.other(2)), [3, 4]);
}

/// A commit an hour for ten days: the newest twenty are there, and one of each six hours of the last seven days.
#[test]
fn snapshots_of_the_last_days_are_kept_and_thinned() {
    const HOUR_MS: i64 = 3_600_000;
    let scene = Scene::new();
    for number in 0..240 {
        let now = START + number * HOUR_MS * 1_000;
        scene.world.now.store(now, std::sync::atomic::Ordering::Relaxed);
        scene.replace(day(0), &[number]).unwrap();
    }
    let metadata = metadata(&scene.warehouse);
    let time = |snapshot: &serde_json::Value| snapshot["timestamp-ms"].as_i64().unwrap();
    let mut hours: Vec<i64> = metadata["snapshots"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| (time(s) - START / 1_000) / HOUR_MS)
        .collect();
    hours.sort_unstable();
    assert_eq!(hours[hours.len() - 20..], (220..240).collect::<Vec<_>>());
    let older = &hours[..hours.len() - 20];
    assert!(older.iter().all(|hour| *hour >= 239 - 7 * 24), "{older:?}");
    let stretch = |hour: &i64| (START / 1_000 / HOUR_MS + hour).div_euclid(6);
    let stretches: std::collections::BTreeSet<i64> = older.iter().map(stretch).collect();
    assert_eq!(stretches.len(), older.len(), "{older:?}");
    assert!((24..=28).contains(&older.len()), "{older:?}");
    assert_eq!(scene.ids(), [239]);
    check_totals(&scene.warehouse);
}

/// The cost of a commit does not grow with the number of commits.
#[test]
fn four_hundred_commits_stay_flat() {
    let scene = Scene::new();
    let mut times = Vec::new();
    for number in 0..400 {
        let start = Clock::now();
        scene.replace(day(number), &[number]).unwrap();
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let metadata = metadata(&scene.warehouse);
    let bytes = metadata.to_string().len();
    let snapshots = metadata["snapshots"].as_array().unwrap();
    assert!(snapshots.len() <= 20 && bytes < 40_000, "{} snapshots, {bytes} bytes", snapshots.len());
    let list = snapshots.iter().find(|s| s["snapshot-id"] == metadata["current-snapshot-id"]).unwrap();
    let list = std::fs::read(list["manifest-list"].as_str().unwrap()).unwrap();
    let list =
        iceberg::spec::ManifestList::parse_with_version(&list, iceberg::spec::FormatVersion::V2).unwrap();
    assert!(list.entries().len() <= 40, "{} manifests", list.entries().len());
    assert_eq!(scene.ids().len(), 400);
    check_totals(&scene.warehouse);
    let median = |times: &[f64]| {
        let mut times = times.to_vec();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let (first, last) = (median(&times[..50]), median(&times[350..]));
    // Loose: machines are shared. Exact figures are the benchmark's.
    assert!(last < first * 3.0 + 5.0, "first {first:.1} ms, last {last:.1} ms");
    let overwrite = Clock::now();
    scene.replace(day(3), &[-3]).unwrap();
    let overwrite = overwrite.elapsed().as_secs_f64() * 1e3;
    let other = scene.other(2);
    let look = Clock::now();
    assert_eq!(other.stamps(&table()).unwrap().len(), 400);
    let look = look.elapsed().as_secs_f64() * 1e3;
    let head = Clock::now();
    assert_eq!(other.head(&table()).unwrap().unwrap().all_files().len(), 400);
    let head = head.elapsed().as_secs_f64() * 1e3;
    assert!(stamp(&other, day(3)).is_some());
    let mut out = std::io::stderr();
    let text = format!(
        "commit: first 50 {first:.1} ms, last 50 {last:.1} ms, old slice {overwrite:.1} ms; stamps of 400 {look:.1} ms, \
         head {head:.1} ms; metadata {bytes} bytes, {} manifests\n",
        list.entries().len()
    );
    std::io::Write::write_all(&mut out, text.as_bytes()).unwrap();
}

/// Ten thousand slices: read at once, and a commit that writes a page of them.
#[test]
fn ten_thousand_stamps_are_read_in_milliseconds() {
    let scene = Scene::new();
    let warehouse = &scene.warehouse;
    let request = warehouse.begin_request(None).unwrap();
    let tasks: Vec<_> = (0..10_000).map(|slice| (table(), day(slice), crate::support::code(1))).collect();
    let attempts = warehouse.begin_attempts(request, &tasks).unwrap();
    let group = attempts.iter().map(|attempt| publishing(warehouse, attempt, &[], None).unwrap());
    assert!(warehouse.publish(group.collect()).iter().all(Result::is_ok));
    let commit = Clock::now();
    scene.replace(day(5_000), &[1]).unwrap();
    let commit = commit.elapsed().as_secs_f64() * 1e3;
    let open = Clock::now();
    let other = scene.other(2);
    let open = open.elapsed().as_secs_f64() * 1e3;
    let read = Clock::now();
    assert_eq!(other.stamps(&table()).unwrap().len(), 10_000);
    let read = read.elapsed().as_secs_f64() * 1e3;
    assert!(read < 500.0, "{read:.1} ms");
    let text = format!("10,000 slices: open {open:.1} ms, stamps {read:.1} ms, commit {commit:.1} ms\n");
    std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes()).unwrap();
}
