mod ready_made;

use super::{
    Snapshot, Store,
    root::{Root, has_key, hash_key},
    trie::{Entry, Trie},
};
use crate::{Key, Object};
use hashbrown::DefaultHashBuilder;
use std::{
    any::Any,
    borrow::Borrow,
    fmt,
    hash::{BuildHasher, Hash},
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
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
            objects.insert(Entry::new(key, 0, Arc::clone(object)), |held| super::root::same_key(held, object));
        };
        match self.postings.get_mut(hash, |posting| posting.value == *value) {
            Some(posting) => add(&mut Arc::make_mut(posting).objects),
            None => {
                let mut objects = Trie::new();
                add(&mut objects);
                let posting = Arc::new(Posting { value: value.clone(), objects });
                self.postings.insert(Entry::new(hash, 0, posting), |_| false);
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

/// An index of a store: objects by any value that is computed from them.
///
/// Reads the present state, or with [`Snapshot::by`] any snapshot. Kept up to date as long as a handle to it exists.
#[doc(alias("Indexer", "IndexFunc"))]
pub struct Index<K, V> {
    id: u64,
    name: Arc<str>,
    store: Store<K>,
    values: Values<K, V>,
    alive: Arc<()>,
}

impl<K, V> Clone for Index<K, V> {
    fn clone(&self) -> Self {
        Index {
            id: self.id,
            name: Arc::clone(&self.name),
            store: self.store.clone(),
            values: Arc::clone(&self.values),
            alive: Arc::clone(&self.alive),
        }
    }
}

impl<K, V> fmt::Debug for Index<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<K: Object> Store<K> {
    /// Indexes the objects by values that are computed from them, at any time: on live data it is built at once.
    ///
    /// Any number of values for each object, of any type that is `Hash + Eq`. `values` must give the same for the same
    /// object each time. It runs where events are folded, under no lock; where it panics, the event changes nothing.
    /// `name` is for logs.
    ///
    /// ```
    /// use listwatch::{Object, Raw, Store};
    ///
    /// let pod = |name: &str| Raw::decode(format!(r#"{{"metadata":{{"namespace":"shop","name":"{name}"}}}}"#).as_bytes());
    /// let store = Store::of([pod("cart")?, pod("till")?]);
    /// let by_letter = store.index("by-first-letter", |pod: &Raw| pod.identity().name.chars().next());
    ///
    /// assert_eq!(by_letter.get(&'c').len(), 1);
    /// let snapshot = store.snapshot();
    /// assert_eq!(snapshot.by(&by_letter).count(&'x'), 0);
    /// # Ok::<(), listwatch::DecodeError>(())
    /// ```
    pub fn index<V: IndexValue, I: IntoIterator<Item = V>>(
        &self,
        name: &str,
        values: impl Fn(&K) -> I + Send + Sync + 'static,
    ) -> Index<K, V> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let id = NEXT.fetch_add(1, Relaxed);
        let values: Values<K, V> = Arc::new(move |object, out| out.extend(values(object)));
        let alive = Arc::new(());
        let mut built: Option<(Typed<K, V>, Trie<Arc<K>>)> = None;
        self.shared().update(|root| {
            let (mut typed, objects) = match built.take() {
                Some(built) => built,
                None => {
                    let (values, hasher) = (Arc::clone(&values), root.hasher.clone());
                    (Typed { values, postings: Trie::new(), hasher }, Trie::new())
                }
            };
            for (old, new) in objects.diff(&root.objects, super::root::same_key, Arc::ptr_eq) {
                typed.apply(old.as_ref().and_then(Entry::item), new.as_ref().and_then(Entry::item));
            }
            let mut next = Root::clone(root);
            next.indexes.0.retain(|slot| slot.alive.strong_count() > 0);
            next.indexes.0.push(Slot { id, alive: Arc::downgrade(&alive), index: typed.fork() });
            built = Some((typed, root.objects.clone()));
            (Some(next), ())
        });
        Index { id, name: name.into(), store: self.clone(), values, alive }
    }
}

impl<K: Object, V: IndexValue> Index<K, V> {
    /// The objects of a value now, in no order.
    pub fn get<Q: ?Sized + Hash + Eq>(&self, value: &Q) -> Vec<Arc<K>>
    where
        V: Borrow<Q>,
    {
        self.store.snapshot().by(self).get(value).cloned().collect()
    }

    /// How many objects have a value now.
    pub fn count<Q: ?Sized + Hash + Eq>(&self, value: &Q) -> usize
    where
        V: Borrow<Q>,
    {
        self.store.snapshot().by(self).count(value)
    }

    /// The values that objects have now, in no order.
    pub fn values(&self) -> Vec<V> {
        self.store.snapshot().by(self).values()
    }

    pub(super) fn store(&self) -> &Store<K> {
        &self.store
    }

    /// The objects of a value in any root. Keeps the index, not the store.
    pub(super) fn posting(&self, value: V) -> super::subscribe::Posting<K> {
        let (id, alive) = (self.id, Arc::clone(&self.alive));
        Arc::new(move |root| {
            let _kept_up = &alive;
            root.indexes.typed::<V>(id).and_then(|typed| typed.posting(&value)).map_or_else(Trie::new, Trie::clone)
        })
    }
}

/// One index within one snapshot: see [`Snapshot::by`].
pub struct IndexView<'a, K, V> {
    root: &'a Root<K>,
    /// `None` in a snapshot that is older than the index, or of another store: there the objects are looked through.
    typed: Option<&'a Typed<K, V>>,
    values: Values<K, V>,
}

