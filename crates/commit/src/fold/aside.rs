//! Rows set aside by the part of all keys that they belong to: in memory, and what finds no room there on disk, in a
//! file that has no name: it vanishes with the process, however this ends.

use std::fs::File;
use std::io::Cursor;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;

use super::pick::by_number;
use super::store::{Buckets, take};
use crate::disk::Disk;
use crate::error::{CommitError, Result};
use crate::parallel;
use crate::room::Share;
use crate::stage::internal;

/// The parts that rows are set aside by.
pub(super) const PARTS: Buckets = Buckets { bits: 6 };

/// Rows set aside.
#[derive(Debug)]
pub(super) struct Aside {
    schema: SchemaRef,
    held: Vec<Piece>,
    share: Share,
    disk: Disk,
    /// Where a file is made, which is gone at once.
    path: PathBuf,
    files: Vec<OnDisk>,
}

/// Rows in the order of the parts that they belong to.
#[derive(Debug)]
pub(super) struct Piece {
    rows: RecordBatch,
    /// Where each part ends.
    ends: Vec<usize>,
}

#[derive(Debug)]
struct OnDisk {
    file: File,
    length: AtomicU64,
    /// Of each part, where its rows lie.
    places: Vec<Vec<Range<u64>>>,
}

impl Aside {
    /// Room for rows of `schema`: memory, and a file whose name, at `path`, nothing else has.
    pub(super) fn new(schema: SchemaRef, share: Share, disk: Disk, path: PathBuf) -> Self {
        Aside { schema, held: Vec::new(), share, disk, path, files: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.files.is_empty()
    }

    /// Sets rows aside.
    pub(super) fn add(&mut self, piece: Piece) -> Result<()> {
        let has_room = self.share.hold(piece.rows.get_array_memory_size());
        self.held.push(piece);
        if has_room { Ok(()) } else { self.write_held() }
    }

    /// Adds what others set aside.
    pub(super) fn join(&mut self, other: Aside) {
        self.held.extend(other.held);
        self.share.join(other.share);
        self.files.extend(other.files);
    }

    fn write_held(&mut self) -> Result<()> {
        let mut file = match self.files.pop() {
            Some(file) => file,
            None => OnDisk::create(&self.disk, &self.path)?,
        };
        let parts: Vec<usize> = (0..1 << PARTS.bits).collect();
        let written = parallel::map(&parts, |part| file.write(&self.schema, &self.part(*part)?))?;
        file.places.iter_mut().zip(written).for_each(|(places, place)| places.push(place));
        self.files.push(file);
        for piece in self.held.drain(..) {
            self.share.let_go(piece.rows.get_array_memory_size());
        }
        Ok(())
    }

    /// The rows of a part that memory holds.
    fn part(&self, part: usize) -> Result<RecordBatch> {
        let rows = self.held.iter().map(|piece| piece.part(part)).filter(|rows| rows.num_rows() > 0);
        concat_batches(&self.schema, &rows.collect::<Vec<_>>()).map_err(internal)
    }

    /// The rows of some parts.
    pub(super) fn read(&self, parts: Range<u64>) -> Result<RecordBatch> {
        let mut found = Vec::new();
        for part in parts {
            let part = usize::try_from(part).map_err(internal)?;
            self.files.iter().try_for_each(|file| file.read(part, &mut found))?;
            found.push(self.part(part)?);
        }
        concat_batches(&self.schema, &found).map_err(internal)
    }
}

impl Piece {
    /// Rows whose keys have these hashes.
    pub(super) fn new(rows: &RecordBatch, hashes: &[u128]) -> Result<Piece> {
        let part = |hash: &u128| usize::try_from(PARTS.of(*hash)).map_err(internal);
        let parts = hashes.iter().map(part).collect::<Result<Vec<_>>>()?;
        let (sorted, ends) = by_number(&parts, 1 << PARTS.bits);
        Ok(Piece { rows: take(rows, sorted)?, ends })
    }

    fn part(&self, part: usize) -> RecordBatch {
        let from = if part == 0 { 0 } else { self.ends[part - 1] };
        self.rows.slice(from, self.ends[part] - from)
    }
}

impl OnDisk {
    fn create(disk: &Disk, path: &Path) -> Result<OnDisk> {
        let places = vec![Vec::new(); 1 << PARTS.bits];
        Ok(OnDisk { file: disk.create_aside(path)?, length: AtomicU64::new(0), places })
    }

    /// Writes rows behind all others; yields where they lie.
    fn write(&self, schema: &SchemaRef, rows: &RecordBatch) -> Result<Range<u64>> {
        let mut encoded = Vec::with_capacity(rows.get_array_memory_size() + 4_096);
        let mut writer = StreamWriter::try_new(&mut encoded, schema).map_err(internal)?;
        writer.write(rows).map_err(internal)?;
        writer.finish().map_err(internal)?;
        drop(writer);
        let from = self.length.fetch_add(encoded.len() as u64, Ordering::Relaxed);
        let written = self.file.write_all_at(&encoded, from);
        written.map_err(|error| CommitError::io("set rows aside", error))?;
        Ok(from..from + encoded.len() as u64)
    }

    /// Adds the rows of a part to those found.
    fn read(&self, part: usize, found: &mut Vec<RecordBatch>) -> Result<()> {
        let failed = |error: &dyn std::fmt::Display| CommitError::io("read rows set aside", error);
        for place in &self.places[part] {
            let mut encoded = vec![0; usize::try_from(place.end - place.start).map_err(internal)?];
            self.file.read_exact_at(&mut encoded, place.start).map_err(|error| failed(&error))?;
            let reader = StreamReader::try_new(Cursor::new(encoded), None).map_err(|error| failed(&error))?;
            for rows in reader {
                found.push(rows.map_err(|error| failed(&error))?);
            }
        }
        Ok(())
    }
}
