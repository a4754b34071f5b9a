//! Changes of one key that two slices bring, equal in order and different otherwise: which slice of a commit brings such a
//! tie, as if its slices were published one by one in order of time. Pure.

use std::collections::{BTreeMap, BTreeSet};

use arrow::array::RecordBatch;
use arrow::compute::{concat_batches, filter_record_batch, not};

use super::decide::{Change, only, starts};
use super::order::{Keys, Order};
use super::reduced::text;
use super::sort::sorted_places;
use super::store::Buckets;
use crate::error::Result;
use crate::stage::internal;

/// What a publish into a log does where a change of its slice ties with one of another slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnTie {
    /// Nothing is looked for: what orders changes tells slices apart.
    #[default]
    Ignore,
    /// Ties are counted.
    Count,
    /// The slice is refused.
    Refuse,
}

/// Ties that a publish brings: the winner of a key is equal in order to a change of another slice and differs otherwise.
/// Of the two one came with the publish, or both were hidden by a change that it takes away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tied {
    /// Keys, of a history keys and dates.
    pub keys: u64,
    /// One of the changes that were there before, as text.
    pub example: String,
}

/// The start of a slice.
type Start = Option<i64>;

/// All ties that a commit comes to, by who brings them.
#[derive(Debug, Default)]
pub(crate) struct Ties(BTreeMap<Bearers, Tied>);

/// The slices of which a change is one of the equals.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bearers {
    /// Whether there is one whose change was there before.
    stands: bool,
    /// Those that bring theirs, in order.
    bring: Vec<Start>,
}

/// Where a row lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// In a slice as it was.
    Was,
    /// In a slice as it will be, and not as it was.
    New,
    /// In a slice as it was and will be.
    Stands,
}

impl Ties {
    /// Takes in the ties of some keys. `old` is what replaced slices held of the change, `others` what the slices say that
    /// are not replaced. Of an example the columns `shown` are told.
    pub(crate) fn note(
        &mut self,
        order: &Order,
        keys: &Keys,
        (old, change): (&RecordBatch, &Change),
        others: &[RecordBatch],
        shown: &[usize],
    ) -> Result<()> {
        let tied = |rows: &RecordBatch| only(order, rows, |key| keys.contains(key));
        let part = |rows: &RecordBatch, which| tied(&filter_record_batch(rows, which).map_err(internal)?);
        let mut parts = vec![
            (Side::Was, part(old, &change.goes)?),
            (Side::New, part(&change.rows, &change.comes)?),
            (Side::Stands, part(&change.rows, &not(&change.comes).map_err(internal)?)?),
        ];
        for others in others {
            parts.push((Side::Stands, tied(others)?));
        }
        let side = |(side, rows): &(Side, RecordBatch)| vec![*side; rows.num_rows()];
        let sides: Vec<Side> = parts.iter().flat_map(side).collect();
        let rows = concat_batches(&old.schema(), parts.iter().map(|(_, rows)| rows)).map_err(internal)?;
        let (keys, ranks, starts) = (order.keys(&rows)?, order.ranks(&rows)?, starts(&rows)?);
        let places = sorted_places(order, &rows, &keys, Buckets::ONE)?;
        let places: Vec<usize> = places.into_iter().map(|place| place.row as usize).collect();
        for own in places.chunk_by(|one, other| keys.row(*one) == keys.row(*other)) {
            let (was, are): (Vec<usize>, Vec<usize>) =
                own.iter().partition(|place| sides[**place] == Side::Was);
            let Some(top) = are.iter().map(|place| ranks.order.row(*place)).max() else { continue };
            let mut equals: Vec<usize> =
                are.into_iter().filter(|place| ranks.order.row(*place) == top).collect();
            equals.sort_by_key(|place| ranks.rest.row(*place));
            if equals.windows(2).all(|two| ranks.rest.row(two[0]) == ranks.rest.row(two[1])) {
                continue;
            }
            let new = equals.iter().filter(|place| sides[**place] == Side::New);
            let mut bring: BTreeSet<Start> = new.map(|place| starts[*place]).collect();
            let mut stands = equals.iter().any(|place| sides[*place] == Side::Stands);
            if bring.is_empty() {
                // They were there before: a tie now, where what hid them is gone.
                let hid = was.iter().filter(|place| ranks.order.row(**place) > top);
                bring.extend(hid.map(|place| starts[*place]).max());
                stands = true;
            }
            let Some(first) = bring.first() else { continue };
            let before = |place: &usize| match stands {
                true => sides[*place] == Side::Stands,
                false => starts[*place] == *first,
            };
            let Some(example) = equals.into_iter().rfind(before) else { continue };
            let known = self.0.get_mut(&Bearers { stands, bring: bring.iter().copied().collect() });
            match known {
                Some(known) => known.keys += 1,
                None => {
                    let row = rows.slice(example, 1).project(shown).map_err(internal)?;
                    let tied = Tied { keys: 1, example: text(&row, 0)? };
                    self.0.insert(Bearers { stands, bring: bring.into_iter().collect() }, tied);
                }
            }
        }
        Ok(())
    }

    /// Takes in others.
    pub(crate) fn extend(&mut self, others: Ties) {
        for (bearers, tied) in others.0 {
            match self.0.get_mut(&bearers) {
                Some(known) => known.keys += tied.keys,
                None => drop(self.0.insert(bearers, tied)),
            }
        }
    }

    /// What each slice brings, in order of time: a tie with what was there before, or with a slice before it that is not
    /// `refused`.
    pub(crate) fn by_slice(&self, refused: impl Fn(Start) -> bool) -> BTreeMap<Start, Tied> {
        let slices: BTreeSet<Start> = self.0.keys().flat_map(|bearers| &bearers.bring).copied().collect();
        let mut found: BTreeMap<Start, Tied> = BTreeMap::new();
        for slice in slices {
            let stays = |other: &Start| !(found.contains_key(other) && refused(*other));
            let brings = |bearers: &Bearers| {
                let own = bearers.bring.binary_search(&slice);
                own.is_ok_and(|own| bearers.stands || bearers.bring[..own].iter().any(stays))
            };
            let own: Vec<&Tied> =
                self.0.iter().filter(|(bearers, _)| brings(bearers)).map(|(_, tied)| tied).collect();
            if let Some(first) = own.first() {
                let tied = Tied { keys: own.iter().map(|tied| tied.keys).sum(), ..(*first).clone() };
                found.insert(slice, tied);
            }
        }
        found
    }
}
