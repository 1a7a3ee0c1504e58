use super::{Snapshot, State, Stats, fold::StoreFold, part, parts::PartState, root::Root, shared::Shared};
use crate::{IntoFold, Key, Object, OwnedKey, ResourceVersion, Unreadable, ops::sealed::Sealed};
use std::{fmt, sync::Arc};
use tokio::time::Instant;

/// A live, consistent, indexed copy of objects, fed by streams and read by anyone.
///
/// A cheap handle: clones are the same store. [`reflect`](crate::EventStreamExt::reflect) given `&store` feeds it.
/// Readers always see one state that the source had: a snapshot becomes visible all at once at its end, and until then
/// the content before it is read. No reader ever waits for a writer, nor a writer for readers.
///
/// # Parts
///
/// Several streams may feed one store, as parts that come and go while it runs: see [`part`](Store::part). A stream
/// that ends leaves its objects, [`Stale`](State::Stale), to the next one of the same part.
///
/// # Closing
///
/// A store closes when its last stream ends (unless [`keep_open`](Store::keep_open) is held): subscriptions tell the
/// rest and end, waits fail. The content stays readable, and the next stream opens it again. Before the first it is
/// open.
///
/// # Memory
///
/// One `Arc` an object, shared with whoever else holds it, and some 30 bytes for its place. While a snapshot comes in,
/// what is new in it is held beside what it will replace; of unchanged objects no second copy is kept.
///
/// ```
/// use listwatch::{Event, Fold, IntoFold, Object, Raw, Store};
///
/// let pod = |version: u32| {
///     let json = format!(r#"{{"metadata":{{"namespace":"shop","name":"cart","uid":"u","resourceVersion":"{version}"}}}}"#);
///     Raw::decode(json.as_bytes())
/// };
/// let store = Store::<Raw>::new();
/// let mut fold = (&store).into_fold(); // what `.reflect(&store)` does
/// for event in [Event::SnapshotStart, Event::listed(pod(7)?), Event::SnapshotEnd("9".into())] {
///     fold.fold(event)?;
/// }
/// assert!(store.contains(("shop", "cart")));
/// assert_eq!(store.resource_version(), Some("9".into()));
/// assert!(store.state().is_live());
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[doc(alias("Indexer", "Lister", "cache", "ThreadSafeStore", "SharedInformer"))]
pub struct Store<K>(Arc<Shared<K>>);

impl<K> Clone for Store<K> {
    fn clone(&self) -> Self {
        Store(Arc::clone(&self.0))
    }
}

impl<K: Object> Default for Store<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for Store<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let root = self.0.load();
        let mut out = f.debug_struct("Store");
        out.field("objects", &root.objects.len()).field("parts", &root.parts.states());
        out.finish_non_exhaustive()
    }
}

impl<K: Object> Store<K> {
    /// An empty store, fed by nothing.
    pub fn new() -> Self {
        Store(Arc::new(Shared::new()))
    }

    /// A store of these objects, for tests: [`Live`](State::Live) and ready, without a version and without a stream.
    /// Of two objects of one key the later holds. A stream that feeds it takes the content over.
    pub fn of(objects: impl IntoIterator<Item = K>) -> Self {
        let store = Self::new();
        let objects: Vec<_> = objects.into_iter().map(Arc::new).collect();
        store.0.update(|root| {
            let mut next = Root::clone(root);
            let mut part = PartState::new(part::next_id(&mut next), "".into());
            (part.state, part.complete) = (State::Live, true);
            for object in &objects {
                next.claim(part.fixed.id);
                let hash = next.hash(Key::of(&**object));
                next.put(&mut part, hash, object);
            }
            next.parts.put(part);
            (Some(next), ())
        });
        store
    }

    pub(super) fn shared(&self) -> &Arc<Shared<K>> {
        &self.0
    }

    /// The object of a key. Allocates nothing.
    ///
    /// ```
    /// use listwatch::{Object, Raw, Store};
    ///
    /// let store = Store::of([Raw::decode(br#"{"metadata":{"name":"node-1"}}"#)?]);
    /// assert!(store.get("node-1").is_some());
    /// assert!(store.get(("shop", "node-1")).is_none());
    /// # Ok::<(), listwatch::DecodeError>(())
    /// ```
    pub fn get<'k>(&self, key: impl Into<Key<'k>>) -> Option<Arc<K>> {
        self.0.get(key.into())
    }

    /// Whether it holds an object of this key.
    pub fn contains<'k>(&self, key: impl Into<Key<'k>>) -> bool {
        self.get(key).is_some()
    }

    /// How many objects it holds.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it holds no object. Before the first snapshot is complete that says nothing: see [`ready`](Store::ready).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys of one state, in no order.
    pub fn keys(&self) -> impl Iterator<Item = OwnedKey> + use<K> {
        self.0.load().objects.clone().into_iter().map(|object| Key::of(&*object).to_owned())
    }

    /// One consistent state, in constant time whatever the size, to be held as long as wanted.
    pub fn snapshot(&self) -> Snapshot<K> {
        Snapshot::new(self.0.load())
    }

    /// The version that the content has reached, over several parts the lowest of those in use. `None` where one of
    /// them has none yet, or where two cannot be compared.
    #[doc(alias = "LastSyncResourceVersion")]
    pub fn resource_version(&self) -> Option<ResourceVersion> {
        self.0.load().version().cloned()
    }

    /// How far the content can be trusted: `Empty` if all parts are, else the worst of `Syncing`, `Stale`, `Live`.
    pub fn state(&self) -> State {
        self.0.load().state()
    }

    /// When anything came last from the source; resyncs are not from there.
    pub fn last_heard(&self) -> Option<Instant> {
        self.0.meters.last_heard()
    }

    /// What the store has seen so far.
    pub fn stats(&self) -> Stats {
        let root = self.0.load();
        let mut stats = self.0.meters.stats();
        stats.objects = root.objects.len() as u64;
        stats.parts = root.parts.len() as u64;
        stats.streams = root.parts.iter().filter(|part| part.in_use).count() as u64;
        stats
    }

    /// The objects that exist but do not decode, in no order. Where the store holds one of these keys, it holds the last
    /// state that could be read.
    pub fn unreadable(&self) -> Vec<Unreadable> {
        self.0
            .load()
            .parts
            .iter()
            .flat_map(|part| part.unreadable.iter().map(|object| Unreadable::clone(object)))
            .collect()
    }
}

/// Marks a [`Store`] that is passed as `&store`.
#[derive(Debug)]
#[non_exhaustive]
pub struct OfStore;

impl<K: Object> Sealed<K, OfStore> for &Store<K> {}
impl<K: Object> IntoFold<K, OfStore> for &Store<K> {
    type Fold = StoreFold<K>;

    fn into_fold(self) -> StoreFold<K> {
        part::open(&self.0, "", false)
    }
}
