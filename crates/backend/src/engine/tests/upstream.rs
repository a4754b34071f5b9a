//! Rows that DataFusion 53.1 gets wrong by itself, and we must not.

use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use oncemore_core::Interval;

use super::support::*;

fn rows(sql: &str) -> Vec<i64> {
    let schema = Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int64, true),
        Field::new("v", DataType::Int64, true),
        Field::new("u", DataType::Int64, true),
    ]));
    let column = |values: &[i64]| Arc::new(Int64Array::from(values.to_vec()));
    let batch = |ids: &[i64], v: &[i64], u: &[i64]| {
        RecordBatch::try_new(Arc::clone(&schema), vec![column(ids), column(v), column(u)]).unwrap()
    };
    let inputs = vec![
        ("s.a".to_owned(), table(&[batch(&[1, 2, 3, 4], &[1, 2, 3, 4], &[2, 2, 5, 5])], 1)),
        ("s.b".to_owned(), table(&[batch(&[2, 4, 9], &[2, 4, 9], &[7, 7, 7])], 1)),
    ];
    let query = query(sql, vec![input("s.a", &schema, None), input("s.b", &schema, None)]);
    let out = run(&engine(2, 64), &query, Interval::WHOLE, inputs).unwrap_or_else(|e| panic!("{sql}: {e}"));
    let values = out.iter().flat_map(|batch| {
        batch.column(0).as_any().downcast_ref::<Int64Array>().unwrap().iter().flatten().collect::<Vec<_>>()
    });
    values.collect()
}

#[test]
fn filters_above_outer_joins_stay_on_their_own_side() {
    for kept in ["a.id > 0 OR a.u > 0", "a.u IS NOT NULL"] {
        let sql = format!(
            "SELECT a.id FROM (SELECT * FROM s.a AS a WHERE {kept}) AS a LEFT JOIN s.b AS b ON a.id = b.id WHERE b.id IS NULL"
        );
        assert_eq!(rows(&sql), [1, 3], "{sql}");
        let sql = format!(
            "SELECT a.v FROM (SELECT * FROM s.a AS a WHERE {kept}) AS a LEFT JOIN s.b AS b ON a.id = b.id WHERE b.v IS NULL OR b.v > 3"
        );
        assert_eq!(rows(&sql), [1, 3, 4], "{sql}");
    }
    let sql = "SELECT b.id FROM s.a AS a RIGHT JOIN (SELECT * FROM s.b WHERE u > 1) AS b ON a.id = b.id WHERE coalesce(a.v, 0) < 3";
    assert_eq!(rows(sql), [2, 9], "{sql}");
}

#[test]
fn in_lists_of_columns_are_compared_by_value() {
    assert_eq!(rows("SELECT id FROM s.a WHERE id IN (u, 77) AND id IN (v, 78)"), [2]);
    assert_eq!(rows("SELECT id FROM s.a WHERE id NOT IN (u, 77) AND id IN (v, 78)"), [1, 3, 4]);
}

/// Computed once, below the aggregate: what the plan says of NULL has to hold when it runs.
#[test]
fn several_aggregates_share_a_test_for_truth() {
    // `nullif(v, 2) < 4` is true, NULL; true, false.
    for (test, expected) in [
        ("", [2, 4]),
        ("IS TRUE", [2, 4]),
        ("IS NOT FALSE", [4, 5]),
        ("IS FALSE", [0, 5]),
        ("IS UNKNOWN", [0, 3]),
    ] {
        let those = format!("FILTER (WHERE (nullif(v, 2) < 4) {test})");
        let sql = format!("SELECT count(*) {those} + coalesce(sum(v) {those}, 0) AS n FROM s.a GROUP BY u");
        assert_eq!(rows(&sql), expected, "{sql}");
    }
}

#[test]
fn an_aggregate_filter_that_is_null_counts_nothing() {
    // `nullif(v, 2) < 4` is NULL for v = 2; groups by u: (1, 2), (3, 4).
    let counted = "count(*) FILTER (WHERE nullif(v, 2) < 4)";
    assert_eq!(rows(&format!("SELECT {counted} AS n FROM s.a GROUP BY u ORDER BY u")), [1, 1]);
    assert_eq!(rows(&format!("SELECT {counted} FROM s.a GROUP BY u HAVING {counted} > 0")), [1, 1]);
    assert_eq!(rows("SELECT sum(v) FILTER (WHERE nullif(v, 2) < 4) AS s FROM s.a GROUP BY u"), [1, 3]);
}
