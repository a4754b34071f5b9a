//! Every kind of bad input ends in an error that names the place; each text is pinned here.

use std::fs;
use std::io::Write as _;

use oncemore_backend::source::{SourceErrorKind, SourceIndex};
use oncemore_core::{Format, Interval, SourceSpec};

use crate::support::{Project, csv, gzip, query, spec};

const COLUMNS: &str = "a INTEGER, b TEXT, c DATE";

/// The error of scanning one file with this content.
async fn refused(name: &str, content: impl AsRef<[u8]>, format: Format, columns: &str) -> String {
    let project = Project::new();
    project.write(name, content);
    project.scan(&spec(name, format, columns, None)).await.unwrap_err().to_string()
}

async fn csv_refused(content: impl AsRef<[u8]>) -> String {
    refused("in/a.csv", content, csv(), COLUMNS).await
}

#[tokio::test]
async fn csv_that_is_no_csv() {
    insta::assert_snapshot!(csv_refused("a,b,c\n1,x,2013-03-01\n2,y\n").await, @"");
    insta::assert_snapshot!(csv_refused("a,b,c\n1,x,2013-03-01,,\n").await, @"");
    insta::assert_snapshot!(csv_refused("a,b,c\n1,\"x,2013-03-01\n2,y,2013-03-01\n").await, @"");
    insta::assert_snapshot!(csv_refused(b"a,b,c\n1,M\xfcnchen,2013-03-01\n").await, @"");
    insta::assert_snapshot!(csv_refused("").await, @"");
    insta::assert_snapshot!(csv_refused("a,b,B,b\n").await, @"");
    insta::assert_snapshot!(csv_refused("a,bb,d\n1,x,2013-03-01\n").await, @"");
    insta::assert_snapshot!(csv_refused("a,b,d\n1,x,2013-03-01\n").await, @"");
}

#[tokio::test]
async fn values_of_another_type() {
    insta::assert_snapshot!(csv_refused("a,b,c\n1,x,2013-03-01\n\"2\n\",y,\n").await, @"");
    insta::assert_snapshot!(csv_refused("b,c,a\n\"é, é\",2013-03-01,1.5\n").await, @"");
    insta::assert_snapshot!(csv_refused("a,b,c\n3000000000,x,2013-03-01\n").await, @"");
    insta::assert_snapshot!(csv_refused("a,b,c\n1,x,2013-02-29\n").await, @"");
    insta::assert_snapshot!(csv_refused("a,b,c\n1,x,03/01/2013\n").await, @"");
    let typed = |columns: &'static str, value: &str| {
        refused("in/a.csv", format!("a\n{value}\n"), csv(), columns)
    };
    insta::assert_snapshot!(typed("a TIMESTAMP", "2013-03-01T05:00:00Z").await, @"");
    insta::assert_snapshot!(typed("a TIMESTAMPTZ", "2013-03-01 05:00:00").await, @"");
    insta::assert_snapshot!(typed("a TIMESTAMP", "2013-03-01 25:00:00").await, @"");
    insta::assert_snapshot!(typed("a DECIMAL(5,2)", "1.005").await, @"");
    insta::assert_snapshot!(typed("a DECIMAL(5,2)", "1000").await, @"");
    insta::assert_snapshot!(typed("a BOOLEAN", "yes").await, @"");
    insta::assert_snapshot!(typed("a DOUBLE", "1,5").await, @"");
}

#[tokio::test]
async fn json_that_does_not_fit() {
    let json = |text: &'static str| refused("in/a.ndjson", text, Format::NdJson, COLUMNS);
    insta::assert_snapshot!(json("{\"a\":1}\n{\"a\":1.5}\n").await, @"");
    insta::assert_snapshot!(json("{\"a\":1}\n{\"a\":\n2}\n").await, @"");
    insta::assert_snapshot!(json("{\"a\":1} {\"a\":2}\n").await, @"");
    insta::assert_snapshot!(json("{\"a\":1}\n[1]\n").await, @"");
    insta::assert_snapshot!(json("{\"a\":1}\n{\"b\":{\"x\":1}}\n").await, @"");
    insta::assert_snapshot!(refused("in/a.ndjson", b"{\"b\":\"\xff\"}\n", Format::NdJson, COLUMNS).await, @"");
    insta::assert_snapshot!(refused("in/a.ndjson", "{}", Format::NdJson, "").await, @"");
}

#[tokio::test]
async fn gzip_cut_off_or_corrupt() {
    let text: String = (0..50_000).map(|row| format!("{row},{},2013-03-01\n", row * 7919 % 10_007)).collect();
    let whole = gzip(format!("a,b,c\n{text}"));
    let cut = refused("in/a.csv.gz", &whole[..whole.len() / 2], csv(), COLUMNS).await;
    insta::assert_snapshot!(cut, @"");
    let mut corrupt = gzip("a,b,c\n1,x,2013-03-01\n");
    let at = corrupt.len() - 6;
    corrupt[at] ^= 0xff;
    insta::assert_snapshot!(refused("in/a.csv.gz", corrupt, csv(), COLUMNS).await, @"");
    insta::assert_snapshot!(refused("in/a.csv.gz", "a,b,c\n", csv(), COLUMNS).await, @"");
}

