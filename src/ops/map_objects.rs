use super::stage::{Stage, operator};
use crate::Event;
use futures::Stream;
use pin_project::pin_project;
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

/// Stream for the [`map_objects`](crate::EventStreamExt::map_objects) method.
///
#[doc = include_str!("figures/map_objects.md")]
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct MapObjects<S, F> {
    #[pin]
    stage: Stage<S, F>,
}

impl<S, F> MapObjects<S, F> {
    pub(super) fn new(stream: S, f: F) -> Self {
        MapObjects { stage: Stage::new(stream, f) }
    }
}

operator!(MapObjects<S, F>);

impl<S, F, K, L, E> Stream for MapObjects<S, F>
where
    S: Stream<Item = Result<Event<K>, E>>,
    F: FnMut(&K) -> L,
{
    type Item = Result<Event<L>, E>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.project().stage.poll(cx, |f, item| Ok(item?.map(|object| Arc::new(f(&object)))))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stage.size_hint()
    }
}
