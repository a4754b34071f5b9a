//! Files of a source on disk, with what tells that one changed without reading it. Reads folders and stats
//! files; opens none.

use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::Path;

use oncemore_core::Interval;

use super::error::{SourceError, SourceErrorKind};
use super::pattern::Pattern;
use super::store::{Identity, Store};

/// A file that matches.
pub(crate) struct Found {
    pub(crate) path: String,
    pub(crate) interval: Option<Interval>,
    pub(crate) identity: Identity,
}

/// All files that match, sorted by path; `None` where the folder that should hold them is missing.
pub(crate) fn files(store: &Store, pattern: &Pattern) -> Result<Option<Vec<Found>>, SourceError> {
    store.list(&pattern.prefix, || walk(store, pattern))
}

fn walk(store: &Store, pattern: &Pattern) -> Result<Option<Vec<Found>>, SourceError> {
    let root = store.root();
    let mut walk = Walk { root, pattern, found: Vec::new() };
    let start = root.join(&pattern.prefix);
    match start.canonicalize() {
        Ok(real) if !real.starts_with(root) => return Err(outside(&pattern.prefix)),
        Ok(_) => {}
        Err(error) if missing(&error) => return Ok(None),
        Err(error) => return Err(SourceError::io(&pattern.prefix, "can't look at it", &error)),
    }
    walk.folder(&start, &pattern.prefix, 0)?;
    let mut found = walk.found;
    found.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(Some(found))
}

struct Walk<'a> {
    root: &'a Path,
    pattern: &'a Pattern,
    found: Vec<Found>,
}

/// Deepest folder under `**`; deeper ones are a loop.
const MAX_DEPTH: usize = 32;

impl Walk<'_> {
    /// The one file of a folder whose name is known: no need to list the folder.
    fn leaf(&mut self, folder: &Path, path: &str, name: &str) -> Result<(), SourceError> {
        let (full, path) = (folder.join(name), joined(path, name));
        match fs::symlink_metadata(&full) {
            Ok(metadata) => self.file(&full, path, metadata),
            Err(error) if missing(&error) => Ok(()),
            Err(error) => Err(SourceError::io(&path, "can't look at it", &error)),
        }
    }

    fn folder(&mut self, folder: &Path, path: &str, depth: usize) -> Result<(), SourceError> {
        let pattern = self.pattern;
        if let (Some(name), true) = (&pattern.leaf, pattern.depth == Some(depth)) {
            return self.leaf(folder, path, name);
        }
        let io = |error: &io::Error| SourceError::io(path, "can't list the folder", error);
        for entry in fs::read_dir(folder).map_err(|error| io(&error))? {
            let entry = entry.map_err(|error| io(&error))?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if !name.starts_with('.') {
                self.entry(&entry, joined(path, &name), depth)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &DirEntry, path: String, depth: usize) -> Result<(), SourceError> {
        let io = |error: &io::Error| SourceError::io(&path, "can't look at it", error);
        let deepest = self.pattern.depth.unwrap_or(MAX_DEPTH);
        let mut kind = entry.file_type().map_err(|error| io(&error))?;
        if kind.is_symlink() {
            // Links to what does not matter may point anywhere.
            match fs::metadata(entry.path()) {
                Ok(target) => kind = target.file_type(),
                Err(_) => return Ok(()),
            }
            if kind.is_dir() && depth < deepest && !real(self.root, &entry.path(), &path)? {
                return Err(outside(&path));
            }
        }
        if kind.is_dir() {
            return if depth < deepest { self.folder(&entry.path(), &path, depth + 1) } else { Ok(()) };
        }
        if self.pattern.depth.is_some_and(|wanted| wanted != depth) {
            return Ok(());
        }
        let metadata = entry.metadata().map_err(|error| io(&error))?;
        self.file(&entry.path(), path, metadata)
    }

    fn file(&mut self, full: &Path, path: String, mut metadata: Metadata) -> Result<(), SourceError> {
        let Some(interval) = self.pattern.matches(&path)? else { return Ok(()) };
        if metadata.is_symlink() {
            if !real(self.root, full, &path)? {
                return Err(outside(&path));
            }
            metadata =
                fs::metadata(full).map_err(|error| SourceError::io(&path, "can't look at it", &error))?;
        }
        if metadata.is_file() {
            self.found.push(Found { path, interval, identity: Identity::of(&metadata) });
        }
        Ok(())
    }
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Whether a link's target lies in the project's folder.
fn real(root: &Path, link: &Path, path: &str) -> Result<bool, SourceError> {
    let target =
        link.canonicalize().map_err(|error| SourceError::io(path, "can't follow the link", &error))?;
    Ok(target.starts_with(root))
}

fn missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn outside(path: &str) -> SourceError {
    SourceError::new(SourceErrorKind::Outside, path, "a link leads out of the project's folder")
        .help("copy the data into the project's folder, or mount it there")
}
