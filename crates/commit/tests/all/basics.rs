//! Slices replaced, emptied, left as they are.

use oncemore_commit::{Change, CommitError, OnTie, Publish, Published, Warehouse};
use oncemore_core::{Instant, Origin, Pin, SliceState, Stamp};

use crate::support::{Scene, attempt, check_totals, code, day, draft, ids, publishing, stamp, table};

#[test]
fn a_slice_is_replaced_and_its_neighbours_are_not() {
    let scene = Scene::new();
    for number in 0..5 {
        scene.replace(day(number), &[number * 10, number * 10 + 1]).unwrap();
        check_totals(&scene.warehouse);
    }
    let before = scene.stamp(day(1)).unwrap();
    scene.replace(day(2), &[7]).unwrap();
    assert_eq!(scene.ids(), [0, 1, 7, 10, 11, 30, 31, 40, 41]);
    assert_eq!(scene.stamp(day(1)).unwrap(), before);
    assert_eq!(scene.stamp(day(2)).unwrap().fingerprint.rows, 1);
    check_totals(&scene.warehouse);
    let other = scene.other(2);
    assert_eq!(ids(&other), scene.ids());
    assert_eq!(other.stamps(&table()).unwrap(), scene.warehouse.stamps(&table()).unwrap());
    let read_only = Warehouse::open_read_only(&scene.root(), crate::support::world(3)).unwrap();
    assert_eq!(ids(&read_only), scene.ids());
    let head = other.head(&table()).unwrap().unwrap();
    assert_eq!(head.files(day(2)).len(), 1);
    assert_eq!(head.schema.fields().len(), 3);
    assert_eq!(head.key, ["id"]);
}

#[test]
fn no_rows_empty_a_slice_and_stamp_it() {
    let scene = Scene::new();
    scene.replace(day(0), &[1, 2]).unwrap();
    scene.replace(day(1), &[3]).unwrap();
    scene.replace(day(0), &[]).unwrap();
    assert_eq!(scene.ids(), [3]);
    assert_eq!(scene.stamp(day(0)).unwrap().fingerprint.rows, 0);
    check_totals(&scene.warehouse);
    // Nothing there and nothing new: a stamp, no snapshot.
    assert_eq!(scene.replace(day(9), &[]).unwrap(), Published::Replaced { snapshot_id: None, ties: None });
    assert!(scene.stamp(day(9)).is_some());
    assert!(matches!(scene.replace(day(9), &[]).unwrap(), Published::Unchanged));
    scene.replace(day(9), &[5]).unwrap();
    assert_eq!(scene.ids(), [3, 5]);
    check_totals(&scene.warehouse);
    assert_eq!(scene.warehouse.stamps(&table()).unwrap(), scene.other(2).stamps(&table()).unwrap());
}

#[test]
fn equal_rows_change_the_stamp_alone() {
    let scene = Scene::new();
    scene.replace(day(0), &[1, 2]).unwrap();
    let before = scene.stamp(day(0)).unwrap();
    let files = scene.warehouse.head(&table()).unwrap().unwrap().all_files().to_vec();
    assert!(matches!(scene.replace(day(0), &[2, 1]).unwrap(), Published::Unchanged));
    let after = scene.stamp(day(0)).unwrap();
    assert!(after.epoch > before.epoch && after.verified_at > before.verified_at);
    assert_eq!(after.changed_at, before.changed_at);
    assert_eq!(scene.warehouse.head(&table()).unwrap().unwrap().all_files(), files);
    let staged = std::fs::read_dir(scene.root().join("silver/flights/data")).unwrap().flatten();
    let kept: usize = staged.map(|folder| std::fs::read_dir(folder.path()).unwrap().count()).sum();
    assert_eq!(kept, 1, "the second attempt's file is gone");
    assert_eq!(stamp(&scene.other(2), day(0)).unwrap(), after);
}

/// All that it says of the run is of the one that came last, but for who wrote the rows and when.
#[test]
fn a_stamp_alone_says_all_that_is_new() {
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    let before = scene.stamp(day(0)).unwrap();
    let again = attempt(&scene.warehouse, day(0)).unwrap();
    let mut publish = publishing(&scene.warehouse, &again, &[1], None).unwrap();
    let input = Pin { input: "raw.flights".to_owned(), version: code(7) };
    publish.stamp.code = code(8);
    publish.stamp.code_seen = Instant(9);
    publish.stamp.inputs = vec![input.clone()];
    publish.stamp.audits = code(10);
    publish.stamp.engine = "another".to_owned();
    publish.stamp.origin = Origin::Accepted { because: "looked at".to_owned() };
    assert_eq!(scene.warehouse.publish(vec![publish]).remove(0).unwrap(), Published::Unchanged);
    let wanted = Stamp {
        code: code(8),
        code_seen: Instant(9),
        inputs: vec![input],
        audits: code(10),
        epoch: again.epoch,
        attempt: again.id,
        verified_at: scene.stamp(day(0)).unwrap().verified_at,
        engine: "another".to_owned(),
        origin: Origin::Accepted { because: "looked at".to_owned() },
        ..before.clone()
    };
    assert_eq!(scene.stamp(day(0)).unwrap(), wanted);
    assert!(wanted.verified_at > before.verified_at);
}

