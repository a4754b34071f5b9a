//! Every call that a command makes to disk and catalog is a point to fail at. Each point of each kind of work fails once,
//! with whatever error, before or after it took effect, or is the last that its process makes: a reader finds the old
//! or the new, and once the work is done again everything is as if nothing had failed.
//!
//! The points are not listed anywhere: a first run counts them. Which steps of the protocol they belong to is.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use arrow::util::display::array_value_to_string;
use oncemore_commit::{
    AttemptEnd, AttemptState, Change, ClaimRequest, Claimed, CommitError, Faults, OnTie, Publish, Step,
    Warehouse, When,
};
use oncemore_core::{Instant, Interval, SliceState, TableName};
use oncemore_model::step::{STEPS, Step as Named};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::folds::{self, publish_kind, row};
use crate::oracle::{Kind, Log, user_schema};
use crate::rebuilt;
use crate::support::{Scene, attempt, code, day, draft, key, rows, stage, table, world};

/// The steps of the protocol that a call may be part of. A call without one does not compile, a step without a call
/// fails below.
fn steps(call: Step) -> &'static [Named] {
    match call {
        Step::Read => &[
            Named::Look,
            Named::Audit,
            Named::Plan,
            Named::LookAgain,
            Named::Resolve,
            Named::GcRead,
            Named::RebuildRead,
        ],
        Step::Note => &[Named::Claim],
        Step::CreateFolder | Step::WriteData => &[Named::Stage, Named::Plan],
        Step::WriteMetadata => &[Named::Persist, Named::Settle, Named::GcFence],
        Step::SyncFiles | Step::SyncFolders => &[Named::Persist, Named::GcFence],
        // Of a table that was built anew, its data files where they are going to be.
        Step::Link => &[Named::Persist],
        Step::Begin | Step::Commit => &[
            Named::Swap,
            Named::LookAgain,
            Named::Confirm,
            Named::Resolve,
            Named::GcFence,
            Named::RebuildWrite,
        ],
        Step::Remove => &[Named::Rebase, Named::Settle, Named::Confirm, Named::GcRemove],
        // Calls of a run, not of a commit: see the tests of `run`.
        Step::ListSource | Step::OpenSource | Step::ReadSource => &[],
    }
}

const CALLS: [Step; 11] = [
    Step::Read,
    Step::Note,
    Step::CreateFolder,
    Step::WriteData,
    Step::WriteMetadata,
    Step::SyncFiles,
    Step::SyncFolders,
    Step::Begin,
    Step::Commit,
    Step::Remove,
    Step::Link,
];

#[test]
fn every_step_of_the_model_is_made_of_calls_that_can_fail() {
    let named: BTreeSet<Named> = CALLS.into_iter().flat_map(steps).copied().collect();
    // Read from a list of names, and done by another writer: nothing of ours can fail there.
    let others = [Named::GcList, Named::CompactWrite, Named::CompactSwap];
    let missing: Vec<Named> =
        STEPS.into_iter().filter(|step| !named.contains(step) && !others.contains(step)).collect();
    assert_eq!(missing, [], "steps of the protocol without a point to fail at");
}

/// Whatever changes a file or begins a transaction goes through the disk or the catalog, where it can be made to fail.
#[test]
fn no_call_goes_around_the_points() {
    // What may, with why: opening a catalog precedes all points; a damaged one is set aside by name, once; the last is
    // within a step of the disk.
    let known = [("catalog.rs", "OpenOptions"), ("recover.rs", "fs::rename"), ("positions.rs", "fs::rename")];
    let marks = [
        "OpenOptions",
        "DirBuilder",
        "File::create",
        "fs::write",
        "fs::rename",
        "fs::remove",
        "fs::create",
        "fs::copy",
        "fs::hard_link",
        "set_len",
        "sync_all",
        "sync_data",
    ];
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let uses = marks.iter().filter(|mark| text.contains(**mark) && name != "disk.rs");
            found.extend(
                uses.filter(|mark| !known.contains(&(&name, mark))).map(|mark| format!("{name}: {mark}")),
            );
            if text.contains("transaction_with_behavior") && name != "catalog.rs" {
                found.push(format!("{name}: a transaction of its own"));
            }
        }
    }
    assert_eq!(found, Vec::<String>::new());
}

