use super::stage::{Stage, operator};
use crate::Event;
use futures::Stream;
use kube_core::Resource;
use pin_project::pin_project;
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

/// Stream for the [`strip_managed_fields`](crate::EventStreamExt::strip_managed_fields) method.
///
#[doc = include_str!("figures/strip_managed_fields.md")]
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct StripManagedFields<S> {
    #[pin]
    stage: Stage<S, ()>,
}

impl<S> StripManagedFields<S> {
    pub(super) fn new(stream: S) -> Self {
        StripManagedFields { stage: Stage::new(stream, ()) }
    }
}

operator!(StripManagedFields<S>);

impl<S, K, E> Stream for StripManagedFields<S>
where
    S: Stream<Item = Result<Event<K>, E>>,
    K: Resource + Clone,
{
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        self.project().stage.poll(cx, |(), item| Ok(item?.map(strip)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stage.size_hint()
    }
}

/// Objects that have none are left as they are, shared or not.
fn strip<K: Resource + Clone>(mut object: Arc<K>) -> Arc<K> {
    if object.meta().managed_fields.is_some() {
        Arc::make_mut(&mut object).meta_mut().managed_fields = None;
    }
    object
}
