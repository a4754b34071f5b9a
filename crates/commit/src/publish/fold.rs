//! Takes the tables that are folded from a log along with a commit to it: which rows they hold when the log holds what
//! the commit makes it hold. Planned anew on each head, as the commit is.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use arrow::array::{BooleanArray, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, filter_record_batch, take_record_batch};
use arrow::datatypes::{Schema, SchemaRef};
use iceberg::spec::Struct;
use oncemore_core::{ColumnPrint, Digest, Epoch, Fingerprint, Interval, Pin, Stamp};

use super::decide::Decisions;
use super::snapshot::{self, Parts};
use super::{Change as Step, Publish, TableCommit};
use crate::error::{CommitError, Result};
use crate::fold::store::{self, Buckets, Reader};
use crate::fold::{self, Change, FoldSpec, Order, Reducer};
use crate::metadata::{self, schema};
use crate::rows::{RowHasher, RowsPrint, schema_digest};
use crate::slice_map::{Entry, FileEntry, SliceMap};
use crate::stage::file::FileWriter;
use crate::stage::{CHUNK, Files, internal, label, start_of};
use crate::state::State;
use crate::warehouse::Warehouse;

/// Changed rows looked at in one go.
const PASS_ROWS: u64 = 2 << 20;

/// The commits of all tables that are folded from the log that `decisions` are about.
pub(super) fn plan(
    warehouse: &Warehouse,
    decisions: &Decisions<'_>,
    publishes: &[Publish],
    spec: &FoldSpec,
) -> Result<Vec<TableCommit>> {
    let places = || decisions.replaced.iter().chain(&decisions.restamped);
    let newest = places().map(|place| &publishes[*place]).max_by_key(|publish| publish.stamp.epoch);
    let Some(newest) = newest else { return Ok(Vec::new()) };
    let takes_foreign = places()
        .any(|place| publishes[*place].replace_foreign || matches!(publishes[*place].change, Step::Adopt));
    let mut products = Vec::new();
    for (place, table) in spec.tables().enumerate() {
        let state = warehouse.state(table)?;
        let state = state.ok_or_else(|| CommitError::Config(format!("there is no table `{table}`")))?;
        if !state.is_ours() && !takes_foreign {
            return Err(CommitError::Foreign {
                table: table.clone(),
                interval: Interval::WHOLE,
                detail:
                    "its rows are folded from the changes beside it; `--replace-foreign` folds them again"
                        .to_owned(),
            });
        }
        let role = match (&spec.validity, place) {
            (None, 0) => Role::Kind { deleted: false },
            (None, _) => Role::Kind { deleted: true },
            (Some(_), 0) => Role::Stretches,
            (Some(_), _) => Role::Changes,
        };
        products.push(Product::new(warehouse, state, role)?);
    }
    let (before, after) = (fold::log_digest(&decisions.state.map), fold::log_digest(&decisions.map));
    let adopted = places().any(|place| matches!(publishes[*place].change, Step::Adopt));
    let follows = |product: &Product| product.reflects(before) && product.state.is_ours();
    let again = adopted || !decisions.state.is_ours() || !products.iter().all(follows);
    if before == after && !again {
        return Ok(Vec::new());
    }
    let folding = Folding::new(warehouse, decisions, publishes, spec, newest)?;
    if again {
        folding.all(&mut products)?;
    } else {
        folding.changes(&mut products)?;
    }
    let pin = Pin { input: decisions.state.table.to_string(), version: after };
    products.into_iter().map(|product| product.commit(warehouse, newest, &pin)).collect()
}

/// What of the changes that count a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Those that are deletions, or those that are none.
    Kind { deleted: bool },
    /// All.
    Changes,
    /// The stretches of time that they make.
    Stretches,
}

/// A folded table on its way from what it holds to what it is to hold.
struct Product {
    state: Arc<State>,
    role: Role,
    user: SchemaRef,
    prints: RowHasher,
    stamp: Option<Stamp>,
    /// The buckets of its files.
    buckets: Buckets,
    /// The buckets that they are to have.
    target: Buckets,
    /// Live files by bucket.
    files: BTreeMap<u64, Vec<FileEntry>>,
    /// Files written, by bucket.
    fresh: BTreeMap<u64, Vec<FileEntry>>,
    gone: Vec<FileEntry>,
    staged: Files,
    fingerprint: Fingerprint,
    columns: Vec<ColumnPrint>,
    clean: bool,
}

