//! How change rows compare: by key, by order, and by all that remains, so that the greatest is one and the same in
//! every run.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float32Array, Float64Array, RecordBatch, new_null_array};
use arrow::datatypes::{DataType, Float32Type, Float64Type, Schema};
use arrow::row::{RowConverter, Rows, SortField};
use xxhash_rust::xxh3::xxh3_64;

use super::DELETED;
use crate::error::{CommitError, Result};
use crate::metadata::schema::is_ours;
use crate::rows::RowHasher;
use crate::stage::internal;

/// A key's values as bytes: equal for equal keys, NULL equal to NULL.
pub(crate) type Key = Box<[u8]>;

/// Keys in no order.
pub(crate) type Keys = HashSet<Key, BuildHasherDefault<KeyHasher>>;

/// Hashes keys, of which there are millions, in one go.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 ^= xxh3_64(bytes);
    }

    /// The length, which is before the bytes: these say it.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Compares change rows of one schema.
#[derive(Debug)]
pub(crate) struct Order {
    key: Part,
    order: Part,
    rest: Part,
    /// Columns that are hashed to find the bucket.
    buckets: (Vec<usize>, RowHasher),
}

/// Some columns, as bytes that compare like their values.
#[derive(Debug)]
struct Part {
    places: Vec<usize>,
    converter: RowConverter,
    /// Whether -0 is 0 and all NaN are one.
    plain: bool,
}

impl Order {
    /// The order of rows with the columns `schema`; buckets are those of all of `key`.
    ///
    /// # Errors
    /// A column that is not there, or one that can't be compared.
    pub(crate) fn new(schema: &Schema, key: &[String], order: &[String]) -> Result<Self> {
        Self::bucketed(schema, key, order, key)
    }

    /// The same with buckets by some columns.
    pub(crate) fn bucketed(
        schema: &Schema,
        key: &[String],
        order: &[String],
        buckets: &[String],
    ) -> Result<Self> {
        let find = |name: &String| {
            let missing = || CommitError::Config(format!("column `{name}` is not among the columns"));
            schema.index_of(name).map_err(|_| missing())
        };
        let key = key.iter().map(find).collect::<Result<Vec<_>>>()?;
        let order = order.iter().map(find).collect::<Result<Vec<_>>>()?;
        let mut rest: Vec<usize> = (0..schema.fields().len())
            .filter(|place| {
                !key.contains(place) && !order.contains(place) && !is_ours(schema.field(*place).name())
            })
            .collect();
        // A deletion first, then by name: the order of columns must not decide.
        rest.sort_by_key(|place| {
            (schema.field(*place).name() != DELETED, schema.field(*place).name().clone())
        });
        let places = buckets.iter().map(find).collect::<Result<Vec<_>>>()?;
        let hashed = schema.project(&places).map_err(internal)?;
        let hasher = RowHasher::new(&hashed, &[])?;
        Ok(Order {
            key: Part::new(schema, key, true)?,
            order: Part::new(schema, order, true)?,
            rest: Part::new(schema, rest, false)?,
            buckets: (places, hasher),
        })
    }

    /// The same, where one of the remaining columns does not count.
    pub(crate) fn without(mut self, schema: &Schema, column: &str) -> Result<Self> {
        let rest = self.rest.places.iter().copied().filter(|place| schema.field(*place).name() != column);
        self.rest = Part::new(schema, rest.collect(), false)?;
        Ok(self)
    }

    /// The keys of the rows.
    pub(crate) fn keys(&self, batch: &RecordBatch) -> Result<Rows> {
        self.key.rows(batch)
    }

    /// What of each row decides beside its key: order, then all that remains.
    pub(crate) fn ranks(&self, batch: &RecordBatch) -> Result<Ranks> {
        Ok(Ranks { order: self.order.rows(batch)?, rest: self.rest.rows(batch)? })
    }

    /// Hashes of the keys; their highest bits name the bucket.
    pub(crate) fn hashes(&self, batch: &RecordBatch) -> Result<Vec<u128>> {
        let mut hashes = Vec::with_capacity(batch.num_rows());
        self.each_hash(batch, |hash| hashes.push(hash))?;
        Ok(hashes)
    }

