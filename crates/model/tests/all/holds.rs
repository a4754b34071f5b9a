//! The protocol as it is: every configuration holds.

use oncemore_model::step::STEPS;
use oncemore_model::{Config, Job};

use crate::search::search;

const fn job(slices: u8, rows: [u8; 2]) -> Job {
    Job { slices, rows, keyed: true, restamps: false }
}

/// A request for the first slice, and another one.
pub(crate) const A: Job = job(1, [2, 0]);
pub(crate) const B: Job = job(1, [3, 0]);
/// For the second slice.
pub(crate) const SECOND: Job = job(2, [0, 3]);
/// For both, one group commit.
pub(crate) const BOTH: Job = job(3, [4, 2]);
/// Rows that are there already: nothing but a stamp changes.
pub(crate) const SAME: Job = job(1, [1, 0]);
/// No rows at all.
const NONE: Job = job(1, [0, 0]);
/// A stamp for what is there, whatever it is.
const RESTAMP: Job = Job { restamps: true, ..job(3, [0, 0]) };
/// A request whose retry is another one.
const NEW_EACH_TIME: Job = Job { keyed: false, ..A };

pub(crate) fn base(name: &'static str, jobs: &[Job]) -> Config {
    Config {
        name,
        jobs: jobs.to_vec(),
        runners: (0..jobs.len()).collect(),
        attempts: 4,
        crashes: 1,
        lost: 1,
        gc: 0,
        compacts: false,
        rolls_back: false,
        rebuilds: false,
        resolves: false,
        folds: false,
        flaw: None,
    }
}

/// Five attempts, two crashes, two lost answers.
fn wide(config: Config) -> Config {
    Config { attempts: 5, crashes: 2, lost: 2, ..config }
}

/// Open attempts are judged at any time, as if all processes had died.
fn judged(config: Config) -> Config {
    Config { resolves: true, ..config }
}

fn cleaned(config: Config) -> Config {
    Config { gc: 1, ..config }
}

fn folded(config: Config) -> Config {
    Config { folds: true, ..config }
}

#[track_caller]
fn holds(configs: &[Config]) {
    for config in configs {
        let found = search(config, true);
        assert!(found.broken.is_empty(), "{}", config.name);
        assert!(found.reached.contains(&"a run ends well"), "{}", config.name);
    }
}

#[test]
fn one_run_by_two_runners() {
    let two = |name, job| Config { runners: vec![0, 0], ..base(name, &[job]) };
    holds(&[
        wide(two("one request, two runners", A)),
        judged(two("one request, two runners, judged", A)),
        wide(two("one job, a request each time", NEW_EACH_TIME)),
        cleaned(two("one request, two runners, clean-up", A)),
        cleaned(two("one job, a request each time, clean-up", NEW_EACH_TIME)),
    ]);
}

#[test]
fn the_same_slice() {
    holds(&[
        wide(base("same slice", &[A, B])),
        judged(base("same slice, judged", &[A, B])),
        wide(base("same slice, no rows", &[A, NONE])),
        wide(base("same slice, a request each time", &[NEW_EACH_TIME, B])),
        base("same slice, three requests", &[A, B, NONE]),
    ]);
}

#[test]
fn the_same_slice_beside_clean_up() {
    holds(&[
        cleaned(base("same slice, clean-up", &[A, B])),
        cleaned(judged(Config { attempts: 2, crashes: 0, ..base("same slice, clean-up, judged", &[A, B]) })),
        Config { gc: 2, attempts: 2, lost: 0, crashes: 0, ..base("same slice, clean-up twice", &[A, B]) },
    ]);
}

#[test]
fn overlapping_and_adjacent_slices() {
    holds(&[
        wide(base("overlapping", &[BOTH, SECOND])),
        judged(base("overlapping, judged", &[BOTH, SECOND])),
        wide(base("adjacent", &[A, SECOND])),
        base("overlapping, three requests", &[A, BOTH, SECOND]),
    ]);
}

#[test]
fn overlapping_slices_beside_clean_up() {
    holds(&[
        cleaned(base("overlapping, clean-up", &[BOTH, SECOND])),
        cleaned(base("adjacent, clean-up", &[A, SECOND])),
    ]);
}

#[test]
fn stamps_alone() {
    holds(&[
        wide(base("equal rows", &[A, SAME])),
        judged(base("equal rows, judged", &[A, SAME])),
        wide(base("restamped", &[RESTAMP, B])),
        cleaned(base("equal rows, clean-up", &[A, SAME])),
        base("equal rows and restamped, three requests", &[A, SAME, RESTAMP]),
    ]);
}

#[test]
fn folds() {
    holds(&[
        wide(folded(base("folded, same slice", &[A, B]))),
        wide(folded(base("folded, overlapping", &[BOTH, SECOND]))),
        wide(folded(base("folded, adjacent", &[A, SECOND]))),
        folded(base("folded, equal rows and restamped", &[A, SAME, RESTAMP])),
        folded(base("folded, three requests", &[A, BOTH, SECOND])),
    ]);
}

#[test]
fn folds_beside_clean_up() {
    holds(&[
        cleaned(folded(base("folded, overlapping, clean-up", &[BOTH, SECOND]))),
        cleaned(folded(base("folded, same slice, clean-up", &[A, B]))),
    ]);
}

#[test]
fn other_writers() {
    let compacted = |config: Config| Config { compacts: true, ..config };
    let set_back = |config: Config| Config { rolls_back: true, ..config };
    holds(&[
        wide(compacted(base("compaction, same slice", &[A, B]))),
        compacted(base("compaction, overlapping", &[BOTH, A])),
        compacted(folded(base("compaction, folded", &[BOTH, SECOND]))),
        cleaned(compacted(Config { attempts: 2, crashes: 0, ..base("compaction, clean-up", &[A, BOTH]) })),
        wide(set_back(base("set back, overlapping", &[BOTH, SECOND]))),
        wide(set_back(base("set back, same slice", &[A, B]))),
    ]);
}

#[test]
fn a_ledger_made_anew() {
    let rebuilt = |config: Config| Config { rebuilds: true, ..config };
    holds(&[
        rebuilt(base("ledger anew, same slice", &[A, B])),
        rebuilt(judged(Config { attempts: 3, ..base("ledger anew, judged", &[A, B]) })),
        rebuilt(base("ledger anew, overlapping", &[BOTH, SECOND])),
        rebuilt(Config { crashes: 0, ..base("ledger anew, three requests", &[A, B, NEW_EACH_TIME]) }),
        cleaned(rebuilt(Config { attempts: 2, crashes: 0, ..base("ledger anew, clean-up", &[A, B]) })),
    ]);
}

/// One runner beside all the rest: a small search that takes every step there is, and ends in every way.
#[test]
fn all_at_once() {
    let config = Config {
        gc: 1,
        attempts: 2,
        compacts: true,
        rebuilds: true,
        resolves: true,
        ..base("one request beside all the rest", &[BOTH])
    };
    let found = search(&config, true);
    assert!(found.broken.is_empty(), "{}", config.name);
    assert_eq!(found.taken, STEPS, "a step that the model never takes");
    assert_eq!(found.reached.len(), oncemore_model::GOALS.len(), "{:?}", found.reached);
}
