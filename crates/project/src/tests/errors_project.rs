//! What is wrong with settings: each mistake with its place, its text and what to write.

use super::diagnostics;

#[test]
fn no_project_file() {
    let fixture = r##"//- README.md
hello oncemore.yml
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"error[no-project]: there is no `oncemore.yml` / run this in a project's folder, or `oncemore init` to begin one");
}

#[test]
fn empty_project_file() {
    let fixture = r##"//- oncemore.yml
# nothing
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"oncemore.yml:1:1: ``: error[missing-key]: `name` is missing / begin with `name: <project>`");
}

#[test]
fn broken_yaml() {
    let fixture = r##"//- oncemore.yml
name: test
sources: {raw.a: [
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"oncemore.yml:3:1: ``: error[yaml]: YAML: while parsing a node, did not find expected node content");
}

#[test]
fn broken_yaml_tab() {
    let fixture = r##"//- oncemore.yml
name: test
	start: 2013-01-01
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"oncemore.yml:1:7: ``: error[yaml]: YAML: while scanning a plain scalar, found a tab");
}

#[test]
fn anchor() {
    let fixture = r##"//- oncemore.yml
name: &x test
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"oncemore.yml:1:7: `&x test`: error[yaml]: anchors, aliases and tags of YAML are not used here / write the value out");
}

#[test]
fn two_documents() {
    let fixture = r##"//- oncemore.yml
name: test
---
name: b
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"oncemore.yml:2:1: `---`: error[yaml]: a second YAML document / one document a file");
}

#[test]
fn nested_too_deeply() {
    let fixture = r##"//- oncemore.yml
name: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"oncemore.yml:1:38: ``: error[yaml]: nested too deeply");
}

#[test]
fn not_a_mapping() {
    let fixture = r##"//- oncemore.yml
- name
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"oncemore.yml:1:1: `- name`: error[wrong-type]: `oncemore.yml` must be a mapping, not a list");
}

#[test]
fn unknown_key() {
    let fixture = r##"//- oncemore.yml
name: test
warehose: x
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"oncemore.yml:2:1: `warehose`: error[unknown-key]: unknown key `warehose` in `oncemore.yml` / did you mean `warehouse`?");
}

#[test]
fn unknown_keys_everywhere() {
    let fixture = r##"//- oncemore.yml
name: test
limits: {task: 3}
sources: {raw.a: {path: a.csv, colums: {a: INT}}}
defaults: {silver: {intervall: day}}
//- models/silver/x.sql
/* oncemore
kind: full
tag: [a]
audits: [{notnull: [a]}]
inputs: {raw.a: {onchange: rerun}}
*/
SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/x.sql:3:1: `tag`: error[unknown-key]: unknown key `tag` in `model` / did you mean `tags`?
    models/silver/x.sql:4:11: `notnull`: error[unknown-key]: unknown key `notnull` in `audits` / did you mean `not_null`?
    models/silver/x.sql:5:18: `onchange`: error[unknown-key]: unknown key `onchange` in `raw.a` / did you mean `on_change`?
    oncemore.yml:2:10: `task`: error[unknown-key]: unknown key `task` in `limits` / did you mean `tasks`?
    oncemore.yml:3:32: `colums`: error[unknown-key]: unknown key `colums` in `raw.a` / did you mean `columns`?
    oncemore.yml:4:21: `intervall`: error[unknown-key]: unknown key `intervall` in `silver` / did you mean `interval`?
    "##);
}

#[test]
fn duplicate_key() {
    let fixture = r##"//- oncemore.yml
name: test
start: 2013-01-01
name: again
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"oncemore.yml:3:1: `name`: error[duplicate-key]: `name` is given twice in `oncemore.yml` / keep one of them");
}

#[test]
fn missing_name() {
    let fixture = r##"//- oncemore.yml
start: 2013-01-01
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"oncemore.yml:1:1: ``: error[missing-key]: `name` is missing / begin with `name: <project>`");
}