    /// Hands on the hash of each row's key, in the order of the rows.
    pub(crate) fn each_hash(&self, batch: &RecordBatch, take: impl FnMut(u128)) -> Result<()> {
        let (places, hasher) = &self.buckets;
        hasher.firsts(&batch.project(places).map_err(internal)?, take);
        Ok(())
    }
}

/// Ranks of the rows of one batch; comparable with those of other batches of the same [`Order`].
#[derive(Debug)]
pub(crate) struct Ranks {
    pub(crate) order: Rows,
    pub(crate) rest: Rows,
}

impl Ranks {
    pub(crate) fn compare(&self, row: usize, other: &Ranks, there: usize) -> std::cmp::Ordering {
        self.order
            .row(row)
            .cmp(&other.order.row(there))
            .then_with(|| self.rest.row(row).cmp(&other.rest.row(there)))
    }
}

impl Part {
    fn new(schema: &Schema, places: Vec<usize>, plain: bool) -> Result<Self> {
        // NULL the lowest is the converter's own order.
        let mut fields: Vec<SortField> =
            places.iter().map(|place| SortField::new(schema.field(*place).data_type().clone())).collect();
        if fields.is_empty() {
            // Without columns all rows are equal.
            fields.push(SortField::new(DataType::Null));
        }
        let converter = RowConverter::new(fields).map_err(|error| CommitError::Config(error.to_string()))?;
        Ok(Part { places, converter, plain })
    }

    fn rows(&self, batch: &RecordBatch) -> Result<Rows> {
        let column = |place: &usize| {
            let column = batch.column(*place);
            if self.plain { plain(column) } else { column.clone() }
        };
        let mut columns: Vec<ArrayRef> = self.places.iter().map(column).collect();
        if columns.is_empty() {
            columns.push(new_null_array(&DataType::Null, batch.num_rows()));
        }
        self.converter.convert_columns(&columns).map_err(internal)
    }
}

/// Floats as their fingerprints have them: -0 is 0, one NaN.
fn plain(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Float32 => {
            let values = column.as_primitive::<Float32Type>();
            let plain: Float32Array =
                values.unary(|value| if value.is_nan() { f32::NAN } else { value + 0.0 });
            Arc::new(plain)
        }
        DataType::Float64 => {
            let values = column.as_primitive::<Float64Type>();
            let plain: Float64Array =
                values.unary(|value| if value.is_nan() { f64::NAN } else { value + 0.0 });
            Arc::new(plain)
        }
        _ => column.clone(),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::hash::BuildHasher;

    use arrow::array::{Int64Array, StringArray};

    use super::*;

    /// One row: its key is 1, and nothing is NULL.
    fn row(order: f64, rest: i64, code: &str) -> RecordBatch {
        let columns: [(&str, ArrayRef); 4] = [
            ("key", Arc::new(Int64Array::from(vec![1]))),
            ("order", Arc::new(Float64Array::from(vec![order]))),
            ("rest", Arc::new(Int64Array::from(vec![rest]))),
            ("_code_version", Arc::new(StringArray::from(vec![code]))),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    #[test]
    fn what_decides_is_order_then_the_rest_and_nothing_of_ours() {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let schema = row(0.0, 0, "").schema();
        let order = Order::new(&schema, &["key".to_owned()], &["order".to_owned()]).unwrap();
        let compared = |left: RecordBatch, right: RecordBatch| {
            order.ranks(&left).unwrap().compare(0, &order.ranks(&right).unwrap(), 0)
        };
        assert_eq!(compared(row(1.0, 1, "a"), row(2.0, 0, "a")), Less);
        assert_eq!(compared(row(1.0, 1, "a"), row(1.0, 0, "a")), Greater);
        assert_eq!(compared(row(1.0, 1, "a"), row(1.0, 1, "b")), Equal);
        // What is equal as a value does not decide by its bits.
        assert_eq!(compared(row(-0.0, 1, "a"), row(0.0, 0, "a")), Greater);
        assert_eq!(compared(row(-0.0, 1, "a"), row(0.0, 1, "a")), Equal);
    }

    /// Else each look-up would go through all keys.
    #[test]
    fn keys_are_spread() {
        let hashes = (0..1_000u64).map(|number| {
            let key = Key::from(number.to_le_bytes().as_slice());
            BuildHasherDefault::<KeyHasher>::default().hash_one(&key)
        });
        assert_eq!(hashes.collect::<HashSet<u64>>().len(), 1_000);
    }
}
