//! Who may hold how much of the memory given to all queries together.
//!
//! Sorts, aggregations and repartitions can spill, and merges of what was spilled take as many runs at once as they
//! get memory for. Each of these has a share that the others can't take: a quarter of the memory is kept for merges
//! and for what can do neither, so that nothing that could go on through the disk fails because others were first.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use datafusion::common::Result;
use datafusion::error::DataFusionError;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};

/// What merges of sorted runs call themselves.
const MERGE: &str = "ExternalSorterMerge";

/// Memory for all queries of an engine, in shares.
#[derive(Debug)]
pub(super) struct Shares {
    total: usize,
    /// At least so many of a kind are expected, one for each partition: the first must not take what the second needs.
    expected: usize,
    held: Mutex<Held>,
}

/// How a consumer lives with less than it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Spills,
    Merges,
    Fails,
}

#[derive(Debug, Default)]
struct Held {
    /// Bytes by the consumer's number, of those that hold any.
    spills: HashMap<usize, usize>,
    merges: HashMap<usize, usize>,
    fails: usize,
    /// The most that each of those that spill ever held.
    peaks: HashMap<usize, usize>,
}

impl Held {
    fn spilling(&self) -> usize {
        self.spills.values().sum()
    }

    fn merging(&self) -> usize {
        self.merges.values().sum()
    }

    fn all(&self) -> usize {
        self.spilling() + self.merging() + self.fails
    }
}

