//! Fingerprints of cells: the same for the same typed rows, whatever the format, the split or the order.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, TimestampMicrosecondArray,
};
use oncemore_backend::source::{ProviderCache, SourceIndex, provider};
use oncemore_commit::{RowHasher, RowsPrint};
use oncemore_core::{Fingerprint, Format, Interval, SourceSpec};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use crate::support::{Project, csv, day, gzip, query, spec};

const COLUMNS: &str =
    "d DATE, n INTEGER, x DOUBLE, m DECIMAL(10,2), s TEXT, w TIMESTAMP, z TIMESTAMPTZ, b BOOLEAN";
const ROWS: [&str; 4] = [
    "2013-03-01,1,1.5,12.30,a,2013-03-01 00:00:00,2013-03-01T05:00:00Z,true",
    "2013-03-01,,-0.0,-0.01,\"x, y\",2013-03-01T23:59:59.999999,2013-03-01 05:00:00.000001+05:30,false",
    "2013-03-02,-2147483648,NA,,é,2013-03-02,2013-03-02T00:00:00-05:00,",
    "2013-03-02,7,1e300,0,a,2013-03-02 10:00,2013-03-02T10:00Z,t",
];
const HEADER: &str = "d,n,x,m,s,w,z,b\n";

fn declared(path: &str, format: Format) -> SourceSpec {
    SourceSpec { key: vec!["d".to_owned(), "n".to_owned()], ..spec(path, format, COLUMNS, Some("d")) }
}

fn content(index: &SourceIndex) -> Vec<(Interval, Fingerprint, BTreeMap<String, u128>)> {
    let columns = |cell: &oncemore_backend::source::Cell| {
        cell.columns.iter().map(|print| (print.name.clone(), print.print)).collect()
    };
    index.cells().iter().map(|cell| (cell.interval, cell.fingerprint, columns(cell))).collect()
}

#[tokio::test]
async fn every_format_and_split_gives_the_same_cells() {
    let project = Project::new();
    project.write("one/a.csv", HEADER.to_owned() + &ROWS.join("\n") + "\n");
    let one = project.scan(&declared("one/*.csv", csv())).await.unwrap();
    let cells = content(&one);
    assert_eq!(cells.len(), 2);
    assert_eq!(cells[0].0, day("UTC", "2013-03-01"));
    assert_eq!(cells[0].1.rows, 2);
    assert_eq!(cells[0].2.len(), 8);

    // Split over files, in another order of rows and columns, gzip among them.
    project.write("two/a.csv", HEADER.to_owned() + ROWS[3] + "\r\n" + ROWS[0] + "\r\n");
    let turned =
        "n,d,b,extra,s,w,z,x,m\n-2147483648,2013-03-02,NA,9,é,2013-03-02T00:00,2013-03-02T05:00:00Z,,\n";
    project.write("two/b.csv.gz", gzip(turned));
    project.write("two/c.csv", HEADER.to_owned() + ROWS[1]);
    let two = project.scan(&declared("two/*.csv*", csv())).await.unwrap();
    assert_eq!(content(&two), cells);

    let json = [
        r#"{"d":"2013-03-01","n":1,"x":1.5,"m":12.3,"s":"a","w":"2013-03-01 00:00:00","z":"2013-03-01T05:00:00Z","b":true}"#,
        r#"{"d":"2013-03-01","x":-0.0,"m":"-0.01","s":"x, y","w":"2013-03-01T23:59:59.999999","z":"2013-03-01 05:00:00.000001+05:30","b":false,"more":[1]}"#,
        "",
        r#"{"d":"2013-03-02","n":-2147483648,"x":null,"s":"\u00e9","w":"2013-03-02","z":"2013-03-02T00:00:00-05:00"}"#,
        r#"{"d":"2013-03-02","n":7,"x":1e300,"m":0,"s":"a","w":"2013-03-02 10:00","z":"2013-03-02T10:00Z","b":true}"#,
    ];
    project.write("three/a.ndjson", json.join("\n"));
    let three = project.scan(&declared("three/a.ndjson", Format::NdJson)).await.unwrap();
    assert_eq!(content(&three), cells);

    project.parquet("four/a.parquet", &batch());
    let four = project.scan(&declared("four/*.parquet", Format::Parquet)).await.unwrap();
    assert_eq!(content(&four), cells);
    // Types and names from the footer.
    let inferred = SourceSpec { columns: Vec::new(), ..declared("four/*.parquet", Format::Parquet) };
    let five = project.scan(&inferred).await.unwrap();
    assert_eq!(content(&five), cells);
    assert_eq!(five.schema().unwrap(), one.schema().unwrap());
}

