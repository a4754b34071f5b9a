//! What the index notes of one file, gathered from its rows batch by batch: prints by cell, the latest time, keys that
//! come twice. Of the file it reads a line alone, to show what is wrong.

use arrow::array::Array;
use oncemore_commit::rows::{HashedRows, RowHasher, RowsPrint};
use oncemore_core::{Calendar, Digest, Format, Interval, SourceSpec, TimeType, Zone};

use super::bytes;
use super::cells::{self, Cells};
use super::discover::Found;
use super::error::{SourceError, SourceErrorKind};
use super::index::{FileCell, SourceFile};
use super::read::Rows;
use super::store::Object;
use super::types::{self, Column};

/// Prints of one file's cells, gathered batch by batch.
#[derive(Debug)]
pub(super) struct Gather<'a> {
    object: &'a Object,
    name: Option<&'a str>,
    time: Option<(usize, TimeType)>,
    zone: &'a Zone,
    hasher: RowHasher,
    cells: Cells<'a>,
    prints: Vec<RowsPrint>,
    rows: u64,
    latest: Option<i64>,
    keys: Option<Keys>,
}

/// Most rows of a file whose keys are compared: beyond them memory would grow with the file.
const KEYS_MAX: usize = 2_000_000;

/// Hashes of (key, time) with the line, or else the row, that each comes from.
#[derive(Debug)]
struct Keys {
    /// Place among the hashed columns.
    place: usize,
    seen: Vec<(u128, u64)>,
}

impl Keys {
    fn new(hasher: &RowHasher, spec: &SourceSpec) -> Option<Keys> {
        // The hash of any column is tied to the key: that of the time is one of both.
        let column = spec.key.first().map(|first| spec.time.as_ref().unwrap_or(first))?;
        let place = hasher.names().position(|name| name == column)?;
        Some(Keys { place, seen: Vec::new() })
    }

    /// Adds the rows of a batch that come after `before` others of it; false once there are too many.
    fn add(&mut self, hashed: &HashedRows, rows: &Rows, before: usize) -> bool {
        let Some(hashes) = hashed.columns.get(self.place) else { return false };
        let number = |row: usize| match &rows.lines {
            Some(lines) => lines.get(row).copied().unwrap_or_default(),
            None => rows.before + row as u64 + 1,
        };
        self.seen.extend((before..).zip(hashes).map(|(row, hash)| (*hash, number(row))));
        self.seen.len() <= KEYS_MAX
    }

    /// Those of further rows as well; `None`: too many.
    fn with(mut self, mut next: Keys) -> Option<Keys> {
        self.seen.append(&mut next.seen);
        (self.seen.len() <= KEYS_MAX).then_some(self)
    }

    /// Two lines or rows with one key, the first in the file.
    fn twice(mut self) -> Option<(u64, u64)> {
        self.seen.sort_unstable();
        let pairs = self.seen.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        pairs.map(|pair| (pair[0].1, pair[1].1)).min_by_key(|(_, second)| *second)
    }
}

impl<'a> Gather<'a> {
    /// Nothing yet of a file of a source; `time` is the place and type of the time column, for cells of a calendar as a
    /// zone's clock shows them.
    pub(super) fn new(
        spec: &'a SourceSpec,
        (calendar, zone): (&'a Calendar, &'a Zone),
        found: &Found,
        object: &'a Object,
        (columns, time): (&[Column], Option<(usize, TimeType)>),
    ) -> Result<Self, SourceError> {
        let hasher = RowHasher::new(&types::schema(columns), &spec.key).map_err(|error| {
            SourceError::new(SourceErrorKind::Declaration, &found.path, error.to_string())
        })?;
        let keys = Keys::new(&hasher, spec);
        let kind = time.map_or(TimeType::Instant, |(_, kind)| kind);
        let mut cells = Cells::new(calendar, zone, kind);
        let mut prints = Vec::new();
        if time.is_none() {
            cells.intervals.push(found.interval.unwrap_or(Interval::WHOLE));
            prints.push(RowsPrint::new(&hasher));
        }
        Ok(Gather {
            object,
            name: spec.time.as_deref(),
            time,
            zone,
            hasher,
            cells,
            prints,
            rows: 0,
            latest: None,
            keys,
        })
    }

