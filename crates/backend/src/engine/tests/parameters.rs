//! Types of `:interval_start` and `:interval_end`, wherever they stand.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use oncemore_core::{Calendar, IntervalLength, Zone};

use super::support::*;
use crate::engine::{Analysis, EngineError, ErrorKind, Literal, ModelQuery};

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("d", DataType::Date32, true),
        Field::new("w", DataType::Timestamp(TimeUnit::Microsecond, None), true),
        Field::new("i", DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())), true),
        Field::new("x", DataType::Float64, true),
        Field::new("t", DataType::Utf8, true),
    ]))
}

fn new_york(sql: &str) -> ModelQuery {
    let mut query = query(sql, vec![input("s.t", &schema(), None)]);
    query.zone = Zone::named("America/New_York").unwrap();
    query
}

fn analyse(sql: &str) -> Result<Analysis, EngineError> {
    engine(1, 1024).analyse(&new_york(sql))
}

/// What an expression is for 2013-03-10 in New York, a day of 23 hours.
fn value(expr: &str) -> String {
    let batch = RecordBatch::new_empty(schema());
    let query = new_york(&format!(
        "SELECT {expr} AS v FROM (SELECT count(*) AS n, max(d) AS d, max(w) AS w, max(i) AS i FROM s.t) AS s"
    ));
    let calendar = Calendar::new(IntervalLength::Day, query.zone.clone());
    let interval = calendar.parse_range("2013-03-10").unwrap();
    let rows = run(&engine(1, 1024), &query, interval, vec![("s.t".into(), table(&[batch], 1))]).unwrap();
    arrow::util::display::array_value_to_string(rows[0].column(0), 0).unwrap()
}

#[test]
fn a_parameter_takes_the_type_of_what_it_is_combined_with() {
    let cases = [
        ("CAST(:interval_start AS DATE)", "2013-03-10"),
        ("CAST(:interval_end AS TIMESTAMP)", "2013-03-11T00:00:00"),
        ("CAST(:interval_start AS TIMESTAMPTZ)", "2013-03-10T05:00:00Z"),
        ("CAST(:interval_end AS TIMESTAMPTZ)", "2013-03-11T04:00:00Z"),
        ("coalesce(d, :interval_start)", "2013-03-10"),
        ("coalesce(w, :interval_end)", "2013-03-11T00:00:00"),
        ("coalesce(:interval_end, i)", "2013-03-11T04:00:00Z"),
        ("CASE WHEN n > 0 THEN d ELSE :interval_end END", "2013-03-11"),
        ("CASE :interval_start WHEN d THEN 1 ELSE 0 END", "0"),
        ("coalesce(d, :interval_start - INTERVAL '1 month')", "2013-02-10"),
        ("coalesce(w, date_trunc('month', :interval_start))", "2013-03-01T00:00:00"),
        ("CAST(:interval_start AS DATE) - INTERVAL '7 days'", "2013-03-03"),
    ];
    for (expr, expected) in cases {
        assert_eq!(value(expr), expected, "{expr}");
    }
}

#[test]
fn comparisons_of_every_shape_are_typed() {
    for filter in [
        "d >= :interval_start AND d < :interval_end",
        "d BETWEEN :interval_start - INTERVAL '7 days' AND :interval_end",
        "d BETWEEN :interval_start AND d",
        "d IN (:interval_start, :interval_end)",
        ":interval_start <= w",
        "d + INTERVAL '1 day' > :interval_start",
        "(d - :interval_start) IS NULL",
        "CASE WHEN x > 0 THEN :interval_start ELSE d END > d",
        ":interval_start IN (SELECT d FROM s.t)",
        "EXISTS (SELECT 1 FROM s.t AS u WHERE u.d = s.d AND u.i < :interval_end)",
        "d = (SELECT max(d) FROM s.t WHERE w < :interval_start)",
        "d IS NOT DISTINCT FROM :interval_start",
    ] {
        analyse(&format!("SELECT x FROM s.t AS s WHERE {filter}"))
            .unwrap_or_else(|e| panic!("{filter}: {e}"));
    }
    analyse("SELECT a.x FROM s.t a JOIN s.t b ON a.d = b.d AND b.d >= :interval_start").unwrap();
    analyse("WITH c AS (SELECT x, CAST(:interval_start AS DATE) AS day FROM s.t) SELECT * FROM c WHERE day = :interval_end")
        .unwrap();
}

fn said(sql: &str) -> String {
    let error = analyse(sql).unwrap_err();
    let at = error.at.map_or(String::new(), |(line, column)| format!(" at {line}:{column}"));
    format!("{:?}{at}: {}; {}", error.kind, error.message, error.help.unwrap_or_default())
}

