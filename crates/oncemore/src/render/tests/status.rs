//! Pictures of `status`, on hand-made data.
use oncemore_core::Calendar;
use oncemore_run::status::{ModelLine, SliceLine, SliceStatus};
use oncemore_run::{Hold, Reason};

use super::super::status::render;
use super::{days, digest, inside, months, table, wide};
use crate::render::Look;

fn model(name: &str, calendar: &Calendar, range: &str, status: impl Fn(&str) -> SliceStatus) -> ModelLine {
    let slices = inside(calendar, range)
        .into_iter()
        .map(|interval| {
            let label: oncemore_run::due::Label = calendar.label(interval).into();
            let status = status(&label);
            SliceLine {
                interval,
                label,
                status,
                rows: Some(900),
                changed_at: None,
                old_shape: false,
                spared: Vec::new(),
            }
        })
        .collect();
    ModelLine { model: table(name), cut: "day, America/New_York".to_owned(), rows: 1, slices, rebuild: None }
}

fn full(name: &str, status: SliceStatus) -> ModelLine {
    let interval = oncemore_core::Interval::WHOLE;
    let slices = vec![SliceLine {
        interval,
        label: "all".to_owned().into(),
        status,
        rows: Some(16),
        changed_at: None,
        old_shape: false,
        spared: Vec::new(),
    }];
    ModelLine { model: table(name), cut: "whole table".to_owned(), rows: 16, slices, rebuild: None }
}

fn code() -> SliceStatus {
    SliceStatus::Stale { reason: Reason::Code { from: digest("old"), to: digest("new") } }
}

fn input(name: &str) -> SliceStatus {
    SliceStatus::Stale { reason: Reason::Input { inputs: vec![name.to_owned()], certain: false } }
}

fn waiting(what: &str) -> SliceStatus {
    SliceStatus::Held { reason: Reason::NeverRan, hold: Hold::Waiting { what: what.to_owned() } }
}

fn year() -> Vec<ModelLine> {
    vec![
        full("gold.airlines", SliceStatus::Fresh),
        full("gold.planes", SliceStatus::Failed),
        model("silver.flights", &days(), "2013", |label| match label {
            "2013-12-31" => waiting("data/flights/2013-12-31.csv.gz"),
            label if label.starts_with("2013-03") => code(),
            _ => SliceStatus::Fresh,
        }),
        model("silver.weather", &days(), "2013", |label| {
            if label < "2013-12-27" {
                SliceStatus::Fresh
            } else {
                waiting(&format!("data/weather/{label}.csv.gz"))
            }
        }),
        model("gold.carrier_day", &days(), "2013", |label| match label {
            "2013-12-31" => waiting("silver.flights 2013-12-31"),
            label if label.starts_with("2013-03") => input("silver.flights"),
            label if label.starts_with("2013-07") => {
                SliceStatus::Accepted { because: "ticket 17".to_owned() }
            }
            _ => SliceStatus::Fresh,
        }),
        model("gold.route_month", &months(), "2013", |label| match label {
            "2013-03" => input("silver.flights"),
            "2013-12" => SliceStatus::Due,
            "2013-06" => SliceStatus::Held {
                reason: Reason::Input { inputs: Vec::new(), certain: true },
                hold: Hold::Foreign { detail: "3 rows more than the stamp says".to_owned() },
            },
            _ => SliceStatus::Fresh,
        }),
    ]
}

