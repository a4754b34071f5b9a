//! Changes reduced to the greatest of each key, and a count of ties that only the remaining columns broke: as one stream
//! in the order of buckets, or unit by unit, where each is to be a file.

use std::collections::VecDeque;
use std::ops::Range;

use arrow::array::{Array, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;

use super::aside::{Aside, PARTS};
use super::decide::in_buckets;
use super::index::buckets_of;
use super::order::Order;
use super::sort::greatest;
use super::store::{Buckets, Unit, by, take};
use crate::error::Result;
use crate::parallel;
use crate::stage::internal;

/// Parts reduced side by side.
const SIDE_BY_SIDE: u64 = 4;
/// Bytes of changes of a unit that is held whole.
const UNIT_BYTES: u64 = 32 << 20;

/// What was taken in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pushed {
    pub(super) rows: u64,
    /// In memory.
    pub(super) bytes: u64,
    /// Rows that a bucket of the folded tables holds.
    pub(super) bucket_rows: u64,
}

/// One change a key, handed out ordered by the bucket of the key.
#[derive(Debug)]
pub struct Reduced {
    order: Order,
    schema: SchemaRef,
    pushed: Pushed,
    /// All rows, where they are few.
    held: Vec<RecordBatch>,
    aside: Aside,
    next_part: u64,
    ready: VecDeque<RecordBatch>,
    /// Of what was handed out.
    found: Found,
}

/// Changes that are reduced in one go.
#[derive(Debug)]
pub(crate) enum Portion {
    /// Of one unit.
    Held(Unit, RecordBatch),
    /// Of parts that were set aside, which are one unit, or of which each is several.
    Aside(Range<u64>),
}

/// The changes of some keys that count.
#[derive(Debug)]
pub(crate) struct Winners {
    /// By bucket and in it by key.
    pub(crate) rows: RecordBatch,
    pub(crate) buckets: Buckets,
    pub(crate) found: Found,
}

/// What was found of changes that count.
#[derive(Debug, Default)]
pub(crate) struct Found {
    rows: u64,
    /// NULL of each column.
    nulls: Vec<u64>,
    /// Keys with ties, and one of these as text.
    ties: u64,
    example: Option<String>,
}

impl Reduced {
    pub(super) fn new(
        order: Order,
        schema: SchemaRef,
        held: Vec<RecordBatch>,
        aside: Aside,
        pushed: Pushed,
    ) -> Reduced {
        Reduced {
            found: Found { nulls: vec![0; schema.fields().len()], ..Found::default() },
            order,
            schema,
            pushed,
            held,
            aside,
            next_part: 0,
            ready: VecDeque::new(),
        }
    }

    /// The buckets that all of it, as one stream, is ordered by.
    pub(crate) fn buckets(&self) -> Buckets {
        buckets_of(Unit::ALL, self.pushed.rows)
    }

    /// The units of a table folded from nothing else, where memory holds one of them.
    pub(crate) fn units(&self) -> Option<Buckets> {
        let units = Buckets::ONE.grown(self.pushed.rows, self.pushed.bucket_rows);
        (self.aside.is_empty() || self.pushed.bytes >> units.bits <= UNIT_BYTES).then_some(units)
    }

