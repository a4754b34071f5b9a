//! The one way to the file system and to the catalog's transaction borders: durable writes, and the place where
//! tests make any of them fail. Knows nothing of what it writes.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use oncemore_core::Instant;
use oncemore_core::fault::{Faults, Step, call};

use crate::error::{CommitError, Result};

/// A local disk.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    faults: Option<Arc<dyn Faults>>,
}

impl Disk {
    pub(crate) fn new(faults: Option<Arc<dyn Faults>>) -> Self {
        Disk { faults }
    }

    pub(crate) fn step<T>(&self, step: Step, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        call(self.faults.as_ref(), step, work)
    }

    pub(crate) fn create_folder(&self, path: &Path) -> Result<()> {
        let make = || fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
        let made = self.step(Step::CreateFolder, make);
        made.map_err(|error| CommitError::io(format!("create folder {}", path.display()), error))
    }

    /// Makes the names of a folder and of `depth` folders above it durable.
    pub(crate) fn sync_folders(&self, path: &Path, depth: usize) -> Result<()> {
        let folders: Vec<&Path> = path.ancestors().take(depth + 1).collect();
        let durable = self.step(Step::SyncFolders, || sync(&folders));
        durable.map_err(|error| CommitError::io(format!("make folder {} durable", path.display()), error))
    }

    /// A new file for rows; nothing may be there.
    pub(crate) fn create(&self, path: &Path) -> Result<File> {
        let open = || OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        self.step(Step::WriteData, open)
            .map_err(|error| CommitError::io(format!("create {}", path.display()), error))
    }

    /// A new file without a name, to write and to read again.
    pub(crate) fn create_aside(&self, path: &Path) -> Result<File> {
        let open = || {
            let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
            fs::remove_file(path)?;
            Ok(file)
        };
        self.step(Step::WriteData, open)
            .map_err(|error| CommitError::io(format!("create {}", path.display()), error))
    }

    /// Writes new files of one folder, then makes them and files written before durable, with the names of all.
    ///
    /// Syncs run side by side, so that the file system's journal takes many in one go. False where a file went before
    /// it was durable: a clean-up took it for that of a dead process.
    pub(crate) fn persist(&self, new: &[(PathBuf, Vec<u8>)], before: &[PathBuf]) -> Result<bool> {
        for (path, bytes) in new {
            let write = || {
                let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
                file.write_all(bytes)
            };
            let written = self.step(Step::WriteMetadata, write);
            written.map_err(|error| CommitError::io(format!("write {}", path.display()), error))?;
        }
        let files: Vec<&Path> =
            before.iter().chain(new.iter().map(|(path, _)| path)).map(PathBuf::as_path).collect();
        let mut folders: BTreeSet<&Path> = files.iter().filter_map(|path| path.parent()).collect();
        // Folders of slices may be new themselves.
        folders.extend(before.iter().filter_map(|path| path.parent()?.parent()));
        let folders: Vec<&Path> = folders.into_iter().collect();
        match self.step(Step::SyncFiles, || sync(&files)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            durable => durable.map_err(|error| CommitError::io("make files durable", error))?,
        }
        let durable = self.step(Step::SyncFolders, || sync(&folders));
        durable.map_err(|error| CommitError::io("make folders durable", error))?;
        Ok(true)
    }

    /// Replaces a small file that is a hint only: atomic, not durable.
    pub(crate) fn replace_hint(&self, path: &Path, fresh: &Path, bytes: &[u8]) -> io::Result<()> {
        let replace = || {
            fs::write(fresh, bytes)?;
            fs::rename(fresh, path)
        };
        self.step(Step::WriteMetadata, || {
            // A clean-up that counts no file as too young may take it for one that a crash left.
            for _ in 0..TRIES {
                match replace() {
                    Err(error)
                        if error.kind() == io::ErrorKind::NotFound
                            && fresh.parent().is_some_and(Path::is_dir) => {}
                    other => return other,
                }
            }
            replace()
        })
    }

