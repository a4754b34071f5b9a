//! Slice maps.

use oncemore_commit::from_disk;
use xxhash_rust::xxh3::xxh3_64;

/// Reads the bytes as a slice map, as they are and with check sums that are right.
pub fn run(bytes: &[u8]) {
    from_disk::slice_map(bytes);
    let mut sealed = bytes.to_vec();
    if seal(&mut sealed).is_some() {
        from_disk::slice_map(&sealed);
    }
}

/// Makes the check sums right: those of pages, which stand in the root, and that of the root, which ends the file.
fn seal(bytes: &mut [u8]) -> Option<()> {
    let tail = bytes.len().checked_sub(16)?;
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
    let root = usize::try_from(word(tail)).ok().filter(|root| *root <= tail)?;
    for (at, from, to) in homes(&bytes[..tail], root) {
        let page = bytes.get(from..to);
        let sum = u128::from(page.map_or(0, xxh3_64)).to_le_bytes();
        bytes[at..at + 16].copy_from_slice(&sum);
    }
    let sum = xxh3_64(&bytes[root..tail]);
    bytes[tail + 8..].copy_from_slice(&sum.to_le_bytes());
    Some(())
}

/// For each page that the root at `at` names, where its sum stands and where the page lies: as many as can be read.
fn homes(bytes: &[u8], at: usize) -> Vec<(usize, usize, usize)> {
    let mut input = Input { bytes, at };
    let mut found = Vec::new();
    let Some(count) = input.pages() else { return found };
    for _ in 0..count.min(bytes.len()) {
        let Some((from, length)) = input.home() else { break };
        found.push((input.at, from, from.saturating_add(length)));
        input.at += 16;
    }
    found.retain(|(at, ..)| at + 16 <= bytes.len());
    found
}

struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Input<'_> {
    fn number(&mut self) -> Option<usize> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(usize::try_from(value).unwrap_or(usize::MAX));
            }
        }
        None
    }

    /// Past the table of shared values and what comes before the pages; their number.
    fn pages(&mut self) -> Option<usize> {
        for _ in 0..self.number()? {
            self.at = self.number()?.saturating_add(self.at);
        }
        (0..4).try_for_each(|_| self.number().map(drop))?;
        self.number()
    }

    /// Offset and length of the next page.
    fn home(&mut self) -> Option<(usize, usize)> {
        self.number()?;
        Some((self.number()?, self.number()?))
    }
}
