//! One state of a store, immutable once it is published.

use super::{
    State,
    changes::Changes,
    index::Indexes,
    parts::{PartState, Parts},
    trie::{Diff, Entry, Trie},
};
use crate::{Key, Object, ResourceVersion};
use hashbrown::DefaultHashBuilder;
use std::{
    hash::{BuildHasher, Hasher},
    sync::Arc,
};

pub(super) struct Root<K> {
    /// Everything that is held, tagged with the part that brought it.
    pub(super) objects: Trie<Arc<K>>,
    pub(super) indexes: Indexes<K>,
    pub(super) parts: Parts<K>,
    pub(super) owner: Owner,
    pub(super) counts: Counts,
    /// What the last publication that told anything did, for subscribers in pace; `None` where it is not kept.
    pub(super) step: Option<Changes<K>>,
    pub(super) last_failure: Option<Arc<str>>,
    pub(super) hasher: DefaultHashBuilder,
}

/// Which part holds what. As long as one part holds everything, it needs no set of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Sole(u32),
    Many,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Publications that told something.
    pub(super) told: u64,
    /// Publications that changed content or ended a snapshot.
    pub(super) touched: u64,
    /// Snapshots ended.
    pub(super) snapshots: u64,
    /// Snapshots that ended at a lower version than before.
    pub(super) rewinds: u64,
    /// How often the store closed.
    pub(super) closings: u64,
    pub(super) closed: bool,
    /// A stream has fed it; before the first it cannot close.
    pub(super) opened: bool,
    /// How many hold the store open.
    pub(super) keepers: u32,
    /// Parts ever made.
    pub(super) parts: u32,
}

impl<K> Clone for Root<K> {
    fn clone(&self) -> Self {
        Root {
            objects: self.objects.clone(),
            indexes: self.indexes.clone(),
            parts: self.parts.clone(),
            owner: self.owner,
            counts: self.counts,
            step: self.step.clone(),
            last_failure: self.last_failure.clone(),
            hasher: self.hasher.clone(),
        }
    }
}

pub(super) fn has_key<K: Object>(object: &K, key: Key<'_>) -> bool {
    let identity = object.identity();
    identity.name == key.name && identity.namespace == key.namespace
}

pub(super) fn same_key<K: Object>(a: &Arc<K>, b: &Arc<K>) -> bool {
    has_key(&**a, Key::of(&**b))
}

/// Same uid and same version, neither empty.
pub(super) fn unchanged<K: Object>(a: &K, b: &K) -> bool {
    a.identity().is_unchanged_from(&b.identity())
}

/// The part of the hash that a trie uses. That keys which run together (`a/bc` and `ab/c`) may have the same costs less
/// than telling them apart.
#[inline]
pub(super) fn hash_key(hasher: &DefaultHashBuilder, key: Key<'_>) -> u32 {
    let mut hash = hasher.build_hasher();
    hash.write(key.namespace.as_bytes());
    hash.write(key.name.as_bytes());
    (hash.finish() >> 32) as u32
}

impl<K: Object> Root<K> {
    pub(super) fn new() -> Self {
        Root {
            objects: Trie::new(),
            indexes: Indexes::default(),
            parts: Parts::new(),
            owner: Owner::Many,
            counts: Counts::default(),
            step: None,
            last_failure: None,
            hasher: DefaultHashBuilder::default(),
        }
    }

    pub(super) fn hash(&self, key: Key<'_>) -> u32 {
        hash_key(&self.hasher, key)
    }

    pub(super) fn entry(&self, hash: u32, key: Key<'_>) -> Option<&Entry<Arc<K>>> {
        self.objects.entry(hash, |held| has_key(&**held, key))
    }

    pub(super) fn get(&self, key: Key<'_>) -> Option<&Arc<K>> {
        self.entry(self.hash(key), key)?.item()
    }

    pub(super) fn diff(&self, new: &Self) -> Diff<Arc<K>> {
        self.objects.diff(&new.objects, same_key, Arc::ptr_eq)
    }

    pub(super) fn state(&self) -> State {
        State::of_all(self.parts.iter().map(|part| &part.state))
    }

    /// Every part in use or restored is complete, and there is one.
    pub(super) fn is_ready(&self) -> bool {
        let mut complete = false;
        for part in self.parts.iter() {
            complete |= part.complete;
            if part.in_use && !part.complete {
                return false;
            }
        }
        complete
    }

    /// The lowest of the parts that count; `None` where one has none, or two cannot be compared.
    pub(super) fn version(&self) -> Option<&ResourceVersion> {
        let mut lowest: Option<&ResourceVersion> = None;
        for part in self.parts.counted() {
            lowest = match lowest {
                Some(lowest) if lowest.partial_cmp(&part.version)?.is_le() => Some(lowest),
                _ => Some(&part.version),
            };
        }
        lowest.filter(|version| !version.is_unset())
    }

    /// What a part holds.
    pub(super) fn members(&self, id: u32) -> Trie<Arc<K>> {
        match self.owner {
            Owner::Sole(owner) if owner == id => self.objects.clone(),
            Owner::Sole(_) => Trie::new(),
            Owner::Many => self.parts.get(id).map_or_else(Trie::new, |part| part.objects.clone()),
        }
    }

    /// Makes it known that a part is about to hold something.
    pub(super) fn claim(&mut self, id: u32) {
        match self.owner {
            _ if self.objects.is_empty() => self.owner = Owner::Sole(id),
            Owner::Sole(owner) if owner != id => self.share(owner),
            Owner::Sole(_) | Owner::Many => {}
        }
    }

    /// From here on each part has a set of its own.
    pub(super) fn share(&mut self, sole: u32) {
        if let Some(part) = self.parts.get(sole) {
            let mut part = PartState::clone(part);
            part.objects = self.objects.clone();
            self.parts.put(part);
        }
        self.owner = Owner::Many;
    }

    /// Puts an object in for a part; returns what was there. The part must have claimed.
    pub(super) fn put(&mut self, part: &mut PartState<K>, hash: u32, object: &Arc<K>) {
        let entry = || Entry::new(hash, part.fixed.id, Arc::clone(object));
        let old = self.objects.insert(entry(), same_key);
        if self.owner == Owner::Many {
            part.objects.insert(entry(), same_key);
        }
        self.indexes.apply(old.as_ref().and_then(Entry::item), Some(object));
    }

    /// Takes an object out for a part.
    pub(super) fn take(&mut self, part: &mut PartState<K>, hash: u32, key: Key<'_>) {
        let Some(old) = self.objects.remove(hash, |held| has_key(&**held, key)) else { return };
        if self.owner == Owner::Many {
            part.objects.remove(hash, |held| has_key(&**held, key));
        }
        self.indexes.apply(old.item(), None);
    }

    /// Something is told to whoever follows.
    pub(super) fn tell(&mut self, step: Option<Changes<K>>, content: bool) {
        self.counts.told += 1;
        self.counts.touched += u64::from(content);
        self.step = step;
    }

    /// Closes the store where nothing feeds it or keeps it open any more.
    pub(super) fn close_if_unfed(&mut self) {
        if self.counts.opened && !self.counts.closed && self.counts.keepers == 0 && !self.parts.in_use() {
            self.counts.closed = true;
            self.counts.closings += 1;
        }
    }
}