#[test]
fn what_cannot_be_typed_is_an_error_with_the_cast_to_write() {
    assert_eq!(
        said("SELECT x,\n  :interval_start AS day FROM s.t"),
        "Type at 2:3: the type of `:interval_start` can't be derived: it is compared with nothing that has one; \
         write `CAST(:interval_start AS DATE)` for the local date, `AS TIMESTAMP` for local wall time or `AS TIMESTAMPTZ` for the instant"
    );
    assert!(
        said("SELECT x FROM s.t WHERE t >= :interval_start")
            .starts_with("Type at 1:30: `:interval_start` is compared with Utf8")
    );
    assert!(
        said("SELECT x FROM s.t WHERE date_part('year', :interval_start) = 1").contains("can't be derived")
    );
    assert!(said("SELECT x FROM s.t WHERE t = :carier").contains("no variable `:carier`"));
}

#[test]
fn an_interval_below_a_day_does_not_fit_a_date() {
    let mut query = new_york("SELECT x FROM s.t WHERE d >= :interval_start");
    query.length = Some(IntervalLength::Hour);
    let error = engine(1, 1024).analyse(&query).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Type);
    assert!(error.message.contains("can't tell intervals of one hour apart"), "{error}");
    query.sql = "SELECT x FROM s.t WHERE w >= :interval_start".to_owned();
    engine(1, 1024).analyse(&query).unwrap();
    query.length = None;
    assert_eq!(engine(1, 1024).analyse(&query).unwrap_err().kind, ErrorKind::Refused);
}

#[test]
fn variables_are_values_and_views_take_part() {
    let mut query = new_york("SELECT d, x, :name AS name FROM v.recent WHERE t = :name AND x > :least");
    query.views = vec![("v.recent".into(), "SELECT * FROM s.t WHERE d >= :interval_start".into())];
    query.variables =
        vec![("name".into(), Literal::Text("a'; DROP".into())), ("least".into(), Literal::Int(-3))];
    let analysis = engine(1, 1024).analyse(&query).unwrap();
    assert_eq!(analysis.schema.field(2).data_type(), &DataType::Utf8);
    let again = Analysis::from_json(&analysis.to_json()).unwrap();
    assert_eq!((again.schema, again.reads), (analysis.schema, analysis.reads));
    query.views[0].1 = "SELECT *\nFROM s.t WHERE dd = 1".into();
    let error = engine(1, 1024).analyse(&query).unwrap_err();
    assert_eq!((error.view.as_deref(), error.at), (Some("v.recent"), Some((2, 16))));
}

#[test]
fn what_is_not_pure_is_refused() {
    for call in
        ["now()", "current_date", "current_timestamp", "current_time", "random()", "uuid()", "today()"]
    {
        let said = said(&format!("SELECT {call} AS v FROM s.t"));
        assert!(said.starts_with("Refused") && said.contains("another value on every run"), "{call}: {said}");
    }
    assert!(said("SELECT approx_median(x) AS m FROM s.t").contains("use `median(x)`"));
    assert!(said("DROP TABLE s.t").starts_with("Refused"));
    assert!(said("SELECT 1 AS a; SELECT 2 AS a").starts_with("Refused"));
    assert!(said("SELECT * FROM 'flights.csv'").contains("no input `flights.csv`"));
    assert!(said("SELECT * FROM read_csv('x')").contains("table functions are not allowed"));
    assert!(said("CREATE EXTERNAL TABLE x STORED AS CSV LOCATION 'y'").starts_with("Parse"));
    assert!(said("COPY s.t TO 'x'").starts_with("Refused"));
}

#[test]
fn errors_name_the_nearest_and_the_place() {
    assert_eq!(said("SELECT x,\n  xx FROM s.t"), "UnknownColumn at 2:3: no column `xx`; did you mean `x`?");
    assert_eq!(said("SELECT * FROM s.tt"), "UnknownTable at 1:15: no input `s.tt`; did you mean `s.t`?");
    assert!(
        said("SELECT x FROM s.t WHERE )").starts_with("Parse at 1:"),
        "{}",
        said("SELECT x FROM s.t WHERE )")
    );
    assert!(said("SELECT NULL AS a FROM s.t").contains("CAST(NULL AS TEXT) AS a"));
    assert!(said("SELECT a.x, b.x FROM s.t a, s.t b").contains("two output columns are named `x`"));
    assert!(
        said("SELECT x + t AS v FROM s.t WHERE t > d + x").starts_with("Type"),
        "{}",
        said("SELECT d + x AS v FROM s.t")
    );
    assert!(said("SELECT nosuch(x) AS v FROM s.t").contains("nosuch"));
}
