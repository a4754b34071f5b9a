//! One fold of a log: which rows its tables are to hold, for all keys or for those whose changes differ. A key is
//! looked at once; keys are cut into passes, so that memory holds one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::{concat_batches, filter_record_batch};
use arrow::datatypes::{Schema, SchemaRef};
use oncemore_core::{AttemptId, Epoch, Interval};

use super::super::Publish;
use super::super::decide::Decisions;
use super::layout::Limits;
use super::product::{Held, Product, Role, Sums};
use super::share;
use super::write::Writing;
use crate::error::{CommitError, Result};
use crate::fold::store::{self, Ask, Buckets, Lookup, Reader, Unit, Wanted, by, take};
use crate::fold::{self, Change, FoldSpec, Keys, OnTie, Order, Settled, Ties, index};
use crate::metadata::schema::{self, INTERVAL_START};
use crate::parallel;
use crate::rows::RowHasher;
use crate::slice_map::{Entry, FileEntry, SliceMap};
use crate::stage::{Files, internal, label, start_of};
use crate::state::State;
use crate::warehouse::Warehouse;

/// Changed rows looked at in one go.
const PASS_ROWS: u64 = 1 << 19;
/// Changes looked at in one go where all of the log is.
const ALL_ROWS: u64 = 1 << 20;
/// One of so many rows of a log, from which on all of it is folded again: measured with loads of 100 and 365 slices.
const MOST: u64 = 8;
/// Rows of one bucket in a file that are worth a thread.
const LARGE_UNIT: u64 = 16 << 10;

/// What all passes of a fold share.
pub(super) struct Folding<'a> {
    warehouse: &'a Warehouse,
    decisions: &'a Decisions<'a>,
    publishes: &'a [Publish],
    spec: &'a FoldSpec,
    /// Slices whose rows are replaced.
    replaced: Vec<Interval>,
    columns: SchemaRef,
    order: Order,
    marks: RowHasher,
    /// Finds identities in the log.
    lookup: Lookup,
    /// By key, without dates, and by what a history tracks.
    by_key: Order,
    tracked: Option<Order>,
    /// Starts of all slices.
    runs: Vec<i64>,
    /// Tells which changes of two slices differ, where such may be equal in order and somebody wants to know.
    ties: Option<Order>,
    /// How files that the fold writes begin: epoch, attempt and slice that it is done for.
    stem: String,
}

impl<'a> Folding<'a> {
    pub(super) fn new(
        warehouse: &'a Warehouse,
        decisions: &'a Decisions<'a>,
        publishes: &'a [Publish],
        spec: &'a FoldSpec,
        newest: &Publish,
    ) -> Result<Self> {
        let columns = columns_of(decisions.state)?;
        let identity = spec.identity();
        let tracked = spec.validity.as_ref().map(|validity| Order::new(&columns, &validity.tracked, &[]));
        let marked = (0..columns.fields().len() - 2).collect::<Vec<_>>();
        let marked = columns.project(&marked).map_err(internal)?;
        let replaced = || decisions.replaced.iter().map(|place| &publishes[*place]);
        let order = || Order::bucketed(&columns, &identity, &spec.order, &spec.key);
        let dated_by = replaced().find_map(|publish| publish.dated_by.as_deref());
        let seeks_ties = meets_elsewhere(spec) && replaced().any(|publish| publish.on_tie != OnTie::Ignore);
        let ties = seeks_ties.then(|| match dated_by {
            Some(column) => order()?.without(&columns, column),
            None => order(),
        });
        Ok(Folding {
            warehouse,
            decisions,
            publishes,
            spec,
            replaced: replaced().map(|publish| publish.interval).collect(),
            order: order()?,
            ties: ties.transpose()?,
            marks: RowHasher::new(&marked, &[])?,
            lookup: Lookup::new(&columns, &identity)?,
            by_key: Order::new(&columns, &spec.key, &[])?,
            tracked: tracked.transpose()?,
            runs: runs(&decisions.map),
            columns,
            stem: stem(newest.stamp.epoch, newest.stamp.attempt, newest.interval),
        })
    }

