//! What a moment of the protocol consists of: table, folded table, files, ledger, runners and what else is under way.

use crate::config::{Config, Job};

/// Slices of the table.
pub(crate) const SLICES: usize = 2;
/// Numbers of attempts; 0 is what the table held at first.
pub(crate) const ATTEMPTS: usize = 6;
/// Most tries of one attempt.
pub(crate) const TRIES: usize = 5;
/// The file of a compaction.
pub(crate) const COMPACTED: u64 = 1 << (ATTEMPTS * SLICES);

/// The file of an attempt in a slice.
pub(crate) fn data(attempt: u8, slice: usize) -> u64 {
    1 << (usize::from(attempt) * SLICES + slice)
}

/// The file of an attempt in the folded table. Tries of an attempt give it the same name.
pub(crate) fn folded(attempt: u8) -> u64 {
    1 << (ATTEMPTS * SLICES + 1 + usize::from(attempt))
}

/// The metadata that a try of an attempt wrote.
pub(crate) fn metadata(attempt: u8, tries: u8) -> u64 {
    1 << (ATTEMPTS * (SLICES + 1) + 1 + usize::from(attempt) * TRIES + usize::from(tries))
}

/// All data files of a slice.
pub(crate) fn of_slice(slice: usize) -> u64 {
    let own = (0..6).fold(0, |all, attempt| all | data(attempt, slice));
    if slice == 0 { own | COMPACTED } else { own }
}

/// All metadata files.
pub(crate) fn all_metadata() -> u64 {
    let first = metadata(0, 0).trailing_zeros();
    !0 << first
}

/// Slices of a set.
pub(crate) fn slices(set: u8) -> impl Iterator<Item = usize> {
    (0..SLICES).filter(move |slice| set >> slice & 1 == 1)
}

/// Attempt and slice as a bit.
pub(crate) fn piece(attempt: u8, slice: usize) -> u16 {
    1 << (usize::from(attempt) * SLICES + slice)
}

/// Number of a request and counter of attempts, compared in that order.
pub(crate) fn epoch(request: u8, counter: u8) -> u8 {
    request * 16 + counter
}

/// What the pointer of the table leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Head {
    /// Name of the metadata: no two are alike.
    pub(crate) at: u8,
    /// The metadata file, where it is an attempt's.
    pub(crate) metadata: u64,
    /// Files that the manifests list.
    pub(crate) live: u64,
    /// Files that the slice map lists.
    pub(crate) map: u64,
    pub(crate) stamp: [u8; SLICES],
    pub(crate) fence: [u8; SLICES],
    /// Commits of ours, as the snapshot counts them.
    pub(crate) n: u8,
    /// The same, as the table counts them.
    pub(crate) high: u8,
}

/// What the pointer of the folded table leads to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Product {
    pub(crate) at: u8,
    /// The attempt whose file it is.
    pub(crate) file: u8,
    /// The rows of the log that it reflects.
    pub(crate) log: [u8; SLICES],
}

/// A commit on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Plan {
    pub(crate) attempt: u8,
    /// Where the pointers must be.
    pub(crate) base: (u8, u8),
    pub(crate) head: Head,
    /// The folded table after it, where it takes part.
    pub(crate) product: Option<Product>,
    /// Slices that take part.
    pub(crate) items: u8,
    /// Of these, slices whose rows are replaced.
    pub(crate) replaced: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Stand {
    /// Knows nothing; also after a crash.
    #[default]
    Idle,
    Looked,
    Claimed,
    Audited,
    Persisted,
    /// Of a flawed protocol: between two transactions.
    Half,
    Unknown,
    Settling,
    Ending,
    Done,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Runner {
    pub(crate) stand: Stand,
    pub(crate) attempt: u8,
    pub(crate) tries: u8,
    /// Slices without an answer.
    pub(crate) open: u8,
    /// Slices that were published.
    pub(crate) good: u8,
    /// The stamps that it saw when it looked.
    pub(crate) expected: [u8; SLICES],
    pub(crate) plan: Option<Plan>,
    /// Of a flawed protocol: the head, and the folded rows, of the first plan.
    pub(crate) first: Option<(Head, u8)>,
    /// How it ended, for what is to be reachable.
    pub(crate) ended: u8,
}

pub(crate) const ENDED_GOOD: u8 = 1;
pub(crate) const ENDED_SUPERSEDED: u8 = 2;
pub(crate) const ENDED_UNKNOWN: u8 = 4;
pub(crate) const ENDED_REFUSED: u8 = 8;
pub(crate) const ENDED_TIRED: u8 = 16;

/// What the ledger says of an attempt on a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Said {
    #[default]
    Nothing,
    Open,
    Committed,
    Failed,
    Superseded,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Ledger {
    pub(crate) request: u8,
    pub(crate) counter: u8,
    /// Numbers of requests by their key: that of a job.
    pub(crate) numbers: [u8; 3],
    pub(crate) said: [[Said; SLICES]; ATTEMPTS],
}

/// What paths and memories of people say of an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct About {
    pub(crate) epoch: u8,
    pub(crate) job: u8,
    /// When its request was made, the first time.
    pub(crate) age: u8,
    /// The slice in the name of its file of the folded table.
    pub(crate) label: u8,
}

