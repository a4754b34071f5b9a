//! What a plan stands on: models, what their tables hold, what sources deliver, and the time. Values only.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use oncemore_backend::engine::Lookup;
use oncemore_core::{
    Calendar, CodeVersion, Digest, Instant, Interval, IntervalSet, Read, Stamp, TableName, Zone,
};
use oncemore_project::OnForeign;

use crate::assess::{Allow, Damage, Earlier, InputState, SourceState, Subject, Supply, TableState};
use crate::due::{Cut, Cuts, Slots};
use crate::inputs::{InputCells, list_of};
use crate::spare::Spared;

/// Everything that decides a plan.
pub struct Ground {
    /// The current time: decides which intervals are due, never what they hold.
    pub now: Instant,
    /// Models in topological order, views left out.
    pub models: Vec<ModelGround>,
    /// Sources by name.
    pub sources: HashMap<String, SourceGround>,
    /// Places in `models` by the name used in FROM.
    places: HashMap<String, usize>,
    cuts: Cuts,
}

/// One model with what its table holds.
pub struct ModelGround {
    /// The table.
    pub name: TableName,
    /// The table that its tasks write: its own, or that of the changes that it is folded from.
    pub sliced: TableName,
    /// Cuts its time; `None` for a table of one slice.
    pub calendar: Option<Calendar>,
    /// Names it goes by in selections: tags.
    pub tags: Vec<String>,
    /// First instant that its slices cover.
    pub start: Option<Instant>,
    /// Fixed end, where the project or the model has one.
    pub end: Option<Instant>,
    /// How long after its end an interval is due.
    pub delay_micros: i64,
    /// Its code now.
    pub code: CodeVersion,
    /// First sight of that code.
    pub code_seen: Instant,
    /// Digest of its audits.
    pub audits: Digest,
    /// Digest of the columns that its tasks write.
    pub schema: Digest,
    /// How it differs from codes that slices are valid for, where that can be told.
    pub earlier: BTreeMap<CodeVersion, Earlier>,
    /// What it reads, by input.
    pub reads: Vec<Read>,
    /// Inputs that it only looks up.
    pub lookups: Vec<Lookup>,
    /// What is known of its slices that changes of these spare.
    pub spared: Spared,
    /// Inputs whose changes do not make it stale.
    pub ignored: Vec<String>,
    /// Inputs whose changes are reported and do not make it stale.
    pub reported: Vec<String>,
    /// Its stamps, sorted by interval.
    pub stamps: Arc<Vec<Stamp>>,
    /// Intervals whose last attempt failed.
    pub failed: IntervalSet,
    /// What a run does about those.
    pub on_foreign: OnForeign,
    /// Slices that somebody else wrote into, and what was found; the whole of time where the table was set back.
    pub foreign: BTreeMap<Interval, String>,
    /// Why its table has to be built anew, where it can't become what the model is now.
    pub misfit: Option<String>,
    /// Why nobody can say what its table holds, where what the table says of itself can't be read.
    pub damaged: Option<Damage>,
    /// What it waits for, by input: tables that have to be built anew before they have the columns that it reads.
    pub unmet: BTreeMap<String, String>,
    /// How many slices a rebuild of it holds that was begun and not ended.
    pub rebuild: Option<usize>,
    /// What its slices hold, as readers see it.
    pub cells: InputCells,
    /// Rows that readers see.
    pub rows: u64,
}

/// One source.
pub struct SourceGround {
    /// What it holds.
    pub cells: InputCells,
    /// Zone of its dates and wall times.
    pub zone: Zone,
    /// What it says about ranges.
    pub state: Box<dyn SourceState + Send + Sync>,
}

impl ModelGround {
    /// Takes in what the table holds now. Readers of a folded table see its `state`, whatever slice a row came from.
    pub fn set_stamps(&mut self, stamps: Arc<Vec<Stamp>>, state: Option<Arc<Vec<Stamp>>>) {
        let seen = state.as_ref().unwrap_or(&stamps);
        self.cells = InputCells::from_stamps(seen);
        self.rows = seen.iter().map(|stamp| stamp.fingerprint.rows).sum();
        self.stamps = stamps;
    }

    /// Takes in what one slice holds now.
    pub fn put_stamp(&mut self, stamp: Stamp) {
        self.cells.put(&stamp);
        let stamps = Arc::make_mut(&mut self.stamps);
        match stamps.binary_search_by_key(&stamp.interval, |known| known.interval) {
            Ok(at) => stamps[at] = stamp,
            Err(at) => stamps.insert(at, stamp),
        }
    }

    /// Whether changes of an input do not make its slices stale.
    pub(crate) fn is_let_be(&self, input: &String) -> bool {
        self.ignored.contains(input) || self.reported.contains(input)
    }

    /// Whether its slices read the one before.
    pub fn reads_previous(&self) -> bool {
        self.reads.iter().any(Read::is_previous)
    }

