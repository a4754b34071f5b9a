//! The verdict on every slice of a model: fresh, in need of work and why, or held back and why.
//!
//! One function of values, used by `plan`, `run`, `status` and `explain` alike, so that they can't disagree.

use std::collections::BTreeMap;
use std::sync::Arc;

use oncemore_core::{
    AttemptId, Calendar, CodeVersion, Digest, Instant, Interval, IntervalSet, Pin, Read, Stamp, TableName,
    Zone,
};
use serde::Serialize;

use crate::due::{Ranges, Slots};
use crate::inputs::{InputCells, list_of};
use crate::spare::Spared;

/// Why a slice needs work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum Reason {
    /// Nothing was ever published for the interval.
    NeverRan,
    /// The slice is valid for other code.
    Code {
        /// That code.
        from: Digest,
        /// The code now.
        to: Digest,
    },
    /// What it read has changed.
    Input {
        /// The inputs that differ.
        inputs: Vec<String>,
        /// Whether they differ already, or may once their own tasks of this plan have run.
        certain: bool,
    },
    /// A file that it read has vanished.
    Gone {
        /// The file.
        path: String,
    },
    /// Its audits have changed; the published rows are audited, nothing is computed.
    Audits,
    /// The last attempt failed.
    Failed,
    /// Asked for by `--force`.
    Forced,
}

impl Reason {
    /// The word used in `--reason` and in tables.
    pub fn word(&self) -> &'static str {
        match self {
            Reason::NeverRan => "never-ran",
            Reason::Code { .. } => "code",
            Reason::Input { .. } => "input",
            Reason::Gone { .. } => "gone",
            Reason::Audits => "audits",
            Reason::Failed => "failed",
            Reason::Forced => "forced",
        }
    }
}

/// Why a slice that needs work can't be worked on now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "hold")]
pub enum Hold {
    /// Something has not arrived yet.
    Waiting {
        /// What: a file, a marker, or slices of a parent.
        what: String,
    },
    /// A parent's slice failed, or is held itself.
    Blocked {
        /// The parent.
        by: String,
        /// Its interval.
        interval: Interval,
    },
    /// An input has vanished; `--accept-gone` runs it without.
    Gone {
        /// The file.
        path: String,
    },
    /// The slice belongs to code that was first seen after the code at hand.
    OlderCode {
        /// The code that owns the slice.
        owner: Digest,
    },
    /// Somebody else wrote into the slice.
    Foreign {
        /// What was found.
        detail: String,
    },
    /// A file that may hold rows of the slice can't be read.
    Broken {
        /// What is wrong.
        what: String,
    },
    /// A file that the slice needs is not there, where that is an error.
    Missing {
        /// Which.
        what: String,
    },
    /// The table can't become what the model is now: it has to be built anew, and holds what it held until then.
    Rebuild {
        /// What differs.
        why: String,
    },
    /// What the table says of itself can't be read.
    Damaged(Damage),
}

/// What is wrong with a table that can't be read, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub help: String,
}

/// The verdict on one slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing to do.
    Fresh,
    /// Nothing to do, though these inputs differ from what it read: their changes are to be reported alone.
    Reported(Vec<String>),
    /// Nothing to compute, though these inputs differ from what it read: not in keys that it looks up. Its stamp is to name
    /// them as they are now.
    Spared(Vec<String>),
    /// To be worked on.
    Due(Reason),
    /// To be worked on, but not now.
    Held(Reason, Hold),
}

/// A slice and the verdict on it.
#[derive(Clone, Debug)]
pub struct Assessment {
    /// The slice's interval.
    pub interval: Interval,
    /// The verdict.
    pub verdict: Verdict,
    /// Inputs at the versions that are there now, by name.
    pub pins: Vec<Pin>,
    /// The attempt that owns the slice.
    pub owner: Option<AttemptId>,
}

/// How a model differs from the code of an earlier slice.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// Output columns that may differ, sorted.
    columns: Arc<[String]>,
    /// What the earlier code read, each with the digest of its columns.
    reads: Vec<(Read, Digest)>,
}

