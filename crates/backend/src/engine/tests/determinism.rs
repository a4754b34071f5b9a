//! Same rows, same order, same bits: at 1, 2 and 7 partitions, any batch size, any split of the input.

use std::sync::Arc;

use arrow::array::{Date32Array, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use oncemore_core::Interval;

use super::support::*;
use crate::engine::exact::tests::Random;

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("d", DataType::Date32, true),
        Field::new("g", DataType::Utf8, true),
        Field::new("n", DataType::Int64, true),
        Field::new("x", DataType::Float64, true),
        Field::new("y", DataType::Float64, true),
        Field::new("f", DataType::Float32, true),
    ]))
}

fn rows(count: usize, random: &mut Random) -> RecordBatch {
    let mut double = || match random.below(20) {
        0 => None,
        1 => Some(1e300 * random.below(3) as f64),
        2 => Some(-1e-300),
        _ => Some((random.next() as f64 / 1e15 - 9e3) * 10_f64.powi(random.below(30) as i32 - 15)),
    };
    let (x, y): (Vec<_>, Vec<_>) = (0..count).map(|_| (double(), double())).unzip();
    let f: Vec<Option<f32>> = (0..count).map(|_| double().map(|v| (v as f32).clamp(-1e30, 1e30))).collect();
    let d: Vec<i32> = (0..count).map(|_| 15_700 + random.below(5) as i32).collect();
    let g: Vec<String> = (0..count).map(|_| format!("g{}", random.below(4))).collect();
    let n: Vec<i64> = (0..count).map(|_| random.below(10) as i64).collect();
    RecordBatch::try_new(
        schema(),
        vec![
            Arc::new(Date32Array::from(d)),
            Arc::new(StringArray::from(g)),
            Arc::new(Int64Array::from(n)),
            Arc::new(Float64Array::from(x)),
            Arc::new(Float64Array::from(y)),
            Arc::new(Float32Array::from(f)),
        ],
    )
    .unwrap()
}

/// The same rows in another order and cut into other batches.
fn shuffled(batch: &RecordBatch, random: &mut Random) -> Vec<RecordBatch> {
    let mut order: Vec<u32> = (0..batch.num_rows() as u32).collect();
    for index in (1..order.len()).rev() {
        order.swap(index, random.below(index as u64 + 1) as usize);
    }
    let mixed = arrow::compute::take_record_batch(batch, &arrow::array::UInt32Array::from(order)).unwrap();
    let mut parts = Vec::new();
    let mut from = 0;
    while from < mixed.num_rows() {
        let length = (1 + random.below(400) as usize).min(mixed.num_rows() - from);
        parts.push(mixed.slice(from, length));
        from += length;
    }
    parts
}

fn same_everywhere(sql: &str) {
    let mut random = Random(11);
    let all = rows(3_000, &mut random);
    let query = query(sql, vec![input("s.t", &schema(), None)]);
    let mut first = None;
    for (partitions, batch_size) in [(1, 8192), (2, 1000), (7, 64), (7, 8192), (2, 17)] {
        let parts = shuffled(&all, &mut random);
        let inputs = vec![("s.t".to_owned(), table(&parts, 1 + partitions % 3))];
        let out = run(&engine(partitions, batch_size), &query, Interval::WHOLE, inputs);
        let out = out.unwrap_or_else(|error| panic!("{sql}: {error}"));
        let out = concat_batches(&out[0].schema(), &out).unwrap();
        match &first {
            None => first = Some(out),
            Some(first) => assert_eq!(first, &out, "{sql} at {partitions} partitions"),
        }
    }
}

#[test]
fn float_aggregates_have_the_same_bits() {
    let each = "sum(x) AS a, avg(x) AS b, sum(f) AS c, avg(f) AS d2, stddev(x) AS e, stddev_pop(x) AS f2, var(x) AS h, \
        var_pop(y) AS i, covar_samp(x, y) AS j, covar_pop(x, y) AS k, corr(x, y) AS l, regr_slope(y, x) AS m, \
        regr_intercept(y, x) AS n2, regr_count(y, x) AS o, regr_r2(y, x) AS p, regr_avgx(y, x) AS q, \
        regr_avgy(y, x) AS r, regr_sxx(y, x) AS s, regr_syy(y, x) AS t, regr_sxy(y, x) AS u, avg(n) AS v, \
        sum(n) AS w, sum(DISTINCT f) AS z";
    same_everywhere(&format!("SELECT {each} FROM s.t"));
    same_everywhere(&format!("SELECT g, d, {each} FROM s.t GROUP BY g, d"));
    same_everywhere(
        "SELECT n, g, sum(x) FILTER (WHERE y > 0) AS a, avg(DISTINCT x) AS b, stddev(DISTINCT y) AS c FROM s.t GROUP BY n, g",
    );
    same_everywhere("SELECT x, sum(x) AS a, avg(y) AS b FROM s.t GROUP BY x");
}

