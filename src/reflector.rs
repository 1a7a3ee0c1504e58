mod handle;

pub use self::handle::{Ended, ReflectorHandle};

use crate::{
    Change, Error, EventStreamExt, Object, Store,
    policy::{Backoff, ExponentialBackoff},
    source::{Events, ListWatch, RelistHandle, StatsHandle, Strategy},
};
use futures::{Stream, StreamExt, stream::BoxStream, stream::FusedStream};
use std::{
    fmt,
    panic::Location,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// The standard composition as a builder and a stream of [`Change`]: `events()`, `backoff`, `resync`, `reflect`,
/// `on_error`. Made of public parts alone: who wants another order or another part writes the chain.
///
/// Never ends by itself. Errors go to the handler, the store's state and the trace. Nothing happens until it is
/// polled, [`run`](Reflector::run) or [`spawn`](Reflector::spawn)ed.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
/// use listwatch::{Object, Raw, Reflector, testing::ScriptedApi};
///
/// let raw = Raw::decode(br#"{"metadata":{"namespace":"ns","name":"a","uid":"u","resourceVersion":"5"}}"#).unwrap();
/// let api = ScriptedApi::new().without_watch_list().on_list("7", [raw]);
///
/// let reflector = Reflector::new(api).name("pods").page_size(500).spawn();
/// reflector.store().ready().await.unwrap();
/// assert!(reflector.store().contains(("ns", "a")));
/// reflector.stop().await;
/// # });
/// ```
#[must_use = "streams do nothing unless polled"]
#[doc(alias("Informer", "SharedInformer", "ListAndWatch"))]
pub struct Reflector<K: Object> {
    parts: Option<Parts<K>>,
    store: Store<K>,
    stats: StatsHandle,
    relist: RelistHandle,
    name: String,
    running: Option<BoxStream<'static, Change<K>>>,
}

/// What the chain is made of, until the first poll.
struct Parts<K> {
    events: Events<K>,
    backoff: Box<dyn Backoff + Send>,
    resync: Option<Duration>,
    resync_if: Box<dyn FnMut() -> bool + Send>,
    on_error: Box<dyn FnMut(Error) + Send>,
}

impl<K: Object> Reflector<K> {
    /// Mirrors a source into a store of its own.
    #[track_caller]
    pub fn new(source: impl ListWatch<Object = K>) -> Self {
        let events = source.events();
        let caller = Location::caller();
        let (stats, relist) = (events.stats(), events.relist_handle());
        let parts = Parts {
            events,
            backoff: Box::new(ExponentialBackoff::default()),
            resync: None,
            resync_if: Box::new(|| true),
            on_error: Box::new(drop),
        };
        let name = format!("{}:{}", caller.file(), caller.line());
        Reflector { parts: Some(parts), store: Store::new(), stats, relist, name, running: None }
    }

    /// The name in traces. Default: the caller's `file:line`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        let name = self.name.clone();
        self.events(|events| events.name(name))
    }

    /// How snapshots are taken: see [`Events::strategy`].
    pub fn strategy(self, strategy: Strategy) -> Self {
        self.events(|events| events.strategy(strategy))
    }

    /// Items per page of a LIST: see [`Events::page_size`].
    pub fn page_size(self, items: u32) -> Self {
        self.events(|events| events.page_size(items))
    }

    /// The shortest life of a watch: see [`Events::watch_timeout`].
    pub fn watch_timeout(self, shortest: Duration) -> Self {
        self.events(|events| events.watch_timeout(shortest))
    }

    /// Any other setting of the source stream.
    ///
    /// ```
    /// # use listwatch::{Raw, Reflector, testing::ScriptedApi};
    /// # use std::time::Duration;
    /// let api = ScriptedApi::<Raw>::new();
    /// let reflector = Reflector::new(api).events(|events| events.idle_timeout(Duration::from_secs(90)));
    /// # drop(reflector);
    /// ```
    pub fn events(mut self, set: impl FnOnce(Events<K>) -> Events<K>) -> Self {
        self.parts = self.parts.map(|parts| Parts { events: set(parts.events), ..parts });
        self
    }

    /// How long to wait after failures. Default: [`ExponentialBackoff::default`].
    pub fn backoff(mut self, policy: impl Backoff + Send + 'static) -> Self {
        self.parts = self.parts.map(|parts| Parts { backoff: Box::new(policy), ..parts });
        self
    }

    /// Replays what is held, this often. Default: never.
    #[doc(alias = "ResyncPeriod")]
    pub fn resync(mut self, period: Duration) -> Self {
        self.parts = self.parts.map(|parts| Parts { resync: Some(period), ..parts });
        self
    }

    /// Asked whenever a resync is due. Default: always yes.
    #[doc(alias = "ShouldResync")]
    pub fn resync_if(mut self, predicate: impl FnMut() -> bool + Send + 'static) -> Self {
        self.parts = self.parts.map(|parts| Parts { resync_if: Box::new(predicate), ..parts });
        self
    }

    /// Is handed every error. Default: they are only traced, and the store's state.
    #[doc(alias = "SetWatchErrorHandler")]
    pub fn on_error(mut self, handler: impl FnMut(Error) + Send + 'static) -> Self {
        self.parts = self.parts.map(|parts| Parts { on_error: Box::new(handler), ..parts });
        self
    }

    /// Mirrors into this store rather than one of its own.
    pub fn into_store(mut self, store: &Store<K>) -> Self {
        self.store = store.clone();
        self
    }

    /// The store that this feeds.
    pub fn store(&self) -> Store<K> {
        self.store.clone()
    }

    /// Reads what the source stream has done so far, at any time.
    pub fn stats(&self) -> StatsHandle {
        self.stats.clone()
    }

    /// Runs until the token is cancelled, and drops the changes: for who reads the store or subscribes.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future is the same as cancelling the token.
    pub async fn run(self, token: CancellationToken) {
        self.until(token).for_each(|_| std::future::ready(())).await;
    }

    /// Runs in a task of its own, which ends when the handle is stopped or dropped.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn spawn(self) -> ReflectorHandle<K> {
        let (store, stats, relist) = (self.store(), self.stats(), self.relist.clone());
        let token = CancellationToken::new();
        ReflectorHandle::new(store, stats, relist, token.clone(), tokio::spawn(self.run(token)))
    }

    fn start(parts: Parts<K>, store: &Store<K>) -> BoxStream<'static, Change<K>> {
        let Parts { events, backoff, resync, resync_if, on_error } = parts;
        let events = events.backoff(backoff);
        match resync {
            Some(period) => events.resync_if(period, resync_if).reflect(store).on_error(on_error).boxed(),
            None => events.reflect(store).on_error(on_error).boxed(),
        }
    }
}

impl<K: Object> Stream for Reflector<K> {
    type Item = Change<K>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Change<K>>> {
        if let Some(parts) = self.parts.take() {
            self.running = Some(Self::start(parts, &self.store));
        }
        // Taken out while it is polled: after a panic of user code in there, the stream is over.
        let Some(mut running) = self.running.take() else { return Poll::Ready(None) };
        let polled = running.poll_next_unpin(cx);
        if !matches!(polled, Poll::Ready(None)) {
            self.running = Some(running);
        }
        polled
    }
}

impl<K: Object> FusedStream for Reflector<K> {
    fn is_terminated(&self) -> bool {
        self.parts.is_none() && self.running.is_none()
    }
}

impl<K: Object> fmt::Debug for Reflector<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reflector").field("name", &self.name).field("store", &self.store).finish_non_exhaustive()
    }
}
