//! What a single durable commit costs in a table of many slices, against the first commits of a young one.
//!
//! `cargo bench --workspace --locked --bench flat -- [slices …]` (365 and 8760 by default). The last commits of the old
//! table alternate with the first of young ones, commit by commit, so that a busy disk slows both alike; beside the
//! time stands the processor time of the thread that commits.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and ends where it can't go on"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant as Clock;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use oncemore_commit::{Change, OnTie, Publish, SliceWriter, StampDraft, Warehouse};
use oncemore_core::world::SeededWorld;
use oncemore_core::{Digest, Instant, Interval, Origin, Pin, TableName};

const HOUR: i64 = 3_600_000_000;
/// Young tables, and so many commits of each; the old one makes as many in all.
const YOUNG: usize = 6;
const COMMITS: usize = 10;

struct Table {
    warehouse: Warehouse,
    name: TableName,
    next: i64,
}

fn rows(slice: i64) -> RecordBatch {
    let ids: Vec<i64> = (slice * 100..slice * 100 + 100).collect();
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(ids.iter().map(|id| format!("N{id}"))));
    let floats: ArrayRef = Arc::new(Float64Array::from_iter_values(ids.iter().map(|id| *id as f64 / 2.0)));
    let ids: ArrayRef = Arc::new(Int64Array::from(ids));
    RecordBatch::try_from_iter([("id", ids), ("tail", texts), ("delay", floats)]).unwrap()
}

/// Milliseconds of wall and of this thread's processor time.
#[derive(Clone, Copy)]
struct Cost(f64, f64);

/// Nanoseconds that this thread has been running.
fn running() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|field| field.parse().ok()).unwrap_or(0.0)
}

impl Table {
    fn new(root: &Path) -> Table {
        let world = SeededWorld::new(7, Instant(1_700_000_000_000_000));
        let warehouse = Warehouse::open(root, Arc::new(world)).unwrap();
        let name: TableName = "silver.flights".parse().unwrap();
        warehouse.ensure_table(&name, rows(0).schema_ref(), &["id".to_owned()], true).unwrap();
        Table { warehouse, name, next: 0 }
    }

    /// The next slice, in a durable commit of its own.
    fn commit(&mut self) -> Cost {
        let slice = self.next;
        self.next += 1;
        let interval = Interval::new(Instant(slice * HOUR), Instant((slice + 1) * HOUR)).unwrap();
        let (batch, code) = (rows(slice), Digest::of(b"code"));
        let (start, ran) = (Clock::now(), running());
        let request = self.warehouse.begin_request(None).unwrap();
        let claims = [(self.name.clone(), interval, code)];
        let attempt = self.warehouse.begin_attempts(request, &claims).unwrap().remove(0);
        let key = ["id".to_owned()];
        let schema = batch.schema();
        let writer = SliceWriter::new(&self.warehouse, &self.name, interval, schema, &key, &attempt, code);
        let mut writer = writer.unwrap();
        writer.write(&batch).unwrap();
        let stamp = StampDraft {
            code,
            code_seen: Instant(1),
            inputs: vec![Pin { input: "raw.flights".to_owned(), version: Digest::of(&slice.to_le_bytes()) }],
            audits: Digest::of(b"audits"),
            epoch: attempt.epoch,
            attempt: attempt.id,
            engine: "bench".to_owned(),
            origin: Origin::Computed,
        };
        let change = Change::Replace(writer.finish().unwrap().audited());
        let publish = Publish {
            table: self.name.clone(),
            interval,
            stamp,
            change,
            expected: None,
            replace_foreign: false,
            read_back: false,
            on_tie: OnTie::Ignore,
            dated_by: None,
        };
        self.warehouse.publish(vec![publish]).remove(0).unwrap();
        Cost(start.elapsed().as_secs_f64() * 1e3, (running() - ran) / 1e6)
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn medians(costs: &[Cost]) -> (f64, f64) {
    (median(costs.iter().map(|cost| cost.0).collect()), median(costs.iter().map(|cost| cost.1).collect()))
}

fn measure(slices: usize, folder: &Path) {
    let mut old = Table::new(&folder.join(format!("old-{slices}")));
    let before = slices - YOUNG * COMMITS;
    let costs: Vec<Cost> = (0..before).map(|_| old.commit()).collect();
    println!("{slices} slices, each in a commit of its own: ms of wall (of processor), medians");
    for window in costs.chunks(before.div_ceil(8)) {
        let (wall, cpu) = medians(window);
        print!("  {wall:.2} ({cpu:.2})");
    }
    println!();
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for number in 0..YOUNG {
        let mut young = Table::new(&folder.join(format!("young-{slices}-{number}")));
        for _ in 0..COMMITS {
            first.push(young.commit());
            last.push(old.commit());
        }
    }
    let ((first_wall, first_cpu), (last_wall, last_cpu)) = (medians(&first), medians(&last));
    println!(
        "  first ten of {YOUNG} young tables {first_wall:.2} ({first_cpu:.2}), the last of the old {last_wall:.2} ({last_cpu:.2}): \
         {:.2} times ({:.2})",
        last_wall / first_wall,
        last_cpu / first_cpu
    );
}

fn main() {
    let asked: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    // Below the folder of the build: a temporary folder may lie in memory, where nothing is durable.
    let base = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let folder = tempfile::tempdir_in(base).unwrap();
    for slices in if asked.is_empty() { vec![365, 8_760] } else { asked } {
        measure(slices, folder.path());
    }
}
