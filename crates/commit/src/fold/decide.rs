//! Which keys a replaced slice touches, and which of their changes is the greatest now. Pure: rows in, rows out.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use arrow::array::{Array, AsArray, BooleanArray, RecordBatch};
use arrow::compute::{concat_batches, filter, filter_record_batch};
use arrow::datatypes::TimestampMicrosecondType;

use super::order::{Key, Keys, Order};
use super::sort::{greatest, sorted_places};
use super::store::{Buckets, take};
use crate::error::{CommitError, Result};
use crate::metadata::schema::INTERVAL_START;
use crate::rows::RowHasher;
use crate::stage::internal;

/// What replaced slices change: the keys, and all that the new slices say of them.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) keys: Keys,
    pub(crate) rows: RecordBatch,
    /// Of these rows, those that their slice did not hold before.
    pub(super) comes: BooleanArray,
    /// Of the rows that the slices held, those that they hold no more.
    pub(super) goes: BooleanArray,
}

/// Rows that may be the greatest of their key, and keys that the rest of the log must be asked for.
#[derive(Debug)]
pub(crate) struct Contest {
    best: RecordBatch,
    /// Rows of slices that are not replaced.
    stays: RecordBatch,
    pub(crate) asked: Keys,
    tied: Keys,
}

/// What became of a contest.
#[derive(Debug)]
pub(crate) struct Settled {
    /// The greatest change of each key.
    pub(crate) rows: RecordBatch,
    /// Keys of which another change was found that is equal in order and differs.
    pub(crate) tied: Keys,
    /// What slices that are not replaced say, as far as it was looked at.
    pub(crate) others: [RecordBatch; 2],
}

impl Change {
    /// The change from the rows that the slices held to those that they hold now; one row a key in each slice.
    pub(crate) fn between(
        order: &Order,
        hasher: &RowHasher,
        old: &RecordBatch,
        new: &RecordBatch,
    ) -> Result<Change> {
        let (goes, comes) = differing(hasher, old, new)?;
        let mut keys = Keys::default();
        for (batch, differs) in [(old, &goes), (new, &comes)] {
            let rows = order.keys(batch)?;
            let differing = rows.iter().zip(differs).filter(|(_, differs)| *differs == Some(true));
            keys.extend(differing.map(|(key, _)| Key::from(key.as_ref())));
        }
        let touched: BooleanArray =
            order.keys(new)?.iter().map(|key| Some(keys.contains(key.as_ref()))).collect();
        let rows = filter_record_batch(new, &touched).map_err(internal)?;
        let comes = filter(&comes, &touched).map_err(internal)?.as_boolean().clone();
        Ok(Change { keys, rows, comes, goes })
    }
}

/// Which rows of `old` are not in `new`, and the other way round; no row is twice in either.
pub(crate) fn differing(
    hasher: &RowHasher,
    old: &RecordBatch,
    new: &RecordBatch,
) -> Result<(BooleanArray, BooleanArray)> {
    let (before, now) = (marks(hasher, old)?, marks(hasher, new)?);
    let places: HashMap<Mark, usize, BuildHasherDefault<MarkHasher>> =
        before.iter().copied().zip(0..).collect();
    let mut goes = vec![true; before.len()];
    let comes = now.iter().map(|mark| {
        let found = places.get(mark);
        found.into_iter().for_each(|place| goes[*place] = false);
        Some(found.is_none())
    });
    let comes: BooleanArray = comes.collect();
    Ok((BooleanArray::from(goes), comes))
}

/// A slice's start and the hashes of a row.
type Mark = (Option<i64>, u128, u128);

/// Takes of a mark what is a hash already.
#[derive(Clone, Copy, Debug, Default)]
struct MarkHasher(u64);

impl Hasher for MarkHasher {
    fn write(&mut self, _: &[u8]) {}

