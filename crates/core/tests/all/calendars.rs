//! Calendars in zones whose clocks change: adjacent intervals, exact covers, typed bounds that cut each column type
//! into the same slices.

use jiff::civil::{Date, DateTime, date};
use oncemore_core::{Calendar, Instant, Interval, IntervalLength, Zone};
use proptest::prelude::*;

const ZONES: [&str; 9] = [
    "UTC",
    "America/New_York",
    "Asia/Kolkata",
    "Pacific/Auckland",
    "Pacific/Apia",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "Europe/Berlin",
    "Africa/Monrovia",
];
const LENGTHS: [&str; 8] = ["15 minutes", "90 minutes", "hour", "day", "week", "month", "quarter", "year"];

fn calendar(zone: &str, length: &str) -> Calendar {
    Calendar::new(length.parse().unwrap(), Zone::named(zone).unwrap())
}

fn any_calendar() -> impl Strategy<Value = Calendar> {
    (prop::sample::select(&ZONES[..]), prop::sample::select(&LENGTHS[..]))
        .prop_map(|(zone, length)| calendar(zone, length))
}

/// 1975 to 2045: with and without clock changes, also at midnight.
fn instant() -> impl Strategy<Value = Instant> {
    (157_766_400_000_000i64..2_366_841_600_000_000).prop_map(Instant)
}

fn hours(interval: Interval) -> i64 {
    (interval.end().0 - interval.start().0) / 3_600_000_000
}

#[test]
fn a_local_day_has_23_24_or_25_hours() {
    let days = calendar("America/New_York", "day");
    let day = |text: &str| days.parse_range(text).unwrap();
    assert_eq!(hours(day("2013-03-10")), 23);
    assert_eq!(hours(day("2013-11-03")), 25);
    assert_eq!(hours(day("2013-07-01")), 24);
    assert_eq!(day("2013-03-01").start().to_string(), "2013-03-01T05:00:00Z");
}

#[test]
fn hours_of_the_day_the_clock_goes_back() {
    let hours = calendar("America/New_York", "hour");
    let day = calendar("America/New_York", "day").parse_range("2013-11-03").unwrap();
    let labels: Vec<String> = hours.inside(day).map(|hour| hours.label(hour)).collect();
    assert_eq!(labels.len(), 25);
    assert_eq!(labels[1], "2013-11-03T01:00");
    assert_eq!(labels[2], "2013-11-03T01:00 (second)");
    // Wall times of the repeated hour belong to its first showing alone.
    let bounds: Vec<(DateTime, DateTime)> = hours
        .inside(day)
        .map(|hour| (hours.zone.wall_bound(hour.start()), hours.zone.wall_bound(hour.end())))
        .collect();
    assert_eq!(bounds[1].0.hour(), 1);
    assert_eq!(bounds[1].1.hour(), 2);
    assert_eq!(bounds[2].0, bounds[2].1);
}

#[test]
fn a_day_without_midnight_begins_where_the_gap_ends() {
    let days = calendar("America/Sao_Paulo", "day");
    let day = days.parse_range("2017-10-15").unwrap();
    assert_eq!(hours(day), 23);
    assert_eq!(days.zone.wall(day.start()).hour(), 1);
    assert_eq!(days.zone.date_bound(day.start()), date(2017, 10, 15));
}

#[test]
fn a_day_that_a_zone_skipped_has_no_interval() {
    let days = calendar("Pacific/Apia", "day");
    let before = days.parse_range("2011-12-29").unwrap();
    assert_eq!(days.label(days.next(before)), "2011-12-31");
}

