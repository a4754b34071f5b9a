//! Numbers that look random, from a seed that a failure names.

/// Small numbers, the same for the same seed.
#[derive(Clone, Debug)]
pub struct Numbers(pub u64);

impl Numbers {
    /// The next number, in `0..end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// One of a list that is not empty.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len() as u64) as usize]
    }

    /// Brings a list into another order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at as u64 + 1) as usize);
        }
    }
}

/// The seed in `ONCEMORE_SEED`, to see a failure again; else another one for each process.
#[expect(clippy::disallowed_methods, reason = "a test is told its seed from outside")]
pub fn seed() -> u64 {
    std::env::var("ONCEMORE_SEED")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(u64::from(std::process::id()))
}
