use futures::{Stream, stream::FusedStream};
use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

/// The stream that the operator under test stands on. It yields the suite's input, is pending where the suite wants
/// that, and sees what is done to it.
pub struct Probe<T> {
    steps: VecDeque<Step<T>>,
    /// How many of them are items.
    left: usize,
    watch: Watch,
}

pub(super) enum Step<T> {
    Item(T),
    /// Pending until the suite opens it.
    Gate,
}

/// What a probe sees, for the suite.
#[derive(Clone, Default)]
pub(super) struct Watch(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    polls: usize,
    pendings: usize,
    dropped: bool,
    ended: bool,
    /// Who waits at a gate.
    waiting: Option<Waker>,
    open: bool,
}

impl Watch {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often it was polled, and how often it was pending then.
    pub(super) fn counts(&self) -> (usize, usize) {
        let seen = self.seen();
        (seen.polls, seen.pendings)
    }

    pub(super) fn is_dropped(&self) -> bool {
        self.seen().dropped
    }

    /// Opens the gate at which the probe stands and wakes who waits there; false where it stands at none.
    pub(super) fn open(&self) -> bool {
        let waiting = self.seen().waiting.take();
        let Some(waiting) = waiting else { return false };
        self.seen().open = true;
        waiting.wake();
        true
    }
}

impl<T> Probe<T> {
    pub(super) fn new(steps: impl IntoIterator<Item = Step<T>>) -> (Self, Watch) {
        let watch = Watch::default();
        let steps: VecDeque<_> = steps.into_iter().collect();
        let left = steps.iter().filter(|step| matches!(step, Step::Item(_))).count();
        (Probe { steps, left, watch: watch.clone() }, watch)
    }
}

impl<T> Unpin for Probe<T> {}

impl<T> Stream for Probe<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let this = self.get_mut();
        let mut seen = this.watch.seen();
        assert!(!seen.ended, "law Ends once: the stream below was polled after its end");
        seen.polls += 1;
        if matches!(this.steps.front(), Some(Step::Gate)) && std::mem::take(&mut seen.open) {
            this.steps.pop_front();
        }
        match this.steps.pop_front() {
            Some(Step::Item(item)) => {
                this.left -= 1;
                Poll::Ready(Some(item))
            }
            Some(Step::Gate) => {
                this.steps.push_front(Step::Gate);
                seen.waiting = Some(cx.waker().clone());
                seen.pendings += 1;
                Poll::Pending
            }
            None => {
                seen.ended = true;
                Poll::Ready(None)
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> FusedStream for Probe<T> {
    fn is_terminated(&self) -> bool {
        self.watch.seen().ended
    }
}

impl<T> Drop for Probe<T> {
    fn drop(&mut self) {
        self.watch.seen().dropped = true;
    }
}

impl<T> fmt::Debug for Probe<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Probe").field("left", &self.left).finish_non_exhaustive()
    }
}