impl Earlier {
    /// A code that differs in these output columns alone, sorted, and read this.
    pub fn new(columns: Vec<String>, reads: Vec<Read>) -> Self {
        let with_list = |read: Read| {
            let list = list_of(read.columns.as_deref());
            (read, list)
        };
        Earlier { columns: columns.into(), reads: reads.into_iter().map(with_list).collect() }
    }
}

/// Slices that are going to change, by what of them.
#[derive(Debug, Default)]
pub struct Changes {
    all: IntervalSet,
    /// By columns, few different lists.
    some: Vec<(Arc<[String]>, IntervalSet)>,
}

impl Changes {
    /// Adds a slice of which `columns` may change; all of them, where that is `None`.
    pub fn add(&mut self, interval: Interval, columns: Option<Arc<[String]>>) {
        let Some(columns) = columns else { return self.all.insert(interval) };
        if columns.is_empty() {
            return;
        }
        match self.some.iter_mut().find(|(known, _)| *known == columns) {
            Some((_, slices)) => slices.insert(interval),
            None => self.some.push((columns, [interval].into_iter().collect())),
        }
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.some.is_empty()
    }

    /// Whether a reader of `columns` in `range` may see a change.
    pub fn touch(&self, range: Interval, columns: Option<&[String]>) -> bool {
        self.all.overlaps(range)
            || self.some.iter().any(|(changed, slices)| any_of(columns, changed) && slices.overlaps(range))
    }
}

/// Whether one of `columns`, of all where that is `None`, is among `changed`, which is sorted.
fn any_of(columns: Option<&[String]>, changed: &[String]) -> bool {
    match columns {
        Some(columns) => columns.iter().any(|column| changed.binary_search(column).is_ok()),
        None => !changed.is_empty(),
    }
}

/// One input as a model's assessment needs it.
pub struct InputState<'a> {
    /// What the model reads of it.
    pub read: &'a Read,
    /// Digest of the columns that it reads.
    pub list: Digest,
    /// What it holds.
    pub cells: &'a InputCells,
    /// Zone of its dates and wall times.
    pub zone: Zone,
    /// What each due slice reads of it.
    pub(crate) ranges: Ranges,
    /// What may keep a reader waiting.
    pub supply: Supply<'a>,
    /// What the reader waits for in any range, where the table lacks columns that it reads.
    pub unmet: Option<&'a str>,
}

/// What may keep a reader of an input waiting.
pub enum Supply<'a> {
    /// A table of ours.
    Table(&'a TableState),
    /// A source, which is asked about each range.
    Source(&'a dyn SourceState),
    /// The slice before the own one, of the table of this name.
    Before(&'a TableName),
}

/// How the slice before stands, for a model that reads it. Slices of such a model are judged in order of time.
#[derive(Clone, Debug, Default)]
pub enum Before {
    /// It is as it should be, or nothing is expected there.
    #[default]
    Settled,
    /// It is going to be worked on, which may change these columns, sorted; all of them, where that is `None`.
    Pending(Option<Arc<[String]>>),
    /// It is not as it should be and is not going to be worked on: it, or the one before it that is named here.
    Stuck(Interval),
}

/// What a source says about a range of time.
pub trait SourceState {
    /// Whether all of `range` was delivered. `had_rows` says that the asking slice was published before.
    fn delivery(&self, range: Interval, had_rows: bool) -> Delivery;
}

/// Whether a range of a source was delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Yes.
    Ready,
    /// Not yet.
    Waiting(String),
    /// It was, and is gone.
    Gone(String),
    /// It can't be read.
    Broken(String),
    /// It is not there, which is an error.
    Missing(String),
}

/// A table of ours while a plan or a run goes on.
#[derive(Debug)]
pub struct TableState {
    /// The table's name.
    pub name: TableName,
    /// Where its slices begin: nothing is expected before.
    pub start: Option<Instant>,
    /// End of the last interval that is due.
    pub due_end: Option<Instant>,
    /// Whether a later interval will ever be due; false where the project has a fixed end.
    pub open_ended: bool,
    /// Whether readers see what is folded from its slices instead of these.
    pub folded: bool,
    /// Slices that are going to be worked on.
    pub pending: Changes,
    /// Slices that need work and were left out of the selection.
    pub left_out: Changes,
    /// Slices that can't be read: failed, held, or never published.
    pub unavailable: BTreeMap<Interval, Hold>,
}

/// What a model is assessed against.
pub struct Subject<'a> {
    /// Cuts its time; `None` for a table of one slice.
    pub calendar: Option<&'a Calendar>,
    /// Its slices that are due.
    pub slots: Slots,
    /// Its code now, and when that was first seen.
    pub code: CodeVersion,
    /// First sight of `code`.
    pub code_seen: Instant,
    /// Digest of its audits.
    pub audits: Digest,
    /// How it differs from codes that slices are valid for, where that can be told.
    pub earlier: &'a BTreeMap<CodeVersion, Earlier>,
    /// Its inputs, by name.
    pub inputs: Vec<InputState<'a>>,
    /// Its stamps, sorted by interval.
    pub stamps: &'a [Stamp],
    /// Intervals whose last attempt failed.
    pub failed: &'a IntervalSet,
    /// Slices that somebody else wrote into.
    pub foreign: &'a BTreeMap<Interval, String>,
    /// Why the table has to be built anew.
    pub misfit: Option<&'a str>,
    /// Why nobody can say what the table holds.
    pub damaged: Option<&'a Damage>,
    /// Inputs whose changes do not make a slice stale.
    pub ignored: &'a [String],
    /// Inputs whose changes are reported and do not make a slice stale.
    pub reported: &'a [String],
    /// What is known of slices that changes of inputs spare.
    pub spared: &'a Spared,
    /// What the user allowed.
    pub allow: Allow,
}

