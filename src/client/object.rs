use super::Collection;
use crate::{
    Change, Error, EventStreamExt, Key, Object, Recovery, Store,
    ops::{Backoff, ReflectInto},
    policy::ExponentialBackoff,
    source::{Events, ListWatch},
    store::StoreFold,
};
use futures::{Stream, StreamExt, stream::FusedStream};
use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

impl<K: Object> Collection<K> {
    /// The states of the one object that this collection has: of [`named`](Collection::named), or of a selector that
    /// one object matches.
    ///
    /// ```
    /// use futures::StreamExt;
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use listwatch::{Error, client::{Client, Collection}, testing::ApiServer};
    /// use serde_json::json;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
    /// let server = ApiServer::start().await;
    /// let client = Client::with_transport(server.clone());
    /// let mut states = Collection::<ConfigMap>::named(client, "settings").object();
    /// assert_eq!(states.next().await.unwrap()?, None);
    ///
    /// server.create("configmaps", json!({"metadata": {"name": "settings"}, "data": {"color": "blue"}}));
    /// let settings = states.wait(|settings| settings.is_some()).await?.unwrap();
    /// assert_eq!(settings.data.as_ref().unwrap()["color"], "blue");
    ///
    /// server.delete("configmaps", "default/settings");
    /// assert_eq!(states.next().await.unwrap()?, None);
    /// # Ok::<_, Error>(()) }).unwrap();
    /// ```
    #[doc(alias("watch_object", "await_condition"))]
    #[track_caller]
    pub fn object(self) -> ObjectStates<K> {
        let store = Store::new();
        let changes = self.events().backoff(ExponentialBackoff::default()).reflect(&store);
        ObjectStates { changes, store, complete: false, told: None }
    }
}

/// The states of one object, `None` while it is absent: see [`Collection::object`].
///
/// The first state comes once the server has answered, then each one that differs: a relist or a reconnect that finds
/// the object unchanged (same uid, same version) tells nothing. An object that was deleted and made anew meanwhile is
/// told as `None` and then the new one.
///
/// # Errors
///
/// Errors are items, and the stream goes on after each, with the default backoff: it never ends by itself. An object
/// that does not decode is an `Err`, not `None`; the last readable state of the same object stands. Where several
/// objects match, the states are those of the first, and each other one is an `Err` with [`Error::is_config`].
///
/// # Cancel safety
///
/// Waiting for the next item may be dropped and begun again: nothing is lost. Dropping the stream ends its request.
///
/// # Memory
///
/// Holds the object.
#[must_use = "streams do nothing unless polled"]
pub struct ObjectStates<K: Object> {
    changes: ReflectInto<Backoff<Events<K>, ExponentialBackoff>, StoreFold<K>, K>,
    store: Store<K>,
    /// A snapshot was complete.
    complete: bool,
    told: Option<Option<Arc<K>>>,
}

impl<K: Object> ObjectStates<K> {
    /// Waits until the condition holds of the object, or of `None` for its absence, and gives that state.
    ///
    /// The state that was told last counts first, if any: it may be older than a write of one's own. Then a condition
    /// should ask for that write too, such as for `status.observedGeneration`; a new stream begins with what the server
    /// has now. Of the states in between each one is asked about. Nothing limits the time: see `tokio::time::timeout`.
    ///
    /// # Errors
    ///
    /// What does not pass by itself: no right to list or watch it (401, 403), a resource that the server does not know
    /// (404; an absent object is none) or cannot watch (405), credentials that cannot be had, several objects, or an
    /// object that does not decode. All else, such as a server that is away or overloaded, is waited for and traced at
    /// debug; who wants to see it reads the stream. After an error the stream goes on, and one may wait again.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the stream keeps its connection and the state that it told last, so that another wait goes on from
    /// there. States that the condition was asked about do not come as items again.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::Pod;
    /// use listwatch::{Error, client::{Client, Collection}, testing::ApiServer};
    /// use serde_json::json;
    /// use std::time::Duration;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
    /// let server = ApiServer::start().await;
    /// server.create("pods", json!({"metadata": {"name": "job"}, "status": {"phase": "Pending"}}));
    /// let is_done = |pod: Option<&Pod>| {
    ///     let phase = pod.and_then(|pod| pod.status.as_ref()?.phase.as_deref());
    ///     matches!(phase, Some("Succeeded" | "Failed"))
    /// };
    /// let mut job = Collection::<Pod>::named(Client::with_transport(server.clone()), "job").object();
    /// let a_minute = Duration::from_secs(60);
    /// assert!(tokio::time::timeout(a_minute, job.wait(is_done)).await.is_err());
    ///
    /// server.patch("pods", json!({"metadata": {"name": "job"}, "status": {"phase": "Succeeded"}}));
    /// assert!(job.wait(is_done).await?.is_some());
    /// # Ok::<_, Error>(()) }).unwrap();
    /// ```
    pub async fn wait(&mut self, mut condition: impl FnMut(Option<&K>) -> bool) -> Result<Option<Arc<K>>, Error> {
        if let Some(state) = &self.told
            && condition(state.as_deref())
        {
            return Ok(state.clone());
        }
        loop {
            match self.next().await {
                Some(Ok(state)) if condition(state.as_deref()) => return Ok(state),
                Some(Ok(_)) => {}
                Some(Err(error)) if is_lasting(&error) => return Err(error),
                Some(Err(error)) => tracing::debug!(%error, "waiting for an object goes on"),
                None => return Err(Error::interrupted("the stream has ended")),
            }
        }
    }

