//! The order of changes: by bucket of their key, and in it by key; and which of those of one key is the greatest. Pure:
//! rows in, places out.

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::row::Rows;

use super::order::Order;
use super::pick::by_number;
use super::store::Buckets;
use crate::error::{CommitError, Result};
use crate::stage::internal;

/// Places of the greatest row of each key, by bucket and in it by key, and whether another one of equal order was there
/// and differed.
pub(super) fn greatest(order: &Order, batch: &RecordBatch, buckets: Buckets) -> Result<Vec<(u32, bool)>> {
    let keys = order.keys(batch)?;
    let places = sorted_places(order, batch, &keys, buckets)?;
    let same = |one: &Place, other: &Place| {
        one.start == other.start && keys.row(one.row as usize) == keys.row(other.row as usize)
    };
    let groups = || places.chunk_by(|one, other| same(one, other));
    // What beside the key decides is looked at where there is a choice.
    let shared = groups().filter(|rows| rows.len() > 1).flatten().map(|place| place.row);
    let shared = UInt32Array::from_iter_values(shared);
    if shared.is_empty() {
        return Ok(places.into_iter().map(|place| (place.row, false)).collect());
    }
    let ranks = order.ranks(&take_record_batch(batch, &shared).map_err(internal)?)?;
    let mut next = 0;
    let mut kept = Vec::with_capacity(places.len());
    for rows in groups() {
        if let [place] = rows {
            kept.push((place.row, false));
            continue;
        }
        let own = next..next + rows.len();
        next = own.end;
        let mut best = own.start;
        for other in own.clone() {
            let (place, other_place) = (rows[best - own.start].row, rows[other - own.start].row);
            let least = ranks.compare(other, &ranks, best).then(place.cmp(&other_place));
            if least.is_gt() {
                best = other;
            }
        }
        let tied = own.clone().any(|other| {
            ranks.order.row(other) == ranks.order.row(best) && ranks.rest.row(other) != ranks.rest.row(best)
        });
        kept.push((rows[best - own.start].row, tied));
    }
    Ok(kept)
}

/// A row on its way into order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// What its key says first where keys differ: most need no other look.
    start: u64,
    bucket: u32,
    pub(super) row: u32,
}

/// All rows, by bucket and in it by key.
pub(super) fn sorted_places(
    order: &Order,
    batch: &RecordBatch,
    keys: &Rows,
    buckets: Buckets,
) -> Result<Vec<Place>> {
    if buckets.bits > u32::BITS {
        return Err(CommitError::Internal(format!("{} bits of a hash name a bucket", buckets.bits)));
    }
    let common = common_prefix(keys);
    let mut buckets_of_rows = Vec::with_capacity(keys.num_rows());
    if buckets.bits == 0 {
        buckets_of_rows.resize(keys.num_rows(), 0);
    } else {
        order.each_hash(batch, |hash| buckets_of_rows.push(buckets.of(hash) as u32))?;
    }
    if buckets_of_rows.len() != keys.num_rows() {
        return Err(CommitError::Internal("keys and hashes of other rows".to_owned()));
    }
    let place = |(row, (key, bucket)): (u32, (arrow::row::Row<'_>, u32))| Place {
        start: word(&key.as_ref()[common..]),
        bucket,
        row,
    };
    let places: Vec<Place> = (0u32..).zip(keys.iter().zip(buckets_of_rows)).map(place).collect();
    let (mut places, ends) = grouped(&places)?;
    let mut from = 0;
    for to in ends {
        places[from..to].sort_unstable_by_key(|place| (place.bucket, place.start, place.row));
        from = to;
    }
    // Where keys begin alike, all of them decides.
    for same in places.chunk_by_mut(|one, other| (one.bucket, one.start) == (other.bucket, other.start)) {
        if same.len() > 1 {
            same.sort_by(|one, other| keys.row(one.row as usize).cmp(&keys.row(other.row as usize)));
        }
    }
    Ok(places)
}

/// Places in groups of which each holds lower buckets than the next, and where each group ends. There are no more groups
/// than places: it takes one go over them.
fn grouped(places: &[Place]) -> Result<(Vec<Place>, Vec<usize>)> {
    let buckets = || places.iter().map(|place| place.bucket);
    let (Some(low), Some(high)) = (buckets().min(), buckets().max()) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let mut shift = 0;
    while (high - low) >> shift >= u32::try_from(places.len()).map_err(internal)? {
        shift += 1;
    }
    let groups: Vec<usize> = buckets().map(|bucket| ((bucket - low) >> shift) as usize).collect();
    let (order, ends) = by_number(&groups, ((high - low) >> shift) as usize + 1);
    Ok((order.into_iter().map(|place| places[place as usize]).collect(), ends))
}

/// Bytes that all keys begin with.
fn common_prefix(keys: &Rows) -> usize {
    let mut all = keys.iter();
    let Some(first) = all.next() else { return 0 };
    let first = first.as_ref();
    let same = |key: arrow::row::Row<'_>, most: usize| {
        key.as_ref().iter().zip(&first[..most]).take_while(|(one, other)| one == other).count()
    };
    all.fold(first.len(), |most, key| same(key, most))
}

/// The first bytes of a key, comparing as it does.
fn word(key: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = key.len().min(8);
    bytes[..length].copy_from_slice(&key[..length]);
    u64::from_be_bytes(bytes)
}
