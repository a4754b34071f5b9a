//! Every kind of bad input ends in an error that names the place; each text is pinned here.

use std::fs;
use std::io::Write as _;

use bytes::Bytes;
use oncemore_backend::source::{SourceErrorKind, SourceIndex};
use oncemore_core::{ColumnType, Format, Interval, Missing, SourceSpec};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, ParquetMetaDataWriter};
use parquet::file::properties::WriterProperties;

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
    insta::assert_snapshot!(csv_refused("a,b,c\n1,x,2013-03-01\n2,y\n").await, @"
    in/a.csv:3: the row has 2 fields, 3 expected
    3 | 2,y
    ");
    insta::assert_snapshot!(csv_refused("a,b,c\n1,x,2013-03-01,,\n").await, @"
    in/a.csv:2: the row has more than the 3 fields expected
    2 | 1,x,2013-03-01,,
    ");
    insta::assert_snapshot!(csv_refused("a,b,c\n1,\"x,2013-03-01\n2,y,2013-03-01\n").await, @r#"
    in/a.csv:2: a quote of this row is never closed: the file ends inside of it
    2 | 1,"x,2013-03-01
    help: close it, or deliver the file again if it was cut off
    "#);
    insta::assert_snapshot!(csv_refused(b"a,b,c\n1,M\xfcnchen,2013-03-01\n").await, @"
    in/a.csv:2:3: invalid UTF-8
    2 | 1,M�nchen,2013-03-01
      |   ^
    help: deliver the file in UTF-8; it may be Latin-1 or Windows-1252
    ");
    insta::assert_snapshot!(csv_refused("").await, @"
    in/a.csv: the file is empty: no header
    help: a delivery without rows still has its header line
    ");
    insta::assert_snapshot!(csv_refused("a,b,B,b\n").await, @"
    in/a.csv:1:7: the header names column `b` twice
    1 | a,b,B,b
      |       ^
    ");
    insta::assert_snapshot!(csv_refused("a,bb,d\n1,x,2013-03-01\n").await, @"
    in/a.csv:1: the header lacks column `b`, which is declared
    1 | a,bb,d
    help: deliver the column, or take it out of `columns:`
    ");
    insta::assert_snapshot!(csv_refused("a,b,d\n1,x,2013-03-01\n").await, @"
    in/a.csv:1: the header lacks column `c`, which is declared
    1 | a,b,d
    help: deliver the column, or take it out of `columns:`
    ");
}

#[tokio::test]
async fn values_of_another_type() {
    insta::assert_snapshot!(csv_refused("a,b,c\n1,x,2013-03-01\n\"2\n\",y,\n").await, @r#"
    in/a.csv:3:1: `2 ` is no INTEGER, in column `a`
    3 | "2
      | ^
    "#);
    insta::assert_snapshot!(csv_refused("b,c,a\n\"é, é\",2013-03-01,1.5\n").await, @r#"
    in/a.csv:2:19: `1.5` is no INTEGER, in column `a`
    2 | "é, é",2013-03-01,1.5
      |                   ^
    "#);
    insta::assert_snapshot!(csv_refused("a,b,c\n3000000000,x,2013-03-01\n").await, @"
    in/a.csv:2:1: `3000000000` is no INTEGER, in column `a`
    2 | 3000000000,x,2013-03-01
      | ^
    ");
    insta::assert_snapshot!(csv_refused("a,b,c\n1,x,2013-02-29\n").await, @"
    in/a.csv:2:5: `2013-02-29` is no DATE, in column `c`
    2 | 1,x,2013-02-29
      |     ^
    help: dates are written 2013-03-01
    ");
    insta::assert_snapshot!(csv_refused("a,b,c\n1,x,03/01/2013\n").await, @"
    in/a.csv:2:5: `03/01/2013` is no DATE, in column `c`
    2 | 1,x,03/01/2013
      |     ^
    help: dates are written 2013-03-01
    ");
    let typed =
        |columns: &'static str, value: &str| refused("in/a.csv", format!("a\n{value}\n"), csv(), columns);
    insta::assert_snapshot!(typed("a TIMESTAMP", "2013-03-01T05:00:00Z").await, @"
    in/a.csv:2:1: `2013-03-01T05:00:00Z` is no TIMESTAMP, in column `a`
    2 | 2013-03-01T05:00:00Z
      | ^
    help: a TIMESTAMP has no offset: declare the column as TIMESTAMPTZ
    ");
    insta::assert_snapshot!(typed("a TIMESTAMPTZ", "2013-03-01 05:00:00").await, @"
    in/a.csv:2:1: `2013-03-01 05:00:00` is no TIMESTAMPTZ, in column `a`
    2 | 2013-03-01 05:00:00
      | ^
    help: a TIMESTAMPTZ needs its offset, as in 2013-03-01T05:00:00Z: declare the column as TIMESTAMP
    ");
    insta::assert_snapshot!(typed("a TIMESTAMP", "2013-03-01 25:00:00").await, @"
    in/a.csv:2:1: `2013-03-01 25:00:00` is no TIMESTAMP, in column `a`
    2 | 2013-03-01 25:00:00
      | ^
    help: wall times are written 2013-03-01 05:00:00, with up to six fractional digits
    ");
    insta::assert_snapshot!(typed("a DECIMAL(5,2)", "1.005").await, @"
    in/a.csv:2:1: `1.005` is no DECIMAL(5, 2), in column `a`
    2 | 1.005
      | ^
    ");
    insta::assert_snapshot!(typed("a DECIMAL(5,2)", "1000").await, @"
    in/a.csv:2:1: `1000` is no DECIMAL(5, 2), in column `a`
    2 | 1000
      | ^
    ");
    insta::assert_snapshot!(typed("a BOOLEAN", "yes").await, @"
    in/a.csv:2:1: `yes` is no BOOLEAN, in column `a`
    2 | yes
      | ^
    ");
    insta::assert_snapshot!(typed("a DOUBLE", "1,5").await, @"
    in/a.csv:2: the row has more than the 1 field expected
    2 | 1,5
    ");
}

#[tokio::test]
async fn json_that_does_not_fit() {
    let json = |text: &'static str| refused("in/a.ndjson", text, Format::NdJson, COLUMNS);
    insta::assert_snapshot!(json("{\"a\":1}\n{\"a\":1.5}\n").await, @r#"
    in/a.ndjson:2:6: `1.5` is no INTEGER, in field `a`
    2 | {"a":1.5}
      |      ^
    "#);
    insta::assert_snapshot!(json("{\"a\":1}\n{\"a\":\n2}\n").await, @r#"
    in/a.ndjson:2:7: no JSON object: it does not end in its line
    2 | {"a":
      |       ^
    "#);
    insta::assert_snapshot!(json("{\"a\":1} {\"a\":2}\n").await, @r#"
    in/a.ndjson:1:9: more than one value in the line
    1 | {"a":1} {"a":2}
      |         ^
    "#);
    insta::assert_snapshot!(json("{\"a\":1}\n[1]\n").await, @"
    in/a.ndjson:2:1: no JSON object: it does not begin with `{`
    2 | [1]
      | ^
    ");
    insta::assert_snapshot!(json("{\"a\":1}\n{\"b\":{\"x\":1}}\n").await, @r#"
    in/a.ndjson:2:6: the value is an object or a list, which no column holds
    2 | {"b":{"x":1}}
      |      ^
    help: deliver it as text, or take the column out of `columns:`
    "#);
    insta::assert_snapshot!(refused("in/a.ndjson", b"{\"b\":\"\xff\"}\n", Format::NdJson, COLUMNS).await, @r#"
    in/a.ndjson:1: invalid UTF-8
    1 | {"b":"�"}
    "#);
    insta::assert_snapshot!(refused("in/a.ndjson", "{}", Format::NdJson, "").await, @"
    in/a.ndjson: NDJSON needs its columns declared
    help: list them under `columns:` of source `raw.s`
    ");
}

#[tokio::test]
async fn gzip_cut_off_or_corrupt() {
    let text: String = (0..50_000).map(|row| format!("{row},{},2013-03-01\n", row * 7919 % 10_007)).collect();
    let whole = gzip(format!("a,b,c\n{text}"));
    let cut = refused("in/a.csv.gz", &whole[..whole.len() / 2], csv(), COLUMNS).await;
    insta::assert_snapshot!(cut, @"
    in/a.csv.gz: gzip data is cut off after line 24921
    help: deliver the file again, under another name first and renamed when complete
    ");
    let mut corrupt = gzip("a,b,c\n1,x,2013-03-01\n");
    let at = corrupt.len() - 6;
    corrupt[at] ^= 0xff;
    insta::assert_snapshot!(refused("in/a.csv.gz", corrupt, csv(), COLUMNS).await, @"
    in/a.csv.gz: gzip data is corrupt after line 2
    help: deliver the file again, under another name first and renamed when complete
    ");
    insta::assert_snapshot!(refused("in/a.csv.gz", "a,b,c\n", csv(), COLUMNS).await, @"
    in/a.csv.gz: no gzip data, which the name promises
    help: compress the file, or deliver it without `.gz` in its name
    ");
}

#[tokio::test]
async fn a_row_without_time() {
    let project = Project::new();
    project.write("in/a.csv", "a,b,c\n1,x,2013-03-01\n2,y,NA\n");
    let timed = spec("in/*.csv", csv(), COLUMNS, Some("c"));
    insta::assert_snapshot!(project.scan(&timed).await.unwrap_err(), @"
    in/a.csv:3: time column `c` is NULL
    3 | 2,y,NA
    help: each row needs its time: correct the file, or read the source without `time:`
    ");
    let untyped = spec("in/*.csv", csv(), COLUMNS, Some("b"));
    insta::assert_snapshot!(project.scan(&untyped).await.unwrap_err(), @"
    in/a.csv: time column `b` is TEXT, no time
    help: declare it under `columns:` as DATE, TIMESTAMP or TIMESTAMPTZ
    ");
    let days = arrow::array::Date32Array::from(vec![Some(15_706), None]);
    let batch = arrow::array::RecordBatch::try_from_iter([("d", std::sync::Arc::new(days) as _)]).unwrap();
    project.parquet("in/a.parquet", &batch);
    let binary = spec("in/a.parquet", Format::Parquet, "", Some("d"));
    insta::assert_snapshot!(project.scan(&binary).await.unwrap_err(), @r"
    in/a.parquet: time column `d` is NULL in row 2
    help: each row needs its time: correct the file, or read the source without `time:`
    ");
    let unknown = spec("in/*.csv", csv(), COLUMNS, Some("cc"));
    insta::assert_snapshot!(project.scan(&unknown).await.unwrap_err(), @"in/a.csv: there is no column `cc`, which `time:` of source `raw.s` names");
}

#[tokio::test]
async fn folders_and_paths() {
    let project = Project::new();
    let error =
        async |path: &str| project.scan(&spec(path, csv(), COLUMNS, None)).await.unwrap_err().to_string();
    let landing = SourceSpec { missing: Missing::Error, ..spec("landing/*.csv", csv(), COLUMNS, None) };
    insta::assert_snapshot!(project.scan(&landing).await.unwrap_err(), @"
    landing/*.csv: folder `landing` of source `raw.s` is missing
    help: make the folder, correct `path:`, or write `missing: empty`
    ");
    let waiting = spec("landing/*.csv", csv(), COLUMNS, None);
    assert_eq!(project.scan(&waiting).await.unwrap().rows(), 0);
    insta::assert_snapshot!(error("../*.csv").await, @"
    ../*.csv: the path leaves the project's folder
    help: sources lie in the project's folder; write the path relative to it, with `/`
    ");
    insta::assert_snapshot!(error("/etc/passwd").await, @"
    /etc/passwd: the path leaves the project's folder
    help: sources lie in the project's folder; write the path relative to it, with `/`
    ");
    insta::assert_snapshot!(error("in/{interval:%Y-%B}.csv").await, @"in/{interval:%Y-%B}.csv: `%B` is not known in `{interval:…}`: %Y %y %m %d %j %H %M are");
    insta::assert_snapshot!(error("in/[.csv").await, @"in/[.csv: no valid pattern: unclosed character class; missing ']'");
    project.write("in/2013-02-30.csv", "a,b,c\n");
    insta::assert_snapshot!(error("in/{interval:%Y-%m-%d}.csv").await, @"
    in/2013-02-30.csv: the name holds no valid time
    help: the source's path is `in/{interval:%Y-%m-%d}.csv`
    ");
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
    insta::assert_snapshot!(project.scan(&within).await.unwrap_err(), @"
    in/outside.csv: a link leads out of the project's folder
    help: copy the data into the project's folder, or mount it there
    ");
    link(outside.path().to_owned(), project.root().join("folder")).unwrap();
    insta::assert_snapshot!(project.scan(&spec("folder/*.csv", csv(), COLUMNS, None)).await.unwrap_err(), @"
    folder: a link leads out of the project's folder
    help: copy the data into the project's folder, or mount it there
    ");
    insta::assert_snapshot!(project.scan(&spec("*/a.csv", csv(), COLUMNS, None)).await.unwrap_err(), @"
    folder: a link leads out of the project's folder
    help: copy the data into the project's folder, or mount it there
    ");
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
    insta::assert_snapshot!(error(b"a,b\n1,2\n1,2\n".to_vec()).await, @"
    in/a.parquet: no Parquet: the file does not end in `PAR1`
    help: the file may be cut off: deliver it again
    ");
    insta::assert_snapshot!(error(b"PAR1".to_vec()).await, @"
    in/a.parquet: no Parquet: 4 bytes are too few for a footer
    help: deliver the file again, under another name first and renamed when complete
    ");
    insta::assert_snapshot!(error(good[..good.len() - 20].to_vec()).await, @"
    in/a.parquet: no Parquet: the file does not end in `PAR1`
    help: the file may be cut off: deliver it again
    ");
    // A footer of 4 GB.
    let end = good.len();
    let mut huge = good.clone();
    huge[end - 8..end - 4].copy_from_slice(&u32::MAX.to_le_bytes());
    insta::assert_snapshot!(error(huge).await, @"
    in/a.parquet: broken footer: it claims 4294967295 bytes of a file of 9730
    help: deliver the file again, under another name first and renamed when complete
    ");
    // A list of two thousand million row groups in ten bytes.
    let mut list = b"PAR1".to_vec();
    let footer = [0x15, 0x02, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0x00];
    list.extend_from_slice(&footer);
    list.extend_from_slice(&u32::try_from(footer.len()).unwrap().to_le_bytes());
    list.extend_from_slice(b"PAR1");
    insta::assert_snapshot!(error(list).await, @"
    in/a.parquet: broken footer: a list claims more elements than there are bytes
    help: deliver the file again, under another name first and renamed when complete
    ");
    let other = spec("in/a.parquet", Format::Parquet, "a TEXT", None);
    project.write("in/a.parquet", &good);
    insta::assert_snapshot!(project.scan(&other).await.unwrap_err(), @"
    in/a.parquet: column `a` is BIGINT in the file, and declared TEXT
    help: declare it as the file has it, `a: BIGINT`, and cast in the model
    ");
    let wide = vec![("a".to_owned(), ColumnType::Decimal(21, 2))];
    let wider = SourceSpec { columns: wide, ..spec("in/a.parquet", Format::Parquet, "", None) };
    project.scan(&wider).await.unwrap();
    let declared = spec("in/a.parquet", Format::Parquet, "a BIGINT, z TEXT", None);
    project.write("in/a.parquet", &good);
    insta::assert_snapshot!(project.scan(&declared).await.unwrap_err(), @"
    in/a.parquet: the file lacks column `z`, which is declared
    help: deliver the column, or take it out of `columns:`
    ");
}

/// Times as fine as tables hold them are read from columns of finer ones; finer times are cut where that was said.
#[tokio::test]
async fn parquet_times_finer_than_tables_hold() {
    use arrow::array::TimestampNanosecondArray;
    let project = Project::new();
    let file = |path: &str, times: Vec<Option<i64>>| {
        let times = TimestampNanosecondArray::from(times).with_timezone("UTC");
        let batch =
            arrow::array::RecordBatch::try_from_iter([("t", std::sync::Arc::new(times) as _)]).unwrap();
        project.parquet(path, &batch);
    };
    file("in/a.parquet", vec![Some(1_362_114_000_123_456_000), None]);
    project.scan(&spec("in/a.parquet", Format::Parquet, "", None)).await.unwrap();
    file("in/b.parquet", vec![Some(1_362_114_000_123_456_000), None, Some(1_362_114_000_123_456_789)]);
    insta::assert_snapshot!(
        project.scan(&spec("in/b.parquet", Format::Parquet, "", None)).await.unwrap_err(),
        @"
    in/b.parquet: column `t` has nanoseconds in row 3, and tables hold microseconds
    help: to have them cut, declare the source's `columns:`, with `t: TIMESTAMPTZ` among them
    "
    );
    project.scan(&spec("in/b.parquet", Format::Parquet, "t TIMESTAMPTZ", None)).await.unwrap();
    // The last nanosecond before 1970 stays in its day.
    file("in/c.parquet", vec![Some(-1)]);
    let declared = spec("in/c.parquet", Format::Parquet, "t TIMESTAMPTZ", Some("t"));
    let index = project.scan(&declared).await.unwrap();
    assert_eq!(index.max_time(), Some(oncemore_core::Instant(-1)));
}

/// Values that lie one behind the other are decoded as one text: each is looked at by itself.
#[tokio::test]
async fn parquet_text_that_is_cut_within_a_character() {
    use parquet::basic::Encoding;
    use parquet::data_type::{ByteArray, ByteArrayType};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    let file = |encoding, values: [&[u8]; 3]| {
        let schema = parse_message_type("message rows { required binary s (UTF8); }").unwrap();
        let properties =
            WriterProperties::builder().set_dictionary_enabled(false).set_encoding(encoding).build();
        let mut bytes = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut bytes, schema.into(), properties.into()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let values = values.map(|value| ByteArray::from(value.to_vec()));
        column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        bytes
    };
    let cut: [&[u8]; 3] = [b"x", b"abc\xc3", b"\xa9def"];
    for encoding in [Encoding::PLAIN, Encoding::DELTA_LENGTH_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY] {
        let said = refused("in/a.parquet", file(encoding, cut), Format::Parquet, "").await;
        assert!(said.contains("UTF-8"), "{encoding}: {said}");
        let whole = file(encoding, ["née".as_bytes(), b"", "ü".as_bytes()]);
        let project = Project::new();
        project.write("in/a.parquet", whole);
        project.scan(&spec("in/a.parquet", Format::Parquet, "", None)).await.unwrap();
    }
    insta::assert_snapshot!(
        refused("in/a.parquet", file(Encoding::DELTA_LENGTH_BYTE_ARRAY, cut), Format::Parquet, "").await,
        @"
    in/a.parquet: column `s` is no UTF-8 in row 3: a character is cut there
    help: deliver the file again, under another name first and renamed when complete
    "
    );
}

/// INT96, as Spark and Hive write times: years that nanoseconds don't reach are what they are.
#[tokio::test]
async fn parquet_int96_reaches_beyond_nanoseconds() {
    use parquet::data_type::{Int96, Int96Type};
    use parquet::file::writer::SerializedFileWriter;
    let project = Project::new();
    let schema = parquet::schema::parser::parse_message_type("message m { optional int96 t; }").unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, std::sync::Arc::new(schema), std::sync::Arc::default())
            .unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    // Julian days of 2300 and 1500, each at one second past noon of its first.
    let noon: u64 = 43_201_000_000_000;
    let time = |day: u32| {
        let mut value = Int96::new();
        value.set_data((noon & 0xffff_ffff) as u32, (noon >> 32) as u32, day);
        value
    };
    let times = [time(2_561_118), time(2_268_924)];
    column.typed::<Int96Type>().write_batch(&times, Some(&[1, 1]), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    project.write("in/a.parquet", &bytes);
    for columns in ["", "t TIMESTAMP"] {
        let index = project.scan(&spec("in/a.parquet", Format::Parquet, columns, Some("t"))).await.unwrap();
        let days: Vec<String> = index.cells().iter().map(|cell| cell.interval.start().to_string()).collect();
        assert_eq!(days, ["1500-01-01T00:00:00Z", "2300-01-01T00:00:00Z"], "{columns}");
    }
}

/// A quote that is open where the file ends has taken in whatever rows came after it.
#[tokio::test]
async fn a_quote_that_is_never_closed() {
    let project = Project::new();
    let csv = || spec("in/a.csv", csv(), "id BIGINT, s TEXT", None);
    project.write("in/a.csv", "id,s\n1,a\n2,\"b\n3,c\n4,d\n");
    insta::assert_snapshot!(project.scan(&csv()).await.unwrap_err(), @r#"
    in/a.csv:3: a quote of this row is never closed: the file ends inside of it
    3 | 2,"b
    help: close it, or deliver the file again if it was cut off
    "#);
    project.write("in/a.csv", "id,s\n1,a\n2,\"cut o");
    insta::assert_snapshot!(project.scan(&csv()).await.unwrap_err(), @r#"
    in/a.csv:3: a quote of this row is never closed: the file ends inside of it
    3 | 2,"cut o
    help: close it, or deliver the file again if it was cut off
    "#);
    project.write("in/a.csv", "id,\"s\n1,a\n");
    insta::assert_snapshot!(project.scan(&csv()).await.unwrap_err(), @r#"
    in/a.csv:1: a quote of this row is never closed: the file ends inside of it
    1 | id,"s
    help: close it, or deliver the file again if it was cut off
    "#);
    for whole in [
        "id,s\n1,\"a\"",
        "id,s\n1,\"a\nb\"\n",
        "id,s\r\n1,\"\"\r\n",
        "id,s",
        "id,s\n1,a\"",
        "id,s\n1,\"a\"\"\"\n\n",
    ] {
        project.write("in/a.csv", whole);
        project.scan(&csv()).await.unwrap();
    }
    // The line break behind the last row is none of its own.
    project.write("in/a.csv", "id,s\n1,a\n2,b");
    assert_eq!(project.scan(&csv()).await.unwrap().rows(), 2);
}

/// A page of some bytes that claims to unpack to two thousand million.
#[tokio::test]
async fn parquet_pages_that_claim_too_much() {
    let project = Project::new();
    let column = arrow::array::Int64Array::from((0..1_000).map(|row| row % 7).collect::<Vec<_>>());
    let batch = arrow::array::RecordBatch::try_from_iter([("a", std::sync::Arc::new(column) as _)]).unwrap();
    let spec = spec("in/a.parquet", Format::Parquet, "", None);
    let most = [0xfe, 0xff, 0xff, 0xff, 0x0f];
    for (codec, claim) in [
        (Compression::UNCOMPRESSED, &most[..]),
        (Compression::SNAPPY, &most),
        (Compression::LZ4_RAW, &most),
        (Compression::GZIP(Default::default()), &most),
        (Compression::ZSTD(Default::default()), &most),
        // Less than nothing.
        (Compression::SNAPPY, &[0x01]),
    ] {
        let properties = WriterProperties::builder().set_compression(codec).set_dictionary_enabled(false);
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        project.write("in/a.parquet", &bytes);
        project.scan(&spec).await.unwrap();
        project.write("in/a.parquet", claiming(&bytes, claim));
        let error = project.scan(&spec).await.unwrap_err();
        assert_eq!(error.kind, SourceErrorKind::Malformed);
        let what = if claim == most { " bytes claim to unpack to 2147483647" } else { "it has no size" };
        let text = error.to_string();
        assert!(
            text.starts_with("in/a.parquet: broken page of column `a` in row group 1 of 1: ")
                && text.contains(&format!("{what}\nhelp: ")),
            "{text}"
        );
    }
    assert!(peak_megabytes() < 1_000, "{} MB", peak_megabytes());
}

/// A file of one page, with another number as the size that the page unpacks to.
fn claiming(good: &[u8], claim: &[u8]) -> Vec<u8> {
    // After the magic: the page's type, the size unpacked, the size packed, each behind a byte for its field.
    let size = 4 + 3;
    let length = 1 + good[size..].iter().position(|byte| byte & 0x80 == 0).unwrap();
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&Bytes::copy_from_slice(good)).unwrap();
    let group = metadata.row_group(0).clone();
    let chunk = group.column(0).clone();
    let end = 4 + usize::try_from(chunk.compressed_size()).unwrap();
    let mut bytes = [&good[..size], claim, &good[size + length..end]].concat();
    let chunk = (chunk.into_builder())
        .set_total_compressed_size(bytes.len() as i64 - 4)
        .set_column_index_offset(None)
        .set_column_index_length(None)
        .set_offset_index_offset(None)
        .set_offset_index_length(None);
    let group = group.into_builder().set_column_metadata(vec![chunk.build().unwrap()]).build().unwrap();
    let metadata = ParquetMetaData::new(metadata.file_metadata().clone(), vec![group]);
    ParquetMetaDataWriter::new(&mut bytes, &metadata).finish().unwrap();
    bytes
}

/// Any byte of a small file flipped: an error or another content, never a panic that gets out, never much
/// memory.
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
                assert!(
                    matches!(error.kind, SourceErrorKind::Malformed | SourceErrorKind::Internal),
                    "{error}"
                );
            }
        }
    }
    drop(std::panic::take_hook());
    assert!(peak_megabytes() < 1_000, "{} MB", peak_megabytes());
}

/// The most memory that this process ever held.
fn peak_megabytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok()).unwrap_or(0) / 1_024
}

async fn read_after(
    change: impl FnOnce(&Project),
    path: &str,
    spec: &SourceSpec,
    index: &SourceIndex,
    project: &Project,
) -> String {
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
    let other = |project: &Project| {
        project.write("in/a.csv", "a,b,c\n2,x,2013-03-01\n");
    };
    insta::assert_snapshot!(read_after(other, "in/a.csv", &text, &index, &project).await, @"
    in/a.csv: input moved: the file is not the one that was indexed
    help: run again; deliver files under another name and rename them when complete
    ");
    let broken = |project: &Project| {
        project.write("in/a.csv", "a,b,c\nno,x,2013-03-01\n");
    };
    insta::assert_snapshot!(read_after(broken, "in/a.csv", &text, &index, &project).await, @"
    in/a.csv: input moved: the file is not the one that was indexed
    help: run again; deliver files under another name and rename them when complete
    ");

    let numbers = |to: i32| {
        let column = arrow::array::Int32Array::from((0..to).collect::<Vec<_>>());
        arrow::array::RecordBatch::try_from_iter([("a", std::sync::Arc::new(column) as _)]).unwrap()
    };
    project.parquet("in/a.parquet", &numbers(10));
    let binary = spec("in/a.parquet", Format::Parquet, "", None);
    let index = project.scan(&binary).await.unwrap();
    let other = |project: &Project| {
        project.parquet("in/a.parquet", &numbers(11));
    };
    insta::assert_snapshot!(read_after(other, "in/a.parquet", &binary, &index, &project).await, @"
    in/a.parquet: input moved: the file is not the one that was indexed
    help: run again; deliver files under another name and rename them when complete
    ");
    // Written anew with the same bytes: nothing moved.
    project.parquet("in/a.parquet", &numbers(10));
    query(project.table(&index, Interval::WHOLE), "SELECT max(a) AS a FROM t").await.unwrap();
}

#[tokio::test]
async fn files_that_contradict_each_other() {
    let project = Project::new();
    let numbers = arrow::array::Int64Array::from(vec![1]);
    let texts = arrow::array::StringArray::from(vec!["x"]);
    let one =
        arrow::array::RecordBatch::try_from_iter([("a", std::sync::Arc::new(numbers.clone()) as _)]).unwrap();
    let two = arrow::array::RecordBatch::try_from_iter([("a", std::sync::Arc::new(texts) as _)]).unwrap();
    project.parquet("in/a.parquet", &one).parquet("in/b.parquet", &two);
    let spec = spec("in/*.parquet", Format::Parquet, "", None);
    insta::assert_snapshot!(project.scan(&spec).await.unwrap_err(), @"
    in/b.parquet: column `a` is TEXT here, but BIGINT in `in/a.parquet`
    help: declare the column's type under `columns:` of the source
    ");
    // Another column is no contradiction: it is NULL where a file lacks it.
    let three = arrow::array::RecordBatch::try_from_iter([
        ("b", std::sync::Arc::new(arrow::array::StringArray::from(vec!["x"])) as _),
        ("a", std::sync::Arc::new(numbers) as _),
    ])
    .unwrap();
    project.parquet("in/b.parquet", &three);
    let index = project.scan(&spec).await.unwrap();
    let shown = query(project.table(&index, Interval::WHOLE), "SELECT * FROM t ORDER BY b").await.unwrap();
    insta::assert_snapshot!(shown, @"
    +---+---+
    | a | b |
    +---+---+
    | 1 | x |
    | 1 |   |
    +---+---+
    ");
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
    insta::assert_snapshot!(error.lines().next().unwrap(), @"in/a.csv.gz:2:1: the row is longer than 64 MiB: a quote that is never closed?");
}
