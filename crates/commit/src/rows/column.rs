//! From an Arrow array to the hashes of its values, a column at a time.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, PrimitiveArray, downcast_dictionary_array};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};

use super::cell::Seeds;

const MILLIS_PER_DAY: i64 = 86_400_000;

/// Where the hashes of a column go: added to both hashes of each row, and kept where a key needs them.
struct Sink<'a> {
    seeds: &'a Seeds,
    first: &'a mut [u128],
    second: &'a mut [u128],
    cells: Option<&'a mut [u128]>,
}

impl Sink<'_> {
    #[inline]
    fn put(&mut self, row: usize, (one, two): (u128, u128)) {
        self.first[row] = self.first[row].wrapping_add(one);
        self.second[row] = self.second[row].wrapping_add(two);
        if let Some(cells) = &mut self.cells {
            cells[row] = one;
        }
    }

    /// Hashes each row's value, or NULL.
    #[inline]
    fn each(&mut self, array: &dyn Array, value: impl Fn(&Seeds, usize) -> (u128, u128)) {
        let seeds = self.seeds;
        match array.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => (0..array.len()).for_each(|row| self.put(row, value(seeds, row))),
            Some(nulls) => (0..array.len()).for_each(|row| {
                self.put(row, if nulls.is_valid(row) { value(seeds, row) } else { seeds.null });
            }),
        }
    }

    #[inline]
    fn words<T: ArrowPrimitiveType>(&mut self, array: &PrimitiveArray<T>, word: impl Fn(T::Native) -> i64) {
        let values: &[T::Native] = array.values();
        self.each(array, |seeds, row| seeds.word(word(values[row]) as u64));
    }

    #[inline]
    fn wides<T: ArrowPrimitiveType>(&mut self, array: &PrimitiveArray<T>, wide: impl Fn(T::Native) -> i128) {
        let values: &[T::Native] = array.values();
        self.each(array, |seeds, row| seeds.wide(wide(values[row])));
    }

    fn booleans(&mut self, array: &BooleanArray) {
        self.each(array, |seeds, row| seeds.word(u64::from(array.value(row))));
    }
}

/// Adds the hashes of a column's values to the hashes of the rows; keeps the first hash of each value in `cells`.
pub(super) fn hash(
    array: &dyn Array,
    seeds: &Seeds,
    first: &mut [u128],
    second: &mut [u128],
    cells: Option<&mut [u128]>,
) {
    let mut sink = Sink { seeds, first, second, cells };
    match array.data_type() {
        DataType::Boolean => sink.booleans(array.as_boolean()),
        DataType::Int8 => sink.words(array.as_primitive::<Int8Type>(), i64::from),
        DataType::Int16 => sink.words(array.as_primitive::<Int16Type>(), i64::from),
        DataType::Int32 => sink.words(array.as_primitive::<Int32Type>(), i64::from),
        DataType::Int64 => sink.words(array.as_primitive::<Int64Type>(), |value| value),
        DataType::UInt8 => sink.words(array.as_primitive::<UInt8Type>(), i64::from),
        DataType::UInt16 => sink.words(array.as_primitive::<UInt16Type>(), i64::from),
        DataType::UInt32 => sink.words(array.as_primitive::<UInt32Type>(), i64::from),
        DataType::UInt64 => sink.wides(array.as_primitive::<UInt64Type>(), i128::from),
        DataType::Float16 => sink.words(array.as_primitive::<Float16Type>(), |value| float(value.to_f64())),
        DataType::Float32 => sink.words(array.as_primitive::<Float32Type>(), |value| float(f64::from(value))),
        DataType::Float64 => sink.words(array.as_primitive::<Float64Type>(), float),
        DataType::Decimal32(..) => sink.wides(array.as_primitive::<Decimal32Type>(), i128::from),
        DataType::Decimal64(..) => sink.wides(array.as_primitive::<Decimal64Type>(), i128::from),
        DataType::Decimal128(..) => sink.wides(array.as_primitive::<Decimal128Type>(), |value| value),
        DataType::Date32 => sink.words(array.as_primitive::<Date32Type>(), i64::from),
        DataType::Date64 => {
            sink.words(array.as_primitive::<Date64Type>(), |millis| millis.div_euclid(MILLIS_PER_DAY));
        }
        DataType::Timestamp(unit, _) => timestamps(&mut sink, array, *unit),
        DataType::Dictionary(..) => dictionary(&mut sink, array),
        _ => bytes(&mut sink, array),
    }
}

fn timestamps(sink: &mut Sink<'_>, array: &dyn Array, unit: TimeUnit) {
    match unit {
        TimeUnit::Second => {
            sink.words(array.as_primitive::<TimestampSecondType>(), |value| value.saturating_mul(1_000_000));
        }
        TimeUnit::Millisecond => {
            sink.words(array.as_primitive::<TimestampMillisecondType>(), |value| value.saturating_mul(1_000));
        }
        TimeUnit::Microsecond => sink.words(array.as_primitive::<TimestampMicrosecondType>(), |value| value),
        TimeUnit::Nanosecond => {
            sink.words(array.as_primitive::<TimestampNanosecondType>(), |value| value.div_euclid(1_000));
        }
    }
}

/// Hashes each distinct value once.
fn dictionary(sink: &mut Sink<'_>, array: &dyn Array) {
    downcast_dictionary_array!(
        array => {
            let values: &ArrayRef = array.values();
            let (mut first, mut second) = (vec![0; values.len()], vec![0; values.len()]);
            hash(values.as_ref(), sink.seeds, &mut first, &mut second, None);
            for row in 0..array.len() {
                let place = array.key(row);
                sink.put(row, place.map_or(sink.seeds.null, |place| (first[place], second[place])));
            }
        },
        _ => unreachable!("only called for dictionaries")
    );
}

fn bytes(sink: &mut Sink<'_>, array: &dyn Array) {
    match array.data_type() {
        DataType::Utf8 => {
            let values = array.as_string::<i32>();
            sink.each(array, |seeds, row| seeds.bytes(values.value(row).as_bytes()));
        }
        DataType::LargeUtf8 => {
            let values = array.as_string::<i64>();
            sink.each(array, |seeds, row| seeds.bytes(values.value(row).as_bytes()));
        }
        DataType::Utf8View => {
            let values = array.as_string_view();
            sink.each(array, |seeds, row| seeds.bytes(values.value(row).as_bytes()));
        }
        DataType::Binary => {
            let values = array.as_binary::<i32>();
            sink.each(array, |seeds, row| seeds.bytes(values.value(row)));
        }
        DataType::LargeBinary => {
            let values = array.as_binary::<i64>();
            sink.each(array, |seeds, row| seeds.bytes(values.value(row)));
        }
        DataType::BinaryView => {
            let values = array.as_binary_view();
            sink.each(array, |seeds, row| seeds.bytes(values.value(row)));
        }
        DataType::FixedSizeBinary(_) => {
            let values = array.as_fixed_size_binary();
            sink.each(array, |seeds, row| seeds.bytes(values.value(row)));
        }
        other => unreachable!("`RowHasher::new` refuses {other}"),
    }
}

/// The bits of a float where -0 is 0 and all NaN are one.
#[inline]
fn float(value: f64) -> i64 {
    let canonical = if value.is_nan() { f64::NAN } else { value + 0.0 };
    canonical.to_bits() as i64
}
