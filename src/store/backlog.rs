//! Objects of a long snapshot, kept back until many of them go to the same place.
//!
//! The trie of a million objects fits into no cache, and an object whose hash leads anywhere waits for memory at each
//! node. Those whose hashes begin alike, in the order of their hashes, wait once for many.

use std::sync::Arc;

const BITS: u32 = 8;
/// The trie of a smaller content fits into a cache.
const FROM: usize = 65_536;
/// What is kept back for a place is a third of what is there, so that it is gone through few times, and little is left
/// for the end of the snapshot.
const SHARE: usize = 3 << BITS;
const LEAST: usize = 64;

pub(super) struct Backlog<K>(Vec<Vec<(u32, Arc<K>)>>);

impl<K> Backlog<K> {
    pub(super) fn new() -> Self {
        Backlog(Vec::new())
    }

    /// Whether it pays, with so many objects held.
    pub(super) fn pays(&self, held: usize) -> bool {
        held >= FROM
    }

    /// Keeps one back. Whether it is time to take those of its kind, with so many objects held.
    pub(super) fn push(&mut self, hash: u32, object: Arc<K>, held: usize) -> bool {
        if self.0.is_empty() {
            self.0.resize_with(1 << BITS, Vec::new);
        }
        let kind = &mut self.0[place(hash)];
        kind.push((hash, object));
        kind.len() >= LEAST.max(held / SHARE)
    }

    /// What is kept back of a hash's kind, in the order of hashes; of one hash, as they came.
    pub(super) fn take(&mut self, hash: u32) -> Vec<(u32, Arc<K>)> {
        self.0.get_mut(place(hash)).map(sorted).unwrap_or_default()
    }

    /// Everything, in the same order.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = (u32, Arc<K>)> + use<K> {
        std::mem::take(&mut self.0).into_iter().flat_map(|mut kind| sorted(&mut kind))
    }
}

fn place(hash: u32) -> usize {
    (hash >> (u32::BITS - BITS)) as usize
}

fn sorted<K>(kind: &mut Vec<(u32, Arc<K>)>) -> Vec<(u32, Arc<K>)> {
    let mut taken = std::mem::take(kind);
    taken.sort_by_key(|(hash, _)| *hash);
    taken
}
