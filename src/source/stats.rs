use crate::ResourceVersion;
use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// What a source stream has done so far: a copy, taken at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
#[doc(alias("MetricsProvider", "reflector_metrics"))]
pub struct Stats {
    /// Snapshots begun, by LIST or watch-list.
    pub lists: u64,
    /// Snapshots completed.
    pub lists_done: u64,
    /// Time that the last complete snapshot took, from its request to its end.
    pub last_list_time: Duration,
    /// Objects in the last complete snapshot.
    pub last_list_objects: u64,
    /// Objects so far in the snapshot in progress; 0 between snapshots.
    pub listed: u64,
    /// Objects that the server says are still to come after the present page, where it says so.
    pub remaining: Option<u64>,
    /// Requests for a watch or a watch-list.
    pub watches: u64,
    /// Watches that ended at once without an event.
    pub short_watches: u64,
    /// Time that ended watches stood open, in all.
    pub watch_time: Duration,
    /// Events of watches: added, modified, deleted, bookmarks.
    pub events: u64,
    /// Objects that did not decode.
    pub skipped: u64,
    /// `Err` items, those of skipped objects among them.
    pub errors: u64,
    /// The version that a watch would start at.
    pub last_version: ResourceVersion,
    /// When the server last said anything.
    pub last_heard: Option<Instant>,
}

/// Reads a stream's [`Stats`] at any time, also after the stream went into a pipeline or another task.
#[derive(Clone, Default)]
pub struct StatsHandle(Arc<Mutex<Stats>>);

impl StatsHandle {
    /// The present figures.
    pub fn get(&self) -> Stats {
        self.lock().clone()
    }

    pub(crate) fn edit(&self, edit: impl FnOnce(&mut Stats)) {
        edit(&mut self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, Stats> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for StatsHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lock().fmt(f)
    }
}
