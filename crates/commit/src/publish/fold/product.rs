//! A table that is folded from a log, on its way from what it holds to what it is to hold.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::{concat_batches, filter_record_batch};
use arrow::datatypes::SchemaRef;
use oncemore_core::{ColumnPrint, Digest, Epoch, Fingerprint, Interval, Pin, Stamp};

use super::super::snapshot::{self, Parts};
use super::super::{Publish, TableCommit};
use super::layout::Limits;
use crate::error::Result;
use crate::fold::store::{self, Ask, Lookup, Reader, Unit, Wanted};
use crate::fold::{self, FoldSpec, Order};
use crate::metadata::{self, schema};
use crate::parallel;
use crate::positions::{self, Positions};
use crate::rows::{RowHasher, RowsPrint, schema_digest};
use crate::slice_map::{Deletes, Entry, FileEntry, SliceMap};
use crate::stage::{Files, internal};
use crate::state::State;
use crate::warehouse::{Warehouse, text};

/// What of the changes that count a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Those that are deletions, or those that are none.
    Kind { deleted: bool },
    /// All.
    Changes,
    /// The stretches of time that they make.
    Stretches,
}

/// A data file that is live at the head.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) file: FileEntry,
    /// Its path as delete files have it.
    pub(super) path: String,
    /// Whether it lies over the files of buckets.
    pub(super) over: bool,
    pub(super) unit: Unit,
    /// Places that were deleted before, in order.
    pub(super) dead: Vec<u64>,
    /// Places that this commit deletes.
    pub(super) dying: Vec<u64>,
    /// Whether the commit lets it go.
    pub(super) is_gone: bool,
}

impl Held {
    /// Rows that are not deleted.
    pub(super) fn live(&self) -> u64 {
        self.file.rows.saturating_sub((self.dead.len() + self.dying.len()) as u64)
    }

    /// All deleted places, in order.
    pub(super) fn deleted(&self) -> Vec<u64> {
        let mut all = [self.dead.as_slice(), self.dying.as_slice()].concat();
        all.sort_unstable();
        all
    }
}

/// What a stamp says of rows: their fingerprint, and the prints of their columns.
pub(super) type Sums = (Fingerprint, Vec<ColumnPrint>);

/// Rows, and for each the file and the place that it lies at.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) rows: RecordBatch,
    pub(super) places: Vec<(usize, u64)>,
}

#[derive(Debug)]
pub(super) struct Product {
    pub(super) state: Arc<State>,
    pub(super) role: Role,
    /// The columns that folding works on.
    pub(super) columns: SchemaRef,
    pub(super) user: SchemaRef,
    prints: RowHasher,
    marks: RowHasher,
    /// By what rows are told apart; buckets by key.
    pub(super) order: Order,
    pub(super) lookup: Lookup,
    stamp: Option<Stamp>,
    pub(super) held: Vec<Held>,
    /// Delete files and what they delete.
    pub(super) deletes: Vec<(FileEntry, Positions)>,
    /// Rows that come.
    pub(super) fresh: Vec<RecordBatch>,
    /// Files written, data files and a delete file.
    pub(super) staged: Files,
    pub(super) written: Vec<FileEntry>,
    pub(super) written_deletes: Option<FileEntry>,
    pub(super) gone: Vec<FileEntry>,
    fingerprint: Fingerprint,
    column_prints: Vec<ColumnPrint>,
    clean: bool,
}