#[test]
fn wrong_types() {
    let fixture = r##"//- oncemore.yml
name: [a]
warehouse: {a: b}
limits: {tasks: many}
sources: raw.a
variables: {x: [1], y: }
time_zone:
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    oncemore.yml:1:7: `[a]`: error[wrong-type]: `name` must be text, not a list
    oncemore.yml:2:12: `{a: b}`: error[wrong-type]: `warehouse` must be text, not a mapping
    oncemore.yml:3:17: `many`: error[wrong-type]: `tasks` must be a whole number, 0 or more, not text
    oncemore.yml:4:10: `raw.a`: error[wrong-type]: `sources` must be a mapping, not text
    oncemore.yml:5:16: `[1]`: error[wrong-type]: `x` must be text, not a list
    oncemore.yml:5:22: ``: error[wrong-type]: `y` must be text, not nothing
    oncemore.yml:6:10: ``: error[wrong-type]: `time_zone` must be text, not nothing
    "##);
}

#[test]
fn leases_and_policies() {
    let fixture = r##"//- oncemore.yml
name: test
limits: {lease: 2 days}
foreign: ignore
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    oncemore.yml:2:17: `2 days`: error[wrong-value]: `lease` must lie between a second and a day / a minute is what counts without it: leave it out, or write `lease: 5 minutes`
    oncemore.yml:3:10: `ignore`: error[wrong-value]: `ignore` is no `foreign` / known: warn, error, adopt
    "##);
}

#[test]
fn wrong_names() {
    let fixture = r##"//- oncemore.yml
name: a b
variables: {Upper: 1, interval_start: 2, 1x: 3}
sources: {flights: {path: a.csv}, raw.A: {path: a.csv}, a.b.c: {path: a.csv}}
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    oncemore.yml:1:7: `a b`: error[wrong-name]: `a b` can't be a project's name / use letters, digits, `_` and `-`
    oncemore.yml:2:13: `Upper`: error[wrong-name]: `Upper` can't be a variable's name / use a-z, 0-9 and _, starting with a letter
    oncemore.yml:2:23: `interval_start`: error[wrong-name]: `:interval_start` is the task's own, no variable / take another name
    oncemore.yml:2:42: `1x`: error[wrong-name]: `1x` can't be a variable's name / use a-z, 0-9 and _, starting with a letter
    oncemore.yml:3:11: `flights`: error[wrong-name]: `flights` is no table name: write `<schema>.<name>`
    oncemore.yml:3:35: `raw.A`: error[wrong-name]: `A` can't be part of a table name: use a-z, 0-9 and _, starting with a letter, at most 64
    oncemore.yml:3:57: `a.b.c`: error[wrong-name]: `a.b.c` is no table name: write `<schema>.<name>`
    "##);
}

#[test]
fn unknown_zone() {
    let fixture = r##"//- oncemore.yml
name: test
time_zone: America/New_Yorc
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"oncemore.yml:2:12: `America/New_Yorc`: error[wrong-value]: unknown time zone `America/New_Yorc` / did you mean `America/New_York`?");
}

#[test]
fn bad_moments() {
    let fixture = r##"//- oncemore.yml
name: test
start: yesterday
end: 2013-02-30
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    oncemore.yml:2:8: `yesterday`: error[wrong-value]: `yesterday` is no date or instant / write `2013-03-01`, `2013-03-01T05:00` (in the model's zone) or `2013-03-01T05:00Z`
    oncemore.yml:3:6: `2013-02-30`: error[wrong-value]: `2013-02-30` is no date or instant / write `2013-03-01`, `2013-03-01T05:00` (in the model's zone) or `2013-03-01T05:00Z`
    "##);
}

#[test]
fn end_before_start() {
    let fixture = r##"//- oncemore.yml
name: test
start: 2013-02-01
end: 2013-01-01
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"oncemore.yml:3:6: `2013-01-01`: error[wrong-value]: `end` does not come after `start`");
}

#[test]
fn warehouse_leaves() {
    let fixture = r##"//- oncemore.yml
name: test
warehouse: ../elsewhere
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"oncemore.yml:2:12: `../elsewhere`: error[path]: `../elsewhere` leads out of the project's folder / write a path below the project's folder, with `/`");
}

#[test]
fn warehouse_is_models() {
    let fixture = r##"//- oncemore.yml
name: test
warehouse: models
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"oncemore.yml:2:12: `models`: error[path]: `warehouse` must be a folder of its own / write `warehouse: warehouse`");
}

