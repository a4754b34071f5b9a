//! Ranges between symbolic bounds: intersection, hull, and which of two bounds is the lower one.

use std::cmp::Ordering;

use oncemore_core::{Bound, Edge, Offset, TimeType};

const DAY: i128 = 86_400_000_000;

/// `from <= t < to`, each side open where it is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Range {
    pub(super) from: Option<Bound>,
    pub(super) to: Option<Bound>,
}

impl Range {
    /// Rows in both. Where bounds can't be compared one of them stands for both: still sound.
    pub(super) fn and(self, other: Range) -> Range {
        Range {
            from: tighter(self.from, other.from, Ordering::Greater),
            to: tighter(self.to, other.to, Ordering::Less),
        }
    }

    /// A range that holds the rows of both.
    pub(super) fn or(self, other: Range) -> Range {
        Range {
            from: wider(self.from, other.from, Ordering::Less),
            to: wider(self.to, other.to, Ordering::Greater),
        }
    }
}

fn tighter(a: Option<Bound>, b: Option<Bound>, wanted: Ordering) -> Option<Bound> {
    let (Some(a), Some(b)) = (a.clone(), b.clone()) else { return a.or(b) };
    match compare(&a, &b) {
        Some(order) => Some(if order == wanted { a } else { b }),
        // A bound that moves with the interval says more than a constant.
        None if matches!(a.edge, Edge::Const(_)) => Some(b),
        None => Some(a),
    }
}

fn wider(a: Option<Bound>, b: Option<Bound>, wanted: Ordering) -> Option<Bound> {
    let (a, b) = (a?, b?);
    compare(&a, &b).map(|order| if order == wanted { a } else { b })
}

/// Which bound is lower for every interval, where that is known.
fn compare(a: &Bound, b: &Bound) -> Option<Ordering> {
    if a == b {
        return Some(Ordering::Equal);
    }
    if a.time_type != b.time_type {
        return None;
    }
    let ((a_low, a_high), (b_low, b_high)) = (moved(a), moved(b));
    let (below, above) = (a_high <= b_low, a_low >= b_high);
    match (a.edge, b.edge) {
        (Edge::Start, Edge::End) => below.then_some(Ordering::Less),
        (Edge::End, Edge::Start) => above.then_some(Ordering::Greater),
        (Edge::Const(_), Edge::Const(_)) | (Edge::Start, Edge::Start) | (Edge::End, Edge::End) => {
            if below {
                Some(Ordering::Less)
            } else {
                above.then_some(Ordering::Greater)
            }
        }
        _ => None,
    }
}

/// Between which distances from the edge (from 1970 for constants) a bound lies, in µs.
fn moved(bound: &Bound) -> (i128, i128) {
    let unit = if bound.time_type == TimeType::Date { DAY } else { 1 };
    let base = match bound.edge {
        Edge::Const(value) => i128::from(value) * unit,
        _ => 0,
    };
    bound.offsets.iter().fold((base, base), |(low, high), offset| {
        let months = i128::from(offset.months);
        let (short, long) = (months * 28 * DAY, months * 31 * DAY);
        let rest = i128::from(offset.days) * DAY + i128::from(offset.micros);
        (low + short.min(long) + rest, high + short.max(long) + rest)
    })
}

/// A bound further on.
pub(super) fn plus(mut bound: Bound, offsets: &[Offset]) -> Bound {
    bound.offsets.extend(offsets.iter().filter(|offset| **offset != Offset::default()));
    bound
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(edge: Edge, days: i32) -> Bound {
        plus(
            Bound { edge, time_type: TimeType::Date, offsets: vec![] },
            &[Offset { days, ..Offset::default() }],
        )
    }

    #[test]
    fn a_hull_of_bounds_that_cannot_be_compared_is_open() {
        let a = Range { from: Some(at(Edge::Start, 3)), to: Some(at(Edge::End, 0)) };
        let b = Range { from: Some(at(Edge::End, 0)), to: Some(at(Edge::Start, 0)) };
        let hull = a.or(b);
        assert_eq!(hull, Range { from: None, to: Some(at(Edge::End, 0)) });
    }

    #[test]
    fn the_earlier_start_wins_a_hull_and_the_later_an_intersection() {
        let range = |days| Range { from: Some(at(Edge::Start, days)), to: None };
        assert_eq!(range(-7).or(range(0)), range(-7));
        assert_eq!(range(-7).and(range(0)), range(0));
    }
}