impl Product {
    /// `changes`: the columns that folding of the log works on.
    pub(super) fn new(
        warehouse: &Warehouse,
        state: Arc<State>,
        role: Role,
        spec: &FoldSpec,
        changes: &SchemaRef,
    ) -> Result<Product> {
        let user = schema::user_schema(state.metadata.current_schema())?;
        let prints = RowHasher::new(&user, &metadata::key_of(&state.metadata))?;
        let (columns, told_apart) = match role {
            Role::Kind { .. } => (changes.clone(), spec.key.clone()),
            Role::Changes => (changes.clone(), spec.identity()),
            Role::Stretches => (store::columns(&user), spec.state_key()),
        };
        // All but where a row came from, and the code that wrote it.
        let marked = (0..columns.fields().len() - 2).collect::<Vec<_>>();
        let marks = RowHasher::new(&columns.project(&marked).map_err(internal)?, &[])?;
        let entry = state.map.get(Interval::WHOLE).cloned();
        let entry = entry.unwrap_or_else(|| Entry::empty(Interval::WHOLE));
        let (stamp, mut files, mut deletes) = (entry.stamp, entry.files, entry.deletes.files);
        let mut clean = true;
        if !state.is_ours() {
            let found = state.live(warehouse)?;
            clean = found.elsewhere == 0;
            files = found.files.into_values().flatten().collect();
            deletes = found.deletes.into_values().flatten().collect();
        }
        let (fingerprint, column_prints) = match &stamp {
            Some(stamp) => (stamp.fingerprint, stamp.columns.clone()),
            None => RowsPrint::new(&prints).finish(),
        };
        let held = files.into_iter().map(|file| {
            let (over, unit) = Unit::in_name(&file.name).unwrap_or((true, Unit::ALL));
            let path = text(&state.full(&file.name))?;
            Ok(Held { file, path, over, unit, dead: Vec::new(), dying: Vec::new(), is_gone: false })
        });
        Ok(Product {
            held: held.collect::<Result<_>>()?,
            role,
            order: Order::bucketed(&columns, &told_apart, &[], &spec.key)?,
            lookup: Lookup::new(&columns, &spec.key)?,
            columns,
            user,
            prints,
            marks,
            stamp,
            deletes: deletes.into_iter().map(|file| (file, Positions::new())).collect(),
            fresh: Vec::new(),
            staged: Files::none(warehouse.disk().clone()),
            written: Vec::new(),
            written_deletes: None,
            gone: Vec::new(),
            fingerprint,
            column_prints,
            clean,
            state,
        })
    }

    /// Whether its rows are those of the log of that digest.
    pub(super) fn reflects(&self, log: Digest) -> bool {
        match &self.stamp {
            Some(stamp) => {
                stamp.inputs.first().is_some_and(|pin| pin.version == log)
                    && stamp.schema == schema_digest(&self.user)
            }
            None => log == fold::log_digest(&SliceMap::default()),
        }
    }

    /// Whether its files are there, in their size.
    pub(super) fn is_there(&self) -> bool {
        let mut files =
            self.held.iter().map(|held| &held.file).chain(self.deletes.iter().map(|(file, _)| file));
        files.all(|file| self.state.has(file))
    }

    /// Whether it has no rows at all.
    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Drops everything: the rows are folded from nothing.
    pub(super) fn clear(&mut self) {
        self.gone.extend(std::mem::take(&mut self.held).into_iter().map(|held| held.file));
        self.gone.extend(std::mem::take(&mut self.deletes).into_iter().map(|(file, _)| file));
        (self.fingerprint, self.column_prints) = RowsPrint::new(&self.prints).finish();
    }

    /// Reads which of its rows are deleted.
    pub(super) fn open(&mut self, warehouse: &Warehouse) -> Result<()> {
        let state = &self.state;
        let read = parallel::map(&self.deletes, |(file, _)| {
            positions::read(warehouse.disk(), &state.full(&file.name))
        })?;
        let places = self.held.iter().enumerate().map(|(place, held)| (held.path.clone(), place));
        let places: BTreeMap<String, usize> = places.collect();
        for ((_, own), positions) in self.deletes.iter_mut().zip(read) {
            for (path, found) in &positions {
                if let Some(place) = places.get(path) {
                    self.held[*place].dead.extend(found);
                }
            }
            *own = positions;
        }
        for held in &mut self.held {
            held.dead.sort_unstable();
            held.dead.dedup();
        }
        Ok(())
    }