#[test]
fn paths_that_leave() {
    let fixture = r##"//- oncemore.yml
name: test
sources:
  raw.a: {path: /etc/passwd.csv}
  raw.b: {path: a/../../b.csv}
  raw.c: {path: ~/b.csv}
  raw.d: {path: 'C:/b.csv'}
  raw.e: {path: "a\0.csv"}
  raw.f: {path: 'a\b.csv'}
  raw.g: {path: 's3://bucket/b.csv'}
  raw.h: {path: '', format: csv}
  raw.i: {path: a.csv, complete_when: {marker: ../done}}
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    oncemore.yml:3:17: `/etc/passwd.csv`: error[path]: `/etc/passwd.csv` leads out of the project's folder / write a path below the project's folder, with `/`
    oncemore.yml:4:17: `a/../../b.csv`: error[path]: `a/../../b.csv` leads out of the project's folder / write a path below the project's folder, with `/`
    oncemore.yml:5:17: `~/b.csv`: error[path]: `~/b.csv` leads out of the project's folder / write a path below the project's folder, with `/`
    oncemore.yml:6:17: `'C:/b.csv'`: error[path]: `C:/b.csv` leads out of the project's folder / write a path below the project's folder, with `/`
    oncemore.yml:7:17: `"a\0.csv"`: error[path]: the path holds a control character / write a path below the project's folder, with `/`
    oncemore.yml:8:17: `'a\b.csv'`: error[path]: `a\b.csv` holds a backslash / write a path below the project's folder, with `/`
    oncemore.yml:9:17: `'s3://bucket/b.csv'`: error[path]: `s3://bucket/b.csv` is an address: object stores are not built yet / write a path below the project's folder, with `/`
    oncemore.yml:10:17: `''`: error[path]: the path is empty / write a path below the project's folder, with `/`
    oncemore.yml:11:48: `../done`: error[path]: `../done` leads out of the project's folder / write a path below the project's folder, with `/`
    "##);
}

#[test]
fn path_placeholders() {
    let fixture = r##"//- oncemore.yml
name: test
sources:
  raw.a: {path: 'a/{interval:%Y-%q}.csv'}
  raw.b: {path: 'a/{interval:%d}.csv'}
  raw.c: {path: 'a/{interval}.csv'}
  raw.d: {path: 'a/{interval:%Y.csv'}
  raw.e: {path: 'a/{interval:%Y-%m-%H}.csv'}
  raw.f: {path: 'a/}.csv'}
  raw.g: {path: 'a/[.csv'}
  raw.h: {path: 'a/{interval:%Y%}.csv'}
  raw.i: {path: 'a/{interval:%Y%d}.csv'}
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    oncemore.yml:3:17: `'a/{interval:%Y-%q}.csv'`: error[path]: unknown field `%q` in `{interval:…}` / fields are %Y, %m, %d, %j and %H
    oncemore.yml:4:17: `'a/{interval:%d}.csv'`: error[path]: `{interval:…}` names no interval without %Y / write `{interval:%Y-%m-%d}`; fields are %Y, %m, %d, %j and %H
    oncemore.yml:5:17: `'a/{interval}.csv'`: error[path]: unknown placeholder `{interval}` in the path / write `{interval:%Y-%m-%d}`; fields are %Y, %m, %d, %j and %H
    oncemore.yml:6:17: `'a/{interval:%Y.csv'`: error[path]: `{` without `}` in the path / write `{interval:%Y-%m-%d}`; fields are %Y, %m, %d, %j and %H
    oncemore.yml:7:17: `'a/{interval:%Y-%m-%H}.csv'`: error[path]: `{interval:…}` names no interval without %d / write `{interval:%Y-%m-%d}`; fields are %Y, %m, %d, %j and %H
    oncemore.yml:8:17: `'a/}.csv'`: error[path]: `}` without `{` in the path / write `{interval:%Y-%m-%d}`; fields are %Y, %m, %d, %j and %H
    oncemore.yml:9:17: `'a/[.csv'`: error[path]: the path is no glob: unclosed character class; missing ']' / see docs of `*`, `?`, `[…]`
    oncemore.yml:10:17: `'a/{interval:%Y%}.csv'`: error[path]: a lone `%` in `{interval:…}` / fields are %Y, %m, %d, %j and %H
    oncemore.yml:11:17: `'a/{interval:%Y%d}.csv'`: error[path]: `{interval:…}` names no interval without %m / write `{interval:%Y-%m-%d}`; fields are %Y, %m, %d, %j and %H
    "##);
}