/// A clean-up under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Gc {
    /// What was listed.
    pub(crate) listed: u64,
    /// Head of the table, once it was read, and what the folded table names.
    pub(crate) head: Option<Head>,
    pub(crate) product: Option<u8>,
    /// Whether a commit of the clean-up came after the listing.
    pub(crate) moved: bool,
}

/// What [`crate::Config::next`] steps from and to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(crate) head: Head,
    pub(crate) product: Product,
    /// Names of metadata given so far.
    pub(crate) names: u8,
    pub(crate) files: u64,
    /// Rows in the folded table's files, by attempt.
    pub(crate) rows: [u8; ATTEMPTS],
    pub(crate) compacted: u8,
    pub(crate) audited: u64,
    pub(crate) ledger: Ledger,
    pub(crate) attempts: u8,
    pub(crate) about: [About; ATTEMPTS],
    pub(crate) runners: [Runner; 3],
    /// A transaction whose end failed, and that recovery may still bring in while nothing else is written.
    pub(crate) limbo: Option<Plan>,
    pub(crate) gc: Option<Gc>,
    pub(crate) compaction: Option<Head>,
    pub(crate) rebuild: Option<Head>,
    /// Verdicts on open attempts, not yet written: committed, superseded, failed.
    pub(crate) verdicts: Option<[u16; 3]>,
    /// The table before the last commit, while it may still be set back.
    pub(crate) before: Option<(Head, [u8; SLICES])>,
    pub(crate) crashes: u8,
    pub(crate) lost: u8,
    pub(crate) gcs: u8,
    pub(crate) compacts: bool,
    pub(crate) rolls_back: bool,
    pub(crate) rebuilds: bool,
    /// Of all that follow, no protocol knows: what each slice must hold,
    pub(crate) expect: [u8; SLICES],
    /// attempts and slices that took effect,
    pub(crate) ever: u16,
    /// the greatest number of a request, which the clock has passed,
    pub(crate) clock: u8,
    /// requests made so far, and when each keyed one was,
    pub(crate) ages: u8,
    pub(crate) made: [u8; 3],
    /// and what was done that must not be.
    pub(crate) wrong: u8,
}

pub(crate) const WRONG_FENCE: u8 = 1;
pub(crate) const WRONG_TWICE: u8 = 2;
pub(crate) const WRONG_SCOPE: u8 = 4;
pub(crate) const WRONG_SUPERSEDED: u8 = 8;
pub(crate) const WRONG_SUCCESS: u8 = 16;
pub(crate) const WRONG_FOREIGN: u8 = 32;

/// What happens next; the number is that of a runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// The runner takes its next step.
    Step(u8),
    /// Its transaction takes effect, and the answer is lost.
    SwapAnswerLost(u8),
    /// Its transaction fails at its end: recovery may bring it in later.
    SwapInLimbo(u8),
    /// Its process dies.
    Crash(u8),
    /// Recovery brings the transaction in.
    Land,
    /// Open attempts are judged.
    ResolveRead,
    /// The verdicts are written.
    ResolveWrite,
    /// Clean-up: files are listed.
    GcList,
    /// Clean-up: the head of the table is read.
    GcRead,
    /// Clean-up: the head of the folded table is read.
    GcReadState,
    /// Clean-up: a commit that moves the pointer; with fences against all attempts, as if all had died.
    GcFence {
        /// Whether attempts are taken for dead.
        dead: bool,
    },
    /// Clean-up: files go.
    GcRemove,
    /// Another writer reads slice 0 and writes its rows into a file.
    CompactWrite,
    /// Its commit.
    CompactSwap,
    /// Another writer sets the table back.
    RollBack,
    /// The ledger is made anew: heads are looked up.
    RebuildRead,
    /// The ledger is made anew: it is written.
    RebuildWrite,
}

