//! The handle by which a test holds a server.

use super::{
    Connection, Ending, Fault, Match, Request, Resource, Times,
    builder::ApiServerBuilder,
    listener::{self, Listening},
    settings::Settings,
    shared::Shared,
    state::{Data, State},
};
use serde_json::{Value, json};
use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
};

/// A Kubernetes API server in this process, on a loopback socket: no cluster, no authentication, no controllers, but
/// lists, watches, versions and refusals as a real one has them, and faults on demand.
///
/// It speaks plain HTTP/1.1 and HTTP/2 with prior knowledge. The well-known built-in resources are there (pods,
/// configmaps, secrets, nodes, namespaces, services, events, deployments and more); others are
/// [registered](Self::register). Objects are any JSON: the server stamps them (name, uid, version, creation time), but
/// does not know their schema.
///
/// What a real server does is meant as measured on kube-apiserver 1.36 with etcd; the end-to-end tests of this crate
/// compare the two. Differences on purpose: no managed fields, no defaults, no schema checks, no controllers (a deleted
/// namespace takes nothing with it), JSON only, and [`compact_to`](Self::compact_to) makes the watch cache forget too.
///
/// A clone is another handle of the same server.
///
/// # Drop
///
/// With its last handle the server goes: socket, connections and tasks.
///
/// # Memory
///
/// Every version of every object stays until [`compact`](Self::compact).
///
/// # Examples
///
/// ```
/// use listwatch::testing::{ApiServer, Fault};
/// use serde_json::json;
///
/// # tokio_test::block_on(async {
/// let server = ApiServer::start().await;
/// server.create("configmaps", json!({"metadata": {"name": "a"}, "data": {"key": "value"}}));
/// server.update("configmaps", json!({"metadata": {"name": "a"}, "data": {"key": "other"}}));
/// assert_eq!(server.list("configmaps").len(), 1);
///
/// server.fail_next(Fault::status(503));
/// // A client of server.url() now gets one 503.
/// assert!(server.requests().is_empty());
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct ApiServer {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    shared: Arc<Shared>,
    address: SocketAddr,
    listening: Mutex<Option<Listening>>,
}

impl ApiServer {
    /// Starts a server on a free port of the loopback address.
    ///
    /// # Panics
    ///
    /// No port could be bound; [`builder`](Self::builder) and its `start` return the error instead.
    pub async fn start() -> Self {
        Self::builder().start().await.expect("a free port on the loopback address")
    }

    /// A server with other settings.
    pub fn builder() -> ApiServerBuilder {
        ApiServerBuilder::new()
    }