/// How a point fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// The call fails with this error number, and the next ones do not.
    Once(i32),
    /// It and all after it fail: the process died, or the disk did.
    Ever(i32),
}

const EIO: i32 = 5;
const EACCES: i32 = 13;
const ENOSPC: i32 = 28;
const ETIMEDOUT: i32 = 110;

/// What a look at each commit is for.
type Look = Box<dyn Fn() + Send + Sync>;

/// Counts calls, looks in after each commit, and makes one of them fail.
#[derive(Default)]
struct Points {
    seen: AtomicUsize,
    armed: Mutex<Option<(usize, How)>>,
    calls: Mutex<Vec<(Step, When)>>,
    look: Mutex<Option<Look>>,
}

impl std::fmt::Debug for Points {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Points")
    }
}

impl Faults for Points {
    fn at(&self, step: Step, when: When) -> io::Result<()> {
        let Some((at, how)) = *self.armed.lock().unwrap() else { return Ok(()) };
        let seen = self.seen.fetch_add(1, Ordering::Relaxed);
        self.calls.lock().unwrap().push((step, when));
        if let (Step::Commit, When::After, Some(look)) = (step, when, &*self.look.lock().unwrap()) {
            look();
        }
        match how {
            How::Once(error) if seen == at => Err(io::Error::from_raw_os_error(error)),
            How::Ever(error) if seen >= at => Err(io::Error::from_raw_os_error(error)),
            _ => Ok(()),
        }
    }
}

/// Rows and stamps of all tables, as a reader finds them.
type View = BTreeMap<String, Vec<String>>;

fn view(warehouse: &Warehouse) -> View {
    let mut view = View::new();
    for table in warehouse.tables().unwrap() {
        let head = warehouse.head(&table).unwrap().unwrap();
        let mut lines = Vec::new();
        for file in head.all_files() {
            let file = std::fs::File::open(Path::new(&file.path)).unwrap();
            for batch in ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap() {
                let batch = batch.unwrap();
                for row in 0..batch.num_rows() {
                    let cells =
                        batch.columns().iter().map(|column| array_value_to_string(column, row).unwrap());
                    lines.push(cells.collect::<Vec<_>>().join("|"));
                }
            }
        }
        lines.sort();
        for stamp in warehouse.stamps(&table).unwrap().iter() {
            let prints = stamp.columns.iter().map(|column| column.print).collect::<Vec<_>>();
            lines.push(format!("{} {} {:?} {prints:?}", stamp.interval, stamp.code, stamp.fingerprint));
        }
        let columns = head.schema.fields().iter().map(|field| field.name().clone());
        lines.push(columns.collect::<Vec<_>>().join(","));
        view.insert(table.to_string(), lines);
    }
    view
}

/// What the ledger says of each slice, but for numbers.
fn ledger(warehouse: &Warehouse) -> Vec<String> {
    let mut lines = Vec::new();
    for table in warehouse.tables().unwrap() {
        for row in warehouse.last_attempts(&table).unwrap() {
            lines.push(format!("{table} {} {} {:?}", row.attempt.interval, row.state.as_str(), row.rows));
        }
    }
    lines
}

/// Names of files, but for what is random in them, and how many there are of each. What the catalog is kept in and
/// hints are left out.
fn files(root: &Path) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "parquet") {
                let folder = path.parent().unwrap().strip_prefix(root).unwrap();
                *found.entry(folder.to_string_lossy().into_owned()).or_default() += 1;
            }
        }
    }
    found
}

type Work = fn(&Warehouse) -> Result<(), CommitError>;

