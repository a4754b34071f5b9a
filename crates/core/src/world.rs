//! Time and ids as values: the only way that they enter a library, so that a test can replay them from a seed.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::interval::Instant;

/// Where the current time and fresh ids come from.
pub trait World: Send + Sync + std::fmt::Debug {
    /// The current time. Decides which tasks are due and dates attempts; never what a slice holds.
    fn now(&self) -> Instant;
    /// A fresh id, unique over all processes that share a warehouse.
    fn fresh_id(&self) -> u128;
    /// Id of this process and host, to find out whether a claim's holder still lives.
    fn process(&self) -> String;
}

/// A world made from a seed: the clock steps by one millisecond a look, ids follow from the seed.
#[derive(Debug)]
pub struct SeededWorld {
    seed: u64,
    looks: AtomicU64,
    start: Instant,
}

impl SeededWorld {
    /// A world whose clock starts at `start`.
    pub fn new(seed: u64, start: Instant) -> Self {
        SeededWorld { seed, looks: AtomicU64::new(0), start }
    }
}

impl World for SeededWorld {
    fn now(&self) -> Instant {
        let looks = self.looks.fetch_add(1, Ordering::Relaxed);
        Instant(self.start.0 + i64::try_from(looks).unwrap_or(i64::MAX / 2_000) * 1_000)
    }

    fn fresh_id(&self) -> u128 {
        let looks = self.looks.fetch_add(1, Ordering::Relaxed);
        xxhash_rust::xxh3::xxh3_128_with_seed(&looks.to_le_bytes(), self.seed)
    }

    fn process(&self) -> String {
        format!("seed-{}", self.seed)
    }
}