/// What the user allowed, or asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allow {
    /// Run slices whose input has vanished.
    pub gone: bool,
    /// Let older code replace newer.
    pub older_code: bool,
    /// Replace what somebody else wrote.
    pub foreign: bool,
    /// Run what is fresh, too.
    pub force: bool,
}

/// What the inputs of one slice come to.
#[derive(Default)]
struct Findings<'a> {
    hold: Option<Hold>,
    /// Inputs that differ from what the published slice was made from.
    changed: Vec<&'a str>,
    /// Inputs that differ, of those whose changes are reported alone.
    reported: Vec<&'a str>,
    /// Inputs that differ in keys alone that the slice does not look up.
    spared: Vec<&'a str>,
    /// Inputs that are going to change.
    pending: Vec<&'a str>,
    /// Whether the published slice was made from other inputs, or other versions of them.
    differs: bool,
}

impl<'s> Subject<'s> {
    /// The verdict on the slice of `interval`.
    pub fn verdict(&self, interval: Interval, before: &Before) -> Verdict {
        self.judge(interval, before, None)
    }

    /// The verdict on the slice of `interval`, with its inputs pinned to the versions that are there now.
    pub fn assess(&self, interval: Interval, before: &Before) -> Assessment {
        let mut pins = Vec::with_capacity(self.inputs.len());
        let verdict = self.judge(interval, before, Some(&mut pins));
        pins.sort_unstable_by(|a, b| a.input.cmp(&b.input));
        let stamp = self.stamp(interval);
        if let (Verdict::Due(Reason::Audits), Some(stamp)) = (&verdict, stamp) {
            // Nothing is computed: the rows stay those of the versions that they were made from.
            pins.clone_from(&stamp.inputs);
        }
        if let (Verdict::Spared(inputs), Some(stamp)) = (&verdict, stamp) {
            // They would be the same of these inputs as they are now; of all others, they stay what they were.
            pins.retain(|pin| inputs.contains(&pin.input));
            pins.extend(stamp.inputs.iter().filter(|pin| !inputs.contains(&pin.input)).cloned());
            pins.sort_unstable_by(|a, b| a.input.cmp(&b.input));
        }
        Assessment { interval, verdict, pins, owner: stamp.map(|stamp| stamp.attempt) }
    }

