//! What a plan stands on: models, what their tables hold, what sources deliver, and the time. Values only.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use oncemore_core::{
    Calendar, CodeVersion, Digest, Instant, Interval, IntervalSet, Read, Stamp, TableName, Zone,
};

use crate::assess::{Allow, InputState, SourceState, Subject, Supply, TableState};
use crate::inputs::{InputCells, list_of};

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
}

/// One model with what its table holds.
pub struct ModelGround {
    /// The table.
    pub name: TableName,
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
    /// What it reads, by input.
    pub reads: Vec<Read>,
    /// Inputs whose changes do not make it stale.
    pub ignored: Vec<String>,
    /// Its stamps, sorted by interval.
    pub stamps: Arc<Vec<Stamp>>,
    /// Intervals whose last attempt failed.
    pub failed: IntervalSet,
    /// Slices that somebody else wrote into, and what was found.
    pub foreign: BTreeMap<Interval, String>,
    /// What its slices hold, as readers see it.
    pub cells: InputCells,
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
    /// Takes in what the table holds now.
    pub fn set_stamps(&mut self, stamps: Arc<Vec<Stamp>>) {
        self.cells = InputCells::from_stamps(&stamps);
        self.stamps = stamps;
    }

    /// The zone in which its dates and wall times count.
    pub fn zone(&self) -> Zone {
        self.calendar.as_ref().map_or_else(Zone::utc, |calendar| calendar.zone.clone())
    }

    /// All intervals that are due at `now`, in order; the whole of time for a table of one slice.
    pub fn due(&self, now: Instant) -> Vec<Interval> {
        let Some(calendar) = &self.calendar else { return vec![Interval::WHOLE] };
        let Some(start) = self.start else { return Vec::new() };
        let first = calendar.containing(start).start();
        let ended = Instant(now.0.saturating_sub(self.delay_micros));
        let end = self.end.map_or(ended, |end| end.min(ended));
        Interval::new(first, end).map_or_else(Vec::new, |range| calendar.inside(range).collect())
    }

    /// The state of the table before any of its tasks is looked at.
    pub fn state(&self, due: &[Interval]) -> TableState {
        TableState {
            name: self.name.to_string(),
            start: self.start,
            due_end: due.last().map(|interval| interval.end()),
            open_ended: self.end.is_none() && self.calendar.is_some(),
            ..TableState::default()
        }
    }
}

impl Ground {
    /// A ground of these models, in topological order, and sources.
    pub fn new(now: Instant, models: Vec<ModelGround>, sources: HashMap<String, SourceGround>) -> Self {
        let places = models.iter().enumerate().map(|(at, model)| (model.name.to_string(), at)).collect();
        Ground { now, models, sources, places }
    }

    /// The model at `at`, ready to have its slices assessed against `tables`, the states of the models before it.
    pub fn subject<'a>(&'a self, at: usize, tables: &'a [TableState], allow: Allow) -> Subject<'a> {
        let model = &self.models[at];
        Subject {
            calendar: model.calendar.as_ref(),
            code: model.code,
            code_seen: model.code_seen,
            audits: model.audits,
            inputs: model.reads.iter().filter_map(|read| self.input(read, tables)).collect(),
            stamps: &model.stamps,
            failed: &model.failed,
            foreign: &model.foreign,
            ignored: &model.ignored,
            allow,
        }
    }

    /// Position of a model by the name used in FROM.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    fn input<'a>(&'a self, read: &'a Read, tables: &'a [TableState]) -> Option<InputState<'a>> {
        let list = list_of(read.columns.as_deref());
        if let Some(source) = self.sources.get(&read.input) {
            let supply = Supply::Source(source.state.as_ref());
            return Some(InputState { read, list, cells: &source.cells, zone: source.zone.clone(), supply });
        }
        let at = self.position(&read.input)?;
        let model = self.models.get(at)?;
        Some(InputState {
            read,
            list,
            cells: &model.cells,
            zone: model.zone(),
            supply: Supply::Table(tables.get(at)?),
        })
    }
}
