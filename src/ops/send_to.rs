use super::stage::{BUDGET, Stage};
use futures::{Sink, Stream, future::FusedFuture};
use pin_project::pin_project;
use std::{
    fmt,
    future::Future,
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll, ready},
};

/// Future for the [`send_to`](crate::EventStreamExt::send_to) method; `T` is what the sink takes.
///
#[doc = include_str!("figures/send_to.md")]
#[pin_project]
#[must_use = "futures do nothing unless polled"]
pub struct SendTo<S, Si, T, F> {
    #[pin]
    stage: Stage<S, F>,
    #[pin]
    sink: Si,
    done: bool,
    item: PhantomData<fn(T)>,
}

impl<S, Si, T, F> SendTo<S, Si, T, F> {
    pub(super) fn new(stream: S, sink: Si, f: F) -> Self {
        SendTo { stage: Stage::new(stream, f), sink, done: false, item: PhantomData }
    }

    /// The stream below and the sink.
    pub fn get_ref(&self) -> (&S, &Si) {
        (self.stage.get_ref(), &self.sink)
    }

    /// The stream below and the sink. Taking items from the stream takes them away from the sink.
    pub fn get_mut(&mut self) -> (&mut S, &mut Si) {
        (self.stage.get_mut(), &mut self.sink)
    }

    /// The stream below and the sink, pinned. Taking items from the stream takes them away from the sink.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> (Pin<&mut S>, Pin<&mut Si>) {
        let this = self.project();
        (this.stage.get_pin_mut(), this.sink)
    }

    /// The stream below and the sink; no item is on the way between them.
    pub fn into_inner(self) -> (S, Si) {
        (self.stage.into_inner(), self.sink)
    }
}

impl<S, Si, T, E, F> Future for SendTo<S, Si, T, F>
where
    S: Stream<Item = Result<T, E>>,
    Si: Sink<T>,
    F: FnMut(E),
{
    type Output = Result<(), Si::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if *this.done {
            return Poll::Ready(Ok(()));
        }
        *this.done = true; // also after a panic of the user's code in there
        let sent = send(this.stage.as_mut(), this.sink.as_mut(), cx);
        *this.done = sent.is_ready();
        if *this.done {
            this.stage.finish();
        }
        sent
    }
}

fn send<S, Si, T, E, F>(
    mut stage: Pin<&mut Stage<S, F>>,
    mut sink: Pin<&mut Si>,
    cx: &mut Context<'_>,
) -> Poll<Result<(), Si::Error>>
where
    S: Stream<Item = Result<T, E>>,
    Si: Sink<T>,
    F: FnMut(E),
{
    for _ in 0..BUDGET {
        if stage.is_done() {
            return sink.poll_close(cx);
        }
        // The sink first, so that no item is ever taken that has no place to go.
        ready!(sink.as_mut().poll_ready(cx))?;
        match stage.as_mut().poll(cx, |f, item| item.map_err(f).ok()) {
            Poll::Ready(Some(Some(item))) => sink.as_mut().start_send(item)?,
            Poll::Ready(Some(None) | None) => {}
            Poll::Pending => {
                ready!(sink.poll_flush(cx))?;
                return Poll::Pending;
            }
        }
    }
    cx.waker().wake_by_ref();
    Poll::Pending
}

impl<S, Si, T, E, F> FusedFuture for SendTo<S, Si, T, F>
where
    S: Stream<Item = Result<T, E>>,
    Si: Sink<T>,
    F: FnMut(E),
{
    fn is_terminated(&self) -> bool {
        self.done
    }
}

impl<S: fmt::Debug, Si: fmt::Debug, T, F> fmt::Debug for SendTo<S, Si, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (stream, sink) = self.get_ref();
        f.debug_struct("SendTo").field("stream", stream).field("sink", sink).finish_non_exhaustive()
    }
}