#[test]
fn older_epochs_are_superseded_in_every_order() {
    let scene = Scene::new();
    let warehouse = &scene.warehouse;
    let older = attempt(warehouse, day(0)).unwrap();
    let newer = attempt(warehouse, day(0)).unwrap();
    let new = publishing(warehouse, &newer, &[2], None).unwrap();
    let old = publishing(warehouse, &older, &[1], None).unwrap();
    warehouse.publish(vec![new]).remove(0).unwrap();
    let error = warehouse.publish(vec![old]).remove(0).unwrap_err();
    assert!(matches!(&error, CommitError::Superseded { by, .. } if *by == newer.epoch), "{error}");
    assert_eq!(error.slice_state(), SliceState::Unchanged);
    assert_eq!(scene.ids(), [2]);
    let third = attempt(warehouse, day(0)).unwrap();
    warehouse.publish(vec![publishing(warehouse, &third, &[3], None).unwrap()]).remove(0).unwrap();
    assert_eq!(scene.ids(), [3]);
}

#[test]
fn a_restamp_needs_the_slice_that_was_looked_at() {
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    let looked = scene.stamp(day(0)).unwrap();
    let restamp = |expected| {
        let attempt = attempt(&scene.warehouse, day(0)).unwrap();
        let publish = Publish {
            table: table(),
            interval: day(0),
            stamp: draft(&attempt),
            change: Change::Restamp,
            expected,
            replace_foreign: false,
            read_back: false,
            on_tie: OnTie::Ignore,
            dated_by: None,
        };
        scene.warehouse.publish(vec![publish]).remove(0)
    };
    assert_eq!(restamp(Some(looked.attempt)).unwrap(), Published::Unchanged);
    let error = restamp(Some(looked.attempt)).unwrap_err();
    assert!(matches!(error, CommitError::Conflict { .. }) && error.is_retryable());
    assert_eq!(scene.stamp(day(0)).unwrap().changed_at, looked.changed_at);
}

#[test]
fn a_group_is_one_snapshot_and_each_item_has_its_answer() {
    let scene = Scene::new();
    let warehouse = &scene.warehouse;
    let late = attempt(warehouse, day(3)).unwrap();
    scene.replace(day(3), &[30]).unwrap();
    let request = warehouse.begin_request(Some("k")).unwrap();
    assert_eq!(warehouse.begin_request(Some("k")).unwrap(), request);
    let tasks: Vec<_> = (0..3).map(|number| (table(), day(number), crate::support::code(1))).collect();
    let attempts = warehouse.begin_attempts(request, &tasks).unwrap();
    let mut group: Vec<_> = attempts
        .iter()
        .map(|attempt| publishing(warehouse, attempt, &[attempt.epoch.attempt as i64], None).unwrap())
        .collect();
    group.push(publishing(warehouse, &late, &[31], None).unwrap());
    let answers = warehouse.publish(group);
    let Published::Replaced { snapshot_id, .. } = answers[0].clone().unwrap() else { panic!() };
    assert!(answers[..3].iter().all(|answer| *answer == Ok(Published::Replaced { snapshot_id, ties: None })));
    assert!(matches!(answers[3], Err(CommitError::Superseded { .. })));
    assert_eq!(scene.ids().len(), 4);
    check_totals(warehouse);
}

#[test]
fn a_ledger_made_anew_knows_code_that_owns_no_slice_any_more() {
    let scene = Scene::new();
    scene.replace(day(0), &[1]).unwrap();
    let warehouse = &scene.warehouse;
    let request = warehouse.begin_request(None).unwrap();
    let newer = [(table(), day(0), crate::support::code(2))];
    let attempt = warehouse.begin_attempts(request, &newer).unwrap().remove(0);
    warehouse.publish(vec![publishing(warehouse, &attempt, &[2], None).unwrap()]).remove(0).unwrap();
    warehouse.source_put("raw.flights", b"what was there").unwrap();
    let other = scene.other(2);
    other.rebuild_ledger().unwrap();
    let mut known: Vec<_> = other.codes(&table()).unwrap().into_iter().map(|(code, _)| code).collect();
    known.sort_unstable();
    let mut both = [crate::support::code(1), crate::support::code(2)];
    both.sort_unstable();
    assert_eq!(known, both);
    assert_eq!(other.source_get("raw.flights").unwrap().as_deref(), Some(&b"what was there"[..]));
    assert_eq!(other.source_get("raw.planes").unwrap(), None);
    assert!(matches!(other.source_put("../x", b""), Err(CommitError::Config(_))));
}
