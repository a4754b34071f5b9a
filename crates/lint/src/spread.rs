//! Work on many items that can be done side by side. What is done is said here and elsewhere in the core; on how many
//! threads, by the caller.

/// Does one piece of work on each of many items.
pub trait Spread {
    /// What `work` makes of each item, in the order of the items.
    fn map<'t, T: Sync, R: Send>(&self, items: &'t [T], work: impl Fn(&'t T) -> R + Sync) -> Vec<R>;
}

/// One item after the other, on the thread of the caller.
#[derive(Clone, Copy, Debug, Default)]
pub struct InTurn;

impl Spread for InTurn {
    fn map<'t, T: Sync, R: Send>(&self, items: &'t [T], work: impl Fn(&'t T) -> R + Sync) -> Vec<R> {
        items.iter().map(work).collect()
    }
}
