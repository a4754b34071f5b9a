//! Work on many things side by side: reading and encoding files keeps every processor busy.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{CommitError, Result};

/// More threads would only take memory from each other.
const MOST: usize = 8;

/// What `work` makes of each of the things, in their order. Ends at the first error.
pub(crate) fn map<T: Sync, R: Send>(things: &[T], work: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
    if things.len() <= 1 {
        return things.iter().map(work).collect();
    }
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(MOST).min(things.len());
    let next = AtomicUsize::new(0);
    let one = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(thing) = things.get(place) else { return Ok(done) };
            match work(thing) {
                Ok(result) => done.push((place, result)),
                Err(error) => {
                    next.store(things.len(), Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    };
    let parts = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(one)).collect();
        let own = one();
        let died = |_| Err(CommitError::Internal("a thread of a fold died".to_owned()));
        let others = others.into_iter().map(|thread| thread.join().unwrap_or_else(died));
        std::iter::once(own).chain(others).collect::<Vec<_>>()
    });
    let mut all = Vec::with_capacity(things.len());
    for part in parts {
        all.extend(part?);
    }
    all.sort_unstable_by_key(|(place, _)| *place);
    Ok(all.into_iter().map(|(_, result)| result).collect())
}
