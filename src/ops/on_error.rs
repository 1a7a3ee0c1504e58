use super::stage::{Stage, operator};
use futures::Stream;
use pin_project::pin_project;
use std::{
    pin::Pin,
    task::{Context, Poll},
};

/// Stream for the [`on_error`](crate::EventStreamExt::on_error) method.
///
#[doc = include_str!("figures/on_error.md")]
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct OnError<S, F> {
    #[pin]
    stage: Stage<S, F>,
}

impl<S, F> OnError<S, F> {
    pub(super) fn new(stream: S, f: F) -> Self {
        OnError { stage: Stage::new(stream, f) }
    }
}

operator!(OnError<S, F>);

impl<S, F, T, E> Stream for OnError<S, F>
where
    S: Stream<Item = Result<T, E>>,
    F: FnMut(E),
{
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.project().stage.poll_some(cx, |f, item| item.map_err(f).ok())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stage.size_hint_at_most()
    }
}
