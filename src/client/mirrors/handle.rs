use super::{MirrorState, MirrorStates, MirrorsBuilder, NotAllReady};
use crate::{
    Error, Store,
    client::{Client, Discovered},
    source::StatsHandle,
};
use futures::future::join_all;
use kube_core::DynamicObject;
use std::{
    fmt,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};
use tokio::{task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

/// Many resources, each mirrored into a store of its own by a task of its own, over one client with its connections and
/// its [limits](super::super::ClientBuilder::list_rate). What fails or is refused for one leaves the others alone.
///
/// A resource that the server does not have is empty until it comes; one that comes into being under another name is
/// not among them.
///
/// # Drop
///
/// Dropping it ends the tasks; stores that are still held stay readable, and are then Stale.
///
/// # Memory
///
/// Each object once, as a tree of JSON. [`metadata_only`](super::super::Collection::metadata_only) through
/// [`collections`](MirrorsBuilder::collections) holds less.
#[must_use = "dropping it stops the mirrors"]
#[doc(alias("SharedInformerFactory", "DynamicSharedInformerFactory"))]
pub struct Mirrors {
    mirrors: Vec<Mirror>,
    tasks: JoinSet<()>,
    token: CancellationToken,
}

pub(super) struct Mirror {
    pub(super) name: String,
    pub(super) resource: Discovered,
    pub(super) store: Store<DynamicObject>,
    pub(super) stats: StatsHandle,
    /// Objects of another kind.
    pub(super) foreign: Arc<AtomicU64>,
}

impl Client {
    /// Mirrors these resources at once, whatever they are; see [`Mirrors::builder`] for settings.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use listwatch::{client::Client, testing::ApiServer};
    /// use serde_json::json;
    ///
    /// let server = ApiServer::start().await;
    /// server.create("configmaps", json!({"metadata": {"name": "settings"}}));
    /// let client = Client::new(&server.url())?;
    ///
    /// let mirrors = client.mirror_all(client.resources().await?);
    /// mirrors.ready().await.unwrap();
    /// println!("{}", mirrors.states()); // a table: resource, state, objects, version
    ///
    /// let maps = mirrors.store("configmaps").unwrap();
    /// assert!(maps.contains(("default", "settings")));
    /// assert!(mirrors.states().iter().all(|state| state.is_complete));
    /// mirrors.stop().await;
    /// # Ok::<_, listwatch::Error>(()) }).unwrap();
    /// ```
    pub fn mirror_all(&self, resources: impl IntoIterator<Item = Discovered>) -> Mirrors {
        Mirrors::builder(self.clone()).start(resources)
    }

    /// Mirrors all resources of an API group that can be listed, such as `apps`; `""` is the core group.
    ///
    /// # Errors
    ///
    /// As [`resources`](Client::resources), and [`Error::is_config`] where the server has none in that group.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub async fn mirror_group(&self, group: &str) -> Result<Mirrors, Error> {
        let mut resources = self.resources().await?;
        resources.retain(|found| found.resource.group == group && found.can_list());
        if resources.is_empty() {
            return Err(Error::config(format!("the server has nothing to list in the group {group:?}")));
        }
        Ok(self.mirror_all(resources))
    }
}

impl Mirrors {
    /// Settings first.
    pub fn builder(client: Client) -> MirrorsBuilder {
        MirrorsBuilder::new(client)
    }

    pub(super) fn new(mirrors: Vec<Mirror>, tasks: JoinSet<()>, token: CancellationToken) -> Self {
        Mirrors { mirrors, tasks, token }
    }

    /// How many resources are mirrored.
    pub fn len(&self) -> usize {
        self.mirrors.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.mirrors.is_empty()
    }

    /// The store of a resource by its [full name](Discovered::full_name): `pods`, `deployments.apps`.
    pub fn store(&self, name: &str) -> Option<&Store<DynamicObject>> {
        self.mirrors.iter().find(|mirror| mirror.name == name).map(|mirror| &mirror.store)
    }

    /// Each resource with its store, in the order given.
    pub fn iter(&self) -> impl Iterator<Item = (&Discovered, &Store<DynamicObject>)> {
        self.mirrors.iter().map(|mirror| (&mirror.resource, &mirror.store))
    }

    /// Reads what the stream of a resource has done so far.
    pub fn stats(&self, name: &str) -> Option<&StatsHandle> {
        self.mirrors.iter().find(|mirror| mirror.name == name).map(|mirror| &mirror.stats)
    }

    /// How each of them stands now: a table.
    pub fn states(&self) -> MirrorStates {
        MirrorStates::new(self.mirrors.iter().map(MirrorState::of).collect())
    }

    /// Waits until all of them are complete, which may be never: of what may not be listed, say. Any number may wait.
    ///
    /// # Errors
    ///
    /// Where a mirror ended before, which none does unless code of its user panicked in it.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nothing is lost by dropping the future.
    #[doc(alias = "WaitForCacheSync")]
    pub async fn ready(&self) -> Result<(), NotAllReady> {
        let all = join_all(self.mirrors.iter().map(|mirror| mirror.store.ready())).await;
        if all.iter().all(Result::is_ok) { Ok(()) } else { Err(NotAllReady::new(None, self.states())) }
    }

    /// [`ready`](Mirrors::ready), but no longer than `limit`.
    ///
    /// # Errors
    ///
    /// As there, and where the time is over before; the error says which are not complete, and why.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nothing is lost by dropping the future.
    pub async fn ready_within(&self, limit: Duration) -> Result<(), NotAllReady> {
        match timeout(limit, self.ready()).await {
            Ok(ready) => ready,
            Err(_) => Err(NotAllReady::new(Some(limit), self.states())),
        }
    }

    /// Stops them all, and waits until their requests are dropped.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the tasks as well.
    pub async fn stop(mut self) {
        self.token.cancel();
        while self.tasks.join_next().await.is_some() {}
    }
}

impl fmt::Debug for Mirrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.mirrors.iter().map(|mirror| &mirror.name);
        f.debug_tuple("Mirrors").field(&names.collect::<Vec<_>>()).finish()
    }
}