fn batch() -> RecordBatch {
    let micros = |values: [i64; 4]| TimestampMicrosecondArray::from(values.to_vec());
    let (d1, day) = (15_765, 86_400_000_000);
    let midnight = i64::from(d1) * day;
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("d", Arc::new(Date32Array::from(vec![d1, d1, d1 + 1, d1 + 1]))),
        ("n", Arc::new(Int32Array::from(vec![Some(1), None, Some(i32::MIN), Some(7)]))),
        ("x", Arc::new(Float64Array::from(vec![Some(1.5), Some(0.0), None, Some(1e300)]))),
        ("m", {
            let cents = Decimal128Array::from(vec![Some(1_230), Some(-1), None, Some(0)]);
            Arc::new(cents.with_precision_and_scale(10, 2).unwrap())
        }),
        ("s", Arc::new(StringArray::from(vec!["a", "x, y", "é", "a"]))),
        (
            "w",
            Arc::new(micros([midnight, midnight + day - 1, midnight + day, midnight + day + 36_000_000_000])),
        ),
        ("z", {
            let five = 18_000_000_000;
            let half = 1_800_000_000;
            let values = [
                midnight + five,
                midnight - half + 1,
                midnight + day + five,
                midnight + day + 36_000_000_000,
            ];
            Arc::new(micros(values).with_timezone("UTC"))
        }),
        ("b", Arc::new(arrow::array::BooleanArray::from(vec![Some(true), Some(false), None, Some(true)]))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[tokio::test]
async fn an_index_survives_being_stored_and_reads_only_what_changed() {
    let project = Project::new();
    project.write("in/a.csv", HEADER.to_owned() + ROWS[0] + "\n" + ROWS[1] + "\n");
    project.write("in/b.csv", HEADER.to_owned() + ROWS[2] + "\n");
    let spec = declared("in/*.csv", csv());
    let first = project.scan(&spec).await.unwrap();
    assert_eq!(first.files_read(), 2);
    let stored = serde_json::to_string(&first).unwrap();
    let known: SourceIndex = serde_json::from_str(&stored).unwrap();
    assert_eq!(content(&known), content(&first));
    let again = project.rescan(&spec, &known).await.unwrap();
    assert_eq!(again.files_read(), 0);
    assert_eq!(content(&again), content(&first));
    // Sums of hashes that are not made any more.
    let mut older: serde_json::Value = serde_json::from_str(&stored).unwrap();
    older.as_object_mut().unwrap().remove("semantics").unwrap();
    let older: SourceIndex = serde_json::from_value(older).unwrap();
    let anew = project.rescan(&spec, &older).await.unwrap();
    assert_eq!((anew.files_read(), content(&anew)), (2, content(&first)));

    project.write("in/b.csv", HEADER.to_owned() + ROWS[2] + "\n" + ROWS[3] + "\n");
    let later = project.rescan(&spec, &again).await.unwrap();
    assert_eq!(later.files_read(), 1);
    assert_eq!(later.cells()[0], first.cells()[0]);
    assert_ne!(later.cells()[1], first.cells()[1]);
    // Present but without rows: the cell is gone, the file is not.
    project.write("in/b.csv", HEADER);
    let emptied = project.rescan(&spec, &later).await.unwrap();
    assert_eq!(emptied.cells().len(), 1);
    assert!(emptied.gone().is_empty());
}

#[tokio::test]
async fn a_corrected_column_changes_its_own_print_alone() {
    let project = Project::new();
    project.write("in/a.csv", HEADER.to_owned() + ROWS[0] + "\n");
    let spec = declared("in/a.csv", csv());
    let first = project.scan(&spec).await.unwrap();
    project.write("in/a.csv", HEADER.to_owned() + &ROWS[0].replace("12.30", "12.31") + "\n");
    let second = project.rescan(&spec, &first).await.unwrap();
    let changed: Vec<&str> = (first.cells()[0].columns.iter().zip(&second.cells()[0].columns))
        .filter(|(old, new)| old != new)
        .map(|(old, _)| old.name.as_str())
        .collect();
    assert_eq!(changed, ["m"]);
}

#[tokio::test]
async fn a_source_reads_as_a_table() {
    let project = Project::new();
    project.write("in/a.csv", HEADER.to_owned() + ROWS[0] + "\n" + ROWS[1] + "\n");
    project.write("in/b.csv", HEADER.to_owned() + ROWS[2] + "\n" + ROWS[3] + "\n");
    let index = project.scan(&declared("in/*.csv", csv())).await.unwrap();
    let table = project.table(&index, Interval::WHOLE);
    let shown = query(table, "SELECT d, n, m, s, z FROM t ORDER BY d, n").await.unwrap();
    insta::assert_snapshot!(shown, @"
    +------------+-------------+-------+------+-----------------------------+
    | d          | n           | m     | s    | z                           |
    +------------+-------------+-------+------+-----------------------------+
    | 2013-03-01 | 1           | 12.30 | a    | 2013-03-01T05:00:00Z        |
    | 2013-03-01 |             | -0.01 | x, y | 2013-02-28T23:30:00.000001Z |
    | 2013-03-02 | -2147483648 |       | é    | 2013-03-02T05:00:00Z        |
    | 2013-03-02 | 7           | 0.00  | a    | 2013-03-02T10:00:00Z        |
    +------------+-------------+-------+------+-----------------------------+
    ");
    let second = project.table(&index, day("UTC", "2013-03-02"));
    let shown = query(second, "SELECT count(*) AS rows, sum(n) AS total FROM t").await.unwrap();
    insta::assert_snapshot!(shown, @"
    +------+-------------+
    | rows | total       |
    +------+-------------+
    | 2    | -2147483641 |
    +------+-------------+
    ");
    let none = oncemore_backend::source::provider(&project.store(), &index, None, None).unwrap();
    let shown = query(none, "SELECT count(*) AS rows FROM t").await.unwrap();
    insta::assert_snapshot!(shown, @"
    +------+
    | rows |
    +------+
    | 0    |
    +------+
    ");
}

#[tokio::test]
async fn a_small_source_is_decoded_once_for_each_version() {
    let project = Project::new();
    project.write("in/a.csv", "a,b\n1,x\n2,y\n");
    let declared = spec("in/a.csv", csv(), "a INTEGER, b TEXT", None);
    let index = project.scan(&declared).await.unwrap();
    let cache = Arc::new(ProviderCache::new(64 << 20));
    let read =
        |index: &SourceIndex| provider(&project.store(), index, Some(Interval::WHOLE), Some(&cache)).unwrap();
    let shown = query(read(&index), "SELECT b, a FROM t ORDER BY a").await.unwrap();
    std::fs::remove_file(project.root().join("in/a.csv")).unwrap();
    assert_eq!(query(read(&index), "SELECT b, a FROM t ORDER BY a").await.unwrap(), shown);
    project.write("in/a.csv", "a,b\n3,x\n");
    let index = project.rescan(&declared, &index).await.unwrap();
    let shown = query(read(&index), "SELECT b, a FROM t ORDER BY a").await.unwrap();
    assert!(shown.contains("| x | 3 |"), "{shown}");
}

#[tokio::test]
async fn other_dialects_of_csv() {
    let project = Project::new();
    project.write("in/a.txt", "1;a,b;\\N\n2;\"c;\"\"d\"\"\";5\n");
    let format = Format::Csv { header: false, delimiter: ';', null: vec!["\\N".to_owned()] };
    let declared = spec("in/a.txt", format, "n INTEGER, s TEXT, m DECIMAL(3,1)", None);
    let index = project.scan(&declared).await.unwrap();
    let shown =
        query(project.table(&index, Interval::WHOLE), "SELECT m, s, n FROM t ORDER BY n").await.unwrap();
    insta::assert_snapshot!(shown, @r#"
    +-----+-------+---+
    | m   | s     | n |
    +-----+-------+---+
    |     | a,b   | 1 |
    | 5.0 | c;"d" | 2 |
    +-----+-------+---+
    "#);
    // Nothing declared: every column is TEXT, a column that a file lacks is NULL.
    project.write("all/a.csv", "a,b\n1,x\n").write("all/b.csv", "c,a\n2,3\n");
    let index = project.scan(&spec("all/*.csv", csv(), "", None)).await.unwrap();
    let shown = query(project.table(&index, Interval::WHOLE), "SELECT * FROM t ORDER BY a").await.unwrap();
    insta::assert_snapshot!(shown, @r"
    +---+---+---+
    | a | b | c |
    +---+---+---+
    | 1 | x |   |
    | 3 |   | 2 |
    +---+---+---+
    ");
}

/// Text and bytes of a file, short and long, many times the same and never, are hashed as those of a batch.
#[tokio::test]
async fn text_of_parquet_is_hashed_as_it_is() {
    let rows = 3_000;
    let word = |row: usize| (!row.is_multiple_of(7)).then(|| "née ".repeat(row % 9) + &row.to_string());
    let texts: ArrayRef = Arc::new((0..rows).map(word).collect::<StringArray>());
    let few: ArrayRef = Arc::new((0..rows).map(|row| word(row % 40)).collect::<StringArray>());
    let bytes: ArrayRef =
        Arc::new((0..rows).map(|row| word(row + 1).map(String::into_bytes)).collect::<BinaryArray>());
    let batch = RecordBatch::try_from_iter([("bytes", bytes), ("few", few), ("texts", texts)]).unwrap();
    let hasher = RowHasher::new(batch.schema_ref(), &[]).unwrap();
    let mut wanted = RowsPrint::new(&hasher);
    wanted.add_batch(&hasher, &batch);
    let wanted = wanted.finish().0;
    for dictionary in [true, false] {
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(dictionary)
            .set_dictionary_page_size_limit(4_096)
            .set_data_page_row_count_limit(500);
        let mut file = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties.build())).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let project = Project::new();
        project.write("in/a.parquet", file);
        let index = project.scan(&spec("in/*.parquet", Format::Parquet, "", None)).await.unwrap();
        assert_eq!(index.cells()[0].fingerprint, wanted, "dictionary {dictionary}");
    }
}

/// More rows than one row group has, in a file that is read in portions: `each` rows a group, of three days in turn.
fn large(each: usize, groups: usize, twice: Option<[usize; 2]>) -> (Vec<RecordBatch>, Vec<u8>) {
    // An odd factor: no number comes twice.
    let number = |row: usize| (row as i64).wrapping_mul(0x9e37_79b9_7f4b) & ((1 << 40) - 1);
    let group = |group: usize| {
        let rows = || group * each..(group + 1) * each;
        let days = rows().map(|row| 15_765 + (row * 3 / (each * groups)) as i32);
        let numbers = rows().map(|row| match twice {
            Some([first, second]) if row == second => number(first),
            _ => number(row),
        });
        let texts = rows().map(|row| (row % 11 != 0).then(|| format!("{row:x}")));
        RecordBatch::try_from_iter([
            ("d", Arc::new(Date32Array::from_iter_values(days)) as ArrayRef),
            ("k", Arc::new(Int64Array::from_iter_values(numbers))),
            ("s", Arc::new(texts.collect::<StringArray>())),
        ])
        .unwrap()
    };
    let batches: Vec<RecordBatch> = (0..groups).map(group).collect();
    let properties = WriterProperties::builder().set_dictionary_enabled(false).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batches[0].schema(), Some(properties)).unwrap();
    for batch in &batches {
        writer.write(batch).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
    assert!(bytes.len() > 8 << 20, "{}", bytes.len());
    (batches, bytes)
}

#[tokio::test]
async fn portions_of_a_large_file_are_the_file() {
    let project = Project::new();
    let (each, groups) = (70_000, 9);
    let (batches, bytes) = large(each, groups, None);
    project.write("large/a.parquet", bytes);
    for (place, batch) in batches.iter().enumerate() {
        project.parquet(&format!("small/{place}.parquet"), batch);
    }
    let keyed = |path: &str| SourceSpec {
        key: vec!["k".to_owned()],
        ..spec(path, Format::Parquet, "d DATE, k BIGINT, s TEXT", Some("d"))
    };
    let large = project.scan(&keyed("large/*.parquet")).await.unwrap();
    let small = project.scan(&keyed("small/*.parquet")).await.unwrap();
    assert_eq!(content(&large), content(&small));
    assert_eq!((large.rows(), large.max_time()), (small.rows(), small.max_time()));
    assert_eq!(content(&large).len(), 3);
    for sql in [
        "SELECT count(*), count(DISTINCT k), sum(k), min(k), max(s), count(s) FROM t",
        "SELECT count(*) FROM t",
        "SELECT d, sum(k) FROM t GROUP BY d ORDER BY d",
    ] {
        let of = async |index| query(project.table(index, Interval::WHOLE), sql).await.unwrap();
        assert_eq!(of(&large).await, of(&small).await, "{sql}");
    }
}

/// Also where the two lie in different portions.
#[tokio::test]
async fn a_key_that_comes_twice_in_a_large_file() {
    let project = Project::new();
    for twice in [[5, 629_999], [3, 4], [629_990, 629_999]] {
        project.write("a.parquet", large(70_000, 9, Some(twice)).1);
        let keyed = SourceSpec {
            key: vec!["k".to_owned()],
            ..spec("a.parquet", Format::Parquet, "k BIGINT, s TEXT", None)
        };
        let error = project.scan(&keyed).await.unwrap_err().to_string();
        let said = format!("rows {} and {} have one key (k)", twice[0] + 1, twice[1] + 1);
        assert!(error.contains(&said), "{error}");
    }
}