    /// The next changes; `None`: that was all.
    ///
    /// # Errors
    /// Rows that were set aside and can't be read.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while self.ready.is_empty() {
            let buckets = self.buckets();
            let found = if self.aside.is_empty() {
                if self.held.is_empty() {
                    return Ok(None);
                }
                let held = std::mem::take(&mut self.held);
                vec![self.reduce(&concat_batches(&self.schema, &held).map_err(internal)?, buckets)?]
            } else {
                let parts = 1 << PARTS.bits;
                let to = parts.min(self.next_part + SIDE_BY_SIDE);
                let from = std::mem::replace(&mut self.next_part, to);
                if from == parts {
                    return Ok(None);
                }
                let one = |part: &u64| self.reduce(&self.aside.read(*part..*part + 1)?, buckets);
                parallel::map(&(from..to).collect::<Vec<u64>>(), one)?
            };
            for winners in found {
                self.note(&winners.found);
                self.ready.extend((winners.rows.num_rows() > 0).then_some(winners.rows));
            }
        }
        Ok(self.ready.pop_front())
    }

    /// All changes, to be reduced by [`Reduced::winners`]; of `units` none is in two portions.
    pub(crate) fn portions(&mut self, units: Buckets) -> Result<Vec<Portion>> {
        if self.aside.is_empty() {
            let held = std::mem::take(&mut self.held);
            let rows = concat_batches(&self.schema, &held).map_err(internal)?;
            drop(held);
            let parts = self.by_unit(rows, Unit::ALL, units)?;
            return Ok(parts.into_iter().map(|(unit, rows)| Portion::Held(unit, rows)).collect());
        }
        let together = 1u64 << PARTS.bits.saturating_sub(units.bits);
        let from = std::mem::replace(&mut self.next_part, 1 << PARTS.bits);
        let starts = (from..1 << PARTS.bits).step_by(usize::try_from(together).map_err(internal)?);
        Ok(starts.map(|start| Portion::Aside(start..start + together)).collect())
    }

    /// The changes of a portion that count, by unit.
    pub(crate) fn winners(&self, portion: &Portion, units: Buckets) -> Result<Vec<(Unit, Winners)>> {
        let parts = match portion {
            Portion::Held(unit, rows) => vec![(*unit, rows.clone())],
            Portion::Aside(parts) => {
                let rows = self.aside.read(parts.clone())?;
                let own = Buckets { bits: PARTS.bits.min(units.bits) };
                let unit = Unit { buckets: own, bucket: parts.start >> (PARTS.bits - own.bits) };
                self.by_unit(rows, unit, units)?
            }
        };
        let one = |(unit, rows): (Unit, RecordBatch)| {
            let mut winners = self.reduce(&rows, buckets_of(unit, rows.num_rows() as u64))?;
            let fewer = buckets_of(unit, winners.rows.num_rows() as u64);
            if winners.buckets != fewer {
                winners.rows = in_buckets(&self.order, &winners.rows, fewer)?;
                winners.buckets = fewer;
            }
            Ok((unit, winners))
        };
        parts.into_iter().map(one).collect()
    }

    /// Rows of a unit cut into smaller ones; those that hold none are left out.
    fn by_unit(&self, rows: RecordBatch, all: Unit, units: Buckets) -> Result<Vec<(Unit, RecordBatch)>> {
        if rows.num_rows() == 0 {
            return Ok(Vec::new());
        }
        if all.buckets == units {
            return Ok(vec![(all, rows)]);
        }
        let hashes = self.order.hashes(&rows)?;
        let places = by(hashes.iter().map(|hash| units.of(*hash)));
        let part =
            |(bucket, places): (u64, Vec<u32>)| Ok((Unit { buckets: units, bucket }, take(&rows, places)?));
        places.into_iter().map(part).collect()
    }

    /// Counts changes that are handed out.
    pub(crate) fn note(&mut self, other: &Found) {
        let own = &mut self.found;
        own.rows += other.rows;
        own.ties += other.ties;
        own.example = own.example.take().or_else(|| other.example.clone());
        own.nulls.iter_mut().zip(&other.nulls).for_each(|(own, other)| *own += other);
    }

    fn reduce(&self, all: &RecordBatch, buckets: Buckets) -> Result<Winners> {
        let kept = greatest(&self.order, all, buckets)?;
        let rows = take(all, kept.iter().map(|(row, _)| *row).collect())?;
        let tied = kept.iter().filter(|(_, tied)| *tied);
        let example = tied.clone().next().map(|(row, _)| text(all, *row as usize)).transpose()?;
        let found = Found {
            rows: rows.num_rows() as u64,
            nulls: rows.columns().iter().map(|column| column.null_count() as u64).collect(),
            ties: tied.count() as u64,
            example,
        };
        Ok(Winners { rows, buckets, found })
    }

    /// Number of changes handed out.
    pub fn rows(&self) -> u64 {
        self.found.rows
    }

    /// Of the changes handed out, those with NULL in a column.
    pub fn nulls_in(&self, column: &str) -> u64 {
        self.schema.index_of(column).map_or(0, |place| self.found.nulls[place])
    }

    /// Of the changes handed out, keys whose greatest order came more than once, with differing rows; one of these as
    /// text.
    pub fn ties(&self) -> (u64, Option<&str>) {
        (self.found.ties, self.found.example.as_deref())
    }
}

pub(super) fn text(rows: &RecordBatch, row: usize) -> Result<String> {
    let schema = rows.schema();
    let mut parts = Vec::new();
    for (field, column) in schema.fields().iter().zip(rows.columns()) {
        let value = arrow::util::display::array_value_to_string(column, row).map_err(internal)?;
        parts.push(format!("{} = {value}", field.name()));
    }
    Ok(parts.join(", "))
}
