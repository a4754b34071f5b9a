//! Claims: who works on what, who has to wait, and what becomes of a claim whose holder is stopped, dead or pushed aside.

use std::process::{Child, Command};
use std::sync::atomic::Ordering;

use oncemore_commit::ledger::AttemptRow;
use oncemore_commit::{
    AttemptState, Claim, ClaimRequest, Claimed, CommitError, Life, Published, Warehouse, process_name,
};
use oncemore_core::{Interval, TableName};

use crate::support::{Scene, TestWorld, attempt, day, publishing, replace, table, world_of};

const LEASE: i64 = 60_000_000;

fn wanted(request: u64, days: &[i64]) -> ClaimRequest {
    on(&table(), request, days)
}

fn on(table: &TableName, request: u64, days: &[i64]) -> ClaimRequest {
    ClaimRequest {
        request,
        user: "ana".to_owned(),
        command: "oncemore run".to_owned(),
        lease_micros: LEASE,
        slices: days.iter().map(|number| (table.clone(), day(*number))).collect(),
    }
}

fn granted(answer: Claimed) -> i64 {
    match answer {
        Claimed::Granted(id) => id,
        Claimed::Held(by) => panic!("held by {by:?}"),
    }
}

fn held(answer: Claimed) -> Vec<Claim> {
    match answer {
        Claimed::Held(by) => by,
        Claimed::Granted(id) => panic!("granted as {id}"),
    }
}

/// A process of this machine that does nothing, and its name.
struct Sleeper(Child, String);

impl Sleeper {
    fn start() -> Sleeper {
        let child = Command::new("sleep").arg("600").spawn().unwrap();
        let name = process_name("here", child.id());
        Sleeper(child, name)
    }

