//! Which slices a changed dimension spares: they are made of it, and look none of the changed keys up.
//!
//! Where an input is only looked up ([`Lookup`]), a version of it that is kept is compared with the head, and the rows that
//! look it up are asked once, for all slices, when they hold a changed key. Whatever is not known for certain spares nothing.
//! What is learnt is data of the ground, and holds for the content of the versions it names, whatever is published meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use oncemore_backend::engine::{InputTime, Keys, Lookup};
use oncemore_backend::table::{self, DataFile};
use oncemore_commit::RowsOf;
use oncemore_core::{AttemptId, Digest, Interval, Read, Stamp, TableName, Zone};

use crate::error::RunError;
use crate::ground::{Ground, ModelGround};
use crate::inputs::{InputCells, list_of};
use crate::task;
use crate::workspace::Workspace;

/// Most changed keys that are held, and most instants of rows that look them up.
const MOST_KEYS: usize = 1_000_000;
const MOST_MOMENTS: usize = 4_000_000;
/// Most versions of one input that slices of a model were made from and that are compared with the head.
const MOST_VERSIONS: usize = 8;

/// Slices of a model that changes of its inputs spare.
#[derive(Debug, Default)]
pub struct Spared {
    known: Vec<Known>,
}

/// Two versions of an input, and the slices made from the first that are what the second would give.
#[derive(Debug)]
struct Known {
    input: String,
    from: Digest,
    to: Digest,
    /// With the attempt that the slice's stamp named: only what that one was made from was looked at.
    slices: BTreeMap<Interval, AttemptId>,
}

impl Spared {
    /// Whether the slice of this stamp is what it would be if `input` had been `to` and not `from`.
    pub fn covers(&self, input: &str, from: Digest, to: Digest, stamp: &Stamp) -> bool {
        let found = self.find(input, from, to);
        found.is_some_and(|known| known.slices.get(&stamp.interval) == Some(&stamp.attempt))
    }

    fn find(&self, input: &str, from: Digest, to: Digest) -> Option<&Known> {
        self.known.iter().find(|known| known.input == input && known.from == from && known.to == to)
    }
}

/// What is to be found out about one input of a model.
struct Question {
    lookup: Lookup,
    /// Columns of the input that are read, those compared first.
    columns: Vec<String>,
    /// How many of them are compared.
    key: usize,
    /// The columns as they are read, which decide its version.
    read: Arc<[String]>,
    table: TableName,
    from: Digest,
    to: Digest,
    /// What is read of the other input.
    by: Read,
    /// What places its rows in time, and its zone.
    time: Option<InputTime>,
    zone: Zone,
    slices: Vec<Candidate>,
}

/// A slice that nothing but lookups makes stale.
struct Candidate {
    interval: Interval,
    owner: AttemptId,
    /// What it reads of the input that looks up, and the version of that.
    range: Option<Interval>,
    version: Digest,
}

/// Changed keys of inputs, by table, version, columns read and how many of them are compared: several models may read one
/// dimension.
type Memo = BTreeMap<(TableName, Digest, Vec<String>, usize), Option<Arc<Keys>>>;

/// Finds out for models of the ground which of their slices are spared.
pub(crate) async fn look(
    workspace: &Workspace,
    ground: &mut Ground,
    models: impl IntoIterator<Item = usize>,
) {
    let mut memo = Memo::new();
    for at in models {
        for question in questions(workspace, ground, at) {
            // What can't be read or found makes no difference to what is right: the slices are stale. Whoever computes them
            // meets the trouble and tells of it.
            let slices = answer(workspace, &question, &mut memo).await.unwrap_or_default();
            let (input, from, to) = (question.lookup.input, question.from, question.to);
            ground.models[at].spared.known.push(Known { input, from, to, slices });
        }
    }
}

/// What there is to find out about a model: nothing, where none of the inputs that it looks up has changed.
fn questions(workspace: &Workspace, ground: &Ground, at: usize) -> Vec<Question> {
    let own = &ground.models[at];
    let is_sound = own.misfit.is_none() && own.foreign.is_empty() && !own.reads_previous();
    if own.lookups.is_empty() || !is_sound {
        return Vec::new();
    }
    let lookups = own.lookups.iter().filter_map(|lookup| about(workspace, ground, own, lookup));
    lookups.flatten().collect()
}

