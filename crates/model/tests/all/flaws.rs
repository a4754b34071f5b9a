//! The protocol with one mistake each: every one is found, and the shortest way to the harm printed.

use oncemore_model::{Config, Flaw};

use crate::holds::{A, B, BOTH, SAME, SECOND, base};
use crate::search::{numbers, search};

#[track_caller]
fn found(flaw: Flaw, harm: &str, config: Config) {
    let config = Config { flaw: Some(flaw), ..config };
    let found = search(&config, false);
    let broken = numbers(&found);
    assert!(broken.split(' ').any(|number| number == harm), "{flaw:?}: {broken:?} and not {harm}");
}

fn two() -> Config {
    base("same slice", &[A, B])
}

fn overlapping() -> Config {
    base("overlapping", &[BOTH, SECOND])
}

fn folded() -> Config {
    Config { folds: true, ..base("folded", &[BOTH, SECOND]) }
}

fn cleaned(config: Config) -> Config {
    Config { gc: 1, ..config }
}

#[test]
fn no_fence() {
    found(Flaw::NoFence, "I9", two());
}

#[test]
fn no_compare_and_swap() {
    found(Flaw::NoCompareAndSwap, "I1", base("adjacent", &[A, SECOND]));
}

#[test]
fn unchanged_that_does_not_fence() {
    found(Flaw::UnchangedDoesNotFence, "I9", base("same rows", &[A, SAME]));
}

#[test]
fn receipt_in_a_transaction_before() {
    found(Flaw::ReceiptFirst, "I8", two());
}

#[test]
fn receipt_in_a_transaction_after() {
    found(Flaw::ReceiptAfter, "I8", Config { resolves: true, ..two() });
}

#[test]
fn unknown_taken_for_failed() {
    found(Flaw::UnknownIsFailed, "I6", two());
}

#[test]
fn unknown_taken_for_failed_where_nothing_moved_yet() {
    found(Flaw::UnknownIsFailedUnmoved, "I6", two());
}

#[test]
fn unknown_committed_again() {
    found(Flaw::UnknownRetries, "I7", two());
}

#[test]
fn gc_by_age() {
    found(Flaw::GcByAge, "I6", cleaned(two()));
}

#[test]
fn gc_of_metadata_by_age() {
    found(Flaw::GcMetadataByAge, "I6", cleaned(two()));
}

/// Two commits exclude each other, and so do a commit and this: but not what recovery brings in.
#[test]
fn gc_of_metadata_under_a_lock() {
    found(Flaw::GcUnderLock, "I6", cleaned(two()));
}

#[test]
fn gc_that_reads_the_folded_table_before_its_log() {
    found(Flaw::GcReadsStateFirst, "I6", cleaned(folded()));
}

#[test]
fn group_that_publishes_half() {
    found(Flaw::GroupPublishesHalf, "I8", overlapping());
}

#[test]
fn retry_with_a_new_number() {
    found(Flaw::RetryNumbersAnew, "I12", two());
}

#[test]
fn numbers_without_the_clock() {
    found(Flaw::NumbersWithoutClock, "I12", Config { rebuilds: true, ..two() });
}

#[test]
fn rebase_that_keeps_the_files_to_remove() {
    found(Flaw::RebaseKeepsFiles, "I1", two());
}

#[test]
fn rebase_that_keeps_the_slice_map() {
    found(Flaw::RebaseKeepsMap, "I2", base("adjacent", &[A, SECOND]));
}

#[test]
fn rebase_that_keeps_the_fold() {
    found(Flaw::RebaseKeepsFold, "I11", folded());
}

#[test]
fn fold_over_a_newer_request() {
    found(Flaw::FoldsOverNewer, "I11", folded());
}

#[test]
fn log_and_state_in_two_transactions() {
    found(Flaw::FoldsInTwo, "I11", folded());
}

#[test]
fn published_without_audit() {
    found(Flaw::SkipsAudit, "I5", two());
}

#[test]
fn late_end_over_a_receipt() {
    found(Flaw::EndOverwrites, "I8", Config { resolves: true, ..two() });
}

#[test]
fn blind_compaction() {
    found(Flaw::BlindCompaction, "I1", Config { compacts: true, ..two() });
}

#[test]
fn foreign_rows_unnoticed() {
    found(Flaw::ForeignUnnoticed, "F", Config { compacts: true, ..two() });
}

#[test]
fn roll_back_unnoticed() {
    found(Flaw::RollBackUnnoticed, "F", Config { rolls_back: true, ..overlapping() });
}

#[test]
fn fences_that_roll_back() {
    found(Flaw::FencesRollBack, "I3", Config { rolls_back: true, ..overlapping() });
}

#[test]
fn rebuild_that_sets_pointers_back() {
    found(Flaw::RebuildSetsBack, "I1", Config { rebuilds: true, ..two() });
}
