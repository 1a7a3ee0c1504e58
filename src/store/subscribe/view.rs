//! Which objects a subscription is told.

use crate::{
    Change, DeleteReason, Key, Object,
    store::{
        changes::Changes,
        root::{Root, has_key, same_key},
        trie::{self, Diff, Entry, Trie},
    },
};
use std::sync::Arc;

/// The objects of one value of an index, in any root.
pub(in crate::store) type Posting<K> = Arc<dyn Fn(&Root<K>) -> Trie<Arc<K>> + Send + Sync>;

/// Which objects are told.
pub(in crate::store) enum View<K> {
    All,
    Filter(Arc<dyn Fn(&K) -> bool + Send + Sync>),
    Value(Posting<K>),
}

impl<K: Object> View<K> {
    pub(in crate::store) fn content(&self, root: &Root<K>) -> trie::IntoIter<Arc<K>> {
        match self {
            View::Value(objects) => objects(root).into_iter(),
            View::All | View::Filter(_) => root.objects.clone().into_iter(),
        }
    }

    pub(super) fn diff(&self, from: &Root<K>, to: &Root<K>) -> Diff<Arc<K>> {
        match self {
            View::Value(objects) => objects(from).diff(&objects(to), same_key, Arc::ptr_eq),
            View::All | View::Filter(_) => from.diff(to),
        }
    }

    /// Of an object that the content or the difference brought.
    pub(in crate::store) fn matches(&self, object: &K) -> bool {
        match self {
            View::Filter(matches) => matches(object),
            View::All | View::Value(_) => true,
        }
    }

    /// Of the object that a root holds under a key.
    pub(in crate::store) fn held(&self, root: &Root<K>, key: Key<'_>) -> bool {
        match self {
            View::All => true,
            View::Filter(matches) => root.get(key).is_some_and(|held| matches(held)),
            View::Value(objects) => objects(root).get(root.hash(key), |held| has_key(&**held, key)).is_some(),
        }
    }

    /// One key of a difference.
    pub(super) fn between(&self, old: Option<Entry<Arc<K>>>, new: Option<Entry<Arc<K>>>, to: &Root<K>) -> Changes<K> {
        let item =
            |entry: Option<Entry<Arc<K>>>| entry.and_then(Entry::into_item).filter(|object| self.matches(object));
        let (old, new) = (item(old), item(new));
        match (&old, &new, self) {
            (Some(gone), None, View::Filter(_) | View::Value(_)) => {
                let held = to.get(Key::of(&**gone)).filter(|held| held.identity().uid == gone.identity().uid);
                match held.cloned() {
                    Some(last) => Changes::one(Change::Deleted { last, why: DeleteReason::Observed }),
                    None => Changes::between(old, new, false, DeleteReason::Missed),
                }
            }
            _ => Changes::between(old, new, false, DeleteReason::Missed),
        }
    }

    /// A change of the writer's, as this subscriber is to be told it.
    pub(super) fn pass(&self, change: Change<K>, from: &Root<K>, to: &Root<K>) -> Option<Change<K>> {
        match change {
            Change::Added { object, .. } => {
                self.held(to, Key::of(&*object)).then_some(Change::Added { object, initial: false })
            }
            Change::Updated { old, new } => match (self.held(from, Key::of(&*old)), self.held(to, Key::of(&*new))) {
                (true, true) => Some(Change::Updated { old, new }),
                (true, false) => Some(Change::Deleted { last: new, why: DeleteReason::Observed }),
                (false, true) => Some(Change::Added { object: new, initial: false }),
                (false, false) => None,
            },
            Change::Deleted { last, why } => self.held(from, Key::of(&*last)).then_some(Change::Deleted { last, why }),
            Change::Synced { .. } => {
                let resource_version = to.version().cloned().unwrap_or_default();
                to.is_ready().then_some(Change::Synced { resource_version, initial: false })
            }
            Change::Bookmark(_) => to.version().cloned().map(Change::Bookmark),
            change @ (Change::Watching(_) | Change::Resynced(_)) => Some(change),
        }
    }
}
