//! How the head of a table without slices differs from an older version of it, as far as its snapshots are kept: which
//! rows of which files are in one of them alone. Reads metadata and delete files, rows never.

use oncemore_core::{Interval, Stamp, TableName};

use crate::error::Result;
use crate::positions::Lazy;
use crate::slice_map::Entry;
use crate::state::{State, own_map};
use crate::warehouse::{Warehouse, text};

/// Rows of a data file: all of it but for those at some places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsOf {
    /// Absolute path of the file.
    pub path: String,
    /// How many they are.
    pub rows: u64,
    /// Size of the file.
    pub bytes: u64,
    /// Places of the rows that are not meant, in order.
    pub skipped: Vec<u64>,
}

/// What two versions of a table do not share. A row that was only written anew is in both lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Apart {
    /// The stamp at the head; `None` where nothing was published.
    pub stamp: Option<Stamp>,
    /// Rows that are in files of the head, and not in the same places of the older version.
    pub newer: Vec<RowsOf>,
    /// Rows that were there, and are not in the same places of the head.
    pub older: Vec<RowsOf>,
}

/// The files of a version, and what of them is deleted.
struct Version<'a> {
    state: &'a State,
    entry: Entry,
    deletes: Lazy,
}

impl Warehouse {
    /// How the head of a table without slices differs from the newest kept version whose stamp `is_wanted`, that of a table
    /// with nothing in it being `None`.
    ///
    /// `None` where no such version is kept, or none of the same columns; where another writer was at the head; and where
    /// there is no such table.
    ///
    /// # Errors
    /// Metadata, a slice map or a delete file that can't be read.
    pub fn apart(
        &self,
        table: &TableName,
        is_wanted: impl Fn(Option<&Stamp>) -> bool,
    ) -> Result<Option<Apart>> {
        let Some(state) = self.state(table)? else { return Ok(None) };
        if !state.is_ours() {
            return Ok(None);
        }
        let Some(older) = self.kept_entry(&state, is_wanted)? else { return Ok(None) };
        let newer = state.map.get(Interval::WHOLE).cloned();
        let newer = newer.unwrap_or_else(|| Entry::empty(Interval::WHOLE));
        let stamp = newer.stamp.clone();
        let (older, newer) = (self.version(&state, older), self.version(&state, newer));
        Ok(Some(Apart { stamp, newer: newer.without(&older)?, older: older.without(&newer)? }))
    }

    /// The slice of the whole table as the newest kept snapshot has it whose stamp is wanted.
    fn kept_entry(&self, state: &State, is_wanted: impl Fn(Option<&Stamp>) -> bool) -> Result<Option<Entry>> {
        let mut kept: Vec<_> = state.metadata.snapshots().collect();
        kept.sort_unstable_by_key(|snapshot| std::cmp::Reverse(snapshot.sequence_number()));
        for snapshot in kept {
            // Rows under other columns are not compared.
            if snapshot.schema_id() != Some(state.metadata.current_schema_id()) {
                continue;
            }
            let Some((file, _)) = own_map(snapshot) else { continue };
            let map = self.load_map(&state.folder, Some(&file))?;
            let entry = map.get(Interval::WHOLE).filter(|_| {
                // Else somebody else's files were there, too.
                map.clean && map.snapshot == Some(snapshot.snapshot_id())
            });
            if let Some(entry) =
                entry.filter(|entry| entry.stamp.is_some() && is_wanted(entry.stamp.as_ref()))
            {
                return Ok(Some(entry.clone()));
            }
        }
        Ok(is_wanted(None).then(|| Entry::empty(Interval::WHOLE)))
    }

    fn version<'a>(&self, state: &'a State, entry: Entry) -> Version<'a> {
        let paths = entry.deletes.files.iter().map(|file| state.full(&file.name)).collect();
        Version { state, deletes: Lazy::new(self.disk(), paths), entry }
    }
}

impl Version<'_> {
    /// The rows that `other` has not in the same places.
    fn without(&self, other: &Version<'_>) -> Result<Vec<RowsOf>> {
        let alike = self.entry.deletes.files == other.entry.deletes.files;
        let mut found = Vec::new();
        for (place, file) in self.entry.files.iter().enumerate() {
            let there = other.entry.files.iter().position(|theirs| theirs.name == file.name);
            let skipped = match there {
                Some(_) if alike => continue,
                None => self.dead(place)?,
                Some(there) => {
                    let (own, mut meant) = (self.dead(place)?, other.dead(there)?);
                    meant.retain(|row| own.binary_search(row).is_err());
                    (0..file.rows).filter(|row| meant.binary_search(row).is_err()).collect()
                }
            };
            let rows = file.rows.saturating_sub(skipped.len() as u64);
            if rows > 0 {
                let path = text(&self.state.full(&file.name))?;
                found.push(RowsOf { path, rows, bytes: file.bytes, skipped });
            }
        }
        Ok(found)
    }

    /// Places of the file at `place` that are deleted, in order.
    fn dead(&self, place: usize) -> Result<Vec<u64>> {
        match self.entry.files.get(place) {
            Some(file) if self.entry.deletes.of(place) > 0 => {
                self.deletes.of(&text(&self.state.full(&file.name))?)
            }
            _ => Ok(Vec::new()),
        }
    }
}