    /// How the slice of `interval` stands for the one after it; `runs` says whether it is worked on where it is due.
    pub fn standing(&self, interval: Interval, verdict: &Verdict, before: &Before, runs: bool) -> Before {
        if !self.inputs.iter().any(|input| input.read.is_previous()) {
            return Before::Settled;
        }
        match (verdict, before) {
            (Verdict::Due(reason), _) if runs => Before::Pending(self.columns(interval, reason, before)),
            (_, Before::Stuck(at)) => Before::Stuck(*at),
            (Verdict::Fresh | Verdict::Reported(_) | Verdict::Spared(_), _)
                if !self.rests_on_stale(interval) =>
            {
                Before::Settled
            }
            _ => Before::Stuck(interval),
        }
    }

    /// How the slice before `interval` stands, where all that is due is going to run.
    pub fn standing_before(&self, interval: Interval) -> Before {
        let mut before = Before::Settled;
        for slot in self.slots.iter().take_while(|slot| slot.interval < interval) {
            let verdict = self.verdict(slot.interval, &before);
            before = self.standing(slot.interval, &verdict, &before, true);
        }
        before
    }

    /// Whether a parent needs work in what the slice reads, and was left out.
    pub(crate) fn rests_on_stale(&self, interval: Interval) -> bool {
        self.inputs.iter().any(|input| {
            let Supply::Table(table) = &input.supply else { return false };
            if table.left_out.is_empty() {
                return false;
            }
            let range = self.reach(input, input.read, interval);
            range.is_some_and(|range| table.left_out.touch(range, input.read.columns.as_deref()))
        })
    }

    fn judge(&self, interval: Interval, before: &Before, mut pins: Option<&mut Vec<Pin>>) -> Verdict {
        if let Some(damage) = self.damaged {
            let reason = Reason::Input { inputs: vec!["the table itself".to_owned()], certain: true };
            return Verdict::Held(reason, Hold::Damaged(damage.clone()));
        }
        let stamp = self.stamp(interval);
        let slot = self.slots.binary_search_by(|slot| slot.interval.cmp(&interval)).ok();
        let mut found = Findings::default();
        for input in &self.inputs {
            let range = self.range(input, interval, slot);
            let name = input.read.input.as_str();
            let is_among = |names: &[String]| names.iter().any(|other| other == name);
            let (ignored, reported) = (is_among(self.ignored), is_among(self.reported));
            let old = stamp.and_then(|stamp| stamp.inputs.iter().find(|old| old.input == name));
            // What was never published differs from nothing, and the version of its inputs only counts once it runs.
            if stamp.is_some() || pins.is_some() {
                let version = input.cells.version(range, input.read.columns.as_deref(), input.list);
                match old {
                    Some(old) if old.version == version || ignored => {}
                    Some(_) if reported => found.reported.push(name),
                    Some(old)
                        if stamp
                            .is_some_and(|stamp| self.spared.covers(name, old.version, version, stamp)) =>
                    {
                        found.spared.push(name);
                    }
                    _ => {
                        found.differs = true;
                        found.changed.extend(old.map(|_| name));
                    }
                }
                if let Some(pins) = &mut pins {
                    pins.push(Pin { input: name.to_owned(), version });
                }
            }
            if let Some(range) = range {
                let hold = input.hold(range, stamp.is_some(), before);
                // Nobody knows what a file would say that can't be read: not that it says what was read before.
                if let (Some(Hold::Broken { .. }), Some(_), false) = (&hold, stamp, ignored || reported) {
                    found.differs = true;
                    if !found.changed.contains(&name) {
                        found.changed.push(name);
                    }
                }
                found.hold = found.hold.take().or(hold);
                let columns = input.read.columns.as_deref();
                if !ignored && !reported && stamp.is_some() && input.waits(range, columns, before) {
                    found.pending.push(name);
                }
            }
        }
        found.differs |= stamp.is_some_and(|stamp| stamp.inputs.len() != self.inputs.len());
        self.decide(interval, stamp, found)
    }

    /// The columns that work on a slice with this verdict may change, sorted; `None`: all.
    pub fn columns(&self, interval: Interval, reason: &Reason, before: &Before) -> Option<Arc<[String]>> {
        match reason {
            Reason::Audits => Some(Arc::default()),
            Reason::Code { from, .. } => {
                let (earlier, stamp) = (self.earlier.get(from)?, self.stamp(interval)?);
                let is_same = |(read, list): &(Read, Digest)| self.holds_the_same(read, *list, stamp, before);
                earlier.reads.iter().all(is_same).then(|| Arc::clone(&earlier.columns))
            }
            _ => None,
        }
    }

