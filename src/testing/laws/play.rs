use super::{flag::Flag, probe::Watch};
use futures::Stream;
use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

/// What one poll may take from the stream below.
const BOUND: usize = 1024;
/// How often an operator may let go of its task in one run.
const SPINS: usize = 100_000;
/// Longer than any operator waits.
const NEVER: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// One run of an operator over a probe.
pub(super) struct Play<S> {
    stream: Pin<Box<S>>,
    watch: Watch,
    /// The operator waits for something of its own as well.
    waits: bool,
    /// How the stream below is interleaved, for messages.
    how: String,
    polls: usize,
    spins: usize,
    /// In the last poll.
    below_is_pending: bool,
    /// How many items had come, and the size hint then.
    hints: Vec<(usize, (usize, Option<usize>))>,
}

impl<S: Stream> Play<S> {
    pub(super) fn new(stream: S, watch: Watch, waits: bool, how: impl Into<String>) -> Self {
        let (stream, how) = (Box::pin(stream), how.into());
        Play { stream, watch, waits, how, polls: 0, spins: 0, below_is_pending: false, hints: Vec::new() }
    }

    /// Every item, as `f` sees it. Asserts the laws of each poll on the way.
    pub(super) async fn until_the_end<T>(mut self, f: impl FnMut(S::Item) -> T) -> (Vec<T>, usize) {
        let items = self.run(usize::MAX, f).await;
        for _ in 0..3 {
            let again = self.poll(&Flag::new());
            assert!(matches!(again, Poll::Ready(None)), "law Ends once: something came after the end, {}", self.how);
        }
        for (before, (lower, upper)) in &self.hints {
            let left = items.len() - before;
            assert!(
                *lower <= left && upper.is_none_or(|upper| left <= upper),
                "law Honest: the size hint was ({lower}, {upper:?}) with {left} items left, {}",
                self.how
            );
        }
        (items, self.polls)
    }

    /// Drops the operator after so many polls.
    pub(super) async fn drop_after(mut self, polls: usize) {
        self.run(polls, drop).await;
        let (watch, how) = (self.watch.clone(), std::mem::take(&mut self.how));
        drop(self);
        assert!(watch.is_dropped(), "law Drops: the stream below outlives its operator, after {polls} polls, {how}");
    }

    async fn run<T>(&mut self, polls: usize, mut f: impl FnMut(S::Item) -> T) -> Vec<T> {
        let mut items = Vec::new();
        while self.polls < polls {
            self.hints.push((items.len(), self.stream.size_hint()));
            // Each poll has a waker of its own, and every other time a second poll takes the place of the first.
            let mut flag = Flag::new();
            let mut polled = self.poll(&flag);
            if polled.is_pending() && !flag.is_woken() && self.polls.is_multiple_of(2) {
                flag = Flag::new();
                polled = self.poll(&flag);
            }
            match polled {
                Poll::Ready(Some(item)) => items.push(f(item)),
                Poll::Ready(None) => break,
                Poll::Pending => self.wait(&flag).await,
            }
        }
        items
    }

    fn poll(&mut self, flag: &Arc<Flag>) -> Poll<Option<S::Item>> {
        self.polls += 1;
        let (polls, pendings) = self.watch.counts();
        let polled = self.stream.as_mut().poll_next(&mut Context::from_waker(&flag.waker()));
        let (polls, pendings) = (self.watch.counts().0 - polls, self.watch.counts().1 - pendings);
        let how = &self.how;
        assert!(polls <= BOUND, "law Bounded: one poll took {polls} items, {how}");
        self.below_is_pending = pendings > 0;
        assert!(
            polled.is_ready() || self.below_is_pending || flag.is_woken() || self.waits,
            "law Wakes: pending, though the stream below is not, {how}"
        );
        polled
    }

    /// The operator is pending: whoever it waits for must wake the waker of the last poll.
    async fn wait(&mut self, flag: &Arc<Flag>) {
        let how = &self.how;
        if flag.is_woken() {
            self.spins += 1;
            assert!(self.spins < SPINS, "law Wakes: it wakes itself and never goes on, {how}");
            return tokio::task::yield_now().await; // it lets go of its task
        }
        let opened = self.watch.open();
        assert!(
            flag.is_woken() || !(opened && self.below_is_pending),
            "law Wakes: the stream below has something, and the waker of the last poll was not woken, {how}"
        );
        let woken = tokio::time::timeout(NEVER, poll_fn(|cx| flag.poll_woken(cx))).await;
        assert!(woken.is_ok(), "law Wakes: nothing wakes the waker of the last poll, {how}");
    }
}
