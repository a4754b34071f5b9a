//! Where a source's bytes come from: a folder, opened through `object_store`. The one port to them; a format
//! sees an [`Object`] and not where it lies.
//!
//! Owns opening, what an opened object's identity is, and reading at any place of it. Bytes and identity are
//! those of the very file that was opened, whatever its name leads to by then. Opening is async and holds no
//! thread while it waits; reading is not, and belongs into [`blocking`].
//!
//! Which files there are is found by `discover`, not by the store's own list: that follows links out of the
//! folder, leaves out some names without a word, and knows neither device nor `ctime`, so that each file would
//! be asked again. It takes 2.2 ms for 365 files; our walk takes 1.2, with the comparison of what was known
//! (`cargo bench --bench sources`, least of five).

use std::error::Error;
use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Location;
use object_store::{GetResultPayload, ObjectStoreExt};
use oncemore_core::Instant;
use oncemore_core::fault::{self, Faults, Step, When};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};
use serde::{Deserialize, Serialize};

use super::error::{SourceError, SourceErrorKind};

/// Files this young may still change without a trace: clocks of file systems are coarse.
const YOUNG_MICROS: i64 = 2_000_000;

/// What changes when an object's bytes change, as far as its store tells. Only equality and the methods here
/// mean something: a store without inodes would tell by others than device, inode, size and the two times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity(u64, u64, u64, i64, i64);

impl Identity {
    pub(crate) fn of(metadata: &Metadata) -> Identity {
        let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        Identity(
            metadata.dev(),
            metadata.ino(),
            metadata.size(),
            nanos(metadata.mtime(), metadata.mtime_nsec()),
            nanos(metadata.ctime(), metadata.ctime_nsec()),
        )
    }

    /// Size in bytes.
    pub fn bytes(&self) -> u64 {
        self.2
    }

    /// Whether the last change lies far enough in the past to show in the times of a next one.
    pub(crate) fn is_settled(&self, now: Instant) -> bool {
        self.3.max(self.4) / 1_000 <= now.0.saturating_sub(YOUNG_MICROS)
    }
}

/// The project's folder as a store. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    objects: LocalFileSystem,
    faults: Option<Arc<dyn Faults>>,
}

impl Store {
    /// The store of a project.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn new(project_root: &Path) -> Result<Store, SourceError> {
        Self::with_faults(project_root, None)
    }

    /// The store of a project with a decision on which calls fail.
    ///
    /// # Errors
    /// As [`Store::new`].
    pub fn with_faults(project_root: &Path, faults: Option<Arc<dyn Faults>>) -> Result<Store, SourceError> {
        let shown = project_root.to_string_lossy();
        let failed = |error: &io::Error| SourceError::io(&shown, "no project folder", error);
        let root = project_root.canonicalize().map_err(|error| failed(&error))?;
        let objects = LocalFileSystem::new_with_prefix(&root).map_err(|error| failed(&io_error(&error)))?;
        Ok(Store { root, objects, faults })
    }

    /// Does what lists files as one step; `path` is named where it fails.
    pub(crate) fn list<T>(
        &self,
        path: &str,
        work: impl FnOnce() -> Result<T, SourceError>,
    ) -> Result<T, SourceError> {
        let failed = |error: io::Error| SourceError::io(path, "can't list the folder", &error);
        self.ask(Step::ListSource, When::Before).map_err(failed)?;
        let done = work()?;
        self.ask(Step::ListSource, When::After).map_err(failed)?;
        Ok(done)
    }

    fn ask(&self, step: Step, when: When) -> io::Result<()> {
        self.faults.as_ref().map_or(Ok(()), |faults| faults.at(step, when))
    }

    /// The project's folder, without links.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Opens the object at `path`, relative to the project's folder.
    pub(crate) async fn open(&self, path: &str) -> Result<Object, SourceError> {
        let location = self.location(path)?;
        let failed = |error: io::Error| SourceError::io(path, "can't open", &error);
        self.ask(Step::OpenSource, When::Before).map_err(failed)?;
        let found = (self.objects.get(&location).await).map_err(|error| {
            match SourceError::io(path, "can't open", &io_error(&error)) {
                // How a name that is no UTF-8 was written down: no file has that one.
                error
                    if error.kind == SourceErrorKind::Missing
                        && path.contains(char::REPLACEMENT_CHARACTER) =>
                {
                    unspeakable(path)
                }
                error => error,
            }
        })?;
        let GetResultPayload::File(file, _) = found.payload else {
            return Err(SourceError::new(SourceErrorKind::Internal, path, "the store opened no file"));
        };
        let metadata = file.metadata().map_err(|error| cant_look(path, &error))?;
        let identity = Identity::of(&metadata);
        self.ask(Step::OpenSource, When::After).map_err(failed)?;
        let file = Reading { file, faults: self.faults.clone() };
        Ok(Object { path: path.to_owned(), file: Arc::new(file), identity })
    }

    /// The store's name for a path. Some names it can't say, and some it would read as another file's.
    fn location(&self, path: &str) -> Result<Location, SourceError> {
        let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        let location = Location::parse(parts.join("/")).ok();
        location
            .filter(|location| {
                (self.objects.path_to_filesystem(location)).is_ok_and(|full| full == self.root.join(path))
            })
            .ok_or_else(|| unspeakable(path))
    }
}

