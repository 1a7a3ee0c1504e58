//! Where roots are published.

use super::{root::Root, stats::Meters};
use crate::{Key, Object};
use hashbrown::DefaultHashBuilder;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};
use tokio::sync::watch;

/// What all handles of a store share.
///
/// Whoever changes the store makes a new root from the present one and publishes it only if that is still the present
/// one. So no code of the user's (an object's, an index's, a predicate's) ever runs under a lock: the channel's own
/// lock is held to swap or copy one pointer.
pub(super) struct Shared<K> {
    roots: watch::Sender<Arc<Root<K>>>,
    hasher: DefaultHashBuilder,
    pub(super) meters: Meters,
    /// Subscriptions that want to be told what a snapshot did rather than find out.
    pub(super) cursors: Arc<AtomicUsize>,
}

impl<K> Shared<K> {
    pub(super) fn load(&self) -> Arc<Root<K>> {
        Arc::clone(&self.roots.borrow())
    }

    pub(super) fn len(&self) -> usize {
        self.roots.borrow().objects.len()
    }
}

impl<K: Object> Shared<K> {
    pub(super) fn new() -> Self {
        let root = Root::new();
        let hasher = root.hasher.clone();
        Shared { roots: watch::Sender::new(Arc::new(root)), hasher, meters: Meters::new(), cursors: Arc::default() }
    }

    pub(super) fn follow(&self) -> watch::Receiver<Arc<Root<K>>> {
        self.roots.subscribe()
    }

    /// Looks a key up without taking a count of the whole state.
    pub(super) fn get(&self, key: Key<'_>) -> Option<Arc<K>> {
        let hash = super::root::hash_key(&self.hasher, key);
        let candidate = self.roots.borrow().objects.candidate(hash).cloned()?;
        if super::root::has_key(&*candidate, key) {
            return Some(candidate);
        }
        self.load().get(key).cloned() // another key of the same hash
    }

    pub(super) fn parts(&self) -> usize {
        self.roots.borrow().parts.len()
    }

    /// Makes a new root from the present one, as often as it takes until nobody else has published meanwhile.
    pub(super) fn update<T>(&self, mut compute: impl FnMut(&Arc<Root<K>>) -> (Option<Root<K>>, T)) -> T {
        loop {
            let base = self.load();
            let (next, out) = compute(&base);
            if next.is_none_or(|next| self.publish(&base, next)) {
                return out;
            }
        }
    }

    /// Publishes a root that was made from `base`, if that is still the present one.
    pub(super) fn publish(&self, base: &Arc<Root<K>>, next: Root<K>) -> bool {
        let mut next = Some(Arc::new(next));
        self.roots.send_if_modified(|present| {
            let swap = Arc::ptr_eq(present, base);
            if let Some(next) = next.take_if(|_| swap) {
                *present = next; // `base` is another reference to the old one: nothing is freed here
            }
            swap
        })
    }

    pub(super) fn has_cursors(&self) -> bool {
        self.cursors.load(Relaxed) > 0
    }
}
