//! Which joins show that an input is only looked up: tables of queries, each with what it shows or why it shows nothing.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use oncemore_core::TimeType;

use super::support::{engine, input, query};
use crate::engine::Lookup;

fn schema(columns: &[(&str, DataType)]) -> SchemaRef {
    let fields = columns.iter().map(|(name, kind)| Field::new(*name, kind.clone(), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Lookups as text: `g.d by s.f (k = a, m = b)`.
fn shown(sql: &str) -> Vec<String> {
    let facts = [
        ("day", DataType::Date32),
        ("a", DataType::Utf8),
        ("b", DataType::Int64),
        ("n", DataType::Int32),
        ("x", DataType::Float64),
    ];
    let inputs = vec![
        input("s.f", &schema(&facts), Some(("day", TimeType::Date))),
        input("s.e", &schema(&facts), Some(("day", TimeType::Date))),
        input(
            "g.d",
            &schema(&[
                ("k", DataType::Utf8),
                ("m", DataType::Int64),
                ("v", DataType::Int64),
                ("y", DataType::Float64),
            ]),
            None,
        ),
    ];
    let found =
        engine(1, 1_024).analyse(&query(sql, inputs)).unwrap_or_else(|error| panic!("{sql}: {error}"));
    // Of an inner join each side may be the one that is looked up.
    let lookups = found.lookups.iter().filter(|lookup| lookup.input == "g.d");
    let text = |Lookup { input, by, on }: &Lookup| {
        let on = on.iter().map(|(own, other)| format!("{own} = {other}")).collect::<Vec<_>>();
        format!("{input} by {by} ({})", on.join(", "))
    };
    lookups.map(text).collect()
}

const DAY: &str = "f.day >= :interval_start AND f.day < :interval_end";

#[test]
fn joins_that_show_a_lookup() {
    let by_key = "g.d by s.f (k = a)";
    for (sql, wanted) in [
        ("SELECT f.a, d.v FROM s.f LEFT JOIN g.d ON d.k = f.a WHERE {day}", by_key),
        ("SELECT f.a, d.v FROM s.f JOIN g.d ON d.k = f.a WHERE {day}", by_key),
        ("SELECT f.a, d.v FROM s.f, g.d WHERE d.k = f.a AND {day}", by_key),
        ("SELECT f.a, d.v FROM g.d RIGHT JOIN s.f ON d.k = f.a WHERE {day}", by_key),
        ("SELECT f.a, d.v FROM g.d JOIN s.f ON d.k = f.a WHERE {day}", by_key),
        ("SELECT f.a FROM s.f WHERE f.a IN (SELECT k FROM g.d) AND {day}", by_key),
        (
            "SELECT f.a FROM s.f WHERE EXISTS (SELECT 1 FROM g.d WHERE d.k = f.a AND d.v > 3) AND {day}",
            by_key,
        ),
        ("SELECT f.a FROM s.f WHERE NOT EXISTS (SELECT 1 FROM g.d WHERE d.k = f.a) AND {day}", by_key),
        // Two columns, and one of two: fewer tell fewer rows apart, which is right.
        (
            "SELECT f.a, d.v FROM s.f LEFT JOIN g.d ON d.k = f.a AND d.m = f.b WHERE {day}",
            "g.d by s.f (k = a, m = b)",
        ),
        ("SELECT f.a, d.v FROM s.f LEFT JOIN g.d ON d.k = f.a AND d.m > f.b WHERE {day}", by_key),
        ("SELECT f.a, d.v FROM s.f LEFT JOIN g.d ON d.k = f.a AND d.m = f.b + 1 WHERE {day}", by_key),
        // Conditions and expressions of a row of the dimension, whatever they are.
        (
            "SELECT f.a, d.w FROM s.f LEFT JOIN (SELECT k, v + m AS w FROM g.d WHERE v > 2) AS d ON d.k = f.a \
             WHERE {day}",
            by_key,
        ),
        ("SELECT f.a, d.v FROM s.f LEFT JOIN g.d ON d.k = f.a WHERE {day} AND d.v IS NULL", by_key),
        (
            "SELECT f.a, d.v FROM s.f LEFT JOIN g.d ON d.k = f.a WHERE {day} AND (d.v > f.b OR d.m = 1)",
            by_key,
        ),
        // The other side: renamed, filtered, joined with others, and NULL where it found no partner.
        (
            "WITH r AS (SELECT a AS key, b FROM s.f WHERE {day} AND b > 0) \
             SELECT r.key, d.v FROM r LEFT JOIN g.d ON d.k = r.key",
            by_key,
        ),
        (
            "SELECT f.a, e.b, d.v FROM s.f JOIN s.e ON e.a = f.a AND e.day = f.day LEFT JOIN g.d ON d.k = f.a \
             WHERE {day}",
            by_key,
        ),
        (
            "SELECT f.a, e.b, d.v FROM s.f LEFT JOIN s.e ON e.b = f.b AND e.day = f.day LEFT JOIN g.d ON d.k = e.a \
             WHERE {day}",
            "g.d by s.e (k = a)",
        ),
        // Whatever is made of the rows that the join gives.
        ("SELECT d.v, count(*) AS c FROM s.f LEFT JOIN g.d ON d.k = f.a WHERE {day} GROUP BY d.v", by_key),
        (
            "SELECT f.a, row_number() OVER (PARTITION BY d.v ORDER BY f.b, f.a) AS r FROM s.f LEFT JOIN g.d ON d.k = f.a \
             WHERE {day}",
            by_key,
        ),
        ("SELECT DISTINCT d.v FROM s.f JOIN g.d ON d.k = f.a WHERE {day} ORDER BY d.v LIMIT 3", by_key),
        // Columns of two inputs: those of one of them.
        (
            "SELECT f.a, d.v FROM s.f JOIN s.e ON e.b = f.b AND e.day = f.day LEFT JOIN g.d ON d.k = f.a AND d.m = e.b \
             WHERE {day}",
            by_key,
        ),
    ] {
        let sql = sql.replace("{day}", DAY);
        assert_eq!(shown(&sql), [wanted], "{sql}");
    }
}

#[test]
fn joins_that_show_none() {
    for (sql, why) in [
        ("SELECT f.a, d.v FROM s.f FULL JOIN g.d ON d.k = f.a", "its rows are kept without a partner"),
        (
            "SELECT d.k, f.b FROM g.d LEFT JOIN s.f ON d.k = f.a AND {day}",
            "its rows are kept without a partner",
        ),
        ("SELECT d.k FROM g.d WHERE d.k IN (SELECT a FROM s.f WHERE {day})", "its rows are what is kept"),
        (
            "SELECT f.a FROM s.f WHERE f.a NOT IN (SELECT k FROM g.d) AND {day}",
            "asks for NULL among all rows",
        ),
        (
            "SELECT f.a, d.v FROM s.f LEFT JOIN g.d ON d.k IS NOT DISTINCT FROM f.a WHERE {day}",
            "NULL finds NULL",
        ),
        ("SELECT f.a, d.v FROM s.f LEFT JOIN g.d ON d.m > f.b WHERE {day}", "no equality"),
        ("SELECT f.a, d.v FROM s.f CROSS JOIN g.d WHERE {day}", "no condition"),
        (
            "SELECT f.a, d.v FROM s.f LEFT JOIN g.d ON d.k = upper(f.a) WHERE {day}",
            "an expression of the facts",
        ),
        (
            "SELECT f.a, d.v FROM s.f LEFT JOIN g.d ON lower(d.k) = f.a WHERE {day}",
            "an expression of the row",
        ),
        ("SELECT f.a, d.v FROM s.f LEFT JOIN g.d ON d.m = f.n WHERE {day}", "types that differ"),
        ("SELECT f.a, d.v FROM s.f LEFT JOIN g.d ON CAST(d.m AS INT) = f.n WHERE {day}", "a cast"),
        (
            "SELECT f.a, d.v FROM s.f LEFT JOIN g.d ON d.y = f.x WHERE {day}",
            "numbers that are equal in several forms",
        ),
        (
            "SELECT f.a, d.v FROM s.f LEFT JOIN (SELECT k, max(v) AS v FROM g.d GROUP BY k) AS d ON d.k = f.a WHERE {day}",
            "an aggregate over it",
        ),
        (
            "SELECT f.a, d.r FROM s.f LEFT JOIN (SELECT k, rank() OVER (ORDER BY v) AS r FROM g.d) AS d ON d.k = f.a \
             WHERE {day}",
            "a window over it",
        ),
        (
            "SELECT f.a, d.v FROM s.f LEFT JOIN (SELECT k, v FROM g.d ORDER BY v, k LIMIT 3) AS d ON d.k = f.a WHERE {day}",
            "a limit over it",
        ),
        (
            "SELECT f.a, d.v FROM s.f LEFT JOIN (SELECT DISTINCT k, v FROM g.d) AS d ON d.k = f.a WHERE {day}",
            "a distinct over it",
        ),
        (
            "SELECT f.a, d.v FROM s.f LEFT JOIN (SELECT k, v FROM g.d UNION ALL SELECT a, b FROM s.e) AS d ON d.k = f.a \
             WHERE {day}",
            "a union over it",
        ),
        (
            "SELECT f.a, d.v, o.v AS w FROM s.f LEFT JOIN g.d ON d.k = f.a LEFT JOIN g.d AS o ON o.k = f.a WHERE {day}",
            "it is read twice",
        ),
        (
            "SELECT f.a, d.v, (SELECT max(v) FROM g.d) AS top FROM s.f LEFT JOIN g.d ON d.k = f.a WHERE {day}",
            "it is read twice",
        ),
        (
            "SELECT f.a, d.v FROM s.f LEFT JOIN g.d ON d.k = f.a WHERE {day} \
             UNION ALL SELECT k, v FROM g.d",
            "it is read twice",
        ),
        (
            "SELECT g.a, d.v FROM (SELECT max(f.a) AS a FROM s.f WHERE {day}) AS g LEFT JOIN g.d ON d.k = g.a",
            "what an aggregate gives may be no value of the facts",
        ),
        (
            "SELECT g.a, d.v FROM (SELECT a FROM s.f UNION ALL SELECT a FROM s.e) AS g LEFT JOIN g.d ON d.k = g.a",
            "values of two inputs",
        ),
        ("SELECT f.a, d.v FROM s.f LEFT JOIN g.d ON d.k = 'one' WHERE {day}", "no column of the facts"),
        ("SELECT k, v FROM g.d", "no join"),
        (
            "SELECT f.a, f.a IN (SELECT k FROM g.d) AS there FROM s.f WHERE {day}",
            "a mark, which asks for NULL among all rows",
        ),
    ] {
        let sql = sql.replace("{day}", DAY);
        assert_eq!(shown(&sql), Vec::<String>::new(), "{why}: {sql}");
    }
}
