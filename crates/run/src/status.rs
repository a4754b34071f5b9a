//! The state of every slice, as a picture is made of it: a model a line, an interval a cell.

use oncemore_core::{Instant, Interval, Origin, TableName};
use serde::Serialize;

use crate::assess::{Allow, Before, Hold, Reason, TableState, Verdict};
use crate::due::Label;
use crate::ground::Ground;

/// State of one slice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum SliceStatus {
    /// What the code gives, from what is there.
    Fresh,
    /// Vouched for, not computed.
    Accepted {
        /// The reason given.
        because: String,
    },
    /// Published, and kept although these inputs changed: the model has their changes reported alone.
    Reported {
        /// The inputs.
        inputs: Vec<String>,
    },
    /// Published, and in need of work.
    Stale {
        /// Why.
        reason: Reason,
    },
    /// Never published, and ready to run.
    Due,
    /// The last attempt failed.
    Failed,
    /// Can't run now.
    Held {
        /// Why it needs work.
        reason: Reason,
        /// Why it can't run.
        hold: Hold,
    },
}

impl SliceStatus {
    /// The worse, the greater: the order in which models are listed.
    pub fn rank(&self) -> u8 {
        match self {
            SliceStatus::Fresh => 0,
            SliceStatus::Accepted { .. } => 1,
            SliceStatus::Reported { .. } => 2,
            SliceStatus::Due => 3,
            SliceStatus::Held { hold: Hold::Waiting { .. }, .. } => 4,
            SliceStatus::Stale { .. } => 5,
            SliceStatus::Held { .. } => 6,
            SliceStatus::Failed => 7,
        }
    }

    /// One word: fresh, accepted, reported, due, waiting, stale, held or failed.
    pub fn word(&self) -> &'static str {
        match self {
            SliceStatus::Fresh => "fresh",
            SliceStatus::Accepted { .. } => "accepted",
            SliceStatus::Reported { .. } => "reported",
            SliceStatus::Due => "due",
            SliceStatus::Held { hold: Hold::Waiting { .. }, .. } => "waiting",
            SliceStatus::Stale { .. } => "stale",
            SliceStatus::Held { .. } => "held",
            SliceStatus::Failed => "failed",
        }
    }
}

/// One slice.
#[derive(Clone, Debug, Serialize)]
pub struct SliceLine {
    /// Its interval.
    pub interval: Interval,
    /// As people write it.
    pub label: Label,
    /// Its state.
    pub status: SliceStatus,
    /// Rows published, if any were.
    pub rows: Option<u64>,
    /// Last time the rows changed.
    pub changed_at: Option<Instant>,
    /// Whether its rows were written with other columns than the model yields now: what was added since is NULL in them,
    /// what was widened is read as the wider type.
    pub old_shape: bool,
    /// Inputs that changed after it was made, in keys alone that it does not look up.
    pub spared: Vec<String>,
}

/// One model.
#[derive(Clone, Debug, Serialize)]
pub struct ModelLine {
    /// The table.
    pub model: TableName,
    /// Interval length and zone, `day, America/New_York`; `whole table` for one slice.
    pub cut: String,
    /// Rows over all slices.
    pub rows: u64,
    /// Its slices, in order of time.
    pub slices: Vec<SliceLine>,
    /// How many slices a rebuild of it holds that was begun and not ended.
    pub rebuild: Option<usize>,
}

impl ModelLine {
    /// Rank of its worst slice.
    pub fn rank(&self) -> u8 {
        self.slices.iter().map(|slice| slice.status.rank()).max().unwrap_or(0)
    }
}

/// The state of all models, in topological order.
pub fn status(ground: &Ground) -> Vec<ModelLine> {
    let mut tables: Vec<TableState> = Vec::with_capacity(ground.models.len());
    let mut lines = Vec::with_capacity(ground.models.len());
    for (at, model) in ground.models.iter().enumerate() {
        let due = ground.due(at);
        let mut state = model.state(&due);
        let subject = ground.subject(at, &tables, Allow::default());
        let mut slices = Vec::with_capacity(due.len());
        let mut before = Before::Settled;
        for slot in due.iter() {
            let interval = slot.interval;
            let stamp = subject.stamp(interval);
            let verdict = subject.verdict(interval, &before);
            let next = subject.standing(interval, &verdict, &before, true);
            match &verdict {
                Verdict::Due(reason) => {
                    state.pending.add(interval, subject.columns(interval, reason, &before));
                }
                Verdict::Held(_, Hold::Rebuild { .. }) => {}
                Verdict::Held(_, hold) if stamp.is_none() => {
                    state.unavailable.insert(interval, hold.clone());
                }
                _ => {}
            }
            before = next;
            let spared = match &verdict {
                Verdict::Spared(inputs) => inputs.clone(),
                _ => Vec::new(),
            };
            let status = match (verdict, stamp) {
                (Verdict::Fresh | Verdict::Spared(_), Some(stamp)) => match &stamp.origin {
                    Origin::Computed => SliceStatus::Fresh,
                    Origin::Accepted { because } => SliceStatus::Accepted { because: because.clone() },
                },
                (Verdict::Fresh | Verdict::Spared(_), None) => SliceStatus::Fresh,
                (Verdict::Reported(inputs), _) => SliceStatus::Reported { inputs },
                (Verdict::Due(Reason::Failed), _) => SliceStatus::Failed,
                (Verdict::Due(_), None) => SliceStatus::Due,
                (Verdict::Due(reason), Some(_)) => SliceStatus::Stale { reason },
                (Verdict::Held(reason, hold), _) => SliceStatus::Held { reason, hold },
            };
            slices.push(SliceLine {
                interval,
                label: slot.label.clone(),
                status,
                rows: stamp.map(|stamp| stamp.fingerprint.rows),
                changed_at: stamp.map(|stamp| stamp.changed_at),
                old_shape: stamp
                    .is_some_and(|stamp| stamp.fingerprint.rows > 0 && stamp.schema != model.schema),
                spared,
            });
        }
        lines.push(ModelLine {
            model: model.name.clone(),
            cut: model.calendar.as_ref().map_or_else(
                || "whole table".to_owned(),
                |calendar| format!("{}, {}", calendar.length, calendar.zone),
            ),
            rows: model.rows,
            slices,
            rebuild: model.rebuild,
        });
        tables.push(state);
    }
    lines
}