#[test]
fn source_without_path() {
    let fixture = r##"//- oncemore.yml
name: test
sources:
  raw.a: {format: csv}
  raw.b: {path: data/files}
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    oncemore.yml:3:3: `raw.a`: error[missing-key]: `path` is missing / say where the files are: `path: data/flights/*.csv`
    oncemore.yml:4:3: `raw.b`: error[missing-key]: `format` is missing / write `format: csv`, `ndjson` or `parquet`: the path's ending does not say
    "##);
}

#[test]
fn source_choices() {
    let fixture = r##"//- oncemore.yml
name: test
sources:
  raw.a: {path: a.csv, format: csvv, missing: await}
  raw.b: {path: b.csv, missing: later, header: 1, delimiter: ab}
  raw.c: {path: c.parquet, header: true, 'null': [x]}
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    oncemore.yml:3:32: `csvv`: error[wrong-value]: `csvv` is no `format` / did you mean `csv`?
    oncemore.yml:3:47: `await`: error[wrong-value]: `await` is no `missing` / did you mean `wait`?
    oncemore.yml:4:33: `later`: error[wrong-value]: `later` is no `missing` / known: wait, empty, error
    oncemore.yml:4:48: `1`: error[wrong-type]: `header` must be true or false, not a whole number
    oncemore.yml:4:62: `ab`: error[wrong-value]: `ab` is no delimiter / write one ASCII character, a tab as "\t"
    oncemore.yml:5:28: `header`: error[wrong-key]: `header` is for csv, and this source is parquet / remove it
    oncemore.yml:5:42: `'null'`: error[wrong-key]: `null` is for csv, and this source is parquet / remove it
    "##);
}

#[test]
fn column_types() {
    let fixture = r##"//- oncemore.yml
name: test
sources:
  raw.a: {path: a.csv, columns: {a: INTEGR, b: JSON, c: 'DECIMAL(99,1)', d: [x], D: INT}}
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    oncemore.yml:3:37: `INTEGR`: error[wrong-value]: unknown type `INTEGR` / did you mean `INTEGER`?
    oncemore.yml:3:48: `JSON`: error[wrong-value]: unknown type `JSON` / known: BOOLEAN, INTEGER, BIGINT, REAL, DOUBLE, DECIMAL(p, s), TEXT, DATE, TIMESTAMP, TIMESTAMPTZ, BINARY
    oncemore.yml:3:57: `'DECIMAL(99,1)'`: error[wrong-value]: unknown type `DECIMAL(99,1)` / known: BOOLEAN, INTEGER, BIGINT, REAL, DOUBLE, DECIMAL(p, s), TEXT, DATE, TIMESTAMP, TIMESTAMPTZ, BINARY
    oncemore.yml:3:77: `[x]`: error[wrong-type]: `d` must be text, not a list
    "##);
}

#[test]
fn source_time() {
    let fixture = r##"//- oncemore.yml
name: test
sources:
  raw.a: {path: a.csv, columns: {a: TEXT}, time: a}
  raw.b: {path: a.csv, columns: {a: TEXT}, time: day}
  raw.c: {path: a.ndjson, columns: {day: DATE}, time: dya, key: [dy]}
  raw.d: {path: a.csv, header: false}
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    oncemore.yml:3:50: `a`: error[wrong-type]: `time` is column `a`, which is TEXT / declare it as DATE, TIMESTAMP or TIMESTAMPTZ
    oncemore.yml:4:50: `day`: error[wrong-type]: `time` is column `day`, which has no declared type / add `day: DATE` (or TIMESTAMP, TIMESTAMPTZ) to `columns`
    oncemore.yml:5:55: `dya`: error[unknown-column]: unknown column `dya` / did you mean `day`?
    oncemore.yml:5:66: `dy`: error[unknown-column]: unknown column `dy` / did you mean `day`?
    oncemore.yml:6:24: `header`: error[missing-key]: `columns` is missing / without a header, list the columns in their order
    "##);
}

#[test]
fn complete_when() {
    let fixture = r##"//- oncemore.yml
name: test
sources:
  raw.a: {path: a.csv, complete_when: {rows: 1, marker: a}}
  raw.b: {path: a.csv, complete_when: {watermark: two hours}}
  raw.c: {path: a.csv, complete_when: {rows: -1}}
  raw.d: {path: a.csv, complete_when: {}}
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    oncemore.yml:3:39: `{rows: 1, marker: a}`: error[wrong-value]: `complete_when` takes one of marker, rows and watermark
    oncemore.yml:4:51: `two hours`: error[wrong-value]: `two hours` is no duration / write a number and a unit: `30 minutes`, `2 hours`, `1 day`
    oncemore.yml:5:46: `-1`: error[wrong-type]: `rows` must be a whole number, 0 or more, not a negative number
    oncemore.yml:6:39: `{}`: error[wrong-value]: `complete_when` takes one of marker, rows and watermark
    "##);
}

