use super::{Mirrors, handle::Mirror};
use crate::{
    Error, Event, EventStreamExt, Store,
    client::{Client, Collection, Discovered},
    policy::ExponentialBackoff,
    source::{Events, ListWatch},
};
use futures::{FutureExt, Stream, StreamExt, future, future::BoxFuture};
use kube_core::{ApiResource, DynamicObject};
use std::{
    collections::HashSet,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

type Narrow = Box<dyn Fn(Collection<DynamicObject>) -> Collection<DynamicObject> + Send>;
type Set = Box<dyn Fn(Events<DynamicObject>) -> Events<DynamicObject> + Send>;

/// Settings of [`Mirrors`], then what they mirror.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use listwatch::{client::{Client, Mirrors}, testing::ApiServer};
/// use std::time::Duration;
///
/// let server = ApiServer::start().await;
/// let client = Client::new(&server.url())?;
/// let wanted = [client.discover("pods").await?, client.discover("deploy").await?];
/// let mirrors = Mirrors::builder(client)
///     .collections(|collection| collection.labels("app=cart").metadata_only())
///     .events(|events| events.watch_timeout(Duration::from_secs(600)))
///     .start(wanted);
/// mirrors.ready().await.unwrap();
/// assert_eq!(mirrors.states().iter().map(|state| &*state.resource).collect::<Vec<_>>(), ["pods", "deployments.apps"]);
/// # Ok::<_, listwatch::Error>(()) }).unwrap();
/// ```
#[must_use = "a builder does nothing until it starts"]
pub struct MirrorsBuilder {
    client: Client,
    narrow: Narrow,
    set: Set,
    poll_period: Duration,
}

impl MirrorsBuilder {
    pub(super) fn new(client: Client) -> Self {
        MirrorsBuilder {
            client,
            narrow: Box::new(|collection| collection),
            set: Box::new(|events| events),
            poll_period: Duration::from_secs(60),
        }
    }

    /// What holds for each collection: selectors, metadata alone, a shard. Several hold, in their order.
    pub fn collections(
        mut self,
        narrow: impl Fn(Collection<DynamicObject>) -> Collection<DynamicObject> + Send + 'static,
    ) -> Self {
        let before = self.narrow;
        self.narrow = Box::new(move |collection| narrow(before(collection)));
        self
    }

    /// Settings of each stream. Several hold, in their order. Beside the defaults of
    /// [`events`](ListWatch::events) the name is the resource's, and one that the server does not have
    /// [is empty](Events::absent_is_empty).
    pub fn events(mut self, set: impl Fn(Events<DynamicObject>) -> Events<DynamicObject> + Send + 'static) -> Self {
        let before = self.set;
        self.set = Box::new(move |events| set(before(events)));
        self
    }

    /// How often what cannot be watched is listed. Default: once a minute.
    pub fn poll_every(mut self, period: Duration) -> Self {
        self.poll_period = period;
        self
    }

    /// Mirrors these resources, each in a task of its own. Those that cannot be listed are left out, and so are other
    /// versions of one that came before.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn start(self, resources: impl IntoIterator<Item = Discovered>) -> Mirrors {
        let (mut mirrors, mut tasks, token) = (Vec::new(), JoinSet::new(), CancellationToken::new());
        let mut taken = HashSet::new();
        for resource in resources {
            let name = resource.full_name();
            if !resource.can_list() || !taken.insert(name.clone()) {
                continue;
            }
            let (store, foreign) = (Store::new(), Arc::default());
            let all = (self.narrow)(Collection::all_with(self.client.clone(), &resource.resource));
            let stats = if resource.can_watch() {
                let events = (self.set)(all.events().name(&name).absent_is_empty());
                let stats = events.stats();
                tasks.spawn(run(events, &resource.resource, &store, &foreign, token.clone()));
                stats
            } else {
                let polls = all.poll_every(self.poll_period).name(&name).absent_is_empty();
                let stats = polls.stats();
                tasks.spawn(run(polls, &resource.resource, &store, &foreign, token.clone()));
                stats
            };
            mirrors.push(Mirror { name, resource, store, stats, foreign });
        }
        Mirrors::new(mirrors, tasks, token)
    }
}

/// The standard composition, for objects that could be anything.
fn run(
    events: impl Stream<Item = Result<Event<DynamicObject>, Error>> + Send + Unpin + 'static,
    ApiResource { api_version, kind, .. }: &ApiResource,
    store: &Store<DynamicObject>,
    foreign: &Arc<AtomicU64>,
    token: CancellationToken,
) -> BoxFuture<'static, ()> {
    let events = events.expect_kind(api_version, kind).backoff(ExponentialBackoff::default());
    let foreign = Arc::clone(foreign);
    let count = move |error: Error| {
        foreign.fetch_add(u64::from(error.is_wrong_kind()), Relaxed);
    };
    events.reflect(store).on_error(count).until(token).for_each(|_| future::ready(())).boxed()
}

impl fmt::Debug for MirrorsBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("MirrorsBuilder");
        out.field("client", &self.client).field("poll_period", &self.poll_period).finish_non_exhaustive()
    }
}
