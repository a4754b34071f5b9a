//! The fold alone, in memory, against all changes looked at in plain Rust.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Int64Type, SchemaRef, TimestampMicrosecondType};

use super::aside::Aside;
use super::store::{Buckets, Unit, columns};
use super::{
    Change, FoldSpec, Order, Reducer, Starts, Ties, Validity, contest, only, settle, stretches, winners,
};
use crate::disk::Disk;
use crate::room::Room;
use crate::rows::RowHasher;

#[path = "../../tests/all/oracle.rs"]
mod oracle;
use oracle::{DAY, Key, Kind, Log, Random, Rank, Row, Stretch};

/// Tells apart what is set aside.
static NAMES: AtomicU64 = AtomicU64::new(0);

/// A log and what is folded from it.
struct Memory {
    seed: u64,
    columns: SchemaRef,
    order: Order,
    marks: RowHasher,
    log: BTreeMap<i64, RecordBatch>,
    current: RecordBatch,
    asked: usize,
    kind: Kind,
    spec: FoldSpec,
}

/// Where changes are set aside, `on_disk` or in memory.
fn aside(schema: SchemaRef, on_disk: bool) -> Aside {
    let name = format!("om-{}-{}", std::process::id(), NAMES.fetch_add(1, Ordering::Relaxed));
    let room = Room::new(if on_disk { 0 } else { usize::MAX });
    Aside::new(schema, room.share(0), Disk::new(None), std::env::temp_dir().join(name))
}

/// How `kind` is folded.
fn spec(kind: Kind) -> FoldSpec {
    let validity = Validity {
        at: kind.date().map(|(name, _)| name.to_owned()),
        sliced: kind.date().is_some_and(|(_, sliced)| sliced),
        tracked: vec!["value".to_owned()],
        starts: Starts::Instant,
    };
    FoldSpec {
        state: "test.rows".parse().unwrap(),
        beside: None,
        key: oracle::key(),
        order: kind.order(),
        bucket_rows: 3,
        rewrite_share: 25,
        validity: (kind != Kind::Merge).then_some(validity),
    }
}

impl Memory {
    fn new(kind: Kind, seed: u64) -> Memory {
        let columns = columns(&oracle::user_schema());
        let marked = columns.project(&[0, 1, 2, 3, 4, 5]).unwrap();
        let spec = spec(kind);
        Memory {
            seed,
            kind,
            order: Order::bucketed(&columns, &spec.identity(), &spec.order, &spec.key).unwrap(),
            spec,
            marks: RowHasher::new(&marked, &[]).unwrap(),
            log: BTreeMap::new(),
            current: RecordBatch::new_empty(columns.clone()),
            columns,
            asked: 0,
        }
    }

    /// The changes of a day as its slice stores them.
    fn stored(&self, day: i64, rows: &[Row]) -> RecordBatch {
        let batch = oracle::batch(rows);
        // Of some all is set aside, of half of these on disk.
        let few = if self.seed % 256 < 4 { 0 } else { 1 << 20 };
        let aside = |schema| aside(schema, self.seed.is_multiple_of(2));
        let mut reducer = Reducer::setting_aside(aside, few, &batch.schema(), &self.spec).unwrap();
        // In two pieces, as a stream would come.
        reducer.push(&batch.slice(0, batch.num_rows() / 2)).unwrap();
        reducer.push(&batch.slice(batch.num_rows() / 2, batch.num_rows() - batch.num_rows() / 2)).unwrap();
        let mut reduced = reducer.finish().unwrap();
        let mut found = Vec::new();
        while let Some(rows) = reduced.next_batch().unwrap() {
            found.push(rows);
        }
        if self.kind == Kind::Merge {
            assert_eq!(reduced.ties().0, oracle::ties(rows), "{rows:?}");
        }
        let found = concat_batches(&batch.schema(), &found).unwrap();
        let count = found.num_rows();
        assert_eq!(reduced.rows(), count as u64);
        let mut columns: Vec<ArrayRef> = found.columns().to_vec();
        columns.push(Arc::new(TimestampMicrosecondArray::from_value(day * DAY, count).with_timezone("UTC")));
        columns.push(Arc::new(StringArray::from_iter_values((0..count).map(|_| "code"))));
        RecordBatch::try_new(self.columns.clone(), columns).unwrap()
    }