#[test]
fn defaults_for_no_folder() {
    let fixture = r##"//- oncemore.yml
name: test
sources: {raw.a: {path: a.csv}}
defaults: {sliver: {tags: [x]}}
//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"oncemore.yml:3:12: `sliver`: error[unknown-name]: defaults for `sliver`, but there is no model in `models/sliver` / did you mean `silver`?");
}

#[test]
fn wrong_default_is_said_once() {
    let fixture = r##"//- oncemore.yml
name: test
sources: {raw.a: {path: a.csv}}
defaults: {silver: {kind: fuul}}
//- models/silver/x.sql
SELECT * FROM raw.a
//- models/silver/y.sql
SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"oncemore.yml:3:27: `fuul`: error[wrong-value]: `fuul` is no `kind` / did you mean `full`?");
}

#[test]
fn source_and_model() {
    let fixture = r##"//- oncemore.yml
name: test
sources: {silver.x: {path: a.csv}}
//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT 1 AS a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"oncemore.yml:2:11: `silver.x`: error[duplicate-name]: `silver.x` is a source and the model models/silver/x.sql / rename one");
}

#[test]
fn two_models_for_one_table() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT 1 AS a
//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT 2 AS a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:1:1: `/* oncemore`: error[duplicate-name]: two models for table `silver.x`: the other one is models/silver/x.sql / rename one");
}

#[test]
fn file_names() {
    let fixture = r##"//- models/x.sql
/* oncemore
kind: full
*/
SELECT 1 AS a
//- models/a/b/c.sql
/* oncemore
kind: full
*/
SELECT 1 AS a
//- models/silver/Upper.sql
/* oncemore
kind: full
*/
SELECT 1 AS a
//- models/silver/x__slices.sql
/* oncemore
kind: full
*/
SELECT 1 AS a
//- models/oncemore/x.sql
/* oncemore
kind: full
*/
SELECT 1 AS a
//- models/../x.sql
/* oncemore
kind: full
*/
SELECT 1 AS a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/../x.sql:1:1: ``: error[wrong-name]: `..` can't be part of a table name: use a-z, 0-9 and _, starting with a letter, at most 64 / models are `models/<schema>/<name>.sql`, both a-z, 0-9 and _
    models/a/b/c.sql:1:1: ``: error[wrong-name]: `models/a/b/c.sql` is not one folder below `models` / models are `models/<schema>/<name>.sql`, both a-z, 0-9 and _
    models/oncemore/x.sql:1:1: ``: error[wrong-name]: `oncemore.x` is a name of Oncemore's own tables / models are `models/<schema>/<name>.sql`, both a-z, 0-9 and _
    models/silver/Upper.sql:1:1: ``: error[wrong-name]: `Upper` can't be part of a table name: use a-z, 0-9 and _, starting with a letter, at most 64 / models are `models/<schema>/<name>.sql`, both a-z, 0-9 and _
    models/silver/x__slices.sql:1:1: ``: error[wrong-name]: `silver.x__slices` is a name of Oncemore's own tables / models are `models/<schema>/<name>.sql`, both a-z, 0-9 and _
    models/x.sql:1:1: ``: error[wrong-name]: `models/x.sql` is not one folder below `models` / models are `models/<schema>/<name>.sql`, both a-z, 0-9 and _
    "##);
}

#[test]
fn no_comment() {
    let fixture = r##"//- models/silver/x.sql
SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:1:1: ``: error[missing-key]: `kind` is missing / begin the file with `/* oncemore`, `kind: slice` (or merge, history, full, view), `*/`");
}

#[test]
fn comment_not_closed() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:1:1: `/*`: error[sql]: the comment is never closed / end it with `*/`");
}

#[test]
fn broken_yaml_in_comment() {
    let fixture = r##"//- models/silver/x.sql
-- é: bytes are not characters
/* oncemore
kind: full
tags: [é, "x
key: y
*/
SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:4:11: ``: error[yaml]: YAML: while scanning a quoted scalar, found unexpected end of stream");
}