    /// The rows of wanted keys, `None`: all, in a part of the table.
    pub(super) fn find(&self, warehouse: &Warehouse, wanted: Option<&Wanted>, part: Unit) -> Result<Found> {
        let files: Vec<(usize, &Held)> =
            self.held.iter().enumerate().filter(|(_, held)| held.unit.meets(part)).collect();
        let read = parallel::map(&files, |(place, held)| {
            let ask = wanted.map_or(Ask::Part(part), |wanted| Ask::Keys(wanted, held.unit));
            let (rows, places) = self.rows_of(warehouse, held, ask, &held.dead)?;
            let within = wanted.is_some() || part.covers(held.unit);
            let (rows, places) = if within { (rows, places) } else { self.within(&rows, &places, part)? };
            Ok((rows, places.into_iter().map(|row| (*place, row)).collect::<Vec<_>>()))
        })?;
        let (rows, places): (Vec<_>, Vec<_>) = read.into_iter().unzip();
        let rows = rows.into_iter().flatten().collect::<Vec<_>>();
        let rows = concat_batches(&self.columns, &rows).map_err(internal)?;
        Ok(Found { rows, places: places.into_iter().flatten().collect() })
    }

    /// The rows of a file that are asked for, but for those at the places `dead`; and their places.
    pub(super) fn rows_of(
        &self,
        warehouse: &Warehouse,
        held: &Held,
        ask: Ask<'_>,
        dead: &[u64],
    ) -> Result<(Vec<RecordBatch>, Vec<u64>)> {
        let reader = Reader {
            disk: warehouse.disk(),
            table: &self.state.table,
            schema: self.columns.clone(),
            deleted: self.role == Role::Kind { deleted: true },
            start: None,
        };
        let path = self.state.full(&held.file.name);
        reader.find((&path, held.file.bytes), &self.lookup, ask, dead)
    }

    /// Of rows and their places those in a part of the table.
    pub(super) fn within(
        &self,
        rows: &[RecordBatch],
        places: &[u64],
        part: Unit,
    ) -> Result<(Vec<RecordBatch>, Vec<u64>)> {
        let mut kept = Vec::with_capacity(rows.len());
        let mut kept_places = Vec::new();
        let mut places = places.iter();
        for batch in rows {
            let inside: Vec<bool> =
                self.order.hashes(batch)?.into_iter().map(|hash| part.holds(hash)).collect();
            let found = inside.iter().zip(places.by_ref()).filter(|(inside, _)| **inside);
            kept_places.extend(found.map(|(_, place)| *place));
            kept.push(filter_record_batch(batch, &BooleanArray::from(inside)).map_err(internal)?);
        }
        Ok((kept, kept_places))
    }

    /// Sets what keys hold from now on against what was found of them: rows that differ go and come.
    pub(super) fn exchange(&mut self, found: &Found, new: &RecordBatch) -> Result<()> {
        let (goes, comes) = fold::differing(&self.marks, &found.rows, new)?;
        for (goes, (file, place)) in goes.iter().zip(&found.places) {
            if goes == Some(true) {
                self.held[*file].dying.push(*place);
            }
        }
        let gone = filter_record_batch(&found.rows, &goes).map_err(internal)?;
        let fresh = filter_record_batch(new, &comes).map_err(internal)?;
        let sums = self.sums(&fresh);
        self.account(Some(self.sums(&gone)), sums);
        if fresh.num_rows() > 0 {
            self.fresh.push(fresh);
        }
        Ok(())
    }

    pub(super) fn sums(&self, rows: &RecordBatch) -> Sums {
        let mut print = RowsPrint::new(&self.prints);
        print.add(&self.prints.hash(rows));
        print.finish()
    }

