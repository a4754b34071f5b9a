//! The slice map: stamps, fences and files of every slice of one table, beside its metadata.
//!
//! Pages of at most [`PAGE`] slices, copied when written, and a root that names them: a commit writes one file with
//! the pages it changed and a new root, whatever the number of slices. Names are relative to the table's folder, so
//! that a copied table needs no new map. Knows no Iceberg and no catalog.

mod entry;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use oncemore_core::{CodeVersion, Epoch, Instant, Interval, Stamp};
use xxhash_rust::xxh3::xxh3_64;

use crate::codec::{Decoder, Encoder};
use crate::error::{CommitError, Result};
pub(crate) use entry::{Deletes, Entry, FileEntry};

/// Most slices a page holds.
pub(crate) const PAGE: usize = 64;
/// Codes kept, those seen last: what a commit writes must not grow with every version of a model.
const CODES: usize = 100;
const MAGIC: &[u8; 8] = b"OMSLICE1";

/// All slices of a table as of one commit.
#[derive(Clone, Debug)]
pub(crate) struct SliceMap {
    /// Number of our commits that made snapshots.
    pub(crate) n: u64,
    /// The snapshot that the files listed here are the live files of.
    pub(crate) snapshot: Option<i64>,
    /// Whether they are; else another writer's files are live somewhere and must be looked up.
    pub(crate) clean: bool,
    /// Codes that slices were published by, also where none is any more, and when each was first seen: so that older
    /// code is known as such when the ledger is lost.
    pub(crate) codes: Arc<Vec<(CodeVersion, Instant)>>,
    /// A fence of all slices, those too that never were: what the table was when it was built anew is behind it.
    pub(crate) floor: Epoch,
    pages: Vec<Page>,
}

#[derive(Clone, Debug)]
struct Page {
    entries: Arc<Vec<Entry>>,
    home: Option<Home>,
}

/// Where a page is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Home {
    file: Arc<str>,
    offset: u64,
    length: u64,
    sum: u64,
}

impl Default for SliceMap {
    fn default() -> Self {
        SliceMap {
            n: 0,
            snapshot: None,
            clean: true,
            codes: Arc::default(),
            floor: Epoch::default(),
            pages: Vec::new(),
        }
    }
}

