//! The steps of a commit by name, and which calls of the real code each is made of. Knows no state.

/// A step of the protocol: what lies between two of them is a point to crash at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// The head is read: what is there already is not done again.
    Look,
    /// Request and attempts are numbered and recorded.
    Claim,
    /// Rows go into files that nothing names.
    Stage,
    /// The staged rows are read back and judged.
    Audit,
    /// On the newest head it is decided, slice by slice, what the commit does; a folded table is folded along.
    Plan,
    /// The commit's metadata is written, and everything made durable.
    Persist,
    /// One transaction: pointers compared and moved, receipts written.
    Swap,
    /// The head moved since the plan: what the commit wrote is withdrawn, and it is planned again.
    Rebase,
    /// The answer of the transaction was lost: the table is asked.
    LookAgain,
    /// What did not become the table's is removed, readers' hint follows.
    Settle,
    /// The ends of attempts that did not publish are recorded.
    Confirm,
    /// Attempts that nobody ended are judged by the table.
    Resolve,
    /// Clean-up: what lies in the folders.
    GcList,
    /// Clean-up: what heads name.
    GcRead,
    /// Clean-up: an empty commit, with fences against attempts that died.
    GcFence,
    /// Clean-up: files go.
    GcRemove,
    /// Another writer's compaction: rows read and written again.
    CompactWrite,
    /// Another writer's compaction lands.
    CompactSwap,
    /// The ledger is made anew: heads are looked up.
    RebuildRead,
    /// The ledger is made anew: pointers and rows are written.
    RebuildWrite,
}

impl Step {
    /// Its name, as code, notes and messages have it.
    pub fn name(self) -> &'static str {
        match self {
            Step::Look => "look",
            Step::Claim => "claim",
            Step::Stage => "stage",
            Step::Audit => "audit",
            Step::Plan => "plan",
            Step::Persist => "persist",
            Step::Swap => "swap",
            Step::Rebase => "re-base",
            Step::LookAgain => "look again",
            Step::Settle => "settle",
            Step::Confirm => "confirm",
            Step::Resolve => "resolve",
            Step::GcList => "gc: list",
            Step::GcRead => "gc: read",
            Step::GcFence => "gc: fence",
            Step::GcRemove => "gc: remove",
            Step::CompactWrite => "compact: write",
            Step::CompactSwap => "compact: swap",
            Step::RebuildRead => "rebuild: read",
            Step::RebuildWrite => "rebuild: write",
        }
    }
}

/// All steps, in the order of the enumeration.
pub const STEPS: [Step; 20] = [
    Step::Look,
    Step::Claim,
    Step::Stage,
    Step::Audit,
    Step::Plan,
    Step::Persist,
    Step::Swap,
    Step::Rebase,
    Step::LookAgain,
    Step::Settle,
    Step::Confirm,
    Step::Resolve,
    Step::GcList,
    Step::GcRead,
    Step::GcFence,
    Step::GcRemove,
    Step::CompactWrite,
    Step::CompactSwap,
    Step::RebuildRead,
    Step::RebuildWrite,
];