    fn concat<'a>(&self, batches: impl Iterator<Item = &'a RecordBatch>) -> RecordBatch {
        concat_batches(&self.columns, batches).unwrap()
    }

    /// Publishes days; yields the ties that each brings.
    fn publish(&mut self, group: &Log) -> BTreeMap<i64, u64> {
        let fresh: BTreeMap<i64, RecordBatch> =
            group.iter().map(|(day, rows)| (*day, self.stored(*day, rows))).collect();
        let old = self.concat(group.keys().filter_map(|day| self.log.get(day)));
        let new = self.concat(fresh.values());
        self.log.extend(fresh);
        let change = Change::between(&self.order, &self.marks, &old, &new).unwrap();
        let replaced: BTreeSet<_> = group.keys().map(|day| Some(day * DAY)).collect();
        let current = only(&self.order, &self.current, |key| change.keys.contains(key)).unwrap();
        let contest = contest(&self.order, &change, &current, &replaced, self.kind.ties()).unwrap();
        self.asked += usize::from(!contest.asked.is_empty());
        let others =
            self.concat(self.log.iter().filter(|(day, _)| !group.contains_key(day)).map(|(_, rows)| rows));
        let answer = only(&self.order, &others, |key| contest.asked.contains(key)).unwrap();
        let settled = settle(&self.order, contest, answer).unwrap();
        let mut ties = Ties::default();
        ties.note(&self.order, &settled.tied, (&old, &change), &settled.others, &[0]).unwrap();
        let stay = only(&self.order, &self.current, |key| !change.keys.contains(key)).unwrap();
        self.current = self.concat([&stay, &settled.rows].into_iter());
        ties.by_slice(|_| false).into_iter().map(|(day, tied)| (day.unwrap() / DAY, tied.keys)).collect()
    }

    /// The changes that count.
    fn rows(&self) -> BTreeMap<(Key, Option<i64>), Rank> {
        let rows = rows_of(&self.current);
        let starts = self.current.column_by_name("_interval_start").unwrap();
        let starts = starts.as_primitive::<TimestampMicrosecondType>();
        let count = rows.len();
        let mut counting = BTreeMap::new();
        for (row, start) in rows.into_iter().zip(starts.values()) {
            assert_eq!(row.rank.at.div_euclid(DAY) * DAY, *start);
            let date = match self.kind {
                Kind::Merge => None,
                Kind::Changes => Some(row.rank.at),
                Kind::Dated | Kind::Even => row.rank.version,
                Kind::Snapshots => Some(*start),
            };
            counting.insert((row.key, date), row.rank);
        }
        assert_eq!(counting.len(), count, "an identity twice");
        counting
    }

    fn stretches(&self) -> Vec<Stretch> {
        let Some(validity) = &self.spec.validity else { return Vec::new() };
        let wide = columns(&validity.columns(&oracle::user_schema()).unwrap());
        let by_key = Order::new(&self.columns, &self.spec.key, &[]).unwrap();
        let tracked = Order::new(&self.columns, &validity.tracked, &[]).unwrap();
        let runs: Vec<i64> = self.log.keys().map(|day| day * DAY).collect();
        let (sorted, _) = winners(&self.order, &self.current, Buckets::ONE).unwrap();
        let rows = stretches(validity, &by_key, &tracked, &sorted, &runs, &wide).unwrap();
        let at = |name: &str, row: usize| {
            let column = rows.column_by_name(name).unwrap();
            let value = || match column.data_type() {
                DataType::Int64 => column.as_primitive::<Int64Type>().value(row),
                _ => column.as_primitive::<TimestampMicrosecondType>().value(row),
            };
            column.is_valid(row).then(value)
        };
        let current = rows.column_by_name("is_current").unwrap().as_boolean();
        let mut found: Vec<Stretch> = rows_of(&rows)
            .into_iter()
            .enumerate()
            .map(|(row, found)| {
                (found.key, found.rank.value, at("valid_from", row), at("valid_to", row), current.value(row))
            })
            .collect();
        found.sort();
        found
    }
}