    /// Whether what earlier code read is what the slice was made from, and is going to stay so.
    fn holds_the_same(&self, read: &Read, list: Digest, stamp: &Stamp, before: &Before) -> bool {
        let pin = stamp.inputs.iter().find(|pin| pin.input == read.input);
        let input = self.inputs.iter().find(|input| input.read.input == read.input);
        let (Some(pin), Some(input)) = (pin, input) else { return false };
        let range = self.reach(input, read, stamp.interval);
        let columns = read.columns.as_deref();
        self.ignored.contains(&read.input)
            || self.reported.contains(&read.input)
            || (input.cells.version(range, columns, list) == pin.version
                && !range.is_some_and(|range| input.waits(range, columns, before)))
    }

    /// The range of `input` that a task on `interval` reads.
    pub fn range_of(&self, input: &InputState<'_>, interval: Interval) -> Option<Interval> {
        self.reach(input, input.read, interval)
    }

    fn reach(&self, input: &InputState<'_>, read: &Read, interval: Interval) -> Option<Interval> {
        match &input.supply {
            Supply::Before(_) => self.calendar.map(|calendar| calendar.previous(interval)),
            _ => {
                let zone = self.calendar.map_or(&input.zone, |calendar| &calendar.zone);
                read.range(interval, zone, &input.zone)
            }
        }
    }

    fn range(&self, input: &InputState<'s>, interval: Interval, slot: Option<usize>) -> Option<Interval> {
        match slot.and_then(|slot| input.ranges.get(slot)) {
            Some(range) => *range,
            None => self.reach(input, input.read, interval),
        }
    }

    /// The stamp of the slice of `interval`.
    pub fn stamp(&self, interval: Interval) -> Option<&Stamp> {
        let at = self.stamps.binary_search_by(|stamp| stamp.interval.cmp(&interval)).ok()?;
        self.stamps.get(at)
    }

    fn decide(&self, interval: Interval, stamp: Option<&Stamp>, found: Findings<'_>) -> Verdict {
        let foreign = self.foreign.get(&interval).filter(|_| !self.allow.foreign);
        let Some(reason) = self.reason(interval, stamp, &found) else {
            return match foreign {
                None if !found.spared.is_empty() => Verdict::Spared(owned(&found.spared)),
                None if found.reported.is_empty() => Verdict::Fresh,
                None => Verdict::Reported(owned(&found.reported)),
                Some(detail) => {
                    let reason = Reason::Input { inputs: vec!["the table itself".to_owned()], certain: true };
                    Verdict::Held(reason, Hold::Foreign { detail: detail.clone() })
                }
            };
        };
        if let Some(why) = self.misfit {
            return Verdict::Held(reason, Hold::Rebuild { why: why.to_owned() });
        }
        // A table that was set back takes nothing on top until somebody says that it is meant to.
        let set_back = || self.foreign.get(&Interval::WHOLE).filter(|_| !self.allow.foreign);
        if let Some(detail) = foreign.or_else(set_back) {
            return Verdict::Held(reason, Hold::Foreign { detail: detail.clone() });
        }
        if let Some(owner) = stamp.filter(|stamp| stamp.code != self.code && stamp.code_seen > self.code_seen)
            && !self.allow.older_code
        {
            return Verdict::Held(reason, Hold::OlderCode { owner: owner.code });
        }
        match found.hold {
            Some(Hold::Gone { .. }) if self.allow.gone => Verdict::Due(reason),
            Some(hold) => Verdict::Held(reason, hold),
            None => Verdict::Due(reason),
        }
    }

