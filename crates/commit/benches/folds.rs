//! What a merge of a few changed keys into a large table costs, once and again and again, without an engine around it.
//!
//! `cargo bench --workspace --locked --bench folds -- [keys changed times]` (10,000,000 1,000 100 by default). The log has
//! a slice a day of a year before the changes come, a slice each; nine of ten changes are of keys that are there. Each
//! merge opens the warehouse anew, as a process of its own would.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and ends where it can't go on"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant as Clock;

use arrow::array::{ArrayRef, Date32Array, Int64Array, RecordBatch, StringArray};
use oncemore_commit::{
    BUCKET_ROWS, Change, FoldSpec, OnTie, Publish, REWRITE_SHARE, Reducer, Room, SliceWriter, StampDraft,
    Warehouse,
};
use oncemore_core::world::SeededWorld;
use oncemore_core::{Digest, Instant, Interval, Origin, TableName};

const DAY: i64 = 86_400_000_000;
const DAYS: i64 = 365;

/// Seconds of wall and of processor.
#[derive(Clone, Copy)]
struct Cost(f64, f64);

impl Cost {
    fn since((clock, ran): (Clock, f64)) -> Cost {
        Cost(clock.elapsed().as_secs_f64(), running() - ran)
    }

    fn and(self, other: Cost) -> Cost {
        Cost(self.0 + other.0, self.1 + other.1)
    }
}

impl std::fmt::Display for Cost {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:.3} s ({:.2})", self.0, self.1)
    }
}

struct Bench {
    root: PathBuf,
    world: Arc<SeededWorld>,
}

fn log() -> TableName {
    "gold.dim__changes".parse().unwrap()
}

fn spec() -> FoldSpec {
    FoldSpec {
        state: "gold.dim".parse().unwrap(),
        beside: None,
        key: vec!["k".to_owned()],
        order: vec!["version".to_owned()],
        bucket_rows: BUCKET_ROWS,
        rewrite_share: REWRITE_SHARE,
        validity: None,
    }
}

fn mixed(value: u64) -> u64 {
    let mixed = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 8
}

fn rows(keys: &[i64], version: i64) -> RecordBatch {
    let random = |key: &i64, of: u64| mixed((*key as u64) ^ ((version as u64) << 40)) % of;
    let names: ArrayRef =
        Arc::new(StringArray::from_iter_values(keys.iter().map(|key| format!("customer {key}"))));
    let countries = ["DE", "FR", "US", "GB", "JP", "BR", "IN", "CA", "AU", "NL"];
    let country: ArrayRef =
        Arc::new(StringArray::from_iter_values(keys.iter().map(|key| countries[random(key, 10) as usize])));
    let balance: ArrayRef =
        Arc::new(Int64Array::from_iter_values(keys.iter().map(|key| random(key, 1_000_000) as i64)));
    let versions: ArrayRef = Arc::new(Int64Array::from_value(version, keys.len()));
    let dates: ArrayRef = Arc::new(Date32Array::from_value(20_000 + version as i32, keys.len()));
    let keys: ArrayRef = Arc::new(Int64Array::from(keys.to_vec()));
    RecordBatch::try_from_iter([
        ("k", keys),
        ("name", names),
        ("country", country),
        ("balance_cents", balance),
        ("version", versions),
        ("dt", dates),
    ])
    .unwrap()
}

/// Bytes that changes are held in: what `run` has by default.
const ROOM: usize = 640 << 20;

impl Bench {
    fn open(&self) -> Warehouse {
        Warehouse::open(&self.root, self.world.clone()).unwrap()
    }