/// What of a kind of work is one step to a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Atom {
    /// All of it.
    Whole,
    /// Each of its tables: one that can't be read holds up none of the others.
    Table,
    /// Each of several commits.
    Commit,
}

/// A kind of work: what is there before, and what is done.
struct Kindly {
    name: &'static str,
    atom: Atom,
    before: Work,
    work: Work,
}

/// One table more, of one slice, beside the one of days.
fn whole() -> TableName {
    "silver.airports".parse().unwrap()
}

fn days(warehouse: &Warehouse) -> Result<(), CommitError> {
    warehouse.ensure_table(&table(), rows(&[]).schema_ref(), &key(), true)?;
    group(warehouse, &[(table(), day(0), &[1, 2]), (table(), day(1), &[3])], 1)
}

/// A claim as a run takes it.
fn claim(
    warehouse: &Warehouse,
    request: u64,
    slices: Vec<(TableName, Interval)>,
) -> Result<i64, CommitError> {
    let wanted = ClaimRequest {
        request,
        user: "ana".to_owned(),
        command: "oncemore run".to_owned(),
        lease_micros: 60_000_000,
        slices,
    };
    match warehouse.claim(&wanted)? {
        Claimed::Granted(id) => Ok(id),
        Claimed::Held(by) => panic!("held by {by:?}"),
    }
}

/// Attempts as a run makes them: claimed, numbered, staged, published in one go, ends of those that did not recorded,
/// the claim given up.
fn group(
    warehouse: &Warehouse,
    items: &[(TableName, Interval, &[i64])],
    version: u8,
) -> Result<(), CommitError> {
    warehouse.resolve()?;
    let request = warehouse.begin_request(None)?;
    let slices = items.iter().map(|(table, interval, _)| (table.clone(), *interval)).collect();
    let claim = claim(warehouse, request, slices)?;
    let tasks: Vec<_> =
        items.iter().map(|(table, interval, _)| (table.clone(), *interval, code(version))).collect();
    let attempts = warehouse.begin_attempts(request, &tasks)?;
    let mut publishes = Vec::new();
    for (attempt, (_, _, values)) in attempts.iter().zip(items) {
        publishes.push(Publish {
            table: attempt.table.clone(),
            interval: attempt.interval,
            stamp: draft(attempt),
            change: Change::Replace(stage(warehouse, attempt, values)?.audited()),
            expected: None,
            replace_foreign: false,
            read_back: false,
            on_tie: OnTie::Ignore,
            dated_by: None,
        });
    }
    let answers = warehouse.publish(publishes);
    let mut worst = Ok(());
    for (attempt, answer) in attempts.iter().zip(answers) {
        let Err(error) = answer else { continue };
        if error.slice_state() != SliceState::Unknown {
            let end =
                AttemptEnd { id: attempt.id, state: AttemptState::Failed, error: Some(error.to_string()) };
            // What can't be recorded now is found by `resolve`.
            let _ = warehouse.end_attempts(&[end]);
        }
        worst = Err(error);
    }
    // One that can't be given up now is that of a dead process soon.
    let _ = warehouse.release_claim(claim);
    worst
}

fn log(text: &str, day: i64, value: i64) -> Log {
    Log::from([(day, vec![row(text, value, day, value), row("z", 1, day, 1)])])
}

fn fold(warehouse: &Warehouse, kind: Kind, log: &Log) -> Result<(), CommitError> {
    warehouse.ensure_fold(&folds::log(), &user_schema(), true, &folds::spec(kind))?;
    warehouse.resolve()?;
    publish_kind(warehouse, kind, log).map(|_| ())
}

fn fold_before(warehouse: &Warehouse, kind: Kind) -> Result<(), CommitError> {
    fold(warehouse, kind, &log("a", 0, 1))?;
    fold(warehouse, kind, &log("b", 1, 2))
}

