//! Whole numbers that do not fit are an error, at any split of the rows, and nothing else is.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Decimal128Array, Int32Array, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use oncemore_core::Interval;

use super::support::*;

const NINES: i128 = 99_999_999_999_999_999_999_999_999_999_999_999_999;

fn rows() -> RecordBatch {
    let fields = vec![
        Field::new("n", DataType::Int64, true),
        Field::new("i", DataType::Int32, true),
        Field::new("d", DataType::Decimal128(38, 0), true),
        Field::new("g", DataType::Int64, true),
    ];
    let d = Decimal128Array::from(vec![NINES, NINES, -NINES, 1]).with_precision_and_scale(38, 0).unwrap();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![i64::MAX, i64::MAX, -i64::MAX, i64::MIN])),
        Arc::new(Int32Array::from(vec![i32::MAX, 2, 3, i32::MIN])),
        Arc::new(d),
        Arc::new(Int64Array::from(vec![1, 1, 1, 2])),
    ];
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// The first column as text, or what is said.
fn answer(sql: &str, partitions: usize, split: usize) -> Result<Vec<String>, String> {
    let all = rows();
    let query = query(sql, vec![input("s.t", &all.schema(), None)]);
    let batches: Vec<RecordBatch> = (0..all.num_rows()).map(|row| all.slice(row, 1)).collect();
    let inputs = vec![("s.t".to_owned(), table(&batches, split))];
    let out = run(&engine(partitions, 2), &query, Interval::WHOLE, inputs);
    let out = out.map_err(|error| format!("{error}; {}", error.help.clone().unwrap_or_default()))?;
    let texts = out.iter().flat_map(|batch| {
        let column = arrow::compute::cast(batch.column(0), &DataType::Utf8).unwrap();
        column.as_string::<i32>().iter().map(|text| text.unwrap_or("NULL").to_owned()).collect::<Vec<_>>()
    });
    Ok(texts.collect())
}

#[track_caller]
fn refused(sql: &str, said: &str) {
    for (partitions, split) in [(1, 1), (2, 3), (4, 4)] {
        let error = answer(sql, partitions, split).unwrap_err();
        assert!(error.contains(said), "{sql}: {error}");
    }
}

#[track_caller]
fn gives(sql: &str, expected: &[&str]) {
    for (partitions, split) in [(1, 1), (2, 3), (4, 4)] {
        let expected: Vec<String> = expected.iter().map(|text| (*text).to_owned()).collect();
        assert_eq!(answer(sql, partitions, split), Ok(expected), "{sql}");
    }
}

#[test]
fn arithmetic_that_does_not_fit_is_refused() {
    refused("SELECT n + 1 AS v FROM s.t", "`s.t.n + 1` does not fit into BIGINT: 9223372036854775807 + 1");
    refused("SELECT n - 2 AS v FROM s.t WHERE g = 2", "`s.t.n - 2` does not fit into BIGINT");
    refused("SELECT n * 2 + 1 AS v FROM s.t", "`s.t.n * 2` does not fit into BIGINT");
    refused(
        "SELECT i * i AS v FROM s.t",
        "`s.t.i * s.t.i` does not fit into INTEGER: 2147483647 * 2147483647",
    );
    refused("SELECT -n AS v FROM s.t", "does not fit into BIGINT");
    refused(
        "SELECT d + 1 AS v FROM s.t WHERE d > 0",
        "does not fit into DECIMAL(38, 0): more than 38 digits",
    );
    refused("SELECT d * 10 AS v FROM s.t", "DECIMAL");
    refused("SELECT g FROM s.t WHERE n + 1 > 0", "`s.t.n + 1` does not fit into BIGINT");
    refused("SELECT max(n * 2) AS v FROM s.t GROUP BY g", "`s.t.n * 2` does not fit");
    refused("SELECT 9223372036854775807 + 1 AS v", "does not fit into BIGINT");
    refused("SELECT t.g FROM s.t AS t JOIN s.t AS o ON t.n + 1 = o.n", "`t.n + 1` does not fit");
}

#[test]
fn sums_that_do_not_fit_are_refused() {
    refused(
        "SELECT sum(n) AS v FROM s.t WHERE n > 0",
        "`sum(s.t.n)` does not fit into BIGINT: it is 18446744073709551614",
    );
    refused("SELECT sum(d) AS v FROM s.t WHERE d > 0", "does not fit into DECIMAL(38, 0)");
    refused("SELECT sum(n) AS v FROM s.t WHERE n > 0 GROUP BY g", "does not fit into BIGINT");
    refused("SELECT sum(n) OVER (ORDER BY i) AS v FROM s.t WHERE n > 0", "does not fit into BIGINT");
    refused(
        "SELECT sum(n) OVER (ORDER BY i ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS v FROM s.t WHERE n > 0",
        "does not fit into BIGINT",
    );
    refused("SELECT sum(DISTINCT n) + sum(DISTINCT n) AS v FROM s.t WHERE n > 0", "does not fit into BIGINT");
}

#[test]
fn what_fits_in_the_end_fits() {
    gives("SELECT sum(n) AS v FROM s.t WHERE g = 1", &["9223372036854775807"]);
    gives("SELECT sum(n) AS v FROM s.t GROUP BY g", &["-9223372036854775808", "9223372036854775807"]);
    gives("SELECT sum(d) AS v FROM s.t WHERE g = 1", &[&NINES.to_string()]);
    gives("SELECT sum(DISTINCT n) AS v FROM s.t", &["-9223372036854775808"]);
    gives("SELECT sum(n) AS v FROM s.t WHERE g = 3", &["NULL"]);
    gives("SELECT sum(i) AS v FROM s.t", &["4"]);
    gives("SELECT n + 0 AS v FROM s.t WHERE g = 2", &["-9223372036854775808"]);
    gives("SELECT CASE WHEN n < 0 THEN 0 ELSE 1 END * 3 AS v FROM s.t WHERE g = 2", &["0"]);
    gives(
        "SELECT sum(n) OVER (ORDER BY i ROWS BETWEEN CURRENT ROW AND CURRENT ROW) AS v FROM s.t WHERE g = 1",
        &["-9223372036854775807", "9223372036854775807", "9223372036854775807"],
    );
}

#[test]
fn numbers_of_rows_can_be_subtracted() {
    let sql = "SELECT CAST(row_number() OVER (ORDER BY i) - row_number() OVER (ORDER BY i DESC) AS BIGINT) AS v \
               FROM s.t WHERE g = 1";
    gives(sql, &["-2", "0", "2"]);
}
