//! The claims of a run: taken a batch of tasks at a time, kept alive while the batch is worked on, waited for where
//! another run holds them.
//!
//! A run that waits holds nothing itself, so that two never wait for each other.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant as Clock};

use oncemore_commit::{Claim, ClaimRequest, Claimed, Warehouse};
use oncemore_core::{Interval, TableName};

use super::{Event, Observer, RunOptions, Stop};
use crate::error::{ErrorKind, RunError};

/// Pauses between two looks at a claim that is waited for.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));
/// Signs of life in the length of a lease.
const BEATS: u32 = 5;
/// No claim is held.
const NONE: i64 = 0;

/// How a run claims its work, and who says so.
#[derive(Clone, Debug)]
pub struct ClaimOptions {
    /// Who runs it, for those who have to wait.
    pub user: String,
    /// What they typed.
    pub command: String,
    /// How long to wait for claims of other runs; `None`: not at all.
    pub wait: Option<Duration>,
}

/// What came of asking for a claim.
pub(super) enum Asked {
    /// It is held now; `waited` where another run held it before.
    Granted { waited: bool },
    /// Another run holds it, and there is no more time to wait.
    Held(Claim),
    /// The run was stopped meanwhile.
    Stopped,
}

/// Takes claims for a run and keeps the one that it holds alive, on a thread of its own: neither a busy engine nor a slow
/// commit holds up a sign of life.
pub(super) struct Claims {
    warehouse: Warehouse,
    options: ClaimOptions,
    deadline: Option<Clock>,
    lease: Duration,
    held: Arc<AtomicI64>,
    lost: Lost,
    /// Process that was last said to be waited for.
    said: Option<String>,
    /// Ends the thread when it goes.
    _beating: Sender<()>,
}

/// Whether the claim that is being worked under is gone: another run took it over, or somebody broke it.
#[derive(Clone, Default)]
pub(super) struct Lost(Arc<RwLock<Arc<AtomicBool>>>);

impl Lost {
    /// The state of the claim held now.
    pub(super) fn of_current(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn renew(&self) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::default();
    }
}

impl Claims {
    pub(super) fn start(warehouse: Warehouse, options: &RunOptions, lease_micros: i64) -> Claims {
        let lease = Duration::from_micros(lease_micros.unsigned_abs());
        let (held, lost) = (Arc::new(AtomicI64::new(NONE)), Lost::default());
        let (beating, ended) = channel::<()>();
        let (of_thread, by_thread, lost_by) = (warehouse.clone(), Arc::clone(&held), lost.clone());
        std::thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(lease / BEATS) {
                let (id, state) = (by_thread.load(Ordering::Acquire), lost_by.of_current());
                // A ledger that can't be written now may be at the next beat; the lease is longer than one.
                if id != NONE
                    && let Ok(false) = of_thread.renew_claim(id)
                    && by_thread.load(Ordering::Acquire) == id
                {
                    state.store(true, Ordering::Release);
                }
            }
        });
        Claims {
            warehouse,
            options: options.claims.clone(),
            deadline: options.claims.wait.map(|wait| Clock::now() + wait),
            lease,
            held,
            lost,
            said: None,
            _beating: beating,
        }
    }

    /// Whether the claim under which a task works is gone.
    pub(super) fn lost(&self) -> Arc<AtomicBool> {
        self.lost.of_current()
    }

    /// Takes a claim on all the slices; waits for other runs as long as there is time.
    pub(super) async fn take(
        &mut self,
        request: u64,
        slices: Vec<(TableName, Interval)>,
        observer: &Arc<dyn Observer>,
        stop: &Stop,
    ) -> Result<Asked, RunError> {
        let wanted = ClaimRequest {
            request,
            user: self.options.user.clone(),
            command: self.options.command.clone(),
            lease_micros: i64::try_from(self.lease.as_micros()).unwrap_or(i64::MAX),
            slices,
        };
        let (mut pause, mut waited) = (PAUSES.0, false);
        loop {
            let by = match self.warehouse.claim(&wanted)? {
                Claimed::Granted(id) => {
                    self.lost.renew();
                    self.held.store(id, Ordering::Release);
                    return Ok(Asked::Granted { waited });
                }
                Claimed::Held(by) => by,
            };
            let Some(first) = by.into_iter().next() else {
                return Err(RunError::new(ErrorKind::Internal, "a claim that nobody holds was refused"));
            };
            if stop.is_stopped() {
                return Ok(Asked::Stopped);
            }
            if self.deadline.is_none_or(|deadline| Clock::now() + pause > deadline) {
                return Ok(Asked::Held(first));
            }
            if self.said.as_ref() != Some(&first.process) {
                self.said = Some(first.process.clone());
                observer.event(Event::Waiting(first));
            }
            tokio::time::sleep(pause).await;
            (pause, waited) = ((pause * 2).min(PAUSES.1), true);
        }
    }

    /// Gives up the claim that is held.
    pub(super) fn release(&self) {
        let id = self.held.swap(NONE, Ordering::AcqRel);
        if id != NONE {
            // One that can't be given up now is soon known as that of a dead process.
            let _ = self.warehouse.release_claim(id);
        }
    }
}

impl Drop for Claims {
    fn drop(&mut self) {
        // An error on the way leaves the claim.
        self.release();
    }
}

/// What a task says whose claim is gone before it began to publish.
pub(super) fn lost() -> RunError {
    RunError::new(
        ErrorKind::Conflict,
        "the claim on it is gone: this process was stopped beyond its lease, and it is being worked on by another run or \
         was published there; or somebody broke the claim",
    )
    .help("see `oncemore claims`, then run the same command again")
}

/// What a run says that can't have its claim.
pub(super) fn held(claim: &Claim, others: usize) -> RunError {
    let more = match others {
        0 => String::new(),
        others => format!(", and {} of this run with it", crate::number::plural(others, "more slice")),
    };
    let (host, process) = claim.holder();
    RunError::new(
        ErrorKind::Conflict,
        format!(
            "another run is working on it{more}: `{}` of {} (process {process} on {host}, request {}), since {}, claim {}",
            claim.command, claim.user, claim.request, claim.since, claim.id
        ),
    )
    .help(format!(
        "wait for it with `--wait 10m`; `oncemore claims` shows who is at work, `oncemore claims break {}` pushes it aside",
        claim.id
    ))
}
