use super::{State, root::Root};
use crate::{Key, Object, ResourceVersion};
use std::{fmt, sync::Arc};

/// One consistent state of a [`Store`](super::Store), with its version.
///
/// # Memory
///
/// Shares everything with the store; what it keeps alive are the objects that the store has replaced since.
///
/// ```
/// use listwatch::{Event, Fold, IntoFold, Object, Raw, Store};
///
/// let store = Store::of([Raw::decode(br#"{"metadata":{"name":"a"}}"#)?]);
/// let before = store.snapshot();
/// (&store).into_fold().fold(Event::deleted(Raw::decode(br#"{"metadata":{"name":"a"}}"#)?))?;
/// assert!(before.contains("a") && !store.contains("a"));
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub struct Snapshot<K>(Arc<Root<K>>);

impl<K> Clone for Snapshot<K> {
    fn clone(&self) -> Self {
        Snapshot(Arc::clone(&self.0))
    }
}

impl<K: Object> Snapshot<K> {
    pub(super) fn new(root: Arc<Root<K>>) -> Self {
        Snapshot(root)
    }

    pub(super) fn root(&self) -> &Root<K> {
        &self.0
    }

    /// The object of a key.
    pub fn get<'k>(&self, key: impl Into<Key<'k>>) -> Option<&Arc<K>> {
        self.0.get(key.into())
    }

    /// Whether it holds an object of this key.
    pub fn contains<'k>(&self, key: impl Into<Key<'k>>) -> bool {
        self.get(key).is_some()
    }

    /// How many objects it holds.
    pub fn len(&self) -> usize {
        self.0.objects.len()
    }

    /// Whether it holds no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The objects, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<K>> {
        self.0.objects.iter()
    }

    /// The keys, in no order.
    pub fn keys(&self) -> impl Iterator<Item = Key<'_>> {
        self.iter().map(|object| Key::of(&**object))
    }

    /// The version that this state has reached: see [`Store::resource_version`](super::Store::resource_version).
    pub fn resource_version(&self) -> Option<ResourceVersion> {
        self.0.version().cloned()
    }

    /// How far it could be trusted then.
    pub fn state(&self) -> State {
        self.0.state()
    }

    /// Whether every part of the store was complete.
    pub fn is_ready(&self) -> bool {
        self.0.is_ready()
    }
}

impl<K: Object> fmt::Debug for Snapshot<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Snapshot");
        out.field("objects", &self.len()).field("resource_version", &self.0.version()).finish_non_exhaustive()
    }
}
