//! Equal values hash equally in whatever array; everything else differs.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array,
    Float64Array, Int16Array, Int32Array, Int64Array, LargeStringArray, RecordBatch, StringArray,
    StringViewArray, TimestampMicrosecondArray, TimestampMillisecondArray,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int8Type, TimeUnit};
use oncemore_core::{ColumnPrint, Fingerprint};

use super::{RowHasher, RowsPrint};

fn print(columns: Vec<(&str, ArrayRef)>, key: &[&str]) -> (Fingerprint, Vec<ColumnPrint>) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let key: Vec<String> = key.iter().map(|name| (*name).to_owned()).collect();
    let hasher = RowHasher::new(batch.schema_ref(), &key).unwrap();
    let mut print = RowsPrint::new(&hasher);
    print.add(&hasher.hash(&batch));
    let mut by_row = RowsPrint::new(&hasher);
    by_row.add_rows(&hasher.hash(&batch), (0..batch.num_rows()).rev());
    assert_eq!(print.clone().finish(), by_row.finish());
    print.finish()
}

fn one(array: impl arrow::array::Array + 'static) -> Fingerprint {
    print(vec![("c", Arc::new(array))], &[]).0
}

#[test]
fn encodings_of_equal_values_are_equal() {
    let texts = vec![Some("a"), None, Some("a text longer than twelve bytes")];
    let text = one(StringArray::from(texts.clone()));
    assert_eq!(text, one(LargeStringArray::from(texts.clone())));
    assert_eq!(text, one(StringViewArray::from(texts.clone())));
    assert_eq!(text, one(texts.into_iter().collect::<DictionaryArray<Int8Type>>()));
    assert_eq!(one(Int16Array::from(vec![-3, 4])), one(Int64Array::from(vec![4, -3])));
    assert_eq!(one(Float32Array::from(vec![0.5, -0.0])), one(Float64Array::from(vec![0.0, 0.5])));
    let odd_nan = f64::from_bits(f64::NAN.to_bits() | 1 | 1 << 63);
    assert_eq!(one(Float64Array::from(vec![f64::NAN])), one(Float64Array::from(vec![odd_nan])));
    let micros = TimestampMicrosecondArray::from(vec![-1_000]).with_timezone("UTC");
    assert_eq!(one(micros), one(TimestampMillisecondArray::from(vec![-1]).with_timezone("Asia/Kolkata")));
}

#[test]
fn widths_of_equal_values_are_equal() {
    use DataType as T;
    let time = |unit| T::Timestamp(unit, None);
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), None, Some(0), Some(100)]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("abcd"), None, Some("efgh"), Some("ijkl")]));
    let dates: ArrayRef = Arc::new(Date32Array::from(vec![Some(-3), None, Some(0), Some(20_000)]));
    let decimals: ArrayRef = Arc::new(Decimal128Array::from(vec![Some(-3), None, Some(0), Some(70)]));
    let decimals = cast(&decimals, &T::Decimal128(9, 2)).unwrap();
    let bytes = cast(&texts, &T::Binary).unwrap();
    let (floats, times) = (T::Float64, time(TimeUnit::Microsecond));
    let floats = cast(&numbers, &floats).unwrap();
    let times = cast(&cast(&numbers, &time(TimeUnit::Second)).unwrap(), &times).unwrap();
    for (array, kinds) in [
        (&numbers, vec![T::Int8, T::Int16, T::Int32, T::UInt8, T::UInt16, T::UInt32]),
        (&floats, vec![T::Float16, T::Float32]),
        (&texts, vec![T::LargeUtf8, T::Utf8View]),
        (&bytes, vec![T::LargeBinary, T::BinaryView, T::FixedSizeBinary(4)]),
        (&dates, vec![T::Date64]),
        (&decimals, vec![T::Decimal32(9, 2), T::Decimal64(9, 2)]),
        (&times, vec![time(TimeUnit::Second), time(TimeUnit::Millisecond), time(TimeUnit::Nanosecond)]),
    ] {
        let wanted = print(vec![("c", array.clone())], &[]);
        for kind in kinds {
            let other = cast(array, &kind).unwrap();
            assert_eq!(print(vec![("c", other)], &[]), wanted, "{kind}");
        }
    }
}

