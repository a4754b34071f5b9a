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
        sliced: table("silver.flights"),
        interval: day(),
        label: "2013-03-10".to_owned().into(),
        reason: None,
        hold: None,
        reported: Vec::new(),
        spared: Vec::new(),
        ties: None,
        ties_across: None,
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
    insta::assert_snapshot!(show(&fresh()), @r"
    silver.flights, 2013-03-10  [2013-03-10T05:00:00Z, 2013-03-11T04:00:00Z)

    fresh: it holds what the code gives from the inputs as they are; running it again would change nothing

    published
      rows         908, 30.3 KiB
      fingerprint  0000000000000abc
      code         5694d08a2e53, the code now
      changed      2013-04-26 18:13:30 UTC, by request 3
      attempt      3.69 (token 00000000000000000000000000000042)
      engine       datafusion 53.1

    inputs
      raw.flights  as it was read, version 3bfc269594ef
                   carrier, time_hour; [2013-03-10T05:00:00Z, 2013-03-11T04:00:00Z), 908 rows

    attempts
      3.69  committed  2013-04-26 18:13:29 UTC, 0.12 s, 908 rows, code 5694d08a2e53
    ");
}

#[test]
fn never_ran_holds_nothing() {
    insta::assert_snapshot!(show(&never_ran(None)), @r"
    silver.flights, 2013-03-10  [2013-03-10T05:00:00Z, 2013-03-11T04:00:00Z)

    due: never ran; nothing was ever published for this interval

    published: nothing
      code now  5694d08a2e53

    inputs
      raw.flights  version 3bfc269594ef
                   carrier, time_hour; [2013-03-10T05:00:00Z, 2013-03-11T04:00:00Z), 908 rows

    attempts
      none is on record

    next
      oncemore run silver.flights --interval 2013-03-10
    ");
}

#[test]
fn code_changed() {
    let mut story = because(Reason::Code { from: digest("code"), to: digest("new") });
    story.code = digest("new");
    insta::assert_snapshot!(show(&story), @r"
    silver.flights, 2013-03-10  [2013-03-10T05:00:00Z, 2013-03-11T04:00:00Z)

    stale: the code changed; the rows are valid for 5694d08a2e53, the model is now 11507a0e2f5e

    published
      rows         908, 30.3 KiB
      fingerprint  0000000000000abc
      code         5694d08a2e53; the code now is 11507a0e2f5e
      changed      2013-04-26 18:13:30 UTC, by request 3
      attempt      3.69 (token 00000000000000000000000000000042)
      engine       datafusion 53.1

    inputs
      raw.flights  as it was read, version 3bfc269594ef
                   carrier, time_hour; [2013-03-10T05:00:00Z, 2013-03-11T04:00:00Z), 908 rows

    attempts
      3.69  committed  2013-04-26 18:13:29 UTC, 0.12 s, 908 rows, code 5694d08a2e53

    next
      oncemore run silver.flights --interval 2013-03-10
    ");
}

#[test]
fn input_changed_for_certain() {
    let mut story = because(Reason::Input { inputs: vec!["raw.flights".to_owned()], certain: true });
    story.inputs[0].now = digest("v2");
    story.inputs[0].rows = 911;
    story.inputs[0].changed = vec!["2013-03-10".to_owned()];
    insta::assert_snapshot!(show(&story), @r"
    silver.flights, 2013-03-10  [2013-03-10T05:00:00Z, 2013-03-11T04:00:00Z)

    stale: what it read has changed since; `raw.flights`

    published
      rows         908, 30.3 KiB
      fingerprint  0000000000000abc
      code         5694d08a2e53, the code now
      changed      2013-04-26 18:13:30 UTC, by request 3
      attempt      3.69 (token 00000000000000000000000000000042)
      engine       datafusion 53.1

    inputs
      raw.flights  changed, version 3bfc269594ef to fb04dcb6970e
                   carrier, time_hour; [2013-03-10T05:00:00Z, 2013-03-11T04:00:00Z), 911 rows
                   changed since: 2013-03-10

    attempts
      3.69  committed  2013-04-26 18:13:29 UTC, 0.12 s, 908 rows, code 5694d08a2e53

    next
      oncemore run silver.flights --interval 2013-03-10
    ");
}

#[test]
fn input_may_change() {
    insta::assert_snapshot!(verdict(&because(Reason::Input { inputs: vec!["silver.flights".to_owned()], certain: false })), @r"
    stale: what it read may change; `silver.flights` is to run first, and if that comes out equal this slice stays as it is
    next
      oncemore run +silver.flights --interval 2013-03-10
    ");
}

#[test]
fn input_gone() {
    let path = "data/flights/2013-03-10.csv.gz".to_owned();
    let story = Story { hold: Some(Hold::Gone { path: path.clone() }), ..because(Reason::Gone { path }) };
    insta::assert_snapshot!(verdict(&story), @r"
    held back: a file that it was made from has vanished, data/flights/2013-03-10.csv.gz
      it is listed, not run: gone is not empty
    next
      bring the file back, or run without it: `oncemore run silver.flights --interval 2013-03-10 --accept-gone`
    ");
}

#[test]
fn audits_changed() {
    insta::assert_snapshot!(verdict(&because(Reason::Audits)), @r"
    stale: its audits changed; the published rows are to be audited again, nothing is computed
    next
      oncemore run silver.flights --interval 2013-03-10
    ");
}

#[test]
fn failed() {
    let mut story = because(Reason::Failed);
    story.attempts.insert(0, attempt("4.80", "failed", Some("row 17: `arr_delay` is no INTEGER: `x`")));
    insta::assert_snapshot!(show(&story), @r"
    silver.flights, 2013-03-10  [2013-03-10T05:00:00Z, 2013-03-11T04:00:00Z)

    failed: row 17: `arr_delay` is no INTEGER: `x`; readers see the rows from before

    published
      rows         908, 30.3 KiB
      fingerprint  0000000000000abc
      code         5694d08a2e53, the code now
      changed      2013-04-26 18:13:30 UTC, by request 3
      attempt      3.69 (token 00000000000000000000000000000042)
      engine       datafusion 53.1

    inputs
      raw.flights  as it was read, version 3bfc269594ef
                   carrier, time_hour; [2013-03-10T05:00:00Z, 2013-03-11T04:00:00Z), 908 rows

    attempts
      4.80  failed     2013-04-26 18:13:29 UTC, 0.12 s, code 5694d08a2e53: row 17: `arr_delay` is no INTEGER: `x`
      3.69  committed  2013-04-26 18:13:29 UTC, 0.12 s, 908 rows, code 5694d08a2e53

    next
      oncemore run silver.flights --interval 2013-03-10
    ");
}

#[test]
fn forced() {
    insta::assert_snapshot!(verdict(&because(Reason::Forced)), @r"
    forced: it is fresh, and runs because `--force` was given
    next
      oncemore run silver.flights --interval 2013-03-10 --force
    ");
}

#[test]
fn accepted() {
    let mut story = fresh();
    let origin = Origin::Accepted { because: "only a column's comment changed".to_owned() };
    story.stamp = Some(Stamp { origin, written_by: digest("older"), verified_at: at(900), ..stamp() });
    insta::assert_snapshot!(show(&story), @r"
    silver.flights, 2013-03-10  [2013-03-10T05:00:00Z, 2013-03-11T04:00:00Z)

    accepted: vouched for, not computed by this code, because: only a column's comment changed

    published
      rows         908, 30.3 KiB
      fingerprint  0000000000000abc
      code         5694d08a2e53, the code now; the bytes were written by da925a30e31f
      changed      2013-04-26 18:13:30 UTC, by request 3
      verified     2013-04-26 18:28:20 UTC, rows as they were
      attempt      3.69 (token 00000000000000000000000000000042)
      engine       datafusion 53.1

    inputs
      raw.flights  as it was read, version 3bfc269594ef
                   carrier, time_hour; [2013-03-10T05:00:00Z, 2013-03-11T04:00:00Z), 908 rows

    attempts
      3.69  committed  2013-04-26 18:13:29 UTC, 0.12 s, 908 rows, code 5694d08a2e53
    ");
}

#[test]
fn waiting() {
    let hold = Hold::Waiting { what: "data/flights/2013-03-10.csv.gz".to_owned() };
    insta::assert_snapshot!(verdict(&never_ran(Some(hold))), @r"
    waiting: never ran; nothing was ever published for this interval
      it waits for data/flights/2013-03-10.csv.gz; what is not there yet is not empty
    next
      nothing: it runs once that is there
    ");
}

#[test]
fn blocked() {
    let hold = |by: &str| Hold::Blocked { by: by.to_owned(), interval: day() };
    insta::assert_snapshot!(verdict(&never_ran(Some(hold("silver.weather")))), @r"
    blocked: never ran; nothing was ever published for this interval
      the slice [2013-03-10T05:00:00Z, 2013-03-11T04:00:00Z) of `silver.weather` failed or can't run itself
    next
      oncemore run +silver.flights --interval 2013-03-10  (runs `silver.weather` first)
    ");
    insta::assert_snapshot!(verdict(&never_ran(Some(hold("silver.flights")))), @r"
    blocked: never ran; nothing was ever published for this interval
      the slice [2013-03-10T05:00:00Z, 2013-03-11T04:00:00Z) of `silver.flights` failed or can't run itself
    next
      oncemore run +silver.flights  (goes on from the slice that it is blocked by)
    ");
}

#[test]
fn held_back_by_older_code_a_foreign_write_or_a_broken_source() {
    let held = |hold| Story {
        hold: Some(hold),
        ..because(Reason::Code { from: digest("newer"), to: digest("code") })
    };
    insta::assert_snapshot!(verdict(&held(Hold::OlderCode { owner: digest("newer") })), @r"
    held back: the code changed; the rows are valid for 804f51f71254, the model is now 5694d08a2e53
      it is not run: its owner 804f51f71254 was first seen after the code at hand
    next
      check out the newer code, or let this one replace it: `oncemore run silver.flights --interval 2013-03-10 --allow-older-code`
    ");
    insta::assert_snapshot!(verdict(&held(Hold::Foreign { detail: "3 rows more than its stamp says".to_owned() })), @r"
    held back: the code changed; the rows are valid for 804f51f71254, the model is now 5694d08a2e53
      it is not run: somebody else wrote into it: 3 rows more than its stamp says
    next
      take the rows as they are: `oncemore accept silver.flights --interval 2013-03-10 --adopt --because TEXT`; or replace them: `oncemore run silver.flights --interval 2013-03-10 --replace-foreign`
    ");
    insta::assert_snapshot!(verdict(&held(Hold::Rebuild { why: "`key` was [a] and is now [b]".to_owned() })), @r"
    held back: the code changed; the rows are valid for 804f51f71254, the model is now 5694d08a2e53
      it is not run, for the table has to be built anew: `key` was [a] and is now [b]
    next
      build the table anew beside the old one, which stays readable until the new one takes its place: `oncemore rebuild silver.flights`
    ");
    insta::assert_snapshot!(verdict(&held(Hold::Broken { what: "data/x.csv.gz: truncated gzip".to_owned() })), @r"
    held back: the code changed; the rows are valid for 804f51f71254, the model is now 5694d08a2e53
      it is not run: data/x.csv.gz: truncated gzip
    next
      mend the source, then `oncemore run silver.flights --interval 2013-03-10`
    ");
}

#[test]
fn a_whole_table() {
    let mut story = because(Reason::Failed);
    (story.interval, story.label) = (Interval::WHOLE, "all".to_owned().into());
    story.inputs[0].range = Some(Interval::WHOLE);
    insta::assert_snapshot!(verdict(&story), @r"
    failed: the last attempt failed; readers see the rows from before
    next
      oncemore run silver.flights
    ");
}
