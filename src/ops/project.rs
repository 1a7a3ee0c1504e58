use crate::{Change, Event};
use std::sync::Arc;

/// What [`objects`](crate::EventStreamExt::objects) and [`deletions`](crate::EventStreamExt::deletions) take: an
/// [`Event`] or a [`Change`]. Not implemented elsewhere.
pub trait Project: sealed::Sealed {
    /// What the objects are.
    type Object;
    /// The object, where this tells its present state.
    fn into_object(self) -> Option<Arc<Self::Object>>;
    /// The last state of an object, where this tells that it is gone.
    fn into_deletion(self) -> Option<Arc<Self::Object>>;
}

impl<K> Project for Event<K> {
    type Object = K;
    fn into_object(self) -> Option<Arc<K>> {
        match self {
            Event::Listed(object) | Event::Added(object) | Event::Modified(object) => Some(object),
            _ => None,
        }
    }
    fn into_deletion(self) -> Option<Arc<K>> {
        match self {
            Event::Deleted(object) => Some(object),
            _ => None,
        }
    }
}

impl<K> Project for Change<K> {
    type Object = K;
    fn into_object(self) -> Option<Arc<K>> {
        match self {
            Change::Added { object, .. } | Change::Updated { new: object, .. } | Change::Resynced(object) => {
                Some(object)
            }
            _ => None,
        }
    }
    fn into_deletion(self) -> Option<Arc<K>> {
        match self {
            Change::Deleted { last, .. } => Some(last),
            _ => None,
        }
    }
}

mod sealed {
    pub trait Sealed {}
    impl<K> Sealed for crate::Event<K> {}
    impl<K> Sealed for crate::Change<K> {}
}
