//! Each call that a run makes fails: once, from then on, or as the last of its process; whatever the call and the error,
//! the run ends with an error that says how its slices are, a reader finds of each slice the old or the new, and the same
//! run again ends as if nothing had failed.
//!
//! The calls are not listed anywhere: a clean run records them. `ONCEMORE_FAULTS=1` tries every one of them, which takes a
//! quarter of an hour; `ONCEMORE_FAULTS=7` every seventh; without it, every 41st, beginning at another one for each seed. The
//! calls of a commit all have points of their own in the tests of `commit`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use oncemore_commit::Life;
use oncemore_core::fault::Step;
use oncemore_core::{Instant, Interval, SliceState};
use oncemore_run::{ErrorKind, RunError, RunReport, TaskFailure};
use oncemore_testkit::faults::{Call, Fault, Faulty, Verb, any_fault, every_fault};
use oncemore_testkit::numbers::{Numbers, seed};

use crate::scene::{Scene, View};

const SETTINGS: &str = "\
//- oncemore.yml
name: shop
start: 2026-03-01
end: 2026-03-04
sources:
  raw.orders:
    path: data/orders/{interval:%Y-%m-%d}.csv
    time: at
    key: [id]
    columns: {id: BIGINT, at: TIMESTAMP, shop: TEXT, amount: BIGINT}
  raw.shops:
    path: data/shops.csv
    key: [shop]
    columns: {shop: TEXT, city: TEXT}
//- data/orders/2026-03-01.csv
id,at,shop,amount
1,2026-03-01 08:00:00,a,10
2,2026-03-01 09:00:00,b,20
//- data/orders/2026-03-02.csv
id,at,shop,amount
3,2026-03-02 08:00:00,a,11
4,2026-03-02 09:00:00,b,-1
//- data/orders/2026-03-03.csv
id,at,shop,amount
5,2026-03-03 08:00:00,b,30
//- data/shops.csv
shop,city
a,Albany
b,Boston
";

const SLICES: &str = "\
//- models/silver/orders.sql
/* oncemore
kind: slice
interval: day
time: at
key: [id]
audits:
  - not_null: [amount]
*/
SELECT o.id, o.at, o.shop, s.city, o.amount
  FROM raw.orders AS o
  LEFT JOIN gold.shops AS s ON s.shop = o.shop
 WHERE o.at >= :interval_start AND o.at < :interval_end
//- models/gold/shops.sql
/* oncemore
kind: full
key: [shop]
*/
SELECT shop, upper(city) AS city FROM raw.shops
//- models/gold/totals.sql
/* oncemore
kind: slice
interval: day
time: day
key: [day, city]
*/
SELECT CAST(at AS DATE) AS day, city, sum(amount) AS amount
  FROM silver.orders
 WHERE at >= :interval_start AND at < :interval_end
 GROUP BY CAST(at AS DATE), city
";

const MERGE: &str = "\
//- models/gold/devices.sql
/* oncemore
kind: merge
interval: day
time: at
key: [shop]
order_by: [at]
deleted: amount < 0
audits:
  - not_null: [id]
*/
SELECT shop, at, id, amount
  FROM raw.orders
 WHERE at >= :interval_start AND at < :interval_end
";

const HISTORY: &str = "\
//- models/gold/prices.sql
/* oncemore
kind: history
interval: day
time: at
key: [shop]
order_by: [id]
deleted: amount < 0
*/
SELECT shop, at, id, amount
  FROM raw.orders
 WHERE at >= :interval_start AND at < :interval_end
";

const CHAIN: &str = "\
//- models/gold/balances.sql
/* oncemore
kind: slice
interval: day
time: day
key: [day, shop]
*/
WITH moved AS (
  SELECT shop, sum(amount) AS amount
    FROM raw.orders
   WHERE at >= :interval_start AND at < :interval_end
   GROUP BY shop
)
SELECT CAST(:interval_start AS DATE) AS day, coalesce(m.shop, p.shop) AS shop,
       coalesce(p.balance, 0) + coalesce(m.amount, 0) AS balance
  FROM moved AS m
  FULL JOIN previous(gold.balances) AS p ON p.shop = m.shop
";

/// The second day anew: one amount is another, a row more.
const CORRECTED: &str = "\
//- data/orders/2026-03-02.csv
id,at,shop,amount
3,2026-03-02 08:00:00,a,12
4,2026-03-02 09:00:00,b,-1
6,2026-03-02 10:00:00,c,5
";

/// A shop that moved: its table, all days that sold there, and their totals.
const MOVED: &str = "\
//- data/shops.csv
shop,city
a,Albany
b,Buffalo
";

/// A kind of work.
struct Work {
    name: &'static str,
    models: &'static str,
    /// What arrives after a first run; without it, the first run is the work.
    arrives: Option<&'static str>,
}