/// They lie in stamps: of another hash all tables would look changed. Whoever means it needs a new `SEMANTICS`.
#[test]
fn hashes_stay_what_they_are() {
    let texts = || (0..40).map(|length| "abcdefghijklmnopqrstuvwxyz0123456789ABCDE"[..length].to_owned());
    let numbers = || [0, 1, -1, i64::MAX, i64::MIN, 1 << 40].into_iter();
    let decimals = Decimal128Array::from(vec![0, 1, -1, 10_i128.pow(37), -(10_i128.pow(37))]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("boolean", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None]))),
        ("integer", Arc::new(Int64Array::from_iter_values(numbers()))),
        ("float", Arc::new(Float64Array::from(vec![0.5, -0.0, f64::NAN, f64::NEG_INFINITY]))),
        ("decimal", Arc::new(decimals.with_precision_and_scale(38, 3).unwrap())),
        ("text", Arc::new(StringArray::from_iter_values(texts()))),
        ("binary", Arc::new(BinaryArray::from_iter_values(texts()))),
        ("date", Arc::new(Date32Array::from(vec![Some(-1), Some(20_000), None]))),
        ("time", Arc::new(TimestampMicrosecondArray::from_iter_values(numbers()))),
        ("zoned", Arc::new(TimestampMicrosecondArray::from_iter_values(numbers()).with_timezone("UTC"))),
    ];
    let found = columns.into_iter().map(|(name, column)| {
        let (rows, columns) = print(vec![(name, column)], &[name]);
        let sums = [rows.first, rows.second, columns[0].print].map(u128::to_le_bytes).concat();
        (name, format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&sums)))
    });
    assert_eq!(found.collect::<Vec<_>>(), HASHES.map(|(name, hash)| (name, hash.to_owned())));
}

/// Of the sums of all hashes of a column, which is its own key.
const HASHES: [(&str, &str); 9] = [
    ("boolean", "8bdc1e2dc67aa9f40781c4fadfd7aa8f"),
    ("integer", "b2e227914f31bc23fa5c023f4f4ef63d"),
    ("float", "342616a383cc0c593cf9969f295e6b52"),
    ("decimal", "63757e7249371ef4a8d7d28e61d3629c"),
    ("text", "219a7fe5b393c8b2eadc0a528e2c3183"),
    ("binary", "21b42ef1df98e7320537c1449c81220e"),
    ("date", "b1f0739f5e27db30a4efeb919c4532e0"),
    ("time", "825238bbf6a25412b686ccc7649eb307"),
    ("zoned", "da7bbdc3b441fafd7f35098e2c4912fc"),
];

/// Fails unless each of both hashes tells the rows apart by itself.
fn differ(one: Fingerprint, other: Fingerprint, what: &str) {
    assert_ne!(one.first, other.first, "{what}");
    assert_ne!(one.second, other.second, "{what}");
}

#[test]
fn different_rows_differ() {
    let with_null = one(Int32Array::from(vec![None, Some(0)]));
    differ(with_null, one(Int32Array::from(vec![0, 0])), "NULL and a value");
    differ(one(Int32Array::from(vec![1, 1])), one(Int32Array::from(vec![1])), "twice and once");
    differ(one(TimestampMicrosecondArray::from(vec![1])), one(Int64Array::from(vec![1])), "types");
    let column = |values: [i32; 2]| -> ArrayRef { Arc::new(Int32Array::from(values.to_vec())) };
    let pair = |left, right| print(vec![("a", column(left)), ("b", column(right))], &[]).0;
    differ(pair([1, 2], [3, 4]), pair([1, 2], [4, 3]), "cells swapped between rows");
    differ(pair([1, 2], [3, 4]), pair([3, 4], [1, 2]), "cells swapped between columns");
}

/// Values that come many times, NULL among them, hash as each by itself; the first hash alone is what it is beside others.
#[test]
fn runs_and_single_hashes_are_those_of_rows() {
    let numbers = [1, 1, 1, 2, 2, 1].into_iter().map(Some).chain([None, None, Some(2), None, Some(2)]);
    let column: ArrayRef = Arc::new(numbers.collect::<Int64Array>());
    let batch = RecordBatch::try_from_iter([("c", column)]).unwrap();
    let hasher = RowHasher::new(batch.schema_ref(), &["c".to_owned()]).unwrap();
    let hashed = hasher.hash(&batch);
    let mut firsts = Vec::new();
    hasher.firsts(&batch, |hash| firsts.push(hash));
    assert_eq!(firsts, hashed.first);
    for row in 0..batch.num_rows() {
        let own = hasher.hash(&batch.slice(row, 1));
        assert_eq!((own.first[0], own.second[0]), (hashed.first[row], hashed.second[row]), "{row}");
        assert_eq!(own.columns[0][0], hashed.columns[0][row], "{row}");
    }
}

