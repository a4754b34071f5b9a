//! Puts what changes of a folded table into files, as its layout wants them.

use std::collections::{BTreeMap, HashSet};

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use iceberg::spec::{DataContentType, Struct};
use oncemore_core::Epoch;

use super::layout::{self, Limits, Over, Tile};
use super::product::{Held, Product};
use crate::error::Result;
use crate::fold::store::{self, Ask, Buckets, Unit, by, take};
use crate::fold::{in_buckets, index};
use crate::gc::parse_name;
use crate::metadata::schema;
use crate::metadata::stats::About;
use crate::parallel;
use crate::positions::{self, MARK, Positions};
use crate::stage::file::{FileWriter, Pages, chunks, write_all};
use crate::stage::{Files, internal};
use crate::warehouse::Warehouse;

/// What writing of a table's files needs beside its rows.
#[derive(Debug)]
pub(super) struct Writing<'a> {
    pub(super) warehouse: &'a Warehouse,
    /// How names of files begin: epoch, attempt and slice that they are written for.
    pub(super) stem: &'a str,
    /// The key columns.
    pub(super) key: &'a [String],
    pub(super) limits: Limits,
}

/// A bucket to write: its unit, rows that come to it, and whether it may be cut further.
struct Job {
    unit: Unit,
    rows: Vec<RecordBatch>,
    is_cut: bool,
}