impl Product {
    fn new(warehouse: &Warehouse, state: Arc<State>, role: Role) -> Result<Product> {
        let user = schema::user_schema(state.metadata.current_schema())?;
        let config = |error: crate::rows::RowsError| CommitError::Config(error.to_string());
        let prints = RowHasher::new(&user, &metadata::key_of(&state.metadata)).map_err(config)?;
        let entry = state.map.get(Interval::WHOLE).cloned();
        let (stamp, own) = entry.map_or((None, Vec::new()), |entry| (entry.stamp, entry.files));
        let (mut live, mut clean) = (own, true);
        if !state.is_ours() {
            let found = state.live(warehouse)?;
            clean = found.elsewhere == 0 && found.deletes.is_empty();
            live = found.files.into_values().flatten().collect();
        }
        let mut files: BTreeMap<u64, Vec<FileEntry>> = BTreeMap::new();
        let mut buckets = Buckets { bits: 0 };
        for file in live {
            let (all, bucket) = Buckets::in_name(&file.name).unwrap_or((Buckets { bits: 0 }, 0));
            buckets = all;
            files.entry(bucket).or_default().push(file);
        }
        let (fingerprint, columns) = match &stamp {
            Some(stamp) => (stamp.fingerprint, stamp.columns.clone()),
            None => RowsPrint::new(&prints).finish(),
        };
        let staged = Files::none(warehouse.disk().clone());
        Ok(Product {
            state,
            role,
            user,
            prints,
            stamp,
            buckets,
            target: buckets,
            files,
            fresh: BTreeMap::new(),
            gone: Vec::new(),
            staged,
            fingerprint,
            columns,
            clean,
        })
    }

    /// Whether its rows are those of the log of that digest.
    fn reflects(&self, log: Digest) -> bool {
        match &self.stamp {
            Some(stamp) => {
                stamp.inputs.first().is_some_and(|pin| pin.version == log)
                    && stamp.schema == schema_digest(&self.user)
            }
            None => log == fold::log_digest(&SliceMap::default()),
        }
    }

    /// Whether its rows are changes that count, each in one such table.
    fn holds_changes(&self) -> bool {
        self.role != Role::Stretches
    }

    /// Drops everything: the rows are folded from nothing.
    fn clear(&mut self) {
        self.gone.extend(std::mem::take(&mut self.files).into_values().flatten());
        (self.fingerprint, self.columns) = RowsPrint::new(&self.prints).finish();
    }

    /// Takes rows out of the sums and others in.
    fn account(&mut self, before: &RecordBatch, after: &RecordBatch) {
        let sums = |rows: &RecordBatch| {
            let mut print = RowsPrint::new(&self.prints);
            print.add(&self.prints.hash(rows));
            print.finish()
        };
        let ((old, old_columns), (new, new_columns)) = (sums(before), sums(after));
        self.fingerprint = self.fingerprint.without(old).union(new);
        for ((own, old), new) in self.columns.iter_mut().zip(old_columns).zip(new_columns) {
            own.print = own.print.wrapping_sub(old.print).wrapping_add(new.print);
        }
    }

    /// Lets the files of a bucket go, where each is of one bucket.
    fn drop_unit(&mut self, unit: u64) {
        if self.buckets == self.target {
            self.gone.extend(self.files.remove(&unit).unwrap_or_default());
        }
    }

    fn rows(&self) -> u64 {
        self.files.values().flatten().map(|file| file.rows).sum()
    }

    /// Whether its files must be written anew for their buckets alone.
    fn grows(&self) -> bool {
        self.buckets != self.target && !self.files.is_empty()
    }

    /// Takes the files written for those of their buckets.
    fn finish(&mut self) {
        if self.buckets != self.target {
            self.gone.extend(std::mem::take(&mut self.files).into_values().flatten());
            self.buckets = self.target;
        }
        self.files.append(&mut self.fresh);
    }