    fn write_u128(&mut self, hash: u128) {
        self.0 ^= hash as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

fn marks(hasher: &RowHasher, batch: &RecordBatch) -> Result<Vec<Mark>> {
    let hashed = hasher.hash(batch);
    let starts = starts(batch)?;
    Ok(starts
        .into_iter()
        .zip(hashed.first.into_iter().zip(hashed.second))
        .map(|(start, (one, two))| (start, one, two))
        .collect())
}

/// The start of the slice that each row came from.
pub(crate) fn starts(batch: &RecordBatch) -> Result<Vec<Option<i64>>> {
    let column = batch.column_by_name(INTERVAL_START);
    let column = column.and_then(|column| column.as_primitive_opt::<TimestampMicrosecondType>());
    let column = column.ok_or_else(|| CommitError::Internal("rows without `_interval_start`".to_owned()))?;
    Ok((0..column.len()).map(|row| column.is_valid(row).then(|| column.value(row))).collect())
}

/// The rows whose key `wanted` takes.
pub(crate) fn only(
    order: &Order,
    batch: &RecordBatch,
    wanted: impl Fn(&[u8]) -> bool,
) -> Result<RecordBatch> {
    let keys = order.keys(batch)?;
    let wanted: BooleanArray = keys.iter().map(|key| Some(wanted(key.as_ref()))).collect();
    filter_record_batch(batch, &wanted).map_err(internal)
}

/// Sets the change against `current`, the rows that its keys have now, of which those from `replaced` slices count no
/// more. `even`: the log is asked for changes of equal order, too.
pub(crate) fn contest(
    order: &Order,
    change: &Change,
    current: &RecordBatch,
    replaced: &BTreeSet<Option<i64>>,
    even: bool,
) -> Result<Contest> {
    let (best, tied) = winners(order, &change.rows, Buckets::ONE)?;
    let (best_keys, best_ranks) = (order.keys(&best)?, order.ranks(&best)?);
    let keys = order.keys(current)?;
    let ranks = order.ranks(current)?;
    let mut asked = Keys::default();
    let mut stays = Vec::with_capacity(current.num_rows());
    for (row, start) in starts(current)?.iter().enumerate() {
        let stands = !replaced.contains(start);
        stays.push(stands);
        if stands {
            continue;
        }
        // All that the rest of the log says of the key is less than this row. What is at least this row wins.
        let key = keys.row(row);
        let found = search(&best_keys, key.as_ref());
        let beats = |place: usize| match best_ranks.order.row(place).cmp(&ranks.order.row(row)) {
            std::cmp::Ordering::Equal => !even && best_ranks.compare(place, &ranks, row).is_ge(),
            other => other.is_gt(),
        };
        let holds = found.is_some_and(beats);
        if !holds {
            asked.insert(Key::from(key.as_ref()));
        }
    }
    let stays = filter_record_batch(current, &BooleanArray::from(stays)).map_err(internal)?;
    Ok(Contest { best, stays, asked, tied })
}

/// Place of a key in rows that are ordered by it.
fn search(keys: &arrow::row::Rows, wanted: &[u8]) -> Option<usize> {
    let (mut low, mut high) = (0, keys.num_rows());
    while low < high {
        let middle = low + (high - low) / 2;
        match keys.row(middle).as_ref().cmp(wanted) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => return Some(middle),
        }
    }
    None
}

/// The greatest change of each key of the contest; `answer` is what the rest of the log says of the keys asked for.
pub(crate) fn settle(order: &Order, contest: Contest, answer: RecordBatch) -> Result<Settled> {
    let Contest { best, stays, mut tied, .. } = contest;
    let rows = concat_batches(&answer.schema(), [&best, &stays, &answer]).map_err(internal)?;
    let (rows, more) = winners(order, &rows, Buckets::ONE)?;
    tied.extend(more);
    Ok(Settled { rows, tied, others: [stays, answer] })
}

/// Rows ordered by bucket, and in it by key.
pub(crate) fn in_buckets(order: &Order, rows: &RecordBatch, buckets: Buckets) -> Result<RecordBatch> {
    let keys = order.keys(rows)?;
    let places = sorted_places(order, rows, &keys, buckets)?;
    if places.is_sorted_by_key(|place| place.row) {
        return Ok(rows.clone());
    }
    take(rows, places.into_iter().map(|place| place.row).collect())
}

/// The greatest row of each key, ordered by bucket and in it by key; and the keys of which another row was there that is
/// equal in order and differs.
pub(crate) fn winners(order: &Order, rows: &RecordBatch, buckets: Buckets) -> Result<(RecordBatch, Keys)> {
    let kept = greatest(order, rows, buckets)?;
    let places = |tied: bool| kept.iter().filter(move |kept| kept.1 || !tied).map(|(row, _)| *row).collect();
    let tied = order.keys(&take(rows, places(true))?)?;
    Ok((take(rows, places(false))?, tied.iter().map(|key| Key::from(key.as_ref())).collect()))
}