fn rows_of(batch: &RecordBatch) -> Vec<Row> {
    let number = |name: &str, row: usize| {
        let column = batch.column_by_name(name).unwrap().as_primitive::<Int64Type>();
        column.is_valid(row).then(|| column.value(row))
    };
    let texts = batch.column_by_name("text").unwrap().as_string::<i32>();
    let times = batch.column_by_name("at").unwrap().as_primitive::<TimestampMicrosecondType>();
    let deleted = batch.column_by_name("_deleted").unwrap().as_boolean();
    (0..batch.num_rows())
        .map(|row| Row {
            key: (texts.is_valid(row).then(|| texts.value(row).to_owned()), number("number", row)),
            rank: Rank {
                version: number("version", row),
                deleted: deleted.value(row),
                at: times.value(row),
                value: number("value", row),
            },
        })
        .collect()
}

/// One sequence of runs, re-runs and corrections; the fold equals the oracle after each, and in any other order.
fn sequence(seed: u64) -> [usize; 2] {
    let (mut random, mut ties) = (Random(seed), 0);
    let kind = Kind::of(seed);
    let (mut memory, mut log) = (Memory::new(kind, seed), Log::new());
    for step in 0..2 + random.below(7) {
        let mut group = BTreeMap::new();
        for _ in 0..1 + random.below(3) / 2 {
            let day = random.below(5) as i64;
            let rows = match (log.get(&day), random.below(4)) {
                // As before, but for one row that is corrected or vanishes.
                (Some(rows), 1..) if !rows.is_empty() => {
                    let mut rows = rows.clone();
                    let place = random.below(rows.len() as u64) as usize;
                    match random.below(3) {
                        0 => drop(rows.remove(place)),
                        1 => rows[place].rank.value = Some(random.below(9) as i64),
                        _ => rows[place].rank.version = Some(random.below(4) as i64),
                    }
                    random.shuffle(&mut rows);
                    rows
                }
                _ => oracle::changes(&mut random, day),
            };
            group.insert(day, rows);
        }
        let counted = oracle::counted(&log, &group, kind);
        ties += counted.len();
        assert_eq!(memory.publish(&group), counted, "seed {seed}, step {step}, {kind:?}");
        log.extend(group);
        assert_eq!(memory.rows(), oracle::counting(&log, kind), "seed {seed}, step {step}, {kind:?}");
        if kind != Kind::Merge {
            assert_eq!(
                memory.stretches(),
                oracle::stretches(&log, kind),
                "seed {seed}, step {step}, {kind:?}"
            );
        }
    }
    let mut other = Memory::new(kind, seed);
    let mut days: Vec<i64> = log.keys().copied().collect();
    random.shuffle(&mut days);
    for days in days.chunks(1 + random.below(3) as usize) {
        other.publish(&days.iter().map(|day| (*day, log[day].clone())).collect());
    }
    assert_eq!(other.rows(), memory.rows(), "seed {seed}, in the order {days:?}");
    [memory.asked, ties]
}

#[test]
fn any_sequence_of_runs_equals_all_changes_looked_at() {
    let found = (0..20_000).map(sequence).reduce(|[asked, ties], [more, tied]| [asked + more, ties + tied]);
    let [asked, ties] = found.unwrap();
    assert!(asked > 3_000, "the log was asked {asked} times: the sequences no longer reach it");
    assert!(ties > 3_000, "{ties} slices with ties: the sequences no longer reach them");
}

