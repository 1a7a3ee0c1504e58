use super::view::View;
use crate::{
    client::Client,
    testing::{ApiServer, Refusal, WriteVerb},
};
use serde_json::{Value, json};
use std::{
    future,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};
use tokio::sync::Notify;

/// What a consumer in a trial reads and writes by. Each start of the consumer gets its own.
///
/// Reads of [`client`](Self::client) are perturbed. Writes and reads of [`get`](Self::get) and [`list`](Self::list) are
/// not: as with a real cluster, they go to the newest state. Objects are any JSON, as for [`ApiServer`].
///
/// # Cancel safety
///
/// Writes happen at once or not at all; after a crash they never resolve.
#[derive(Clone, Debug)]
pub struct Access {
    view: View,
    server: ApiServer,
    log: Arc<Log>,
    /// The start of the consumer that this belongs to.
    start: usize,
}

/// The writes of all starts of the consumer in one run.
#[derive(Debug, Default)]
pub(super) struct Log {
    writes: Mutex<Vec<String>>,
    crash_after: Vec<usize>,
    starts: AtomicUsize,
    crash: Notify,
}

/// A consumer that writes more than this in one run goes round in circles, and is left hanging.
const MOST_WRITES: usize = 10_000;

impl Log {
    pub(super) fn new(crash_after: Vec<usize>) -> Arc<Self> {
        Arc::new(Self { crash_after, ..Self::default() })
    }

    pub(super) fn writes(&self) -> Vec<String> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for the crash, after which earlier starts write no more.
    pub(super) async fn crashed(&self) {
        self.crash.notified().await;
    }

    /// Notes a write, and says whether it is the last before a crash.
    fn note(&self, write: String) -> bool {
        let mut writes = self.writes.lock().unwrap_or_else(PoisonError::into_inner);
        writes.push(write);
        let crashes = self.crash_after.contains(&writes.len());
        if crashes {
            self.starts.fetch_add(1, Ordering::AcqRel);
            self.crash.notify_one();
        }
        crashes || writes.len() >= MOST_WRITES
    }
}

impl Access {
    pub(super) fn new(view: &View, server: &ApiServer, log: &Arc<Log>) -> Self {
        let start = log.starts.load(Ordering::Acquire);
        Self { view: view.clone(), server: server.clone(), log: log.clone(), start }
    }

    /// The cluster as the consumer sees it, for a [`Collection`](crate::client::Collection).
    #[must_use]
    pub fn client(&self) -> Client {
        self.view.client()
    }

    /// Creates an object. Without a namespace it goes to `default`.
    ///
    /// # Errors
    ///
    /// What the server says: no name, already there (409).
    pub async fn create(&self, resource: &str, object: Value) -> Result<Value, Refusal> {
        self.write(WriteVerb::Create, resource, object).await
    }

    /// Replaces an object: only over the version it carries, if it carries one.
    ///
    /// # Errors
    ///
    /// What the server says: not there (404), another version (409).
    pub async fn update(&self, resource: &str, object: Value) -> Result<Value, Refusal> {
        self.write(WriteVerb::Update, resource, object).await
    }

    /// Creates an object or replaces the one that is there.
    ///
    /// # Errors
    ///
    /// What the server says: another version (409).
    pub async fn apply(&self, resource: &str, object: Value) -> Result<Value, Refusal> {
        self.write(WriteVerb::Apply, resource, object).await
    }

    /// Merges a patch into an object, which it names by its `metadata`.
    ///
    /// # Errors
    ///
    /// What the server says: not there (404), another version (409).
    pub async fn patch(&self, resource: &str, patch: Value) -> Result<Value, Refusal> {
        self.write(WriteVerb::Patch, resource, patch).await
    }

    /// Deletes an object (`name` or `namespace/name`) and returns its last state.
    ///
    /// # Errors
    ///
    /// What the server says: not there (404).
    pub async fn delete(&self, resource: &str, name: &str) -> Result<Value, Refusal> {
        let (namespace, name) = name.split_once('/').unwrap_or(("default", name));
        let object = json!({"metadata": {"namespace": namespace, "name": name}});
        self.write(WriteVerb::Delete, resource, object).await
    }

    /// The newest state of an object (`name` or `namespace/name`), past the view.
    ///
    /// # Panics
    ///
    /// There is no such resource.
    #[must_use]
    pub fn get(&self, resource: &str, name: &str) -> Option<Value> {
        self.server.get(resource, name)
    }

    /// The newest state of all objects of a resource, past the view.
    ///
    /// # Panics
    ///
    /// There is no such resource.
    #[must_use]
    pub fn list(&self, resource: &str) -> Vec<Value> {
        self.server.list(resource)
    }

    async fn write(&self, verb: WriteVerb, resource: &str, object: Value) -> Result<Value, Refusal> {
        // Others run first: a write takes its time on a network, too.
        tokio::task::yield_now().await;
        if self.log.starts.load(Ordering::Acquire) != self.start {
            return future::pending().await;
        }
        let before = self.server.resource_version();
        let written = self.server.attempt(verb, resource, object);
        if let Ok(object) = &written
            && self.server.resource_version() != before
        {
            let metadata = &object["metadata"];
            let text = |field: &str| metadata[field].as_str().unwrap_or_default().to_owned();
            let write = format!("{verb} {resource} {}/{}", text("namespace"), text("name"));
            if self.log.note(write) {
                return future::pending().await;
            }
        }
        written
    }
}
