use crate::{Error, ResourceVersion};
use futures::{
    Stream, StreamExt,
    stream::{BoxStream, FusedStream},
};
use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

/// One part of a list's answer. `Meta` comes exactly once: before, between or after the items.
#[derive(Debug)]
#[non_exhaustive]
pub enum ListPart<K> {
    /// One object, in the order of the list.
    Item(Arc<K>),
    /// The list's `metadata`.
    Meta(ListMeta),
    /// Bytes came, but no whole part yet: the answer is not silent.
    Progress,
}

/// The `metadata` of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListMeta {
    /// Unset where the list has none, which only [`poll_every`](super::ListWatch::poll_every) accepts.
    pub resource_version: ResourceVersion,
    /// Where the next page goes on; `None` and `""` end the list.
    pub continue_token: Option<Box<str>>,
    /// How many items are still to come, where the server says so.
    pub remaining_items: Option<u64>,
    /// The shard selector that the server says it applied: `metadata.shardInfo`.
    pub shard: Option<Box<str>>,
}

impl ListMeta {
    /// The metadata of a list's last page.
    pub fn new(resource_version: impl Into<ResourceVersion>) -> Self {
        ListMeta { resource_version: resource_version.into(), ..Self::default() }
    }

    /// The same of a page that another follows.
    #[must_use]
    pub fn with_continue(mut self, token: impl Into<Box<str>>) -> Self {
        self.continue_token = Some(token.into());
        self
    }

    /// The same with the number of items still to come.
    #[must_use]
    pub fn with_remaining(mut self, items: u64) -> Self {
        self.remaining_items = Some(items);
        self
    }
}

/// One event of a watch, as it stands on the wire.
#[derive(Debug)]
#[non_exhaustive]
pub enum WireEvent<K> {
    /// `ADDED`
    Added(Arc<K>),
    /// `MODIFIED`
    Modified(Arc<K>),
    /// `DELETED`
    Deleted(Arc<K>),
    /// `BOOKMARK`
    Bookmark {
        /// Up to here nothing changed.
        resource_version: ResourceVersion,
        /// The value of the annotation `k8s.io/initial-events-end`, where there is one.
        initial_events_end: Option<Box<str>>,
    },
    /// `ERROR`: see [`Error::from_event`].
    Error(Error),
    /// An event, up to this version, about an object that the source leaves out, such as another shard's: nothing is
    /// told, but the watch is not silent and its position moves.
    Elsewhere(ResourceVersion),
    /// Any other type.
    Unknown(Box<str>),
}

impl<K> WireEvent<K> {
    /// `ADDED` with an object by value.
    pub fn added(object: K) -> Self {
        WireEvent::Added(Arc::new(object))
    }
    /// `MODIFIED` with an object by value.
    pub fn modified(object: K) -> Self {
        WireEvent::Modified(Arc::new(object))
    }
    /// `DELETED` with an object by value.
    pub fn deleted(object: K) -> Self {
        WireEvent::Deleted(Arc::new(object))
    }
    /// An ordinary `BOOKMARK`.
    pub fn bookmark(version: impl Into<ResourceVersion>) -> Self {
        WireEvent::Bookmark { resource_version: version.into(), initial_events_end: None }
    }
    /// The `BOOKMARK` that ends a watch-list's snapshot.
    pub fn initial_events_end(version: impl Into<ResourceVersion>) -> Self {
        WireEvent::Bookmark { resource_version: version.into(), initial_events_end: Some("true".into()) }
    }
}

/// An answer that has begun. Dropping it ends the request.
///
/// Its first error that is not [`Recovery::Skip`](crate::Recovery::Skip) is its last item.
pub struct Body<T>(Option<BoxStream<'static, Result<T, Error>>>);

/// The answer to a list request.
pub type ListBody<K> = Body<ListPart<K>>;
/// The answer to a watch request.
pub type WatchBody<K> = Body<WireEvent<K>>;

impl<T> Body<T> {
    /// Boxes a stream: one allocation a request.
    pub fn new(stream: impl Stream<Item = Result<T, Error>> + Send + 'static) -> Self {
        Body(Some(stream.boxed()))
    }
}

impl<T> Stream for Body<T> {
    type Item = Result<T, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(stream) = &mut self.0 else { return Poll::Ready(None) };
        let item = futures::ready!(stream.poll_next_unpin(cx));
        if item.is_none() {
            self.0 = None;
        }
        Poll::Ready(item)
    }
}

impl<T> FusedStream for Body<T> {
    fn is_terminated(&self) -> bool {
        self.0.is_none()
    }
}

impl<T> fmt::Debug for Body<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").field("ended", &self.0.is_none()).finish()
    }
}
