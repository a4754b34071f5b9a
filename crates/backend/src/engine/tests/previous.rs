//! `previous(…)`: types that follow from the query, itself included.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema};

use super::support::{engine, input, query};
use crate::engine::EngineError;

/// The columns of a query that reads `raw.m (a TEXT, n BIGINT)` and its own slice before.
fn columns(sql: &str) -> Result<String, EngineError> {
    let fields = [("a", DataType::Utf8), ("n", DataType::Int64)];
    let schema = Schema::new(fields.map(|(name, kind)| Field::new(name, kind, true)).to_vec());
    let mut query = query(sql, vec![input("raw.m", &Arc::new(schema), None)]);
    query.previous = Some("previous(g.b)".to_owned());
    let analysis = engine(1, 1024).analyse(&query)?;
    let read = analysis.reads.iter().find(|read| read.input == "previous(g.b)").unwrap();
    assert!(read.is_previous() && read.from.is_none() && read.to.is_none());
    let with_previous = query.with_previous(&analysis.schema)?;
    assert_eq!(with_previous.inputs.len(), 2);
    let column = |field: &Arc<Field>| format!("{} {}", field.name(), field.data_type());
    Ok(analysis.schema.fields().iter().map(column).collect::<Vec<_>>().join(", "))
}

#[test]
fn types_of_the_slice_before_are_those_of_the_query() {
    for (sql, wanted) in [
        (
            "SELECT m.a, coalesce(p.n, 0) + m.n AS n FROM raw.m AS m LEFT JOIN previous(g.b) AS p ON p.a = m.a",
            "a Utf8, n Int64",
        ),
        (
            "SELECT coalesce(m.a, p.a) AS a, CASE WHEN m.a IS NULL THEN p.days + 1 ELSE 0 END AS days \
             FROM (SELECT DISTINCT a FROM raw.m) AS m FULL OUTER JOIN PREVIOUS(g.b) AS p ON p.a = m.a",
            "a Utf8, days Int64",
        ),
        ("SELECT a, n FROM raw.m UNION ALL SELECT a, n FROM previous(g.b)", "a Utf8, n Int64"),
        (
            "WITH both AS (SELECT a, n FROM raw.m UNION ALL SELECT a, n FROM previous(g.b)) \
             SELECT a, sum(n) AS n FROM both GROUP BY a",
            "a Utf8, n Int64",
        ),
        ("SELECT CAST(p.n AS BIGINT) AS n FROM previous(g.b) AS p", "n Int64"),
        (
            "SELECT coalesce(p.d, 0) + CAST(m.n AS DECIMAL(10, 2)) AS d FROM raw.m AS m CROSS JOIN previous(g.b) AS p",
            "d Decimal128(38, 2)",
        ),
    ] {
        assert_eq!(columns(sql).unwrap(), wanted, "{sql}");
    }
}

#[test]
fn what_has_no_type_of_its_own_is_an_error() {
    let error = columns("SELECT p.n AS n FROM previous(g.b) AS p").unwrap_err();
    assert_eq!(error.message, "the type of `n` follows from nothing but the slice before");
    let error = columns("SELECT m.n AS n FROM raw.m AS m, previous(g.b) AS p WHERE p.other > 1").unwrap_err();
    assert!(error.message.contains("other"), "{}", error.message);
}