    fn reason(&self, interval: Interval, stamp: Option<&Stamp>, found: &Findings<'_>) -> Option<Reason> {
        let failed = self.failed.covers(interval);
        let Some(stamp) = stamp else {
            return Some(if failed { Reason::Failed } else { Reason::NeverRan });
        };
        if stamp.code != self.code {
            return Some(Reason::Code { from: stamp.code, to: self.code });
        }
        if found.differs {
            // A file whose absence changes nothing (it had no rows, or its absence was accepted) is no reason.
            if let Some(Hold::Gone { path }) = &found.hold {
                return Some(Reason::Gone { path: path.clone() });
            }
            let inputs = owned(if found.changed.is_empty() { &found.pending } else { &found.changed });
            return Some(if failed { Reason::Failed } else { Reason::Input { inputs, certain: true } });
        }
        if !found.pending.is_empty() {
            return Some(Reason::Input { inputs: owned(&found.pending), certain: false });
        }
        if self.foreign.contains_key(&interval) && self.allow.foreign {
            return Some(Reason::Forced);
        }
        if stamp.audits != self.audits {
            return Some(if failed { Reason::Failed } else { Reason::Audits });
        }
        self.allow.force.then_some(Reason::Forced)
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

impl InputState<'_> {
    /// What keeps a reader of `range` from running.
    fn hold(&self, range: Interval, had_rows: bool, before: &Before) -> Option<Hold> {
        if let Some(what) = self.unmet {
            return Some(Hold::Waiting { what: what.to_owned() });
        }
        match &self.supply {
            Supply::Before(name) => match before {
                Before::Stuck(interval) => Some(Hold::Blocked { by: name.to_string(), interval: *interval }),
                Before::Settled | Before::Pending(_) => None,
            },
            Supply::Source(source) => match source.delivery(range, had_rows) {
                Delivery::Ready => None,
                Delivery::Waiting(what) => Some(Hold::Waiting { what }),
                Delivery::Gone(path) => Some(Hold::Gone { path }),
                Delivery::Broken(what) => Some(Hold::Broken { what }),
                Delivery::Missing(what) => Some(Hold::Missing { what }),
            },
            Supply::Table(table) => table.hold(range, self.read.to.is_none()),
        }
    }

    /// Whether the input is going to change under a reader of `columns` in `range`.
    fn waits(&self, range: Interval, columns: Option<&[String]>, before: &Before) -> bool {
        match &self.supply {
            Supply::Source(_) => false,
            Supply::Table(table) => table.pending.touch(range, columns),
            Supply::Before(_) => match before {
                // What is stuck is going to change once somebody mends it.
                Before::Pending(None) | Before::Stuck(_) => true,
                Before::Pending(Some(changed)) => any_of(columns, changed),
                Before::Settled => false,
            },
        }
    }
}

impl TableState {
    /// The state of a table that nothing is known of: it holds nobody up.
    pub fn of(name: TableName) -> TableState {
        TableState {
            name,
            start: None,
            due_end: None,
            open_ended: false,
            folded: false,
            pending: Changes::default(),
            left_out: Changes::default(),
            unavailable: BTreeMap::new(),
        }
    }

    fn hold(&self, range: Interval, open_above: bool) -> Option<Hold> {
        if self.folded {
            // What has not arrived yet is a change to come; what is there is the state so far.
            let mut unavailable = self.unavailable.iter().filter(|(interval, _)| interval.overlaps(range));
            let found = unavailable.find(|(_, hold)| !matches!(hold, Hold::Waiting { .. }));
            return found
                .map(|(interval, _)| Hold::Blocked { by: self.name.to_string(), interval: *interval });
        }
        // Slices of one table do not overlap, so the last that starts before the range's end is the one to look at:
        // the shortest interval that starts there sorts before all of those that start there.
        let behind = Interval::new(range.end(), Instant(range.end().0.saturating_add(1)));
        let last = match behind {
            Some(behind) => self.unavailable.range(..behind).next_back(),
            None => self.unavailable.last_key_value(),
        };
        if let Some((interval, hold)) = last.filter(|(interval, _)| interval.overlaps(range)) {
            return Some(match hold {
                Hold::Waiting { what } => Hold::Waiting { what: what.clone() },
                _ => Hold::Blocked { by: self.name.to_string(), interval: *interval },
            });
        }
        let beyond = self.open_ended && !open_above && self.due_end.is_none_or(|end| end < range.end());
        beyond.then(|| Hold::Waiting { what: format!("{} up to {}", self.name, range.end()) })
    }
}
