//! Scans a source: finds its files, reads those that changed, and makes the index anew. The only writer of
//! indexes.

use std::collections::{BTreeMap, BTreeSet};
use std::future::ready;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use futures::stream::{self, StreamExt};
use oncemore_commit::rows::{HashedRows, RowHasher, RowsPrint};
use oncemore_core::{Calendar, CompleteWhen, Format, Instant, Interval, Missing, SourceSpec, TimeType, Zone};

use super::bytes;
use super::cells::{self, Cells};
use super::discover::{self, Found};
use super::error::{SourceError, SourceErrorKind, nearest};
use super::index::{BrokenFile, FileCell, GoneFile, SourceFile, SourceIndex};
use super::pattern::Pattern;
use super::read::{self, Rows, Wanted};
use super::store::{Object, Store, blocking};
use super::types::{self, Column};

/// Makes the index of a source. `known` is the last one; files whose identity is unchanged are taken over
/// from it.
///
/// `cells` cuts rows into cells by the source's `time` column; without one a file is a cell of its path's
/// interval, or of [`Interval::WHOLE`].
///
/// # Errors
/// A declaration that can't work, a path that leaves the project's folder, a folder that is missing, and
/// every file that does not read as declared.
pub async fn scan(
    spec: &SourceSpec,
    store: &Store,
    known: Option<&SourceIndex>,
    cells: &Calendar,
    now: Instant,
) -> Result<SourceIndex, SourceError> {
    let index = look(spec, store, known, cells, now).await?;
    match index.broken.first() {
        Some(broken) => Err(broken.error.clone()),
        None => Ok(index),
    }
}

/// Like [`scan`], but a file that does not read as declared is noted in the index, as is a folder that is missing or
/// a link that leads out of the project: it stops what reads the source and nothing else.
///
/// # Errors
/// A declaration that can't work. What is noted otherwise, too, where the columns are not known without it.
pub async fn look(
    spec: &SourceSpec,
    store: &Store,
    known: Option<&SourceIndex>,
    cells: &Calendar,
    now: Instant,
) -> Result<SourceIndex, SourceError> {
    let zone = Zone::named(&spec.time_zone).ok_or_else(|| {
        SourceError::new(
            SourceErrorKind::Declaration,
            &spec.path,
            format!("unknown time zone `{}`", spec.time_zone),
        )
    })?;
    let pattern = Pattern::new(&spec.path, spec.path_interval, &zone)?;
    let error = match look_through(spec, store, known, cells, (zone, pattern, now)).await {
        Err(error) if concerns_the_file(&error) => error,
        looked => return looked,
    };
    let usable = known.filter(|known| known.fits(spec, cells));
    if usable.is_none() && spec.columns.is_empty() {
        return Err(error);
    }
    // What was known stays: nothing of it is gone that can't be looked at.
    let nothing = || assemble(spec, cells, BTreeMap::new(), Vec::new(), None, Vec::new());
    let mut index = usable.cloned().unwrap_or_else(nothing);
    index.spec = spec.clone();
    index.read = 0;
    index.broken = vec![BrokenFile { path: error.path.clone(), interval: None, error }];
    Ok(index)
}

async fn look_through(
    spec: &SourceSpec,
    store: &Store,
    known: Option<&SourceIndex>,
    cells: &Calendar,
    (zone, pattern, now): (Zone, Pattern, Instant),
) -> Result<SourceIndex, SourceError> {
    // Before the files: what is marked as complete when we look is there when we list.
    let markers = markers(spec, store, &pattern)?;
    let found = match discover::files(store, &pattern)? {
        Some(found) => found,
        // A folder that vanished with its files is told file by file; where files are waited for, their folder may
        // come with them; else one that never was is a mistake.
        None if spec.missing != Missing::Error || known.is_some_and(|known| !known.files.is_empty()) => {
            Vec::new()
        }
        None => return Err(no_folder(spec, &pattern)),
    };
    let usable = known.filter(|known| known.fits(spec, cells));
    let mut kept: BTreeMap<String, (SourceFile, &[Column])> = BTreeMap::new();
    let mut changed = Vec::new();
    for found in found {
        let old = usable.and_then(|known| Some((known, file(known, &found.path)?)));
        match old {
            Some((known, old)) if old.settled && old.identity == found.identity => {
                kept.insert(found.path, (old.clone(), known.columns[old.columns].as_slice()));
            }
            old => changed.push((found, old.map(|(_, old)| old.clone()))),
        }
    }
    let job = Job { spec: spec.clone(), store: store.clone(), cells: cells.clone(), zone, now };
    let (read, broken) = read_all(job, changed).await?;
    let mut index = assemble(spec, cells, kept, read, usable, markers);
    if let Some(first) = broken.first().filter(|_| spec.columns.is_empty() && index.files.is_empty()) {
        return Err(first.error.clone());
    }
    index.broken = broken;
    index.accepted = accepted(&index, known);
    index.gone = gone(&index, known);
    // Conflicts between files show here, not at the first task.
    index.columns()?;
    Ok(index)
}

