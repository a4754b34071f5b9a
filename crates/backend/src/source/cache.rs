//! Small sources, decoded once: a dimension that 365 tasks join is read for the first of them alone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use oncemore_core::Digest;
use tokio::sync::OnceCell;

/// Largest input that is kept, decoded.
pub(crate) const LARGEST: usize = 64 << 20;

/// What was decoded; `None` for an input that is too large to keep.
type Slot = Arc<OnceCell<Option<Arc<Vec<RecordBatch>>>>>;

/// Decoded batches of small inputs by name and version, bounded in total.
#[derive(Debug)]
pub struct ProviderCache {
    total: usize,
    slots: Mutex<Slots>,
}

#[derive(Debug, Default)]
struct Slots {
    used: usize,
    by_name: HashMap<String, (Digest, Slot, usize)>,
}

impl ProviderCache {
    /// A cache of `total` bytes at most.
    pub fn new(total: usize) -> Self {
        ProviderCache { total, slots: Mutex::default() }
    }

    /// The batches of `name` at `version`, decoded by `decode` where they are not there; `None` where they are too
    /// large to keep. `decode` gets the bytes that it may fill, and yields `None` beyond.
    pub(crate) async fn get<E, F>(
        &self,
        name: &str,
        version: Digest,
        decode: impl FnOnce(usize) -> F + Send,
    ) -> Result<Option<Arc<Vec<RecordBatch>>>, E>
    where
        F: Future<Output = Result<Option<Vec<RecordBatch>>, E>> + Send,
        E: Send,
    {
        let (slot, room) = self.slot(name, version);
        let found = slot
            .get_or_try_init(|| async {
                let Some(batches) = decode(room).await? else { return Ok(None) };
                let size = batches.iter().map(RecordBatch::get_array_memory_size).sum();
                Ok(self.reserve(name, version, size).then(|| Arc::new(batches)))
            })
            .await?;
        Ok(found.clone())
    }

    fn slot(&self, name: &str, version: Digest) -> (Slot, usize) {
        let slots = &mut *self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((own, slot, _)) = slots.by_name.get(name)
            && *own == version
        {
            return (Arc::clone(slot), LARGEST.min(self.total));
        }
        let slot = Slot::default();
        // Another version replaces the old one, whose readers keep their batches.
        if let Some((_, _, size)) = slots.by_name.insert(name.to_owned(), (version, Arc::clone(&slot), 0)) {
            slots.used -= size;
        }
        (slot, LARGEST.min(self.total - slots.used.min(self.total)))
    }

    fn reserve(&self, name: &str, version: Digest, size: usize) -> bool {
        let slots = &mut *self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = size <= LARGEST && slots.used + size <= self.total;
        match slots.by_name.get_mut(name) {
            Some((own, _, taken)) if *own == version && fits => {
                *taken = size;
                slots.used += size;
                true
            }
            _ => false,
        }
    }
}
