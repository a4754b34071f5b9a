//! What is wrong with queries and with the graph: each mistake with its place, its text and what to write.

use super::diagnostics;

#[test]
fn syntax() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT a,
  FROM WHERE
  raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:6:6: `.`: error[sql]: expected the end, found .");
}

#[test]
fn syntax_after_comment_with_wide_characters() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT 'é' AS é, 'ü' ! FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:4:22: `!`: error[sql]: No infix parser for token ExclamationMark");
}

#[test]
fn unclosed_string() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT 'abc FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:4:8: `'`: error[sql]: Unterminated string literal");
}

#[test]
fn ends_early() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT a FROM
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:4:14: ``: error[sql]: expected identifier, found the end");
}

#[test]
fn no_query() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
-- nothing
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:4:1: ``: error[sql]: the file holds no query / write one SELECT");
}

#[test]
fn not_a_query() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
INSERT INTO x SELECT 1
//- models/silver/y.sql
/* oncemore
kind: full
*/
copy raw.a TO 'x.csv'
//- models/silver/z.sql
/* oncemore
kind: full
*/
SET a = 1
//- models/silver/u.sql
/* oncemore
kind: full
*/
CREATE TABLE x AS SELECT 1
//- models/silver/v.sql
/* oncemore
kind: full
*/
WITH a AS (SELECT 1) INSERT INTO b SELECT * FROM a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/u.sql:4:1: `CREATE`: error[not-a-query]: CREATE is no query / a model is one SELECT: Oncemore itself creates, fills and replaces the table
    models/silver/v.sql:4:1: `WITH`: error[not-a-query]: the query changes data / a model is one SELECT
    models/silver/x.sql:4:1: `INSERT`: error[not-a-query]: INSERT is no query / a model is one SELECT: Oncemore itself creates, fills and replaces the table
    models/silver/y.sql:4:1: `copy`: error[not-a-query]: COPY is no query / a model is one SELECT: Oncemore itself creates, fills and replaces the table
    models/silver/z.sql:4:1: `SET`: error[not-a-query]: SET is no query / a model is one SELECT: Oncemore itself creates, fills and replaces the table
    "##);
}

#[test]
fn two_statements() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT 1 AS a; SELECT 2 AS b;
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:4:16: `SELECT`: error[not-a-query]: a second statement / a model is one SELECT: put the other one into a file of its own");
}

#[test]
fn control_character() {
    let fixture = "//- models/silver/x.sql\n/* oncemore\nkind: full\n*/\nSELECT '\u{1}'\n";
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:4:9: ``: error[sql]: control character in the query / remove it");
}

#[test]
fn nested_too_deep() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:4:1: `SELECT`: error[sql]: the expression goes too deep / write `x IN (…)` for a chain of ORs, or split the query into CTEs or views");
}

#[test]
fn unknown_table() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT * FROM raw.aa JOIN silver.y ON true
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/x.sql:4:15: `raw.aa`: error[unknown-table]: unknown table `raw.aa` / did you mean `raw.a`?
    models/silver/x.sql:4:27: `silver.y`: error[unknown-table]: unknown table `silver.y` / did you mean `silver.x`?
    "##);
}

#[test]
fn unknown_table_in_cte_and_subquery() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
WITH c AS (SELECT * FROM raw.c) SELECT * FROM c WHERE EXISTS (SELECT 1 FROM raw.d) AND a IN (SELECT a FROM rwa.b)
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/x.sql:4:26: `raw.c`: error[unknown-table]: unknown table `raw.c` / did you mean `raw.a`?
    models/silver/x.sql:4:77: `raw.d`: error[unknown-table]: unknown table `raw.d` / did you mean `raw.a`?
    models/silver/x.sql:4:108: `rwa.b`: error[unknown-table]: unknown table `rwa.b` / did you mean `raw.b`?
    "##);
}

#[test]
fn table_without_schema() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT * FROM a, nothing
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/x.sql:4:15: `a`: error[unknown-table]: `a` in FROM is no CTE, and a table needs its schema / write `raw.a`
    models/silver/x.sql:4:18: `nothing`: error[unknown-table]: `nothing` in FROM is no CTE, and a table needs its schema / write `<schema>.<name>` of a model or a source
    "##);
}

#[test]
fn three_parts() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT * FROM x.raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:4:15: `x.raw.a`: error[unknown-table]: `x.raw.a` has more than two parts / write `<schema>.<name>` of a model or a source");
}

#[test]
fn cte_out_of_scope() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT * FROM (WITH c AS (SELECT 1 AS a) SELECT * FROM c) AS d, c
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:4:65: `c`: error[unknown-table]: `c` in FROM is no CTE, and a table needs its schema / write `raw.a`");
}

#[test]
fn cte_reads_itself_without_recursive() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
WITH c AS (SELECT * FROM c) SELECT * FROM c
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:4:26: `c`: error[unknown-table]: `c` in FROM is no CTE, and a table needs its schema / write `raw.a`");
}

#[test]
fn cte_before_its_turn() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
WITH a1 AS (SELECT * FROM b1), b1 AS (SELECT * FROM raw.a) SELECT * FROM a1, b1
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:4:27: `b1`: error[unknown-table]: `b1` in FROM is no CTE, and a table needs its schema / write `raw.b`");
}

#[test]
fn file_in_from() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT * FROM 'data/a.csv', "b.parquet"
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/x.sql:4:15: `'data/a.csv'`: error[file-in-from]: `data/a.csv` is a file, not a table / declare the file as a source in oncemore.yml and read that
    models/silver/x.sql:4:29: `"b.parquet"`: error[file-in-from]: `b.parquet` is a file, not a table / declare the file as a source in oncemore.yml and read that
    "##);
}

#[test]
fn table_function() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT * FROM read_csv('a.csv'), generate_series(1, 2) AS g
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:4:15: `read_csv`: error[table-function]: table function `read_csv` can't be used in a model / declare files as a source in oncemore.yml; only generate_series, range and unnest may stand in FROM");
}

#[test]
fn previous() {
    let slice = "/* oncemore\nkind: slice\ninterval: day\ntime: t\n*/\n";
    let full = "/* oncemore\nkind: full\n*/\n";
    let fixture = [
        ("a", slice, "SELECT * FROM previous(silver.a) AS p"),
        ("b", slice, "SELECT * FROM previous(silver.a) AS p"),
        ("c", full, "SELECT * FROM previous(silver.c) AS p"),
        ("d", full, "SELECT previous(a) FROM raw.a"),
        ("e", slice, "SELECT * FROM previous('silver.e')"),
        ("f", slice, "SELECT * FROM previous(silver.f, 2)"),
        ("g", "/* oncemore\nkind: view\n*/\n", "SELECT * FROM previous(silver.g)"),
        ("h", slice, "SELECT * FROM silver.h"),
    ]
    .map(|(name, head, sql)| format!("//- models/silver/{name}.sql\n{head}{sql}\n"))
    .concat();
    insta::assert_snapshot!(diagnostics(&fixture), @r##"
    models/silver/b.sql:6:24: `silver.a`: error[previous]: `previous(silver.a)` in another model / a model reads its own slice before, `previous(silver.b)`; of another table read the range that is needed: `FROM silver.a` with a condition on its time
    models/silver/c.sql:4:24: `silver.c`: error[previous]: `previous(…)` in a full table / only a model of `kind: slice` has a slice before the own one
    models/silver/d.sql:4:8: `previous`: error[previous]: `previous(…)` is no value / write `FROM previous(<schema>.<name>) AS p` with the model's own name: the slice before the own one
    models/silver/e.sql:6:15: `previous`: error[previous]: `previous(…)` takes one table / write `FROM previous(<schema>.<name>) AS p` with the model's own name: the slice before the own one
    models/silver/f.sql:6:15: `previous`: error[previous]: `previous(…)` takes one table / write `FROM previous(<schema>.<name>) AS p` with the model's own name: the slice before the own one
    models/silver/g.sql:4:24: `silver.g`: error[previous]: `previous(…)` in a view / put it into the model that writes the slices
    models/silver/h.sql:6:15: `silver.h`: error[self-read]: `silver.h` reads its own output / the content of a slice is a function of interval, code and inputs alone; read the inputs further back instead, or the slice before this one: `previous(…)`
    "##);
}

#[test]
fn self_read() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT * FROM raw.a
UNION ALL SELECT * FROM silver.x
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:5:25: `silver.x`: error[self-read]: `silver.x` reads its own output / the content of a slice is a function of interval, code and inputs alone; read the inputs further back instead, or the slice before this one: `previous(…)`");
}

#[test]
fn cycle() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT * FROM silver.y
//- models/silver/y.sql
/* oncemore
kind: full
*/
SELECT * FROM silver.z
//- models/silver/z.sql
/* oncemore
kind: full
*/
SELECT * FROM raw.a, silver.x
//- models/silver/outside.sql
/* oncemore
kind: full
*/
SELECT * FROM silver.x
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:4:15: `silver.y`: error[cycle]: models read each other in a circle: silver.x → silver.y → silver.z → silver.x / one of them must not read the next");
}

#[test]
fn two_cycles() {
    let fixture = r##"//- models/silver/a.sql
/* oncemore
kind: full
*/
SELECT * FROM silver.b
//- models/silver/b.sql
/* oncemore
kind: full
*/
SELECT * FROM silver.a
//- models/silver/c.sql
/* oncemore
kind: full
*/
SELECT * FROM silver.d
//- models/silver/d.sql
/* oncemore
kind: full
*/
SELECT * FROM silver.c
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/a.sql:4:15: `silver.b`: error[cycle]: models read each other in a circle: silver.a → silver.b → silver.a / one of them must not read the next
    models/silver/c.sql:4:15: `silver.d`: error[cycle]: models read each other in a circle: silver.c → silver.d → silver.c / one of them must not read the next
    "##);
}

#[test]
fn placeholder_unknown() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: slice
interval: day
time: t
*/
SELECT * FROM raw.a WHERE a < :limt AND b < :interval_strat AND c = :Limit AND d = $1 AND e = ?
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/x.sql:6:31: `:limt`: error[placeholder]: `:limt` is no variable / did you mean `:limit`?
    models/silver/x.sql:6:45: `:interval_strat`: error[placeholder]: `:interval_strat` is no variable / did you mean `:interval_start`?
    models/silver/x.sql:6:69: `:Limit`: error[placeholder]: `:Limit` is no variable / did you mean `:limit`?
    models/silver/x.sql:6:84: `$1`: error[placeholder]: `$1` is no variable / declare it under `variables` in oncemore.yml
    models/silver/x.sql:6:95: `?`: error[placeholder]: `?` is no variable / declare it under `variables` in oncemore.yml
    "##);
}

#[test]
fn interval_in_full() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT * FROM raw.a WHERE a < :interval_end
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:4:31: `:interval_end`: error[placeholder]: a full table has no interval: `:interval_end` means nothing here / remove it, or make the model `kind: slice`");
}

#[test]
fn full_reads_view_with_interval() {
    let fixture = r##"//- models/silver/v.sql
/* oncemore
kind: view
*/
SELECT * FROM raw.a WHERE a < :interval_end
//- models/silver/w.sql
/* oncemore
kind: view
*/
SELECT * FROM silver.v
//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT * FROM silver.w
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:4:15: `silver.w`: error[placeholder]: view `silver.w` needs an interval, and a full table has none / read the interval's bounds in a slice model alone");
}

#[test]
fn session_variable() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT @x, @@version FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/x.sql:4:8: `@x`: error[unsupported-sql]: session variable `@x` can't be used in a model / declare it under `variables` and write `:name`
    models/silver/x.sql:4:12: `@@version`: error[unsupported-sql]: session variable `@@version` can't be used in a model / declare it under `variables` and write `:name`
    "##);
}

#[test]
fn clauses_of_others() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT TOP 3 a INTO b FROM raw.a SORT BY a
//- models/silver/y.sql
/* oncemore
kind: full
*/
SELECT a FROM raw.a FOR UPDATE
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/x.sql:4:1: `SELECT`: error[unsupported-sql]: SELECT INTO can't be used in a model / the engine has no meaning for it
    models/silver/x.sql:4:1: `SELECT`: error[unsupported-sql]: SORT BY can't be used in a model / the engine has no meaning for it
    models/silver/x.sql:4:1: `SELECT`: error[unsupported-sql]: TOP can't be used in a model / the engine has no meaning for it
    models/silver/y.sql:4:1: `SELECT`: error[unsupported-sql]: FOR UPDATE can't be used in a model / the engine has no meaning for it
    "##);
}

#[test]
fn cte_with_dot() {
    let fixture = r##"//- models/silver/x.sql
/* oncemore
kind: full
*/
WITH "raw.a" AS (SELECT 1 AS a) SELECT * FROM raw.a
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"models/silver/x.sql:4:6: `"raw.a"`: error[sql]: CTE `raw.a` has a dot in its name / rename it"##);
}

#[test]
fn all_at_once() {
    let fixture = r##"//- oncemore.yml
nam: test
sources: {raw.a: {path: /a.csv}}
//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT * FROM raw.a, raw.b WHERE :x
//- models/silver/y.sql
/* oncemore
kind: full
*/
SELEC
//- models/silver/z.sql
/* oncemore
kind: full
*/
SELECT * FROM silver.y
"##;
    insta::assert_snapshot!(diagnostics(fixture), @r##"
    models/silver/x.sql:4:22: `raw.b`: error[unknown-table]: unknown table `raw.b` / did you mean `raw.a`?
    models/silver/x.sql:4:34: `:x`: error[placeholder]: `:x` is no variable / declare it under `variables` in oncemore.yml
    models/silver/y.sql:4:1: `SELEC`: error[not-a-query]: SELEC is no query / did you mean `SELECT`?
    oncemore.yml:1:1: ``: error[missing-key]: `name` is missing / begin with `name: <project>`
    oncemore.yml:1:1: `nam`: error[unknown-key]: unknown key `nam` in `oncemore.yml` / did you mean `name`?
    oncemore.yml:2:25: `/a.csv`: error[path]: `/a.csv` leads out of the project's folder / write a path below the project's folder, with `/`
    "##);
}

#[test]
fn a_bound_in_quotes_is_text() {
    let fixture = r##"//- oncemore.yml
name: x
sources:
  raw.a: {path: data/*.parquet}
//- models/silver/x.sql
/* oncemore
kind: full
*/
SELECT 'é' AS e, a.b, ':other' AS f FROM raw.a WHERE a.b >= ':interval_start'
"##;
    insta::assert_snapshot!(diagnostics(fixture), @"models/silver/x.sql:4:61: `':interval_start'`: error[placeholder]: `':interval_start'` is text, and not where the interval's bound is put in / take the quotes away: `:interval_start`");
}
