//! Faults as values: which call fails, how, and for how long. A clean run records the calls that it makes; each of them
//! is a fault to try. Stands at the two places where the work leaves the process: the steps to disk, catalog and sources
//! ([`Faults`]), and the object store that tables are read through ([`FaultyObjects`](crate::FaultyObjects)).
//!
//! Disk, catalog and sources have one form each, so there is no trait of them to decorate: they ask before and after
//! each call, and an error there is what a decorator would return. The engine has nothing else to fail at: it fails by
//! what it reads, by what it spills and by memory.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oncemore_core::fault::{Faults, Step, When};

use crate::numbers::Numbers;

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Disk, catalog or a source.
    Step(Step),
    /// A read of the object store.
    Object,
}

/// One call, and whether it is about to happen: the `nth` of its kind, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// What is called.
    pub verb: Verb,
    /// Before it, or after it took effect.
    pub when: When,
    /// How many of the same verb and side came before.
    pub nth: usize,
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// With an error number of the operating system.
    Errno(i32),
    /// With the status of a server of objects.
    Status(u16),
    /// Not at all, but late; in milliseconds.
    Late(u64),
}

/// How long it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    /// That call alone.
    Once,
    /// All later calls of its verb and side.
    Sticky,
    /// All later calls whatever: the process died, as far as anybody outside can tell.
    Dead,
}

/// One fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub at: Call,
    /// How.
    pub what: What,
    /// How long.
    pub lasting: Lasting,
}

/// Errors that calls fail with; they take turns.
pub const ERRORS: [What; 6] = [
    // EIO, ENOSPC, ETIMEDOUT, EACCES
    What::Errno(5),
    What::Errno(28),
    What::Errno(110),
    What::Status(503),
    What::Errno(13),
    What::Status(409),
];

/// Each call of a clean run failing: once, from then on, and as the last that its process makes.
pub fn every_fault(calls: &[Call]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (number, at) in calls.iter().enumerate() {
        let what = ERRORS[number % ERRORS.len()];
        // To die after a call is to die before the next one.
        let dies = at.when == When::Before || number + 1 == calls.len();
        let lastings = [Some(Lasting::Once), Some(Lasting::Sticky), dies.then_some(Lasting::Dead)];
        faults.extend(lastings.into_iter().flatten().map(|lasting| Fault { at: *at, what, lasting }));
    }
    faults
}

/// Any fault at any of the calls, late ones among them.
///
/// # Panics
/// There are no calls.
pub fn any_fault(calls: &[Call], numbers: &mut Numbers) -> Fault {
    let at = *numbers.pick(calls);
    let lasting = *numbers.pick(&[Lasting::Once, Lasting::Sticky, Lasting::Dead]);
    match numbers.below(8) {
        0 => Fault { at, what: What::Late(1 + numbers.below(200)), lasting: Lasting::Once },
        _ => Fault { at, what: *numbers.pick(&ERRORS), lasting },
    }
}

/// Counts calls and makes them fail by plan. Records nothing and fails nothing until it is told to.
#[derive(Default)]
pub struct Faulty(Mutex<Plan>);

#[derive(Default)]
struct Plan {
    on: bool,
    fault: Option<Fault>,
    struck: bool,
    counts: BTreeMap<(Verb, When), usize>,
    calls: Vec<Call>,
}

impl fmt::Debug for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Faulty({:?})", self.plan().fault)
    }
}

impl Faulty {
    /// Begins to count, and fails as `fault` says; without one, nothing fails.
    pub fn start(&self, fault: Option<Fault>) {
        *self.plan() = Plan { on: true, fault, ..Plan::default() };
    }

    /// Ends all faults. The calls that were made, in their order, and whether the fault struck.
    pub fn stop(&self) -> (Vec<Call>, bool) {
        let plan = std::mem::take(&mut *self.plan());
        (plan.calls, plan.struck)
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a call in; how it fails, if it does.
    pub(crate) fn ask(&self, verb: Verb, when: When) -> Option<What> {
        let mut plan = self.plan();
        if !plan.on {
            return None;
        }
        let count = plan.counts.entry((verb, when)).or_default();
        let call = Call { verb, when, nth: *count };
        *count += 1;
        plan.calls.push(call);
        let fault = plan.fault?;
        let strikes = fault.at == call;
        let goes_on = plan.struck
            && match fault.lasting {
                Lasting::Once => false,
                Lasting::Sticky => (fault.at.verb, fault.at.when) == (verb, when),
                Lasting::Dead => true,
            };
        plan.struck |= strikes;
        (strikes || goes_on).then_some(fault.what)
    }
}

impl Faults for Faulty {
    fn at(&self, step: Step, when: When) -> io::Result<()> {
        match self.ask(Verb::Step(step), when) {
            None => Ok(()),
            Some(What::Late(millis)) => {
                std::thread::sleep(Duration::from_millis(millis));
                Ok(())
            }
            Some(What::Errno(number)) => Err(io::Error::from_raw_os_error(number)),
            Some(What::Status(status)) => Err(io::Error::other(said(status))),
        }
    }
}

/// What a server of objects says.
pub(crate) fn said(status: u16) -> String {
    let word = match status {
        409 => "Conflict",
        503 => "Service Unavailable",
        _ => "Error",
    };
    format!("the server answered {status} {word}")
}