#[test]
fn a_tie_is_told_by_one_of_its_rows() {
    let row = |value| {
        let rank = Rank { version: Some(1), deleted: false, at: 0, value: Some(value) };
        Row { key: (Some("a".to_owned()), Some(7)), rank }
    };
    let batch = oracle::batch(&[row(1), row(2)]);
    let aside = |schema| aside(schema, false);
    let mut reducer = Reducer::setting_aside(aside, 1, &batch.schema(), &spec(Kind::Merge)).unwrap();
    reducer.push(&batch).unwrap();
    let mut reduced = reducer.finish().unwrap();
    while reduced.next_batch().unwrap().is_some() {}
    let (ties, example) = reduced.ties();
    let said = "value = 2, text = a, number = 7, version = 1, at = 1970-01-01T00:00:00Z, _deleted = false";
    assert_eq!((ties, example), (1, Some(said)));
}

#[test]
fn buckets_halve_and_are_found_in_names() {
    let whole = Buckets { bits: 0 };
    assert_eq!(whole.grown(0, 100), whole);
    assert_eq!(whole.grown(100, 100), whole);
    assert_eq!(whole.grown(101, 100), Buckets { bits: 1 });
    let four = whole.grown(400, 100);
    assert_eq!((four, four.grown(1, 100)), (Buckets { bits: 2 }, four));
    assert_eq!((whole.of(u128::MAX), four.of(u128::MAX), four.of(1 << 126)), (0, 3, 1));
    let name = "data/all/om-17.4-b0ff-20130301T050000Z-b2.3-0.parquet";
    let unit = Unit { buckets: four, bucket: 3 };
    assert_eq!(Unit::in_name(name), Some((false, unit)));
    assert_eq!(Unit::in_name(&name.replace("-b2.", "-d2.")), Some((true, unit)));
    assert_eq!(Unit::in_name("data/all/00000-0-b1c2.parquet"), None);
    assert!(unit.holds(u128::MAX) && !unit.holds(1 << 127) && unit.first() == 3 << 126);
    assert!(Unit::ALL.covers(unit) && !unit.covers(Unit::ALL) && unit.meets(Unit::ALL));
}

/// Cut into units, of whatever fineness and wherever they were held, changes are what they are as one stream.
#[test]
fn units_of_changes_are_the_changes() {
    // Few enough to be held as they are, set aside in memory, and on disk.
    let held = [(usize::MAX, false), (0, false), (0, true)];
    for ((few, on_disk), bucket_rows) in
        held.into_iter().flat_map(|held| [3, 40, 1 << 20].map(|rows| (held, rows)))
    {
        let mut random = Random(bucket_rows);
        let rows: Vec<Row> = (0..250).flat_map(|day| oracle::changes(&mut random, day)).collect();
        let batch = oracle::batch(&rows);
        let spec = FoldSpec { bucket_rows, ..spec(Kind::Changes) };
        let reduced = || {
            // Taken in by two, side by side.
            let take_in = |parts: [usize; 2]| {
                let aside = |schema| aside(schema, on_disk);
                let mut reducer = Reducer::setting_aside(aside, few, &batch.schema(), &spec).unwrap();
                parts.into_iter().for_each(|part| reducer.push(&batch.slice(part * 200, 200)).unwrap());
                reducer
            };
            let mut reducer = take_in([0, 1]);
            reducer.join(take_in([2, 3]));
            reducer.finish().unwrap()
        };
        let (mut stream, mut cut) = (reduced(), reduced());
        let mut whole = Vec::new();
        while let Some(rows) = stream.next_batch().unwrap() {
            whole.push(rows);
        }
        let units = cut.units().unwrap();
        let order = Order::bucketed(&batch.schema(), &spec.reduced_by(), &spec.order, &spec.key).unwrap();
        let (mut parts, mut seen) = (Vec::new(), Vec::new());
        for portion in cut.portions(units).unwrap() {
            for (unit, winners) in cut.winners(&portion, units).unwrap() {
                assert_eq!(unit.buckets, units);
                assert!(order.hashes(&winners.rows).unwrap().into_iter().all(|hash| unit.holds(hash)));
                let again = super::in_buckets(&order, &winners.rows, winners.buckets).unwrap();
                assert_eq!(again, winners.rows, "by bucket, and in it by key");
                cut.note(&winners.found);
                seen.push(unit);
                parts.push(winners.rows);
            }
        }
        seen.dedup();
        assert_eq!(seen.len(), parts.len(), "a unit twice");
        let (whole, parts) = (
            concat_batches(&batch.schema(), &whole).unwrap(),
            concat_batches(&batch.schema(), &parts).unwrap(),
        );
        let sorted = |rows: &RecordBatch| super::in_buckets(&order, rows, Buckets::ONE).unwrap();
        assert_eq!(sorted(&whole), sorted(&parts));
        // Of several ties, which one is shown depends on the order.
        assert_eq!((stream.rows(), stream.ties().0), (cut.rows(), cut.ties().0));
        assert_eq!(stream.ties().1.is_some(), cut.ties().1.is_some());
        assert_eq!(stream.nulls_in("version"), cut.nulls_in("version"));
    }
}

