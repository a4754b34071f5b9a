//! Texts that name times: interval lengths, zones, instants and ranges on the command line and in settings; and what a
//! query reads of an input, as it is kept on disk.
//!
//! An input has a line for the length, one for the zone, one for the time, and a [`Read`] as JSON in the rest.

use oncemore_core::{Calendar, ColumnType, Instant, Interval, IntervalLength, Read, TableName, Zone};

/// Intervals looked at in a range.
const LOOKED_AT: usize = 40;

/// Parses, and compares with what it prints.
///
/// # Panics
/// Where a text does not mean what it says.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.splitn(4, '\n');
    let mut next = || lines.next().unwrap_or_default();
    let (length, zone, time, json) = (next(), next(), next(), next());
    words(time);
    let zone = Zone::named(zone).unwrap_or_else(Zone::utc);
    if let Ok(length) = length.parse::<IntervalLength>() {
        assert_eq!(length.to_string().parse(), Ok(length));
        times(&Calendar::new(length, zone.clone()), time);
    }
    if let Ok(read) = serde_json::from_str::<Read>(json) {
        for within in [Interval::WHOLE, day()] {
            let range = read.range(within, &zone, &Zone::utc());
            assert!(range.is_none_or(|range| range.start() < range.end()));
        }
    }
}

fn words(text: &str) {
    if let Ok(kind) = text.parse::<ColumnType>() {
        assert_eq!(kind.to_string().parse(), Ok(kind));
    }
    if let Ok(name) = text.parse::<TableName>() {
        assert_eq!(TableName::new(name.schema(), name.name()), Ok(name));
    }
}

fn times(calendar: &Calendar, text: &str) {
    if let Some(instant) = calendar.parse_instant(text) {
        let interval = calendar.containing(instant);
        assert!(interval.contains(instant) || instant == Instant::MAX, "{interval} holds no {instant}");
        let _ = (calendar.label(interval), calendar.is_boundary(instant));
        let _ = (calendar.next(interval), calendar.previous(interval));
    }
    let Some(range) = calendar.parse_range(text) else { return };
    let mut end = range.start();
    for interval in calendar.touching(range).take(LOOKED_AT) {
        assert!(interval.overlaps(range), "{interval} does not touch {range}");
        assert!(interval.end() > end, "{interval} leads nowhere");
        end = interval.end();
    }
    let mut end = None;
    for interval in calendar.inside(range).take(LOOKED_AT) {
        assert!(range.covers(interval), "{interval} is not in {range}");
        assert!(end.is_none_or(|end| end == interval.start()), "a gap before {interval}");
        end = Some(interval.end());
        let label = calendar.label(interval);
        let again = calendar.parse_range(&label);
        // A week is named by its first day, which names a day, and an hour that the clock shows twice by more than a time.
        let exact = calendar.length != IntervalLength::Week && !label.ends_with("(second)");
        assert!(!exact || again == Some(interval), "{label} is {again:?}, not {interval}");
    }
}

fn day() -> Interval {
    let start = 1_362_096_000_000_000;
    Interval::new(Instant(start), Instant(start + 86_400_000_000)).unwrap()
}