    fn writing(&self) -> Writing<'_> {
        Writing {
            warehouse: self.warehouse,
            stem: &self.stem,
            key: &self.spec.key,
            limits: limits(self.spec),
        }
    }

    fn log(&self) -> &'a Arc<State> {
        self.decisions.state
    }

    /// A reader of files of one slice of the log.
    fn log_reader(&self, slice: Interval) -> Reader<'_> {
        Reader {
            disk: self.warehouse.disk(),
            table: &self.log().table,
            schema: self.columns.clone(),
            deleted: false,
            start: start_of(slice),
        }
    }

    /// The stretches of time of keys, from all of their changes that count.
    fn stretches(&self, product: &Product, changes: &RecordBatch) -> Result<RecordBatch> {
        let (Some(validity), Some(tracked)) = (&self.spec.validity, &self.tracked) else {
            return Err(CommitError::Internal("stretches of what is no history".to_owned()));
        };
        fold::stretches(validity, &self.by_key, tracked, changes, &self.runs, &product.columns)
    }

    /// Whether so much of a long log is replaced that looking at what was there would cost more than it saves.
    pub(super) fn changes_most(&self) -> bool {
        let rows = |entry: &Entry| entry.files.iter().map(|file| file.rows).sum::<u64>();
        let moved = self.replaced.iter().filter_map(|interval| self.decisions.map.get(*interval));
        let moved: u64 = moved.map(rows).sum();
        moved > ALL_ROWS && MOST * moved >= self.decisions.map.entries().map(rows).sum()
    }

    /// Folds all of the log from nothing; yields the ties that this brings.
    pub(super) fn all(&self, products: &mut [Product]) -> Result<Ties> {
        let mut ties = Ties::default();
        products.iter_mut().for_each(Product::clear);
        let files: Vec<(Interval, &FileEntry)> = self.decisions.map.entries().flat_map(files_of).collect();
        let rows: u64 = files.iter().map(|(_, file)| file.rows).sum();
        let buckets = limits(self.spec).whole(rows);
        let mut products = self.share(products, buckets)?;
        if products.is_empty() {
            return Ok(ties);
        }
        let passes = Buckets::ONE.grown(rows, ALL_ROWS);
        let passes = Buckets { bits: passes.bits.min(buckets.bits) };
        for bucket in 0..1 << passes.bits {
            let part = Unit { buckets: passes, bucket };
            let units: Vec<(u64, Vec<RecordBatch>)> =
                self.rows_by_unit(&files, part, buckets)?.into_iter().collect();
            let done = parallel::map(&units, |(bucket, rows)| {
                let rows = self.concat(rows)?;
                let unit = Unit { buckets, bucket: *bucket };
                let own = index::buckets_of(unit, rows.num_rows() as u64);
                let (winners, tied) = fold::winners(&self.order, &rows, own)?;
                let one = |product: &&mut Product| self.whole_unit(product, unit, &winners);
                let written = products.iter().map(one).collect::<Result<Vec<_>>>()?;
                Ok((written, self.ties_of_all(&rows, &tied)?))
            })?;
            for (unit, own) in done {
                ties.extend(own);
                for (product, (sums, written)) in products.iter_mut().zip(unit) {
                    product.account(None, sums);
                    product.take(written);
                }
            }
        }
        Ok(ties)
    }

    /// Ties that replaced slices bring among all that the log says of some keys, of which some are `tied`.
    fn ties_of_all(&self, rows: &RecordBatch, tied: &Keys) -> Result<Ties> {
        let mut ties = Ties::default();
        if self.ties.is_none() || tied.is_empty() {
            return Ok(ties);
        }
        let rows = fold::only(&self.order, rows, |key| tied.contains(key))?;
        let starts = self.replaced_starts();
        let comes = fold::starts(&rows)?.iter().map(|start| starts.contains(start)).collect::<Vec<_>>();
        let (comes, stays) =
            (BooleanArray::from(comes.clone()), comes.iter().map(|comes| Some(!comes)).collect());
        let [new, others] = [&comes, &stays].map(|which| filter_record_batch(&rows, which));
        let (new, others) = (new.map_err(internal)?, others.map_err(internal)?);
        // What can't be read any more is not known: then all that is there now came.
        let was = self.find(&self.replaced_slices(&self.log().map), &Wanted::of(&self.order, &[&new])?);
        let old = was.unwrap_or_else(|_| RecordBatch::new_empty(self.columns.clone()));
        let change = Change::between(&self.order, &self.marks, &old, &new)?;
        self.note(&mut ties, tied, (&old, &change), &[others])?;
        Ok(ties)
    }

    fn note(
        &self,
        ties: &mut Ties,
        tied: &Keys,
        change: (&RecordBatch, &Change),
        others: &[RecordBatch],
    ) -> Result<()> {
        let Some(order) = &self.ties else { return Ok(()) };
        // All but the code; what is never deleted does not say that it is not.
        let fields = self.columns.fields().iter().enumerate();
        let log = schema::user_schema(self.log().metadata.current_schema())?;
        let is_shown = |name: &str| log.index_of(name).is_ok() || name == INTERVAL_START;
        let shown: Vec<usize> =
            fields.filter(|(_, field)| is_shown(field.name())).map(|(place, _)| place).collect();
        ties.note(order, tied, change, others, &shown)
    }

    /// Gives tables the files of the log where these are what they hold in `units`; the tables that are left.
    fn share<'p>(&self, products: &'p mut [Product], units: Buckets) -> Result<Vec<&'p mut Product>> {
        let replaced = self.decisions.replaced.iter().map(|place| &self.publishes[*place]);
        let staged = share::only_slice(&self.decisions.map, replaced, units);
        let mut left = Vec::new();
        for product in products {
            match staged {
                Some(staged) if share::is_same(product, self.log(), self.spec)? => {
                    self.writing().share(product, staged)?;
                }
                _ => left.push(product),
            }
        }
        Ok(left)
    }

    /// Rows of the log in a part of all keys, by the buckets of a table that holds none yet.
    fn rows_by_unit(
        &self,
        files: &[(Interval, &FileEntry)],
        part: Unit,
        buckets: Buckets,
    ) -> Result<BTreeMap<u64, Vec<RecordBatch>>> {
        let units: Vec<Unit> = (0..1 << (buckets.bits - part.buckets.bits))
            .map(|unit| Unit { buckets, bucket: (part.bucket << (buckets.bits - part.buckets.bits)) + unit })
            .collect();
        let mut asked = Vec::new();
        for (slice, file) in files {
            // A large file is read side by side.
            let parts = if file.rows >> buckets.bits >= LARGE_UNIT { units.as_slice() } else { &[part] };
            asked.extend(parts.iter().map(|part| (*slice, *file, *part)));
        }
        let read = parallel::map(&asked, |(slice, file, part)| {
            let path = self.log().full(&file.name);
            let (rows, _) =
                self.log_reader(*slice).find((&path, file.bytes), &self.lookup, Ask::Part(*part), &[])?;
            let rows = self.concat(&rows)?;
            let hashes = self.order.hashes(&rows)?;
            let of = |hash: &u128| part.holds(*hash).then(|| buckets.of(*hash));
            let units = by(hashes.iter().map(of)).into_iter();
            let units = units.filter_map(|(unit, places)| Some((unit?, places)));
            units.map(|(unit, places)| Ok((unit, take(&rows, places)?))).collect::<Result<Vec<_>>>()
        })?;
        let mut found: BTreeMap<u64, Vec<RecordBatch>> = BTreeMap::new();
        for (unit, rows) in read.into_iter().flatten() {
            found.entry(unit).or_default().push(rows);
        }
        Ok(found)
    }

    /// Writes what a table holds of a bucket, from the changes of it that count.
    fn whole_unit(&self, product: &Product, unit: Unit, changes: &RecordBatch) -> Result<(Sums, Files)> {
        let rows = match product.role {
            Role::Kind { deleted } => store::of_kind(changes, deleted)?,
            Role::Changes => changes.clone(),
            Role::Stretches => self.stretches(product, changes)?,
        };
        Ok((product.sums(&rows), self.writing().write(product, unit, false, &rows)?))
    }

    /// Folds the keys again whose changes differ between the slices as they were and as they are now; yields the ties that
    /// this brings. Nothing is written yet.
    pub(super) fn changes(&self, products: &mut [Product]) -> Result<Ties> {
        products.iter_mut().try_for_each(|product| product.open(self.warehouse))?;
        let mut ties = Ties::default();
        let old = self.replaced_slices(&self.log().map);
        let new = self.replaced_slices(&self.decisions.map);
        // A slice that holds all keys that are there says something of each of them.
        let again = self.spec.validity.as_ref().is_some_and(|validity| validity.at.is_none())
            && runs(&self.log().map) != self.runs;
        let held = || products.iter().flat_map(|product| &product.held).map(Held::live).sum::<u64>();
        let moved = old.iter().chain(&new).flat_map(|slice| &slice.files).map(|file| file.rows).sum::<u64>();
        let passes = Buckets::ONE.grown(moved + if again { held() } else { 0 }, PASS_ROWS);
        for bucket in 0..1 << passes.bits {
            let part = Unit { buckets: passes, bucket };
            let (old, new) = (self.read(&old, part)?, self.read(&new, part)?);
            let change = Change::between(&self.order, &self.marks, &old, &new)?;
            let goes = fold::only(&self.order, &old, |key| change.keys.contains(key))?;
            // Rows are found by key; a change has a date, too.
            let wanted = Wanted::of(&self.by_key, &[&goes, &change.rows])?;
            let settled = self.pass(products, &change, (!again).then_some(&wanted), part)?;
            if !settled.tied.is_empty() {
                self.note(&mut ties, &settled.tied, (&old, &change), &settled.others)?;
            }
        }
        Ok(ties)
    }

    /// Writes what came of the keys that were folded again.
    pub(super) fn write(&self, products: &mut [Product]) -> Result<()> {
        products.iter_mut().try_for_each(|product| self.writing().settle(product))
    }

    fn pass(
        &self,
        products: &mut [Product],
        change: &Change,
        wanted: Option<&Wanted>,
        part: Unit,
    ) -> Result<Settled> {
        if let [stretches, changes] = products
            && stretches.role == Role::Stretches
        {
            return self.history_pass(stretches, changes, change, wanted, part);
        }
        let found = products.iter().map(|product| product.find(self.warehouse, wanted, part));
        let found = found.collect::<Result<Vec<_>>>()?;
        let current: Vec<RecordBatch> = found.iter().map(|found| found.rows.clone()).collect();
        let settled = self.winners(change, &self.concat(&current)?)?;
        for (product, found) in products.iter_mut().zip(&found) {
            let Role::Kind { deleted } = product.role else { continue };
            product.exchange(found, &store::of_kind(&settled.rows, deleted)?)?;
        }
        Ok(settled)
    }

    /// All changes of the keys, and the stretches that they make.
    fn history_pass(
        &self,
        stretches: &mut Product,
        changes: &mut Product,
        change: &Change,
        wanted: Option<&Wanted>,
        part: Unit,
    ) -> Result<Settled> {
        let found = changes.find(self.warehouse, wanted, part)?;
        let keys = self.order.keys(&found.rows)?;
        let touched: Vec<bool> = keys.iter().map(|key| change.keys.contains(key.as_ref())).collect();
        let current =
            filter_record_batch(&found.rows, &BooleanArray::from(touched.clone())).map_err(internal)?;
        let stay: BooleanArray = touched.into_iter().map(|touched| Some(!touched)).collect();
        let stay = filter_record_batch(&found.rows, &stay).map_err(internal)?;
        let settled = self.winners(change, &current)?;
        let rows = self.concat(&[stay, settled.rows.clone()])?;
        let rows = fold::in_buckets(&changes.order, &rows, Buckets::ONE)?;
        let before = stretches.find(self.warehouse, wanted, part)?;
        let after = self.stretches(stretches, &rows)?;
        changes.exchange(&found, &rows)?;
        stretches.exchange(&before, &after)?;
        Ok(settled)
    }

    /// What the keys of a change hold now, of which `current` is what they held.
    fn winners(&self, change: &Change, current: &RecordBatch) -> Result<Settled> {
        let replaced = self.replaced_starts();
        let contest = fold::contest(&self.order, change, current, &replaced, self.ties.is_some())?;
        let asked = fold::only(&self.order, current, |key| contest.asked.contains(key))?;
        let answer = self.ask(&Wanted::of(&self.order, &[&asked])?)?;
        fold::settle(&self.order, contest, answer)
    }

    /// What the log says of identities, but for the slices that are replaced.
    fn ask(&self, wanted: &Wanted) -> Result<RecordBatch> {
        if !meets_elsewhere(self.spec) {
            return Ok(RecordBatch::new_empty(self.columns.clone()));
        }
        let others = self.decisions.map.entries().filter(|entry| !self.replaced.contains(&entry.interval));
        self.find(&others.collect::<Vec<_>>(), wanted)
    }

    /// What slices of the log say of identities.
    fn find(&self, slices: &[&Entry], wanted: &Wanted) -> Result<RecordBatch> {
        if wanted.is_empty() {
            return Ok(RecordBatch::new_empty(self.columns.clone()));
        }
        let files: Vec<(Interval, &FileEntry)> = slices.iter().copied().flat_map(files_of).collect();
        let found = parallel::map(&files, |(slice, file)| {
            let path = self.log().full(&file.name);
            // The first slice of a log may be cut.
            let (_, unit) = Unit::in_name(&file.name).unwrap_or((false, Unit::ALL));
            let ask = Ask::Keys(wanted, unit);
            Ok(self.log_reader(*slice).find((&path, file.bytes), &self.lookup, ask, &[])?.0)
        })?;
        self.concat(&found.concat())
    }

    /// Rows of slices of the log in one part of all keys.
    fn read(&self, slices: &[&Entry], part: Unit) -> Result<RecordBatch> {
        let files: Vec<(Interval, &FileEntry)> = slices.iter().copied().flat_map(files_of).collect();
        let found = parallel::map(&files, |(slice, file)| {
            let path = self.log().full(&file.name);
            let (rows, _) =
                self.log_reader(*slice).find((&path, file.bytes), &self.lookup, Ask::Part(part), &[])?;
            rows.iter().map(|batch| of_part(&self.order, batch, part)).collect::<Result<Vec<_>>>()
        })?;
        self.concat(&found.concat())
    }

    /// The replaced slices, as `map` has them.
    fn replaced_slices<'m>(&self, map: &'m SliceMap) -> Vec<&'m Entry> {
        self.replaced.iter().filter_map(|interval| map.get(*interval)).collect()
    }

    fn replaced_starts(&self) -> BTreeSet<Option<i64>> {
        self.replaced.iter().map(|interval| start_of(*interval)).collect()
    }

    fn concat(&self, batches: &[RecordBatch]) -> Result<RecordBatch> {
        concat_batches(&self.columns, batches).map_err(internal)
    }
}

