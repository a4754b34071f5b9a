//! The index of a source: per file its identity and the prints of its cells, so that what changed is known
//! without reading what did not. A value; knows no disk.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use arrow::datatypes::SchemaRef;
use oncemore_core::{
    Calendar, ColumnPrint, CompleteWhen, Digest, Digester, Fingerprint, Instant, Interval, IntervalLength,
    Missing, SEMANTICS, SourceSpec, Zone,
};
use serde::{Deserialize, Serialize};

use super::error::{SourceError, SourceErrorKind};
use super::pattern::Pattern;
use super::store::Identity;
use super::types::{self, Column};

/// Rows of one interval of a source: what staleness is decided by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The interval of the cells' calendar; [`Interval::WHOLE`] for a source without time.
    pub interval: Interval,
    /// Of all its rows.
    pub fingerprint: Fingerprint,
    /// Of each column, where the source has a key; a column that some file lacks is left out.
    pub columns: Vec<ColumnPrint>,
}

/// One file as last read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Path relative to the project's folder, with `/`.
    pub path: String,
    /// The interval that its path names.
    pub interval: Option<Interval>,
    /// What tells that it changed.
    pub identity: Identity,
    /// Whether an equal identity means equal bytes: not for a file that was very young when it was read.
    pub settled: bool,
    /// SHA-256 of its bytes.
    pub digest: Digest,
    /// Number of rows.
    pub rows: u64,
    /// Latest instant in its time column.
    pub max_time: Option<Instant>,
    /// Place of its columns in the index's list of them.
    pub(crate) columns: usize,
    pub(crate) cells: Vec<FileCell>,
}

/// Part of a cell that one file holds. Prints are in the order of the file's columns by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "CellText", into = "CellText")]
pub(crate) struct FileCell {
    pub(crate) interval: Interval,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) prints: Vec<u128>,
}

/// A cell as stored: start, end, rows, then all sums as one string of hex digits.
#[derive(Serialize, Deserialize)]
struct CellText(i64, i64, u64, String);

impl From<FileCell> for CellText {
    fn from(cell: FileCell) -> Self {
        let sums = [cell.fingerprint.first, cell.fingerprint.second].into_iter().chain(cell.prints);
        let text = sums.map(|sum| format!("{sum:032x}")).collect();
        CellText(cell.interval.start().0, cell.interval.end().0, cell.fingerprint.rows, text)
    }
}

impl From<CellText> for FileCell {
    /// A damaged text gives sums that equal no others: the file counts as changed.
    fn from(CellText(start, end, rows, text): CellText) -> Self {
        let digits = text.as_bytes().chunks(32).map(|digits| std::str::from_utf8(digits).unwrap_or(""));
        let mut sums = digits.map(|digits| u128::from_str_radix(digits, 16).unwrap_or(u128::MAX));
        let (first, second) = (sums.next().unwrap_or(u128::MAX), sums.next().unwrap_or(u128::MAX));
        FileCell {
            interval: Interval::new(Instant(start), Instant(end)).unwrap_or(Interval::WHOLE),
            fingerprint: Fingerprint { rows, first, second },
            prints: sums.collect(),
        }
    }
}

/// A file that was there once and is not any more, until somebody accepts that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoneFile {
    /// Its path.
    pub path: String,
    /// The interval that its path named.
    pub interval: Option<Interval>,
    /// The cells that it held rows of.
    pub cells: Vec<Interval>,
    pub(crate) digest: Digest,
}

/// A file that is there and does not read as declared.
#[derive(Clone, Debug)]
pub struct BrokenFile {
    /// Its path.
    pub path: String,
    /// The interval that its path names; without one, it may hold rows of any time.
    pub interval: Option<Interval>,
    /// The cells that it held rows of when it last could be read: late rows may lie in others than its path names.
    pub cells: Vec<Interval>,
    /// What is wrong.
    pub error: SourceError,
}

