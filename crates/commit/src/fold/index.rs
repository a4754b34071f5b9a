//! Where rows of which bucket lie in a file whose rows are ordered by bucket. The file says so itself, in its footer,
//! for every so many rows; a file that says nothing is read whole.

use std::ops::Range;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use parquet::file::metadata::{FileMetaData, KeyValue};

use super::store::{Buckets, Unit};
use crate::error::Result;
use crate::rows::RowHasher;
use crate::stage::internal;

/// The footer's word for it.
const NAME: &str = "oncemore.buckets";
/// Of so many rows the first is looked at.
const STRIDE: usize = 256;

/// The buckets that rows of one unit are ordered by in a file.
pub(crate) fn buckets_of(unit: Unit, rows: u64) -> Buckets {
    let finer = Buckets::ONE.grown(rows, STRIDE as u64);
    Buckets { bits: unit.buckets.bits + finer.bits }
}

/// Looks at rows as they are written, in order of their bucket.
#[derive(Debug)]
pub(crate) struct Sampler {
    buckets: Buckets,
    key: Vec<usize>,
    hasher: RowHasher,
    seen: usize,
    sampled: Vec<u64>,
}

impl Sampler {
    /// A sampler of rows with the columns `schema`, whose buckets are those of `key`.
    pub(crate) fn new(schema: &Schema, key: &[String], buckets: Buckets) -> Result<Self> {
        let key = key.iter().map(|name| schema.index_of(name).map_err(internal));
        let key = key.collect::<Result<Vec<_>>>()?;
        let columns = schema.project(&key).map_err(internal)?;
        let hasher = RowHasher::new(&columns, &[])?;
        Ok(Sampler { buckets, key, hasher, seen: 0, sampled: Vec::new() })
    }

    pub(crate) fn add(&mut self, rows: &RecordBatch) -> Result<()> {
        let keys = rows.project(&self.key).map_err(internal)?;
        let first = (STRIDE - self.seen % STRIDE) % STRIDE;
        for row in (first..rows.num_rows()).step_by(STRIDE) {
            let sampled = &mut self.sampled;
            self.hasher.firsts(&keys.slice(row, 1), |hash| sampled.push(self.buckets.of(hash)));
        }
        self.seen += rows.num_rows();
        Ok(())
    }

    /// What the footer says; nothing where the rows were in another order.
    pub(crate) fn finish(self) -> Option<KeyValue> {
        self.sampled.is_sorted().then(|| {
            let mut last = 0;
            let steps = self
                .sampled
                .iter()
                .map(|bucket| (bucket - std::mem::replace(&mut last, *bucket)).to_string());
            let steps = steps.collect::<Vec<_>>().join(" ");
            KeyValue::new(NAME.to_owned(), format!("{} {steps}", self.buckets.bits))
        })
    }
}

/// What a file says of the buckets of its rows.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) buckets: Buckets,
    /// The bucket of every so many rows' first.
    sampled: Vec<u64>,
    rows: usize,
}

impl Index {
    pub(crate) fn of(file: &FileMetaData) -> Option<Index> {
        let rows = usize::try_from(file.num_rows()).ok()?;
        let said = file.key_value_metadata()?.iter().find(|pair| pair.key == NAME)?;
        let mut numbers = said.value.as_ref()?.split(' ').map(str::parse::<u64>);
        let bits = u32::try_from(numbers.next()?.ok()?).ok().filter(|bits| *bits <= 64)?;
        let mut last = 0u64;
        let sampled = numbers.map(|step| {
            last = last.checked_add(step.ok()?)?;
            Some(last)
        });
        let sampled = sampled.collect::<Option<Vec<u64>>>()?;
        (sampled.len() == rows.div_ceil(STRIDE)).then_some(Index { buckets: Buckets { bits }, sampled, rows })
    }

    /// Where the rows of buckets lie, others around them.
    fn rows_of(&self, first: u64, last: u64) -> Range<usize> {
        let from = self.sampled.partition_point(|bucket| *bucket < first).saturating_sub(1) * STRIDE;
        let to = self.sampled.partition_point(|bucket| *bucket <= last) * STRIDE;
        from.min(self.rows)..to.clamp(from.min(self.rows), self.rows)
    }

    /// Where the rows of a part of all keys lie.
    pub(crate) fn rows_of_part(&self, part: Unit) -> Range<usize> {
        self.rows_of(self.buckets.of(part.first()), self.buckets.of(part.last()))
    }

    /// Where the rows of these buckets lie, which are in order.
    pub(crate) fn rows_of_buckets(&self, buckets: impl Iterator<Item = u64>) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for bucket in buckets {
            let rows = self.rows_of(bucket, bucket);
            match found.last_mut() {
                Some(last) if rows.start <= last.end => last.end = last.end.max(rows.end),
                _ => found.push(rows),
            }
        }
        found
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array};

    use super::*;
    use crate::fold::Order;
    use crate::fold::decide::in_buckets;

    #[test]
    fn every_row_lies_where_its_bucket_is_said_to() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..20_000));
        let rows = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
        let key = ["n".to_owned()];
        let order = Order::new(&rows.schema(), &key, &[]).unwrap();
        let buckets = buckets_of(Unit::ALL, 20_000);
        assert_eq!(buckets, Buckets { bits: 7 });
        let rows = in_buckets(&order, &rows, buckets).unwrap();
        let mut sampler = Sampler::new(&rows.schema(), &key, buckets).unwrap();
        for from in (0..20_000).step_by(700) {
            sampler.add(&rows.slice(from, 700.min(20_000 - from))).unwrap();
        }
        let said = sampler.finish().unwrap();
        let file = FileMetaData::new(1, 20_000, None, Some(vec![said]), schema(), None);
        let index = Index::of(&file).unwrap();
        for (row, hash) in order.hashes(&rows).unwrap().into_iter().enumerate() {
            let bucket = index.buckets.of(hash);
            let found = index.rows_of_buckets([bucket].into_iter());
            assert!(found.iter().any(|rows| rows.contains(&row)) && found[0].len() <= 4 * STRIDE, "{row}");
            for bits in [0, 1, 5, 9] {
                let buckets = Buckets { bits };
                let part = Unit { buckets, bucket: buckets.of(hash) };
                assert!(index.rows_of_part(part).contains(&row), "{row}, {bits} bits");
            }
        }
        assert_eq!(index.rows_of_part(Unit::ALL), 0..20_000);
        let file = FileMetaData::new(1, 30_000, None, file.key_value_metadata().cloned(), schema(), None);
        assert!(Index::of(&file).is_none(), "of another file");
    }

    fn schema() -> parquet::schema::types::SchemaDescPtr {
        let group = parquet::schema::types::Type::group_type_builder("root").build().unwrap();
        Arc::new(parquet::schema::types::SchemaDescriptor::new(Arc::new(group)))
    }

    #[test]
    fn rows_in_another_order_say_nothing() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..20_000));
        let rows = RecordBatch::try_from_iter([("n", numbers)]).unwrap();
        let mut sampler = Sampler::new(&rows.schema(), &["n".to_owned()], Buckets { bits: 5 }).unwrap();
        sampler.add(&rows).unwrap();
        assert!(sampler.finish().is_none());
    }
}