/// Cells change places between rows of other keys: the print of their column shows it, whatever the values are.
#[test]
fn a_cell_is_tied_to_its_key() {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1_000));
    let of = |values: Vec<i64>| {
        let values: ArrayRef = Arc::new(Int64Array::from(values));
        print(vec![("id", ids.clone()), ("a", values)], &["id"]).1[0].print
    };
    let values: Vec<i64> = (0..1_000).map(|row| row % 7).collect();
    let prints = (0..999).map(|row| {
        let mut swapped = values.clone();
        swapped.swap(row, row + 1);
        of(swapped)
    });
    let mut prints: Vec<u128> = prints.chain([of(values.clone())]).collect();
    prints.sort_unstable();
    prints.dedup();
    // No two neighbours are equal.
    assert_eq!(prints.len(), 1_000);
}

#[test]
fn order_of_columns_does_not_matter() {
    let a: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let b: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
    let forward = print(vec![("a", a.clone()), ("b", b.clone())], &["a"]);
    assert_eq!(forward, print(vec![("b", b), ("a", a)], &["a"]));
}

#[test]
fn prints_of_columns_follow_their_column_alone() {
    let ids: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let column = |values: [i32; 2]| -> ArrayRef { Arc::new(Int32Array::from(values.to_vec())) };
    let of = |a, b| print(vec![("id", ids.clone()), ("a", column(a)), ("b", column(b))], &["id"]).1;
    let (before, after) = (of([5, 6], [7, 8]), of([5, 6], [8, 7]));
    let changed: Vec<&str> = before
        .iter()
        .zip(&after)
        .filter(|(before, after)| before != after)
        .map(|(before, _)| before.name.as_str())
        .collect();
    assert_eq!(changed, ["b"]);
    let batch = RecordBatch::try_from_iter([("b", column([1, 2])), ("a", column([1, 2]))]).unwrap();
    let hasher = RowHasher::new(batch.schema_ref(), &["b".to_owned()]).unwrap();
    assert_eq!(hasher.names().collect::<Vec<_>>(), ["a", "b"]);
}

/// One bit of input changes about half of the bits of each hash.
#[test]
fn bits_avalanche() {
    let base = 0x0123_4567_i64;
    let mut values = vec![base];
    values.extend((0..63).map(|bit| base ^ 1 << bit));
    let batch = RecordBatch::try_from_iter([("c", Arc::new(Int64Array::from(values)) as ArrayRef)]).unwrap();
    let rows = RowHasher::new(batch.schema_ref(), &[]).unwrap().hash(&batch);
    for hashes in [&rows.first, &rows.second] {
        for hash in &hashes[1..] {
            let flipped = (hash ^ hashes[0]).count_ones();
            assert!((36..=92).contains(&flipped), "{flipped} of 128 bits");
        }
    }
}

/// Speed, shown with `--nocapture`; the bound is loose for loaded machines.
#[test]
fn ten_million_rows_by_nine_columns_are_fast() {
    let rows = 8192;
    let ints: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
    let floats: ArrayRef = Arc::new(Float64Array::from_iter_values((0..rows).map(|value| value as f64)));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..rows).map(|value| format!("N{value}"))));
    let columns = (0..9).map(|place| {
        let array = [&ints, &floats, &ints, &texts][place % 4].clone();
        (format!("c{place}"), array)
    });
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let hasher = RowHasher::new(batch.schema_ref(), &[]).unwrap();
    let mut print = RowsPrint::new(&hasher);
    let start = std::time::Instant::now();
    for _ in 0..122 {
        print.add(&hasher.hash(&batch));
    }
    let seconds = start.elapsed().as_secs_f64() * 10.0;
    assert_eq!(print.finish().0.rows, 122 * 8192);
    assert!(seconds < 15.0, "{seconds:.2} s for ten million rows");
    let mut out = std::io::stderr();
    std::io::Write::write_fmt(&mut out, format_args!("{seconds:.2} s for ten million rows\n")).unwrap();
}
