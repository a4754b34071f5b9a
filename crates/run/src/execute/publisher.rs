//! Publishes what is ready, several slices in one commit where they are ready together.
//!
//! A thread of its own: a commit syncs to disk and holds the catalog's write lock, which no worker of the engine
//! should wait for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use oncemore_commit::{CommitError, Publish, Published, Warehouse};
use tokio::sync::oneshot;

/// Most slices in one commit.
const GROUP_MAX: usize = 64;
/// How long a ready slice waits for company while others are still being computed.
const LINGER: Duration = Duration::from_millis(120);

type Answer = oneshot::Sender<Result<Published, CommitError>>;

/// Hands ready slices to the committing thread.
#[derive(Clone)]
pub(super) struct Publisher {
    ready: Sender<Option<(Publish, Answer)>>,
    /// Tasks that may still hand something in.
    expected: Arc<AtomicUsize>,
}

impl Publisher {
    /// Starts the thread. It ends once all handles are gone.
    pub(super) fn start(warehouse: Warehouse, single: bool) -> Publisher {
        let (ready, arrivals) = channel();
        let expected = Arc::new(AtomicUsize::new(0));
        let waiting = Arc::clone(&expected);
        let group_max = if single { 1 } else { GROUP_MAX };
        std::thread::spawn(move || commit_loop(&warehouse, &arrivals, &waiting, group_max));
        Publisher { ready, expected }
    }

    /// Announces tasks: while any of them is under way, ready ones may wait a moment for company.
    pub(super) fn expect(&self, tasks: usize) {
        self.expected.fetch_add(tasks, Ordering::AcqRel);
    }

    /// Takes an announcement back: the task has nothing to publish.
    pub(super) fn give_up(&self) {
        self.expected.fetch_sub(1, Ordering::AcqRel);
        // Wakes the thread, which may be lingering for this task.
        let _ = self.ready.send(None);
    }

    /// Publishes one slice of an announced task and waits for the answer.
    pub(super) async fn publish(&self, publish: Publish) -> Result<Published, CommitError> {
        let (answer, answered) = oneshot::channel();
        let sent = self.ready.send(Some((publish, answer)));
        self.expected.fetch_sub(1, Ordering::AcqRel);
        match (sent, answered.await) {
            (Ok(()), Ok(result)) => result,
            // Without an answer nobody knows whether the commit took place.
            _ => Err(CommitError::Unknown {
                doing: "hear from the committing thread".to_owned(),
                reason: "it ended early".to_owned(),
            }),
        }
    }
}

fn commit_loop(
    warehouse: &Warehouse,
    arrivals: &Receiver<Option<(Publish, Answer)>>,
    expected: &AtomicUsize,
    group_max: usize,
) {
    while let Ok(first) = arrivals.recv() {
        let mut group: Vec<(Publish, Answer)> = first.into_iter().collect();
        if group.is_empty() {
            continue;
        }
        let mut patience = LINGER;
        while group.len() < group_max {
            let wait = if expected.load(Ordering::Acquire) == 0 { Duration::ZERO } else { patience };
            match arrivals.recv_timeout(wait) {
                Ok(Some(next)) => group.push(next),
                Ok(None) => patience = patience.saturating_sub(Duration::from_millis(5)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        let (slices, answers): (Vec<Publish>, Vec<Answer>) = group.into_iter().unzip();
        for (result, answer) in warehouse.publish(slices).into_iter().zip(answers) {
            // The task may have been dropped at a stop; what is published stays published.
            let _ = answer.send(result);
        }
    }
}