    /// Adds the next rows of the file.
    pub(super) fn add(&mut self, rows: &Rows) -> Result<(), SourceError> {
        self.rows += rows.batch.num_rows() as u64;
        let runs = self.runs(rows)?;
        let (mut runs, prints, keys) = (runs.as_slice(), &mut self.prints, &mut self.keys);
        self.hasher.stretches(&rows.batch, |before, hashed| {
            let after = before + hashed.first.len();
            *keys = keys.take().and_then(|mut keys| keys.add(hashed, rows, before).then_some(keys));
            for (cell, from, to) in runs.iter().take_while(|(_, from, _)| *from < after) {
                if *from <= before && after <= *to {
                    prints[*cell].add(hashed);
                } else {
                    prints[*cell].add_rows(hashed, from.saturating_sub(before)..after.min(*to) - before);
                }
            }
            runs = &runs[runs.partition_point(|(.., to)| *to <= after)..];
        });
        Ok(())
    }

    /// Rows by cell, in runs of equal cells: (place of the print, rows from, rows to).
    fn runs(&mut self, rows: &Rows) -> Result<Vec<(usize, usize, usize)>, SourceError> {
        let Some((place, kind)) = self.time else { return Ok(vec![(0, 0, rows.batch.num_rows())]) };
        let column = rows.batch.column(place);
        let runs = self.cells.runs(column).map_err(|row| self.no_time(rows, row))?;
        self.prints.resize_with(self.cells.intervals.len(), || RowsPrint::new(&self.hasher));
        self.latest = self.latest.max(cells::raw(column, kind).and_then(|values| values.into_iter().max()));
        Ok(runs)
    }

    /// Adds what was gathered of the rows that come next.
    pub(super) fn append(&mut self, next: Gather<'_>) {
        self.rows += next.rows;
        self.latest = self.latest.max(next.latest);
        for (interval, print) in next.cells.intervals.into_iter().zip(next.prints) {
            match self.cells.intervals.iter().position(|own| *own == interval) {
                Some(place) => self.prints[place].merge(&print),
                None => {
                    self.cells.intervals.push(interval);
                    self.prints.push(print);
                }
            }
        }
        self.keys = self.keys.take().zip(next.keys).and_then(|(own, next)| own.with(next));
    }

    /// Refuses a file in which two rows have one key.
    pub(super) fn check_keys(&mut self, spec: &SourceSpec) -> Result<(), SourceError> {
        let Some((first, second)) = self.keys.take().and_then(Keys::twice) else { return Ok(()) };
        let lines = spec.format != Format::Parquet;
        let what = if lines { "lines" } else { "rows" };
        let key = spec.key.join(", ");
        let with_time = spec.time.as_ref().filter(|time| !spec.key.contains(time));
        let with_time = with_time.map_or_else(String::new, |time| format!(" and one `{time}`"));
        let mut error = SourceError::new(
            SourceErrorKind::Malformed,
            self.object.path(),
            format!("{what} {first} and {second} have one key ({key}){with_time}"),
        );
        if lines {
            error.line = Some(second);
            error.shown = bytes::show_line(self.object, second);
        }
        Err(error.help(format!("correct the file, or `key:` of source `{}`", spec.name)))
    }

    fn no_time(&self, rows: &Rows, row: usize) -> SourceError {
        let name = self.name.unwrap_or_default();
        let null = self.time.is_some_and(|(place, _)| rows.batch.column(place).is_null(row));
        let what = if null { "is NULL" } else { "lies beyond the calendar" };
        let line = rows.lines.as_ref().and_then(|lines| lines.get(row).copied());
        let place = match line {
            Some(_) => String::new(),
            None => format!(" in row {}", rows.before + row as u64 + 1),
        };
        let mut error = SourceError::new(
            SourceErrorKind::Malformed,
            self.object.path(),
            format!("time column `{name}` {what}{place}"),
        );
        error.line = line;
        error.shown = line.and_then(|line| bytes::show_line(self.object, line));
        error.help("each row needs its time: correct the file, or read the source without `time:`")
    }

    /// What the index notes of the file.
    pub(super) fn finish(self, found: &Found, settled: bool, digest: Digest) -> SourceFile {
        let latest = self.time.zip(self.latest);
        let mut cells: Vec<FileCell> = (self.prints.into_iter().zip(&self.cells.intervals))
            .map(|(print, interval)| {
                let (fingerprint, columns) = print.finish();
                let prints = columns.into_iter().map(|column| column.print).collect();
                FileCell { interval: *interval, fingerprint, prints }
            })
            .filter(|cell| cell.fingerprint.rows > 0)
            .collect();
        cells.sort_by_key(|cell| cell.interval);
        SourceFile {
            path: found.path.clone(),
            interval: found.interval,
            identity: found.identity.clone(),
            settled,
            digest,
            rows: self.rows,
            max_time: latest.and_then(|((_, kind), latest)| cells::instant(latest, kind, self.zone)),
            columns: 0,
            cells,
        }
    }
}