    /// Takes the sums of rows out of its own and those of others in.
    pub(super) fn account(&mut self, gone: Option<Sums>, come: Sums) {
        if let Some((gone, columns)) = gone {
            self.fingerprint = self.fingerprint.without(gone);
            for (own, gone) in self.column_prints.iter_mut().zip(columns) {
                own.print = own.print.wrapping_sub(gone.print);
            }
        }
        let (come, columns) = come;
        self.fingerprint = self.fingerprint.union(come);
        for (own, come) in self.column_prints.iter_mut().zip(columns) {
            own.print = own.print.wrapping_add(come.print);
        }
    }

    /// The slice that the table is, as of the commit, without its stamp.
    fn entry(&mut self) -> Entry {
        let mut live: Vec<(FileEntry, u64)> = Vec::new();
        for held in std::mem::take(&mut self.held) {
            if held.is_gone {
                self.gone.push(held.file);
            } else {
                live.push((held.file, (held.dead.len() + held.dying.len()) as u64));
            }
        }
        live.extend(self.written.drain(..).map(|file| (file, 0)));
        live.sort_unstable();
        let mut deletes = Deletes::default();
        deletes.files.extend(self.deletes.drain(..).map(|(file, _)| file).chain(self.written_deletes.take()));
        let (files, dead): (Vec<_>, Vec<_>) = live.into_iter().unzip();
        if !deletes.files.is_empty() {
            deletes.dead = dead;
        }
        // No fence: the log's fences guard what it is folded from.
        Entry { interval: Interval::WHOLE, fence: Epoch::default(), stamp: None, files, deletes }
    }

    /// The commit to what it holds now, which is what the log of `pin` gives.
    pub(super) fn commit(
        mut self,
        warehouse: &Warehouse,
        newest: &Publish,
        pin: &Pin,
    ) -> Result<TableCommit> {
        let mut entry = self.entry();
        let now = warehouse.world().now();
        let schema = schema_digest(&self.user);
        let same = self.stamp.as_ref().filter(|stamp| {
            stamp.fingerprint == self.fingerprint
                && stamp.columns == self.column_prints
                && stamp.schema == schema
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
            columns: std::mem::take(&mut self.column_prints),
            schema,
            bytes: entry.files.iter().chain(&entry.deletes.files).map(|file| file.bytes).sum(),
            changed_at: same.map_or(now, |stamp| stamp.changed_at),
            verified_at: now,
            engine: draft.engine,
            origin: draft.origin,
        };
        entry.stamp = Some(stamp);
        self.commit_entry(warehouse, entry)
    }

    /// The commit to the same rows in other files.
    pub(super) fn commit_as_before(mut self, warehouse: &Warehouse) -> Result<TableCommit> {
        let mut entry = self.entry();
        let bytes = entry.files.iter().map(|file| file.bytes).sum();
        entry.stamp = self.stamp.take().map(|stamp| Stamp { bytes, ..stamp });
        self.commit_entry(warehouse, entry)
    }

    /// Whether its files are what a compaction would make of them.
    pub(super) fn is_compact(&self, limits: Limits) -> bool {
        let buckets = limits.whole(self.held.iter().map(Held::live).sum());
        self.deletes.is_empty() && self.held.iter().all(|held| !held.over && held.unit.buckets == buckets)
    }

    fn commit_entry(self, warehouse: &Warehouse, entry: Entry) -> Result<TableCommit> {
        let mut map = self.state.map.clone();
        map.put(entry);
        let gone = if self.gone.is_empty() { Vec::new() } else { vec![(None, self.gone)] };
        let parts = Parts {
            state: &self.state,
            map,
            clean: self.clean,
            added: self.staged.list.iter().map(|(_, file, _)| file).collect(),
            gone: &gone,
            slices: 1,
            deletes: true,
        };
        let (mut commit, _) = snapshot::build(warehouse, parts)?;
        commit.staged = Some(self.staged);
        Ok(commit)
    }
}
