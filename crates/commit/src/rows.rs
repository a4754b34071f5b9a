//! Hashes of rows: a canonical typed encoding, so that equal rows hash equally whatever array holds them.
//!
//! Owns the encoding and the hash functions. Both are part of stored fingerprints: a change here makes every
//! fingerprint differ and needs a new `SEMANTICS` number. Knows no table, file or engine.
//!
//! What counts is the value: NULL is marked, -0 is 0, there is one NaN, decimals count by value and scale,
//! timestamps as µs, text and binary in whatever encoding, integers of all widths by value. Columns enter by name
//! and class of type, not by position.

mod cell;
mod column;
#[cfg(test)]
mod tests;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use oncemore_core::{ColumnPrint, Fingerprint};

pub use crate::types::schema_digest;
use crate::types::{TypeError, stored_type};
use cell::{Seeds, finish};
use column::Sums;

/// Why rows of a schema can't be hashed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowsError {
    /// A column of a type that tables can't hold.
    #[error(transparent)]
    Type(#[from] TypeError),
    /// A key column that the rows don't have.
    #[error("key column `{0}` is not among the columns")]
    NoKeyColumn(String),
    /// Two columns of one name.
    #[error("two columns are called `{0}`")]
    Duplicate(String),
}

/// Rows hashed in one go: what their hashes are added up in stays in the nearest cache.
const STRETCH: usize = 1_024;

/// Hashes record batches of one schema.
#[derive(Clone, Debug)]
pub struct RowHasher {
    /// Sorted by name.
    columns: Vec<Column>,
    /// Places in `columns` of the key; empty: no key.
    key: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    /// Place in the batch.
    place: usize,
    seeds: Seeds,
}

/// Hashes of the rows of one batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HashedRows {
    /// First hash of each row.
    pub first: Vec<u128>,
    /// Second hash of each row.
    pub second: Vec<u128>,
    /// A column each, by name: hash of (key, value) of each row. Empty without a key.
    pub columns: Vec<Vec<u128>>,
}

impl RowHasher {
    /// A hasher of batches of `schema`, whose rows are told apart by `key` (may be empty).
    ///
    /// # Errors
    /// A type that tables can't hold, two columns of one name, a key column that isn't there.
    pub fn new(schema: &Schema, key: &[String]) -> Result<Self, RowsError> {
        let mut columns = Vec::with_capacity(schema.fields().len());
        for (place, field) in schema.fields().iter().enumerate() {
            let kind = stored_type(field.name(), field.data_type())?;
            columns.push(Column { name: field.name().clone(), place, seeds: Seeds::new(field.name(), kind) });
        }
        columns.sort_by(|left, right| left.name.cmp(&right.name));
        if let Some(pair) = columns.windows(2).find(|pair| pair[0].name == pair[1].name) {
            return Err(RowsError::Duplicate(pair[0].name.clone()));
        }
        let find = |name: &String| {
            let found = columns.iter().position(|column| column.name == *name);
            found.ok_or_else(|| RowsError::NoKeyColumn(name.clone()))
        };
        let key = key.iter().map(find).collect::<Result<_, _>>()?;
        Ok(RowHasher { columns, key })
    }

    /// Names of the columns in the order of [`HashedRows::columns`].
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Hashes every row of `batch`.
    ///
    /// # Panics
    /// If the batch has not the columns that the hasher was made for.
    pub fn hash(&self, batch: &RecordBatch) -> HashedRows {
        let mut hashed = HashedRows::default();
        self.hash_into(batch, &mut hashed);
        hashed
    }

    /// Hashes every row of `batch` and hands the hashes on, some rows at a time, with the number of rows before these.
    ///
    /// # Panics
    /// As [`RowHasher::hash`].
    pub fn stretches(&self, batch: &RecordBatch, mut take: impl FnMut(usize, &HashedRows)) {
        let mut hashed = HashedRows::default();
        for before in (0..batch.num_rows()).step_by(STRETCH) {
            self.hash_into(&batch.slice(before, STRETCH.min(batch.num_rows() - before)), &mut hashed);
            take(before, &hashed);
        }
    }

