//! What a table or a source holds, cut into cells of time: enough to tell which version a task would read.
//!
//! Knows nothing of files or engines: cells are fingerprints, from stamps or from a source's index.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use oncemore_core::fingerprint::columns_version;
use oncemore_core::{ColumnPrint, Digest, Digester, Fingerprint, Instant, Interval, Stamp};

/// The rows of one stretch of time.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The stretch; cells of one input do not overlap.
    pub interval: Interval,
    /// Its rows.
    pub fingerprint: Fingerprint,
    /// Its rows by column, where a key ties them.
    pub columns: Arc<[ColumnPrint]>,
    /// Last time they changed, where known.
    pub changed_at: Option<Instant>,
}

impl Cell {
    fn of(stamp: &Stamp) -> Cell {
        Cell {
            interval: stamp.interval,
            fingerprint: stamp.fingerprint,
            columns: stamp.columns.clone().into(),
            changed_at: Some(stamp.changed_at),
        }
    }
}

/// An input's cells, in order of time.
#[derive(Debug, Default)]
pub struct InputCells {
    cells: Vec<Cell>,
    versions: RefCell<HashMap<(usize, usize, Digest), Digest>>,
}

impl InputCells {
    /// From cells in any order. Cells without rows are dropped: an empty stretch and an absent one read alike.
    pub fn new(cells: impl IntoIterator<Item = Cell>) -> Self {
        let mut cells: Vec<Cell> = cells.into_iter().filter(|cell| cell.fingerprint.rows > 0).collect();
        cells.sort_unstable_by_key(|cell| cell.interval);
        InputCells { cells, versions: RefCell::default() }
    }

    /// From a table's stamps.
    pub fn from_stamps(stamps: &[Stamp]) -> Self {
        InputCells::new(stamps.iter().map(Cell::of))
    }

    /// Takes in what one slice of the table holds now.
    pub fn put(&mut self, stamp: &Stamp) {
        let cell = Cell::of(stamp);
        match self.cells.binary_search_by_key(&cell.interval, |known| known.interval) {
            Ok(at) if cell.fingerprint.rows == 0 => drop(self.cells.remove(at)),
            Ok(at) => self.cells[at] = cell,
            Err(_) if cell.fingerprint.rows == 0 => {}
            Err(at) => self.cells.insert(at, cell),
        }
        // They go by places among the cells.
        self.versions.get_mut().clear();
    }

    /// The end of the last cell; `None` where there is none.
    pub fn end(&self) -> Option<Instant> {
        self.cells.last().map(|cell| cell.interval.end())
    }

    /// The cells that share an instant with `range`.
    pub fn touching(&self, range: Interval) -> &[Cell] {
        let (from, to) = self.span(range);
        &self.cells[from..to]
    }

    /// The version that a reader of `columns` in `range` sees; `None` for the range: it reads nothing.
    ///
    /// `list` is [`list_of`] the columns: it tells readers apart in the memory of versions already found.
    pub fn version(&self, range: Option<Interval>, columns: Option<&[String]>, list: Digest) -> Digest {
        let (from, to) = range.map_or((0, 0), |range| self.span(range));
        if let Some(known) = self.versions.borrow().get(&(from, to, list)) {
            return *known;
        }
        let mut digester = Digester::new("input");
        for cell in &self.cells[from..to] {
            digester = digester
                .field("start", cell.interval.start().0.to_le_bytes())
                .field("rows", columns_version(cell.fingerprint, &cell.columns, columns).0);
        }
        let version = digester.finish();
        self.versions.borrow_mut().insert((from, to, list), version);
        version
    }

    fn span(&self, range: Interval) -> (usize, usize) {
        let from = self.cells.partition_point(|cell| cell.interval.end() <= range.start());
        let to = self.cells.partition_point(|cell| cell.interval.start() < range.end());
        (from, to.max(from))
    }
}

/// Digest of a list of columns; `None` stands for all.
pub fn list_of(columns: Option<&[String]>) -> Digest {
    let digester = Digester::new("column list").field("all", [u8::from(columns.is_none())]);
    columns.into_iter().flatten().fold(digester, |digester, column| digester.field("column", column)).finish()
}
