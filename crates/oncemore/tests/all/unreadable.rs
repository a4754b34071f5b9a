//! Source files that can't be read, or were there and are gone: whoever reads where they lie is held, be it out of the
//! project's time or in a day that late rows alone tie to the file.

use crate::bad_input::says;
use crate::project::Project;

const SETTINGS: &str = "\
name: late
start: 2026-03-01
end: 2026-03-03
sources:
  raw.changes:
    path: data/{interval:%Y-%m-%d}.csv
    time: at
    columns: {k: TEXT, v: BIGINT, at: DATE}
";

/// Two days back and one ahead: before `start`, and after `end`.
const AROUND: &str = "\
/* oncemore
kind: slice
interval: day
time: day
*/
SELECT CAST(:interval_start AS DATE) AS day, sum(v) AS v
  FROM raw.changes
 WHERE at >= CAST(:interval_start AS DATE) - INTERVAL '2 days'
   AND at < CAST(:interval_end AS DATE) + INTERVAL '1 day'
";

const FULL: &str = "/* oncemore\nkind: full\n*/\nSELECT count(*) AS n, sum(v) AS v FROM raw.changes\n";

const MERGE: &str = "\
/* oncemore
kind: merge
interval: day
time: at
key: [k]
*/
SELECT k, v, at FROM raw.changes WHERE at >= :interval_start AND at < :interval_end
";

fn file(day: &str) -> String {
    format!("data/{day}.csv")
}

fn day(project: &Project, day: &str, rows: &str) {
    project.write(&file(day), format!("k,v,at\n{rows}"));
}

fn project(model: &str) -> Project {
    let project = Project::empty();
    project.write("oncemore.yml", SETTINGS);
    project.write("models/gold/s.sql", model);
    project
}

fn rows(project: &Project) -> Vec<String> {
    project.query("SELECT * FROM gold.s")
}

/// A file of `lost` that can't be read, then one that is gone, hold the slices of `held` and leave their rows alone.
#[track_caller]
fn holds(model: &str, lost: &str, held: &[&str]) {
    let project = project(model);
    for name in ["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02", "2026-03-03"] {
        day(&project, name, &format!("a,1,{name}\n"));
    }
    project.run(&[]);
    let before = rows(&project);
    let held_as = |hold: &str| held.iter().map(|label| format!("gold.s {label} {hold}")).collect::<Vec<_>>();

    day(&project, lost, &format!("a,oops,{lost}\n"));
    assert_eq!(project.held(), held_as("broken"), "{lost}");
    project.run_to(7, &[]);
    assert_eq!(rows(&project), before, "{lost}");

    // What it says once it can be read, it says to those that were held.
    day(&project, lost, &format!("a,5,{lost}\n"));
    assert_eq!(project.run(&[])["published"], held.len(), "{lost}");
    let corrected = rows(&project);
    assert_ne!(corrected, before, "{lost}");

    project.remove(&file(lost));
    assert_eq!(project.held(), held_as("gone"), "{lost}");
    project.said(&["run"]);
    assert_eq!(rows(&project), corrected, "{lost}");
    project.run(&["--accept-gone"]);
    assert_ne!(rows(&project), corrected, "{lost}");
    assert_eq!((project.tasks(), project.held()), (Vec::new(), Vec::new()), "{lost}");
}

#[test]
fn a_file_before_the_start_holds_slices_that_look_back() {
    holds(AROUND, "2026-02-27", &["2026-03-01"]);
    holds(AROUND, "2026-02-28", &["2026-03-01", "2026-03-02"]);
}

#[test]
fn a_file_after_the_end_holds_slices_that_look_ahead() {
    holds(AROUND, "2026-03-03", &["2026-03-02"]);
}

#[test]
fn a_file_out_of_the_project_s_time_holds_who_reads_everything() {
    holds(FULL, "2026-02-28", &["all"]);
    holds(FULL, "2026-03-03", &["all"]);
}

#[test]
fn what_never_was_is_not_waited_for_out_of_the_project_s_time() {
    let project = project(AROUND);
    for name in ["2026-03-01", "2026-03-02"] {
        day(&project, name, &format!("a,1,{name}\n"));
    }
    assert_eq!(project.held(), Vec::<String>::new());
    assert_eq!(project.run(&[])["published"], 2);
}