    /// Gives a file another name as well; one that is there already is that of an earlier try. Durable in `persist`.
    pub(crate) fn link(&self, from: &Path, to: &Path) -> Result<()> {
        let link = || match fs::hard_link(from, to) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            // Not every file system has second names.
            Err(error) if error.kind() != io::ErrorKind::NotFound => copy(from, to),
            other => other,
        };
        self.step(Step::Link, link)
            .map_err(|error| CommitError::io(format!("link {} as {}", from.display(), to.display()), error))
    }

    pub(crate) fn read(&self, path: &Path) -> Result<Vec<u8>> {
        self.step(Step::Read, || fs::read(path))
            .map_err(|error| CommitError::io(format!("read {}", path.display()), error))
    }

    /// Removes a file; one that is gone is fine.
    pub(crate) fn remove(&self, path: &Path) -> Result<()> {
        match self.step(Step::Remove, || fs::remove_file(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(CommitError::io(format!("remove {}", path.display()), error))
            }
            _ => Ok(()),
        }
    }
}

/// Asks the system to begin taking a file to the disk: less is waited for when it is made durable. A hint, which no test
/// makes fail: nothing comes of it where it is not taken, and errors of the disk are met by who makes the file durable.
/// Pages that are on the disk already leave the cache, which of a file just written are few.
#[cfg(target_os = "linux")]
pub(crate) fn begin_to_keep(file: &File) {
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
}

/// Other systems are not asked.
#[cfg(not(target_os = "linux"))]
pub(crate) fn begin_to_keep(_: &File) {}

/// Removes a folder that holds nothing; what else is there keeps it.
pub(crate) fn remove_empty(path: &Path) {
    let _ = fs::remove_dir(path);
}

/// Ending of a copy of a data file that has not got its name yet.
pub(crate) const FRESH: &str = ".fresh";

/// Copies a file. The copy takes its name whole, also where the power goes: who finds the name later takes it for that of
/// an earlier try.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    // Another process may be at the same copy.
    let fresh = to.with_extension(format!("{}{FRESH}", std::process::id()));
    let copy = || {
        fs::copy(from, &fresh)?;
        sync(&[&fresh])?;
        fs::rename(&fresh, to)
    };
    for _ in 0..TRIES {
        match copy() {
            // A clean-up that counts no file as too young may take it for one that a crash left.
            Err(error) if error.kind() == io::ErrorKind::NotFound && from.exists() => {}
            other => return other,
        }
    }
    copy()
}

/// How often a small file is written again.
const TRIES: u32 = 100;

/// Threads that sync files: the calls wait for the disk, not for a processor.
const SYNCS: usize = 8;

fn sync(paths: &[&Path]) -> io::Result<()> {
    let sync = |paths: &[&Path]| paths.iter().try_for_each(|path| File::open(path)?.sync_all());
    if paths.len() <= 1 {
        return sync(paths);
    }
    let share = paths.len().div_ceil(SYNCS);
    std::thread::scope(|scope| {
        let threads: Vec<_> = paths.chunks(share).map(|paths| scope.spawn(move || sync(paths))).collect();
        let died = |_| Err(io::Error::other("a thread that syncs files died"));
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(died))
    })
}

/// When a file was last written; none where it is no file.
pub(crate) fn written(path: &Path) -> Option<Instant> {
    let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let written = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Some(Instant(written.map_or(0, |time| i64::try_from(time.as_micros()).unwrap_or(i64::MAX))))
}

/// The path of a local file, whether written as a path or as a `file:` address.
pub(crate) fn local(location: &str) -> &str {
    let rest = location.strip_prefix("file:").unwrap_or(location);
    let slashes = rest.len() - rest.trim_start_matches('/').len();
    if slashes > 1 { &rest[slashes - 1..] } else { rest }
}
