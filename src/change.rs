use crate::{Key, Object, OwnedKey, ResourceVersion};
use std::sync::Arc;

/// What an event did to a store: what [`reflect`](crate::EventStreamExt::reflect) and subscriptions yield.
///
/// Replaying the changes of a store from its beginning always gives its content. A snapshot is told as its
/// differences: deletions, then updates and additions in list order, then [`Change::Synced`]; an object whose uid and
/// version are unchanged is not told at all.
///
/// The enum is complete on purpose, so that a consumer can be: another variant would be a breaking change.
#[derive(Debug, PartialEq, Eq)]
#[doc(alias("ResourceEventHandler", "Delta"))]
pub enum Change<K> {
    /// The store holds an object under a key that it did not hold.
    Added {
        /// The object, now held.
        object: Arc<K>,
        /// Part of the first content that this consumer is told, not news.
        initial: bool,
    },
    /// The store holds another state of the same object.
    Updated {
        /// What the store held; for a subscriber, what that subscriber last saw.
        old: Arc<K>,
        /// What it holds now.
        new: Arc<K>,
    },
    /// The store no longer holds an object.
    Deleted {
        /// The object that the deletion carried where it was observed, else the one held.
        last: Arc<K>,
        /// How the store learned of it.
        why: DeleteReason,
    },
    /// A held object, told again by a resync.
    Resynced(Arc<K>),
    /// The part of the store (for a subscriber: the store) is complete, and every change of this snapshot was told.
    #[doc(alias = "HasSynced")]
    Synced {
        /// The version of the snapshot.
        resource_version: ResourceVersion,
        /// The first one that this consumer is told.
        initial: bool,
    },
    /// Nothing changed up to this version.
    Bookmark(ResourceVersion),
    /// The watch stands: the server answers.
    Watching(ResourceVersion),
}

/// How a store learned that an object is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "DeletedFinalStateUnknown")]
pub enum DeleteReason {
    /// A deletion came: the object was deleted, or left a selector or filter.
    Observed,
    /// It was absent from a snapshot, or was deleted while a subscriber was behind.
    Missed,
    /// Another object (another uid) took its key.
    Replaced,
    /// The part that brought it was removed from the store.
    Unwatched,
}

impl<K> Clone for Change<K> {
    fn clone(&self) -> Self {
        match self {
            Change::Added { object, initial } => Change::Added { object: Arc::clone(object), initial: *initial },
            Change::Updated { old, new } => Change::Updated { old: Arc::clone(old), new: Arc::clone(new) },
            Change::Deleted { last, why } => Change::Deleted { last: Arc::clone(last), why: *why },
            Change::Resynced(object) => Change::Resynced(Arc::clone(object)),
            Change::Synced { resource_version, initial } => {
                Change::Synced { resource_version: resource_version.clone(), initial: *initial }
            }
            Change::Bookmark(version) => Change::Bookmark(version.clone()),
            Change::Watching(version) => Change::Watching(version.clone()),
        }
    }
}

impl<K> Change<K> {
    /// The object that this change is about: the new one of an update, the last one of a deletion.
    pub fn object(&self) -> Option<&Arc<K>> {
        match self {
            Change::Added { object, .. } | Change::Updated { new: object, .. } | Change::Resynced(object) => {
                Some(object)
            }
            Change::Deleted { last, .. } => Some(last),
            Change::Synced { .. } | Change::Bookmark(_) | Change::Watching(_) => None,
        }
    }

    /// A short name, for logs and metrics: `"added"`, `"updated"` and so on.
    pub fn name(&self) -> &'static str {
        match self {
            Change::Added { .. } => "added",
            Change::Updated { .. } => "updated",
            Change::Deleted { .. } => "deleted",
            Change::Resynced(_) => "resynced",
            Change::Synced { .. } => "synced",
            Change::Bookmark(_) => "bookmark",
            Change::Watching(_) => "watching",
        }
    }
}

impl<K: Object> Change<K> {
    /// The key of the object that this change is about, for a work queue.
    pub fn key(&self) -> Option<OwnedKey> {
        self.object().map(|object| Key::of(&**object).to_owned())
    }
}
