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
    /// Watches and watch-lists that were answered and have ended.
    pub watches_done: u64,
    /// What the last ended watch brought: objects, readable or not, and bookmarks.
    pub last_watch_events: u64,
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
    /// When the server last said anything: an answer, an object, a bookmark, a part of a list.
    pub last_heard: Option<Instant>,
}

/// Reads a stream's [`Stats`] at any time, also after the stream went into a pipeline or another task.
#[derive(Clone, Default)]
pub struct StatsHandle(Arc<Shared>);

#[derive(Default)]
struct Shared {
    stats: Mutex<Stats>,
    #[cfg(feature = "metrics")]
    labels: std::sync::OnceLock<super::metrics::Labels>,
}

impl StatsHandle {
    /// The present figures.
    pub fn get(&self) -> Stats {
        self.lock().clone()
    }

    #[cfg(not(feature = "metrics"))]
    pub(crate) fn edit(&self, edit: impl FnOnce(&mut Stats)) {
        edit(&mut self.lock());
    }

    /// Also tells the `metrics` facade what was gained, outside of the lock: its recorder is the user's.
    #[cfg(feature = "metrics")]
    pub(crate) fn edit(&self, edit: impl FnOnce(&mut Stats)) {
        let (before, after) = {
            let mut stats = self.lock();
            let before = stats.clone();
            edit(&mut stats);
            (before, stats.clone())
        };
        if let Some(labels) = self.0.labels.get() {
            labels.tell(&before, &after);
        }
    }

    /// From here on the figures are told under these labels.
    #[cfg(feature = "metrics")]
    pub(super) fn label(&self, name: &str, resource: &str) {
        let _ = self.0.labels.set(super::metrics::Labels::new(name, resource));
    }

    fn lock(&self) -> MutexGuard<'_, Stats> {
        self.0.stats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for StatsHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lock().fmt(f)
    }
}
