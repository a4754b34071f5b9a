//! Pictures of `number`, on hand-made data.
use super::super::number::{bytes, count, parse_bytes, parse_duration, plural, seconds};
use super::super::ranges::{collapse, show};
use super::super::table;
use super::{days, inside, wide};
use crate::render::Look;

#[test]
fn numbers_are_grouped_by_thousands() {
    assert_eq!(
        [0, 12, 999, 1_000, 336_776, 11_000_000].map(count).join(" "),
        "0 12 999 1,000 336,776 11,000,000"
    );
    assert_eq!(
        (plural(1, "slice"), plural(1200, "slice")),
        ("1 slice".to_owned(), "1,200 slices".to_owned())
    );
    assert_eq!([812, 1024, 1_300_000, 1 << 40].map(bytes).join(" "), "812 B 1.0 KiB 1.2 MiB 1.0 TiB");
    assert_eq!([0.153, 12.2, 185.0, 7805.0].map(seconds).join("; "), "0.15 s; 12 s; 3 min 05 s; 2 h 10 min");
}

#[test]
fn sizes_and_durations_are_read_as_people_write_them() {
    assert_eq!(parse_bytes("256MB"), Ok(256 << 20));
    assert_eq!(parse_bytes("1.5 GiB"), Ok(3 << 29));
    assert_eq!(parse_bytes("512"), Ok(512));
    assert_eq!(parse_bytes("much"), Err("`much` is no size: write `256MB` or `2GB`".to_owned()));
    assert!(["", "0", "-1MB", "1XB", "1e3", "9999999TB"].iter().all(|text| parse_bytes(text).is_err()));
    assert_eq!(parse_duration("10m").map(|duration| duration.as_secs()), Ok(600));
    assert_eq!(parse_duration("2 hours"), parse_duration("2h"));
    assert_eq!(parse_duration("1d").map(|duration| duration.as_secs()), Ok(86_400));
    assert!(["", "10", "m", "10y"].iter().all(|text| parse_duration(text).is_err()));
}

#[test]
fn neighbours_become_ranges_whatever_their_order() {
    let calendar = days();
    let mut slices = inside(&calendar, "2013-03");
    slices.remove(9);
    slices.reverse();
    let labels: Vec<String> = slices.iter().map(|interval| calendar.label(*interval)).collect();
    let runs = collapse(slices.iter().copied().zip(labels.iter().map(String::as_str)));
    assert_eq!(show(&runs, 4, &wide(80)), "2013-03-01 … 2013-03-09, 2013-03-11 … 2013-03-31");
    assert_eq!(show(&runs, 1, &Look::PLAIN), "2013-03-01 .. 2013-03-09, and 21 slices more");
}

#[test]
fn values_in_a_table_can_not_move_the_cursor() {
    let header = ["name", "n"].map(str::to_owned);
    let rows = vec![
        vec![Some("two\nlines \u{1b}[2J".to_owned()), Some("1".to_owned())],
        vec![None, Some("12,345".to_owned())],
        vec![Some("é".repeat(70)), None],
    ];
    insta::assert_snapshot!(table::render(&header, &[false, true], &rows, &wide(80)), @r"
    name                                                                n
    ─────────────────────────────────────────────────────────────  ──────
    two\nlines \u{1b}[2J                                                1
    NULL                                                           12,345
    éééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé…    NULL
    ");
}
