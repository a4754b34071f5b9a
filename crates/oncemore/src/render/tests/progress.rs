use std::sync::Arc;

use oncemore_core::{AuditFailure, Interval, SliceState};
use oncemore_run::{ErrorKind, Event, Plan, Reason, RunReport, Task, TaskFailure};

use super::super::progress::{Tally, summary};
use super::{table, wide};

fn failure() -> TaskFailure {
    TaskFailure {
        model: table("silver.flights"),
        interval: Interval::WHOLE,
        label: "2013-03-03".to_owned(),
        kind: ErrorKind::AuditFailed,
        message: "an audit does not hold".to_owned(),
        help: Some("mend the rows, or the audit".to_owned()),
        state: SliceState::Unchanged,
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
        label: label.to_owned(),
        reason: Reason::NeverRan,
    };
    let plan = Plan { tasks: ["2013-03-01", "2013-03-02", "2013-03-03"].map(task).into(), ..Plan::default() };
    let mut tally = Tally::default();
    let mut out = Vec::new();
    let events = [
        Event::Planned(Arc::new(plan)),
        Event::Started { model: model.clone(), label: "2013-03-01".to_owned(), reason: Reason::NeverRan },
        Event::Published { model: model.clone(), label: "2013-03-01".to_owned(), rows: 842 },
        Event::Unchanged { model: model.clone(), label: "2013-03-02".to_owned(), rows: 943 },
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
    insta::assert_snapshot!(lines(false), @"");
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
    insta::assert_snapshot!(summary(&report, 9.4, &wide(80)), @"");
    let stopped =
        RunReport { request: 8, published: 20, rows: 18_000, interrupted: true, ..RunReport::default() };
    insta::assert_snapshot!(summary(&stopped, 0.5, &wide(80)), @"");
    let all_well =
        RunReport { request: 9, published: 20, cut_off: 345, rows: 18_000, ..RunReport::default() };
    insta::assert_snapshot!(summary(&all_well, 61.0, &wide(80)), @"");
}