#[tokio::test]
async fn a_row_without_time() {
    let project = Project::new();
    project.write("in/a.csv", "a,b,c\n1,x,2013-03-01\n2,y,NA\n");
    let timed = spec("in/*.csv", csv(), COLUMNS, Some("c"));
    insta::assert_snapshot!(project.scan(&timed).await.unwrap_err(), @"");
    let untyped = spec("in/*.csv", csv(), COLUMNS, Some("b"));
    insta::assert_snapshot!(project.scan(&untyped).await.unwrap_err(), @"");
    let unknown = spec("in/*.csv", csv(), COLUMNS, Some("cc"));
    insta::assert_snapshot!(project.scan(&unknown).await.unwrap_err(), @"");
}

#[tokio::test]
async fn folders_and_paths() {
    let project = Project::new();
    let error = async |path: &str| project.scan(&spec(path, csv(), COLUMNS, None)).await.unwrap_err().to_string();
    insta::assert_snapshot!(error("landing/*.csv").await, @"");
    insta::assert_snapshot!(error("../*.csv").await, @"");
    insta::assert_snapshot!(error("/etc/passwd").await, @"");
    insta::assert_snapshot!(error("in/{interval:%Y-%B}.csv").await, @"");
    insta::assert_snapshot!(error("in/[.csv").await, @"");
    project.write("in/2013-02-30.csv", "a,b,c\n");
    insta::assert_snapshot!(error("in/{interval:%Y-%m-%d}.csv").await, @"");
}

#[tokio::test]
async fn links_out_of_the_project_are_refused() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("a.csv"), "a,b,c\n").unwrap();
    let project = Project::new();
    project.write("in/real.csv", "a,b,c\n1,x,\n");
    let link = std::os::unix::fs::symlink::<std::path::PathBuf, std::path::PathBuf>;
    let within = spec("in/*.csv", csv(), COLUMNS, None);
    link(project.root().join("in/real.csv"), project.root().join("in/inside.csv")).unwrap();
    assert_eq!(project.scan(&within).await.unwrap().rows(), 2);
    link(outside.path().join("a.csv"), project.root().join("in/outside.csv")).unwrap();
    insta::assert_snapshot!(project.scan(&within).await.unwrap_err(), @"");
    link(outside.path().to_owned(), project.root().join("folder")).unwrap();
    insta::assert_snapshot!(project.scan(&spec("folder/*.csv", csv(), COLUMNS, None)).await.unwrap_err(), @"");
    insta::assert_snapshot!(project.scan(&spec("*/a.csv", csv(), COLUMNS, None)).await.unwrap_err(), @"");
}

#[tokio::test]
async fn parquet_that_lies() {
    let project = Project::new();
    let column = arrow::array::Int64Array::from((0..1_000).collect::<Vec<_>>());
    let batch = arrow::array::RecordBatch::try_from_iter([("a", std::sync::Arc::new(column) as _)]).unwrap();
    project.parquet("in/a.parquet", &batch);
    let good = fs::read(project.root().join("in/a.parquet")).unwrap();
    let error = async |bytes: Vec<u8>| {
        project.write("in/a.parquet", bytes);
        project.scan(&spec("in/a.parquet", Format::Parquet, "", None)).await.unwrap_err().to_string()
    };
    insta::assert_snapshot!(error(b"a,b\n1,2\n1,2\n".to_vec()).await, @"");
    insta::assert_snapshot!(error(b"PAR1".to_vec()).await, @"");
    insta::assert_snapshot!(error(good[..good.len() - 20].to_vec()).await, @"");
    // A footer of 4 GB.
    let end = good.len();
    let mut huge = good.clone();
    huge[end - 8..end - 4].copy_from_slice(&u32::MAX.to_le_bytes());
    insta::assert_snapshot!(error(huge).await, @"");
    // A list of two thousand million row groups in ten bytes.
    let mut list = b"PAR1".to_vec();
    let footer = [0x15, 0x02, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0x00];
    list.extend_from_slice(&footer);
    list.extend_from_slice(&u32::try_from(footer.len()).unwrap().to_le_bytes());
    list.extend_from_slice(b"PAR1");
    insta::assert_snapshot!(error(list).await, @"");
    let declared = spec("in/a.parquet", Format::Parquet, "a INTEGER, z TEXT", None);
    project.write("in/a.parquet", &good);
    insta::assert_snapshot!(project.scan(&declared).await.unwrap_err(), @"");
}