impl Shares {
    pub(super) fn new(total: usize, partitions: usize) -> Self {
        Shares { total, expected: partitions.max(1), held: Mutex::default() }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // A panic elsewhere leaves sums that are as right as before.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What all that spill may hold together.
    fn spillable(&self, held: &Held) -> usize {
        self.total.saturating_sub((self.total / 4).max(held.fails))
    }

    /// The most that a consumer of this kind may hold now.
    fn most(&self, held: &Held, kind: Kind, consumer: usize) -> usize {
        let kept = self.total / 4;
        match kind {
            Kind::Spills => share(self.spillable(held), &held.spills, consumer, self.expected),
            Kind::Merges => {
                let free = self.total.saturating_sub(held.spilling() + held.fails);
                share(kept.max(free), &held.merges, consumer, self.expected)
            }
            Kind::Fails => kept.max(self.total.saturating_sub(held.spilling() + held.merging())),
        }
    }
}

/// An equal share of `budget`, where those that hold less than theirs leave the rest to the others.
fn share(budget: usize, held: &HashMap<usize, usize>, consumer: usize, expected: usize) -> usize {
    let mut others: Vec<usize> =
        held.iter().filter(|(other, _)| **other != consumer).map(|(_, bytes)| *bytes).collect();
    others.sort_unstable();
    let (mut rest, mut among) = (budget, (others.len() + 1).max(expected));
    for other in others {
        if other >= rest / among {
            break;
        }
        rest -= other;
        among -= 1;
    }
    rest / among
}

fn kind(consumer: &MemoryConsumer) -> Kind {
    if consumer.can_spill() {
        Kind::Spills
    } else if consumer.name().starts_with(MERGE) {
        Kind::Merges
    } else {
        Kind::Fails
    }
}

fn add(held: &mut Held, consumer: &MemoryConsumer, bytes: usize) {
    match kind(consumer) {
        Kind::Spills => {
            let own = held.spills.entry(consumer.id()).or_default();
            *own += bytes;
            let peak = held.peaks.entry(consumer.id()).or_default();
            *peak = (*peak).max(*own);
        }
        Kind::Merges => *held.merges.entry(consumer.id()).or_default() += bytes,
        Kind::Fails => held.fails += bytes,
    }
}

fn take(held: &mut HashMap<usize, usize>, consumer: usize, bytes: usize) {
    if let Some(own) = held.get_mut(&consumer) {
        *own = own.saturating_sub(bytes);
        if *own == 0 {
            held.remove(&consumer);
        }
    }
}

impl MemoryPool for Shares {
    fn unregister(&self, consumer: &MemoryConsumer) {
        self.held().peaks.remove(&consumer.id());
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        add(&mut self.held(), reservation.consumer(), additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        let (consumer, mut held) = (reservation.consumer(), self.held());
        match kind(consumer) {
            Kind::Spills => take(&mut held.spills, consumer.id(), shrink),
            Kind::Merges => take(&mut held.merges, consumer.id(), shrink),
            Kind::Fails => held.fails = held.fails.saturating_sub(shrink),
        }
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        let (consumer, mut held) = (reservation.consumer(), self.held());
        let kind = kind(consumer);
        let own = match kind {
            Kind::Spills => held.spills.get(&consumer.id()).copied().unwrap_or(0),
            Kind::Merges => held.merges.get(&consumer.id()).copied().unwrap_or(0),
            Kind::Fails => held.fails,
        };
        let most = self.most(&held, kind, consumer.id());
        // What holds nothing can't spill. It gets its first piece wherever there is room at all; and what it gave back
        // in order to spill, all but a rest, it gets back to do so.
        let room = || own == 0 && held.all().saturating_add(additional) <= self.total;
        let had = || {
            let peak = held.peaks.get(&consumer.id()).copied().unwrap_or(0);
            own <= peak / 8 && own.saturating_add(additional) <= peak
        };
        // Those that came early hold more than their share of now: one of them has to spill before others get theirs.
        // A sort that only rounds up what it holds could not, any more.
        let wanted = own.saturating_add(additional);
        let over = kind == Kind::Spills
            && wanted > most / 4
            && additional > own / 64
            && held.spilling().saturating_add(additional) > self.spillable(&held);
        if (wanted > most || over) && !room() && !had() {
            return Err(DataFusionError::ResourcesExhausted(format!(
                "out of memory: {} asks for {} more; it holds {} and may hold {} of {}",
                consumer.name(),
                megabytes(additional),
                megabytes(own),
                megabytes(most),
                megabytes(self.total)
            )));
        }
        add(&mut held, consumer, additional);
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.held().all()
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(self.total)
    }
}

fn megabytes(bytes: usize) -> String {
    format!("{:.1} MB", bytes as f64 / 1_048_576.0)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::Arc;

    use super::*;

    #[test]
    fn nobody_takes_what_the_next_one_needs() {
        let pool: Arc<dyn MemoryPool> = Arc::new(Shares::new(1_000, 2));
        let spills = |name| MemoryConsumer::new(name).with_can_spill(true).register(&pool);
        let (first, second) = (spills("sort 1"), spills("sort 2"));
        first.try_grow(375).unwrap();
        assert!(first.try_grow(1).is_err());
        second.try_grow(375).unwrap();
        let (one, other) =
            (MemoryConsumer::new("ExternalSorterMerge[0]"), MemoryConsumer::new("ExternalSorterMerge[1]"));
        let (one, other) = (one.register(&pool), other.register(&pool));
        one.try_grow(125).unwrap();
        other.try_grow(125).unwrap();
        assert!(one.try_grow(1).is_err());
        // What was spilled is free for merging.
        first.free();
        second.free();
        one.try_grow(375).unwrap();
        other.try_grow(375).unwrap();
        assert_eq!(pool.reserved(), 1_000);
    }

    #[test]
    fn those_that_hold_little_leave_their_share_to_others() {
        let held = HashMap::from([(1, 10), (2, 10), (3, 400)]);
        assert_eq!(share(1_000, &held, 9, 1), 580);
        assert_eq!(share(1_000, &held, 3, 1), 980);
        assert_eq!(share(1_000, &held, 3, 4), 490);
        assert_eq!(share(1_000, &HashMap::new(), 9, 4), 250);
        assert_eq!(share(1_000, &HashMap::from([(1, 600)]), 9, 2), 500);
    }

    #[test]
    fn what_can_not_spill_gets_what_is_free_and_always_a_quarter() {
        let pool: Arc<dyn MemoryPool> = Arc::new(Shares::new(1_000, 1));
        let join = MemoryConsumer::new("HashJoinInput").register(&pool);
        join.try_grow(900).unwrap();
        let text = join.try_grow(200_000_000).unwrap_err().to_string();
        assert!(text.contains("HashJoinInput asks for 190.7 MB more"), "{text}");
        join.free();
        let sort = MemoryConsumer::new("sort").with_can_spill(true).register(&pool);
        sort.try_grow(750).unwrap();
        join.try_grow(250).unwrap();
        assert!(join.try_grow(1).is_err());
        // A sort that holds nothing yet could not spill either: it asks for room, not for a share.
        let late = MemoryConsumer::new("late").with_can_spill(true).register(&pool);
        sort.shrink(700);
        late.try_grow(600).unwrap();
        // And what it gave back it gets back, whoever came in between.
        late.shrink(580);
        sort.try_grow(325).unwrap();
        join.try_grow(350).unwrap();
        assert!(MemoryConsumer::new("new").with_can_spill(true).register(&pool).try_grow(600).is_err());
        late.try_grow(580).unwrap();
    }
}