    fn end(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The warehouse as a process called `name` sees it.
fn seen_by(scene: &Scene, number: u64, name: &str) -> (Warehouse, std::sync::Arc<TestWorld>) {
    let world = world_of(number, name);
    (Warehouse::open(&scene.root(), world.clone()).unwrap(), world)
}

/// A scene, its own process named as the real one is.
fn scene() -> (Scene, Warehouse) {
    let scene = Scene::new();
    let (own, _) = seen_by(&scene, 50, &process_name("here", std::process::id()));
    (scene, own)
}

#[test]
fn overlapping_work_is_excluded_and_adjacent_work_is_not() {
    let (scene, own) = scene();
    let other = Sleeper::start();
    let (other, _) = seen_by(&scene, 2, &other.1);
    let first = granted(other.claim(&wanted(7, &[0, 1, 2, 5])).unwrap());
    let by = held(own.claim(&wanted(8, &[2, 3])).unwrap());
    assert_eq!((by.len(), by[0].id, by[0].request, by[0].tasks), (1, first, 7, 4));
    assert_eq!(
        (by[0].user.as_str(), by[0].command.as_str(), by[0].holder().0),
        ("ana", "oncemore run", "here")
    );
    // Neighbours are one range.
    let days = Interval::new(day(0).start(), day(2).end()).unwrap();
    assert_eq!(by[0].slices, [(table(), days), (table(), day(5))]);
    let second = granted(own.claim(&wanted(8, &[3, 4])).unwrap());
    granted(own.claim(&on(&"silver.other".parse().unwrap(), 8, &[0, 1])).unwrap());
    assert!(second > first);
    other.release_claim(first).unwrap();
    granted(own.claim(&wanted(9, &[2])).unwrap());
    assert!(!other.renew_claim(first).unwrap());
    assert!(!other.renew_claim(second).unwrap(), "another one's claim can't be renewed");
    other.release_claim(second).unwrap();
    assert_eq!(own.claims().unwrap().len(), 3, "another one's claim can't be released");
}

/// Three years are claimed by the batch: tonight's day is free.
#[test]
fn a_backfill_claims_its_batch_alone() {
    let (scene, own) = scene();
    let other = Sleeper::start();
    let (other, _) = seen_by(&scene, 2, &other.1);
    let years: Vec<i64> = (0..1_095).collect();
    let batch = granted(other.claim(&wanted(1, &years[..128])).unwrap());
    let tonight = granted(own.claim(&wanted(2, &[1_094])).unwrap());
    own.release_claim(tonight).unwrap();
    other.release_claim(batch).unwrap();
    assert_eq!(own.claims().unwrap(), []);
}

#[test]
fn a_claim_of_the_dead_is_known_at_once_and_one_from_elsewhere_after_its_lease() {
    let (scene, own) = scene();
    let mut child = Sleeper::start();
    let (other, _) = seen_by(&scene, 2, &child.1);
    granted(other.claim(&wanted(1, &[0])).unwrap());
    child.end();
    assert_eq!(own.claims().unwrap()[0].1, Life::Dead);
    granted(own.claim(&wanted(2, &[0])).unwrap());
    let (far, _) = seen_by(&scene, 3, "elsewhere:1:1");
    granted(far.claim(&wanted(3, &[1])).unwrap());
    assert_eq!(held(own.claim(&wanted(4, &[1])).unwrap()).len(), 1);
    let (later, world) = seen_by(&scene, 4, &process_name("here", std::process::id()));
    world.now.fetch_add(LEASE + 1_000_000, Ordering::Relaxed);
    granted(later.claim(&wanted(5, &[1])).unwrap());
}

/// A clock set back makes no claim last for ever.
#[test]
fn a_sign_of_life_from_the_future_counts_for_nothing() {
    let (scene, own) = scene();
    let (far, world) = seen_by(&scene, 3, "elsewhere:1:1");
    world.now.fetch_add(86_400_000_000, Ordering::Relaxed);
    granted(far.claim(&wanted(3, &[1])).unwrap());
    assert_eq!(own.claims().unwrap()[0].1, Life::Silent);
    granted(own.claim(&wanted(5, &[1])).unwrap());
}

/// Stopped beyond its lease while another one took over: it lands neither while that one is at work nor after.
#[test]
fn who_was_taken_over_can_not_land() {
    let (scene, own) = scene();
    scene.replace(day(0), &[1]).unwrap();
    let child = Sleeper::start();
    let (stopped, clock) = seen_by(&scene, 2, &child.1);
    let id = granted(stopped.claim(&wanted(1, &[0])).unwrap());
    let slow = [0, 1].map(|_| {
        let attempt = attempt(&stopped, day(0)).unwrap();
        publishing(&stopped, &attempt, &[9], None).unwrap()
    });
    let [while_at_work, after] = slow;
    let (next, world) = seen_by(&scene, 3, &process_name("here", std::process::id()));
    for clock in [&clock, &world] {
        clock.now.fetch_add(LEASE * 2, Ordering::Relaxed);
    }
    let taken = granted(next.claim(&wanted(2, &[0])).unwrap());
    assert!(!stopped.renew_claim(id).unwrap());
    let error = stopped.publish(vec![while_at_work]).remove(0).unwrap_err();
    let CommitError::Claimed { by, .. } = &error else { panic!("{error}") };
    assert_eq!((by.id, by.request), (taken, 2));
    assert!(error.to_string().contains(" is being worked on by process "), "{error}");
    assert_eq!(scene.ids(), [1]);
    assert!(matches!(replace(&next, day(0), &[2]).unwrap(), Published::Replaced { .. }));
    next.release_claim(taken).unwrap();
    let error = stopped.publish(vec![after]).remove(0).unwrap_err();
    assert!(matches!(error, CommitError::Superseded { published: true, .. }), "{error}");
    assert!(error.to_string().contains("was published by the later request"), "{error}");
    assert_eq!(scene.ids(), [2]);
    drop(own);
}

/// Of a group the slices that were taken over are refused, and the others land.
#[test]
fn one_slice_taken_over_holds_up_none_of_its_group() {
    let (scene, own) = scene();
    let child = Sleeper::start();
    let (other, _) = seen_by(&scene, 2, &child.1);
    let group = (0..3).map(|number| {
        let attempt = attempt(&own, day(number)).unwrap();
        publishing(&own, &attempt, &[number], None).unwrap()
    });
    let group: Vec<_> = group.collect();
    granted(other.claim(&wanted(9, &[1])).unwrap());
    let answers = own.publish(group);
    assert!(matches!(answers[1], Err(CommitError::Claimed { .. })));
    assert!(answers[0].is_ok() && answers[2].is_ok());
    assert_eq!(scene.ids(), [0, 2]);
}

#[test]
fn a_broken_claim_closes_what_its_holder_had_begun() {
    let (scene, own) = scene();
    scene.replace(day(0), &[1]).unwrap();
    let child = Sleeper::start();
    let (holder, _) = seen_by(&scene, 2, &child.1);
    let request = holder.begin_request(None).unwrap();
    let id = granted(holder.claim(&wanted(request, &[0, 1])).unwrap());
    let tasks = [0, 1].map(|number| (table(), day(number), crate::support::code(1)));
    let attempts = holder.begin_attempts(request, &tasks).unwrap();
    let mut staged: Vec<_> =
        attempts.iter().map(|attempt| publishing(&holder, attempt, &[9], None).unwrap()).collect();
    // One of the two is published in time, and stays.
    holder.publish(vec![staged.remove(0)]).remove(0).unwrap();
    let broken = own.break_claim(id).unwrap().unwrap();
    assert_eq!((broken.claim.id, broken.fenced), (id, 1));
    assert_eq!(own.claims().unwrap(), []);
    assert!(!holder.renew_claim(id).unwrap());
    let error = holder.publish(staged).remove(0).unwrap_err();
    assert!(matches!(error, CommitError::Superseded { published: false, .. }), "{error}");
    assert!(error.to_string().contains("closed against this attempt, its claim broken"), "{error}");
    assert_eq!(scene.ids(), [9]);
    let states: Vec<AttemptState> =
        own.all_attempts(&table()).unwrap().into_iter().map(|row: AttemptRow| row.state).collect();
    assert_eq!(states, [AttemptState::Committed, AttemptState::Committed, AttemptState::Failed]);
    assert_eq!(own.break_claim(id).unwrap(), None);
    replace(&own, day(1), &[3]).unwrap();
    assert_eq!(scene.ids(), [3, 9]);
}

/// Another request of the same process, at the same slice, is not the claim's.
#[test]
fn a_broken_claim_closes_nothing_else() {
    let (scene, own) = scene();
    let child = Sleeper::start();
    let (holder, _) = seen_by(&scene, 2, &child.1);
    let begin = |request: u64| {
        let task = (table(), day(0), crate::support::code(1));
        let attempt = holder.begin_attempts(request, &[task]).unwrap().remove(0);
        publishing(&holder, &attempt, &[request as i64], None).unwrap()
    };
    let requests = [0, 1].map(|_| holder.begin_request(None).unwrap());
    let id = granted(holder.claim(&wanted(requests[0], &[0])).unwrap());
    let [closed, open] = requests.map(begin);
    assert_eq!(own.break_claim(id).unwrap().unwrap().fenced, 1);
    let error = holder.publish(vec![closed]).remove(0).unwrap_err();
    assert!(matches!(error, CommitError::Superseded { published: false, .. }), "{error}");
    holder.publish(vec![open]).remove(0).unwrap();
    assert_eq!(scene.ids(), [requests[1] as i64]);
}

/// The ledger of an earlier version has no claims: it gets them, and one that is only read has none.
#[test]
fn a_ledger_without_claims_gets_them() {
    let (scene, own) = scene();
    drop(own);
    let connection = rusqlite::Connection::open(scene.root().join("oncemore.db")).unwrap();
    connection.execute_batch("DROP TABLE om_claims; DROP TABLE om_claimed").unwrap();
    let read_only = Warehouse::open_read_only(&scene.root(), crate::support::world(8)).unwrap();
    assert_eq!(read_only.claims().unwrap(), []);
    let (own, _) = seen_by(&scene, 9, "here:1:1");
    granted(own.claim(&wanted(1, &[0])).unwrap());
    assert_eq!(own.claims().unwrap().len(), 1);
}
