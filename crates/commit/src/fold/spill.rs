//! Rows set aside on disk by the part of all keys that they belong to, in files that have no name: they vanish with the
//! process, however it ends.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::ipc::reader::FileReader;
use arrow::ipc::writer::FileWriter;

use super::order::Order;
use super::store::Buckets;
use crate::disk::Disk;
use crate::error::{CommitError, Result};
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

    /// Sets rows aside.
    pub(super) fn add(&mut self, order: &Order, rows: &RecordBatch) -> Result<()> {
        let mut places: Vec<(u64, u32)> =
            (0u32..).zip(order.hashes(rows)?).map(|(row, hash)| (PARTS.of(hash), row)).collect();
        places.sort_unstable();
        let sorted = UInt32Array::from_iter_values(places.iter().map(|(_, row)| *row));
        let sorted = take_record_batch(rows, &sorted).map_err(internal)?;
        let path = self.folder.join(format!(".om-spill-{:032x}-{}", self.fresh, self.goes.len()));
        let failed = |error: &dyn std::fmt::Display| CommitError::io("set rows aside", error);
        let file = self.disk.create_aside(&path)?;
        let mut writer =
            FileWriter::try_new(io::BufWriter::new(&file), &rows.schema()).map_err(|error| failed(&error))?;
        let mut from = 0;
        for part in 0..1u64 << PARTS.bits {
            let to = from + places[from..].partition_point(|(own, _)| *own <= part);
            writer.write(&sorted.slice(from, to - from)).map_err(|error| failed(&error))?;
            from = to;
        }
        writer.finish().map_err(|error| failed(&error))?;
        drop(writer);
        self.goes.push(Arc::new(file));
        Ok(())
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
