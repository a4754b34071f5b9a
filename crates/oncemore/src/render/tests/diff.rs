//! Pictures of `diff`, on hand-made data.
use oncemore_run::diff::{Change, Diff, DiffRow};

use super::super::diff::render;
use super::wide;

fn text(value: &str) -> Option<String> {
    Some(value.to_owned())
}

fn march() -> Diff {
    Diff {
        model: "gold.carrier_day".to_owned(),
        versions: ("snapshot 17 (2013-05-01)".to_owned(), "the head".to_owned()),
        key: vec!["flight_date".to_owned(), "carrier".to_owned()],
        gone: 1,
        new: 1,
        changed: 410,
        same: 5_000,
        by_interval: vec![("2013-03-01".to_owned(), 0, 1, 14), ("2013-03-02".to_owned(), 1, 0, 396)],
        rows: vec![
            DiffRow {
                change: Change::Changed,
                key: vec![text("2013-03-01"), text("AA")],
                columns: vec![
                    ("delay".to_owned(), text("12.5"), None),
                    ("flights".to_owned(), text("90"), text("91")),
                ],
            },
            DiffRow { change: Change::New, key: vec![text("2013-03-01"), None], columns: Vec::new() },
            DiffRow {
                change: Change::Gone,
                key: vec![text("2013-03-02"), text("OO")],
                columns: vec![("flights".to_owned(), text("1"), None)],
            },
        ],
    }
}

#[test]
fn rows_differ_key_by_key() {
    insta::assert_snapshot!(render(&march(), &wide(80)), @r"
    gold.carrier_day: snapshot 17 (2013-05-01) against the head
    1 row gone, 1 new, 410 changed, 5,000 the same

    interval    gone  new  changed
    ──────────  ────  ───  ───────
    2013-03-01     0    1       14
    2013-03-02     1    0      396

    by flight_date, carrier
    ~ 2013-03-01, AA: delay 12.5 → NULL, flights 90 → 91
    + 2013-03-01, NULL
    - 2013-03-02, OO: flights 1
    and 409 rows more
    ");
}

#[test]
fn equal_versions_are_one_line() {
    let diff = Diff { gone: 0, new: 0, changed: 0, rows: Vec::new(), by_interval: Vec::new(), ..march() };
    insta::assert_snapshot!(render(&diff, &wide(80)), @r"
    gold.carrier_day: snapshot 17 (2013-05-01) against the head
    equal: 5,000 rows
    ");
}
