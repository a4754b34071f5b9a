//! One function over many items on some threads, results in the order of the items.

use std::sync::atomic::{AtomicUsize, Ordering};

use oncemore_lint::Spread;

/// Stack of a thread: expressions nest as deeply as the parser lets them.
const STACK_BYTES: usize = 16 << 20;

/// `work` done on each item by at most `threads` threads.
///
/// # Panics
/// Where `work` does.
pub fn map<'t, T: Sync, R: Send>(items: &'t [T], threads: usize, work: impl Fn(&'t T) -> R + Sync) -> Vec<R> {
    if threads <= 1 || items.len() <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let (next, work) = (&next, &work);
    let worker = move || {
        let mut done: Vec<(usize, R)> = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, work(item)));
        }
    };
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let started: Vec<_> = (1..threads.min(items.len()))
            .filter_map(|_| {
                let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
                // A machine that gives no more threads has to do with those there are.
                builder.spawn_scoped(scope, worker).ok()
            })
            .collect();
        let mut results = worker();
        for thread in started {
            match thread.join() {
                Ok(done) => results.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    results.sort_unstable_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

/// So many threads, for what lint spreads itself.
#[derive(Clone, Copy, Debug)]
pub struct Threads(pub usize);

impl Spread for Threads {
    fn map<'t, T: Sync, R: Send>(&self, items: &'t [T], work: impl Fn(&'t T) -> R + Sync) -> Vec<R> {
        map(items, self.0, work)
    }
}

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        let doubled: Vec<usize> = items.iter().map(|item| item * 2).collect();
        assert_eq!(map(&items, 4, |item| item * 2), doubled);
        assert_eq!(map(&items, 1, |item| item * 2), doubled);
        assert!(map(&[] as &[usize], 4, |item| *item).is_empty());
    }
}