#[test]
fn ranges_are_read_as_people_write_them() {
    let days = calendar("America/New_York", "day");
    for (text, start, end) in [
        ("2013", "2013-01-01T05:00:00Z", "2014-01-01T05:00:00Z"),
        ("2013-Q4", "2013-10-01T04:00:00Z", "2014-01-01T05:00:00Z"),
        ("2013-03", "2013-03-01T05:00:00Z", "2013-04-01T04:00:00Z"),
        ("2013-03-10", "2013-03-10T05:00:00Z", "2013-03-11T04:00:00Z"),
        ("2013-03-10T05", "2013-03-10T09:00:00Z", "2013-03-10T10:00:00Z"),
    ] {
        let range = days.parse_range(text).unwrap();
        assert_eq!((range.start().to_string(), range.end().to_string()), (start.to_owned(), end.to_owned()));
    }
    for text in ["2013-13", "2013-02-30", "13", "2013-3", "", "yesterday", "2013-Q5", "2013-03-01T05:30"] {
        assert_eq!(days.parse_range(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn every_instant_is_in_exactly_one_interval(calendar in any_calendar(), instant in instant()) {
        let own = calendar.containing(instant);
        prop_assert!(own.contains(instant));
        let (before, after) = (calendar.previous(own), calendar.next(own));
        prop_assert_eq!(before.end(), own.start());
        prop_assert_eq!(after.start(), own.end());
        prop_assert!(calendar.is_boundary(own.start()));
        prop_assert_eq!(calendar.containing(Instant(own.end().0 - 1)), own);
    }

    #[test]
    fn covers_are_exact(calendar in any_calendar(), start in instant(), days in 1i64..40) {
        let range = Interval::new(start, Instant(start.0 + days * 86_400_000_000)).unwrap();
        let touching: Vec<Interval> = calendar.touching(range).take(2_000).collect();
        for pair in touching.windows(2) {
            prop_assert_eq!(pair[0].end(), pair[1].start());
        }
        prop_assert!(touching[0].contains(start));
        prop_assert!(touching.iter().all(|own| own.overlaps(range)));
        let inside: Vec<Interval> = calendar.inside(range).take(2_000).collect();
        let expected: Vec<Interval> = touching.iter().copied().filter(|own| range.covers(*own)).collect();
        if touching.len() < 2_000 {
            prop_assert_eq!(inside, expected);
        }
    }

    /// A wall time or a date lies between the typed bounds of exactly one interval.
    #[test]
    fn typed_bounds_cut_each_column_type_into_the_same_slices(calendar in any_calendar(), instant in instant()) {
        let zone = &calendar.zone;
        let wall = zone.wall(instant);
        let own = calendar.containing(zone.instant(wall));
        let mut holding = Vec::new();
        let mut candidate = calendar.previous(calendar.previous(calendar.previous(own)));
        for _ in 0..7 {
            if zone.wall_bound(candidate.start()) <= wall && wall < zone.wall_bound(candidate.end()) {
                holding.push(candidate);
            }
            candidate = calendar.next(candidate);
        }
        prop_assert_eq!(&holding, &vec![own]);
        if !calendar.length.is_below_day() {
            let local: Date = wall.date();
            let mut holding = Vec::new();
            let mut candidate = calendar.previous(own);
            for _ in 0..3 {
                if zone.date_bound(candidate.start()) <= local && local < zone.date_bound(candidate.end()) {
                    holding.push(candidate);
                }
                candidate = calendar.next(candidate);
            }
            prop_assert_eq!(holding.len(), 1);
            prop_assert!(holding[0].contains(instant));
        }
    }

    #[test]
    fn a_label_names_its_interval(calendar in any_calendar(), instant in instant()) {
        let own = calendar.containing(instant);
        let label = calendar.label(own);
        let repeated = label.ends_with("(second)");
        let week = calendar.length == IntervalLength::Week;
        if !repeated && !week {
            prop_assert_eq!(calendar.parse_range(&label), Some(own), "{}", label);
        }
    }
}

#[test]
fn time_ends() {
    for (zone, length) in ZONES.iter().flat_map(|zone| LENGTHS.map(|length| (zone, length))) {
        let calendar = calendar(zone, length);
        let days = |number: i64| number * 86_400_000_000;
        let last = Instant::from(jiff::Timestamp::MAX);
        let (first, last) = (Instant::from(jiff::Timestamp::MIN).0, last.0);
        let end = Interval::new(Instant(last - days(20)), Instant::MAX).unwrap();
        let begin = Interval::new(Instant::MIN, Instant(first + days(20))).unwrap();
        for range in [begin, end] {
            let most = 30 * 24 * 4;
            assert!(calendar.touching(range).take(most).count() < most, "{length} in {zone}: {range}");
            assert!(calendar.inside(range).take(most).count() < most, "{length} in {zone}: {range}");
        }
        let _ = (calendar.next(Interval::WHOLE), calendar.previous(Interval::WHOLE));
    }
}
