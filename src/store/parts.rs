//! The parts of a store, as they stand in one root.

use super::{
    State,
    trie::{Entry, Trie},
};
use crate::{Key, Object, ResourceVersion, Unreadable};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// What never changes of a part, and what changes too often to be published.
#[derive(Debug)]
pub(super) struct Fixed {
    pub(super) id: u32,
    pub(super) name: Arc<str>,
    /// When an event came last, as [`Meters`](super::stats::Meters) counts time.
    pub(super) heard: AtomicU64,
}

/// One part, as it stands in one root.
pub(super) struct PartState<K> {
    pub(super) fixed: Arc<Fixed>,
    /// A stream feeds it.
    pub(super) in_use: bool,
    /// It is being taken out: nothing more is taken from its stream.
    pub(super) removed: bool,
    /// A snapshot was completed, or restored.
    pub(super) complete: bool,
    pub(super) state: State,
    pub(super) version: ResourceVersion,
    /// What the user says its objects come from.
    pub(super) source: Option<Arc<str>>,
    /// What it holds; empty where it holds everything: see [`Owner`](super::root::Owner).
    pub(super) objects: Trie<Arc<K>>,
    pub(super) unreadable: Trie<Arc<Unreadable>>,
}

impl<K> Clone for PartState<K> {
    fn clone(&self) -> Self {
        PartState {
            fixed: Arc::clone(&self.fixed),
            in_use: self.in_use,
            removed: self.removed,
            complete: self.complete,
            state: self.state.clone(),
            version: self.version.clone(),
            source: self.source.clone(),
            objects: self.objects.clone(),
            unreadable: self.unreadable.clone(),
        }
    }
}

impl<K: Object> PartState<K> {
    pub(super) fn new(id: u32, name: Arc<str>) -> Self {
        PartState {
            fixed: Arc::new(Fixed { id, name, heard: AtomicU64::new(0) }),
            in_use: false,
            removed: false,
            complete: false,
            state: State::Empty,
            version: ResourceVersion::default(),
            source: None,
            objects: Trie::new(),
            unreadable: Trie::new(),
        }
    }

    /// Takes the version of an event: an empty one moves nothing, nor does a deletion's older one.
    pub(super) fn reach(&mut self, version: &str, deletion: bool) {
        if version.is_empty() || self.version == version {
            return;
        }
        let version = ResourceVersion::from(version);
        if !deletion || version.partial_cmp(&self.version) != Some(std::cmp::Ordering::Less) {
            self.version = version;
        }
    }

    /// Whether publishing this instead of `before` tells readers anything. Content is not looked at.
    pub(super) fn differs(&self, before: &Self) -> bool {
        self.state != before.state
            || self.version != before.version
            || self.complete != before.complete
            || !self.unreadable.same(&before.unreadable)
    }

    pub(super) fn mark_readable(&mut self, hash: u32, key: Key<'_>) {
        self.unreadable.remove(hash, |held| held.key() == key);
    }

    pub(super) fn mark_unreadable(&mut self, hash: u32, object: &Unreadable) {
        let entry = Entry::new(hash, 0, Arc::new(object.clone()));
        self.unreadable.insert(entry, |a, b| a.key() == b.key());
    }

    pub(super) fn heard(&self) -> u64 {
        self.fixed.heard.load(Relaxed)
    }
}

/// All parts by their numbers.
pub(super) struct Parts<K>(Trie<Arc<PartState<K>>>);

impl<K> Clone for Parts<K> {
    fn clone(&self) -> Self {
        Parts(self.0.clone())
    }
}

fn spread(id: u32) -> u32 {
    id.wrapping_mul(0x9E37_79B9)
}

impl<K> Parts<K> {
    /// Names and states, to be shown.
    pub(super) fn states(&self) -> Vec<(Arc<str>, State)> {
        self.0.iter().map(|part| (Arc::clone(&part.fixed.name), part.state.clone())).collect()
    }
}

impl<K: Object> Parts<K> {
    pub(super) fn new() -> Self {
        Parts(Trie::new())
    }

    pub(super) fn get(&self, id: u32) -> Option<&Arc<PartState<K>>> {
        self.0.get(spread(id), |part| part.fixed.id == id)
    }

    pub(super) fn name(&self, id: u32) -> Arc<str> {
        self.get(id).map_or_else(|| "".into(), |part| Arc::clone(&part.fixed.name))
    }

    pub(super) fn put(&mut self, part: PartState<K>) {
        let id = part.fixed.id;
        self.0.insert(Entry::new(spread(id), 0, Arc::new(part)), |a, b| a.fixed.id == b.fixed.id);
    }

    pub(super) fn remove(&mut self, id: u32) {
        self.0.remove(spread(id), |part| part.fixed.id == id);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<PartState<K>>> {
        self.0.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn named(&self, name: &str) -> Option<&Arc<PartState<K>>> {
        self.iter().find(|part| &*part.fixed.name == name && !part.removed)
    }

    pub(super) fn in_use(&self) -> bool {
        self.iter().any(|part| part.in_use)
    }

    /// Those that say how far the store is: the ones with a stream or, where none has one, all that are complete.
    pub(super) fn counted(&self) -> impl Iterator<Item = &Arc<PartState<K>>> {
        let in_use = self.in_use();
        self.iter().filter(move |part| if in_use { part.in_use } else { part.complete })
    }
}
