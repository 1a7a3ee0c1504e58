//! What all requests of a server share.

use super::{
    answer::Refused,
    history::{Change, History},
    refusal::Refusal,
    resource::Resource,
    settings::Settings,
};
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};

/// The objects of a server, behind a lock, and a signal that they changed.
#[derive(Debug)]
pub(super) struct State {
    data: Mutex<Data>,
    changed: watch::Sender<u64>,
}

/// Storage, and what the watch cache in front of it has seen.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) history: History,
    pub(super) resources: Vec<Resource>,
    /// The version at which the watch cache began.
    pub(super) cache_start: u64,
    /// The version at which the watch cache stands still, if it does.
    pub(super) cache_stopped: Option<u64>,
    /// Counts the times that all watches were ended.
    pub(super) era: u64,
}

impl State {
    pub(super) fn new(resources: Vec<Resource>) -> Self {
        let data = Data { history: History::new(), resources, cache_start: 0, cache_stopped: None, era: 0 };
        Self { data: Mutex::new(data), changed: watch::Sender::new(0) }
    }

    /// A copy as it was at a version.
    #[cfg(feature = "client")]
    pub(super) fn fork(&self, version: u64) -> Self {
        let data = self.lock();
        let mut fork = Self::new(data.resources.clone()).data;
        let of = fork.get_mut().unwrap_or_else(PoisonError::into_inner);
        of.history = data.history.clone();
        of.history.rewind(version);
        of.cache_start = data.cache_start.min(version);
        Self { data: fork, changed: watch::Sender::new(0) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Data> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the data and wakes everyone who waits for a change.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Data) -> T) -> T {
        let out = change(&mut self.lock());
        self.changed.send_modify(|n| *n += 1);
        out
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// Waits until the watch cache has this version, as long as a fresh read may take.
    ///
    /// # Errors
    ///
    /// The version is too large still.
    pub(super) async fn fresh(&self, resource: &Resource, version: u64, settings: &Settings) -> Result<(), Refused> {
        let deadline = Instant::now() + settings.freshness_timeout;
        let mut changed = self.subscribe();
        loop {
            let current = self.lock().current(resource, settings);
            if current >= version {
                return Ok(());
            }
            let status = Refusal::too_large(version, current);
            if !settings.cached(resource) {
                return Err(status.into());
            }
            if !matches!(timeout_at(deadline, changed.changed()).await, Ok(Ok(()))) {
                return Err(status.with_retry_after(std::time::Duration::from_secs(1)).into());
            }
        }
    }
}

impl Data {
    /// The version up to which reads and watches of this resource see storage.
    pub(super) fn current(&self, resource: &Resource, settings: &Settings) -> u64 {
        let newest = self.history.revision();
        match self.cache_stopped {
            Some(stopped) if settings.cached(resource) => stopped.min(newest),
            _ => newest,
        }
    }

    /// The resource of this name: plural, `plural.group`, kind or short name.
    pub(super) fn resource(&self, name: &str) -> Option<&Resource> {
        let exact = self.resources.iter().find(|resource| resource.qualified() == name);
        exact.or_else(|| self.resources.iter().find(|resource| resource.goes_by(name)))
    }

    pub(super) fn serves(&self, resource: &Resource) -> bool {
        self.resources.iter().any(|r| r.qualified() == resource.qualified())
    }

    /// The state at a version, of one namespace or all.
    pub(super) fn at(&self, resource: &Resource, prefix: &str, start: &str, version: u64) -> Vec<(String, Arc<Value>)> {
        self.history.at(&resource.qualified(), prefix, start, version)
    }

    /// The changes a watch has to see after a version.
    pub(super) fn changes(&self, resource: &Resource, after: u64, settings: &Settings, most: usize) -> Vec<Change> {
        self.history.changes(&resource.qualified(), after, self.current(resource, settings), most)
    }
}
