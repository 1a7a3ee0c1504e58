use super::stage::{Stage, operator};
use futures::Stream;
use pin_project::pin_project;
use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// Stream for the [`until`](crate::EventStreamExt::until) method.
///
#[doc = include_str!("figures/until.md")]
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct Until<S> {
    #[pin]
    stage: Stage<S, Pin<Box<WaitForCancellationFutureOwned>>>,
}

impl<S> Until<S> {
    pub(super) fn new(stream: S, token: CancellationToken) -> Self {
        Until { stage: Stage::new(stream, Box::pin(token.cancelled_owned())) }
    }
}

operator!(Until<S>);

impl<S: Stream> Stream for Until<S> {
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let mut stage = self.project().stage;
        let cancelled = stage.as_mut().with(|token| token.as_mut().poll(cx).is_ready());
        if cancelled == Some(true) {
            stage.finish();
            return Poll::Ready(None);
        }
        stage.poll(cx, |_, item| item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stage.size_hint_at_most()
    }
}
