//! Pictures of `progress`, on hand-made data.
use std::sync::Arc;

use oncemore_core::{AuditFailure, Interval, SliceState};
use oncemore_run::{ErrorKind, Event, Plan, Reason, RunReport, Task, TaskFailure};

use super::super::progress::{Tally, going_on, summary};
use super::{table, wide};

fn failure() -> TaskFailure {
    TaskFailure {
        model: table("silver.flights"),
        interval: Interval::WHOLE,
        label: "2013-03-03".to_owned().into(),
        kind: ErrorKind::AuditFailed,
        message: "an audit does not hold".to_owned(),
        help: Some("mend the rows, or the audit".to_owned()),
        state: SliceState::Unchanged,
        begun: true,
        audits: vec![AuditFailure {
            audit: "not_null(carrier)".to_owned(),
            offending: 2,
            columns: vec!["carrier".to_owned(), "flight".to_owned()],
            rows: vec![vec![None, Some("11".to_owned())], vec![None, Some("1714".to_owned())]],
        }],
    }
}

fn lines(verbose: bool) -> String {
    let model = table("silver.flights");
    let task = |label: &str| Task {
        at: 0,
        model: model.clone(),
        interval: Interval::WHOLE,
        label: label.to_owned().into(),
        reason: Reason::NeverRan,
    };
    let plan = Plan { tasks: ["2013-03-01", "2013-03-02", "2013-03-03"].map(task).into(), ..Plan::default() };
    let mut tally = Tally::default();
    let mut out = Vec::new();
    let events = [
        Event::Planned(Arc::new(plan)),
        Event::Started {
            model: model.clone(),
            label: "2013-03-01".to_owned().into(),
            reason: Reason::NeverRan,
        },
        Event::Published { model: model.clone(), label: "2013-03-01".to_owned().into(), rows: 842 },
        Event::Unchanged { model: model.clone(), label: "2013-03-02".to_owned().into(), rows: 943 },
        Event::Failed(failure()),
    ];
    for event in events {
        out.extend(tally.take(&event, verbose, &wide(80)));
    }
    assert_eq!(tally.position(), (3, 3, 842));
    out.join("\n")
}

#[test]
fn a_line_for_each_failure_and_each_model() {
    insta::assert_snapshot!(lines(false), @r"
    failed: silver.flights 2013-03-03: an audit does not hold; slice unchanged
      not_null(carrier): 2 rows offending
        carrier  flight
        ───────  ──────
        NULL     11
        NULL     1714
      help: mend the rows, or the audit
    silver.flights: 1 published, 1 unchanged, 1 failed, 842 rows
    ");
}

#[test]
fn verbose_adds_a_line_for_each_slice() {
    assert!(
        lines(true).starts_with(
            "silver.flights 2013-03-01: published, 842 rows\nsilver.flights 2013-03-02: unchanged"
        )
    );
}

#[test]
fn the_summary_says_what_to_type_next() {
    let report = RunReport {
        request: 7,
        published: 363,
        unchanged: 1,
        rows: 335_900,
        failed: vec![failure()],
        held: 2,
        ..RunReport::default()
    };
    insta::assert_snapshot!(summary(&report, 9.4, &wide(80)), @r"
    done: 363 published, 1 unchanged, 1 failed, 2 held back; 335,900 rows in 9.40 s (request 7)
      failed silver.flights 2013-03-03; slice unchanged
    next: `oncemore explain silver.flights 2013-03-03` tells the whole story
    ");
    let stopped =
        RunReport { request: 8, published: 20, rows: 18_000, interrupted: true, ..RunReport::default() };
    insta::assert_snapshot!(summary(&stopped, 0.5, &wide(80)) + &going_on(&stopped, &wide(80)), @r"
    interrupted: 20 published; 18,000 rows in 0.50 s (request 8)
    next: what is published stays; the same command goes on from there
    ");
    // How else than by `run` it goes on is said by the command that was stopped.
    assert!(!summary(&stopped, 0.5, &wide(80)).contains("oncemore run"));
    assert_eq!(going_on(&report, &wide(80)), "");
    let all_well =
        RunReport { request: 9, published: 20, cut_off: 345, rows: 18_000, ..RunReport::default() };
    insta::assert_snapshot!(summary(&all_well, 61.0, &wide(80)), @"done: 20 published, 345 cut off; 18,000 rows in 1 min 01 s (request 9)");
}
