//! From an Arrow array to the hashes of its values, a column at a time.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, PrimitiveArray, downcast_dictionary_array};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};

use super::cell::{Pair, Seeds};

const MILLIS_PER_DAY: i64 = 86_400_000;

/// Where the hashes of a column's values go, a place a row.
#[derive(Debug)]
pub(super) enum Sums<'a> {
    /// Added to the first hash.
    First(&'a mut [u128]),
    /// Added to both hashes.
    Both(&'a mut [u128], &'a mut [u128]),
    /// Added to both hashes; the first one of each value is kept.
    Cells(&'a mut [u128], &'a mut [u128], &'a mut [u128]),
}

/// Hashes the values of a column.
struct Sink<'a> {
    seeds: &'a Seeds,
    sums: Sums<'a>,
}

impl Sink<'_> {
    /// Takes the hashes of the rows in their order.
    #[inline]
    fn put(&mut self, hashes: impl Iterator<Item = Pair>) {
        fn add(sum: &mut u128, hash: u128) {
            *sum = sum.wrapping_add(hash);
        }
        match &mut self.sums {
            Sums::First(first) => first.iter_mut().zip(hashes).for_each(|(first, (one, _))| add(first, one)),
            Sums::Both(first, second) => {
                first.iter_mut().zip(second.iter_mut()).zip(hashes).for_each(
                    |((first, second), (one, two))| {
                        add(first, one);
                        add(second, two);
                    },
                );
            }
            Sums::Cells(first, second, cells) => {
                let rows = first.iter_mut().zip(second.iter_mut()).zip(cells.iter_mut());
                rows.zip(hashes).for_each(|(((first, second), cell), (one, two))| {
                    add(first, one);
                    add(second, two);
                    *cell = one;
                });
            }
        }
    }

    /// Hashes each row's value, or NULL.
    #[inline]
    fn each<V>(
        &mut self,
        array: &dyn Array,
        values: impl Iterator<Item = V>,
        mut hash: impl FnMut(V) -> Pair,
    ) {
        let null = self.seeds.null();
        match array.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => self.put(values.map(hash)),
            Some(nulls) => {
                let or_null = |(valid, value)| if valid { hash(value) } else { null };
                self.put(nulls.iter().zip(values).map(or_null));
            }
        }
    }

    #[inline]
    fn words<T: ArrowPrimitiveType>(&mut self, array: &PrimitiveArray<T>, word: impl Fn(T::Native) -> i64) {
        let words = array.values().iter().map(|value| word(*value) as u64);
        let seeds = self.seeds;
        self.each(array, words, once_a_run(|word| seeds.word(word)));
    }

    #[inline]
    fn wides<T: ArrowPrimitiveType>(&mut self, array: &PrimitiveArray<T>, wide: impl Fn(T::Native) -> i128) {
        let wides = array.values().iter().map(|value| wide(*value));
        let seeds = self.seeds;
        self.each(array, wides, once_a_run(|wide| seeds.wide(wide)));
    }

    fn booleans(&mut self, array: &BooleanArray) {
        let seeds = self.seeds;
        self.each(array, array.values().iter().map(u64::from), |word| seeds.word(word));
    }

    /// Values of NULL rows may be anything.
    #[inline]
    fn slices<'a>(&mut self, array: &dyn Array, value: impl Fn(usize) -> &'a [u8]) {
        let seeds = self.seeds;
        self.each(array, (0..array.len()).map(value), |value| seeds.bytes(value));
    }
}

/// Hashes a value that comes again right away once: times of a slice, versions, and what rows are ordered by come in runs.
#[inline]
fn once_a_run<V: Copy + PartialEq>(hash: impl Fn(V) -> Pair) -> impl FnMut(V) -> Pair {
    let mut last: Option<(V, Pair)> = None;
    move |value| match last {
        Some((same, pair)) if same == value => pair,
        _ => {
            let pair = hash(value);
            last = Some((value, pair));
            pair
        }
    }
}

/// Adds the hashes of a column's values to the hashes of the rows.
pub(super) fn hash(array: &dyn Array, seeds: &Seeds, sums: Sums<'_>) {
    let mut sink = Sink { seeds, sums };
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
            hash(values.as_ref(), sink.seeds, Sums::Both(&mut first, &mut second));
            let null = sink.seeds.null();
            let pair = |place: Option<usize>| place.map_or(null, |place| (first[place], second[place]));
            sink.put((0..array.len()).map(|row| pair(array.key(row))));
        },
        _ => unreachable!("only called for dictionaries")
    );
}

fn bytes(sink: &mut Sink<'_>, array: &dyn Array) {
    match array.data_type() {
        DataType::Utf8 => {
            let values = array.as_string::<i32>();
            sink.slices(array, |row| values.value(row).as_bytes());
        }
        DataType::LargeUtf8 => {
            let values = array.as_string::<i64>();
            sink.slices(array, |row| values.value(row).as_bytes());
        }
        DataType::Utf8View => {
            let values = array.as_string_view();
            sink.slices(array, |row| values.value(row).as_bytes());
        }
        DataType::Binary => {
            let values = array.as_binary::<i32>();
            sink.slices(array, |row| values.value(row));
        }
        DataType::LargeBinary => {
            let values = array.as_binary::<i64>();
            sink.slices(array, |row| values.value(row));
        }
        DataType::BinaryView => {
            let values = array.as_binary_view();
            sink.slices(array, |row| values.value(row));
        }
        DataType::FixedSizeBinary(_) => {
            let values = array.as_fixed_size_binary();
            sink.slices(array, |row| values.value(row));
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
