//! What a search is about: who runs, what may go wrong and how often, and which mistake is built in.

use crate::state::SLICES;

/// What a run wants to publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its slices, a bit each.
    pub slices: u8,
    /// The rows that it puts into each, 0 for none. Equal numbers are equal rows; 1 is what lies there at first.
    pub rows: [u8; SLICES],
    /// Whether its retries keep the number of the request.
    pub keyed: bool,
    /// Whether it vouches for what it found, with a stamp alone.
    pub restamps: bool,
}

/// One deliberate mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Epochs are not compared in the table: whoever comes, publishes.
    NoFence,
    /// The pointer is moved without a look at where it is.
    NoCompareAndSwap,
    /// A stamp alone leaves the fence where it was.
    UnchangedDoesNotFence,
    /// Receipts are written in a transaction of their own, before that of the table.
    ReceiptFirst,
    /// Receipts are written in a transaction of their own, after that of the table.
    ReceiptAfter,
    /// A lost answer is a failure: staged files go, the ledger says failed.
    UnknownIsFailed,
    /// A lost answer is a failure where the pointer has not moved yet.
    UnknownIsFailedUnmoved,
    /// A lost answer is a failure: the commit is planned again, and its token not looked for.
    UnknownRetries,
    /// Staged files go by age alone.
    GcByAge,
    /// Metadata files go by age alone.
    GcMetadataByAge,
    /// Metadata files go under the catalog's lock while the head stands, commits look there whether theirs are still
    /// there, and nothing is written.
    GcUnderLock,
    /// Clean-up reads the head of a folded table before that of its log.
    GcReadsStateFirst,
    /// A group commit moves the first slice only, and all receipts are written.
    GroupPublishesHalf,
    /// A retry of an old request gets a new number.
    RetryNumbersAnew,
    /// Numbers of requests come from the ledger alone, without a look at the clock.
    NumbersWithoutClock,
    /// A commit that is planned again takes out the files that the first plan saw.
    RebaseKeepsFiles,
    /// A commit that is planned again writes the slice map that the first plan saw.
    RebaseKeepsMap,
    /// A commit that is planned again keeps the rows that the first plan folded.
    RebaseKeepsFold,
    /// A fold takes the rows of slices that a newer request owns.
    FoldsOverNewer,
    /// Log and folded table move in two transactions.
    FoldsInTwo,
    /// Rows are published that nobody audited.
    SkipsAudit,
    /// A late end overwrites what the ledger knows as committed.
    EndOverwrites,
    /// A compaction lands without a look at the head.
    BlindCompaction,
    /// What another writer put into a slice is replaced without a word.
    ForeignUnnoticed,
    /// A table that another writer set back is taken for ours.
    RollBackUnnoticed,
    /// Fences are kept with the data, and roll back with it.
    FencesRollBack,
    /// Making the ledger anew sets pointers to where they were when it began.
    RebuildSetsBack,
}

/// One search.
#[derive(Clone, Debug)]
pub struct Config {
    /// What it shows.
    pub name: &'static str,
    /// What is wanted.
    pub jobs: Vec<Job>,
    /// The job of each runner, by place.
    pub runners: Vec<usize>,
    /// Most attempts, over all runners and retries; at most 5.
    pub attempts: u8,
    /// Most crashes of runners.
    pub crashes: u8,
    /// Most lost answers.
    pub lost: u8,
    /// Most rounds of clean-up.
    pub gc: u8,
    /// Whether another writer compacts slice 0 once.
    pub compacts: bool,
    /// Whether another writer sets the table back once.
    pub rolls_back: bool,
    /// Whether the ledger is made anew once.
    pub rebuilds: bool,
    /// Whether open attempts may be judged at any time, as if their processes had died.
    pub resolves: bool,
    /// Whether a table is folded from the slices.
    pub folds: bool,
    /// The mistake.
    pub flaw: Option<Flaw>,
}

impl Config {
    pub(crate) fn has(&self, flaw: Flaw) -> bool {
        self.flaw == Some(flaw)
    }
}
