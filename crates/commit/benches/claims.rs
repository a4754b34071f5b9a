//! What claims and the ledger's rows cost a run: the transactions around a batch of slices, and the look at others' claims
//! in each commit. Their syncs are those of the publish, which `bench/cost.py` measures.
//!
//! `cargo bench --workspace --locked --bench claims`
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and ends where it can't go on"
)]

use std::sync::Arc;
use std::time::Instant as Clock;

use oncemore_commit::{AttemptEnd, AttemptState, ClaimRequest, Claimed, Warehouse, process_name};
use oncemore_core::world::SeededWorld;
use oncemore_core::{Digest, Instant, Interval, TableName, World};

const DAY: i64 = 86_400_000_000;
const ROUNDS: usize = 200;

/// The seeded world, under the name of a process that lives.
#[derive(Debug)]
struct Named(SeededWorld, String);

impl World for Named {
    fn now(&self) -> Instant {
        self.0.now()
    }

    fn fresh_id(&self) -> u128 {
        self.0.fresh_id()
    }

    fn process(&self) -> String {
        self.1.clone()
    }
}

fn open(root: &std::path::Path, seed: u64) -> Warehouse {
    let name = process_name(&format!("host-{seed}"), std::process::id());
    Warehouse::open(root, Arc::new(Named(SeededWorld::new(seed, Instant(DAY)), name))).unwrap()
}

fn slices(table: &TableName, from: i64, count: i64) -> Vec<(TableName, Interval)> {
    let day = |number: i64| Interval::new(Instant(number * DAY), Instant((number + 1) * DAY)).unwrap();
    (from..from + count).map(|number| (table.clone(), day(number))).collect()
}

fn wanted(slices: Vec<(TableName, Interval)>) -> ClaimRequest {
    let (user, command) = ("bench".to_owned(), "oncemore run".to_owned());
    ClaimRequest { request: 1, user, command, lease_micros: 60_000_000, slices }
}

/// Claims, numbers and gives up a batch; median of many, in ms.
fn batch(warehouse: &Warehouse, table: &TableName, count: i64) -> f64 {
    let code = Digest::of(b"code");
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Clock::now();
        let slices = slices(table, 0, count);
        let Claimed::Granted(id) = warehouse.claim(&wanted(slices.clone())).unwrap() else {
            panic!("nobody else is there")
        };
        let tasks: Vec<_> = slices.into_iter().map(|(table, slice)| (table, slice, code)).collect();
        let attempts = warehouse.begin_attempts(1, &tasks).unwrap();
        warehouse.release_claim(id).unwrap();
        times.push(start.elapsed().as_secs_f64() * 1e3);
        drop(attempts);
    }
    times.sort_by(f64::total_cmp);
    times[ROUNDS / 2]
}

/// Ends attempts, all in one transaction with its syncs; in µs for each.
fn ends(warehouse: &Warehouse, table: &TableName, count: i64) -> f64 {
    let code = Digest::of(b"code");
    let tasks: Vec<_> =
        slices(table, 0, count).into_iter().map(|(table, slice)| (table, slice, code)).collect();
    let attempts = warehouse.begin_attempts(1, &tasks).unwrap();
    let end = |attempt: oncemore_commit::Attempt| AttemptEnd {
        id: attempt.id,
        state: AttemptState::Failed,
        error: None,
    };
    let ends: Vec<AttemptEnd> = attempts.into_iter().map(end).collect();
    let start = Clock::now();
    warehouse.end_attempts(&ends).unwrap();
    start.elapsed().as_secs_f64() * 1e6 / count as f64
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let table: TableName = "silver.flights".parse().unwrap();
    let warehouse = open(folder.path(), 1);
    for count in [1, 128] {
        println!(
            "claim, attempts and release of {count:>3} slices: {:.2} ms",
            batch(&warehouse, &table, count)
        );
    }
    // Beside other runs at work.
    for other in 2..6 {
        let other_run = open(folder.path(), other);
        other_run.claim(&wanted(slices(&table, other as i64 * 1_000, 128))).unwrap();
    }
    println!("the same of 128 beside four other claims: {:.2} ms", batch(&warehouse, &table, 128));
    println!("the row of an attempt that ends: {:.1} µs", ends(&warehouse, &table, 10_000));
}