const WORKS: [Work; 8] = [
    Work { name: "slices and a full table, first", models: SLICES, arrives: None },
    Work { name: "a slice and its reader again", models: SLICES, arrives: Some(CORRECTED) },
    Work { name: "a full table and its readers again", models: SLICES, arrives: Some(MOVED) },
    Work { name: "merge, first", models: MERGE, arrives: None },
    Work { name: "merge again", models: MERGE, arrives: Some(CORRECTED) },
    Work { name: "history, first", models: HISTORY, arrives: None },
    Work { name: "history again", models: HISTORY, arrives: Some(CORRECTED) },
    Work { name: "slices that read the one before", models: CHAIN, arrives: Some(CORRECTED) },
];

/// A run in which nothing fails: what each slice may hold on the way, what there is at its end, and the calls made.
struct Clean {
    scene: Scene,
    before: View,
    after: View,
    /// Of each slice, whatever it held between two commits.
    known: BTreeMap<String, BTreeSet<Vec<String>>>,
    ledger: Vec<String>,
    files: BTreeMap<PathBuf, usize>,
    calls: Vec<Call>,
}

fn clean(work: &Work) -> Clean {
    let scene = Scene::new(SETTINGS);
    scene.write(work.models);
    if let Some(arrives) = work.arrives {
        assert_eq!(scene.run(None, true).unwrap().exit_code(), 0);
        scene.write(arrives);
    }
    scene.keep();
    let before = scene.view();
    let mut known: BTreeMap<String, BTreeSet<Vec<String>>> = BTreeMap::new();
    // A first run may leave out any of its days.
    for days in (1..8).filter(|_| work.arrives.is_none()) {
        scene.set_back();
        for day in (0..3).filter(|day| (days >> day) & 1 == 1) {
            scene.run_day(&format!("2026-03-0{}", day + 1));
        }
        for (unit, lines) in scene.view() {
            known.entry(unit).or_default().insert(lines);
        }
    }
    scene.set_back();
    let faults = Arc::new(Faulty::default());
    faults.start(None);
    let report = scene.run(Some(&faults), true).unwrap();
    let (calls, _) = faults.stop();
    assert_eq!((report.exit_code(), scene.due()), (0, Vec::new()), "{}: {:?}", work.name, report.failed);
    scene.warehouse().gc(Instant::MAX).unwrap();
    let (after, ledger, files) = (scene.view(), scene.ledger(), scene.files());
    for (unit, lines) in before.iter().chain(&after) {
        known.entry(unit.clone()).or_default().insert(lines.clone());
    }
    Clean { scene, before, after, known, ledger, files, calls }
}

/// The slice of a failure, as views name it.
fn unit(view: &View, failure: &TaskFailure) -> String {
    let name = failure.model.to_string();
    match failure.interval == Interval::WHOLE || view.contains_key(&name) {
        true => name,
        false => format!("{name} {}", failure.interval.start()),
    }
}

/// What an error must be, whatever failed: none of ours, and with what to do next.
fn check_words(place: &str, kind: ErrorKind, message: &str, help: Option<&str>) {
    assert!(kind != ErrorKind::Internal, "{place}: a bug of ours: {message}");
    assert!(!message.is_empty() && !message.contains("ended early"), "{place}: {message}");
    assert!(help.is_some_and(|help| !help.is_empty()), "{place}: nothing to do next: {message}");
}

/// What was said of a run, against what a reader finds now.
fn check_said(place: &str, clean: &Clean, said: &Result<RunReport, RunError>, now: &View) {
    for (unit, lines) in now {
        let known = clean.known.get(unit).is_some_and(|known| known.contains(lines));
        assert!(known, "{place}: `{unit}` is neither old nor new: {lines:#?}");
    }
    let gone = clean.before.keys().find(|unit| !now.contains_key(*unit));
    assert_eq!(gone, None, "{place}: a slice that was there is gone");
    match said {
        Ok(report) if report.failed.is_empty() && report.ended_early.is_none() => {
            assert_eq!((report.exit_code(), report.blocked.len()), (0, 0), "{place}");
            assert_eq!(now, &clean.after, "{place}: success, and not new");
        }
        Ok(report) => {
            assert!([4, 5, 6, 7].contains(&report.exit_code()), "{place}: {}", report.exit_code());
            if let Some(early) = &report.ended_early {
                check_words(place, early.kind, &early.message, early.help.as_deref());
            }
            for failure in &report.failed {
                check_words(place, failure.kind, &failure.message, failure.help.as_deref());
                let unit = unit(&clean.after, failure);
                if failure.state == SliceState::Unchanged {
                    // A folded table is new by any of its slices.
                    let whole = unit == failure.model.to_string() && report.published > 0;
                    let same = now.get(&unit) == clean.before.get(&unit);
                    assert!(whole || same, "{place}: `{unit}` unchanged, and new: {failure:?}");
                }
            }
        }
        Err(error) => {
            check_words(place, error.kind, &error.message, error.help.as_deref());
            assert!([3, 4, 6, 7].contains(&error.kind.exit_code()), "{place}: {error:?}");
            let wrong = matches!(error.kind, ErrorKind::Config | ErrorKind::Usage);
            assert!(wrong || error.state.is_some(), "{place}: how are the slices? {error:?}");
            if error.state == Some(SliceState::Unchanged) {
                assert_eq!(now, &clean.before, "{place}: unchanged, and new: {error}");
            }
        }
    }
}