/// Whether an identity may have changes in several slices. Where the date decides the slice, no other one dates a change
/// alike.
fn meets_elsewhere(spec: &FoldSpec) -> bool {
    spec.validity.as_ref().is_none_or(|validity| validity.at.is_some() && !validity.sliced)
}

/// The columns that folding of a log works on.
pub(super) fn columns_of(log: &State) -> Result<SchemaRef> {
    let changes = schema::user_schema(log.metadata.current_schema())?;
    let user = changes.fields().iter().filter(|field| field.name() != fold::DELETED).cloned();
    Ok(store::columns(&Schema::new(user.collect::<Vec<_>>())))
}

/// How files begin that are written for a slice.
pub(super) fn stem(epoch: Epoch, attempt: AttemptId, slice: Interval) -> String {
    format!("om-{epoch}-{attempt}-{}", label(slice))
}

pub(super) fn limits(spec: &FoldSpec) -> Limits {
    Limits { bucket_rows: spec.bucket_rows, share: spec.rewrite_share }
}

/// Files of a slice, with the slice.
fn files_of(slice: &Entry) -> impl Iterator<Item = (Interval, &FileEntry)> {
    slice.files.iter().map(|file| (slice.interval, file))
}

/// The rows of a batch in a part of all keys.
fn of_part(order: &Order, batch: &RecordBatch, part: Unit) -> Result<RecordBatch> {
    if part == Unit::ALL {
        return Ok(batch.clone());
    }
    let inside: BooleanArray = order.hashes(batch)?.into_iter().map(|hash| Some(part.holds(hash))).collect();
    filter_record_batch(batch, &inside).map_err(internal)
}

/// Starts of all slices that were published.
fn runs(map: &SliceMap) -> Vec<i64> {
    map.entries().filter(|entry| entry.stamp.is_some()).map(|entry| entry.interval.start().0).collect()
}
