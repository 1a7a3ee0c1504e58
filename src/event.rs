use crate::{Object, ResourceVersion};
use std::sync::Arc;

/// What a source says, one step at a time: the vocabulary that sources, operators, stores and sinks share.
///
/// ```text
/// stream   := [snapshot] (change | snapshot)*     without the first snapshot where a stream starts from a version
/// snapshot := SnapshotStart (Listed | Deleted | Skip)* (SnapshotEnd | Void (Err)* snapshot)
/// change   := Added | Modified | Deleted | Bookmark | Watching | Resync
/// ```
///
/// `Skip` is an `Err` with [`Recovery::Skip`](crate::Recovery::Skip), which leaves a snapshot standing; `Void` is any
/// other `Err`: what was pending of the snapshot is void, and then only `Err` and `SnapshotStart` may come. Outside of
/// a snapshot an `Err` may stand anywhere. [`Grammar`](crate::Grammar) is this text as an automaton.
///
/// The enum is complete on purpose, so that a sink can be: another variant would be a breaking change.
///
/// # Memory
///
/// Objects travel as `Arc`, made once by the source: an event is three words whatever `K` is, a clone costs a count,
/// and every store and sink shares one allocation.
///
/// ```
/// use listwatch::{Event, Raw};
///
/// assert_eq!(size_of::<Event<Raw>>(), 3 * size_of::<usize>());
/// assert_eq!(size_of::<Event<[u8; 2464]>>(), 3 * size_of::<usize>());
/// ```
#[derive(Debug, PartialEq, Eq)]
#[doc(alias("WatchEvent", "Delta"))]
pub enum Event<K> {
    /// A full snapshot begins: the server has answered. What was pending is void.
    SnapshotStart,
    /// One object of the snapshot; also an update of one during a watch-list snapshot.
    Listed(Arc<K>),
    /// The snapshot is complete as of this version; `""` where the source has none.
    #[doc(alias("Replace", "InitDone"))]
    SnapshotEnd(ResourceVersion),
    /// An object is new.
    Added(Arc<K>),
    /// An object changed.
    Modified(Arc<K>),
    /// An object is gone, or left the selector; the last state that the server knows.
    Deleted(Arc<K>),
    /// Nothing changed up to this version.
    Bookmark(ResourceVersion),
    /// The first watch, or the first one opened after an `Err`, stands: the server answers.
    Watching(ResourceVersion),
    /// Made by [`resync`](crate::EventStreamExt::resync): the consumer should replay what it holds. Asks the server nothing.
    Resync,
}

impl<K> Clone for Event<K> {
    fn clone(&self) -> Self {
        match self {
            Event::SnapshotStart => Event::SnapshotStart,
            Event::Listed(object) => Event::Listed(Arc::clone(object)),
            Event::SnapshotEnd(version) => Event::SnapshotEnd(version.clone()),
            Event::Added(object) => Event::Added(Arc::clone(object)),
            Event::Modified(object) => Event::Modified(Arc::clone(object)),
            Event::Deleted(object) => Event::Deleted(Arc::clone(object)),
            Event::Bookmark(version) => Event::Bookmark(version.clone()),
            Event::Watching(version) => Event::Watching(version.clone()),
            Event::Resync => Event::Resync,
        }
    }
}

impl<K> Event<K> {
    /// [`Event::Listed`] of an object by value.
    pub fn listed(object: K) -> Self {
        Event::Listed(Arc::new(object))
    }

    /// [`Event::Added`] of an object by value.
    pub fn added(object: K) -> Self {
        Event::Added(Arc::new(object))
    }

    /// [`Event::Modified`] of an object by value.
    pub fn modified(object: K) -> Self {
        Event::Modified(Arc::new(object))
    }

    /// [`Event::Deleted`] of an object by value.
    pub fn deleted(object: K) -> Self {
        Event::Deleted(Arc::new(object))
    }

    /// The object that this event carries.
    pub fn object(&self) -> Option<&Arc<K>> {
        match self {
            Event::Listed(object) | Event::Added(object) | Event::Modified(object) | Event::Deleted(object) => {
                Some(object)
            }
            _ => None,
        }
    }

    /// The same event of another object; events without one stay as they are.
    pub fn map<L>(self, f: impl FnOnce(Arc<K>) -> Arc<L>) -> Event<L> {
        match self {
            Event::SnapshotStart => Event::SnapshotStart,
            Event::Listed(object) => Event::Listed(f(object)),
            Event::SnapshotEnd(version) => Event::SnapshotEnd(version),
            Event::Added(object) => Event::Added(f(object)),
            Event::Modified(object) => Event::Modified(f(object)),
            Event::Deleted(object) => Event::Deleted(f(object)),
            Event::Bookmark(version) => Event::Bookmark(version),
            Event::Watching(version) => Event::Watching(version),
            Event::Resync => Event::Resync,
        }
    }

    /// A short name, for logs and metrics: `"snapshot_start"`, `"listed"` and so on.
    pub fn name(&self) -> &'static str {
        match self {
            Event::SnapshotStart => "snapshot_start",
            Event::Listed(_) => "listed",
            Event::SnapshotEnd(_) => "snapshot_end",
            Event::Added(_) => "added",
            Event::Modified(_) => "modified",
            Event::Deleted(_) => "deleted",
            Event::Bookmark(_) => "bookmark",
            Event::Watching(_) => "watching",
            Event::Resync => "resync",
        }
    }
}

impl<K: Object> Event<K> {
    /// The version that this event tells; of an event with an object, the object's. `None` where there is none.
    pub fn resource_version(&self) -> Option<ResourceVersion> {
        let version = match self {
            Event::SnapshotEnd(version) | Event::Bookmark(version) | Event::Watching(version) => version.clone(),
            _ => self.object()?.identity().resource_version.into(),
        };
        (!version.is_unset()).then_some(version)
    }
}