impl State {
    /// The rows in a data file.
    pub(crate) fn rows_of(&self, config: &Config, attempt: u8, slice: usize) -> u8 {
        match attempt {
            0 => 1,
            _ => self.job_of(config, attempt).map_or(0, |job| job.rows[slice]),
        }
    }

    pub(crate) fn job_of<'a>(&self, config: &'a Config, attempt: u8) -> Option<&'a Job> {
        config.jobs.get(usize::from(self.about[usize::from(attempt)].job))
    }

    /// What a reader of a slice finds: the rows of its only file, 0 where there is none, `None` where there are more.
    pub(crate) fn content(&self, config: &Config, live: u64, slice: usize) -> Option<u8> {
        let files = live & of_slice(slice);
        match files.count_ones() {
            0 => Some(0),
            1 if files == COMPACTED => Some(self.compacted),
            1 => Some(self.rows_of(config, u8::try_from(files.trailing_zeros()).ok()? / 2, slice)),
            _ => None,
        }
    }

    /// The rows of all slices.
    pub(crate) fn contents(&self, config: &Config, live: u64) -> [u8; SLICES] {
        [0, 1].map(|slice| self.content(config, live, slice).unwrap_or(15))
    }

    /// A name for metadata.
    pub(crate) fn fresh(&mut self) -> u8 {
        self.names += 1;
        self.names
    }

    /// Another transaction was written: what was in limbo is gone for good.
    pub(crate) fn written(&mut self) {
        self.limbo = None;
    }

    /// A transaction of a commit takes effect.
    pub(crate) fn apply(&mut self, config: &Config, plan: &Plan) {
        self.written();
        let old = self.head;
        if self.rolls_back && plan.replaced != 0 {
            self.before = Some((old, self.expect));
        }
        for slice in 0..SLICES {
            let (own, same) = (piece(plan.attempt, slice), of_slice(slice));
            if plan.items >> slice & 1 == 1 && plan.head.stamp[slice] == plan.attempt {
                if self.ever & own != 0 {
                    self.wrong |= WRONG_TWICE;
                }
                if old.live & same != old.map & same || old.n < old.high {
                    self.wrong |= WRONG_FOREIGN;
                }
                self.ever |= own;
                if !self.job_of(config, plan.attempt).is_some_and(|job| job.restamps) {
                    self.expect[slice] = self.rows_of(config, plan.attempt, slice);
                }
            } else if plan.head.live & same != old.live & same || plan.head.stamp[slice] != old.stamp[slice] {
                self.wrong |= WRONG_SCOPE;
            }
            if plan.head.fence[slice] < old.fence[slice] {
                self.wrong |= WRONG_FENCE;
            }
        }
        self.head = plan.head;
        self.head.at = self.fresh();
    }

    /// The folded table's part of a commit takes effect.
    pub(crate) fn apply_product(&mut self, plan: &Plan) {
        if let Some(product) = plan.product {
            let at = self.product.at + 1;
            self.product = Product { at, ..product };
        }
    }

    /// Receipts of a commit.
    pub(crate) fn receive(&mut self, plan: &Plan) {
        for slice in slices(plan.items) {
            let said = &mut self.ledger.said[usize::from(plan.attempt)][slice];
            if *said != Said::Nothing {
                *said = Said::Committed;
            }
        }
    }

    /// Records an end other than a receipt.
    pub(crate) fn end(&mut self, config: &Config, attempt: u8, slice: usize, end: Said) {
        let said = &mut self.ledger.said[usize::from(attempt)][slice];
        let guarded = *said == Said::Committed && !config.has(crate::Flaw::EndOverwrites);
        if *said != Said::Nothing && !guarded {
            *said = end;
        }
    }
}
