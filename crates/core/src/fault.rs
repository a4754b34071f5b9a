//! Where a test makes a call that leaves the process fail: the calls by name, and who decides. Production has nobody
//! decide. Knows neither disk nor network; who makes a call, asks before and after it.
//!
//! A value that is asked, and no trait around each port: the ports to disk, catalog and sources have one form each, and
//! what may go wrong with them is the same for all: an error instead of the call, or instead of its answer.

use std::fmt;
use std::io;
use std::sync::Arc;

/// A call that leaves the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Rows into a data file.
    WriteData,
    /// Files made durable.
    SyncFiles,
    /// A manifest, manifest list, slice map or metadata file.
    WriteMetadata,
    /// Names in folders made durable.
    SyncFolders,
    /// A file of a table read.
    Read,
    /// A file removed.
    Remove,
    /// A transaction of the catalog begun.
    Begin,
    /// A transaction of the catalog committed.
    Commit,
    /// A transaction of numbers and notes committed, which a power cut may undo.
    Note,
    /// A folder made.
    CreateFolder,
    /// A file given a name in another folder, too.
    Link,
    /// The folder of a source walked.
    ListSource,
    /// A file of a source opened.
    OpenSource,
    /// Bytes of an opened file of a source read.
    ReadSource,
}

/// Whether a step is about to happen or has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum When {
    /// Nothing was done yet.
    Before,
    /// It is done; an error now is a lost answer.
    After,
}

/// Decides whether a step fails. Production has none.
pub trait Faults: Send + Sync + fmt::Debug {
    /// Called before and after each step.
    ///
    /// # Errors
    /// The error that the step is to fail with.
    fn at(&self, step: Step, when: When) -> io::Result<()>;
}

/// Does `work` as `step`, with `faults` asked before and after it, where there are any.
///
/// # Errors
/// Those of `work`, and those that are asked for.
pub fn call<T>(
    faults: Option<&Arc<dyn Faults>>,
    step: Step,
    work: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    let Some(faults) = faults else { return work() };
    faults.at(step, When::Before)?;
    let done = work()?;
    faults.at(step, When::After)?;
    Ok(done)
}
