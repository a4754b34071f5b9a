//! Code versions: what changes them, what does not, and that new names keep the meaning.

use super::fuzz::Random;
use super::project;
use crate::sql;

const SETTINGS: &str = "kind: slice\ninterval: day\ntime: t\nkey: [a]";

fn code_with(yml: &str, settings: &str, sql: &str, view: &str) -> String {
    let fixture = format!(
        "//- oncemore.yml\nname: test\n{yml}\n//- models/s/v.sql\n/* oncemore\nkind: view\n*/\n{view}\n\
         //- models/s/w.sql\n/* oncemore\nkind: view\n*/\nSELECT * FROM s.v\n\
         //- models/s/m.sql\n/* oncemore\n{settings}\n*/\n{sql}\n"
    );
    project(&fixture).model("s.m").unwrap().code.to_string()
}

const YML: &str = "variables: {n: 1, other: 2}\nsources:\n  raw.a: {path: a.csv, columns: {a: INT}}\n  raw.b: {path: b.csv}";
const VIEW: &str = "SELECT * FROM raw.a WHERE a > 1";

fn code(sql: &str) -> String {
    code_with(YML, SETTINGS, sql, VIEW)
}

fn canonical(sql: &str) -> sql::Canonical {
    let analysed = sql::analyse(sql).unwrap_or_else(|errors| panic!("{sql}: {errors:?}"));
    assert!(analysed.errors.is_empty(), "{sql}: {:?}", analysed.errors);
    analysed.canonical
}

#[test]
fn what_does_not_count() {
    let base = "WITH c AS (SELECT a, t FROM raw.a WHERE a > :n) SELECT c.a, c.t FROM c WHERE c.a <> 'X'";
    for same in [
        "with c as (select a, t from raw.a where a > :n) select c.a, c.t from c where c.a <> 'X'",
        "WITH c AS (\n  SELECT a,t\n  FROM raw.a -- a comment\n WHERE a>:n)\nSELECT c.a,c.t /* here */ FROM c WHERE c.a<>'X' ;",
        "WITH other AS (SELECT a, t FROM raw.a WHERE a > :n) SELECT other.a, other.t FROM other WHERE other.a <> 'X'",
        "WITH \"C\" AS (SELECT a, t FROM raw.a WHERE a > :n) SELECT \"C\".a, \"C\".t FROM \"C\" WHERE \"C\".a <> 'X'",
        "WITH C AS (SELECT A, T FROM RAW.A WHERE a > :n) SELECT c.a, C.t FROM c WHERE C.a <> 'X'",
        "WITH raw AS (SELECT a, t FROM raw.a WHERE a > :n) SELECT raw.a, raw.t FROM raw WHERE raw.a <> 'X'",
    ] {
        assert_eq!(code(base), code(same), "{same}");
    }
    let settings = format!(
        "{SETTINGS}\naudits: [{{not_null: [a]}}]\ntags: [x]\ndescription: y\nstart: 2013-01-01\nend: 2014-01-01\n\
         delay: 1 hour\ninputs: {{raw.a: {{on_change: ignore}}}}"
    );
    assert_eq!(code(base), code_with(YML, &settings, base, VIEW));
    let elsewhere = YML.replace("a.csv", "elsewhere/*.csv").replace("other: 2", "other: 3");
    assert_eq!(code(base), code_with(&elsewhere, SETTINGS, base, VIEW));
    let missing = YML.replace("{path: a.csv,", "{path: a.csv, missing: empty,");
    assert_eq!(code(base), code_with(&missing, SETTINGS, base, VIEW));
}