    fn commit(mut self, warehouse: &Warehouse, newest: &Publish, pin: &Pin) -> Result<TableCommit> {
        self.finish();
        let now = warehouse.world().now();
        let files: Vec<FileEntry> = self.files.into_values().flatten().collect();
        let schema = schema_digest(&self.user);
        let same = self.stamp.filter(|stamp| {
            stamp.fingerprint == self.fingerprint && stamp.columns == self.columns && stamp.schema == schema
        });
        let draft = newest.stamp.clone();
        let stamp = Stamp {
            interval: Interval::WHOLE,
            code: draft.code,
            code_seen: draft.code_seen,
            written_by: draft.code,
            inputs: vec![pin.clone()],
            audits: draft.audits,
            epoch: draft.epoch,
            attempt: draft.attempt,
            fingerprint: self.fingerprint,
            columns: self.columns,
            schema,
            bytes: files.iter().map(|file| file.bytes).sum(),
            changed_at: same.map_or(now, |stamp| stamp.changed_at),
            verified_at: now,
            engine: draft.engine,
            origin: draft.origin,
        };
        let mut map = self.state.map.clone();
        // No fence: the log's fences guard what it is folded from.
        map.put(Entry { interval: Interval::WHOLE, fence: Epoch::default(), stamp: Some(stamp), files });
        let gone = if self.gone.is_empty() { Vec::new() } else { vec![(None, self.gone)] };
        let parts = Parts {
            state: &self.state,
            map,
            clean: self.clean,
            added: self.staged.list.iter().map(|(_, file, _)| file).collect(),
            gone: &gone,
            slices: 1,
        };
        let (mut commit, _) = snapshot::build(warehouse, parts)?;
        commit.staged = Some(self.staged);
        Ok(commit)
    }
}

/// One fold of a log: what all its passes share.
struct Folding<'a> {
    warehouse: &'a Warehouse,
    decisions: &'a Decisions<'a>,
    spec: &'a FoldSpec,
    /// Slices whose rows are replaced.
    replaced: Vec<Interval>,
    columns: SchemaRef,
    order: Order,
    marks: RowHasher,
    /// The columns of an identity alone.
    key_columns: SchemaRef,
    key_order: Order,
    /// By key, without dates, and by what a history tracks.
    by_key: Order,
    tracked: Option<Order>,
    /// Starts of all slices.
    runs: Vec<i64>,
    /// How files that the fold writes begin: epoch, attempt and slice that it is done for.
    stem: String,
}

impl<'a> Folding<'a> {
    fn new(
        warehouse: &'a Warehouse,
        decisions: &'a Decisions<'a>,
        publishes: &[Publish],
        spec: &'a FoldSpec,
        newest: &Publish,
    ) -> Result<Self> {
        let changes = schema::user_schema(decisions.state.metadata.current_schema())?;
        let user = changes.fields().iter().filter(|field| field.name() != fold::DELETED).cloned();
        let user = Schema::new(user.collect::<Vec<_>>());
        let columns = store::columns(&user);
        let identity = spec.identity();
        let tracked = spec.validity.as_ref().map(|validity| Order::new(&columns, &validity.tracked, &[]));
        let marked = columns.project(&(0..=user.fields().len()).collect::<Vec<_>>()).map_err(internal)?;
        let config = |error: crate::rows::RowsError| CommitError::Config(error.to_string());
        let key_columns = store::key_columns(&columns, &identity)?;
        Ok(Folding {
            warehouse,
            decisions,
            spec,
            replaced: decisions.replaced.iter().map(|place| publishes[*place].interval).collect(),
            order: Order::bucketed(&columns, &identity, &spec.order, &spec.key)?,
            marks: RowHasher::new(&marked, &[]).map_err(config)?,
            key_order: Order::new(&key_columns, &identity, &[])?,
            key_columns,
            by_key: Order::new(&columns, &spec.key, &[])?,
            tracked: tracked.transpose()?,
            runs: runs(&decisions.map),
            columns,
            stem: format!("om-{}-{}-{}", newest.stamp.epoch, newest.stamp.attempt, label(newest.interval)),
        })
    }

    fn reader<'s>(&'s self, state: &'s State, columns: &SchemaRef, deleted: bool) -> Reader<'s> {
        let disk = self.warehouse.disk();
        Reader { disk, table: &state.table, schema: columns.clone(), deleted, start: None }
    }

