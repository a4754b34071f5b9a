//! What it costs to index sources and to read them: a year of Parquet, a million lines of text.
//!
//! `cargo bench --workspace --locked --bench sources`
#![expect(clippy::print_stdout, reason = "figures are for reading")]
#![expect(clippy::unwrap_used, reason = "a benchmark that can't go on ends")]
#![allow(dead_code, reason = "tests use more of what they share with it")]

#[path = "../tests/sources/support.rs"]
mod support;

use std::sync::Arc;
use std::time::Instant as Clock;

use arrow::array::{
    ArrayRef, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use futures::StreamExt;
use object_store::ObjectStore;
use oncemore_core::{Format, Interval, SourceSpec};

use crate::support::{Project, csv, query, spec};

const DAYS: i64 = 365;
const ROWS: i64 = 30_000;

fn orders(day: i64) -> RecordBatch {
    let rows = || day * ROWS..(day + 1) * ROWS;
    let mixed = |row: i64| row.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64).rotate_left(23);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from_iter_values(rows()))),
        (
            "customer",
            Arc::new(Int64Array::from_iter_values(rows().map(|row| mixed(row).rem_euclid(100_000)))),
        ),
        ("day", Arc::new(Date32Array::from_iter_values(rows().map(|_| 15_706 + day as i32)))),
        ("at", {
            let midnight = (15_706 + day) * 86_400_000_000;
            let micros = rows().map(|row| midnight + mixed(row).rem_euclid(86_400_000_000));
            Arc::new(TimestampMicrosecondArray::from_iter_values(micros).with_timezone("UTC"))
        }),
        (
            "amount",
            Arc::new(Float64Array::from_iter_values(
                rows().map(|row| mixed(row).rem_euclid(10_000) as f64 / 100.0),
            )),
        ),
        (
            "state",
            Arc::new(StringArray::from_iter_values(
                rows().map(|row| ["new", "paid", "sent", "back"][(mixed(row) & 3) as usize]),
            )),
        ),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

async fn a_year_of_parquet() {
    let project = Project::new();
    for day in 0..DAYS {
        project.parquet(&format!("in/{day:03}.parquet"), &orders(day));
    }
    for (time, key) in [("day", vec![]), ("at", vec![]), ("day", vec!["id".to_owned()])] {
        let declared =
            SourceSpec { key: key.clone(), ..spec("in/*.parquet", Format::Parquet, "", Some(time)) };
        let start = Clock::now();
        let index = project.scan(&declared).await.unwrap();
        let bytes: u64 = index.files().iter().map(|file| file.identity.bytes()).sum();
        println!(
            "scan by {time}, key {key:?}: {} MB, {} rows, {:?}",
            bytes / 1_000_000,
            index.rows(),
            start.elapsed()
        );
        let stored = serde_json::to_vec(&index).unwrap();
        let start = Clock::now();
        let known = serde_json::from_slice(&stored).unwrap();
        println!("  index of {} kB read in {:?}", stored.len() / 1_000, start.elapsed());
        let start = Clock::now();
        let again = project.rescan(&declared, &known).await.unwrap();
        println!("  nothing to do in {:?}, {} read", start.elapsed(), again.files_read());
        let start = Clock::now();
        query(project.table(&index, Interval::WHOLE), "SELECT sum(amount), max(at) FROM t").await.unwrap();
        println!("  two columns of a year in {:?}", start.elapsed());
        let start = Clock::now();
        let one = index.cells()[100].interval;
        query(project.table(&index, one), "SELECT * FROM t ORDER BY id LIMIT 1").await.unwrap();
        println!("  one day in {:?}", start.elapsed());
    }
}

async fn a_million_lines() {
    let project = Project::new();
    let line = |row: i64| {
        format!(
            "{row},{},2013-01-{:02},2013-01-02T03:04:05Z,{}.25,some text\n",
            row * 7,
            row % 28 + 1,
            row % 977
        )
    };
    let text: String = (0..1_000_000).map(line).collect();
    let columns = "id BIGINT, customer BIGINT, day DATE, at TIMESTAMPTZ, amount DOUBLE, state TEXT";
    project.write("in/a.csv", format!("id,customer,day,at,amount,state\n{text}"));
    let json = |row: i64| {
        format!(
            "{{\"id\":{row},\"customer\":{},\"day\":\"2013-01-02\",\"at\":\"2013-01-02T03:04:05Z\",\"amount\":{}.25,\"state\":\"some text\"}}\n",
            row * 7,
            row % 977
        )
    };
    project.write("in/a.ndjson", (0..1_000_000).map(json).collect::<String>());
    let quoted =
        |line: &str| line.split(',').map(|field| format!("\"{field}\"")).collect::<Vec<_>>().join(",");
    let lines = text.lines().map(|line| quoted(line) + "\n").collect::<String>();
    project.write("in/quoted.csv", format!("id,customer,day,at,amount,state\n{lines}"));
    for (path, format) in [("in/a.csv", csv()), ("in/quoted.csv", csv()), ("in/a.ndjson", Format::NdJson)] {
        let declared = spec(path, format, columns, Some("day"));
        let start = Clock::now();
        let index = project.scan(&declared).await.unwrap();
        println!("{path}: {} MB in {:?}", index.files()[0].identity.bytes() / 1_000_000, start.elapsed());
        let start = Clock::now();
        query(project.table(&index, Interval::WHOLE), "SELECT count(*), sum(amount) FROM t").await.unwrap();
        println!("  one column in {:?}", start.elapsed());
    }
}

/// What tells 365 files apart from those of yesterday: our walk, and the list that `object_store` has.
async fn listing() {
    let project = Project::new();
    for day in 0..DAYS {
        project.write(&format!("in/{day:03}.csv"), format!("id\n{day}\n"));
    }
    let declared = spec("in/*.csv", csv(), "id BIGINT", None);
    let known = project.scan(&declared).await.unwrap();
    let objects = object_store::local::LocalFileSystem::new_with_prefix(project.root()).unwrap();
    for _ in 0..5 {
        let start = Clock::now();
        let again = project.rescan(&declared, &known).await.unwrap();
        let ours = start.elapsed();
        let start = Clock::now();
        let listed: Vec<_> = objects.list(Some(&"in".into())).collect().await;
        println!(
            "{DAYS} files: {ours:?} to look at all, {} read; a list by the store {:?} of {}",
            again.files_read(),
            start.elapsed(),
            listed.len()
        );
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        listing().await;
        a_year_of_parquet().await;
        a_million_lines().await;
    });
}
