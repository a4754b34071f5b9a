//! Places in an order, and the rows at places, in the order of these. As Arrow's own `take`, but that short text, of
//! which folds move much, is copied in steps of a fixed size: a call of `memmove` for each value took a tenth of a first
//! load.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, GenericByteArray, RecordBatch, RecordBatchOptions, UInt32Array,
};
use arrow::buffer::{BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::take;
use arrow::datatypes::{BinaryType, ByteArrayType, DataType, Utf8Type};

use crate::error::Result;
use crate::stage::internal;

/// Bytes copied in one step.
const STEP: usize = 16;

/// The rows at `places`.
pub(crate) fn rows_at(rows: &RecordBatch, places: &UInt32Array) -> Result<RecordBatch> {
    let column = |column: &ArrayRef| match column.data_type() {
        DataType::Utf8 => bytes_at::<Utf8Type>(column.as_bytes(), places.values()),
        DataType::Binary => bytes_at::<BinaryType>(column.as_bytes(), places.values()),
        _ => take(column, places, None).map_err(internal),
    };
    let columns = rows.columns().iter().map(column).collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(places.len()));
    RecordBatch::try_new_with_options(rows.schema(), columns, &options).map_err(internal)
}

/// Places in the order of the numbers that they have, all below `end`, and where the places of each number end.
pub(super) fn by_number(numbers: &[usize], end: usize) -> (Vec<u32>, Vec<usize>) {
    let mut next = vec![0; end];
    numbers.iter().for_each(|number| next[*number] += 1);
    let mut all = 0;
    for count in &mut next {
        all += std::mem::replace(count, all);
    }
    let mut places = vec![0; numbers.len()];
    for (place, number) in (0u32..).zip(numbers) {
        places[next[*number]] = place;
        next[*number] += 1;
    }
    // Where the next number begins, by now.
    (places, next)
}

fn bytes_at<T: ByteArrayType<Offset = i32>>(from: &GenericByteArray<T>, places: &[u32]) -> Result<ArrayRef> {
    let (starts, bytes) = (from.value_offsets(), from.value_data());
    let range = |place: &u32| {
        let place = *place as usize;
        starts[place] as usize..starts[place + 1] as usize
    };
    let mut offsets = Vec::with_capacity(places.len() + 1);
    let mut length = 0;
    offsets.push(0);
    for place in places {
        length += range(place).len();
        offsets.push(i32::try_from(length).map_err(internal)?);
    }
    // A step may reach into what the next value overwrites.
    let mut values = vec![0; length + STEP];
    for (place, at) in places.iter().zip(&offsets) {
        copy(bytes, range(place), &mut values, *at as usize);
    }
    values.truncate(length);
    let nulls = from.nulls().map(|nulls| {
        NullBuffer::new(BooleanBuffer::collect_bool(places.len(), |row| nulls.is_valid(places[row] as usize)))
    });
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(Arc::new(GenericByteArray::<T>::try_new(offsets, values.into(), nulls).map_err(internal)?))
}

/// Copies a range to the place `at`, and perhaps what comes after it.
#[inline]
fn copy(from: &[u8], range: std::ops::Range<usize>, to: &mut [u8], at: usize) {
    let length = range.len();
    let mut done = 0;
    while done < length {
        let (source, target) = (range.start + done, at + done);
        // Of a length that is known when this is compiled: no call.
        match (from[source..].first_chunk::<STEP>(), to[target..].first_chunk_mut::<STEP>()) {
            (Some(from), Some(to)) => *to = *from,
            _ => return to[target..at + length].copy_from_slice(&from[source..range.end]),
        }
        done += STEP;
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use arrow::array::{BinaryArray, Int64Array, StringArray};
    use arrow::compute::take_record_batch;

    use super::*;

    #[test]
    fn rows_are_those_that_arrow_takes() {
        let words =
            |row: usize| (row % 7 != 3).then(|| "née ü0123456789".repeat(row % 5) + &"x".repeat(row % 19));
        let rows = 200;
        let text: StringArray = (0..rows).map(words).collect();
        let bytes: BinaryArray = (0..rows).map(|row| words(row + 1).map(String::into_bytes)).collect();
        let columns: [(&str, ArrayRef); 3] = [
            ("text", Arc::new(text)),
            ("bytes", Arc::new(bytes)),
            ("number", Arc::new(Int64Array::from_iter_values(0..rows as i64))),
        ];
        let rows = RecordBatch::try_from_iter(columns).unwrap();
        let part = rows.slice(13, 101);
        let none = UInt32Array::from(Vec::<u32>::new());
        let orders = [
            UInt32Array::from_iter_values((0..101).rev()),
            UInt32Array::from_iter_values([7, 7, 100, 0]),
            none,
        ];
        for places in orders {
            assert_eq!(rows_at(&part, &places).unwrap(), take_record_batch(&part, &places).unwrap());
            assert_eq!(rows_at(&rows, &places).unwrap(), take_record_batch(&rows, &places).unwrap());
        }
    }
}