    /// A reader of files of one slice of the log.
    fn log_reader(&self, slice: Interval) -> Reader<'_> {
        Reader { start: start_of(slice), ..self.reader(self.log(), &self.columns, false) }
    }

    /// The columns of a product's rows.
    fn columns_of(&self, product: &Product) -> SchemaRef {
        if product.holds_changes() { self.columns.clone() } else { store::columns(&product.user) }
    }

    /// The stretches of time of keys, from all of their changes that count.
    fn stretches(&self, product: &Product, changes: &RecordBatch) -> Result<RecordBatch> {
        let (Some(validity), Some(tracked)) = (&self.spec.validity, &self.tracked) else {
            return Err(CommitError::Internal("stretches of what is no history".to_owned()));
        };
        let columns = self.columns_of(product);
        fold::stretches(validity, &self.by_key, tracked, changes, &self.runs, &columns)
    }

    fn log(&self) -> &'a Arc<State> {
        self.decisions.state
    }

    /// Folds all of the log from nothing.
    fn all(&self, products: &mut [Product]) -> Result<()> {
        products.iter_mut().for_each(Product::clear);
        let entries: Vec<&Entry> = self.decisions.map.entries().collect();
        let rows: u64 = entries.iter().flat_map(|entry| &entry.files).map(|file| file.rows).sum();
        let buckets = Buckets { bits: 0 }.grown(rows, self.spec.bucket_rows);
        products.iter_mut().for_each(|product| product.target = buckets);
        let passes = passes(rows, buckets);
        let identity = self.spec.identity();
        for pass in 0..1 << passes.bits {
            let mut reducer =
                Reducer::of_stored(&self.spec.state, self.columns.clone(), &identity, &self.spec.order)?;
            for (slice, file) in entries.iter().copied().flat_map(files_of) {
                self.log_reader(slice).each(&self.log().full(&file.name), |batch| {
                    reducer.push(&of_bucket(&self.order, &batch, passes, pass)?)
                })?;
            }
            let rows = reducer.finish()?.rows;
            let units = self.split(&rows, buckets)?;
            for product in products.iter_mut() {
                for (bucket, rows) in &units {
                    let rows = match product.role {
                        Role::Kind { deleted } => store::of_kind(rows, deleted)?,
                        Role::Changes => rows.clone(),
                        Role::Stretches => self.stretches(product, rows)?,
                    };
                    product.account(&RecordBatch::new_empty(rows.schema()), &rows);
                    self.write(product, *bucket, &rows)?;
                }
            }
        }
        Ok(())
    }

    /// Folds the keys again whose changes differ between the slices as they were and as they are now.
    fn changes(&self, products: &mut [Product]) -> Result<()> {
        let slices = |map: &'a SliceMap| -> Vec<&'a Entry> {
            self.replaced.iter().filter_map(|interval| map.get(*interval)).collect()
        };
        let (old, new) = (slices(&self.log().map), slices(&self.decisions.map));
        let rows = |slices: &[&Entry]| {
            slices.iter().flat_map(|slice| &slice.files).map(|file| file.rows).sum::<u64>()
        };
        let held: u64 = products.iter().map(Product::rows).sum();
        let before = products.iter().map(|product| product.buckets.bits).max().unwrap_or(0);
        let buckets = Buckets { bits: before }.grown(held + rows(&new), self.spec.bucket_rows);
        products.iter_mut().for_each(|product| product.target = buckets);
        let grown = products.iter().any(Product::grows);
        // A slice that holds all keys that are there says something of each of them.
        let again = self.spec.validity.as_ref().is_some_and(|validity| validity.at.is_none())
            && runs(&self.log().map) != self.runs;
        let passes = passes(rows(&old) + rows(&new), buckets);
        for pass in 0..1 << passes.bits {
            let (old, new) = (self.read(&old, passes, pass)?, self.read(&new, passes, pass)?);
            let change = Change::between(&self.order, &self.marks, &old, &new)?;
            let share = 1u64 << (buckets.bits - passes.bits);
            let units = if grown || again {
                (pass * share..(pass + 1) * share).collect()
            } else {
                self.touched(&change, &old, buckets)?
            };
            self.pass(products, &change, buckets, &units)?;
        }
        Ok(())
    }

    /// Buckets of the keys of a change.
    fn touched(&self, change: &Change, old: &RecordBatch, buckets: Buckets) -> Result<BTreeSet<u64>> {
        let gone = fold::only(&self.order, old, |key| change.keys.contains(key))?;
        let hashes = [self.order.hashes(&gone)?, self.order.hashes(&change.rows)?];
        Ok(hashes.iter().flatten().map(|hash| buckets.of(*hash)).collect())
    }

    fn pass(
        &self,
        products: &mut [Product],
        change: &Change,
        buckets: Buckets,
        units: &BTreeSet<u64>,
    ) -> Result<()> {
        let mut current = Vec::new();
        for unit in units {
            for product in products.iter().filter(|product| product.holds_changes()) {
                let rows = self.unit(product, *unit, buckets)?;
                current.push(fold::only(&self.order, &rows, |key| change.keys.contains(key))?);
            }
        }
        let current = self.concat(&current)?;
        let replaced: BTreeSet<_> = self.replaced.iter().map(|interval| start_of(*interval)).collect();
        let contest = fold::contest(&self.order, change, &current, &replaced)?;
        let answer = self.ask(&contest.asked)?;
        let winners = fold::settle(&self.order, contest, answer)?;
        let (before, after) = (self.split(&current, buckets)?, self.split(&winners, buckets)?);
        let none = RecordBatch::new_empty(self.columns.clone());
        for unit in units {
            let (old, new) = (before.get(unit).unwrap_or(&none), after.get(unit).unwrap_or(&none));
            if let [stretches, changes] = products
                && stretches.role == Role::Stretches
            {
                self.history_unit(stretches, changes, change, *unit, (old, new))?;
                continue;
            }
            for product in products.iter_mut() {
                let Role::Kind { deleted } = product.role else { continue };
                let (old, new) = (store::of_kind(old, deleted)?, store::of_kind(new, deleted)?);
                let same = Change::between(&self.order, &self.marks, &old, &new)?.keys.is_empty();
                if !same || product.grows() {
                    self.changed_unit(product, change, *unit, &old, new)?;
                }
            }
        }
        Ok(())
    }

    /// Writes a bucket of changes that count with some of them replaced; returns all of its rows.
    fn changed_unit(
        &self,
        product: &mut Product,
        change: &Change,
        unit: u64,
        old: &RecordBatch,
        new: RecordBatch,
    ) -> Result<RecordBatch> {
        product.account(old, &new);
        let rows = self.unit(product, unit, product.target)?;
        let stay = fold::only(&self.order, &rows, |key| !change.keys.contains(key))?;
        let rows = fold::winners(&self.order, &self.concat(&[stay, new])?)?;
        product.drop_unit(unit);
        self.write(product, unit, &rows)?;
        Ok(rows)
    }

    /// Writes a bucket of a history: its changes, and the stretches that they make.
    fn history_unit(
        &self,
        stretches: &mut Product,
        changes: &mut Product,
        change: &Change,
        unit: u64,
        (old, new): (&RecordBatch, &RecordBatch),
    ) -> Result<()> {
        let same = Change::between(&self.order, &self.marks, old, new)?.keys.is_empty();
        let rows = if same && !changes.grows() {
            self.unit(changes, unit, changes.target)?
        } else {
            self.changed_unit(changes, change, unit, old, new.clone())?
        };
        let before = self.unit(stretches, unit, stretches.target)?;
        let after = self.stretches(stretches, &rows)?;
        // But for the code that wrote them, which comes last.
        let kept: Vec<usize> = (1..after.num_columns()).map(|place| place - 1).collect();
        let compared = |rows: &RecordBatch| rows.project(&kept).map_err(internal);
        if compared(&before)? == compared(&after)? && !stretches.grows() {
            return Ok(());
        }
        stretches.account(&before, &after);
        stretches.drop_unit(unit);
        self.write(stretches, unit, &after)
    }

    /// What the log says of keys, but for the slices that are replaced.
    fn ask(&self, keys: &HashSet<fold::Key>) -> Result<RecordBatch> {
        let mut found = Vec::new();
        // Where the date decides the slice, no other one dates a change alike.
        let elsewhere =
            self.spec.validity.as_ref().is_none_or(|validity| validity.at.is_some() && !validity.sliced);
        if !keys.is_empty() && elsewhere {
            let others =
                self.decisions.map.entries().filter(|entry| !self.replaced.contains(&entry.interval));
            for (slice, file) in others.flat_map(files_of) {
                let path = self.log().full(&file.name);
                let reader = self.log_reader(slice);
                found.extend(reader.find(&path, &self.key_order, &self.key_columns, keys)?);
            }
        }
        self.concat(&found)
    }

    /// The rows of a product in one bucket of `buckets`, of which it may have fewer and larger ones.
    fn unit(&self, product: &Product, unit: u64, buckets: Buckets) -> Result<RecordBatch> {
        let smaller = buckets.bits - product.buckets.bits;
        let columns = self.columns_of(product);
        let by_key = Order::new(&columns, &self.spec.key, &[])?;
        let wanted = if smaller == 0 { Buckets { bits: 0 } } else { buckets };
        let reader = self.reader(&product.state, &columns, product.role == Role::Kind { deleted: true });
        let mut found = Vec::new();
        for file in product.files.get(&(unit >> smaller)).into_iter().flatten() {
            reader.each(&product.state.full(&file.name), |batch| {
                found.push(of_bucket(&by_key, &batch, wanted, unit)?);
                Ok(())
            })?;
        }
        concat_batches(&columns, &found).map_err(internal)
    }

    /// Rows of slices of the log in one bucket.
    fn read(&self, slices: &[&Entry], buckets: Buckets, bucket: u64) -> Result<RecordBatch> {
        let mut found = Vec::new();
        for (slice, file) in slices.iter().copied().flat_map(files_of) {
            self.log_reader(slice).each(&self.log().full(&file.name), |batch| {
                found.push(of_bucket(&self.order, &batch, buckets, bucket)?);
                Ok(())
            })?;
        }
        self.concat(&found)
    }

    /// Rows by bucket.
    fn split(&self, rows: &RecordBatch, buckets: Buckets) -> Result<BTreeMap<u64, RecordBatch>> {
        let hashes = self.order.hashes(rows)?;
        let mut places: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for (row, hash) in (0u32..).zip(hashes) {
            places.entry(buckets.of(hash)).or_default().push(row);
        }
        let take = |places: Vec<u32>| take_record_batch(rows, &UInt32Array::from(places)).map_err(internal);
        places.into_iter().map(|(bucket, places)| Ok((bucket, take(places)?))).collect()
    }

    fn concat(&self, batches: &[RecordBatch]) -> Result<RecordBatch> {
        concat_batches(&self.columns, batches).map_err(internal)
    }

    /// Writes the rows of a bucket, which are ordered by key.
    fn write(&self, product: &mut Product, bucket: u64, rows: &RecordBatch) -> Result<()> {
        let state = Arc::clone(&product.state);
        let iceberg = state.metadata.current_schema();
        let columns = schema::file_schema(iceberg)?;
        let disk = self.warehouse.disk();
        let folder = state.folder.join("data").join("all");
        let stem = format!("{}-b{}.{bucket}", self.stem, product.target.bits);
        let mut open: Option<FileWriter> = None;
        let mut number = 0;
        let mut from = 0;
        while from < rows.num_rows() {
            let chunk = rows.slice(from, CHUNK.min(rows.num_rows() - from));
            from += chunk.num_rows();
            let mut writer = match open.take() {
                Some(writer) => writer,
                None => {
                    disk.create_folder(&folder)?;
                    let name = format!("{stem}-{number}.parquet");
                    number += 1;
                    let path = folder.join(&name);
                    FileWriter::create(disk.clone(), path, format!("data/all/{name}"), columns.clone())?
                }
            };
            let full = writer.write(&store::to_file(&chunk, &columns, &state.table)?)?;
            if full || from == rows.num_rows() {
                let spec = state.metadata.default_partition_spec_id();
                let done = writer.finish(iceberg, spec, Struct::empty())?;
                product.fresh.entry(bucket).or_default().push(done.2.clone());
                product.staged.list.push(done);
            } else {
                open = Some(writer);
            }
        }
        Ok(())
    }
}

/// Files of a slice, with the slice.
fn files_of(slice: &Entry) -> impl Iterator<Item = (Interval, &FileEntry)> {
    slice.files.iter().map(|file| (slice.interval, file))
}

/// The rows of a batch in one bucket.
fn of_bucket(order: &Order, batch: &RecordBatch, buckets: Buckets, bucket: u64) -> Result<RecordBatch> {
    if buckets.bits == 0 {
        return Ok(batch.clone());
    }
    let hashes = order.hashes(batch)?;
    let wanted: BooleanArray = hashes.into_iter().map(|hash| Some(buckets.of(hash) == bucket)).collect();
    filter_record_batch(batch, &wanted).map_err(internal)
}

/// Starts of all slices that were published.
fn runs(map: &SliceMap) -> Vec<i64> {
    map.entries().filter(|entry| entry.stamp.is_some()).map(|entry| entry.interval.start().0).collect()
}

/// Into how many buckets the changed rows are cut, so that one holds what memory should.
fn passes(rows: u64, buckets: Buckets) -> Buckets {
    let wanted = Buckets { bits: 0 }.grown(rows, PASS_ROWS);
    Buckets { bits: wanted.bits.min(buckets.bits) }
}