fn no_folder(spec: &SourceSpec, pattern: &Pattern) -> SourceError {
    let folder = if pattern.prefix.is_empty() { "." } else { &pattern.prefix };
    SourceError::new(
        SourceErrorKind::Missing,
        &spec.path,
        format!("folder `{folder}` of source `{}` is missing", spec.name),
    )
    .help("make the folder, correct `path:`, or write `missing: empty`")
}

fn file<'a>(known: &'a SourceIndex, path: &str) -> Option<&'a SourceFile> {
    let at = known.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
    known.files.get(at)
}

/// What stays the same for all files of a scan.
struct Job {
    spec: SourceSpec,
    store: Store,
    cells: Calendar,
    zone: Zone,
    now: Instant,
}

type ReadFile = (SourceFile, Vec<Column>);
type Changed = (Found, Option<SourceFile>);

/// Whether it is the file alone that is wrong, and not the declaration or we.
fn concerns_the_file(error: &SourceError) -> bool {
    use SourceErrorKind as K;
    matches!(error.kind, K::Malformed | K::Missing | K::InputMoved | K::Io | K::Outside)
}

/// Reads changed files, as many at once as there are processors; the error is that of the first file by path.
async fn read_all(job: Job, changed: Vec<Changed>) -> Result<(Vec<ReadFile>, Vec<BrokenFile>), SourceError> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let (job, failed) = (Arc::new(job), Arc::new(AtomicBool::new(false)));
    let reads = changed.into_iter().enumerate().map(|(at, changed)| {
        let (job, failed) = (Arc::clone(&job), Arc::clone(&failed));
        async move {
            if failed.load(Ordering::Relaxed) {
                return None;
            }
            let (path, interval) = (changed.0.path.clone(), changed.0.interval);
            let read = job.read(changed).await;
            let fatal = read.as_ref().is_err_and(|error| !concerns_the_file(error));
            failed.fetch_or(fatal, Ordering::Relaxed);
            Some((at, read.map_err(|error| BrokenFile { path, interval, error })))
        }
    });
    let mut done: Vec<_> = stream::iter(reads).buffer_unordered(workers).filter_map(ready).collect().await;
    done.sort_by_key(|(at, _)| *at);
    let (mut files, mut broken) = (Vec::with_capacity(done.len()), Vec::new());
    for (_, read) in done {
        match read {
            Ok(read) => files.push(read),
            Err(one) if concerns_the_file(&one.error) => broken.push(one),
            Err(BrokenFile { error, .. }) => return Err(error),
        }
    }
    Ok((files, broken))
}

impl Job {
    async fn read(self: Arc<Self>, (found, old): Changed) -> Result<ReadFile, SourceError> {
        let path = found.path.clone();
        let object = self.store.open(&path).await?;
        blocking(&path, move || self.index(&found, &object, old.as_ref())).await
    }

    /// What the index notes of one file.
    fn index(
        &self,
        found: &Found,
        object: &Object,
        old: Option<&SourceFile>,
    ) -> Result<ReadFile, SourceError> {
        let path = found.path.as_str();
        let settled = found.identity.is_settled(self.now);
        let columns = read::columns(&self.spec, object)?;
        let as_declared = self.spec.columns.as_slice();
        let time = self.time(path, &columns)?;
        // Touched, copied over or too young to trust, but the same bytes: the cells stand.
        if let Some(old) = old.filter(|old| old.identity.bytes() == found.identity.bytes())
            && bytes::digest(object)? == old.digest
        {
            let same = SourceFile { identity: found.identity.clone(), settled, ..old.clone() };
            return Ok((same, columns));
        }
        let mut gather = Gather::new(self, found, object, &columns, time)?;
        let wanted = Wanted { columns: &columns, required: as_declared };
        let digest = read::file(&self.spec, object, &wanted, &mut |rows| gather.add(&rows))?;
        let digest = match digest {
            Some(digest) => digest,
            None => bytes::digest(object)?,
        };
        if *object.identity() != found.identity || object.changed()? {
            return Err(moved(path, "changed while it was read"));
        }
        gather.check_keys(&self.spec)?;
        Ok((gather.finish(found, settled, digest), columns))
    }