    /// Stages and publishes slices in one commit; returns what of both took.
    fn publish(&self, slices: &[(i64, Vec<i64>, i64)]) -> (Cost, Cost) {
        let start = (Clock::now(), running());
        let (warehouse, room) = (self.open(), Room::new(ROOM));
        let code = Digest::of(b"code");
        let request = warehouse.begin_request(None).unwrap();
        let mut publishes = Vec::new();
        for (day, keys, version) in slices {
            let interval = Interval::new(Instant(day * DAY), Instant((day + 1) * DAY)).unwrap();
            let attempt = warehouse.begin_attempts(request, &[(log(), interval, code)]).unwrap().remove(0);
            let mut reducer = Reducer::new(&warehouse, &room, &rows(&[], 0).schema(), &spec()).unwrap();
            keys.chunks(8_192).for_each(|keys| reducer.push(&rows(keys, *version)).unwrap());
            let key = spec().key;
            let mut writer =
                SliceWriter::new(&warehouse, &log(), interval, reducer.schema(), &key, &attempt, code)
                    .unwrap();
            writer.write_reduced(&mut reducer.finish().unwrap(), &key).unwrap();
            publishes.push(Publish {
                table: log(),
                interval,
                stamp: StampDraft {
                    code,
                    code_seen: Instant(1),
                    inputs: Vec::new(),
                    audits: Digest::of(b"audits"),
                    epoch: attempt.epoch,
                    attempt: attempt.id,
                    engine: "bench".to_owned(),
                    origin: Origin::Computed,
                },
                change: Change::Replace(writer.finish().unwrap().audited()),
                expected: None,
                replace_foreign: false,
                read_back: false,
                on_tie: OnTie::Ignore,
                dated_by: None,
            });
        }
        let staged = Cost::since(start);
        let start = (Clock::now(), running());
        assert!(warehouse.publish(publishes).iter().all(Result::is_ok));
        (staged, Cost::since(start))
    }

    fn files(&self) -> String {
        let head = self.open().head(&spec().state).unwrap().unwrap();
        let rows: u64 = head.all_files().iter().map(|file| file.rows).sum();
        let bytes: u64 = head.all_files().iter().map(|file| file.bytes).sum();
        format!("{rows} rows in {} files, {} MB", head.all_files().len(), bytes / 1_000_000)
    }
}

/// Seconds of processor that the process took, all of its threads together.
fn running() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = text.rsplit(") ").next().unwrap_or_default();
    // In hundredths: the eleventh and the twelfth after the name.
    after.split(' ').skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().replace([' ', '\t'], "")
}

fn measure(root: &Path, keys: i64, changed: i64, times: i64) {
    let world = Arc::new(SeededWorld::new(7, Instant(1_700_000_000_000_000)));
    let bench = Bench { root: root.to_owned(), world };
    bench.open().ensure_fold(&log(), &rows(&[], 0).schema(), false, &spec()).unwrap();
    let year: Vec<_> = (0..DAYS).map(|day| (day, (day..keys).step_by(DAYS as usize).collect(), 0)).collect();
    let (staged, published) = bench.publish(&year);
    println!("seconds of wall (of processor)");
    println!(
        "{keys} keys in {DAYS} slices: staged in {staged}, folded in {published}; {}; {}",
        bench.files(),
        memory()
    );
    let mut all = Vec::new();
    for time in 1..=times {
        let old = changed * 9 / 10;
        let mut feed: Vec<i64> = (0..old).map(|at| at * (keys / old) + time % (keys / old)).collect();
        feed.extend((0..changed - old).map(|at| keys + time * changed + at));
        let (staged, published) = bench.publish(&[(DAYS + time, feed, time)]);
        all.push(staged.and(published));
        if time <= 3 || time % 10 == 0 {
            println!("  {changed} changes, the {time}. time: {staged} + {published}; {}", bench.files());
        }
    }
    let mean = |times: &[Cost]| {
        let sum = times.iter().copied().fold(Cost(0.0, 0.0), Cost::and);
        let count = times.len().max(1) as f64;
        Cost(sum.0 / count, sum.1 / count)
    };
    let ten = all.len().min(10);
    let most = all.iter().fold(Cost(0.0, 0.0), |most, cost| Cost(most.0.max(cost.0), most.1.max(cost.1)));
    let (first, last) = (mean(&all[..ten]), mean(&all[all.len() - ten..]));
    println!("  first ten {first}, last ten {last}, most {most}; {}", memory());
}

fn main() {
    let asked: Vec<i64> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let at = |place: usize, default| asked.get(place).copied().unwrap_or(default);
    // Below the folder of the build: a temporary folder may lie in memory, where nothing is durable.
    let folder = tempfile::tempdir_in(PathBuf::from(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    measure(folder.path(), at(0, 10_000_000), at(1, 1_000), at(2, 100));
}