#[test]
fn what_counts() {
    let base = "WITH c AS (SELECT a, t FROM raw.a WHERE a > :n) SELECT c.a, c.t FROM c WHERE c.a <> 'X'";
    for different in [
        "WITH c AS (SELECT a, t FROM raw.a WHERE a > :n) SELECT c.a, c.t FROM c WHERE c.a <> 'x'",
        "WITH c AS (SELECT a, t FROM raw.a WHERE a >= :n) SELECT c.a, c.t FROM c WHERE c.a <> 'X'",
        "WITH c AS (SELECT a, t FROM raw.a WHERE a > :n) SELECT c.t, c.a FROM c WHERE c.a <> 'X'",
        "WITH c AS (SELECT a, t FROM raw.b WHERE a > :n) SELECT c.a, c.t FROM c WHERE c.a <> 'X'",
        "WITH c AS (SELECT a, t FROM raw.a WHERE a > :other) SELECT c.a, c.t FROM c WHERE c.a <> 'X'",
        "WITH c AS (SELECT a, t FROM raw.a WHERE a > :n) SELECT c.a, c.t FROM c WHERE c.\"A\" <> 'X'",
        "WITH c AS (SELECT a, t FROM raw.a WHERE a > 1) SELECT c.a, c.t FROM c WHERE c.a <> 'X'",
    ] {
        assert_ne!(code(base), code(different), "{different}");
    }
    let yml = |from: &str, to: &str| code_with(&YML.replace(from, to), SETTINGS, base, VIEW);
    let settings = |from: &str, to: &str| code_with(YML, &SETTINGS.replace(from, to), base, VIEW);
    for different in [
        yml("n: 1", "n: 2"),
        yml("n: 1", "n: '1'"),
        yml("a: INT", "a: BIGINT"),
        yml("a.csv,", "a.csv, header: false,"),
        yml("a.csv,", "a.csv, delimiter: ';',"),
        yml("a.csv,", "a.csv, 'null': [NA],"),
        yml("a.csv,", "a.csv, time_zone: Asia/Tokyo,"),
        yml("a.csv,", "a.ndjson,"),
        settings("day", "hour"),
        settings("time: t", "time: a"),
        settings("key: [a]", "key: [a, t]"),
        settings("kind: slice", "kind: slice\ntime_zone: Asia/Tokyo"),
    ] {
        assert_ne!(code(base), different);
    }
}

#[test]
fn views_count_through_views() {
    let sql = "SELECT * FROM s.w";
    let base = code(sql);
    assert_eq!(base, code_with(YML, SETTINGS, sql, "select * from raw.a -- same\n where a > 1"));
    assert_ne!(base, code_with(YML, SETTINGS, sql, "SELECT * FROM raw.a WHERE a > 2"));
    assert_ne!(base, code_with(&YML.replace("a: INT", "a: DATE"), SETTINGS, sql, VIEW));
    let with_variable = "SELECT * FROM raw.a WHERE a > :n";
    let other = YML.replace("n: 1", "n: 7");
    assert_ne!(code_with(YML, SETTINGS, sql, with_variable), code_with(&other, SETTINGS, sql, with_variable));
}

