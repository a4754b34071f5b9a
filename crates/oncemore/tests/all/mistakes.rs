//! Mistakes in models that only the engine sees: each points at what is wrong, be it a setting or a column.

use crate::bad_input::says;
use crate::project::Project;

const SETTINGS: &str = "\
name: mistakes
start: 2026-03-01
end: 2026-03-03
sources:
  raw.a:
    path: data/a.csv
    time: d
    columns: {d: DATE, i: BIGINT, s: TEXT}
";

/// What `check` says of a model with these settings, and these columns.
fn check(settings: &str, columns: &str) -> String {
    let project = Project::empty();
    project.write("oncemore.yml", SETTINGS);
    project.write("data/a.csv", "d,i,s\n2026-03-01,1,x\n");
    project.write("models/g/m.sql", model(settings, columns));
    says(&project, &["check"])
}

fn model(settings: &str, columns: &str) -> String {
    format!(
        "/* oncemore\n{settings}interval: day\n*/\nSELECT {columns}\n  FROM raw.a AS a\n \
         WHERE a.d >= :interval_start AND a.d < :interval_end\n"
    )
}

const MERGE: &str = "kind: merge\ntime: d\nkey: [i]\n";
const HISTORY: &str = "kind: history\ntime: d\nkey: [i]\n";