/// An opened object: the same bytes to whoever reads it, each from where it wants.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    path: String,
    file: Arc<Reading>,
    identity: Identity,
}

/// An opened file, each read of which is a step.
#[derive(Debug)]
struct Reading {
    file: File,
    faults: Option<Arc<dyn Faults>>,
}

impl Reading {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        fault::call(self.faults.as_ref(), Step::ReadSource, || self.file.read_at(buffer, offset))
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        fault::call(self.faults.as_ref(), Step::ReadSource, || self.file.read_exact_at(buffer, offset))
    }
}

impl Object {
    /// Path relative to the project's folder.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// As it was when it was opened.
    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Whether it was written to since it was opened.
    pub(crate) fn changed(&self) -> Result<bool, SourceError> {
        let metadata = self.file.file.metadata().map_err(|error| cant_look(&self.path, &error))?;
        Ok(Identity::of(&metadata) != self.identity)
    }

    /// A reader from `offset` to the end, independent of others.
    pub(crate) fn reader(&self, offset: u64) -> ObjectReader {
        ObjectReader { file: Arc::clone(&self.file), offset }
    }

    /// The bytes from `offset`, all of `buffer`.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), SourceError> {
        self.file
            .read_exact_at(buffer, offset)
            .map_err(|error| SourceError::io(&self.path, "can't read", &error))
    }
}

/// Reads an object on from a place.
pub(crate) struct ObjectReader {
    file: Arc<Reading>,
    offset: u64,
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

impl Length for Object {
    fn len(&self) -> u64 {
        self.identity.bytes()
    }
}

impl ChunkReader for Object {
    type T = BufReader<ObjectReader>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(BufReader::new(self.reader(start)))
    }

    /// No more than the object has: a claimed length is not believed.
    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.len()) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} lie beyond the file's end")));
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(Bytes::from(bytes))
    }
}

/// Does what may block, on a thread that may; a panic is an error that names `path`.
pub(crate) async fn blocking<T: Send + 'static>(
    path: &str,
    work: impl FnOnce() -> Result<T, SourceError> + Send + 'static,
) -> Result<T, SourceError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(SourceError::new(SourceErrorKind::Internal, path, format!("the read broke off: {error}")))
    })
}

fn unspeakable(path: &str) -> SourceError {
    SourceError::new(SourceErrorKind::Malformed, path, "a file of this name can't be opened")
        .help("rename it: in UTF-8, without control characters, without `#` and a number at its end")
}

fn cant_look(path: &str, error: &io::Error) -> SourceError {
    SourceError::io(path, "can't look at it", error)
}

/// What the operating system said, within what the store says.
fn io_error(error: &object_store::Error) -> io::Error {
    let mut at: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(inner) = at {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            return match io.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(io.kind(), io.to_string()),
            };
        }
        at = inner.source();
    }
    io::Error::other(error.to_string())
}