/// Whether an interval of a source may be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// All there.
    Ready,
    /// Not yet; a task on it waits.
    Waiting {
        /// For what, in words.
        what: String,
    },
    /// A file that was there vanished: never taken for empty.
    Gone {
        /// Its path.
        path: String,
    },
    /// A file of it can't be read.
    Broken {
        /// Which, where and why, in words.
        what: String,
    },
    /// It should be there, by `missing: error`.
    Missing {
        /// What is missing, in words.
        what: String,
    },
}

/// All that is known of a source's files.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SourceIndex {
    /// Of the hashes that prints are sums of; not there in the oldest.
    #[serde(default)]
    pub(crate) semantics: u32,
    pub(crate) spec: SourceSpec,
    /// Length and zone of the cells.
    pub(crate) length: IntervalLength,
    pub(crate) zone: String,
    /// Lists of columns that files have; few, mostly one.
    pub(crate) columns: Vec<Vec<Column>>,
    pub(crate) files: Vec<SourceFile>,
    pub(crate) gone: Vec<GoneFile>,
    /// Vanished files whose absence was accepted, until they come back; and the interval that each one's path names.
    #[serde(default)]
    pub(crate) accepted: BTreeMap<String, Option<Interval>>,
    /// Markers found: path and the interval that it names.
    pub(crate) markers: Vec<(String, Option<Interval>)>,
    /// Files that can't be read; looked at again by every scan.
    #[serde(skip)]
    pub(crate) broken: Vec<BrokenFile>,
    /// How many files the scan that made this had to read.
    #[serde(skip)]
    pub(crate) read: usize,
    #[serde(skip)]
    pub(crate) merged: OnceLock<Vec<Cell>>,
    #[serde(skip)]
    pub(crate) version: OnceLock<Digest>,
    /// The path compiled, and the intervals that have a file: asked for once a slice.
    #[serde(skip)]
    pub(crate) expected: OnceLock<Option<(Pattern, BTreeSet<Interval>)>>,
}

impl SourceIndex {
    /// The source as declared when it was scanned.
    pub fn spec(&self) -> &SourceSpec {
        &self.spec
    }

    /// All files, sorted by path.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// How many files the last scan had to read.
    pub fn files_read(&self) -> usize {
        self.read
    }

    /// Rows in all files.
    pub fn rows(&self) -> u64 {
        self.files.iter().map(|file| file.rows).sum()
    }

    /// All cells that hold rows, merged over files, sorted by interval.
    pub fn cells(&self) -> &[Cell] {
        self.merged.get_or_init(|| self.merge())
    }

    /// The columns: as declared, or those of all files together.
    ///
    /// # Errors
    /// Two files have the same column with different types.
    pub fn columns(&self) -> Result<Vec<Column>, SourceError> {
        if !self.spec.columns.is_empty() {
            return Ok(self.spec.columns.clone());
        }
        let mut all: Vec<(Column, usize)> = Vec::new();
        for (place, columns) in self.columns.iter().enumerate() {
            for (name, kind) in columns {
                match all.iter().find(|((own, _), _)| own == name) {
                    None => all.push(((name.clone(), *kind), place)),
                    Some(((_, own), _)) if own == kind => {}
                    Some(((_, own), first)) => {
                        let path = |place: usize| {
                            let file = self.files.iter().find(|file| file.columns == place);
                            file.map_or("?", |file| file.path.as_str())
                        };
                        let message =
                            format!("column `{name}` is {kind} here, but {own} in `{}`", path(*first));
                        return Err(SourceError::new(SourceErrorKind::Conflict, path(place), message)
                            .help("declare the column's type under `columns:` of the source"));
                    }
                }
            }
        }
        Ok(all.into_iter().map(|(column, _)| column).collect())
    }

    /// The schema that the source has as a table.
    ///
    /// # Errors
    /// As for [`SourceIndex::columns`].
    pub fn schema(&self) -> Result<SchemaRef, SourceError> {
        Ok(types::schema(&self.columns()?))
    }

    /// A digest over all bytes of the source: equal only for equal files.
    pub fn version(&self) -> Digest {
        *self.version.get_or_init(|| {
            let mut digester = Digester::new("source files");
            for file in &self.files {
                digester = digester.field(&file.path, file.digest.0);
            }
            digester.finish()
        })
    }

