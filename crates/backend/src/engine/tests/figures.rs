//! What it costs: run alone, optimised, with `--ignored --nocapture`.
#![allow(clippy::print_stderr, reason = "its output is for whoever runs it")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{Float64Array, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::catalog::TableProvider;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::StreamExt;
use oncemore_core::Interval;

use super::support::*;
use crate::engine::exact::tests::Random;
use crate::engine::{Engine, EngineOptions};

fn numbers(rows: usize, groups: u64) -> Arc<dyn TableProvider> {
    let mut random = Random(5);
    let schema = Arc::new(Schema::new(vec![
        Field::new("k", DataType::Int64, false),
        Field::new("x", DataType::Float64, false),
        Field::new("y", DataType::Float64, false),
    ]));
    let batches: Vec<RecordBatch> = (0..rows / 8192)
        .map(|_| {
            let k: Int64Array = (0..8192).map(|_| Some(random.below(groups) as i64)).collect();
            let mut double = || Some(random.next() as f64 / 1e17 + 0.1);
            let x: Float64Array = (0..8192).map(|_| double()).collect();
            let y: Float64Array = (0..8192).map(|_| double()).collect();
            RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(k), Arc::new(x), Arc::new(y)]).unwrap()
        })
        .collect();
    table(&batches, 2)
}

fn best(mut work: impl FnMut()) -> Duration {
    (0..5)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .min()
        .unwrap()
}

#[test]
#[ignore = "measures"]
fn float_aggregates_against_the_built_in_ones() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let engine = engine(2, 8192);
    for groups in [1_000, 1_000_000] {
        let provider = numbers(4_000_000, groups);
        let plain = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2));
        plain.register_table("n", Arc::clone(&provider)).unwrap();
        for aggregate in ["sum(x)", "avg(x)", "stddev(x)", "corr(x, y)", "count(x)"] {
            for by in ["", " GROUP BY k"] {
                let sql = format!("SELECT max(v) AS v FROM (SELECT {aggregate} AS v FROM n{by}) AS s");
                let ours = best(|| {
                    runtime.block_on(async {
                        let mut rows =
                            engine.query(&sql, vec![("n".into(), Arc::clone(&provider))]).await.unwrap();
                        while rows.next().await.is_some() {}
                    });
                });
                let theirs = best(|| {
                    runtime.block_on(async { plain.sql(&sql).await.unwrap().collect().await.unwrap() });
                });
                eprintln!("{groups} groups, {aggregate}{by}: {ours:?}, built in {theirs:?}");
            }
        }
    }
}

#[test]
#[ignore = "measures"]
fn small_costs() {
    eprintln!("engine: {:?}", best(|| drop(engine(2, 8192))));
    let engine = engine(2, 8192);
    let provider = numbers(16_384, 100);
    let schema = provider.schema();
    let fields: Vec<Field> = schema
        .fields()
        .iter()
        .map(|f| f.as_ref().clone())
        .chain([Field::new("d", DataType::Date32, true)])
        .collect();
    let wide = Arc::new(Schema::new(fields));
    let sql = "SELECT a.d, a.k, sum(a.x) AS s, count(*) AS n FROM s.a AS a LEFT JOIN s.b AS b ON a.k = b.k \
        WHERE a.d >= :interval_start - INTERVAL '7 days' AND a.d < :interval_end GROUP BY a.d, a.k";
    let model = query(
        sql,
        vec![input("s.a", &wide, Some(("d", oncemore_core::TimeType::Date))), input("s.b", &schema, None)],
    );
    eprintln!("analyse: {:?}", best(|| drop(engine.analyse(&model).unwrap())));
    let tiny = query("SELECT k, x FROM n WHERE k < 50", vec![input("n", &schema, None)]);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let whole = best(|| {
        runtime.block_on(async {
            let mut rows = engine
                .compute(&tiny, Interval::WHOLE, vec![("n".into(), Arc::clone(&provider))])
                .await
                .unwrap();
            while rows.next().await.is_some() {}
        });
    });
    eprintln!("compute of a query over 16 k rows: {whole:?}");
    let million = numbers(4_000_000, 1_000_000);
    for (text, key) in [("sorted by key", vec!["k".to_owned()]), ("sorted by all columns", vec![])] {
        let mut model = query("SELECT k, x, y FROM n", vec![input("n", &schema, None)]);
        model.key = key;
        let time = best(|| {
            runtime.block_on(async {
                let mut rows = engine
                    .compute(&model, Interval::WHOLE, vec![("n".into(), Arc::clone(&million))])
                    .await
                    .unwrap();
                while rows.next().await.is_some() {}
            });
        });
        eprintln!("4 M rows of 3 columns {text}: {time:?}");
    }
}

#[test]
#[ignore = "measures"]
fn more_than_memory() {
    let engine = Engine::new(&EngineOptions {
        memory_bytes: 256 << 20,
        partitions: 2,
        batch_size: 8192,
        spill_dir: std::env::temp_dir(),
    })
    .unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let provider = numbers(16_000_000, 1 << 40);
    for sql in [
        "SELECT n.k * 8 + m.m AS k, x, y FROM n CROSS JOIN (VALUES (1), (2), (3), (4), (5), (6)) AS m(m)",
        "SELECT n.k * 8 + m.m AS k, sum(x) AS x, avg(y) AS y FROM n CROSS JOIN (VALUES (1), (2), (3)) AS m(m) GROUP BY n.k * 8 + m.m",
    ] {
        let mut model = query(sql, vec![input("n", &provider.schema(), None)]);
        model.key = vec!["k".to_owned()];
        let start = Instant::now();
        let (rows, bytes) = runtime.block_on(async {
            let mut stream = engine
                .compute(&model, Interval::WHOLE, vec![("n".into(), Arc::clone(&provider))])
                .await
                .unwrap();
            let (mut rows, mut bytes) = (0, 0);
            while let Some(batch) = stream.next().await {
                let batch = batch.unwrap();
                rows += batch.num_rows();
                bytes += batch.num_rows() * 24;
            }
            (rows, bytes)
        });
        eprintln!("{rows} rows, {} MB, at 256 MB: {:?}: {sql}", bytes >> 20, start.elapsed());
    }
}
