//! Scans a source: finds its files, reads those that changed, and makes the index anew. The only writer of
//! indexes.

use std::collections::{BTreeMap, BTreeSet};
use std::future::ready;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, mpsc};

use futures::stream::{self, StreamExt};
use oncemore_core::{
    Calendar, CompleteWhen, Digest, Format, Instant, Interval, Missing, SEMANTICS, SourceSpec, TimeType, Zone,
};

use super::bytes;
use super::discover::{self, Found};
use super::error::{SourceError, SourceErrorKind, nearest};
use super::gather::Gather;
use super::index::{BrokenFile, GoneFile, SourceFile, SourceIndex};
use super::pattern::Pattern;
use super::read::{self, LARGE_FILE, Portion, Rows, Wanted};
use super::store::{Object, Store, blocking};
use super::types::{self, Column};

/// Batches decoded before they are hashed.
const AHEAD: usize = 4;

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
    index.broken = vec![BrokenFile { path: error.path.clone(), interval: None, cells: Vec::new(), error }];
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
    if let Some(known) = known.filter(|known| known.spec.path == spec.path) {
        for broken in &mut index.broken {
            broken.cells = known.cells_of(&broken.path).unwrap_or_default();
        }
    }
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

fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Reads changed files, as many at once as there are processors; the error is that of the first file by path.
async fn read_all(job: Job, changed: Vec<Changed>) -> Result<(Vec<ReadFile>, Vec<BrokenFile>), SourceError> {
    let workers = workers();
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
            Some((at, read.map_err(|error| BrokenFile { path, interval, cells: Vec::new(), error })))
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
        let begin = || Gather::new(&self.spec, (&self.cells, &self.zone), found, object, (&columns, time));
        let wanted = |portion| Wanted { columns: &columns, required: as_declared, portion };
        let portions = Portion::of(&self.spec.format, found.identity.bytes(), workers());
        let (mut gather, digest) = if found.identity.bytes() < LARGE_FILE {
            self.read_small(object, &wanted(Portion::WHOLE), begin()?)?
        } else if self.spec.format == Format::Parquet {
            self.read_portions(object, &portions.map(wanted).collect::<Vec<_>>(), begin)?
        } else {
            self.read_text(object, &wanted(Portion::WHOLE), begin()?)?
        };
        if *object.identity() != found.identity || object.changed()? {
            return Err(moved(path, "changed while it was read"));
        }
        gather.check_keys(&self.spec)?;
        Ok((gather.finish(found, settled, digest), columns))
    }

    fn read_small<'a>(
        &self,
        object: &Object,
        wanted: &Wanted<'_>,
        mut gather: Gather<'a>,
    ) -> Result<(Gather<'a>, Digest), SourceError> {
        let add = &mut |rows: Rows| gather.add(&rows).map(ControlFlow::Continue);
        let digest = read::file(&self.spec, object, wanted, add)?;
        let digest = digest.map_or_else(|| bytes::digest(object), Ok)?;
        Ok((gather, digest))
    }

    /// Reads a large file portion by portion, all at the same time.
    fn read_portions<'a>(
        &self,
        object: &Object,
        portions: &[Wanted<'_>],
        begin: impl Fn() -> Result<Gather<'a>, SourceError> + Sync,
    ) -> Result<(Gather<'a>, Digest), SourceError> {
        let read = |wanted: &Wanted<'_>| {
            let mut gather = begin()?;
            let add = &mut |rows: Rows| gather.add(&rows).map(ControlFlow::Continue);
            read::file(&self.spec, object, wanted, add)?;
            Ok(gather)
        };
        let died = || SourceError::new(SourceErrorKind::Internal, object.path(), "a reading thread died");
        std::thread::scope(|scope| {
            let hashed = scope.spawn(|| bytes::digest(object));
            let reads: Vec<_> = portions.iter().map(|wanted| scope.spawn(|| read(wanted))).collect();
            let mut all = begin()?;
            for read in reads {
                all.append(read.join().map_err(|_| died())??);
            }
            Ok((all, hashed.join().map_err(|_| died())??))
        })
    }

    /// Reads a large file whose rows are decoded and hashed at the same time.
    fn read_text<'a>(
        &self,
        object: &Object,
        wanted: &Wanted<'_>,
        mut gather: Gather<'a>,
    ) -> Result<(Gather<'a>, Digest), SourceError> {
        let died = || SourceError::new(SourceErrorKind::Internal, object.path(), "a reading thread died");
        let digest = std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::sync_channel(AHEAD);
            let decoded = scope.spawn(move || {
                // Nobody listens any more: what is wrong is said on the other side.
                let hand_over =
                    |rows| sender.send(rows).map_or(ControlFlow::Break(()), ControlFlow::Continue);
                read::file(&self.spec, object, wanted, &mut |rows| Ok(hand_over(rows)))
            });
            let gathered = receiver.into_iter().try_for_each(|rows| gather.add(&rows));
            let decoded = decoded.join().map_err(|_| died())?;
            gathered?;
            decoded
        })?;
        let digest = digest.map_or_else(|| bytes::digest(object), Ok)?;
        Ok((gather, digest))
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
        semantics: SEMANTICS,
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
