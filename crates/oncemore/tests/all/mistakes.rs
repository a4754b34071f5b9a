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

/// A project without models.
fn project() -> Project {
    let project = Project::empty();
    project.write("oncemore.yml", SETTINGS);
    project.write("data/a.csv", "d,i,s\n2026-03-01,1,x\n");
    project
}

/// What `check` says of a model with these settings, and these columns.
fn check(settings: &str, columns: &str) -> String {
    let project = project();
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
    error[query]: `deleted`: no operator takes `TEXT + BIGINT`
      ╭▸ models/g/m.sql:5:10
      │
    5 │ deleted: s + 1
      │          ━━━━━
      │
      ╰ help: write `CAST(… AS …)` around what is of the wrong type

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
fn a_column_that_dates_no_change() {
    insta::assert_snapshot!(check(&format!("{HISTORY}effective: s\n"), "d, i, s"), @"
    exit 3
    error[query]: `effective: s` is of type TEXT, which dates no change
      ╭▸ models/g/m.sql:5:12
      │
    5 │ effective: s
      │            ━
      │
      ╰ help: write `CAST(… AS DATE) AS s`, or AS TIMESTAMP or TIMESTAMPTZ

    1 error
    error: `g.m` can't be planned
    ");
    insta::assert_snapshot!(check(&format!("{MERGE}order_by: [d]\neffective: s\n"), "d, i, i > 3 AS s"), @"
    exit 3
    error[query]: `effective: s` is of type BOOLEAN, which dates no change
      ╭▸ models/g/m.sql:6:12
      │
    6 │ effective: s
      │            ━
      │
      ╰ help: write `CAST(… AS DATE) AS s`, or AS TIMESTAMP or TIMESTAMPTZ; or put it into `order_by`, which compares values of any type

    1 error
    error: `g.m` can't be planned
    ");
    // Numbers count in a unit of their own, and what orders changes may be of any type.
    for settings in [
        format!("{HISTORY}effective: i\norder_by: [s]\n"),
        format!("{MERGE}effective: i\n"),
        format!("{MERGE}order_by: [s]\n"),
    ] {
        let said = check(&settings, "d, i, s");
        assert!(said.starts_with("exit 0"), "{settings}: {said}");
    }
}

/// Each audit is asked before there are rows.
#[test]
fn audits_that_can_t_be_asked() {
    let audits = "\
kind: slice
time: d
audits:
  - not_null: [d, nam]
  - unique: [i, zz]
  - range: {column: s, min: 0}
  - range: {column: i, min: few}
  - expression: i > 0 AND zz < 3
  - relationship: {columns: [i], to: raw.a, to_columns: [ii]}
  - sql: {name: none, query: \"SELECT zz FROM g.m\"}
  - row_count: {min: 1}
  - not_null: [d]
  - sql: {name: fine, query: \"SELECT m.i FROM g.m AS m JOIN raw.a AS a ON a.i = m.i WHERE m.s = 'x'\"}
";
    insta::assert_snapshot!(check(audits, "d, i, s, s AS name"), @r#"
    exit 3
    error[audit]: audit `not_null(d, nam)`: there is no column `nam`
      ╭▸ models/g/m.sql:5:19
      │
    5 │   - not_null: [d, nam]
      │                   ━━━
      │
      ╰ help: did you mean `name`?

    error[audit]: audit `unique(i, zz)`: there is no column `zz`
      ╭▸ models/g/m.sql:6:17
      │
    6 │   - unique: [i, zz]
      │                 ━━
      │
      ╰ help: there are `d`, `i`, `s`, `name`

    error[audit]: audit `range(i)`: `few` is no value of the column's type BIGINT
      ╭▸ models/g/m.sql:8:5
      │
    8 │   - range: {column: i, min: few}
      ╰╴    ━━━━━━━━━━━━━━━━━━━━━━━━━━━━

    error[audit]: audit `expression(i > 0 AND zz < 3)`: no column `zz`
      ╭▸ models/g/m.sql:9:17
      │
    9 │   - expression: i > 0 AND zz < 3
      │                 ━━━━━━━━━━━━━━━━
      │
      ╰ help: there are `d`, `i`, `s`, `name`

    error[audit]: audit `relationship(i to raw.a(ii))`: there is no column `ii`
       ╭▸ models/g/m.sql:10:58
       │
    10 │   - relationship: {columns: [i], to: raw.a, to_columns: [ii]}
       │                                                          ━━
       │
       ╰ help: there are `d`, `i`, `s`

    error[audit]: audit `sql(none)`: not one query over the slice: no column `zz`
       ╭▸ models/g/m.sql:11:30
       │
    11 │   - sql: {name: none, query: "SELECT zz FROM g.m"}
       │                              ━━━━━━━━━━━━━━━━━━━━
       │
       ╰ help: there are `d`, `i`, `s`, `name`

    6 errors
    "#);
    let (_, right) = audits.split_once("  - row_count").unwrap();
    assert!(
        check(&format!("kind: slice\ntime: d\naudits:\n  - row_count{right}"), "d, i, s")
            .starts_with("exit 0")
    );
    // Of a merge, and where a folder's settings hold the audit.
    let project = Project::empty();
    project
        .write("oncemore.yml", format!("{SETTINGS}defaults:\n  g:\n    audits:\n      - not_null: [zz]\n"));
    project.write("data/a.csv", "d,i,s\n2026-03-01,1,x\n");
    project.write("models/g/m.sql", model(&format!("{MERGE}deleted: s = 'x'\n"), "d, i, s"));
    insta::assert_snapshot!(says(&project, &["check"]), @"
    exit 3
    error[audit]: audit `not_null(zz)`: there is no column `zz`
       ╭▸ oncemore.yml:12:20
       │
    12 │       - not_null: [zz]
       │                    ━━
       │
       ╰ help: there are `d`, `i`, `s`

    1 error
    ");
}

/// A project is checked before its first files come: what they will hold is not known.
#[test]
fn audits_that_look_at_what_has_not_come_yet() {
    let project = Project::empty();
    let later =
        "  raw.later:\n    path: later/{interval:%Y-%m-%d}.parquet\n    format: parquet\n    time: d\n";
    project.write("oncemore.yml", format!("{SETTINGS}{later}"));
    project.write("data/a.csv", "d,i,s\n2026-03-01,1,x\n");
    let audits =
        "audits:\n  - relationship: {columns: [i], to: raw.later, to_columns: [i]}\n  - not_null: [i]\n";
    project.write("models/g/m.sql", model(&format!("kind: slice\ntime: d\n{audits}"), "d, i"));
    let said = says(&project, &["check"]);
    assert!(said.starts_with("exit 0"), "{said}");
}

#[test]
fn functions_and_types_that_are_not_there() {
    const SLICE: &str = "kind: slice\ntime: d\n";
    insta::assert_snapshot!(check(SLICE, "d,\n  uper(s) AS s"), @"
    exit 3
    error[query]: no function `uper`
      ╭▸ models/g/m.sql:7:3
      │
    7 │   uper(s) AS s
      │   ━━━━━━
      │
      ╰ help: did you mean `upper`?

    1 error
    error: `g.m` can't be planned
    ");
    insta::assert_snapshot!(check(SLICE, "d,\n  days_between(d, d) AS s"), @"
    exit 3
    error[query]: no function `days_between`
      ╭▸ models/g/m.sql:7:3
      │
    7 │   days_between(d, d) AS s
      │   ━━━━━━━━━━━━━━
      │
      ╰ help: functions are those of Apache DataFusion, but for those whose value changes from run to run

    1 error
    error: `g.m` can't be planned
    ");
    // No place comes with these.
    insta::assert_snapshot!(check(SLICE, "d,\n  upper(s, i) AS s"), @"
    exit 3
    error[query]: `upper` takes 1 argument, not 2
      ╭▸ models/g/m.sql:7:3
      │
    7 │   upper(s, i) AS s
      ╰╴  ━━━━━━━

    1 error
    error: `g.m` can't be planned
    ");
    insta::assert_snapshot!(check(SLICE, "d,\n  substr(d, i) AS s"), @"
    exit 3
    error[query]: `substr` takes no (DATE, BIGINT)
      ╭▸ models/g/m.sql:7:3
      │
    7 │   substr(d, i) AS s
      │   ━━━━━━━━
      │
      ╰ help: write `CAST(… AS …)` around what is of the wrong type

    1 error
    error: `g.m` can't be planned
    ");
    insta::assert_snapshot!(check(SLICE, "d,\n  CAST(s AS BIGNIT) AS s"), @"
    exit 3
    error[query]: no type `BIGNIT`
      ╭▸ models/g/m.sql:7:13
      │
    7 │   CAST(s AS BIGNIT) AS s
      │             ━━━━━━
      │
      ╰ help: did you mean `BIGINT`?

    1 error
    error: `g.m` can't be planned
    ");
    insta::assert_snapshot!(check(SLICE, "d,\n  s + i AS s"), @"
    exit 3
    error[query]: no operator takes `TEXT + BIGINT`
      ╭▸ models/g/m.sql:7:3
      │
    7 │   s + i AS s
      │   ━
      │
      ╰ help: write `CAST(… AS …)` around what is of the wrong type

    1 error
    error: `g.m` can't be planned
    ");
    insta::assert_snapshot!(check(SLICE, "d,\n  sum(i) AS s"), @"
    exit 3
    error[query]: `a.d` is neither in GROUP BY nor in an aggregate
      ╭▸ models/g/m.sql:6:8
      │
    6 │ SELECT d,
      │        ━
      │
      ╰ help: add it to GROUP BY, or say which of its values is meant: `max(a.d)`

    1 error
    error: `g.m` can't be planned
    ");
}

/// What is wrong in a view is shown there, once, whoever reads it.
#[test]
fn a_mistake_in_a_view() {
    let project = project();
    project
        .write("models/g/v.sql", "/* oncemore\nkind: view\n*/\nSELECT d,\n       i,\n       ss FROM raw.a\n");
    for name in ["m", "n"] {
        let reader = model("kind: slice\ntime: d\n", "d, i").replace("raw.a", "g.v");
        project.write(&format!("models/g/{name}.sql"), reader);
    }
    insta::assert_snapshot!(says(&project, &["check"]), @"
    exit 3
    error[query]: no column `ss`
      ╭▸ models/g/v.sql:6:8
      │
    6 │        ss FROM raw.a
      │        ━━
      │
      ╰ help: did you mean `s`?

    1 error
    error: 2 models can't be planned
    ");
    project.edit("models/g/v.sql", "ss FROM", "upper(s, i) AS s FROM");
    insta::assert_snapshot!(says(&project, &["check"]), @"
    exit 3
    error[query]: `upper` takes 1 argument, not 2
      ╭▸ models/g/v.sql:6:8
      │
    6 │        upper(s, i) AS s FROM raw.a
      ╰╴       ━━━━━━━

    1 error
    error: 2 models can't be planned
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
    let project = project();
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

    error[query]: `deleted`: no operator takes `TEXT + BIGINT`
      ╭▸ models/g/m.sql:5:10
      │
    5 │ deleted: s + 1
      │          ━━━━━
      │
      ╰ help: write `CAST(… AS …)` around what is of the wrong type

    2 errors
    error: 2 models can't be planned
    ");
}
