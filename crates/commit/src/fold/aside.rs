//! Rows set aside on disk by the part of all keys that they belong to, in files that have no name: they vanish with the
//! process, however it ends.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::ipc::reader::FileReader;
use arrow::ipc::writer::FileWriter;

use super::order::Order;
use super::store::{Buckets, take};
use crate::disk::Disk;
use crate::error::{CommitError, Result};
use crate::parallel;
use crate::stage::internal;

/// The parts that rows are set aside by.
pub(super) const PARTS: Buckets = Buckets { bits: 6 };

/// Rows set aside, in several goes.
#[derive(Debug)]
pub(super) struct Spill {
    disk: Disk,
    /// Gives a fresh path.
    folder: PathBuf,
    fresh: u128,
    goes: Vec<Arc<File>>,
}

impl Spill {
    /// Room for rows in a folder; `fresh` makes names of files that nothing else has.
    pub(super) fn new(disk: Disk, folder: PathBuf, fresh: u128) -> Self {
        Spill { disk, folder, fresh, goes: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.goes.is_empty()
    }

    /// Sets rows aside, of each batch side by side.
    pub(super) fn add(&mut self, order: &Order, rows: &[RecordBatch]) -> Result<()> {
        let numbered: Vec<(usize, &RecordBatch)> = (self.goes.len()..).zip(rows).collect();
        let files = parallel::map(&numbered, |(number, rows)| self.set_aside(order, *number, rows))?;
        self.goes.extend(files.into_iter().map(Arc::new));
        Ok(())
    }

    fn set_aside(&self, order: &Order, number: usize, rows: &RecordBatch) -> Result<File> {
        let (sorted, ends) = by_part(&order.hashes(rows)?)?;
        let sorted = take(rows, sorted)?;
        let path = self.folder.join(format!(".om-spill-{:032x}-{number}", self.fresh));
        let failed = |error: &dyn std::fmt::Display| CommitError::io("set rows aside", error);
        let file = self.disk.create_aside(&path)?;
        let mut writer =
            FileWriter::try_new(io::BufWriter::new(&file), &rows.schema()).map_err(|error| failed(&error))?;
        let mut from = 0;
        for to in ends {
            writer.write(&sorted.slice(from, to - from)).map_err(|error| failed(&error))?;
            from = to;
        }
        writer.finish().map_err(|error| failed(&error))?;
        drop(writer);
        Ok(file)
    }

    /// The rows of a part.
    pub(super) fn read(&self, part: u64) -> Result<Vec<RecordBatch>> {
        let failed = |error: &dyn std::fmt::Display| CommitError::io("read rows set aside", error);
        let place = usize::try_from(part).map_err(internal)?;
        let mut found = Vec::with_capacity(self.goes.len());
        for file in &self.goes {
            let length = file.metadata().map_err(|error| failed(&error))?.len();
            let own = Own { file: Arc::clone(file), at: 0, length };
            let mut reader = FileReader::try_new(own, None).map_err(|error| failed(&error))?;
            reader.set_index(place).map_err(|error| failed(&error))?;
            if let Some(batch) = reader.next() {
                found.push(batch.map_err(|error| failed(&error))?);
            }
        }
        Ok(found)
    }
}

/// Places of rows by the part that they belong to, in their order, and where each part ends among them.
fn by_part(hashes: &[u128]) -> Result<(Vec<u32>, Vec<usize>)> {
    let part = |hash: &u128| usize::try_from(PARTS.of(*hash)).map_err(internal);
    let mut next = vec![0usize; 1 << PARTS.bits];
    for hash in hashes {
        next[part(hash)?] += 1;
    }
    let mut all = 0;
    for count in &mut next {
        all += std::mem::replace(count, all);
    }
    let mut places = vec![0u32; hashes.len()];
    for (row, hash) in (0u32..).zip(hashes) {
        let next = &mut next[part(hash)?];
        places[*next] = row;
        *next += 1;
    }
    // Where the next part begins, by now.
    Ok((places, next))
}

/// A file that several threads read at places of their own.
struct Own {
    file: Arc<File>,
    at: u64,
    length: u64,
}

impl Read for Own {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Own {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.length.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