/// An attempt that staged rows, and whose process then died.
fn die(warehouse: &Warehouse, interval: Interval) -> Result<(), CommitError> {
    let attempt = attempt(warehouse, interval)?;
    std::mem::forget(stage(warehouse, &attempt, &[9])?);
    Ok(())
}

fn restamp(warehouse: &Warehouse, change: Change) -> Result<(), CommitError> {
    let request = warehouse.begin_request(None)?;
    let attempt = warehouse.begin_attempts(request, &[(table(), day(0), code(2))])?.remove(0);
    let stamps = warehouse.stamps(&table())?;
    let expected = stamps.iter().find(|stamp| stamp.interval == day(0)).map(|stamp| stamp.attempt);
    let publish = Publish {
        table: table(),
        interval: day(0),
        stamp: draft(&attempt),
        change,
        expected,
        replace_foreign: false,
        read_back: false,
        on_tie: OnTie::Ignore,
        dated_by: None,
    };
    warehouse.publish(vec![publish]).remove(0).map(|_| ())
}

const KINDS: [Kindly; 19] = [
    Kindly { name: "slice, first of all", atom: Atom::Commit, before: |_| Ok(()), work: days },
    Kindly {
        name: "slice, replaced",
        atom: Atom::Whole,
        before: days,
        work: |warehouse| group(warehouse, &[(table(), day(0), &[4])], 2),
    },
    Kindly {
        name: "slice, emptied",
        atom: Atom::Whole,
        before: days,
        work: |warehouse| group(warehouse, &[(table(), day(0), &[])], 2),
    },
    Kindly {
        name: "full",
        atom: Atom::Whole,
        before: |warehouse| {
            warehouse.ensure_table(&whole(), rows(&[]).schema_ref(), &key(), false)?;
            group(warehouse, &[(whole(), Interval::WHOLE, &[1, 2])], 1)
        },
        work: |warehouse| group(warehouse, &[(whole(), Interval::WHOLE, &[2, 3])], 2),
    },
    Kindly {
        name: "unchanged",
        atom: Atom::Whole,
        before: days,
        work: |warehouse| group(warehouse, &[(table(), day(0), &[1, 2])], 2),
    },
    Kindly {
        name: "restamped",
        atom: Atom::Whole,
        before: days,
        work: |warehouse| restamp(warehouse, Change::Restamp),
    },
    Kindly {
        name: "adopted",
        atom: Atom::Whole,
        before: days,
        work: |warehouse| restamp(warehouse, Change::Adopt),
    },
    Kindly {
        name: "group of one table, some unchanged",
        atom: Atom::Whole,
        before: days,
        work: |warehouse| {
            let items: [(TableName, Interval, &[i64]); 3] =
                [(table(), day(0), &[1, 2]), (table(), day(1), &[4]), (table(), day(2), &[5])];
            group(warehouse, &items, 2)
        },
    },
    Kindly {
        name: "group of two tables",
        atom: Atom::Table,
        before: |warehouse| {
            warehouse.ensure_table(&whole(), rows(&[]).schema_ref(), &key(), false)?;
            days(warehouse)
        },
        work: |warehouse| group(warehouse, &[(table(), day(0), &[4]), (whole(), Interval::WHOLE, &[5])], 2),
    },
    Kindly {
        name: "merge",
        atom: Atom::Whole,
        before: |warehouse| fold_before(warehouse, Kind::Merge),
        work: |warehouse| fold(warehouse, Kind::Merge, &log("a", 1, 3)),
    },
    Kindly {
        name: "history of changes",
        atom: Atom::Whole,
        before: |warehouse| fold_before(warehouse, Kind::Changes),
        work: |warehouse| fold(warehouse, Kind::Changes, &log("a", 1, 3)),
    },
    Kindly {
        name: "history of dated versions",
        atom: Atom::Whole,
        before: |warehouse| fold_before(warehouse, Kind::Dated),
        work: |warehouse| fold(warehouse, Kind::Dated, &log("a", 1, 3)),
    },
    Kindly {
        name: "history of whole states",
        atom: Atom::Whole,
        before: |warehouse| fold_before(warehouse, Kind::Snapshots),
        work: |warehouse| fold(warehouse, Kind::Snapshots, &log("a", 2, 3)),
    },
    Kindly {
        name: "clean-up",
        atom: Atom::Commit,
        before: |warehouse| {
            days(warehouse)?;
            group(warehouse, &[(table(), day(0), &[4])], 1)?;
            die(warehouse, day(0))?;
            die(warehouse, day(5))
        },
        work: |warehouse| warehouse.gc(Instant::MAX).map(|_| ()),
    },
    Kindly {
        name: "ledger made anew",
        atom: Atom::Commit,
        before: |warehouse| {
            days(warehouse)?;
            fold_before(warehouse, Kind::Merge)
        },
        work: |warehouse| warehouse.rebuild_ledger().map(|_| ()),
    },
    Kindly {
        name: "columns added",
        atom: Atom::Whole,
        before: days,
        work: |warehouse| {
            let more = arrow::datatypes::Field::new("more", arrow::datatypes::DataType::Int64, true);
            let mut fields = rows(&[]).schema().fields().to_vec();
            fields.push(Arc::new(more));
            let schema = arrow::datatypes::Schema::new(fields);
            warehouse.ensure_table(&table(), &schema, &key(), true)
        },
    },
    Kindly {
        name: "built anew, cut otherwise",
        atom: Atom::Whole,
        before: |warehouse| {
            days(warehouse)?;
            rebuilt::begin(warehouse)?;
            die(warehouse, day(1))
        },
        work: |warehouse| warehouse.swap_rebuilt(&table(), false).map(|_| ()),
    },
    Kindly {
        name: "built anew, merged before",
        atom: Atom::Whole,
        before: |warehouse| {
            fold_before(warehouse, Kind::Merge)?;
            rebuilt::begin_fold(warehouse, Kind::Changes, &log("a", 0, 1))
        },
        work: |warehouse| warehouse.swap_rebuilt(&folds::state(), false).map(|_| ()),
    },
    Kindly {
        name: "clean-up of what a rebuild left",
        atom: Atom::Commit,
        before: |warehouse| {
            days(warehouse)?;
            rebuilt::begin(warehouse)?;
            die(warehouse, day(1))?;
            warehouse.swap_rebuilt(&table(), false).map(|_| ())
        },
        work: |warehouse| warehouse.gc(Instant::MAX).map(|_| ()),
    },
];