impl Writing<'_> {
    /// Writes what comes and what goes; afterwards the product holds the files that it is to hold.
    pub(super) fn settle(&self, product: &mut Product) -> Result<()> {
        let fresh = std::mem::take(&mut product.fresh);
        let fresh = concat_batches(&product.columns, &fresh).map_err(internal)?;
        let hashes = product.order.hashes(&fresh)?;
        let mut tiles = tiles_of(product);
        for hash in &hashes {
            let place = layout::tile_of(&tiles, *hash);
            tiles[place].fresh += 1;
        }
        let chosen = layout::rewritten(&tiles, &overs(product).1, self.limits);
        let mut stay = Vec::new();
        let mut jobs: BTreeMap<usize, Vec<RecordBatch>> =
            (0..tiles.len()).filter(|tile| chosen[*tile]).map(|tile| (tile, Vec::new())).collect();
        for (tile, places) in by(hashes.iter().map(|hash| layout::tile_of(&tiles, *hash))) {
            let rows = take(&fresh, places)?;
            jobs.get_mut(&tile).unwrap_or(&mut stay).push(rows);
        }
        self.gather(product, &tiles, &mut jobs)?;
        let jobs = jobs.into_iter().map(|(tile, rows)| Job { unit: tiles[tile].unit, rows, is_cut: true });
        self.rewrite(product, &jobs.collect::<Vec<_>>())?;
        self.lay_over(product, stay)?;
        self.delete(product)
    }

    /// Writes all of the table anew, in as few buckets as hold it.
    pub(super) fn compact(&self, product: &mut Product) -> Result<()> {
        let buckets = self.limits.whole(product.held.iter().map(Held::live).sum());
        let units = (0..1 << buckets.bits).map(|bucket| Unit { buckets, bucket });
        let age = Epoch::default();
        let tiles: Vec<Tile> =
            units.map(|unit| Tile { unit, rows: 0, dead: 0, dying: 0, fresh: 0, age }).collect();
        let mut jobs = (0..tiles.len()).map(|tile| (tile, Vec::new())).collect();
        self.gather(product, &tiles, &mut jobs)?;
        let jobs = jobs.into_iter().map(|(tile, rows)| Job { unit: tiles[tile].unit, rows, is_cut: false });
        self.rewrite(product, &jobs.collect::<Vec<_>>())?;
        self.delete(product)
    }

    /// Takes the rows that lie over buckets to be written out of their files.
    fn gather(
        &self,
        product: &mut Product,
        tiles: &[Tile],
        jobs: &mut BTreeMap<usize, Vec<RecordBatch>>,
    ) -> Result<()> {
        let wanted: Vec<Unit> = jobs.keys().map(|tile| tiles[*tile].unit).collect();
        let meets =
            |held: &Held| held.over && held.live() > 0 && wanted.iter().any(|unit| held.unit.meets(*unit));
        let files: Vec<(usize, &Held)> =
            product.held.iter().enumerate().filter(|(_, held)| meets(held)).collect();
        let read = parallel::map(&files, |(place, held)| {
            let (rows, places) =
                product.rows_of(self.warehouse, held, Ask::Part(Unit::ALL), &held.deleted())?;
            let rows = concat_batches(&product.columns, &rows).map_err(internal)?;
            let hashes = product.order.hashes(&rows)?;
            let tiles: Vec<usize> = hashes.iter().map(|hash| layout::tile_of(tiles, *hash)).collect();
            Ok((*place, rows, places, tiles))
        })?;
        for (file, rows, places, tiles) in read {
            let gone = places.iter().zip(&tiles).filter(|(_, tile)| jobs.contains_key(tile));
            product.held[file].dying.extend(gone.map(|(place, _)| *place));
            for (tile, places) in by(tiles.into_iter()) {
                if let Some(job) = jobs.get_mut(&tile) {
                    job.push(take(&rows, places)?);
                }
            }
        }
        Ok(())
    }

    /// Writes buckets anew, with the rows that come to them.
    fn rewrite(&self, product: &mut Product, jobs: &[Job]) -> Result<()> {
        let written = parallel::map(jobs, |job| {
            let mut rows = job.rows.clone();
            for held in product.held.iter().filter(|held| !held.over && held.unit.meets(job.unit)) {
                let ask = Ask::Part(job.unit);
                let (found, places) = product.rows_of(self.warehouse, held, ask, &held.deleted())?;
                let inside = job.unit.covers(held.unit);
                rows.extend(if inside { found } else { product.within(&found, &places, job.unit)?.0 });
            }
            let rows = concat_batches(&product.columns, &rows).map_err(internal)?;
            let buckets = match job.is_cut {
                true => self.limits.finer(job.unit, rows.num_rows() as u64),
                false => job.unit.buckets,
            };
            self.write_units(product, buckets, false, &rows)
        })?;
        written.into_iter().for_each(|written| product.take(written));
        for held in &mut product.held {
            held.is_gone |= !held.over && jobs.iter().any(|job| job.unit.meets(held.unit));
        }
        Ok(())
    }

    /// Lays rows over the buckets, with those of files that are merged.
    fn lay_over(&self, product: &mut Product, mut rows: Vec<RecordBatch>) -> Result<()> {
        let fresh: usize = rows.iter().map(RecordBatch::num_rows).sum();
        if fresh > 0 {
            let (places, overs) = overs(product);
            let merged: Vec<usize> =
                layout::merged(&overs, fresh as u64).into_iter().map(|place| places[place]).collect();
            let read = parallel::map(&merged, |place| {
                let held = &product.held[*place];
                product.rows_of(self.warehouse, held, Ask::Part(Unit::ALL), &held.deleted())
            })?;
            rows.extend(read.into_iter().flat_map(|(rows, _)| rows));
            merged.into_iter().for_each(|place| product.held[place].is_gone = true);
        }
        let rows = concat_batches(&product.columns, &rows).map_err(internal)?;
        let buckets = self.limits.over(rows.num_rows() as u64);
        let written = self.write_units(product, buckets, true, &rows)?;
        product.take(written);
        Ok(())
    }

    /// Writes which rows of files that stay are deleted.
    fn delete(&self, product: &mut Product) -> Result<()> {
        product.held.iter_mut().filter(|held| held.live() == 0).for_each(|held| held.is_gone = true);
        let stays = product.held.iter_mut().filter(|held| !held.is_gone && !held.dying.is_empty());
        let mut fresh: Positions = stays
            .map(|held| {
                held.dying.sort_unstable();
                (held.path.clone(), held.dying.clone())
            })
            .collect();
        let live: HashSet<&str> =
            product.held.iter().filter(|held| !held.is_gone).map(|held| held.path.as_str()).collect();
        for (_, positions) in &mut product.deletes {
            positions.retain(|path, _| live.contains(path.as_str()));
        }
        let count = |positions: &Positions| positions.values().map(|places| places.len() as u64).sum::<u64>();
        let (stay, over): (Vec<_>, Vec<_>) = std::mem::take(&mut product.deletes)
            .into_iter()
            .partition(|(_, positions)| !positions.is_empty());
        product.gone.extend(over.into_iter().map(|(file, _)| file));
        let counts: Vec<u64> = stay.iter().map(|(_, positions)| count(positions)).collect();
        let absorbed = layout::absorbed(&counts, count(&fresh));
        for (place, (file, positions)) in stay.into_iter().enumerate() {
            if !absorbed.contains(&place) {
                product.deletes.push((file, positions));
                continue;
            }
            product.gone.push(file);
            for (path, mut places) in positions {
                fresh.entry(path).or_default().append(&mut places);
            }
        }
        if fresh.is_empty() {
            return Ok(());
        }
        for places in fresh.values_mut() {
            places.sort_unstable();
            places.dedup();
        }
        let state = &product.state;
        let name = format!("data/all/{}{MARK}0.parquet", self.stem);
        self.warehouse.disk().create_folder(&state.folder.join("data").join("all"))?;
        let spec = state.metadata.default_partition_spec_id();
        let path = state.folder.join(&name);
        let done = positions::write(self.warehouse.disk(), path, name, spec, &fresh)?;
        product.written_deletes = Some(done.2.clone());
        product.staged.list.push(done);
        Ok(())
    }

    /// Writes rows into the units that they belong to.
    fn write_units(
        &self,
        product: &Product,
        buckets: Buckets,
        over: bool,
        rows: &RecordBatch,
    ) -> Result<Files> {
        let hashes = product.order.hashes(rows)?;
        let mut written = Files::none(self.warehouse.disk().clone());
        for (bucket, places) in by(hashes.iter().map(|hash| buckets.of(*hash))) {
            let unit = Unit { buckets, bucket };
            let part = if places.len() == rows.num_rows() { rows.clone() } else { take(rows, places)? };
            written.list.append(&mut self.write(product, unit, over, &part)?.list);
        }
        Ok(written)
    }

    /// Writes rows of one unit.
    pub(super) fn write(
        &self,
        product: &Product,
        unit: Unit,
        over: bool,
        rows: &RecordBatch,
    ) -> Result<Files> {
        let buckets = index::buckets_of(unit, rows.num_rows() as u64);
        let rows = &in_buckets(&product.order, rows, buckets)?;
        let iceberg = product.state.metadata.current_schema();
        let columns = schema::file_schema(iceberg)?;
        let disk = self.warehouse.disk();
        let folder = product.state.folder.join("data").join("all");
        let about = About {
            content: DataContentType::Data,
            schema: iceberg,
            partition: Struct::empty(),
            spec_id: product.state.metadata.default_partition_spec_id(),
        };
        let table = &product.state.table;
        let next = |number: usize| {
            disk.create_folder(&folder)?;
            let name = self.name(unit, over, number);
            let (path, name) = (folder.join(&name), format!("data/all/{name}"));
            FileWriter::create(disk.clone(), path, name, columns.clone(), Pages::ByKey(self.key, buckets))
        };
        let chunks = chunks(rows).map(|chunk| store::to_file(&chunk, &columns, table));
        write_all(disk, chunks, next, about)
    }

    /// The name of a file of one unit.
    pub(super) fn name(&self, unit: Unit, over: bool, number: usize) -> String {
        format!("{}-{}-{number}.parquet", self.stem, unit.name(over))
    }
}