/// The canonical form is part of what is stored for good: a change of it makes every slice of everybody stale.
#[test]
fn canonical_form_is_pinned() {
    let shown = |sql: &str| {
        let canonical = canonical(sql);
        let text = canonical.text.replace('\u{1}', "#");
        if canonical.naming.is_empty() { text } else { format!("{text} named after {:?}", canonical.naming) }
    };
    insta::assert_snapshot!(shown("WITH C AS (SELECT X.a FROM raw.T x) select c.*, 'It''s' FROM c -- y"), @r##"with "#c1" as ( select "#t2" . a from raw . t "#t2" ) select "#c1" . * , 'It''s' from "#c1""##);
    insta::assert_snapshot!(shown("SELECT max(f.a), f.b, f.a + 1 AS d FROM raw.f AS f GROUP BY f.b"), @r##"select max ( "#t1" . a ) , "#t1" . b , "#t1" . a + 1 as d from raw . f as "#t1" group by "#t1" . b named after ["f"]"##);
    insta::assert_snapshot!(shown("SELECT t.a FROM raw.t, raw.u AS v WHERE t.a = V.b AND raw.t.c >= :n"), @r##"select t . a from raw . t , raw . u as "#t1" where t . a = "#t1" . b and raw . t . c >= : n"##);
    insta::assert_snapshot!(code("SELECT * FROM s.w WHERE a > :n"), @"f8d23ff56c1cdf3055b3acc1e69bfb50d0bb6c755856145fb51ddfd40b477ed4");
}

/// Pairs that bind differently, and so must not look alike.
#[test]
fn scopes_are_told_apart() {
    for (one, other) in [
        // Which of two relations a qualifier means.
        ("SELECT x.a FROM raw.a AS x, raw.b AS y", "SELECT x.a FROM raw.a AS y, raw.b AS x"),
        (
            "SELECT 1 AS o FROM raw.a x, raw.b y ORDER BY x.a",
            "SELECT 1 AS o FROM raw.a y, raw.b x ORDER BY x.a",
        ),
        (
            "SELECT x.a FROM raw.a x, raw.b y UNION SELECT 1 ORDER BY x.a",
            "SELECT y.a FROM raw.a y, raw.b x UNION SELECT 1 ORDER BY x.a",
        ),
        // Correlated or not.
        (
            "SELECT x.a FROM raw.a x WHERE EXISTS (SELECT 1 FROM raw.b y WHERE y.a = x.a)",
            "SELECT x.a FROM raw.a x WHERE EXISTS (SELECT 1 FROM raw.b x WHERE x.a = x.a)",
        ),
        // An inner CTE of the same name.
        (
            "WITH c AS (SELECT 1 AS a) SELECT * FROM (WITH c AS (SELECT 2 AS a) SELECT * FROM c) AS s",
            "WITH c AS (SELECT 1 AS a) SELECT * FROM (WITH d AS (SELECT 2 AS a) SELECT * FROM c) AS s",
        ),
        // Which CTE is read.
        (
            "WITH c AS (SELECT 1 AS a), d AS (SELECT 2 AS a) SELECT * FROM c",
            "WITH c AS (SELECT 1 AS a), d AS (SELECT 2 AS a) SELECT * FROM d",
        ),
        // Recursive or the one outside.
        (
            "WITH c AS (SELECT 1 AS a) SELECT * FROM (WITH RECURSIVE c AS (SELECT * FROM c) SELECT * FROM c) AS s",
            "WITH c AS (SELECT 1 AS a) SELECT * FROM (WITH RECURSIVE d AS (SELECT * FROM c) SELECT * FROM d) AS s",
        ),
        // A column and a relation of the same name.
        ("SELECT x.a FROM raw.a x", "SELECT y.a FROM raw.a x"),
        ("SELECT count(x.*) AS n FROM raw.a x, raw.b y", "SELECT count(y.*) AS n FROM raw.a x, raw.b y"),
        ("SELECT x.* FROM raw.a x, raw.b y", "SELECT x.* FROM raw.a y, raw.b x"),
        // The engine names columns after the text: another name is another output.
        ("SELECT max(x.a) FROM raw.a x", "SELECT max(y.a) FROM raw.a y"),
        ("SELECT x.s.a FROM raw.a x", "SELECT y.s.a FROM raw.a y"),
        ("SELECT \"x\".a FROM raw.a \"X\", raw.b x", "SELECT \"X\".a FROM raw.a \"X\", raw.b x"),
    ] {
        assert_ne!(canonical(one), canonical(other), "{one}\n{other}");
    }
}

/// Queries with `{0}`, `{1}` … for names that may be anything, and what SQLite thinks of them.
const TEMPLATES: &[&str] = &[
    "WITH {0} AS (SELECT a, b FROM raw.a) SELECT {0}.a, {0}.b FROM {0} WHERE {0}.a > 1",
    "WITH {0} AS (SELECT a FROM raw.a), {1} AS (SELECT {0}.a + 1 AS a FROM {0}) SELECT {0}.a, {1}.a AS x FROM {0} JOIN {1} ON {0}.a = {1}.a",
    "SELECT {0}.a, (SELECT max({1}.b) AS m FROM raw.b AS {1} WHERE {1}.a = {0}.a) AS m FROM raw.a AS {0}",
    "SELECT {0}.a FROM raw.a {0} WHERE EXISTS (SELECT 1 FROM raw.b {1} WHERE {1}.a = {0}.a AND {1}.b IN (SELECT {2}.b FROM raw.a {2} WHERE {2}.a = {0}.a))",
    "WITH {0} AS (SELECT 1 AS a) SELECT * FROM (WITH {1} AS (SELECT a + 1 AS a FROM {0}) SELECT {1}.a FROM {1}) AS {2}",
    "SELECT {0}.a, sum({0}.b) OVER (PARTITION BY {0}.a ORDER BY {0}.b) AS s FROM raw.a AS {0} ORDER BY {0}.a, {0}.b",
    "WITH RECURSIVE {0} AS (SELECT 1 AS i UNION ALL SELECT {0}.i + 1 FROM {0} WHERE {0}.i < 5) SELECT {0}.i FROM {0}",
    "SELECT {0}.a FROM raw.a {0} UNION ALL SELECT {1}.b FROM raw.b {1} JOIN raw.a {2} ON {1}.a = {2}.a",
    "SELECT {0}.*, {1}.b AS bb FROM raw.a AS {0} LEFT JOIN (SELECT {2}.a, {2}.b FROM raw.b AS {2} WHERE {2}.a > 0) AS {1} ON {0}.a = {1}.a",
    "WITH {0}(p, q) AS (SELECT a, b FROM raw.a) SELECT {0}.p, {0}.q FROM {0} GROUP BY {0}.p, {0}.q HAVING count(*) > 0",
    "SELECT a.a, {0}.b AS b FROM raw.a JOIN raw.b AS {0} ON raw.a.a = {0}.a",
    "SELECT CASE WHEN {0}.a > 1 THEN {0}.b ELSE -{0}.b END AS c FROM raw.a AS {0} WHERE {0}.a BETWEEN 0 AND 9 ORDER BY {0}.b LIMIT 3",
];

fn fill(template: &str, names: [&str; 3]) -> String {
    names
        .iter()
        .enumerate()
        .fold(template.to_owned(), |text, (index, name)| text.replace(&format!("{{{index}}}"), name))
}

#[test]
fn names_of_ctes_and_aliases_do_not_count() {
    let pool = ["x", "y", "zeta", "\"Quoted\"", "flights", "c1", "t", "\"a b\"", "raw", "i"];
    for seed in 1..=400_u64 {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let template = TEMPLATES[random.below(TEMPLATES.len())];
        let mut names = pool;
        for at in 0..3 {
            names.swap(at, at + random.below(pool.len() - at));
        }
        // `raw` as an alias beside `raw.a.a` can't be told from the schema: not renamed, by design.
        if template.contains("raw.a.a") && names[..3].contains(&"raw") {
            continue;
        }
        let named = fill(template, [names[0], names[1], names[2]]);
        let plain = fill(template, ["n0", "n1", "n2"]);
        let (named, plain) = (canonical(&named), canonical(&plain));
        assert_eq!(named.text, plain.text, "seed {seed}");
    }
}

#[test]
fn new_names_keep_the_meaning() {
    let database = rusqlite::Connection::open_in_memory().unwrap();
    database
        .execute_batch(
            "ATTACH ':memory:' AS raw; CREATE TABLE raw.a (a INT, b INT); CREATE TABLE raw.b (a INT, b INT);
             INSERT INTO raw.a VALUES (1, 10), (2, 20), (2, 21), (3, NULL);
             INSERT INTO raw.b VALUES (1, 11), (2, 20), (4, 40), (NULL, 7);",
        )
        .unwrap();
    let rows = |sql: &str| -> Vec<String> {
        let mut statement = database.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        let width = statement.column_count();
        let rows = statement.query_map([], |row| {
            let values: Result<Vec<_>, _> =
                (0..width).map(|at| row.get::<_, rusqlite::types::Value>(at)).collect();
            values.map(|values| format!("{values:?}"))
        });
        let mut rows: Vec<String> = rows.unwrap().map(Result::unwrap).collect();
        rows.sort();
        rows
    };
    // Names that shadow each other on purpose.
    let shadowing = [
        "WITH a AS (SELECT 5 AS a) SELECT a.a FROM a",
        "WITH a AS (SELECT 5 AS a) SELECT a.a FROM raw.a",
        "WITH a AS (SELECT 5 AS a) SELECT (SELECT max(a.a) AS m FROM raw.a) AS m, a.a FROM a",
        "SELECT x.a FROM raw.a x WHERE x.a IN (SELECT x.a FROM raw.b x WHERE x.b > 15)",
        "WITH x AS (SELECT 1 AS a), y AS (WITH x AS (SELECT 2 AS a) SELECT x.a FROM x) SELECT x.a, y.a AS b FROM x, y",
        "SELECT x.a, (SELECT y.b FROM raw.b y WHERE y.a = x.a) AS b FROM (SELECT y.a FROM raw.a y) AS x",
    ];
    let filled = TEMPLATES.iter().map(|template| fill(template, ["x", "y", "z"]));
    for sql in filled.chain(shadowing.map(str::to_owned)) {
        assert_eq!(rows(&sql), rows(&canonical(&sql).text), "{sql}\n{}", canonical(&sql).text);
    }
}