    /// Hands on the first hash of every row of `batch`, in their order; the second one is not made.
    ///
    /// # Panics
    /// As [`RowHasher::hash`].
    pub(crate) fn firsts(&self, batch: &RecordBatch, mut take: impl FnMut(u128)) {
        let mut first = Vec::with_capacity(STRETCH);
        for before in (0..batch.num_rows()).step_by(STRETCH) {
            let rows = batch.slice(before, STRETCH.min(batch.num_rows() - before));
            first.clear();
            first.resize(rows.num_rows(), 0);
            for column in &self.columns {
                column::hash(rows.column(column.place), &column.seeds, Sums::First(&mut first));
            }
            first.iter().for_each(|sum| take(finish(*sum, cell::FIRST)));
        }
    }

    fn hash_into(&self, batch: &RecordBatch, into: &mut HashedRows) {
        let rows = batch.num_rows();
        let HashedRows { first, second, columns } = into;
        columns.resize_with(if self.key.is_empty() { 0 } else { self.columns.len() }, Vec::new);
        for hashes in [&mut *first, &mut *second].into_iter().chain(columns.iter_mut()) {
            hashes.clear();
            hashes.resize(rows, 0);
        }
        for (at, column) in self.columns.iter().enumerate() {
            let sums = match columns.get_mut(at) {
                None => Sums::Both(first, second),
                Some(cells) => Sums::Cells(first, second, cells),
            };
            column::hash(batch.column(column.place), &column.seeds, sums);
        }
        self.tie_to_key(columns, rows);
        for (one, two) in first.iter_mut().zip(second) {
            *one = finish(*one, cell::FIRST);
            *two = finish(*two, cell::SECOND);
        }
    }

    /// Turns hashes of cells into hashes of (key, cell).
    fn tie_to_key(&self, columns: &mut [Vec<u128>], rows: usize) {
        if self.key.is_empty() {
            return;
        }
        let mut keys = vec![0u128; rows];
        for place in &self.key {
            keys.iter_mut().zip(&columns[*place]).for_each(|(key, cell)| *key = key.wrapping_add(*cell));
        }
        keys.iter_mut().for_each(|key| *key = finish(*key, cell::KEY));
        for column in columns {
            for (cell, key) in column.iter_mut().zip(&keys) {
                *cell = cell::tie(*cell, *key);
            }
        }
    }
}

/// Adds up hashed rows: the same for any order and any split into batches.
#[derive(Clone, Debug)]
pub struct RowsPrint {
    fingerprint: Fingerprint,
    columns: Vec<ColumnPrint>,
}

impl RowsPrint {
    /// The print of no rows.
    pub fn new(hasher: &RowHasher) -> Self {
        let named = |column: &Column| ColumnPrint { name: column.name.clone(), print: 0 };
        let columns =
            if hasher.key.is_empty() { Vec::new() } else { hasher.columns.iter().map(named).collect() };
        RowsPrint { fingerprint: Fingerprint::default(), columns }
    }

    /// Adds every row of a batch that `hasher` was made for.
    ///
    /// # Panics
    /// As [`RowHasher::hash`].
    pub fn add_batch(&mut self, hasher: &RowHasher, batch: &RecordBatch) {
        hasher.stretches(batch, |_, hashed| self.add(hashed));
    }

    /// Adds every row.
    pub fn add(&mut self, rows: &HashedRows) {
        let sum = |hashes: &[u128]| hashes.iter().fold(0u128, |sum, hash| sum.wrapping_add(*hash));
        self.fingerprint = self.fingerprint.union(Fingerprint {
            rows: rows.first.len() as u64,
            first: sum(&rows.first),
            second: sum(&rows.second),
        });
        for (print, hashes) in self.columns.iter_mut().zip(&rows.columns) {
            print.print = print.print.wrapping_add(sum(hashes));
        }
    }

    /// Adds the rows that `other` adds up.
    pub fn merge(&mut self, other: &RowsPrint) {
        self.fingerprint = self.fingerprint.union(other.fingerprint);
        for (print, other) in self.columns.iter_mut().zip(&other.columns) {
            print.print = print.print.wrapping_add(other.print);
        }
    }

    /// Adds the rows at the places `selection`.
    pub fn add_rows(&mut self, rows: &HashedRows, selection: impl Iterator<Item = usize>) {
        for row in selection {
            self.fingerprint.add_row(rows.first[row], rows.second[row]);
            for (print, hashes) in self.columns.iter_mut().zip(&rows.columns) {
                print.print = print.print.wrapping_add(hashes[row]);
            }
        }
    }

    /// The fingerprint, and the print of each column by name where there is a key.
    pub fn finish(self) -> (Fingerprint, Vec<ColumnPrint>) {
        (self.fingerprint, self.columns)
    }
}