#[test]
fn unknown_kind() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: slcie
*/
SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:2:7: `slcie`: error[wrong-value]: `slcie` is no `kind` / did you mean `slice`?");
}

#[test]
fn later_kind() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: effect
key: [a]
*/
SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:2:7: `effect`: error[not-built-yet]: kind `effect` is not built yet / use slice, merge, history, full or view");
}

#[test]
fn a_merge_needs_a_key_and_a_slice_has_no_order() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: merge
interval: day
time: at
ties: maybe
*/
SELECT * FROM raw.a
//- models/silver/y.sql
/* oncemore
kind: slice
interval: day
time: at
order_by: [at]
*/
SELECT * FROM raw.a
//- models/silver/z__deleted.sql
/* oncemore
kind: full
*/
SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r"
    models/silver/x.sql:1:1: `/* oncemore`: error[missing-key]: `key` is missing / name the columns of which the table holds one row each: `key: [id]`
    models/silver/x.sql:5:7: `maybe`: error[wrong-value]: `maybe` is no `ties` / known: warn, error
    models/silver/y.sql:5:1: `order_by`: error[wrong-key]: a slice has no `order_by` / a slice keeps every row: remove it, or make the model `kind: merge`
    models/silver/z__deleted.sql:1:1: ``: error[wrong-name]: `silver.z__deleted` is a name of Oncemore's own tables / models are `models/<schema>/<name>.sql`, both a-z, 0-9 and _
    ");
}

#[test]
fn snapshots_have_no_date_of_their_own_and_merges_no_input() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: history
interval: day
time: at
key: [a]
input: snapshot
effective: since
track: [b, a]
*/
SELECT * FROM raw.a
//- models/silver/y.sql
/* oncemore
kind: merge
interval: day
time: at
key: [a]
input: snapshot
*/
SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r"
    models/silver/x.sql:7:12: `since`: error[wrong-key]: snapshots are dated by their interval's start: they have no `effective` / remove it
    models/silver/x.sql:8:8: `[b, a]`: error[wrong-key]: `track` names `a`, which is part of `key`: it never changes / name columns whose changes begin a stretch of time; without `track` all others do
    models/silver/y.sql:6:1: `input`: error[wrong-key]: a merge has no `input` / a merge holds the last change of a key: remove it, or make the model `kind: history`
    ");
}

#[test]
fn a_merge_of_too_long_a_name() {
    let fixture = r##"//- models/silver/a_name_of_so_many_letters_that_a_suffix_does_not_fit_behind.sql
/* oncemore
kind: merge
interval: day
time: at
key: [a]
*/
SELECT * FROM raw.a
"##;
    assert!(diagnostics(fixture).contains("is too long for a merge"), "{}", diagnostics(fixture));
}

#[test]
fn slice_lacks_keys() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: slice
*/
SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/x.sql:1:1: `/* oncemore`: error[missing-key]: `interval` is missing / say how long a slice is: `interval: day`
    models/silver/x.sql:1:1: `/* oncemore`: error[missing-key]: `time` is missing / name the output column that decides which slice a row belongs to
    "##);
}

#[test]
fn unknown_interval() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: slice
interval: dya
time: t
*/
SELECT * FROM raw.a
//- models/silver/y.sql
/* oncemore
kind: slice
interval: 7 minutes
time: t
*/
SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/x.sql:3:11: `dya`: error[wrong-value]: `dya` is no interval length / did you mean `day`?
    models/silver/y.sql:3:11: `7 minutes`: error[wrong-value]: `7 minutes` is no interval length / hour, day, week, month, quarter, year, or minutes that divide the day: `15 minutes`
    "##);
}

#[test]
fn interval_of_full_and_view() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
interval: day
time: t
start: 2013-01-01
*/
SELECT * FROM raw.a
//- models/silver/y.sql
/* oncemore
kind: view
interval: day
audits: [{not_null: [a]}]
*/
SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/x.sql:3:1: `interval`: error[wrong-key]: a full table has no `interval` / a full table is one slice without interval: remove it, or make it `kind: slice`
    models/silver/x.sql:4:1: `time`: error[wrong-key]: a full table has no `time` / a full table is one slice without interval: remove it, or make it `kind: slice`
    models/silver/x.sql:5:1: `start`: error[wrong-key]: a full table has no `start` / a full table is one slice without interval: remove it, or make it `kind: slice`
    models/silver/y.sql:3:1: `interval`: error[wrong-key]: a view has no `interval` / a view takes the interval of its reader: remove it
    models/silver/y.sql:4:1: `audits`: error[wrong-key]: a view has no `audits` / a view writes nothing: put it where the rows are written
    "##);
}

