use super::{
    stage::{Stage, operator},
    timer::Timer,
};
use crate::{Event, Grammar};
use futures::Stream;
use pin_project::pin_project;
use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

/// Stream for the [`resync`](crate::EventStreamExt::resync) and [`resync_if`](crate::EventStreamExt::resync_if) methods.
///
#[doc = include_str!("figures/resync.md")]
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct Resync<S, F> {
    #[pin]
    stage: Stage<S, F>,
    /// Never, where it is zero.
    period: Duration,
    /// Runs from the end of the first snapshot on, whatever snapshots come then.
    timer: Timer,
    /// Errors do not matter to it here: a voided snapshot is not over before the next one is.
    grammar: Grammar,
    /// The last item was a `Resync`: the poll after it shows that the replay was taken.
    replaying: bool,
}

impl<S, F> Resync<S, F> {
    pub(super) fn new(stream: S, period: Duration, predicate: F) -> Self {
        let stage = Stage::new(stream, predicate);
        Resync { stage, period, timer: Timer::default(), grammar: Grammar::Start, replaying: false }
    }
}

operator!(Resync<S, F>);

impl<S, F, K, E> Stream for Resync<S, F>
where
    S: Stream<Item = Result<Event<K>, E>>,
    F: FnMut() -> bool,
{
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let mut this = self.project();
        let replayed = std::mem::take(this.replaying);
        if replayed {
            this.timer.arm(*this.period);
        }
        if *this.grammar == Grammar::Live && this.timer.poll(cx).is_ready() {
            if replayed {
                // A period that is over at once must not starve the stream: it comes first, then the next replay.
                cx.waker().wake_by_ref();
            } else {
                this.timer.arm(*this.period);
                if this.stage.as_mut().with(|predicate| predicate()) == Some(true) {
                    tracing::debug!("resync");
                    *this.replaying = true;
                    return Poll::Ready(Some(Ok(Event::Resync)));
                }
                if this.timer.poll(cx).is_ready() {
                    cx.waker().wake_by_ref();
                }
            }
        }
        let polled = this.stage.poll(cx, |_, item| item);
        if let Poll::Ready(Some(Ok(event))) = &polled
            && this.grammar.event(event).is_ok()
            && *this.grammar == Grammar::Live
            && !this.timer.is_armed()
            && !this.period.is_zero()
        {
            this.timer.arm(*this.period);
        }
        polled
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.stage.size_hint().0, if self.stage.is_done() { Some(0) } else { None })
    }
}
