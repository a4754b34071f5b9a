//! A set of intervals against the naive one: a list of instants.

use std::collections::BTreeSet;

use oncemore_core::{Instant, Interval, IntervalSet};
use proptest::prelude::*;

fn interval() -> impl Strategy<Value = Interval> {
    (0i64..40, 1i64..12)
        .prop_map(|(start, length)| Interval::new(Instant(start), Instant(start + length)).unwrap())
}

fn instants(set: &IntervalSet) -> BTreeSet<i64> {
    set.intervals().iter().flat_map(|own| own.start().0..own.end().0).collect()
}

proptest! {
    #[test]
    fn sets_are_sets_of_instants(steps in prop::collection::vec((interval(), any::<bool>()), 0..20), asked in interval()) {
        let mut set = IntervalSet::empty();
        let mut naive: BTreeSet<i64> = BTreeSet::new();
        for (interval, insert) in steps {
            if insert {
                set.insert(interval);
                naive.extend(interval.start().0..interval.end().0);
            } else {
                set.remove(interval);
                naive.retain(|instant| !interval.contains(Instant(*instant)));
            }
        }
        prop_assert_eq!(instants(&set), naive.clone());
        // Joined, sorted, apart: one form for each set.
        for pair in set.intervals().windows(2) {
            prop_assert!(pair[0].end() < pair[1].start());
        }
        prop_assert_eq!(&set, &set.intervals().iter().copied().collect::<IntervalSet>());
        let inside = |instant: &i64| naive.contains(instant);
        let range: Vec<i64> = (asked.start().0..asked.end().0).collect();
        prop_assert_eq!(set.covers(asked), range.iter().all(inside));
        prop_assert_eq!(set.overlaps(asked), range.iter().any(inside));
        // Cover is exact: what is in the set and what is in its gaps make the range, each instant once.
        let gaps: Vec<i64> = set.gaps(asked).into_iter().flat_map(|gap| gap.start().0..gap.end().0).collect();
        let expected: Vec<i64> = range.iter().copied().filter(|instant| !inside(instant)).collect();
        prop_assert_eq!(gaps, expected);
    }
}