#[test]
fn windows_have_the_same_bits() {
    same_everywhere(
        "SELECT *, sum(x) OVER (PARTITION BY g ORDER BY d) AS a, \
         avg(x) OVER (PARTITION BY g ORDER BY d, n ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) AS b, \
         stddev(y) OVER (ORDER BY d RANGE BETWEEN INTERVAL '1 day' PRECEDING AND CURRENT ROW) AS c, \
         sum(y) OVER () AS e FROM s.t",
    );
}

#[test]
fn ties_are_broken_the_same_way() {
    for sql in [
        "SELECT *, row_number() OVER (PARTITION BY g ORDER BY d) AS r, rank() OVER (PARTITION BY g ORDER BY d) AS k, ntile(7) OVER (ORDER BY n) AS t FROM s.t",
        "SELECT *, lag(x) OVER (ORDER BY d) AS p, lead(x, 2) OVER (PARTITION BY g ORDER BY n) AS q FROM s.t",
        "SELECT *, first_value(x) OVER (PARTITION BY g ORDER BY d) AS p, last_value(y) OVER (PARTITION BY g ORDER BY d ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS q FROM s.t",
        "SELECT g, first_value(x ORDER BY d) AS a, last_value(x ORDER BY d) AS b, nth_value(y, 2 ORDER BY n) AS c FROM s.t GROUP BY g",
        "SELECT g, first_value(x) AS a, string_agg(CAST(n AS TEXT), ',') AS b, string_agg(CAST(n AS TEXT), ',' ORDER BY d) AS c FROM s.t GROUP BY g",
        "SELECT g, array_to_string(array_agg(n), ',') AS a, array_to_string(array_agg(DISTINCT n), ',') AS b FROM s.t GROUP BY g",
        "SELECT g, x FROM s.t ORDER BY g LIMIT 10",
        "SELECT g, x FROM s.t ORDER BY d DESC, n LIMIT 10 OFFSET 3",
        "SELECT x FROM s.t LIMIT 5",
        "SELECT g, n FROM s.t AS a WHERE x = (SELECT x FROM s.t AS b ORDER BY d LIMIT 1)",
        "SELECT DISTINCT ON (g) g, x, y FROM s.t ORDER BY g, d",
        "SELECT DISTINCT ON (g) g, x, y FROM s.t",
        "SELECT g, n FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY n DESC) AS r FROM s.t) WHERE r <= 3",
        "SELECT g, sum(n) AS s FROM (SELECT * FROM s.t ORDER BY d LIMIT 100) GROUP BY g",
        "SELECT g, max(x) AS m FROM s.t GROUP BY g HAVING count(*) > 1 UNION ALL SELECT g, y FROM s.t ORDER BY 1 LIMIT 20",
    ] {
        same_everywhere(sql);
    }
}

fn notes(sql: &str, key: &[&str]) -> Vec<String> {
    let mut input = input("s.t", &schema(), None);
    input.key = key.iter().map(|name| (*name).to_owned()).collect();
    engine(1, 1024).analyse(&query(sql, vec![input])).unwrap().notes
}

#[test]
fn a_note_says_so_unless_the_key_rules_ties_out() {
    let sql = "SELECT g, row_number() OVER (PARTITION BY g ORDER BY n) AS r FROM s.t AS t WHERE x > 0";
    assert_eq!(
        notes(sql, &[]),
        ["row_number(): rows that its order leaves equal are told apart by d, x, y, f"]
    );
    assert_eq!(notes(sql, &["g", "n"]), [""; 0]);
    assert_eq!(notes("SELECT g, n, x FROM s.t ORDER BY n, g LIMIT 3", &["g", "n"]), [""; 0]);
    assert_eq!(notes("SELECT g, count(*) AS c FROM s.t GROUP BY g ORDER BY g LIMIT 3", &[]), [""; 0]);
    assert_eq!(notes("SELECT g, count(*) AS c FROM s.t GROUP BY g ORDER BY c LIMIT 3", &[]).len(), 1);
    let joined = "SELECT a.g, first_value(a.x ORDER BY a.n) AS v FROM s.t a JOIN s.t b ON a.g = b.g AND a.n = b.n GROUP BY a.g";
    assert_eq!(notes(joined, &["g", "n"]), [""; 0]);
}

#[test]
fn what_a_total_order_would_change_is_refused() {
    let sql = "SELECT last_value(x) OVER (PARTITION BY g ORDER BY d) AS v FROM s.t";
    let error = engine(1, 1024).analyse(&query(sql, vec![input("s.t", &schema(), None)])).unwrap_err();
    assert!(error.help.unwrap().contains("ROWS BETWEEN"), "{}", error.message);
}
