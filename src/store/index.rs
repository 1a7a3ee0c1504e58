mod handle;
mod ready_made;
pub use self::handle::{Index, IndexView};

use super::{
    root::{Root, has_key, hash_key},
    trie::{Entry, Trie},
};
use crate::{Key, Object};
use hashbrown::DefaultHashBuilder;
use std::{
    any::Any,
    borrow::Borrow,
    hash::{BuildHasher, Hash},
    sync::{Arc, Weak},
};

/// What can be a value of an index.
pub trait IndexValue: Hash + Eq + Clone + Send + Sync + 'static {}
impl<V: Hash + Eq + Clone + Send + Sync + 'static> IndexValue for V {}

/// All indexes of one root.
pub(super) struct Indexes<K>(Vec<Slot<K>>);

struct Slot<K> {
    id: u64,
    /// As long as a handle exists.
    alive: Weak<()>,
    index: Arc<dyn Erased<K>>,
}

trait Erased<K>: Send + Sync {
    fn apply(&mut self, old: Option<&Arc<K>>, new: Option<&Arc<K>>);
    fn fork(&self) -> Arc<dyn Erased<K>>;
    fn emptied(&self) -> Arc<dyn Erased<K>>;
    fn as_any(&self) -> &dyn Any;
}

type Values<K, V> = Arc<dyn Fn(&K, &mut Vec<V>) + Send + Sync>;

/// One index in one state.
pub(super) struct Typed<K, V> {
    values: Values<K, V>,
    postings: Trie<Arc<Posting<K, V>>>,
    hasher: DefaultHashBuilder,
}

/// The objects of one value.
pub(super) struct Posting<K, V> {
    value: V,
    objects: Trie<Arc<K>>,
}

impl<K> Default for Indexes<K> {
    fn default() -> Self {
        Indexes(Vec::new())
    }
}

impl<K> Clone for Indexes<K> {
    fn clone(&self) -> Self {
        Indexes(self.0.clone())
    }
}

impl<K> Clone for Slot<K> {
    fn clone(&self) -> Self {
        Slot { id: self.id, alive: Weak::clone(&self.alive), index: Arc::clone(&self.index) }
    }
}

impl<K: Object> Indexes<K> {
    /// Moves an object from its old values to its new ones, in every index that has a handle.
    pub(super) fn apply(&mut self, old: Option<&Arc<K>>, new: Option<&Arc<K>>) {
        self.0.retain(|slot| slot.alive.strong_count() > 0);
        for slot in &mut self.0 {
            slot.apply(old, new);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As of no objects at all.
    pub(super) fn clear(&mut self) {
        self.0.iter_mut().for_each(|slot| slot.index = slot.index.emptied());
    }

    /// Takes over the indexes that were made since this was forked from an earlier root; `objects` is what it indexes.
    pub(super) fn catch_up(&mut self, present: &Root<K>, objects: &Trie<Arc<K>>) {
        self.0.retain(|slot| present.indexes.0.iter().any(|other| other.id == slot.id));
        for slot in &present.indexes.0 {
            if self.0.iter().any(|own| own.id == slot.id) {
                continue;
            }
            let mut slot = slot.clone();
            for (old, new) in present.objects.diff(objects, super::root::same_key, Arc::ptr_eq) {
                slot.apply(old.as_ref().and_then(Entry::item), new.as_ref().and_then(Entry::item));
            }
            self.0.push(slot);
        }
    }

    fn typed<V: IndexValue>(&self, id: u64) -> Option<&Typed<K, V>> {
        self.0.iter().find(|slot| slot.id == id)?.index.as_any().downcast_ref()
    }
}

impl<K> Slot<K> {
    fn apply(&mut self, old: Option<&Arc<K>>, new: Option<&Arc<K>>) {
        if Arc::get_mut(&mut self.index).is_none() {
            self.index = self.index.fork();
        }
        if let Some(index) = Arc::get_mut(&mut self.index) {
            index.apply(old, new);
        }
    }
}

impl<K, V> Clone for Typed<K, V> {
    fn clone(&self) -> Self {
        Typed { values: Arc::clone(&self.values), postings: self.postings.clone(), hasher: self.hasher.clone() }
    }
}

impl<K, V: Clone> Clone for Posting<K, V> {
    fn clone(&self) -> Self {
        Posting { value: self.value.clone(), objects: self.objects.clone() }
    }
}

impl<K: Object, V: IndexValue> Typed<K, V> {
    fn hash<Q: ?Sized + Hash>(&self, value: &Q) -> u32 {
        (self.hasher.hash_one(value) >> 32) as u32
    }

    fn posting<Q: ?Sized + Hash + Eq>(&self, value: &Q) -> Option<&Trie<Arc<K>>>
    where
        V: Borrow<Q>,
    {
        let posting = self.postings.get(self.hash(value), |posting| posting.value.borrow() == value)?;
        Some(&posting.objects)
    }

    fn put(&mut self, value: &V, object: &Arc<K>) {
        let hash = self.hash(value);
        let key = hash_key(&self.hasher, Key::of(&**object));
        let add = |objects: &mut Trie<Arc<K>>| {
            objects.insert(Entry::new(key, 0, Arc::clone(object)), super::root::same_key);
        };
        match self.postings.get_mut(hash, |posting| posting.value == *value) {
            Some(posting) => add(&mut Arc::make_mut(posting).objects),
            None => {
                let mut objects = Trie::new();
                add(&mut objects);
                let posting = Arc::new(Posting { value: value.clone(), objects });
                self.postings.insert(Entry::new(hash, 0, posting), |_, _| false);
            }
        }
    }

    fn take(&mut self, value: &V, object: &Arc<K>) {
        let hash = self.hash(value);
        let key = Key::of(&**object);
        let Some(posting) = self.postings.get_mut(hash, |posting| posting.value == *value) else { return };
        let posting = Arc::make_mut(posting);
        posting.objects.remove(hash_key(&self.hasher, key), |held| has_key(&**held, key));
        if posting.objects.is_empty() {
            self.postings.remove(hash, |posting| posting.value == *value);
        }
    }

    fn of(&self, object: Option<&Arc<K>>) -> Vec<V> {
        let mut values = Vec::new();
        if let Some(object) = object {
            (self.values)(object, &mut values);
        }
        values
    }
}

impl<K: Object, V: IndexValue> Erased<K> for Typed<K, V> {
    fn apply(&mut self, old: Option<&Arc<K>>, new: Option<&Arc<K>>) {
        // By what is stored, not by what a deletion carried: its values may differ.
        let (before, after) = (self.of(old), self.of(new));
        if let Some(old) = old {
            before.iter().filter(|value| !after.contains(value)).for_each(|value| self.take(value, old));
        }
        if let Some(new) = new {
            after.iter().for_each(|value| self.put(value, new));
        }
    }

    fn fork(&self) -> Arc<dyn Erased<K>> {
        Arc::new(self.clone())
    }

    fn emptied(&self) -> Arc<dyn Erased<K>> {
        let (values, hasher) = (Arc::clone(&self.values), self.hasher.clone());
        Arc::new(Typed { values, postings: Trie::new(), hasher })
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