    /// The file whose path names the interval; the first by path where several do.
    pub fn file_for(&self, interval: Interval) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.interval == Some(interval))
    }

    /// Files that hold rows in `range`.
    pub fn files_in(&self, range: Interval) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(move |file| file.cells.iter().any(|cell| cell.interval.overlaps(range)))
    }

    /// Latest instant in the time column of any file.
    pub fn max_time(&self) -> Option<Instant> {
        self.files.iter().filter_map(|file| file.max_time).max()
    }

    /// Files that vanished and whose absence nobody accepted yet.
    pub fn gone(&self) -> &[GoneFile] {
        &self.gone
    }

    /// Files that vanished since `known` was made.
    pub fn gone_since<'a>(&'a self, known: &'a SourceIndex) -> impl Iterator<Item = &'a GoneFile> {
        self.gone.iter().filter(|gone| known.files.iter().any(|file| file.path == gone.path))
    }

    /// Files that are there and can't be read, sorted by path.
    pub fn broken(&self) -> &[BrokenFile] {
        &self.broken
    }

    /// Whether a file of `known`, read then or gone, can't be read now: what is known of it would be lost with `known`.
    pub fn hides(&self, known: &SourceIndex) -> bool {
        self.broken.iter().any(|broken| known.cells_of(&broken.path).is_some())
    }

    /// The cells that a file held rows of when it last could be read; `None` for one that never was.
    pub(crate) fn cells_of(&self, path: &str) -> Option<Vec<Interval>> {
        let read = self.files.iter().find(|file| file.path == path);
        let read = read.map(|file| file.cells.iter().map(|cell| cell.interval).collect());
        read.or_else(|| Some(self.gone.iter().find(|gone| gone.path == path)?.cells.clone()))
    }

    /// Takes the absence of `path` for meant: its rows count as deleted from now on.
    pub fn accept_gone(&mut self, path: &str) {
        let accepted = self.gone.extract_if(.., |gone| gone.path == path);
        self.accepted.extend(accepted.map(|gone| (gone.path, gone.interval)));
        self.expected.take();
    }

    /// What is there of `interval` and can't be read, or was and is gone: known to be, whether anything is expected
    /// there or not. `None`: nothing of that kind.
    pub fn lost(&self, interval: Interval) -> Option<Delivery> {
        let held = |named: Option<Interval>, cells: &[Interval]| {
            named.is_some_and(|own| own.overlaps(interval)) || cells.iter().any(|own| own.overlaps(interval))
        };
        let touches = |file: &&BrokenFile| file.interval.is_none() || held(file.interval, &file.cells);
        if let Some(broken) = self.broken.iter().find(touches) {
            return Some(Delivery::Broken { what: broken.error.to_string() });
        }
        let gone = self.gone.iter().find(|gone| held(gone.interval, &gone.cells))?;
        Some(Delivery::Gone { path: gone.path.clone() })
    }

    /// Whether the rows of `interval` are all there, where rows of all of it are expected.
    pub fn delivered(&self, interval: Interval) -> Delivery {
        if let Some(lost) = self.lost(interval) {
            return lost;
        }
        let zone = Zone::named(&self.spec.time_zone).unwrap_or_else(Zone::utc);
        let lacking = self.lacking(interval, &zone);
        if let Some(what) = lacking {
            return match self.spec.missing {
                Missing::Wait => Delivery::Waiting { what },
                Missing::Error => Delivery::Missing { what },
                Missing::Empty => Delivery::Ready,
            };
        }
        match self.incomplete(interval, &zone) {
            Some(what) => Delivery::Waiting { what },
            None => Delivery::Ready,
        }
    }

    /// The first file that `interval` needs and that is not there.
    fn lacking(&self, interval: Interval, zone: &Zone) -> Option<String> {
        let expected = self.expected.get_or_init(|| {
            let pattern = Pattern::new(&self.spec.path, self.spec.path_interval, zone).ok()?;
            let there = self.files.iter().map(|file| file.interval).chain(self.accepted.values().copied());
            Some((pattern, there.flatten().collect()))
        });
        let (pattern, there) = expected.as_ref()?;
        let nothing = self.files.is_empty() && self.accepted.is_empty();
        let Some(calendar) = pattern.calendar() else {
            return nothing.then(|| format!("`{}`", self.spec.path));
        };
        if interval.is_whole() {
            return nothing.then(|| format!("any `{}`", self.spec.path));
        }
        let first = calendar.touching(interval).find(|needed| !there.contains(needed))?;
        Some(format!("`{}`", pattern.render(first)))
    }

    /// What `complete_when` still asks for.
    fn incomplete(&self, interval: Interval, zone: &Zone) -> Option<String> {
        match self.spec.complete_when.as_ref()? {
            CompleteWhen::Rows(wanted) => {
                let cells = self.cells().iter().filter(|cell| cell.interval.overlaps(interval));
                let rows: u64 = cells.map(|cell| cell.fingerprint.rows).sum();
                (rows < *wanted).then(|| format!("{wanted} rows, {rows} are there"))
            }
            CompleteWhen::Watermark(micros) => {
                let wanted = Instant(interval.end().0.saturating_sub(*micros));
                let reached = self.max_time();
                (reached.is_none_or(|reached| reached < wanted) && !interval.is_whole()).then(|| {
                    let latest = reached.map_or("none yet".to_owned(), |reached| format!("latest {reached}"));
                    format!("a row at or after {wanted} ({latest})")
                })
            }
            CompleteWhen::Marker(text) => {
                let pattern = Pattern::new(text, self.spec.path_interval, zone).ok()?;
                let Some(calendar) = pattern.calendar().filter(|_| !interval.is_whole()) else {
                    return self.markers.is_empty().then(|| format!("marker `{text}`"));
                };
                let there: BTreeSet<Interval> = self.markers.iter().filter_map(|(_, named)| *named).collect();
                let first = calendar.touching(interval).find(|needed| !there.contains(needed))?;
                Some(format!("marker `{}`", pattern.render(first)))
            }
        }
    }

    fn merge(&self) -> Vec<Cell> {
        // Sums of one cell, and of each column with the number of file parts that have it.
        type Sums<'a> = (Fingerprint, usize, BTreeMap<&'a str, (u128, usize)>);
        let names: Vec<Vec<&str>> = (self.columns.iter())
            .map(|columns| {
                let mut names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
                names.sort_unstable();
                names
            })
            .collect();
        let mut cells: BTreeMap<Interval, Sums<'_>> = BTreeMap::new();
        for file in &self.files {
            let names: &[&str] = names.get(file.columns).map_or(&[], Vec::as_slice);
            for part in &file.cells {
                let (fingerprint, parts, columns) = cells.entry(part.interval).or_default();
                *fingerprint = fingerprint.union(part.fingerprint);
                *parts += 1;
                for (name, print) in names.iter().zip(&part.prints) {
                    let (sum, having) = columns.entry(name).or_default();
                    *sum = sum.wrapping_add(*print);
                    *having += 1;
                }
            }
        }
        let merged = cells.into_iter().map(|(interval, (fingerprint, parts, columns))| Cell {
            interval,
            fingerprint,
            columns: (columns.into_iter())
                .filter(|(_, (_, having))| *having == parts)
                .map(|(name, (print, _))| ColumnPrint { name: name.to_owned(), print })
                .collect(),
        });
        merged.collect()
    }

    /// Whether files of an index made for `spec` and `cells` can be taken over from this one.
    pub(crate) fn fits(&self, spec: &SourceSpec, cells: &Calendar) -> bool {
        let content = |spec: &SourceSpec| SourceSpec {
            missing: Missing::Wait,
            complete_when: None,
            name: String::new(),
            ..spec.clone()
        };
        self.semantics == SEMANTICS
            && self.length == cells.length
            && self.zone == cells.zone.name()
            && content(&self.spec) == content(spec)
    }
}
