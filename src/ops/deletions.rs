use super::{
    Project,
    stage::{Stage, operator},
};
use futures::Stream;
use pin_project::pin_project;
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

/// Stream for the [`deletions`](crate::EventStreamExt::deletions) method.
///
#[doc = include_str!("figures/deletions.md")]
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct Deletions<S> {
    #[pin]
    stage: Stage<S, ()>,
}

impl<S> Deletions<S> {
    pub(super) fn new(stream: S) -> Self {
        Deletions { stage: Stage::new(stream, ()) }
    }
}

operator!(Deletions<S>);

impl<S, P, E> Stream for Deletions<S>
where
    S: Stream<Item = Result<P, E>>,
    P: Project,
{
    type Item = Result<Arc<P::Object>, E>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.project().stage.poll_some(cx, |(), item| item.map(P::into_deletion).transpose())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stage.size_hint_at_most()
    }
}