#[test]
fn a_year_at_80_columns() {
    insta::assert_snapshot!(render(&year(), false, &wide(80)), @r"
                      2013-01-01                    2013-12-31
    gold.planes       ✗                                         failed
    gold.route_month  ■■■■■■▒▒▒▒■■■■■■◆◆◆◆■■■■■■■■■■■■■■■■□□□□
                      1 held (foreign write), 1 stale (input), 1 due, 9 fresh
    silver.flights    ■■■■■■▒▒▒▒■■■■■■■■■■■■■■■■■■■■■■■■■■■■■◇
                      31 stale (code), 1 waiting, 333 fresh
    gold.carrier_day  ■■■■■■▒▒▒▒■■■■■■■■■▣▣▣▣▣■■■■■■■■■■■■■■■◇
                      31 stale (input), 1 waiting, 31 accepted, 302 fresh
    silver.weather    ■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■◇  5 waiting, 360 fresh
    gold.airlines     ■                                         fresh

    ■ fresh  ▣ accepted  □ due  ◇ waiting  ▒ stale  ◆ held  ✗ failed   1,109 slices of 6 models
    `oncemore status --why` lists the causes
    ");
}

#[test]
fn a_year_at_120_columns_with_causes() {
    insta::assert_snapshot!(render(&year(), true, &wide(120)), @r"
                      2013-01-01                                              2013-12-31
    gold.planes       ✗                                                                   failed
    gold.route_month  ■■■■■■■■■■▒▒▒▒▒▒▒■■■■■■■■■■◆◆◆◆◆◆■■■■■■■■■■■■■■■■■■■■■■■■■■■□□□□□□
                      1 held (foreign write), 1 stale (input), 1 due, 9 fresh
    silver.flights    ■■■■■■■■■■▒▒▒▒▒▒▒■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■◇
                      31 stale (code), 1 waiting, 333 fresh
    gold.carrier_day  ■■■■■■■■■■▒▒▒▒▒▒▒■■■■■■■■■■■■■■■▣▣▣▣▣▣▣■■■■■■■■■■■■■■■■■■■■■■■■■■◇
                      31 stale (input), 1 waiting, 31 accepted, 302 fresh
    silver.weather    ■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■◇  5 waiting, 360 fresh
    gold.airlines     ■                                                                   fresh

    ■ fresh  ▣ accepted  □ due  ◇ waiting  ▒ stale  ◆ held  ✗ failed   1,109 slices of 6 models

    failed: last attempt failed
      gold.planes  whole table

    held: foreign write
      gold.route_month  1 slice  2013-06  (3 rows more than the stamp says)
        help: take the rows as they are: `oncemore accept gold.route_month --adopt --because TEXT`; or replace them: `oncemore run gold.route_month --replace-foreign`

    stale: code changed
      silver.flights  31 slices  2013-03-01 … 2013-03-31  (cba06b5736fa to 11507a0e2f5e)

    stale: input may change
      gold.route_month  1 slice  2013-03  (silver.flights)
      gold.carrier_day  31 slices  2013-03-01 … 2013-03-31  (silver.flights)

    waiting
      silver.flights    1 slice  2013-12-31  (for data/flights/2013-12-31.csv.gz)
      gold.carrier_day  1 slice  2013-12-31  (for silver.flights 2013-12-31)
      silver.weather    5 slices  2013-12-27 … 2013-12-31  (for data/weather/2013-12-27.csv.gz, and 4 like it)

    due: never ran
      gold.route_month  1 slice  2013-12

    accepted
      gold.carrier_day  31 slices  2013-07-01 … 2013-07-31  (ticket 17)
    ");
}

#[test]
fn a_year_in_ascii() {
    insta::assert_snapshot!(render(&year()[3..], false, &Look::PLAIN), @r"
                      2013-01-01                                 2013-12-31
    gold.route_month  ########~~~~~~########!!!!!#####################ooooo
                      1 held (foreign write), 1 stale (input), 1 due, 9 fresh
    gold.carrier_day  ########~~~~~~############+++++#####################w
                      31 stale (input), 1 waiting, 31 accepted, 302 fresh
    silver.weather    ####################################################w  5 waiting, 360 fresh

    # fresh  + accepted  o due  w waiting  ~ stale  ! held   742 slices of 3 models
    `oncemore status --why` lists the causes
    ");
}

#[test]
fn a_few_days_take_a_cell_each() {
    let lines = [model("silver.flights", &days(), "2013-02", |label| {
        if label < "2013-02-20" { SliceStatus::Fresh } else { SliceStatus::Due }
    })];
    insta::assert_snapshot!(render(&lines, false, &wide(80)), @r"
                    2013-02-01        2013-02-28
    silver.flights  ■■■■■■■■■■■■■■■■■■■□□□□□□□□□  9 due, 19 fresh

    ■ fresh  □ due   28 slices of 1 model
    `oncemore status --why` lists the causes
    ");
}

#[test]
fn colour_changes_no_letter() {
    let plain = render(&year(), true, &wide(80));
    let painted = render(&year(), true, &Look { color: true, ..wide(80) });
    assert!(painted.contains("\u{1b}["));
    let mut stripped = String::new();
    let mut rest = painted.as_str();
    while let Some(at) = rest.find('\u{1b}') {
        stripped.push_str(&rest[..at]);
        rest = &rest[at + rest[at..].find('m').unwrap() + 1..];
    }
    stripped.push_str(rest);
    let trim = |text: &str| text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert_eq!(trim(&stripped), trim(&plain));
}

#[test]
fn no_line_is_wider_than_the_terminal_and_no_slice_gets_lost() {
    use unicode_width::UnicodeWidthStr;
    for width in [40, 60, 80, 100, 120, 200] {
        let picture = render(&year(), false, &wide(width));
        let cells = picture.lines().filter(|line| line.contains('■') && !line.contains("slices of"));
        assert!(cells.clone().count() >= 5, "{picture}");
        assert!(cells.into_iter().all(|line| line.width() <= width), "{width}\n{picture}");
        // One waiting day among 365 is seen at any width.
        let flights = picture.lines().find(|line| line.starts_with("silver.flights")).unwrap();
        assert!(flights.contains('◇'), "{picture}");
    }
}