    pub(super) fn open(state: State, settings: Settings) -> io::Result<Self> {
        let listener = listener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(state, settings));
        let listening = Mutex::new(Some(Listening::start(listener, shared.clone())));
        let server = Self { inner: Arc::new(Inner { shared, address, listening }) };
        for name in ["default", "kube-node-lease", "kube-public", "kube-system"] {
            // A fork has them.
            if server.get("namespaces", name).is_none() {
                server.create("namespaces", json!({"metadata": {"name": name}}));
            }
        }
        Ok(server)
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.inner.shared
    }

    /// Whether it serves, which it does but between [`stop`](Self::stop) and [`start_again`](Self::start_again).
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.inner.listening.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Where the server is: `http://127.0.0.1:PORT`, without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.inner.address)
    }

    /// The address of its socket.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.inner.address
    }

    /// Serves one more resource, in place of one of the same name. A custom resource may come and go.
    pub fn register(&self, resource: Resource) {
        self.shared().state.change(|data| {
            data.resources.retain(|r| r.qualified() != resource.qualified());
            data.resources.push(resource);
        });
    }

    /// Serves a resource no more: its objects are deleted, its watches end after the last deletion, requests get 404.
    ///
    /// # Panics
    ///
    /// There is no such resource.
    #[track_caller]
    pub fn unregister(&self, name: &str) {
        let resource = self.resource(name);
        self.shared().state.change(|data| {
            for (key, _) in data.at(&resource, "", "", data.history.revision()) {
                data.history.write(&resource.qualified(), &key, None);
            }
            data.resources.retain(|r| r.qualified() != resource.qualified());
        });
    }

    /// The resource of this name: its plural (`configmaps`), `plural.group`, kind or short name.
    ///
    /// # Panics
    ///
    /// There is none.
    #[must_use]
    #[track_caller]
    pub fn resource(&self, name: &str) -> Resource {
        let found = self.shared().state.lock().resource(name).cloned();
        found.unwrap_or_else(|| panic!("the server has no resource {name}; register it"))
    }

    /// Creates an object, as a POST does, and returns it as stored. Without a namespace it goes to `default`; the
    /// namespace need not exist.
    ///
    /// # Panics
    ///
    /// The server refuses it: no name, already there.
    #[track_caller]
    pub fn create(&self, resource: &str, object: Value) -> Value {
        let created = self
            .write(resource, object, |data, resource, namespace, _, object| data.create(resource, namespace, object));
        allowed(created)
    }

    /// Replaces an object, as a PUT does: only over the version it carries, if it carries one. Without a difference
    /// nothing is written.
    ///
    /// # Panics
    ///
    /// The server refuses it: not there, or another version.
    #[track_caller]
    pub fn update(&self, resource: &str, object: Value) -> Value {
        allowed(self.write(resource, object, Data::update))
    }

    /// Creates an object or replaces the one that is there.
    ///
    /// # Panics
    ///
    /// The server refuses it: no name, or another version.
    #[track_caller]
    pub fn apply(&self, resource: &str, object: Value) -> Value {
        allowed(self.write(resource, object, Data::apply))
    }

    /// Merges a patch into an object, as a PATCH with `application/merge-patch+json` does.
    ///
    /// # Panics
    ///
    /// The server refuses it: not there, or another version.
    #[track_caller]
    pub fn patch(&self, resource: &str, patch: Value) -> Value {
        let patched = self.write(resource, patch, |data, resource, namespace, name, patch| {
            data.patch(resource, namespace, name, &patch)
        });
        allowed(patched)
    }

    /// Deletes an object (`name` or `namespace/name`; without a namespace in `default`) and returns its last state, or
    /// nothing if it was not there. With finalizers it is only marked.
    ///
    /// # Panics
    ///
    /// There is no such resource.
    #[track_caller]
    pub fn delete(&self, resource: &str, name: &str) -> Option<Value> {
        let resource = self.resource(resource);
        let (namespace, name) = name.split_once('/').unwrap_or(("default", name));
        let gone = self.shared().state.change(|data| data.delete(&resource, namespace, name, &Value::Null));
        gone.ok().map(Arc::unwrap_or_clone)
    }

    /// The object of this name (`name` or `namespace/name`), if it is there.
    ///
    /// # Panics
    ///
    /// There is no such resource.
    #[must_use]
    #[track_caller]
    pub fn get(&self, resource: &str, name: &str) -> Option<Value> {
        let resource = self.resource(resource);
        let (namespace, name) = name.split_once('/').unwrap_or(("default", name));
        let key = super::write::key(&resource, namespace, name);
        let found = self.shared().state.lock().history.get(&resource.qualified(), &key);
        found.map(Arc::unwrap_or_clone)
    }

    /// All objects of a resource, in all namespaces, in the order of the server's lists.
    ///
    /// # Panics
    ///
    /// There is no such resource.
    #[must_use]
    #[track_caller]
    pub fn list(&self, resource: &str) -> Vec<Value> {
        self.list_at(resource, self.resource_version())
    }

    /// All objects of a resource as they were at a version. Versions before the last compaction are incomplete.
    ///
    /// # Panics
    ///
    /// There is no such resource.
    #[must_use]
    #[track_caller]
    pub fn list_at(&self, resource: &str, version: u64) -> Vec<Value> {
        let resource = self.resource(resource);
        let objects = self.shared().state.lock().at(&resource, "", "", version);
        objects.into_iter().map(|(_, object)| Arc::unwrap_or_clone(object)).collect()
    }

    #[track_caller]
    pub(super) fn write(
        &self,
        resource: &str,
        object: Value,
        write: impl FnOnce(&mut Data, &Resource, &str, &str, Value) -> Result<Arc<Value>, super::Refusal>,
    ) -> Result<Arc<Value>, super::Refusal> {
        let resource = self.resource(resource);
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default").to_owned();
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        self.shared().state.change(|data| write(data, &resource, &namespace, &name, object))
    }

    /// The version of the newest change of any resource.
    #[must_use]
    pub fn resource_version(&self) -> u64 {
        self.shared().state.lock().history.revision()
    }

    /// Takes a version without changing any object, as changes of other resources do, and returns it.
    #[must_use = "the version is taken whether used or not; see advance"]
    pub fn next_version(&self) -> u64 {
        self.shared().state.change(|data| data.history.skip())
    }

    /// Forgets all history up to now: older watches, exact lists and continue tokens get 410.
    pub fn compact(&self) {
        self.compact_to(self.resource_version());
    }

    /// Forgets the history before a version, in storage and in the watch cache; one that is
    /// [held](Self::hold_cache) keeps what it has still to see.
    pub fn compact_to(&self, version: u64) {
        self.shared().state.change(|data| {
            let seen = data.cache_stopped.unwrap_or(u64::MAX).min(data.history.revision());
            data.cache_start = data.cache_start.max(version.min(seen));
            data.history.compact(version, data.cache_start, seen);
        });
    }

    /// Forgets the history before a version in storage only, as etcd's compaction does: watches that the watch cache
    /// can serve go on.
    pub fn compact_storage_to(&self, version: u64) {
        self.shared().state.change(|data| {
            let seen = data.cache_stopped.unwrap_or(u64::MAX);
            let cache_start = data.cache_start;
            data.history.compact(version, cache_start, seen);
        });
    }

    /// Goes back to the state at a version, as when storage is restored from a backup: what came later never happened,
    /// and its versions are given again. All watches end.
    pub fn rewind(&self, version: u64) {
        self.shared().rewind(version);
    }

    /// Restarts at once: all connections close, and the watch cache begins anew, so that watches from before are too
    /// old (410), though exact lists are served still.
    pub fn restart(&self) {
        self.shared().restart();
    }

    /// Stops: the port is closed, so that connections are refused, until [`start_again`](Self::start_again).
    ///
    /// # Cancel safety
    ///
    /// Everything is closing from the first poll on.
    pub async fn stop(&self) {
        let listening = self.inner.listening.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(listening) = listening {
            self.shared().end_connections(Ending::Close);
            listening.stop().await;
        }
    }

    /// Starts after a stop, on the same port and with the same objects. The watch cache begins anew.
    ///
    /// # Errors
    ///
    /// Another process took the port.
    #[allow(clippy::unused_async, reason = "a runtime must be there, which an async function says")]
    pub async fn start_again(&self) -> io::Result<()> {
        let mut listening = self.inner.listening.lock().unwrap_or_else(PoisonError::into_inner);
        if listening.is_none() {
            self.shared().restart();
            let listener = listener::bind(self.inner.address)?;
            *listening = Some(Listening::start(listener, self.inner.shared.clone()));
        }
        Ok(())
    }

    /// Holds the watch cache at its present state: lists at "0" and watches see nothing newer, lists of the newest state
    /// wait, until [`resume_cache`](Self::resume_cache) or a restart.
    pub fn hold_cache(&self) {
        self.shared().state.change(|data| data.cache_stopped = Some(data.history.revision()));
    }

    /// Lets the watch cache catch up.
    pub fn resume_cache(&self) {
        self.shared().state.change(|data| data.cache_stopped = None);
    }

    /// The next request, whatever it is, fails so. Several calls are for several requests.
    pub fn fail_next(&self, fault: Fault) {
        self.rule(Match::any(), fault, Times::Once);
    }

    /// Requests that match fail so, as often as said. Of several rules that match, the oldest is used.
    pub fn rule(&self, requests: Match, fault: Fault, times: Times) {
        self.shared().rules().add(requests, fault, times);
    }

    /// Drops all rules.
    pub fn clear_rules(&self) {
        self.shared().rules().clear();
    }

    /// How many rules wait for requests still.
    #[must_use]
    pub fn rules_left(&self) -> usize {
        self.shared().rules().len()
    }

    /// The next so many connections are reset as soon as they are made.
    pub fn refuse_connections(&self, connections: usize) {
        self.shared().refusals.store(connections, Ordering::Release);
    }

    /// Every open connection ends in this way: [`Ending::Close`], [`Ending::Reset`] or [`Ending::HalfOpen`].
    pub fn end_connections(&self, how: Ending) {
        self.shared().end_connections(how);
    }

    /// All requests so far, in the order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.shared().requests.borrow().clone()
    }

    /// Forgets the requests so far.
    pub fn clear_requests(&self) {
        self.shared().requests.send_modify(Vec::clear);
    }

    /// Waits until this is true of the requests so far, and returns them.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost.
    pub async fn until(&self, mut enough: impl FnMut(&[Request]) -> bool) -> Vec<Request> {
        let mut requests = self.shared().requests.subscribe();
        // The sender lives as long as this handle, so that the wait cannot fail.
        let found = requests.wait_for(|requests| enough(requests)).await;
        found.map(|requests| requests.clone()).unwrap_or_default()
    }

    /// All connections so far, in the order of arrival.
    #[must_use]
    pub fn connections(&self) -> Vec<Connection> {
        self.shared().connections().iter().map(|(connection, _)| connection.clone()).collect()
    }

    /// How many watches are open.
    #[must_use]
    pub fn open_watches(&self) -> usize {
        self.shared().open_watches.load(Ordering::Acquire)
    }
}

#[track_caller]
fn allowed(written: Result<Arc<Value>, super::Refusal>) -> Value {
    match written {
        Ok(object) => Value::clone(&object),
        Err(status) => panic!("the server refused: {}", status.to_json()),
    }
}
