//! A golden transcript for each verdict.
use oncemore_core::{AttemptId, Epoch, Fingerprint, Instant, Interval, Origin, Pin, Stamp};
use oncemore_run::explain::{AttemptStory, InputStory, Story};
use oncemore_run::{Hold, Reason};

use super::super::explain::render;
use super::{days, digest, table, wide};

fn at(second: i64) -> Instant {
    Instant(1_367_000_000_000_000 + second * 1_000_000)
}

fn day() -> Interval {
    days().parse_range("2013-03-10").unwrap()
}

fn stamp() -> Stamp {
    Stamp {
        interval: day(),
        code: digest("code"),
        code_seen: at(0),
        written_by: digest("code"),
        inputs: vec![Pin { input: "raw.flights".to_owned(), version: digest("v1") }],
        audits: digest("audits"),
        epoch: Epoch { request: 3, attempt: 69 },
        attempt: AttemptId(0x42),
        fingerprint: Fingerprint { rows: 908, first: 0xabc, second: 0xdef },
        columns: Vec::new(),
        schema: digest("schema"),
        bytes: 31_000,
        changed_at: at(10),
        verified_at: at(10),
        engine: "datafusion 53.1".to_owned(),
        origin: Origin::Computed,
    }
}

fn attempt(epoch: &str, state: &str, error: Option<&str>) -> AttemptStory {
    AttemptStory {
        epoch: epoch.to_owned(),
        state: state.to_owned(),
        code: digest("code"),
        started: at(9),
        ended: Some(Instant(at(9).0 + 120_000)),
        rows: error.is_none().then_some(908),
        error: error.map(str::to_owned),
    }
}

fn fresh() -> Story {
    Story {
        model: table("silver.flights"),
        interval: day(),
        label: "2013-03-10".to_owned(),
        reason: None,
        hold: None,
        code: digest("code"),
        stamp: Some(stamp()),
        fingerprint: Some(stamp().fingerprint),
        inputs: vec![InputStory {
            input: "raw.flights".to_owned(),
            columns: Some(["carrier", "time_hour"].map(str::to_owned).into()),
            range: Some(day()),
            was: Some(digest("v1")),
            now: digest("v1"),
            rows: 908,
            changed: Vec::new(),
        }],
        attempts: vec![attempt("3.69", "committed", None)],
    }
}

fn never_ran(hold: Option<Hold>) -> Story {
    let mut story = Story {
        reason: Some(Reason::NeverRan),
        hold,
        stamp: None,
        fingerprint: None,
        attempts: Vec::new(),
        ..fresh()
    };
    story.inputs[0].was = None;
    story
}

fn because(reason: Reason) -> Story {
    Story { reason: Some(reason), ..fresh() }
}

fn show(story: &Story) -> String {
    render(story, &wide(100))
}

/// All but the sections that are the same as in `fresh`.
fn verdict(story: &Story) -> String {
    let text = show(story);
    let verdict = text.split("\n\n").nth(1).unwrap_or_default().to_owned();
    let next = text.split("\n\n").last().filter(|part| part.starts_with("next")).unwrap_or_default();
    format!("{verdict}\n{next}")
}

#[test]
fn fresh_tells_all_there_is() {
    insta::assert_snapshot!(show(&fresh()), @"");
}

#[test]
fn never_ran_holds_nothing() {
    insta::assert_snapshot!(show(&never_ran(None)), @"");
}

#[test]
fn code_changed() {
    let mut story = because(Reason::Code { from: digest("code"), to: digest("new") });
    story.code = digest("new");
    insta::assert_snapshot!(show(&story), @"");
}

#[test]
fn input_changed_for_certain() {
    let mut story = because(Reason::Input { inputs: vec!["raw.flights".to_owned()], certain: true });
    story.inputs[0].now = digest("v2");
    story.inputs[0].rows = 911;
    story.inputs[0].changed = vec!["2013-03-10".to_owned()];
    insta::assert_snapshot!(show(&story), @"");
}

#[test]
fn input_may_change() {
    insta::assert_snapshot!(verdict(&because(Reason::Input { inputs: vec!["silver.flights".to_owned()], certain: false })), @"");
}

#[test]
fn input_gone() {
    let path = "data/flights/2013-03-10.csv.gz".to_owned();
    let story = Story { hold: Some(Hold::Gone { path: path.clone() }), ..because(Reason::Gone { path }) };
    insta::assert_snapshot!(verdict(&story), @"");
}

#[test]
fn audits_changed() {
    insta::assert_snapshot!(verdict(&because(Reason::Audits)), @"");
}

#[test]
fn failed() {
    let mut story = because(Reason::Failed);
    story.attempts.insert(0, attempt("4.80", "failed", Some("row 17: `arr_delay` is no INTEGER: `x`")));
    insta::assert_snapshot!(show(&story), @"");
}

#[test]
fn forced() {
    insta::assert_snapshot!(verdict(&because(Reason::Forced)), @"");
}

#[test]
fn accepted() {
    let mut story = fresh();
    let origin = Origin::Accepted { because: "only a column's comment changed".to_owned() };
    story.stamp = Some(Stamp { origin, written_by: digest("older"), verified_at: at(900), ..stamp() });
    insta::assert_snapshot!(show(&story), @"");
}

#[test]
fn waiting() {
    let hold = Hold::Waiting { what: "data/flights/2013-03-10.csv.gz".to_owned() };
    insta::assert_snapshot!(verdict(&never_ran(Some(hold))), @"");
}

#[test]
fn blocked() {
    let hold = Hold::Blocked { by: "silver.flights".to_owned(), interval: day() };
    insta::assert_snapshot!(verdict(&never_ran(Some(hold))), @"");
}

#[test]
fn held_back_by_older_code_a_foreign_write_or_a_broken_source() {
    let held = |hold| Story {
        hold: Some(hold),
        ..because(Reason::Code { from: digest("newer"), to: digest("code") })
    };
    insta::assert_snapshot!(verdict(&held(Hold::OlderCode { owner: digest("newer") })), @"");
    insta::assert_snapshot!(verdict(&held(Hold::Foreign { detail: "3 rows more than its stamp says".to_owned() })), @"");
    insta::assert_snapshot!(verdict(&held(Hold::Broken { what: "data/x.csv.gz: truncated gzip".to_owned() })), @"");
}

#[test]
fn a_whole_table() {
    let mut story = because(Reason::Failed);
    (story.interval, story.label) = (Interval::WHOLE, "all".to_owned());
    story.inputs[0].range = Some(Interval::WHOLE);
    insta::assert_snapshot!(verdict(&story), @"");
}