/// The work with a fault, and once more without.
fn point(work: &Work, clean: &Clean, fault: Fault, single: bool) {
    let place = format!("{}, {fault:?}, single commits: {single}", work.name);
    let scene = &clean.scene;
    scene.set_back();
    let faults = Arc::new(Faulty::default());
    faults.start(Some(fault));
    let said = scene.run(Some(&faults), single);
    faults.stop();
    check_said(&place, clean, &said, &scene.view());
    let again = scene.run(None, true).unwrap_or_else(|error| panic!("{place}: again: {error}"));
    assert_eq!((again.exit_code(), scene.due()), (0, Vec::new()), "{place}: again: {:?}", again.failed);
    let warehouse = scene.warehouse();
    warehouse.gc(Instant::MAX).unwrap();
    assert_eq!(scene.view(), clean.after, "{place}: done again");
    assert_eq!(scene.ledger(), clean.ledger, "{place}");
    assert_eq!(scene.files(), clean.files, "{place}");
    // A claim that could not be given up is one of a dead process, and in nobody's way.
    let claims = warehouse.claims().unwrap();
    assert!(claims.iter().all(|(_, life)| *life == Life::Dead), "{place}: {claims:?}");
    assert_eq!(warehouse.open_attempts().unwrap(), [], "{place}");
    // Else something lies there that no table names.
    let more = warehouse.gc(Instant::MAX).unwrap();
    assert_eq!((more.files, more.kept), (0, 0), "{place}");
}

/// Of a list of faults, every how manieth is tried.
#[expect(clippy::disallowed_methods, reason = "how long a test may take is told from outside")]
fn stride() -> usize {
    let told = std::env::var("ONCEMORE_FAULTS").ok().and_then(|text| text.parse().ok());
    told.unwrap_or(41).max(1)
}

fn points(works: &[Work]) {
    let (seed, stride) = (seed(), stride());
    let mut broken = Vec::new();
    for work in works {
        let clean = clean(work);
        let faults = every_fault(&clean.calls);
        let first = usize::try_from(seed).unwrap_or(0) % stride;
        let tried: Vec<Fault> = faults.iter().copied().skip(first).step_by(stride).collect();
        say(&format!("{}: {} of {} faults, seed {seed}", work.name, tried.len(), faults.len()));
        broken.extend(tried.into_iter().filter_map(|fault| try_point(work, &clean, fault, true)));
    }
    assert!(broken.is_empty(), "{} broken, seed {seed}:\n{}", broken.len(), broken.join("\n"));
}

/// What a fault shows to be broken, so that the others are tried as well.
fn try_point(work: &Work, clean: &Clean, fault: Fault, single: bool) -> Option<String> {
    let done = catch_unwind(AssertUnwindSafe(|| point(work, clean, fault, single)));
    let panic = done.err()?;
    let text = panic.downcast_ref::<String>().cloned();
    Some(text.unwrap_or_else(|| format!("{}, {fault:?}: a panic", work.name)))
}

fn say(text: &str) {
    std::io::stderr().write_all(format!("{text}\n").as_bytes()).unwrap();
}

#[test]
fn faults_of_slices() {
    points(&WORKS[..3]);
}

#[test]
fn faults_of_merges() {
    points(&WORKS[3..5]);
}

#[test]
fn faults_of_histories() {
    points(&WORKS[5..7]);
}

#[test]
fn faults_of_chains() {
    points(&WORKS[7..]);
}

/// Any fault at any call of any work, slices published together: what a seed draws, `ONCEMORE_SEED` draws again.
#[test]
fn faults_drawn_by_a_seed() {
    let seed = seed();
    say(&format!("seed {seed}"));
    let mut numbers = Numbers(seed);
    let cleans: Vec<Clean> = WORKS.iter().map(clean).collect();
    let mut broken = Vec::new();
    for _ in 0..(400 / stride()).max(8) {
        let at = numbers.below(WORKS.len() as u64) as usize;
        let fault = any_fault(&cleans[at].calls, &mut numbers);
        let single = numbers.below(2) == 0;
        broken.extend(try_point(&WORKS[at], &cleans[at], fault, single));
    }
    assert!(broken.is_empty(), "{} broken, seed {seed}:\n{}", broken.len(), broken.join("\n"));
}

/// The calls that the tests above fail are those of every port. Nothing is removed where nothing failed: that is left to
/// clean-up, whose points are those of `commit`.
#[test]
fn a_run_makes_every_call() {
    let made: BTreeSet<Verb> =
        WORKS.iter().flat_map(|work| clean(work).calls).map(|call| call.verb).collect();
    let steps = [
        Step::WriteData,
        Step::SyncFiles,
        Step::WriteMetadata,
        Step::SyncFolders,
        Step::Read,
        Step::Begin,
        Step::Commit,
        Step::Note,
        Step::CreateFolder,
        Step::Link,
        Step::ListSource,
        Step::OpenSource,
        Step::ReadSource,
    ];
    let all: BTreeSet<Verb> = steps.into_iter().map(Verb::Step).chain([Verb::Object]).collect();
    assert_eq!(made, all);
}
