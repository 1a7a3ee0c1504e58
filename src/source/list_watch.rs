use super::{AnySource, Events, List, ListBody, ListParams, PollEvery, WatchBody, WatchFrom, WatchList, WatchParams};
use crate::{Error, InvalidVersion, Object, ResourceVersion};
use std::{future::Future, panic::Location, sync::Arc, time::Duration};

/// What can be listed and watched. Implement the first two methods with `async fn`; the streams are given.
///
/// # Contract
///
/// * Each method makes one request. Its future resolves once the server has answered; what follows is the body.
/// * A list's body yields its items in order and its [`ListMeta`](super::ListMeta) exactly once, wherever that comes.
/// * An object that does not decode is an [`Error::unreadable`] item, and the body goes on. Any other error is its last.
/// * Nothing is retried, and nothing is read ahead of the consumer.
/// * Bodies borrow nothing from the source and stop their request when dropped.
///
/// ```
/// use futures::{StreamExt, stream};
/// use listwatch::{Error, Event, Object, Raw, source::*};
///
/// /// The objects of a file; watches never say anything.
/// struct Fixed(Vec<Raw>);
///
/// impl ListWatch for Fixed {
///     type Object = Raw;
///     async fn list_page(&self, _: ListParams) -> Result<ListBody<Raw>, Error> {
///         let items: Vec<_> = self.0.iter().cloned().map(|raw| ListPart::Item(raw.into())).collect();
///         Ok(Body::new(stream::iter(items).chain(stream::iter([ListPart::Meta(ListMeta::new("1"))])).map(Ok)))
///     }
///     async fn open_watch(&self, _: WatchParams) -> Result<WatchBody<Raw>, Error> {
///         Ok(Body::new(stream::pending()))
///     }
///     fn supports_watch_list(&self) -> bool {
///         false
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let source = Fixed(vec![Raw::decode(br#"{"metadata":{"name":"a"}}"#)?]);
/// let events: Vec<_> = source.list().map(Result::unwrap).collect().await;
/// assert!(matches!(&events[..], [Event::SnapshotStart, Event::Listed(_), Event::SnapshotEnd(_)]));
/// # Ok::<_, listwatch::DecodeError>(()) }).unwrap();
/// ```
#[doc(alias("ListerWatcher", "Api"))]
pub trait ListWatch: Send + Sync + 'static {
    /// What is listed and watched.
    type Object: Object;

    /// One request for one page of a list.
    fn list_page(&self, params: ListParams) -> impl Future<Output = Result<ListBody<Self::Object>, Error>> + Send;

    /// One request for a watch, or a watch-list.
    fn open_watch(&self, params: WatchParams) -> impl Future<Output = Result<WatchBody<Self::Object>, Error>> + Send;

    /// Waits until a snapshot may be asked for. Streams await it before each list, each further page and each
    /// watch-list, outside of their deadlines. Must be cancel safe. Default: at once.
    fn before_list(&self) -> impl Future<Output = ()> + Send {
        std::future::ready(())
    }

    /// Whether a watch-list may be asked for at all. Where not, streams go straight to LIST.
    fn supports_watch_list(&self) -> bool {
        true
    }

    /// The resource, for traces: such as `pods`.
    fn resource(&self) -> &str {
        ""
    }

    /// The namespace, for traces; `""` for all.
    fn namespace(&self) -> &str {
        ""
    }

    /// A snapshot by paged LIST, first at version `"0"`; ends after `SnapshotEnd`.
    ///
    /// An expired version or page is a [`Fallback`](crate::Recovery::Fallback) item, any other failure a
    /// [`Relist`](crate::Recovery::Relist) item; the list is then tried again, for ever.
    #[track_caller]
    fn list(self) -> List<Self::Object>
    where
        Self: Sized,
    {
        List::new(self.erase(), Location::caller())
    }

    /// Changes from a version on, across reconnects; ends after an `Err` with Relist.
    ///
    /// # Errors
    ///
    /// A watch cannot start at `""` or `"0"`.
    #[track_caller]
    fn watch_from(self, version: impl Into<ResourceVersion>) -> Result<WatchFrom<Self::Object>, InvalidVersion>
    where
        Self: Sized,
    {
        Ok(WatchFrom::new(self.erase(), version.into().exact()?, Location::caller()))
    }

    /// A snapshot by `sendInitialEvents`, which goes on as the watch on the same connection.
    ///
    /// Ends where a LIST would be next, and after an `Err` with Relist once its snapshot was complete.
    #[track_caller]
    fn watch_list(self) -> WatchList<Self::Object>
    where
        Self: Sized,
    {
        WatchList::new(self.erase(), Location::caller())
    }

    /// A snapshot, then the watch, and a new snapshot whenever continuity is lost. Never ends.
    #[track_caller]
    #[doc(alias("ListAndWatch", "watcher", "reflector"))]
    fn events(self) -> Events<Self::Object>
    where
        Self: Sized,
    {
        Events::new(self.erase(), Location::caller())
    }

    /// A list each period, for what cannot be watched; a list without a version is fine here. Never ends.
    ///
    /// The period runs from the end of one list to the start of the next.
    #[track_caller]
    fn poll_every(self, period: Duration) -> PollEvery<Self::Object>
    where
        Self: Sized,
    {
        PollEvery::new(self.erase(), period, Location::caller())
    }

    /// This source without its type, cloneable.
    fn erase(self) -> AnySource<Self::Object>
    where
        Self: Sized,
    {
        AnySource::new(self)
    }
}

impl<S: ListWatch> ListWatch for Arc<S> {
    type Object = S::Object;
    async fn list_page(&self, params: ListParams) -> Result<ListBody<S::Object>, Error> {
        (**self).list_page(params).await
    }
    async fn open_watch(&self, params: WatchParams) -> Result<WatchBody<S::Object>, Error> {
        (**self).open_watch(params).await
    }
    async fn before_list(&self) {
        (**self).before_list().await;
    }
    fn supports_watch_list(&self) -> bool {
        (**self).supports_watch_list()
    }
    fn resource(&self) -> &str {
        (**self).resource()
    }
    fn namespace(&self) -> &str {
        (**self).namespace()
    }
}