/// Keys that are alike in all that is looked at first are told apart by the rest, and stand in order.
#[test]
fn keys_that_begin_alike_are_in_order() {
    let rows = 0..300_i64;
    // One that shares nothing with the others: nothing is left out in front of them.
    let name =
        |row: i64| if row == 7 { "b".to_owned() } else { format!("the very same {:02}", row * 37 % 40) };
    let keys: ArrayRef = Arc::new(StringArray::from_iter_values(rows.clone().map(name)));
    let versions: ArrayRef = Arc::new(Int64Array::from_iter_values(rows.clone().map(|row| row * 91 % 300)));
    let batch = RecordBatch::try_from_iter([("key", keys), ("version", versions)]).unwrap();
    let named = |name: &str| vec![name.to_owned()];
    let order = Order::new(&batch.schema(), &named("key"), &named("version")).unwrap();
    let mut latest: BTreeMap<String, i64> = BTreeMap::new();
    for row in rows {
        let version = latest.entry(name(row)).or_default();
        *version = (*version).max(row * 91 % 300);
    }
    let (found, _) = winners(&order, &batch, Buckets::ONE).unwrap();
    let (keys, versions) = (found.column(0).as_string::<i32>(), found.column(1).as_primitive::<Int64Type>());
    let found: Vec<(String, i64)> =
        keys.iter().flatten().map(str::to_owned).zip(versions.values().iter().copied()).collect();
    assert_eq!(found, latest.into_iter().collect::<Vec<_>>());
}

/// Starts of days and hours around changes of the clock, as columns of dates and of wall times are cut by them.
#[test]
fn starts_are_written_in_the_zone_of_the_slices() {
    let written = |starts: &Starts, seconds: &[i64]| -> Vec<String> {
        let instants = seconds.iter().map(|at| Some(at * 1_000_000));
        let column = starts.column(instants.chain([None])).unwrap();
        let text = |row| arrow::util::display::array_value_to_string(&column, row).unwrap();
        (0..column.len()).map(text).collect()
    };
    let berlin = || "Europe/Berlin".to_owned();
    // Local midnights, two of them around a change.
    let days = [1_774_738_800, 1_774_821_600, -90_000];
    assert_eq!(written(&Starts::Day(berlin()), &days), ["2026-03-29", "2026-03-30", "1969-12-31", ""]);
    // Two o'clock, two o'clock again, and three.
    let two = 1_792_886_400;
    let hours = [two, two + 3_600, two + 7_200];
    let wall = written(&Starts::Wall(berlin()), &hours);
    assert_eq!(wall, ["2026-10-25T02:00:00", "2026-10-25T03:00:00", "2026-10-25T03:00:00", ""]);
    assert_eq!(written(&Starts::Instant, &hours[..1]), ["2026-10-25T00:00:00Z", ""]);
}
