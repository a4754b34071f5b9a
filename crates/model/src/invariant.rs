//! What must hold in every state, and what must be reachable for a search to mean something.

use crate::background::named;
use crate::config::Config;
use crate::runner::folded_rows;
use crate::state::{
    COMPACTED, ENDED_GOOD, ENDED_REFUSED, ENDED_SUPERSEDED, ENDED_UNKNOWN, SLICES, Said, Stand, State,
    WRONG_FENCE, WRONG_FOREIGN, WRONG_SCOPE, WRONG_SUCCESS, WRONG_SUPERSEDED, WRONG_TWICE, all_metadata,
    folded, of_slice, piece,
};

/// What must hold in every state.
#[derive(Clone, Copy, Debug)]
pub struct Invariant {
    /// Its number in the notes, and what it says.
    pub name: &'static str,
    /// Whether it holds.
    pub holds: fn(&Config, &State) -> bool,
}

/// What some state must show.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// What it is.
    pub name: &'static str,
    /// Whether the state shows it.
    pub shown: fn(&Config, &State) -> bool,
}

/// All invariants.
pub const INVARIANTS: [Invariant; 13] = [
    Invariant {
        name: "I1 each slice holds one outcome, whole and once",
        holds: |config, state| {
            (0..SLICES)
                .all(|slice| state.content(config, state.head.live, slice) == Some(state.expect[slice]))
        },
    },
    Invariant {
        name: "I2 a commit touches only its slices",
        holds: |_, state| state.wrong & WRONG_SCOPE == 0,
    },
    Invariant { name: "I3 a fence only rises", holds: |_, state| state.wrong & WRONG_FENCE == 0 },
    Invariant { name: "I4 a valid stamp names who made the rows", holds: stamps_are_true },
    Invariant {
        name: "I5 visible rows were audited",
        holds: |_, state| state.head.live & !(state.audited | COMPACTED) == 0,
    },
    Invariant { name: "I6 every visible file is there", holds: all_there },
    Invariant {
        name: "I7 an attempt takes effect at most once",
        holds: |_, state| state.wrong & WRONG_TWICE == 0,
    },
    Invariant { name: "I8 neither ledger nor answer is false", holds: nothing_false },
    Invariant { name: "I9 the newest request owns the slice", holds: newest_owns },
    Invariant { name: "I10 at rest ledger and table agree", holds: ledger_agrees },
    Invariant { name: "I11 the folded table is the fold of the log", holds: fold_follows },
    Invariant {
        name: "I12 only a later request supersedes",
        holds: |_, state| state.wrong & WRONG_SUPERSEDED == 0,
    },
    Invariant {
        name: "F what another writer did is not replaced unasked",
        holds: |_, state| state.wrong & WRONG_FOREIGN == 0,
    },
];

/// All goals.
pub const GOALS: [Goal; 5] = [
    Goal { name: "a run ends well", shown: |_, state| ended(state, ENDED_GOOD) },
    Goal { name: "a run is superseded", shown: |_, state| ended(state, ENDED_SUPERSEDED) },
    Goal { name: "a run ends unknown", shown: |_, state| ended(state, ENDED_UNKNOWN) },
    Goal { name: "a run is refused", shown: |_, state| ended(state, ENDED_REFUSED) },
    Goal {
        name: "nothing is left over",
        shown: |config, state| {
            let kept = named(&state.head, &state.product) | COMPACTED;
            let files = state.files & !if config.folds { 0 } else { folded(0) };
            rests(config, state) && state.attempts > 0 && files & !kept == 0
        },
    },
];

fn ended(state: &State, how: u8) -> bool {
    state.runners.iter().any(|runner| runner.stand == Stand::Done && runner.ended & how != 0)
}

fn rests(config: &Config, state: &State) -> bool {
    let runs = state.runners[..config.runners.len()].iter().any(|runner| runner.stand != Stand::Done);
    let busy = state.limbo.is_some()
        || state.gc.is_some()
        || state.compaction.is_some()
        || state.rebuild.is_some()
        || state.verdicts.is_some();
    !runs && !busy
}

fn stamps_are_true(config: &Config, state: &State) -> bool {
    (0..SLICES).all(|slice| {
        let (head, own) = (&state.head, of_slice(slice));
        let stamp = head.stamp[slice];
        let restamps = state.job_of(config, stamp).is_some_and(|job| job.restamps);
        let vouched = stamp != 0 && restamps;
        vouched
            || head.live & own != head.map & own
            || state.content(config, head.live, slice) == Some(state.rows_of(config, stamp, slice))
    })
}

fn all_there(config: &Config, state: &State) -> bool {
    let state_file = if config.folds { folded(state.product.file) } else { 0 };
    (state.head.live | state.head.metadata & all_metadata() | state_file) & !state.files == 0
}

fn nothing_false(_: &Config, state: &State) -> bool {
    let told = (1..=state.attempts).all(|attempt| {
        (0..SLICES).all(|slice| {
            let took = state.ever & piece(attempt, slice) != 0;
            match state.ledger.said[usize::from(attempt)][slice] {
                Said::Committed => took,
                Said::Failed => !took,
                Said::Nothing | Said::Open | Said::Superseded => true,
            }
        })
    });
    told && state.wrong & WRONG_SUCCESS == 0
}

/// Checked in every state, not at rest alone. A table that was set back is not the newest request's any more.
fn newest_owns(config: &Config, state: &State) -> bool {
    let age = |attempt: u8| state.about[usize::from(attempt)].age;
    config.rolls_back
        || (0..SLICES).all(|slice| {
            let took = (1..=state.attempts).filter(|attempt| state.ever & piece(*attempt, slice) != 0);
            took.map(age).max().unwrap_or(0) <= age(state.head.stamp[slice])
        })
}

/// At rest and resolved. A ledger made anew knows nothing of attempts that were under way.
fn ledger_agrees(config: &Config, state: &State) -> bool {
    let open = state.ledger.said.iter().flatten().any(|said| *said == Said::Open);
    if !rests(config, state) || open {
        return true;
    }
    (0..SLICES).all(|slice| {
        let stamp = state.head.stamp[slice];
        let said = state.ledger.said[usize::from(stamp)][slice];
        stamp == 0 || said == Said::Committed || config.rebuilds && said == Said::Nothing
    })
}

fn fold_follows(config: &Config, state: &State) -> bool {
    !config.folds || {
        let contents = state.contents(config, state.head.live);
        state.rows[usize::from(state.product.file)] == folded_rows(contents)
    }
}