impl<K: Object> Snapshot<K> {
    /// What an index says of this state.
    ///
    /// In a snapshot that was taken before the index was made, each lookup goes through all objects.
    pub fn by<V: IndexValue>(&self, index: &Index<K, V>) -> IndexView<'_, K, V> {
        let root = self.root();
        IndexView { root, typed: root.indexes.typed(index.id), values: Arc::clone(&index.values) }
    }
}

impl<'a, K: Object, V: IndexValue> IndexView<'a, K, V> {
    /// The objects of a value, in no order.
    pub fn get<'q, Q: ?Sized + Hash + Eq>(
        &self,
        value: &'q Q,
    ) -> impl Iterator<Item = &'a Arc<K>> + use<'a, 'q, K, V, Q>
    where
        V: Borrow<Q>,
    {
        let indexed = self.typed.and_then(|typed| typed.posting(value)).into_iter().flat_map(Trie::iter);
        let unindexed = self.typed.is_none().then(|| {
            let values = Arc::clone(&self.values);
            self.root.objects.iter().filter(move |object| of(&values, object).iter().any(|v| v.borrow() == value))
        });
        indexed.chain(unindexed.into_iter().flatten())
    }

    /// How many objects have a value.
    pub fn count<Q: ?Sized + Hash + Eq>(&self, value: &Q) -> usize
    where
        V: Borrow<Q>,
    {
        match self.typed {
            Some(typed) => typed.posting(value).map_or(0, Trie::len),
            None => self.get(value).count(),
        }
    }

    /// The values that objects have, in no order, each once.
    pub fn values(&self) -> Vec<V> {
        match self.typed {
            Some(typed) => typed.postings.iter().map(|posting| posting.value.clone()).collect(),
            None => {
                let all = self.root.objects.iter().flat_map(|object| of(&self.values, object));
                all.collect::<std::collections::HashSet<_>>().into_iter().collect()
            }
        }
    }
}

fn of<K, V>(values: &Values<K, V>, object: &K) -> Vec<V> {
    let mut out = Vec::new();
    values(object, &mut out);
    out
}

impl<K, V> fmt::Debug for IndexView<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexView").field("indexed", &self.typed.is_some()).finish_non_exhaustive()
    }
}