/// Any byte of a small file flipped: an error or another content, never a panic that gets out, never much memory.
#[tokio::test]
async fn parquet_with_any_byte_flipped() {
    let project = Project::new();
    let column = arrow::array::StringArray::from((0..50).map(|row| format!("row {row}")).collect::<Vec<_>>());
    let batch = arrow::array::RecordBatch::try_from_iter([("a", std::sync::Arc::new(column) as _)]).unwrap();
    project.parquet("in/a.parquet", &batch);
    let good = fs::read(project.root().join("in/a.parquet")).unwrap();
    let spec = spec("in/a.parquet", Format::Parquet, "", None);
    std::panic::set_hook(Box::new(|_| {}));
    for at in 0..good.len() {
        for flip in [0xff, 0x80, 0x01] {
            let mut bad = good.clone();
            bad[at] ^= flip;
            project.write("in/a.parquet", bad);
            if let Err(error) = project.scan(&spec).await {
                assert!(matches!(error.kind, SourceErrorKind::Malformed | SourceErrorKind::Internal), "{error}");
            }
        }
    }
    drop(std::panic::take_hook());
    assert!(peak_megabytes() < 2_000, "{} MB", peak_megabytes());
}

/// The most memory that this process ever held.
fn peak_megabytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok()).unwrap_or(0) / 1_024
}

async fn read_after(change: impl FnOnce(&Project), path: &str, spec: &SourceSpec, index: &SourceIndex, project: &Project) -> String {
    change(project);
    let error = query(project.table(index, Interval::WHOLE), "SELECT max(a) AS a FROM t").await.unwrap_err();
    assert!(error.to_string().contains(path));
    assert_eq!(spec.path, index.spec().path);
    oncemore_backend::source::SourceError::find(&error).unwrap().to_string()
}

#[tokio::test]
async fn a_file_that_changes_between_scan_and_read() {
    let project = Project::new();
    project.write("in/a.csv", "a,b,c\n1,x,2013-03-01\n");
    let text = spec("in/a.csv", csv(), COLUMNS, None);
    let index = project.scan(&text).await.unwrap();
    let other = |project: &Project| drop(project.write("in/a.csv", "a,b,c\n2,x,2013-03-01\n"));
    insta::assert_snapshot!(read_after(other, "in/a.csv", &text, &index, &project).await, @"");
    let broken = |project: &Project| drop(project.write("in/a.csv", "a,b,c\nno,x,2013-03-01\n"));
    insta::assert_snapshot!(read_after(broken, "in/a.csv", &text, &index, &project).await, @"");

    let numbers = |to: i32| {
        let column = arrow::array::Int32Array::from((0..to).collect::<Vec<_>>());
        arrow::array::RecordBatch::try_from_iter([("a", std::sync::Arc::new(column) as _)]).unwrap()
    };
    project.parquet("in/a.parquet", &numbers(10));
    let binary = spec("in/a.parquet", Format::Parquet, "", None);
    let index = project.scan(&binary).await.unwrap();
    let other = |project: &Project| drop(project.parquet("in/a.parquet", &numbers(11)));
    insta::assert_snapshot!(read_after(other, "in/a.parquet", &binary, &index, &project).await, @"");
    // Written anew with the same bytes: nothing moved.
    project.parquet("in/a.parquet", &numbers(10));
    query(project.table(&index, Interval::WHOLE), "SELECT max(a) AS a FROM t").await.unwrap();
}

#[tokio::test]
async fn files_that_contradict_each_other() {
    let project = Project::new();
    let numbers = arrow::array::Int64Array::from(vec![1]);
    let texts = arrow::array::StringArray::from(vec!["x"]);
    let one = arrow::array::RecordBatch::try_from_iter([("a", std::sync::Arc::new(numbers.clone()) as _)]).unwrap();
    let two = arrow::array::RecordBatch::try_from_iter([("a", std::sync::Arc::new(texts) as _)]).unwrap();
    project.parquet("in/a.parquet", &one).parquet("in/b.parquet", &two);
    let spec = spec("in/*.parquet", Format::Parquet, "", None);
    insta::assert_snapshot!(project.scan(&spec).await.unwrap_err(), @"");
    // Another column is no contradiction: it is NULL where a file lacks it.
    let three = arrow::array::RecordBatch::try_from_iter([
        ("b", std::sync::Arc::new(arrow::array::StringArray::from(vec!["x"])) as _),
        ("a", std::sync::Arc::new(numbers) as _),
    ])
    .unwrap();
    project.parquet("in/b.parquet", &three);
    let index = project.scan(&spec).await.unwrap();
    let shown = query(project.table(&index, Interval::WHOLE), "SELECT * FROM t ORDER BY b").await.unwrap();
    insta::assert_snapshot!(shown, @"");
}

/// 200 MB of one long line from 200 kB: bounded by the limit on a record, not by what the file unpacks to.
#[tokio::test]
async fn a_gzip_bomb() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(b"a,b,c\n1,\"").unwrap();
    for _ in 0..200 {
        encoder.write_all(&vec![b'x'; 1 << 20]).unwrap();
    }
    let error = refused("in/a.csv.gz", encoder.finish().unwrap(), csv(), COLUMNS).await;
    insta::assert_snapshot!(error.lines().next().unwrap(), @"");
}