#[test]
fn a_condition_that_is_none() {
    insta::assert_snapshot!(check(&format!("{MERGE}deleted: s + 1\n"), "d, i, s"), @"
    exit 3
    error[query]: `deleted`: Cannot coerce arithmetic expression Utf8 + Int64 to valid types
      ╭▸ models/g/m.sql:5:10
      │
    5 │ deleted: s + 1
      │          ━━━━━
      │
      ╰ help: `deleted` is an SQL condition over the query's columns

    1 error
    error: `g.m` can't be planned
    ");
    insta::assert_snapshot!(check(&format!("{MERGE}deleted: gone\n"), "d, i, s"), @"
    exit 3
    error[query]: `deleted`: no column `gone`
      ╭▸ models/g/m.sql:5:10
      │
    5 │ deleted: gone
      │          ━━━━
      │
      ╰ help: there are `d`, `i`, `s`

    1 error
    error: `g.m` can't be planned
    ");
}

#[test]
fn settings_that_name_no_column() {
    insta::assert_snapshot!(check(&format!("{MERGE}order_by: [i, zz]\n"), "d, i, s"), @"
    exit 3
    error[query]: the query yields no column `zz`, which orders the changes
      ╭▸ models/g/m.sql:5:15
      │
    5 │ order_by: [i, zz]
      │               ━━
      │
      ╰ help: its columns are d, i, s

    1 error
    error: `g.m` can't be planned
    ");
    insta::assert_snapshot!(check(&format!("{HISTORY}effective: at\n"), "d, i, s"), @"
    exit 3
    error[query]: the query yields no column `at`, which orders the changes
      ╭▸ models/g/m.sql:5:12
      │
    5 │ effective: at
      │            ━━
      │
      ╰ help: its columns are d, i, s

    1 error
    error: `g.m` can't be planned
    ");
    insta::assert_snapshot!(check(&format!("{HISTORY}track: [s, colour]\n"), "d, i, s"), @"
    exit 3
    error[query]: the query yields no column `colour`, which is to be tracked
      ╭▸ models/g/m.sql:5:12
      │
    5 │ track: [s, colour]
      │            ━━━━━━
      │
      ╰ help: its columns are d, i, s

    1 error
    error: `g.m` can't be planned
    ");
    insta::assert_snapshot!(check("kind: slice\ntime: d\nkey: [i, name]\n", "d, i, s"), @"
    exit 3
    error[query]: `key` names `name`, which is no output column
      ╭▸ models/g/m.sql:4:10
      │
    4 │ key: [i, name]
      │          ━━━━
      │
      ╰ help: add `name` to the SELECT

    1 error
    error: `g.m` can't be planned
    ");
    insta::assert_snapshot!(check("kind: slice\ntime: day\n", "d, i, s"), @"
    exit 3
    error[query]: `time` names `day`, which is no output column
      ╭▸ models/g/m.sql:3:7
      │
    3 │ time: day
      │       ━━━
      │
      ╰ help: add `day` to the SELECT

    1 error
    error: `g.m` can't be planned
    ");
    insta::assert_snapshot!(check("kind: slice\ntime: s\n", "d, i, s"), @"
    exit 3
    error[query]: `time: s` is of type TEXT, which places no row in time
      ╭▸ models/g/m.sql:3:7
      │
    3 │ time: s
      │       ━
      │
      ╰ help: write `CAST(… AS DATE) AS s`, or AS TIMESTAMP or TIMESTAMPTZ

    1 error
    error: `g.m` can't be planned
    ");
}

#[test]
fn columns_whose_names_are_ours() {
    insta::assert_snapshot!(check(HISTORY, "d, i,\n       a.s AS valid_from"), @"
    exit 3
    error[query]: column `valid_from` has a name that is ours
      ╭▸ models/g/m.sql:8:15
      │
    8 │        a.s AS valid_from
      │               ━━━━━━━━━━
      │
      ╰ help: give it another one: `AS own_valid_from`

    1 error
    error: `g.m` can't be planned
    ");
    insta::assert_snapshot!(check(MERGE, "d, i, s AS \"_deleted\""), @r#"
    exit 3
    error[query]: column `_deleted` has a name that is ours
      ╭▸ models/g/m.sql:7:19
      │
    7 │ SELECT d, i, s AS "_deleted"
      │                   ━━━━━━━━━━
      │
      ╰ help: give it another one: `AS own_deleted`

    1 error
    error: `g.m` can't be planned
    "#);
    insta::assert_snapshot!(check("kind: slice\ntime: d\n", "d, i, s AS _interval_start"), @"
    exit 3
    error[query]: column `_interval_start` has a name that is ours
      ╭▸ models/g/m.sql:6:19
      │
    6 │ SELECT d, i, s AS _interval_start
      │                   ━━━━━━━━━━━━━━━
      │
      ╰ help: give it another one: `AS own_interval_start`

    1 error
    error: `g.m` can't be planned
    ");
    // Where they are ours alone.
    assert!(check("kind: slice\ntime: d\n", "d, i AS valid_from, s AS _deleted").starts_with("exit 0"));
}

#[test]
fn columns_that_no_table_holds() {
    insta::assert_snapshot!(check("kind: slice\ntime: d\n", "d, i, [s] AS list"), @"
    exit 3
    error[query]: output column `list` is of type List(Utf8), which tables don't store
      ╭▸ models/g/m.sql:6:21
      │
    6 │ SELECT d, i, [s] AS list
      │                     ━━━━
      │
      ╰ help: write `CAST(… AS TEXT) AS list`, or another type that tables store

    1 error
    error: `g.m` can't be planned
    ");
    insta::assert_snapshot!(check("kind: slice\ntime: d\n", "d, i, NULL AS nothing"), @"
    exit 3
    error[query]: output column `nothing` has no type: it is always NULL
      ╭▸ models/g/m.sql:6:22
      │
    6 │ SELECT d, i, NULL AS nothing
      │                      ━━━━━━━
      │
      ╰ help: write `CAST(NULL AS TEXT) AS nothing`, or whichever type it is to have

    1 error
    error: `g.m` can't be planned
    ");
}

/// All at once, and no more than that: who reads a wrong model is not asked.
#[test]
fn every_mistake_of_a_project() {
    let project = Project::empty();
    project.write("oncemore.yml", SETTINGS);
    project.write("data/a.csv", "d,i,s\n2026-03-01,1,x\n");
    project.write("models/g/m.sql", model(&format!("{MERGE}deleted: s + 1\n"), "d, i, s"));
    project.write("models/g/h.sql", model(HISTORY, "d, i, s AS valid_to"));
    let reader = model("kind: slice\ntime: d\n", "d, i, s").replace("raw.a", "g.m");
    project.write("models/g/reader.sql", reader);
    project.write("models/g/right.sql", model("kind: slice\ntime: d\n", "d, i, s"));
    insta::assert_snapshot!(says(&project, &["check"]), @"
    exit 3
    error[query]: column `valid_to` has a name that is ours
      ╭▸ models/g/h.sql:7:19
      │
    7 │ SELECT d, i, s AS valid_to
      │                   ━━━━━━━━
      │
      ╰ help: give it another one: `AS own_valid_to`

    error[query]: `deleted`: Cannot coerce arithmetic expression Utf8 + Int64 to valid types
      ╭▸ models/g/m.sql:5:10
      │
    5 │ deleted: s + 1
      │          ━━━━━
      │
      ╰ help: `deleted` is an SQL condition over the query's columns

    2 errors
    error: 2 models can't be planned
    ");
}
