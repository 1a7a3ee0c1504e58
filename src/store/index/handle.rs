use super::{Erased, Slot, Typed, Values};
use crate::{
    Object,
    store::{
        IndexValue, Snapshot, Store,
        root::{Root, same_key},
        subscribe::Posting,
        trie::{Entry, Trie},
    },
};
use std::{
    borrow::Borrow,
    fmt,
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

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
        let mut built = None;
        self.shared().update(|root| {
            let (mut typed, objects) = match built.take() {
                Some(built) => built,
                None => {
                    let (values, hasher) = (Arc::clone(&values), root.hasher.clone());
                    (Typed { values, postings: Trie::new(), hasher }, Trie::new())
                }
            };
            for (old, new) in objects.diff(&root.objects, same_key, Arc::ptr_eq) {
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

    pub(in crate::store) fn store(&self) -> &Store<K> {
        &self.store
    }

    /// The objects of a value in any root. Keeps the index, not the store.
    pub(in crate::store) fn posting(&self, value: V) -> Posting<K> {
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
