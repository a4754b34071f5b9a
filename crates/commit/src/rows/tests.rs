//! Equal values hash equally in whatever array; everything else differs.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use arrow::array::{
    ArrayRef, DictionaryArray, Float32Array, Float64Array, Int16Array, Int32Array, Int64Array,
    LargeStringArray, RecordBatch, StringArray, StringViewArray, TimestampMicrosecondArray,
    TimestampMillisecondArray,
};
use arrow::datatypes::Int8Type;
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
fn different_rows_differ() {
    assert_ne!(one(Int32Array::from(vec![None, Some(0)])), one(Int32Array::from(vec![0, 0])));
    assert_ne!(one(Int32Array::from(vec![1, 1])), one(Int32Array::from(vec![1])));
    assert_ne!(one(TimestampMicrosecondArray::from(vec![1])), one(Int64Array::from(vec![1])));
    let column = |values: [i32; 2]| -> ArrayRef { Arc::new(Int32Array::from(values.to_vec())) };
    let pair = |left, right| print(vec![("a", column(left)), ("b", column(right))], &[]).0;
    assert_ne!(pair([1, 2], [3, 4]), pair([1, 2], [4, 3]), "cells swapped between rows");
    assert_ne!(pair([1, 2], [3, 4]), pair([3, 4], [1, 2]), "cells swapped between columns");
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