/// A clean run: views after each commit, ledger and files at its end, and the calls that were made.
struct Clean {
    views: Vec<View>,
    ledger: Vec<String>,
    files: BTreeMap<String, usize>,
    calls: Vec<(Step, When)>,
}

fn prepared(kind: &Kindly) -> (Scene, Arc<Points>) {
    let points = Arc::new(Points::default());
    let scene = Scene::empty(Some(points.clone()));
    // As a process that others take for dead.
    (kind.before)(&scene.other(90)).unwrap();
    (scene, points)
}

fn clean(kind: &Kindly) -> Clean {
    let (scene, points) = prepared(kind);
    let views = Arc::new(Mutex::new(vec![view(&scene.other(3))]));
    let (root, seen) = (scene.root(), views.clone());
    let look = move || seen.lock().unwrap().push(view(&Warehouse::open(&root, world(4)).unwrap()));
    *points.look.lock().unwrap() = Some(Box::new(look));
    *points.armed.lock().unwrap() = Some((usize::MAX, How::Once(EIO)));
    (kind.work)(&scene.warehouse).unwrap();
    *points.armed.lock().unwrap() = None;
    let other = scene.other(5);
    other.gc(Instant::MAX).unwrap();
    let mut views = views.lock().unwrap().clone();
    views.push(view(&other));
    let calls = points.calls.lock().unwrap().clone();
    Clean { views, ledger: ledger(&other), files: files(&scene.root()), calls }
}