    /// Whether it is folded from changes.
    pub fn is_folded(&self) -> bool {
        self.sliced != self.name
    }

    /// The zone in which its dates and wall times count.
    pub fn zone(&self) -> Zone {
        self.calendar.as_ref().map_or_else(Zone::utc, |calendar| calendar.zone.clone())
    }

    fn cut(&self, now: Instant) -> Cut {
        let ended = Instant(now.0.saturating_sub(self.delay_micros));
        let end = self.end.map_or(ended, |end| end.min(ended));
        Cut::of(self.calendar.as_ref(), self.start, end)
    }

    /// The state of the table before any of its tasks is looked at.
    pub fn state(&self, due: &Slots) -> TableState {
        // A table that waits to be built anew serves its readers as far as it goes.
        let kept = self.misfit.as_ref().and_then(|_| self.cells.end());
        TableState {
            start: self.start,
            due_end: due.last().map(|slot| slot.interval.end()).max(kept),
            open_ended: self.end.is_none() && self.calendar.is_some(),
            folded: self.is_folded(),
            ..TableState::of(self.name.clone())
        }
    }
}

impl Ground {
    /// A ground of these models, in topological order, and sources.
    pub fn new(now: Instant, models: Vec<ModelGround>, sources: HashMap<String, SourceGround>) -> Self {
        let places = models.iter().enumerate().map(|(at, model)| (model.name.to_string(), at)).collect();
        Ground { now, models, sources, places, cuts: Cuts::default() }
    }

    /// All slices of the model at `at` that are due, in order; the whole of time for a table of one slice.
    pub fn due(&self, at: usize) -> Slots {
        let model = &self.models[at];
        self.cuts.slots(&model.cut(self.now), model.calendar.as_ref())
    }

    /// The model at `at`, ready to have its slices assessed against `tables`, the states of the models before it.
    pub fn subject<'a>(&'a self, at: usize, tables: &'a [TableState], allow: Allow) -> Subject<'a> {
        let model = &self.models[at];
        let cut = model.cut(self.now);
        let slots = self.cuts.slots(&cut, model.calendar.as_ref());
        let inputs = model.reads.iter().filter_map(|read| self.input(model, read, &cut, &slots, tables));
        Subject {
            inputs: inputs.collect(),
            calendar: model.calendar.as_ref(),
            slots: slots.clone(),
            code: model.code,
            code_seen: model.code_seen,
            audits: model.audits,
            earlier: &model.earlier,
            stamps: &model.stamps,
            failed: &model.failed,
            foreign: &model.foreign,
            misfit: model.misfit.as_deref(),
            damaged: model.damaged.as_ref(),
            ignored: &model.ignored,
            reported: &model.reported,
            spared: &model.spared,
            allow,
        }
    }

    /// What an input holds, by the name used in FROM; `None` for the slice before the own one.
    pub(crate) fn cells_of(&self, name: &str) -> Option<&InputCells> {
        let source = self.sources.get(name).map(|source| &source.cells);
        source.or_else(|| Some(&self.models.get(self.position(name)?)?.cells))
    }

    /// The zone in which an input's dates and wall times count.
    pub(crate) fn zone_of(&self, name: &str) -> Zone {
        match (self.sources.get(name), self.position(name)) {
            (Some(source), _) => source.zone.clone(),
            (None, Some(at)) => self.models[at].zone(),
            (None, None) => Zone::utc(),
        }
    }

    /// Position of a model by the name used in FROM.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    fn input<'a>(
        &'a self,
        reader: &'a ModelGround,
        read: &'a Read,
        cut: &Cut,
        slots: &Slots,
        tables: &'a [TableState],
    ) -> Option<InputState<'a>> {
        let list = list_of(read.columns.as_deref());
        if read.is_previous() {
            let calendar = reader.calendar.as_ref()?;
            let first = slots.first().map(|first| calendar.previous(first.interval));
            let ranges = first.into_iter().chain(slots.iter().map(|slot| slot.interval)).map(Some);
            return Some(InputState {
                read,
                list,
                cells: &reader.cells,
                zone: calendar.zone.clone(),
                ranges: ranges.take(slots.len()).collect(),
                supply: Supply::Before(&reader.name),
                unmet: None,
            });
        }
        let (cells, zone, supply) = match self.sources.get(&read.input) {
            Some(source) => (&source.cells, source.zone.clone(), Supply::Source(source.state.as_ref())),
            None => {
                let at = self.position(&read.input)?;
                let model = self.models.get(at)?;
                (&model.cells, model.zone(), Supply::Table(tables.get(at)?))
            }
        };
        let own_zone = reader.calendar.as_ref().map_or(&zone, |calendar| &calendar.zone);
        let ranges = self.cuts.ranges(cut, slots, read, own_zone, &zone);
        let unmet = reader.unmet.get(&read.input).map(String::as_str);
        Some(InputState { read, list, cells, zone, ranges, supply, unmet })
    }
}
