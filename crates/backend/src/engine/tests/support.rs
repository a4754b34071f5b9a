//! Small tables, and one call to run a query over them.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::util::pretty::pretty_format_batches;
use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use futures::TryStreamExt;
use oncemore_core::{Interval, IntervalLength, TimeType, Zone};

use crate::engine::{Engine, EngineError, EngineOptions, InputSchema, InputTime, ModelQuery};

pub(super) fn engine(partitions: usize, batch_size: usize) -> Engine {
    Engine::new(&EngineOptions {
        memory_bytes: 1 << 30,
        partitions,
        batch_size,
        spill_dir: std::env::temp_dir(),
        objects: None,
    })
    .unwrap()
}

pub(super) fn query(sql: &str, inputs: Vec<InputSchema>) -> ModelQuery {
    ModelQuery {
        sql: sql.to_owned(),
        views: vec![],
        inputs,
        previous: None,
        zone: Zone::utc(),
        length: Some(IntervalLength::Day),
        time: None,
        key: vec![],
        variables: vec![],
    }
}

pub(super) fn input(name: &str, schema: &SchemaRef, time: Option<(&str, TimeType)>) -> InputSchema {
    InputSchema {
        name: name.to_owned(),
        schema: Arc::clone(schema),
        time: time.map(|(column, time_type)| InputTime { column: column.to_owned(), time_type }),
        key: vec![],
    }
}

/// A table whose batches lie in `split` partitions, in turn.
pub(super) fn table(batches: &[RecordBatch], split: usize) -> Arc<dyn TableProvider> {
    let schema = batches[0].schema();
    let mut partitions = vec![Vec::new(); split];
    for (index, batch) in batches.iter().enumerate() {
        partitions[index % split].push(batch.clone());
    }
    Arc::new(MemTable::try_new(schema, partitions).unwrap())
}

pub(super) fn run(
    engine: &Engine,
    query: &ModelQuery,
    interval: Interval,
    inputs: Vec<(String, Arc<dyn TableProvider>)>,
) -> Result<Vec<RecordBatch>, EngineError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let stream = engine.compute(query, interval, inputs).await?;
        let empty = RecordBatch::new_empty(stream.schema());
        let mut rows: Vec<RecordBatch> = stream.try_collect().await?;
        if rows.is_empty() {
            rows.push(empty);
        }
        Ok(rows)
    })
}

pub(super) fn text(batches: &[RecordBatch]) -> String {
    pretty_format_batches(batches).unwrap().to_string()
}

pub(super) fn day(text: &str) -> Interval {
    let calendar = oncemore_core::Calendar::new(IntervalLength::Day, Zone::utc());
    calendar.parse_range(text).unwrap()
}