impl Product {
    pub(super) fn take(&mut self, mut written: Files) {
        self.written.extend(written.list.iter().map(|(_, _, file)| file.clone()));
        self.staged.list.append(&mut written.list);
    }
}

/// The buckets of a table, as its files have them and this commit changes them.
fn tiles_of(product: &Product) -> Vec<Tile> {
    let mut there: BTreeMap<Unit, (u64, Epoch)> = BTreeMap::new();
    let base = || product.held.iter().filter(|held| !held.over);
    for held in base() {
        let name = held.file.name.rsplit('/').next().unwrap_or_default();
        let age = parse_name(name).map(|(epoch, ..)| epoch).unwrap_or_default();
        let (rows, known) = there.entry(held.unit).or_default();
        *rows += held.file.rows;
        *known = (*known).max(age);
    }
    let mut tiles = layout::tiles(&there);
    for held in base() {
        let place = layout::tile_of(&tiles, held.unit.first());
        tiles[place].dead += held.dead.len() as u64;
        tiles[place].dying += held.dying.len() as u64;
    }
    tiles
}

/// Files that lie over buckets, and their places among all.
fn overs(product: &Product) -> (Vec<usize>, Vec<Over>) {
    let live = |held: &Held| held.over && !held.is_gone && held.live() > 0;
    let files = product.held.iter().enumerate().filter(|(_, held)| live(held));
    files.map(|(place, held)| (place, Over { unit: held.unit, rows: held.live() })).unzip()
}
