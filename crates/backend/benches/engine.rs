//! What the engine costs: float aggregates against DataFusion's own, and what every query pays.
//!
//! `cargo bench --workspace --locked --bench engine -- [rows in millions]` (10 by default).
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and ends where it can't go on"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{Float64Array, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::StreamExt;
use oncemore_backend::engine::{Engine, EngineOptions, InputSchema, InputTime, ModelQuery};
use oncemore_core::{Interval, IntervalLength, TimeType, Zone};
use tokio::runtime::Runtime;

const BATCH: usize = 8_192;

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ (self.0 >> 32)
    }
}

fn numbers(rows: usize, groups: u64) -> Arc<dyn TableProvider> {
    let mut random = Random(5);
    let field = |name: &str, kind| Field::new(name, kind, false);
    let schema = Arc::new(Schema::new(vec![
        field("k", DataType::Int64),
        field("x", DataType::Float64),
        field("y", DataType::Float64),
    ]));
    let mut partitions = vec![Vec::new(), Vec::new()];
    for number in 0..rows / BATCH {
        let k: Int64Array = (0..BATCH).map(|_| Some((random.next() % groups) as i64)).collect();
        let mut double = || Some(random.next() as f64 / 1e17 + 0.1);
        let x: Float64Array = (0..BATCH).map(|_| double()).collect();
        let y: Float64Array = (0..BATCH).map(|_| double()).collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(k), Arc::new(x), Arc::new(y)]);
        partitions[number % 2].push(batch.unwrap());
    }
    Arc::new(MemTable::try_new(schema, partitions).unwrap())
}

fn engine() -> Engine {
    let spill_dir = std::env::temp_dir();
    let options =
        EngineOptions { memory_bytes: 4 << 30, partitions: 2, batch_size: BATCH, spill_dir, objects: None };
    Engine::new(&options).unwrap()
}

fn query(sql: &str, inputs: Vec<InputSchema>, key: &[&str]) -> ModelQuery {
    ModelQuery {
        sql: sql.to_owned(),
        views: Vec::new(),
        inputs,
        previous: None,
        zone: Zone::utc(),
        length: Some(IntervalLength::Day),
        time: None,
        key: key.iter().map(|name| (*name).to_owned()).collect(),
        variables: Vec::new(),
    }
}

fn input(name: &str, schema: SchemaRef, time: Option<&str>) -> InputSchema {
    let time = time.map(|column| InputTime { column: column.to_owned(), time_type: TimeType::Date });
    InputSchema { name: name.to_owned(), schema, time, key: Vec::new() }
}

/// The shortest of `times` runs.
fn best(times: usize, mut work: impl FnMut()) -> Duration {
    let timed = |_| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..times).map(timed).min().unwrap()
}

fn float_aggregates(runtime: &Runtime, rows: usize) {
    let engine = engine();
    println!("{rows} rows; ms, shortest of three: ours, DataFusion's own, ratio");
    for groups in [1_000, 1_000_000] {
        let provider = numbers(rows, groups);
        let plain = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2));
        plain.register_table("n", Arc::clone(&provider)).unwrap();
        for aggregate in ["sum(x)", "avg(x)", "stddev(x)", "corr(x, y)", "count(x)"] {
            for by in ["", " GROUP BY k"] {
                if by.is_empty() && groups > 1_000 {
                    continue;
                }
                let sql = format!("SELECT max(v) AS v FROM (SELECT {aggregate} AS v FROM n{by}) AS s");
                // In alternation, so that a busy machine slows both alike.
                let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
                for _ in 0..3 {
                    ours = ours.min(best(1, || {
                        runtime.block_on(async {
                            let inputs = vec![("n".into(), Arc::clone(&provider))];
                            let mut rows = engine.query(&sql, inputs).await.unwrap();
                            while rows.next().await.is_some() {}
                        });
                    }));
                    theirs = theirs.min(best(1, || {
                        runtime.block_on(async { plain.sql(&sql).await.unwrap().collect().await.unwrap() });
                    }));
                }
                let by = if by.is_empty() { "all".to_owned() } else { format!("{groups} groups") };
                println!(
                    "  {aggregate:<12} {by:<16} {:8.1} {:8.1} {:6.2}",
                    ours.as_secs_f64() * 1e3,
                    theirs.as_secs_f64() * 1e3,
                    ours.as_secs_f64() / theirs.as_secs_f64()
                );
            }
        }
    }
}

fn small_costs(runtime: &Runtime) {
    println!("an engine: {:?}", best(5, || drop(engine())));
    let engine = engine();
    let provider = numbers(2 * BATCH, 100);
    let schema = provider.schema();
    let dated = Field::new("d", DataType::Date32, true);
    let fields: Vec<Field> =
        schema.fields().iter().map(|field| field.as_ref().clone()).chain([dated]).collect();
    let wide = Arc::new(Schema::new(fields));
    let sql = "SELECT a.d, a.k, sum(a.x) AS s, count(*) AS n FROM s.a AS a LEFT JOIN s.b AS b ON a.k = b.k \
        WHERE a.d >= :interval_start - INTERVAL '7 days' AND a.d < :interval_end GROUP BY a.d, a.k";
    let model = query(sql, vec![input("s.a", wide, Some("d")), input("s.b", Arc::clone(&schema), None)], &[]);
    println!("an analysis: {:?}", best(5, || drop(engine.analyse(&model).unwrap())));
    let drain = |model: &ModelQuery, provider: &Arc<dyn TableProvider>| {
        best(5, || {
            runtime.block_on(async {
                let inputs = vec![("n".into(), Arc::clone(provider))];
                let mut rows = engine.compute(model, Interval::WHOLE, inputs).await.unwrap();
                while rows.next().await.is_some() {}
            });
        })
    };
    let tiny = query("SELECT k, x FROM n WHERE k < 50", vec![input("n", Arc::clone(&schema), None)], &[]);
    println!("a query over 16 k rows: {:?}", drain(&tiny, &provider));
    let million = numbers(4_000_000, 1_000_000);
    for (text, key) in [("by key", &["k"][..]), ("by all columns", &[])] {
        let model = query("SELECT k, x, y FROM n", vec![input("n", Arc::clone(&schema), None)], key);
        println!("4 M rows of 3 columns sorted {text}: {:?}", drain(&model, &million));
    }
}

fn main() {
    let millions = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(10);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    small_costs(&runtime);
    float_aggregates(&runtime, millions * 1_000_000);
}