    /// [`wait`](ObjectStates::wait) with a condition of kube-runtime, ready-made or put together of such.
    ///
    /// # Errors
    ///
    /// As [`wait`](ObjectStates::wait).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, as [`wait`](ObjectStates::wait) is.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::Pod;
    /// use kube_runtime::wait::{Condition, conditions};
    /// use listwatch::{Error, client::{Client, Collection}, testing::ApiServer};
    /// use serde_json::json;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
    /// let server = ApiServer::start().await;
    /// server.create("pods", json!({"metadata": {"name": "cart"}, "status": {"phase": "Running"}}));
    /// let mut cart = Collection::<Pod>::named(Client::with_transport(server), "cart").object();
    /// assert!(cart.wait_condition(conditions::is_pod_running()).await?.is_some());
    /// assert!(cart.wait_condition(conditions::is_deleted("another uid").not().not()).await?.is_some());
    /// # Ok::<_, Error>(()) }).unwrap();
    /// ```
    #[cfg(feature = "kube-runtime")]
    pub async fn wait_condition(
        &mut self,
        condition: impl kube_runtime::wait::Condition<K>,
    ) -> Result<Option<Arc<K>>, Error> {
        self.wait(|object| condition.matches_object(object)).await
    }

    fn tell(&mut self, state: Option<Arc<K>>) -> Poll<Option<Result<Option<Arc<K>>, Error>>> {
        self.told = Some(state.clone());
        Poll::Ready(Some(Ok(state)))
    }

    /// Nothing was told, as there is nothing: not even an object that does not decode.
    fn is_absent(&self) -> bool {
        self.complete && self.told.is_none() && self.store.is_empty() && self.store.unreadable().is_empty()
    }

    /// Whether an object is another one than that whose states are told.
    fn is_another(&self, object: &K) -> bool {
        matches!(&self.told, Some(Some(held)) if Key::of(&**held) != Key::of(object))
    }
}

/// Whether waiting does not help.
fn is_lasting(error: &Error) -> bool {
    error.recovery() != Recovery::Fallback
        && (error.is_unauthorized()
            || error.is_forbidden()
            || error.is_not_found()
            || error.is_unwatchable()
            || error.is_config()
            || error.is_no_resource()
            || error.is_unreadable()
            || error.is_wrong_kind()
            || error.is_refused())
}

impl<K: Object> Stream for ObjectStates<K> {
    type Item = Result<Option<Arc<K>>, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        /// Changes that are taken before the task is let go.
        const BUDGET: usize = 128;
        let this = self.get_mut();
        for _ in 0..BUDGET {
            let polled = this.changes.poll_next_unpin(cx);
            if polled.is_pending() && this.is_absent() {
                return this.tell(None);
            }
            match ready!(polled) {
                Some(Ok(Change::Added { object, .. } | Change::Updated { new: object, .. })) => {
                    if this.is_another(&object) {
                        let error = Error::config("several objects match where one is waited for");
                        return Poll::Ready(Some(Err(error.with_recovery(Recovery::Skip))));
                    }
                    return this.tell(Some(object));
                }
                Some(Ok(Change::Deleted { last, .. })) if !this.is_another(&last) => return this.tell(None),
                Some(Ok(Change::Synced { .. })) => {
                    this.complete = true;
                    if this.is_absent() {
                        return this.tell(None);
                    }
                }
                Some(Ok(_)) => {}
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<K: Object> FusedStream for ObjectStates<K> {
    fn is_terminated(&self) -> bool {
        self.changes.is_terminated()
    }
}

impl<K: Object> fmt::Debug for ObjectStates<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectStates").field("changes", &self.changes).finish_non_exhaustive()
    }
}