impl SliceMap {
    /// All slices by interval.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.pages.iter().flat_map(|page| page.entries.iter())
    }

    /// The stamps of all slices by interval, without copies where nobody else holds the pages.
    pub(crate) fn into_stamps(self) -> Vec<Stamp> {
        let mut stamps = Vec::with_capacity(self.len());
        for page in self.pages {
            stamps.extend(Arc::unwrap_or_clone(page.entries).into_iter().filter_map(|entry| entry.stamp));
        }
        stamps
    }

    /// Number of slices.
    pub(crate) fn len(&self) -> usize {
        self.pages.iter().map(|page| page.entries.len()).sum()
    }

    pub(crate) fn get(&self, interval: Interval) -> Option<&Entry> {
        let page = &self.pages[self.page_of(interval)?];
        let place = page.entries.binary_search_by_key(&interval, |entry| entry.interval).ok()?;
        page.entries.get(place)
    }

    /// The slice whose rows carry `start` as `_interval_start`.
    pub(crate) fn starting(&self, start: Option<i64>) -> Option<&Entry> {
        let wanted = start.map_or(Instant::MIN, Instant);
        let found = self.overlapping(Interval::new(wanted, Instant(wanted.0.saturating_add(1)))?);
        found.into_iter().find(|entry| entry.interval.start() == wanted)
    }

    /// Slices that share an instant with `interval`, in order; slices with a stamp never overlap each other.
    pub(crate) fn overlapping(&self, interval: Interval) -> Vec<&Entry> {
        let from = self.pages.partition_point(|page| {
            page.entries.iter().all(|entry| entry.interval.end() <= interval.start())
        });
        self.pages[from..]
            .iter()
            .take_while(|page| {
                page.entries.first().is_some_and(|first| first.interval.start() < interval.end())
            })
            .flat_map(|page| page.entries.iter())
            .filter(|entry| entry.interval.overlaps(interval))
            .collect()
    }

    /// Replaces or adds a slice.
    pub(crate) fn put(&mut self, entry: Entry) {
        let Some(at) = self.page_of(entry.interval) else {
            self.pages.push(Page { entries: Arc::new(vec![entry]), home: None });
            return;
        };
        let last = at + 1 == self.pages.len();
        let page = &mut self.pages[at];
        page.home = None;
        let entries = Arc::make_mut(&mut page.entries);
        match entries.binary_search_by_key(&entry.interval, |own| own.interval) {
            Ok(place) => entries[place] = entry,
            // In order of time pages fill up; elsewhere they are halved.
            Err(place) if entries.len() == PAGE && last && place == PAGE => {
                self.pages.push(Page { entries: Arc::new(vec![entry]), home: None });
            }
            Err(place) => {
                entries.insert(place, entry);
                if entries.len() > PAGE {
                    let upper = entries.split_off(PAGE / 2);
                    self.pages.insert(at + 1, Page { entries: Arc::new(upper), home: None });
                }
            }
        }
    }

    /// Notes that a slice is published by `code`.
    pub(crate) fn note_code(&mut self, code: CodeVersion, seen: Instant) {
        if let Some((_, known)) = self.codes.iter().find(|(known, _)| *known == code)
            && *known <= seen
        {
            return;
        }
        let codes = Arc::make_mut(&mut self.codes);
        codes.retain(|(known, _)| *known != code);
        codes.push((code, seen));
        codes.sort_unstable_by_key(|(code, seen)| (*seen, *code));
        let over = codes.len().saturating_sub(CODES);
        codes.drain(..over);
    }

    /// Notes the codes that `other` knows.
    pub(crate) fn note_codes(&mut self, other: &SliceMap) {
        other.codes.iter().for_each(|(code, seen)| self.note_code(*code, *seen));
    }

    /// The greatest fence of all slices.
    pub(crate) fn max_fence(&self) -> Epoch {
        self.entries().map(|entry| entry.fence).max().unwrap_or_default().max(self.floor)
    }

    /// The fence of a slice, also of one that never was.
    pub(crate) fn fence(&self, interval: Interval) -> Epoch {
        self.get(interval).map_or(self.floor, |entry| entry.fence.max(self.floor))
    }

    /// The same slices for a table of another folder: their pages have no home there yet.
    pub(crate) fn moved_out(mut self) -> SliceMap {
        self.pages.iter_mut().for_each(|page| page.home = None);
        self
    }

    /// Raises fences to those of `other`: fences never go back, also where stamps do. Nor is code forgotten.
    pub(crate) fn raise_fences(&mut self, other: &SliceMap) {
        self.note_codes(other);
        self.floor = self.floor.max(other.floor);
        for theirs in other.entries() {
            let mut own = self.get(theirs.interval).cloned().unwrap_or_else(|| Entry::empty(theirs.interval));
            if own.fence < theirs.fence {
                own.fence = theirs.fence;
                self.put(own);
            }
        }
    }

    fn page_of(&self, interval: Interval) -> Option<usize> {
        let after = self
            .pages
            .partition_point(|page| page.entries.first().is_some_and(|first| first.interval <= interval));
        if self.pages.is_empty() { None } else { Some(after.saturating_sub(1)) }
    }

    /// Names of files that hold pages of this map.
    pub(crate) fn homes(&self) -> BTreeSet<String> {
        self.pages.iter().filter_map(|page| page.home.as_ref()).map(|home| home.file.to_string()).collect()
    }

    /// Bytes of a map file called `name`: pages without a home, the root, its place. Pages get their homes.
    pub(crate) fn encode(&mut self, name: &str) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let file: Arc<str> = Arc::from(name);
        for page in self.pages.iter_mut().filter(|page| page.home.is_none()) {
            let encoded = entry::encode(&page.entries);
            page.home = Some(Home {
                file: file.clone(),
                offset: bytes.len() as u64,
                length: encoded.len() as u64,
                sum: xxh3_64(&encoded),
            });
            bytes.extend_from_slice(&encoded);
        }
        let root = self.encode_root();
        let offset = bytes.len() as u64;
        let sum = xxh3_64(&root);
        bytes.extend_from_slice(&root);
        bytes.extend_from_slice(&offset.to_le_bytes());
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn encode_root(&self) -> Vec<u8> {
        let mut root = Encoder::default();
        root.number(self.n);
        root.number(u64::from(self.snapshot.is_some()));
        root.signed(self.snapshot.unwrap_or(0));
        root.number(u64::from(self.clean));
        root.number(self.pages.len() as u64);
        for home in self.pages.iter().filter_map(|page| page.home.as_ref()) {
            root.shared(home.file.as_bytes());
            root.number(home.offset);
            root.number(home.length);
            root.wide(u128::from(home.sum));
        }
        root.number(self.codes.len() as u64);
        for (code, seen) in self.codes.iter() {
            root.shared(&code.0);
            root.signed(seen.0);
        }
        if self.floor > Epoch::default() {
            root.number(self.floor.request);
            root.number(self.floor.attempt);
        }
        root.finish()
    }

    /// Reads the map file `name`, getting bytes of files by name from `read`.
    pub(crate) fn load(name: &str, mut read: impl FnMut(&str) -> Result<Arc<Vec<u8>>>) -> Result<SliceMap> {
        let bytes = read(name)?;
        let damaged = |detail: &str| CommitError::corrupt(format!("slice map {name}"), detail);
        let tail = bytes.len().checked_sub(16).filter(|_| bytes.starts_with(MAGIC));
        let tail = tail.ok_or_else(|| damaged("it is no slice map of this version"))?;
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
        let offset = usize::try_from(word(tail)).unwrap_or(usize::MAX);
        let root = bytes.get(offset..tail).ok_or_else(|| damaged("its root lies outside"))?;
        if xxh3_64(root) != word(tail + 8) {
            return Err(damaged("the check sum of its root differs"));
        }
        let mut root = Decoder::new(root)?;
        let n = root.number()?;
        let has_snapshot = root.number()? == 1;
        let snapshot = Some(root.signed()?).filter(|_| has_snapshot);
        let clean = root.number()? == 1;
        let count = root.count()?;
        let mut pages = Vec::with_capacity(count);
        for _ in 0..count {
            let home = Home {
                file: Arc::from(root.shared_text()?),
                offset: root.number()?,
                length: root.number()?,
                sum: root.wide()? as u64,
            };
            let bytes = if *home.file == *name { bytes.clone() } else { read(&home.file)? };
            pages.push(Page { entries: Arc::new(home.read(&bytes)?), home: Some(home) });
            if !follows(&pages) {
                return Err(damaged("its slices are in another order than that of time"));
            }
        }
        // Roots of the first builds end here.
        let count = if root.is_at_end() { 0 } else { root.count()? };
        let mut codes = Vec::with_capacity(count);
        for _ in 0..count {
            codes.push((root.digest()?, Instant(root.signed()?)));
        }
        // Those of tables that were never built anew here.
        let floor = match root.is_at_end() {
            true => Epoch::default(),
            false => Epoch { request: root.number()?, attempt: root.number()? },
        };
        Ok(SliceMap { n, snapshot, clean, codes: Arc::new(codes), floor, pages })
    }
}

/// Whether the last page holds slices, each after the one before it, across pages too. What is looked up by halving
/// must be in order; and a page that is named a thousand times would be held in memory as often.
fn follows(pages: &[Page]) -> bool {
    let [before @ .., last] = pages else { return true };
    let before = before.last().and_then(|page| page.entries.last());
    let entries = before.into_iter().chain(last.entries.iter()).map(|entry| entry.interval);
    !last.entries.is_empty() && entries.is_sorted_by(|one, next| one < next)
}

impl Home {
    fn read(&self, bytes: &[u8]) -> Result<Vec<Entry>> {
        let damaged = |detail: &str| CommitError::corrupt(format!("slice map {}", self.file), detail);
        let from = usize::try_from(self.offset).unwrap_or(usize::MAX);
        let to = from.saturating_add(usize::try_from(self.length).unwrap_or(usize::MAX));
        let page = bytes.get(from..to).ok_or_else(|| damaged("a page lies outside"))?;
        if xxh3_64(page) != self.sum {
            return Err(damaged("the check sum of a page differs"));
        }
        entry::decode(page)
    }
}
