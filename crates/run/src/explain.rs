//! The whole story of one slice: code, inputs, attempts, rows, and why it is or is not stale.

use oncemore_core::{Digest, Fingerprint, Instant, Interval, Stamp, TableName};
use serde::Serialize;

use crate::assess::{Allow, Before, TableState, Verdict};
use crate::due::Label;
use crate::error::RunError;
use crate::fold::Ties;
use crate::ground::Ground;
use crate::plan::{Hold, Reason};

/// One input of the slice.
#[derive(Clone, Debug, Serialize)]
pub struct InputStory {
    /// Table or source.
    pub input: String,
    /// Columns read; `None`: all.
    pub columns: Option<Vec<String>>,
    /// Range read; `None`: nothing is read for this interval.
    pub range: Option<Interval>,
    /// Version that the published slice was made from.
    pub was: Option<Digest>,
    /// Version there now.
    pub now: Digest,
    /// Rows there now in the slices or cells read.
    pub rows: u64,
    /// Slices of the input that changed after this slice was verified.
    pub changed: Vec<String>,
}

/// One attempt at the slice.
#[derive(Clone, Debug, Serialize)]
pub struct AttemptStory {
    /// Its epoch, `request.attempt`.
    pub epoch: String,
    /// Committed, unchanged, failed, superseded, open.
    pub state: String,
    /// Code it ran.
    pub code: Digest,
    /// When it began.
    pub started: Instant,
    /// When it ended.
    pub ended: Option<Instant>,
    /// Rows staged; none where nothing was computed.
    pub rows: Option<u64>,
    /// Why it failed.
    pub error: Option<String>,
}

impl AttemptStory {
    /// Whether it published a stamp and computed nothing.
    pub fn is_stamp_alone(&self) -> bool {
        self.state == "committed" && self.rows.is_none()
    }
}

/// The story of one slice.
#[derive(Clone, Debug, Serialize)]
pub struct Story {
    /// The table.
    pub model: TableName,
    /// The table of its slices: another one where it is folded from changes.
    #[serde(skip)]
    pub sliced: TableName,
    /// The slice's interval.
    pub interval: Interval,
    /// As people write it.
    pub label: Label,
    /// Fresh, or why it needs work.
    pub reason: Option<Reason>,
    /// Why it can't run.
    pub hold: Option<Hold>,
    /// Inputs that changed, of those whose changes are reported alone.
    pub reported: Vec<String>,
    /// Inputs that changed, in keys alone that the slice does not look up.
    pub spared: Vec<String>,
    /// The model's code now.
    pub code: Digest,
    /// The stamp of what is published.
    pub stamp: Option<Stamp>,
    /// Fingerprint of what is published, for people.
    pub fingerprint: Option<Fingerprint>,
    /// Its inputs.
    pub inputs: Vec<InputStory>,
    /// Ties among the changes that it was made of, where any are known.
    pub ties: Option<Ties>,
    /// Those with changes of other intervals that came with its rows, where any are known.
    pub ties_across: Option<Ties>,
    /// Its attempts, newest first.
    pub attempts: Vec<AttemptStory>,
}

/// The story of the slice of `interval` of the model at `at`, but for its attempts.
///
/// # Errors
/// An interval that is none of the model's.
pub fn explain(ground: &Ground, at: usize, interval: Interval) -> Result<Story, RunError> {
    let tables = states_before(ground, at);
    let model = &ground.models[at];
    let subject = ground.subject(at, &tables, Allow::default());
    let assessment = subject.assess(interval, &subject.standing_before(interval));
    let stamp = subject.stamp(interval);
    let inputs = subject
        .inputs
        .iter()
        .map(|input| {
            let name = &input.read.input;
            let range = subject.range_of(input, interval);
            let cells = range.map_or(&[][..], |range| input.cells.touching(range));
            let parent = match input.read.is_previous() {
                true => Some(model),
                false => ground.position(name).map(|parent| &ground.models[parent]),
            };
            let calendar =
                parent.filter(|parent| !parent.is_folded()).and_then(|parent| parent.calendar.as_ref());
            let verified = stamp.map_or(Instant::MIN, |stamp| stamp.verified_at);
            InputStory {
                input: name.clone(),
                columns: input.read.columns.as_deref().map(<[String]>::to_vec),
                range,
                was: stamp.and_then(|stamp| {
                    stamp.inputs.iter().find(|pin| pin.input == *name).map(|pin| pin.version)
                }),
                now: assessment
                    .pins
                    .iter()
                    .find(|pin| pin.input == *name)
                    .map_or_else(|| Digest::of(b""), |pin| pin.version),
                rows: cells.iter().map(|cell| cell.fingerprint.rows).sum(),
                changed: cells
                    .iter()
                    .filter(|cell| {
                        stamp.is_some() && cell.changed_at.is_some_and(|changed| changed > verified)
                    })
                    .map(|cell| {
                        calendar.map_or_else(
                            || Label::of(None, cell.interval).to_string(),
                            |calendar| calendar.label(cell.interval),
                        )
                    })
                    .collect(),
            }
        })
        .collect();
    let (mut reported, mut spared) = (Vec::new(), Vec::new());
    let (reason, hold) = match assessment.verdict {
        Verdict::Fresh => (None, None),
        Verdict::Reported(inputs) => {
            reported = inputs;
            (None, None)
        }
        Verdict::Spared(inputs) => {
            spared = inputs;
            (None, None)
        }
        Verdict::Due(reason) => (Some(reason), None),
        Verdict::Held(reason, hold) => (Some(reason), Some(hold)),
    };
    Ok(Story {
        model: model.name.clone(),
        sliced: model.sliced.clone(),
        interval,
        label: Label::of(model.calendar.as_ref(), interval),
        reason,
        hold,
        reported,
        spared,
        code: model.code,
        stamp: stamp.cloned(),
        fingerprint: stamp.map(|stamp| stamp.fingerprint),
        inputs,
        ties: None,
        ties_across: None,
        attempts: Vec::new(),
    })
}

/// The states of the tables before the model at `at`, all that is due taken as going to run.
pub(crate) fn states_before(ground: &Ground, at: usize) -> Vec<TableState> {
    let mut tables: Vec<TableState> = Vec::with_capacity(at);
    for (position, model) in ground.models[..at].iter().enumerate() {
        let due = ground.due(position);
        let mut state = model.state(&due);
        let subject = ground.subject(position, &tables, Allow::default());
        let mut before = Before::Settled;
        for interval in due.iter().map(|slot| slot.interval) {
            let verdict = subject.verdict(interval, &before);
            let last = std::mem::take(&mut before);
            before = subject.standing(interval, &verdict, &last, true);
            match verdict {
                Verdict::Fresh | Verdict::Reported(_) | Verdict::Spared(_) => {}
                Verdict::Due(reason) => {
                    state.pending.add(interval, subject.columns(interval, &reason, &last))
                }
                Verdict::Held(_, Hold::Rebuild { .. }) => {}
                Verdict::Held(_, hold) if subject.stamp(interval).is_none() => {
                    state.unavailable.insert(interval, hold);
                }
                Verdict::Held(..) => {}
            }
        }
        tables.push(state);
    }
    tables
}
