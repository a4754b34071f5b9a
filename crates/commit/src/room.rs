//! Memory that changes may be held in while they are taken in, all tasks of a process together. Knows nothing of what is
//! held.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory that several share; clones are the same memory.
#[derive(Clone, Debug)]
pub struct Room(Arc<AtomicUsize>);

impl Room {
    /// So many bytes.
    pub fn new(bytes: usize) -> Room {
        Room(Arc::new(AtomicUsize::new(bytes)))
    }

    /// A share, of nothing yet, whose holder may hold so many bytes beside what is shared.
    pub(crate) fn share(&self, free: usize) -> Share {
        Share { room: self.clone(), taken: 0, held: 0, free }
    }
}

/// What one of several holds; given back when dropped.
#[derive(Debug)]
pub(crate) struct Share {
    room: Room,
    /// Taken out of the room.
    taken: usize,
    held: usize,
    free: usize,
}

impl Share {
    /// Holds more bytes; false, and nothing is changed, where there is no room for them.
    pub(crate) fn hold(&mut self, bytes: usize) -> bool {
        let held = self.held + bytes;
        let more = held.saturating_sub(self.free).saturating_sub(self.taken);
        let left = |left: usize| left.checked_sub(more);
        let has_room = self.room.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).is_ok();
        if has_room {
            (self.held, self.taken) = (held, self.taken + more);
        }
        has_room
    }

    /// Holds what another share of the same room held.
    pub(crate) fn join(&mut self, mut other: Share) {
        self.taken += std::mem::take(&mut other.taken);
        self.held += std::mem::take(&mut other.held);
        self.free += other.free;
    }

    /// Holds so many bytes less.
    pub(crate) fn let_go(&mut self, bytes: usize) {
        self.held = self.held.saturating_sub(bytes);
        let less = self.taken - self.taken.min(self.held.saturating_sub(self.free));
        self.taken -= less;
        self.room.0.fetch_add(less, Ordering::Relaxed);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.let_go(self.held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_is_shared_and_given_back() {
        let room = Room::new(100);
        let (mut one, mut other) = (room.share(10), room.share(10));
        assert!(one.hold(10) && one.hold(60) && other.hold(10));
        assert!(!other.hold(41), "40 of the room are left");
        assert!(other.hold(40) && !one.hold(1));
        one.let_go(5);
        assert!(!other.hold(6) && other.hold(5));
        one.let_go(65);
        assert!(other.hold(55) && !one.hold(11) && one.hold(10));
        one.join(other);
        assert!(!one.hold(1));
        one.let_go(120);
        assert!(one.hold(120) && !one.hold(1));
    }
}