    /// Place and type of the time column.
    fn time(&self, path: &str, columns: &[Column]) -> Result<Option<(usize, TimeType)>, SourceError> {
        let Some(name) = &self.spec.time else { return Ok(None) };
        let place = columns.iter().position(|(own, _)| own == name).ok_or_else(|| {
            let error = SourceError::new(
                SourceErrorKind::Missing,
                path,
                format!("there is no column `{name}`, which `time:` of source `{}` names", self.spec.name),
            );
            match nearest(name, columns.iter().map(|(own, _)| own.as_str())) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error,
            }
        })?;
        let kind = columns[place].1;
        let time = types::time_type(kind).ok_or_else(|| {
            let help = match self.spec.format {
                Format::Parquet => "declare its type under `columns:` of the source, or take `time:` away",
                _ => "declare it under `columns:` as DATE, TIMESTAMP or TIMESTAMPTZ",
            };
            SourceError::new(
                SourceErrorKind::Declaration,
                path,
                format!("time column `{name}` is {kind}, no time"),
            )
            .help(help)
        })?;
        Ok(Some((place, time)))
    }
}

pub(crate) fn moved(path: &str, what: &str) -> SourceError {
    SourceError::new(SourceErrorKind::InputMoved, path, format!("input moved: the file {what}"))
        .help("run again; deliver files under another name and rename them when complete")
}

/// Prints of one file's cells, gathered batch by batch.
struct Gather<'a> {
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

    /// Adds the rows of a batch; false once there are too many.
    fn add(&mut self, hashed: &HashedRows, rows: &Rows) -> bool {
        let Some(hashes) = hashed.columns.get(self.place) else { return false };
        let number = |row: usize| match &rows.lines {
            Some(lines) => lines.get(row).copied().unwrap_or_default(),
            None => rows.before + row as u64 + 1,
        };
        self.seen.extend(hashes.iter().enumerate().map(|(row, hash)| (*hash, number(row))));
        self.seen.len() <= KEYS_MAX
    }

    /// Two lines or rows with one key, the first in the file.
    fn twice(mut self) -> Option<(u64, u64)> {
        self.seen.sort_unstable();
        let pairs = self.seen.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        pairs.map(|pair| (pair[0].1, pair[1].1)).min_by_key(|(_, second)| *second)
    }
}

impl<'a> Gather<'a> {
    fn new(
        job: &'a Job,
        found: &Found,
        object: &'a Object,
        columns: &[Column],
        time: Option<(usize, TimeType)>,
    ) -> Result<Self, SourceError> {
        let hasher = RowHasher::new(&types::schema(columns), &job.spec.key).map_err(|error| {
            SourceError::new(SourceErrorKind::Declaration, &found.path, error.to_string())
        })?;
        let keys = Keys::new(&hasher, &job.spec);
        let kind = time.map_or(TimeType::Instant, |(_, kind)| kind);
        let mut cells = Cells::new(&job.cells, &job.zone, kind);
        let mut prints = Vec::new();
        if time.is_none() {
            cells.intervals.push(found.interval.unwrap_or(Interval::WHOLE));
            prints.push(RowsPrint::new(&hasher));
        }
        Ok(Gather {
            object,
            name: job.spec.time.as_deref(),
            time,
            zone: &job.zone,
            hasher,
            cells,
            prints,
            rows: 0,
            latest: None,
            keys,
        })
    }

    fn add(&mut self, rows: &Rows) -> Result<ControlFlow<()>, SourceError> {
        let hashed = self.hasher.hash(&rows.batch);
        self.rows += rows.batch.num_rows() as u64;
        self.keys = self.keys.take().and_then(|mut keys| keys.add(&hashed, rows).then_some(keys));
        let Some((place, kind)) = self.time else {
            self.prints[0].add(&hashed);
            return Ok(ControlFlow::Continue(()));
        };
        let column = rows.batch.column(place);
        let runs = self.cells.runs(column).map_err(|row| self.no_time(rows, row))?;
        self.prints.resize_with(self.cells.intervals.len(), || RowsPrint::new(&self.hasher));
        match runs.as_slice() {
            [(cell, ..)] => self.prints[*cell].add(&hashed),
            runs => {
                for (cell, from, to) in runs {
                    self.prints[*cell].add_rows(&hashed, *from..*to);
                }
            }
        }
        self.latest = self.latest.max(cells::raw(column, kind).and_then(|values| values.into_iter().max()));
        Ok(ControlFlow::Continue(()))
    }

