//! Our own tables as the engine reads them, and audits over them.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::TryStreamExt;
use oncemore_backend::audit::{self, AuditError};
use oncemore_backend::source::ProviderCache;
use oncemore_backend::table::{self, DataFile, Keep};
use oncemore_core::{Audit, AuditFailure, Digest, Zone};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use crate::support::{Project, day, query, session};

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

fn numbers(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

fn file(project: &Project, name: &str, rows: &RecordBatch) -> DataFile {
    project.parquet(name, rows);
    let path = project.root().join(name);
    let bytes = std::fs::metadata(&path).unwrap().len();
    DataFile { path, rows: rows.num_rows() as u64, bytes, deleted: Vec::new() }
}

fn user_schema() -> SchemaRef {
    let fields = vec![Field::new("n", DataType::Int64, true), Field::new("added", DataType::Utf8, true)];
    Arc::new(Schema::new(fields))
}

#[tokio::test]
async fn files_read_by_name_with_hidden_columns_hidden() {
    let project = Project::new();
    let old = batch(vec![("_interval_start", numbers(0..3)), ("n", numbers(0..3))]);
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
    let new = batch(vec![("added", text), ("_code_version", numbers(0..2)), ("n", numbers(10..12))]);
    let files = vec![file(&project, "t/a%20.parquet", &old), file(&project, "t/b=1.parquet", &new)];
    let read = || table::provider(files.clone(), user_schema(), None);
    insta::assert_snapshot!(query(read(), "SELECT * FROM t ORDER BY n").await.unwrap(), @"
    +----+-------+
    | n  | added |
    +----+-------+
    | 0  |       |
    | 1  |       |
    | 2  |       |
    | 10 | x     |
    | 11 | y     |
    +----+-------+
    ");
    insta::assert_snapshot!(query(read(), "SELECT count(*) AS rows, sum(n) AS n FROM t WHERE n > 1").await.unwrap(), @"
    +------+----+
    | rows | n  |
    +------+----+
    | 3    | 23 |
    +------+----+
    ");
    let none = table::provider(Vec::new(), user_schema(), None);
    insta::assert_snapshot!(query(none, "SELECT count(*) AS rows FROM t").await.unwrap(), @"
    +------+
    | rows |
    +------+
    | 0    |
    +------+
    ");
    let plan = query(read(), "EXPLAIN SELECT added FROM t WHERE n > 1").await.unwrap();
    assert!(plan.contains("pruning_predicate=n_null_count"), "{plan}");
}

/// Also where a file is cut into row groups, or into ranges that are read side by side.
#[tokio::test]
async fn deleted_rows_are_not_there() {
    let project = Project::new();
    let count = 300_000;
    let path = project.root().join("t.parquet");
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(100_000)).build();
    let rows = batch(vec![("n", numbers(0..count))]);
    let created = std::fs::File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(created, rows.schema(), Some(properties)).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
    let bytes = std::fs::metadata(&path).unwrap().len();
    // A row here and there, and all of the second row group.
    let deleted: Vec<u64> = (0..count as u64)
        .filter(|place| matches!(place, 0 | 1 | 7 | 99_999 | 299_999) || (100_000..200_000).contains(place))
        .collect();
    let rows = count as u64 - deleted.len() as u64;
    let whole = file(&project, "u.parquet", &batch(vec![("n", numbers(-2..0))]));
    let files = vec![DataFile { path, rows, bytes, deleted: deleted.clone() }, whole];
    let read = || table::provider(files.clone(), user_schema(), None);
    let left = || {
        (-2..count).filter(|n| u64::try_from(*n).is_ok_and(|n| deleted.binary_search(&n).is_ok()).eq(&false))
    };
    let sums = |least: i64| -> (usize, i64) {
        let left: Vec<i64> = left().filter(|n| *n > least).collect();
        (left.len(), left.iter().sum())
    };
    for least in [-9, 5, 99_998, 299_998] {
        let sql = format!("SELECT count(*) || ' ' || coalesce(sum(n), 0) AS found FROM t WHERE n > {least}");
        let (rows, sum) = sums(least);
        let found = query(read(), &sql).await.unwrap();
        assert!(found.contains(&format!("{rows} {sum} ")), "{least}: {found}, not {rows} {sum}");
    }
    let counted = query(read(), "SELECT count(*) AS rows FROM t").await.unwrap();
    assert!(counted.contains(&format!(" {} ", sums(-9).0)), "{counted}");
}

#[tokio::test]
async fn a_small_table_is_decoded_once() {
    let project = Project::new();
    let files = vec![file(&project, "t/a.parquet", &batch(vec![("n", numbers(0..3))]))];
    let cache = Arc::new(ProviderCache::new(64 << 20));
    let keep = |version: &[u8]| Keep {
        cache: Arc::clone(&cache),
        name: "gold.t".to_owned(),
        version: Digest::of(version),
    };
    let read = |version: &[u8]| table::provider(files.clone(), user_schema(), Some(keep(version)));
    let first = query(read(b"1"), "SELECT added, n FROM t ORDER BY n").await.unwrap();
    std::fs::remove_file(&files[0].path).unwrap();
    assert_eq!(query(read(b"1"), "SELECT added, n FROM t ORDER BY n").await.unwrap(), first);
    assert!(query(read(b"2"), "SELECT n FROM t").await.is_err());
}

fn slice() -> Arc<dyn TableProvider> {
    let carrier: ArrayRef =
        Arc::new(StringArray::from(vec![Some("AA"), Some("UA"), None, Some("UA"), None, Some("'; DROP")]));
    let delay: ArrayRef =
        Arc::new(Int64Array::from(vec![Some(5), Some(-90), None, Some(2_000), Some(1), Some(0)]));
    let rows = batch(vec![("id", numbers([1, 2, 3, 4, 3, 6])), ("Carrier \"x", carrier), ("delay", delay)]);
    Arc::new(MemTable::try_new(rows.schema(), vec![vec![rows]]).unwrap())
}

async fn audited(audits: &[Audit], key: &[&str]) -> Result<Vec<AuditFailure>, AuditError> {
    let there: ArrayRef = Arc::new(StringArray::from(vec!["AA", "UA"]));
    let carriers = batch(vec![("Carrier \"x", there)]);
    let carriers = MemTable::try_new(carriers.schema(), vec![vec![carriers]]).unwrap();
    let others: Vec<(String, Arc<dyn TableProvider>)> = vec![("raw.carriers".to_owned(), Arc::new(carriers))];
    let key: Vec<String> = key.iter().map(|&name| name.to_owned()).collect();
    audit::run(&session(), audits, slice(), "silver.s", &key, others).await
}

fn shown(failures: &[AuditFailure]) -> String {
    let lines = failures.iter().flat_map(|failure| {
        let text = |row: &Vec<Option<String>>| {
            let values: Vec<&str> = row.iter().map(|value| value.as_deref().unwrap_or("NULL")).collect();
            format!("    {}", values.join(" | "))
        };
        std::iter::once(format!("{}: {} ({})", failure.audit, failure.offending, failure.columns.join(" | ")))
            .chain(failure.rows.iter().map(text).collect::<Vec<_>>())
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn name(text: &str) -> String {
    text.to_owned()
}

#[tokio::test]
async fn audits_that_hold() {
    let audits = [
        Audit::NotNull(vec![name("id")]),
        Audit::Range { column: name("delay"), min: Some(name("-90")), max: Some(name("2000")) },
        Audit::RowCount { min: Some(6), max: Some(6) },
        Audit::Expression(name("id > 0 AND (delay IS NULL OR delay < 3000)")),
        Audit::Unique(vec![name("id"), name("delay")]),
        Audit::Sql { name: name("none"), sql: name("SELECT * FROM silver.s WHERE id > 100") },
    ];
    assert_eq!(audited(&audits, &[]).await.unwrap(), []);
}

#[tokio::test]
async fn audits_that_do_not_hold() {
    let carrier = || name("Carrier \"x");
    let audits = [
        Audit::NotNull(vec![name("id"), carrier(), name("delay")]),
        Audit::AcceptedValues { column: carrier(), values: vec![name("AA"), name("UA"), name("it's")] },
        Audit::Range { column: name("delay"), min: Some(name("-60")), max: Some(name("'1440'")) },
        Audit::RowCount { min: Some(7), max: None },
        Audit::Expression(name("delay < 1000 -- NULL fails")),
        Audit::Unique(vec![carrier()]),
        Audit::Relationship {
            columns: vec![carrier()],
            to: name("raw.carriers"),
            columns_there: vec![carrier()],
        },
        Audit::Sql {
            name: name("late"),
            sql: name(
                "SELECT s.id, c.* FROM silver.s AS s JOIN raw.carriers AS c USING (\"Carrier \"\"x\") WHERE s.delay > 0",
            ),
        },
    ];
    insta::assert_snapshot!(shown(&audited(&audits, &["id"]).await.unwrap()), @r#"
    row_count(at least 7): 6 (rows)
        6
    not_null(Carrier "x): 2 (id | Carrier "x)
        3 | NULL
        3 | NULL
    not_null(delay): 1 (id | delay)
        3 | NULL
    accepted_values(Carrier "x): 1 (id | Carrier "x)
        6 | '; DROP
    range(delay): 2 (id | delay)
        2 | -90
        4 | 2000
    expression(delay < 1000 -- NULL fails): 2 (id | delay)
        3 | NULL
        4 | 2000
    unique(id): 1 (id | rows with this key)
        3 | 2
    unique(Carrier "x): 2 (Carrier "x | rows with this key)
        NULL | 2
        UA | 2
    relationship(Carrier "x to raw.carriers(Carrier "x)): 1 (id | Carrier "x)
        6 | '; DROP
    sql(late): 2 (id | Carrier "x)
        1 | AA
        4 | UA
    "#);
}

/// Three million keys, 16 MB: the groups spill.
#[tokio::test]
async fn audits_of_a_slice_larger_than_memory() {
    let pool = Arc::new(datafusion::execution::memory_pool::FairSpillPool::new(16 << 20));
    let runtime =
        datafusion::execution::runtime_env::RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc();
    let config = datafusion::prelude::SessionConfig::new().with_target_partitions(2);
    let session = datafusion::prelude::SessionContext::new_with_config_rt(config, runtime.unwrap());
    let part =
        |from: i64| batch(vec![("id", numbers((from..from + 8_192).map(|row| row * 7_919 % 3_000_017)))]);
    let parts: Vec<RecordBatch> = (0..366).map(|place| part(place * 8_192)).collect();
    let rows = MemTable::try_new(parts[0].schema(), vec![parts]).unwrap();
    let there = batch(vec![("id", numbers([1]))]);
    let there: Arc<dyn TableProvider> =
        Arc::new(MemTable::try_new(there.schema(), vec![vec![there]]).unwrap());
    let id = || vec![name("id")];
    let audits =
        [Audit::Unique(id()), Audit::Relationship { columns: id(), to: name("raw.x"), columns_there: id() }];
    let others = vec![("raw.x".to_owned(), there)];
    let failures = audit::run(&session, &audits, Arc::new(rows), "silver.s", &[], others).await.unwrap();
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].offending, 366 * 8_192 - 1);
}

#[tokio::test]
async fn audits_that_cannot_be_asked() {
    let error = async |audit: Audit| audited(&[audit], &[]).await.unwrap_err().to_string();
    insta::assert_snapshot!(error(Audit::NotNull(vec![name("dealy")])).await, @"
    audit `not_null(dealy)`: there is no column `dealy`
    help: did you mean `delay`?
    ");
    insta::assert_snapshot!(error(Audit::Range { column: name("delay"), min: Some(name("low")), max: None }).await, @"audit `range(delay)`: `low` is no value of the column's type BIGINT");
    insta::assert_snapshot!(error(Audit::Expression(name("id > (SELECT 1)"))).await, @"audit `expression(id > (SELECT 1))`: an expression can't hold a query: write it as a `sql` audit");
    insta::assert_snapshot!(error(Audit::Expression(name("id > 0; DROP TABLE silver.s"))).await, @"audit `expression(id > 0; DROP TABLE silver.s)`: Expected: end of expression, found: ; at Line: 1, Column: 7");
    insta::assert_snapshot!(error(Audit::Expression(name("nope > 0"))).await, @r#"
    audit `expression(nope > 0)`: no column `nope`
    help: there are `id`, `Carrier "x`, `delay`
    "#);
    insta::assert_snapshot!(error(Audit::Sql { name: name("ddl"), sql: name("CREATE TABLE x AS SELECT 1") }).await, @"audit `sql(ddl)`: not one query over the slice: DDL not supported: CreateMemoryTable");
    insta::assert_snapshot!(error(Audit::Sql { name: name("copy"), sql: name("COPY silver.s TO 'x.parquet'") }).await, @"audit `sql(copy)`: not one query over the slice: DML not supported: COPY");
    insta::assert_snapshot!(error(Audit::Sql { name: name("file"), sql: name("SELECT * FROM '/etc/passwd'") }).await, @"audit `sql(file)`: not one query over the slice: table 'datafusion.public./etc/passwd' not found");
    let columns = vec![name("id")];
    insta::assert_snapshot!(error(Audit::Relationship { columns: columns.clone(), to: name("raw.x"), columns_there: columns }).await, @"audit `relationship(id to raw.x(id))`: there is no model or source `raw.x`");
}

#[tokio::test]
async fn a_row_outside_its_slice() {
    let zone = Zone::named("America/New_York").unwrap();
    let interval = day("America/New_York", "2013-03-10");
    let error = async |column: &str, times: ArrayRef| {
        let rows = batch(vec![("id", numbers(0..times.len() as i64)), (column, times)]);
        let stream = RecordBatchStreamAdapter::new(rows.schema(), futures::stream::iter([Ok(rows)]));
        match audit::time_guard(Box::pin(stream), "t", interval, &zone) {
            Err(error) => error.to_string(),
            Ok(stream) => {
                let error = stream.try_collect::<Vec<_>>().await.unwrap_err();
                AuditError::find(&error).unwrap().to_string()
            }
        }
    };
    let dates = |days: Vec<Option<i32>>| Arc::new(arrow::array::Date32Array::from(days)) as ArrayRef;
    let micros = |values: Vec<i64>| arrow::array::TimestampMicrosecondArray::from(values);
    let midnight = 15_774 * 86_400_000_000;
    insta::assert_snapshot!(error("t", dates(vec![Some(15_774), Some(15_775)])).await, @"
    a row outside its slice: `t` is 2013-03-11, the slice holds 2013-03-10 to before 2013-03-11; the row: id = 1, t = 2013-03-11
    help: a task replaces its own slice and nothing else: add `WHERE t >= :interval_start AND t < :interval_end` on the output column, or set `time:` to the column that decides the slice
    ");
    insta::assert_snapshot!(error("t", dates(vec![Some(15_774), None])).await, @"
    a row without time: `t` is NULL in id = 1, t = NULL
    help: leave such rows out with `WHERE t IS NOT NULL`, or give them the time of the interval they belong to
    ");
    insta::assert_snapshot!(error("t", Arc::new(micros(vec![midnight, midnight - 1]))).await, @"
    a row outside its slice: `t` is 2013-03-09 23:59:59.999999, the slice holds 2013-03-10 00:00:00 to before 2013-03-11 00:00:00; the row: id = 1, t = 2013-03-09T23:59:59.999999
    help: a task replaces its own slice and nothing else: add `WHERE t >= :interval_start AND t < :interval_end` on the output column, or set `time:` to the column that decides the slice
    ");
    let instants = micros(vec![midnight + 28 * 3_600_000_000 - 1, midnight + 28 * 3_600_000_000]);
    insta::assert_snapshot!(error("t", Arc::new(instants.with_timezone("UTC"))).await, @"
    a row outside its slice: `t` is 2013-03-11T04:00:00Z, the slice holds 2013-03-10T05:00:00Z to before 2013-03-11T04:00:00Z; the row: id = 1, t = 2013-03-11T04:00:00Z
    help: a task replaces its own slice and nothing else: add `WHERE t >= :interval_start AND t < :interval_end` on the output column, or set `time:` to the column that decides the slice
    ");
    insta::assert_snapshot!(error("t", numbers(0..1)).await, @"
    time column `t` is BIGINT: DATE, TIMESTAMP or TIMESTAMPTZ expected
    help: CAST it in the query
    ");
    insta::assert_snapshot!(error("u", numbers(0..1)).await, @"there is no column `t`, which `time:` names");
}