/// The questions about one lookup of a model, one for each version that slices were made from.
fn about(
    workspace: &Workspace,
    ground: &Ground,
    own: &ModelGround,
    lookup: &Lookup,
) -> Option<Vec<Question>> {
    let input = &ground.models[ground.position(&lookup.input)?];
    let is_whole = input.calendar.is_none() || input.is_folded();
    let is_settled = |name: &String| {
        let model = ground.position(name).map(|at| &ground.models[at]);
        model.is_none_or(|model| model.misfit.is_none() && model.foreign.is_empty())
    };
    let is_settled = is_settled(&lookup.input) && is_settled(&lookup.by);
    if !is_whole || !is_settled || own.is_let_be(&lookup.input) {
        return None;
    }
    let find = |name: &String| own.reads.iter().find(|read| read.input == *name);
    let (read, by) = (find(&lookup.input)?, find(&lookup.by)?);
    let list = read.columns.as_deref()?;
    let compared: BTreeSet<&String> = lookup.on.iter().map(|(column, _)| column).collect();
    if read.from.is_some() || read.to.is_some() || !compared.iter().all(|column| list.contains(column)) {
        return None;
    }
    let to = input.cells.version(Some(Interval::WHOLE), Some(list), list_of(Some(list)));
    let made_from = made_from(ground, own, lookup, by, to)?;
    let model = workspace.model(own.name.as_str())?;
    // Its audits may look at more of the table than the query does.
    if made_from.is_empty() || task::tables_read(workspace, model).contains(&lookup.input) {
        return None;
    }
    let facts = workspace.facts.get(own.name.as_str())?;
    let schema = facts.query.inputs.iter().find(|found| found.name == lookup.by)?;
    let rest = list.iter().filter(|column| !compared.contains(column));
    let columns: Vec<String> = compared.iter().copied().chain(rest).cloned().collect();
    let question = |(from, slices)| Question {
        lookup: lookup.clone(),
        columns: columns.clone(),
        key: compared.len(),
        read: list.into(),
        table: input.name.clone(),
        from,
        to,
        by: by.clone(),
        time: schema.time.clone(),
        zone: ground.zone_of(&lookup.by),
        slices,
    };
    Some(made_from.into_iter().map(question).collect())
}

/// Slices that lookups alone make stale, by the version of the input that they were made from: the most common ones, of
/// which nothing is known yet.
fn made_from(
    ground: &Ground,
    own: &ModelGround,
    lookup: &Lookup,
    by: &Read,
    to: Digest,
) -> Option<Vec<(Digest, Vec<Candidate>)>> {
    let (zone, by_zone) = (own.zone(), ground.zone_of(&lookup.by));
    let range = |read: &Read, interval| read.range(interval, &zone, &ground.zone_of(&read.input));
    let is_now = |stamp: &Stamp, read: &Read| {
        let pin = stamp.inputs.iter().find(|pin| pin.input == read.input)?;
        let columns = read.columns.as_deref();
        let cells = ground.cells_of(&read.input)?;
        Some(pin.version == cells.version(range(read, stamp.interval), columns, list_of(columns)))
    };
    let is_looked_up = |read: &Read| own.lookups.iter().any(|lookup| lookup.input == read.input);
    let counts = |read: &Read| read.input == lookup.by || !(is_looked_up(read) || own.is_let_be(&read.input));
    let cells = ground.cells_of(&lookup.by)?;
    let (columns, list) = (by.columns.as_deref(), list_of(by.columns.as_deref()));
    let mut found: BTreeMap<Digest, Vec<Candidate>> = BTreeMap::new();
    for stamp in own.stamps.iter().filter(|stamp| stamp.code == own.code) {
        let Some(pin) = stamp.inputs.iter().find(|pin| pin.input == lookup.input) else { continue };
        if pin.version == to || own.spared.find(&lookup.input, pin.version, to).is_some() {
            continue;
        }
        let mut others = own.reads.iter().filter(|read| counts(read));
        if !others.all(|read| is_now(stamp, read) == Some(true)) {
            continue;
        }
        let range = by.range(stamp.interval, &zone, &by_zone);
        let version = cells.version(range, columns, list);
        let (interval, owner) = (stamp.interval, stamp.attempt);
        found.entry(pin.version).or_default().push(Candidate { interval, owner, range, version });
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(_, slices)| std::cmp::Reverse(slices.len()));
    found.truncate(MOST_VERSIONS);
    Some(found)
}