    /// Refuses a file in which two rows have one key.
    fn check_keys(&mut self, spec: &SourceSpec) -> Result<(), SourceError> {
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

    fn finish(self, found: &Found, settled: bool, digest: oncemore_core::Digest) -> SourceFile {
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

fn markers(
    spec: &SourceSpec,
    store: &Store,
    path: &Pattern,
) -> Result<Vec<(String, Option<Interval>)>, SourceError> {
    let Some(CompleteWhen::Marker(text)) = &spec.complete_when else { return Ok(Vec::new()) };
    let zone = Zone::named(&spec.time_zone).unwrap_or_else(Zone::utc);
    let length = spec.path_interval.or_else(|| path.calendar().map(|calendar| calendar.length));
    let found = discover::files(store, &Pattern::new(text, length, &zone)?)?;
    Ok(found.unwrap_or_default().into_iter().map(|found| (found.path, found.interval)).collect())
}

fn assemble(
    spec: &SourceSpec,
    cells: &Calendar,
    kept: BTreeMap<String, (SourceFile, &[Column])>,
    read: Vec<ReadFile>,
    known: Option<&SourceIndex>,
    markers: Vec<(String, Option<Interval>)>,
) -> SourceIndex {
    let count = read.len();
    // Old lists first, so that files taken over keep their place.
    let mut lists: Vec<Vec<Column>> = known.map(|known| known.columns.clone()).unwrap_or_default();
    let mut place = |columns: &[Column]| {
        lists.iter().position(|list| list == columns).unwrap_or_else(|| {
            lists.push(columns.to_vec());
            lists.len() - 1
        })
    };
    let kept = kept.into_values().map(|(file, columns)| SourceFile { columns: place(columns), ..file });
    let mut files: Vec<SourceFile> = kept.collect();
    files.extend(read.into_iter().map(|(file, columns)| SourceFile { columns: place(&columns), ..file }));
    files.sort_by(|left, right| left.path.cmp(&right.path));
    drop_unused(&mut lists, &mut files);
    SourceIndex {
        spec: spec.clone(),
        length: cells.length,
        zone: cells.zone.name().to_owned(),
        columns: lists,
        files,
        gone: Vec::new(),
        accepted: BTreeMap::new(),
        markers,
        broken: Vec::new(),
        read: count,
        merged: OnceLock::new(),
        version: OnceLock::new(),
        expected: OnceLock::new(),
    }
}

/// Drops lists of columns that no file has any more: they must not shape the schema.
fn drop_unused(lists: &mut Vec<Vec<Column>>, files: &mut [SourceFile]) {
    let mut first: Vec<usize> = Vec::new();
    for file in files.iter_mut() {
        let at = first.iter().position(|place| *place == file.columns).unwrap_or_else(|| {
            first.push(file.columns);
            first.len() - 1
        });
        file.columns = at;
    }
    *lists = first.into_iter().map(|place| std::mem::take(&mut lists[place])).collect();
}

/// Those whose absence was accepted and that did not come back.
fn accepted(index: &SourceIndex, known: Option<&SourceIndex>) -> BTreeMap<String, Option<Interval>> {
    let there = there(index);
    let known = known.filter(|known| known.spec.path == index.spec.path);
    let accepted = known.into_iter().flat_map(|known| known.accepted.clone());
    accepted.filter(|(path, _)| !there.contains(path.as_str())).collect()
}

/// Paths of all files, those that can't be read among them.
fn there(index: &SourceIndex) -> BTreeSet<&str> {
    let broken = index.broken.iter().map(|broken| broken.path.as_str());
    index.files.iter().map(|file| file.path.as_str()).chain(broken).collect()
}

/// Files of `known` that vanished, and those gone already, but for what came back or lives on under another
/// name.
fn gone(index: &SourceIndex, known: Option<&SourceIndex>) -> Vec<GoneFile> {
    let Some(known) = known.filter(|known| known.spec.path == index.spec.path) else { return Vec::new() };
    let there = there(index);
    let content: BTreeSet<_> = index.files.iter().map(|file| file.digest).collect();
    let named: BTreeSet<Interval> = index.files.iter().filter_map(|file| file.interval).collect();
    let vanished = known.files.iter().map(|file| GoneFile {
        path: file.path.clone(),
        interval: file.interval,
        cells: file.cells.iter().map(|cell| cell.interval).collect(),
        digest: file.digest,
    });
    let mut gone: Vec<GoneFile> = (known.gone.iter().cloned().chain(vanished))
        .filter(|gone| !there.contains(gone.path.as_str()) && !content.contains(&gone.digest))
        .filter(|gone| gone.interval.is_none_or(|interval| !named.contains(&interval)))
        .collect();
    gone.sort_by(|left, right| left.path.cmp(&right.path));
    gone.dedup_by(|left, right| left.path == right.path);
    gone
}
