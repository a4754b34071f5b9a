//! Sets of instants as disjoint intervals: covers and gaps.

use crate::interval::Interval;

/// A set of instants, kept as sorted, disjoint, non-touching intervals.
///
/// # Invariants
/// `intervals[i].end() < intervals[i + 1].start()`: touching intervals are joined, so equal sets compare equal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntervalSet {
    intervals: Vec<Interval>,
}

impl IntervalSet {
    /// The set without any instant.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The intervals, sorted, disjoint and not touching.
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// Whether no instant is in the set.
    pub fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }

    /// Whether every instant of `interval` is in the set.
    pub fn covers(&self, interval: Interval) -> bool {
        self.candidates(interval).any(|own| own.covers(interval))
    }

    /// Whether the set shares an instant with `interval`.
    pub fn overlaps(&self, interval: Interval) -> bool {
        self.candidates(interval).next().is_some()
    }

    /// The parts of `within` that are not in the set, in order.
    pub fn gaps(&self, within: Interval) -> Vec<Interval> {
        let mut gaps = Vec::new();
        let mut from = within.start();
        for own in self.candidates(within) {
            gaps.extend(Interval::new(from, own.start()));
            from = from.max(own.end());
        }
        gaps.extend(Interval::new(from, within.end()));
        gaps
    }

    /// Adds an interval.
    pub fn insert(&mut self, interval: Interval) {
        let from = self.intervals.partition_point(|own| own.end() < interval.start());
        let to = self.intervals.partition_point(|own| own.start() <= interval.end());
        let joined = match self.intervals.get(from..to) {
            Some([]) | None => interval,
            Some(touching @ [first, ..]) => {
                let last = touching[touching.len() - 1];
                Interval::new(first.start().min(interval.start()), last.end().max(interval.end()))
                    .unwrap_or(interval)
            }
        };
        self.intervals.splice(from..to, [joined]);
    }

    /// Removes every instant of `interval`.
    pub fn remove(&mut self, interval: Interval) {
        let kept = self.intervals.iter().flat_map(|own| match own.intersect(interval) {
            None => [Some(*own), None],
            Some(shared) => {
                [Interval::new(own.start(), shared.start()), Interval::new(shared.end(), own.end())]
            }
        });
        self.intervals = kept.flatten().collect();
    }

    fn candidates(&self, interval: Interval) -> impl Iterator<Item = Interval> {
        let from = self.intervals.partition_point(|own| own.end() <= interval.start());
        self.intervals[from..].iter().copied().take_while(move |own| own.start() < interval.end())
    }
}

impl FromIterator<Interval> for IntervalSet {
    fn from_iter<I: IntoIterator<Item = Interval>>(intervals: I) -> Self {
        let mut sorted: Vec<Interval> = intervals.into_iter().collect();
        sorted.sort_unstable();
        let mut joined: Vec<Interval> = Vec::with_capacity(sorted.len());
        for next in sorted {
            match joined.last_mut() {
                Some(last) if next.start() <= last.end() => {
                    *last = Interval::new(last.start(), last.end().max(next.end())).unwrap_or(next);
                }
                _ => joined.push(next),
            }
        }
        IntervalSet { intervals: joined }
    }
}