/// The slices that are spared.
async fn answer(
    workspace: &Workspace,
    question: &Question,
    memo: &mut Memo,
) -> Result<BTreeMap<Interval, AttemptId>, RunError> {
    let place = (question.table.clone(), question.from, question.columns.clone(), question.key);
    let keys = match memo.get(&place) {
        Some(known) => known.clone(),
        None => {
            let keys = changed_keys(workspace, question).await?.map(Arc::new);
            memo.insert(place, keys.clone());
            keys
        }
    };
    let Some(keys) = keys else { return Ok(BTreeMap::new()) };
    let all = || question.slices.iter();
    let ranges = || all().filter_map(|slice| slice.range);
    let hull = ranges().map(|range| range.start()).min().zip(ranges().map(|range| range.end()).max());
    let hull = hull.and_then(|(start, end)| Interval::new(start, end));
    let moments = match hull.filter(|_| !keys.is_empty()) {
        // Nothing changed in what is read, or no slice reads anything of the other input.
        None => Default::default(),
        Some(hull) => {
            let Some(rows) = rows_of(workspace, question, hull)? else { return Ok(BTreeMap::new()) };
            let time = question.time.as_ref().map(|time| (time, &question.zone));
            let engine = workspace.engine()?;
            let found = engine.lookups_of(rows, &question.lookup, &keys, time, MOST_MOMENTS).await?;
            let Some(found) = found else { return Ok(BTreeMap::new()) };
            found
        }
    };
    let spared = all().filter(|slice| !slice.range.is_some_and(|range| moments.touch(range)));
    Ok(spared.map(|slice| (slice.interval, slice.owner)).collect())
}

/// Keys whose row differs between the version that slices were made from and the head, which is that of the ground; `None`
/// where that is not known.
async fn changed_keys(workspace: &Workspace, question: &Question) -> Result<Option<Keys>, RunError> {
    let version = |stamp: Option<&Stamp>| {
        let cells = InputCells::from_stamps(stamp.map_or(&[], std::slice::from_ref));
        cells.version(Some(Interval::WHOLE), Some(&question.read), list_of(Some(&question.read)))
    };
    let is_older = |stamp: Option<&Stamp>| version(stamp) == question.from;
    let apart = workspace.warehouse.apart(&question.table, is_older)?;
    let Some(apart) = apart.filter(|apart| version(apart.stamp.as_ref()) == question.to) else {
        return Ok(None);
    };
    let Some(facts) = workspace.facts.get(question.table.as_str()) else { return Ok(None) };
    let rows = |rows: Vec<RowsOf>| {
        let file = |file: RowsOf| {
            let RowsOf { path, rows, bytes, skipped } = file;
            DataFile { path: path.into(), rows, bytes, deleted: skipped }
        };
        table::provider(rows.into_iter().map(file).collect(), Arc::clone(&facts.table), None)
    };
    let both = (rows(apart.older), rows(apart.newer));
    Ok(workspace.engine()?.changed_keys(both, &question.columns, question.key, MOST_KEYS).await?)
}

/// The rows that look up, of a range that holds those of all slices; `None` where they are no longer those that the slices
/// were made from.
fn rows_of(
    workspace: &Workspace,
    question: &Question,
    hull: Interval,
) -> Result<Option<Arc<dyn TableProvider>>, RunError> {
    let name = &question.lookup.by;
    let Some(model) = workspace.model(name) else {
        // A source's bytes are compared with those that its index is of when they are read.
        return Ok(Some(task::input(workspace, name, Some(hull))?));
    };
    let before = workspace.warehouse.stamps(&model.name)?;
    let cells = InputCells::from_stamps(&before);
    let columns = question.by.columns.as_deref();
    let list = list_of(columns);
    let is_same = |slice: &Candidate| cells.version(slice.range, columns, list) == slice.version;
    let rows = task::input(workspace, name, Some(hull))?;
    // Nobody published in between: the rows are those of the stamps.
    let is_still = *workspace.warehouse.stamps(&model.name)? == *before;
    Ok((question.slices.iter().all(is_same) && is_still).then_some(rows))
}