/// The work with one of its calls failing.
fn point(kind: &Kindly, clean: &Clean, at: usize, how: How) {
    let place = format!("{}, call {at} {:?}, {how:?}", kind.name, clean.calls[at]);
    let (scene, points) = prepared(kind);
    *points.armed.lock().unwrap() = Some((at, how));
    let done = (kind.work)(&scene.warehouse);
    *points.armed.lock().unwrap() = None;
    let reader = scene.other(6);
    let now = view(&reader);
    let known = |table: &String, lines| clean.views.iter().any(|view| view.get(table) == Some(lines));
    let apart = kind.atom == Atom::Table && now.iter().all(|(table, lines)| known(table, lines));
    assert!(apart || clean.views.contains(&now), "{place}: neither old nor new");
    match done {
        Ok(()) => assert_eq!(&now, clean.views.last().unwrap(), "{place}: success, and not new"),
        Err(error) if kind.atom == Atom::Whole && error.slice_state() == SliceState::Unchanged => {
            assert_eq!(&now, clean.views.first().unwrap(), "{place}: unchanged, and new: {error}");
        }
        Err(_) => {}
    }
    let other = scene.other(7);
    other.resolve().unwrap();
    assert_eq!(other.open_attempts().unwrap(), [], "{place}");
    assert_eq!(view(&other), now, "{place}: resolving changed what is there");
    (kind.work)(&other).unwrap_or_else(|error| panic!("{place}: again: {error}"));
    other.gc(Instant::MAX).unwrap();
    assert_eq!(&view(&other), clean.views.last().unwrap(), "{place}: done again");
    assert_eq!(ledger(&other), clean.ledger, "{place}");
    assert_eq!(files(&scene.root()), clean.files, "{place}");
    assert_eq!(other.claims().unwrap(), [], "{place}");
    let again = other.gc(Instant::MAX).unwrap();
    assert_eq!((again.files, again.kept), (0, 0), "{place}");
}

fn all_points(kinds: &[Kindly]) {
    for kind in kinds {
        let clean = clean(kind);
        let last = clean.calls.len();
        let mut done = 0;
        for at in 0..last {
            // Errors of other numbers take the same way; they take turns.
            let error = [EIO, ENOSPC, ETIMEDOUT, EACCES][at % 4];
            // To die after a call is to die before the next one.
            let dies = clean.calls[at].1 == When::Before || at + 1 == last;
            for how in [Some(How::Once(error)), dies.then_some(How::Ever(error))].into_iter().flatten() {
                point(kind, &clean, at, how);
                done += 1;
            }
        }
        let kinds: BTreeMap<String, usize> =
            clean.calls.iter().fold(BTreeMap::new(), |mut counts, (step, _)| {
                *counts.entry(format!("{step:?}")).or_default() += 1;
                counts
            });
        let text = format!("{}: {last} points, {done} failures; {kinds:?}\n", kind.name);
        io::stderr().write_all(text.as_bytes()).unwrap();
    }
}

#[test]
fn points_of_slices() {
    all_points(&KINDS[..4]);
}

#[test]
fn points_of_stamps() {
    all_points(&KINDS[4..7]);
}

#[test]
fn points_of_groups() {
    all_points(&KINDS[7..9]);
}

#[test]
fn points_of_merges() {
    all_points(&KINDS[9..10]);
}

#[test]
fn points_of_histories() {
    all_points(&KINDS[10..13]);
}

#[test]
fn points_of_chores() {
    all_points(&KINDS[13..16]);
}

#[test]
fn points_of_rebuilds() {
    all_points(&KINDS[16..]);
}

/// Every kind of call is made by some kind of work.
#[test]
fn every_call_is_made() {
    let made: BTreeSet<String> =
        KINDS.iter().flat_map(|kind| clean(kind).calls).map(|(step, _)| format!("{step:?}")).collect();
    assert_eq!(made, CALLS.iter().map(|step| format!("{step:?}")).collect::<BTreeSet<_>>());
}