#[test]
fn a_file_holds_the_days_of_its_late_rows() {
    let project = project(MERGE);
    day(&project, "2026-03-01", "a,1,2026-03-01\n");
    let second = "a,2,2026-03-02\nlate,7,2026-03-01\n";
    day(&project, "2026-03-02", second);
    project.run(&[]);
    let before = rows(&project);
    let held = |hold: &str| ["01", "02"].map(|day| format!("gold.s 2026-03-{day} {hold}"));

    // It stays so over commands, and where another file changed in the meantime.
    day(&project, "2026-03-02", &second.replace('7', "oops"));
    for _ in 0..2 {
        assert_eq!(project.held(), held("broken"));
        project.run_to(7, &[]);
        assert_eq!(rows(&project), before);
        day(&project, "2026-03-01", "a,3,2026-03-01\n");
    }

    // Gone, and back in a form that can't be read.
    project.remove(&file("2026-03-02"));
    assert_eq!(project.held(), held("gone"));
    day(&project, "2026-03-02", "no,header\n");
    for _ in 0..2 {
        assert_eq!(project.held(), held("broken"));
        project.run_to(7, &[]);
        assert_eq!(rows(&project), before);
    }
    project.remove(&file("2026-03-02"));
    assert_eq!(project.held(), held("gone"));

    day(&project, "2026-03-02", second);
    project.run(&[]);
    assert_eq!((project.tasks(), project.held()), (Vec::new(), Vec::new()));
    assert_eq!(project.query("SELECT k, v FROM gold.s"), [r#"{"k":"a","v":2}"#, r#"{"k":"late","v":7}"#]);
}

#[test]
fn an_audit_does_not_pass_over_a_file() {
    let audited =
        FULL.replace("*/", "audits:\n  - sql: {name: known, query: \"SELECT k FROM raw.banned\"}\n*/");
    let project = project(&audited);
    let banned = "  raw.banned: {path: \"banned/*.csv\", columns: {k: TEXT, v: BIGINT}}\n";
    project.write("oncemore.yml", format!("{SETTINGS}{banned}"));
    for name in ["2026-03-01", "2026-03-02"] {
        day(&project, name, &format!("a,1,{name}\n"));
    }
    project.write("banned/a.csv", "k,v\n");
    project.write("banned/b.csv", "k,v\nb,one\n");
    project.run_to(7, &[]);
    assert_eq!(rows(&project), Vec::<String>::new());
    let said = project.said(&["run"]).1;
    assert!(said.contains("banned/b.csv:2:3: `one` is no BIGINT"), "{said}");
    // Once it is read it says what it says, and once it says nothing the slice is published.
    project.write("banned/b.csv", "k,v\nb,1\n");
    project.run_to(5, &[]);
    project.write("banned/b.csv", "k,v\n");
    project.run(&[]);
    assert_eq!(rows(&project).len(), 1);
}

/// Three models of four days and one file.
#[test]
fn a_file_is_told_once() {
    let project = Project::empty();
    project.write(
        "oncemore.yml",
        SETTINGS.replace("end: 2026-03-03", "end: 2026-03-05").replace("{interval:%Y-%m-%d}", "all"),
    );
    for name in ["a", "b", "c"] {
        project.write(&format!("models/gold/{name}.sql"), MERGE.replace("kind: merge", "kind: slice"));
    }
    project.write(
        "models/gold/reader.sql",
        MERGE.replace("kind: merge", "kind: slice").replace("raw.changes", "gold.a"),
    );
    project.write("data/all.csv", "k,v,at\na,oops,2026-03-01\n");
    insta::assert_snapshot!(says(&project, &["plan"]), @"
    exit 0

    gold.a  0 of 4 slices, 4 held back
      source broken: never ran      4  2026-03-01 … 2026-03-04  (data/all.csv:2:3)

    gold.b  0 of 4 slices, 4 held back
      source broken: never ran      4  2026-03-01 … 2026-03-04  (data/all.csv:2:3)

    gold.c  0 of 4 slices, 4 held back
      source broken: never ran      4  2026-03-01 … 2026-03-04  (data/all.csv:2:3)

    gold.reader  0 of 4 slices, 4 held back
      blocked: never ran            4  2026-03-01 … 2026-03-04  (by gold.a)

    source broken: data/all.csv:2:3: `oops` is no BIGINT, in column `v`; 12 slices of 3 models wait
    2 | a,oops,2026-03-01
      |   ^

    help: source broken: mend the source, then `oncemore run gold.a gold.b gold.c`

    nothing to run, 16 held back
    ");
    insta::assert_snapshot!(says(&project, &["run"]), @"
    exit 7
    failed: 12 slices of 3 models: data/all.csv:2:3: `oops` is no BIGINT, in column `v`; slices unchanged
    2 | a,oops,2026-03-01
      |   ^
    nothing to run, 16 held back
    next: `oncemore plan` and `oncemore status --why` say why
    ");
    insta::assert_snapshot!(says(&project, &["status", "--why"]), @"
    exit 0
                 2026-03-01
    gold.a       ◆◆◆◆  4 held (source broken)
    gold.b       ◆◆◆◆  4 held (source broken)
    gold.c       ◆◆◆◆  4 held (source broken)
    gold.reader  ◆◆◆◆  4 held (blocked)

    ◆ held   16 slices of 4 models

    held: blocked
      gold.reader  4 slices  2026-03-01 … 2026-03-04  (by gold.a)

    held: source broken
      gold.a  4 slices  2026-03-01 … 2026-03-04  (data/all.csv:2:3)
      gold.b  4 slices  2026-03-01 … 2026-03-04  (data/all.csv:2:3)
      gold.c  4 slices  2026-03-01 … 2026-03-04  (data/all.csv:2:3)

    source broken: data/all.csv:2:3: `oops` is no BIGINT, in column `v`; 12 slices of 3 models wait
    2 | a,oops,2026-03-01
      |   ^
    ");
    // Beside what runs.
    project.write(
        "oncemore.yml",
        format!(
            "{}  raw.fine: {{path: fine.csv, columns: {{k: TEXT}}}}\n",
            std::fs::read_to_string(project.path("oncemore.yml")).unwrap()
        ),
    );
    project.write("fine.csv", "k\nx\n");
    project.write(
        "models/gold/fine.sql",
        FULL.replace("sum(v) AS v FROM raw.changes", "'x' AS v FROM raw.fine"),
    );
    insta::assert_snapshot!(says(&project, &["run"]), @"
    exit 7
    failed: 12 slices of 3 models: data/all.csv:2:3: `oops` is no BIGINT, in column `v`; slices unchanged
    2 | a,oops,2026-03-01
      |   ^
    gold.fine: 1 published, 1 row
    done: 1 published, 12 failed, 4 held back; 1 row in <time>
      failed 12 slices of 3 models (data/all.csv:2:3); slices unchanged
    next: `oncemore explain gold.a 2026-03-01` tells the whole story
    ");
}