#[test]
fn list_expected() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
key: a
tags: {x: y}
*/
SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/x.sql:3:6: `a`: error[wrong-type]: `key` must be a list, not text / write `[a]`
    models/silver/x.sql:4:7: `{x: y}`: error[wrong-type]: `tags` must be a list, not a mapping
    "##);
}

#[test]
fn columns_twice_or_none() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
key: [a, b, a]
audits:
  - unique: []
*/
SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/x.sql:3:13: `a`: error[duplicate-name]: `a` is given twice in `key`
    models/silver/x.sql:5:13: `[]`: error[wrong-value]: `unique` names no column
    "##);
}

#[test]
fn bad_delay_and_tag() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: slice
interval: day
time: t
delay: a while
tags: ['a,b']
start: 2014-01-01
end: 2013-01-01
*/
SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/x.sql:5:8: `a while`: error[wrong-value]: `a while` is no duration / write a number and a unit: `30 minutes`, `2 hours`, `1 day`
    models/silver/x.sql:6:7: `['a,b']`: error[wrong-name]: `a,b` can't be a tag / no comma, space, colon or plus: tags are used in selections
    models/silver/x.sql:8:6: `2013-01-01`: error[wrong-value]: `end` does not come after `start`
    "##);
}

#[test]
fn bad_audits() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
audits:
  - not_nul: [a]
  - not_null
  - not_null: [a]
    unique: [b]
  - accepted_values: {column: a}
  - range: {column: a}
  - range: {column: a, min: 3, max: 1}
  - row_count: {min: x}
  - row_count: {min: 3, max: 2}
  - expression: a >
  - expression: a > 1; b
  - relationship: {columns: [a], to: raw.aa, to_columns: [a, b]}
  - sql: {name: x, query: SELECT * FROM silver.y}
  - sql: {query: DELETE FROM silver.x}
  - []
*/
SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/x.sql:4:5: `not_nul`: error[unknown-key]: unknown key `not_nul` in `audits` / did you mean `not_null`?
    models/silver/x.sql:5:5: `not_null`: error[wrong-type]: an audit is a mapping of its kind to what it needs / write `not_null: …`
    models/silver/x.sql:6:5: `not_null: [a]`: error[wrong-value]: an audit is one key: `- not_null: [a]` / one `- ` each
    models/silver/x.sql:8:5: `accepted_values`: error[missing-key]: `values` is missing / add `values: …`
    models/silver/x.sql:9:5: `range`: error[missing-key]: `min` is missing / a range needs `min`, `max` or both
    models/silver/x.sql:10:12: `{column: a, min: 3, max: 1}`: error[wrong-value]: the range from 3 to 1 is empty
    models/silver/x.sql:11:22: `x`: error[wrong-type]: `min` must be a whole number, 0 or more, not text
    models/silver/x.sql:12:16: `{min: 3, max: 2}`: error[wrong-value]: no count is between 3 and 2
    models/silver/x.sql:13:17: `a >`: error[sql]: expected an expression, found the end
    models/silver/x.sql:14:17: `a > 1; b`: error[sql]: one condition expected, found `;` after it
    models/silver/x.sql:15:38: `raw.aa`: error[unknown-table]: unknown table `raw.aa` / did you mean `raw.a`?
    models/silver/x.sql:15:58: `[a, b]`: error[wrong-value]: 1 columns here, 2 there
    models/silver/x.sql:16:27: `SELECT * FROM silver.y`: error[unknown-table]: unknown table `silver.y` / did you mean `silver.x`?
    models/silver/x.sql:17:5: `sql`: error[missing-key]: `name` is missing / add `name: …`
    models/silver/x.sql:18:5: `[]`: error[wrong-type]: `audits` must be a mapping, not a list
    "##);
}

#[test]
fn inputs_not_read() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
inputs:
  raw.aa: {on_change: report}
  raw.a: {on_change: never}
*/
SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/x.sql:4:3: `raw.aa`: error[unknown-name]: `inputs` names `raw.aa`, which the query does not read / did you mean `raw.a`?
    models/silver/x.sql:5:22: `never`: error[wrong-value]: `never` is no `on_change` / known: rerun, report, ignore
    "##);
}
