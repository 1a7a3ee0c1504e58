use super::{Store, follow::Follow};
use crate::Object;
use futures::{Stream, stream::FusedStream};
use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::{Instant, Sleep, sleep_until};

impl<K: Object> Store<K> {
    /// Yields when the content changed, and at the end of each snapshot, also of one without differences. Not for
    /// bookmarks, `Watching` or states. Changes that come faster than it is polled are one.
    ///
    /// For consumers that look at everything each time rather than at each change. Begins with what happens from now on,
    /// and ends when the store closes.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// use futures::StreamExt;
    /// use listwatch::{Event, Fold, IntoFold, Raw, Store};
    ///
    /// let store = Store::<Raw>::new();
    /// let mut changed = store.changed();
    /// let mut part = (&store).into_fold();
    /// part.fold(Event::SnapshotStart)?;
    /// part.fold(Event::SnapshotEnd("1".into()))?;
    /// assert_eq!(changed.next().await, Some(()));
    /// # Ok::<_, Box<dyn std::error::Error + Send + Sync>>(()) }).unwrap();
    /// ```
    pub fn changed(&self) -> Changed {
        changed([self])
    }
}

/// [`Store::changed`] over any number of stores, of any types: `changed([&pods, &nodes])`. Ends when all have closed.
pub fn changed<const N: usize>(stores: [&dyn Changing; N]) -> Changed {
    Changed { stores: stores.into_iter().map(sealed::Sealed::touches).collect() }
}

/// What [`changed`] takes: a [`Store`] of any type.
pub trait Changing: sealed::Sealed {}
impl<K: Object> Changing for Store<K> {}

mod sealed {
    pub trait Sealed {
        fn touches(&self) -> Box<dyn super::Touched>;
    }
}

impl<K: Object> sealed::Sealed for Store<K> {
    fn touches(&self) -> Box<dyn Touched> {
        let (root, follow) = Follow::new(self.shared().follow());
        Box::new(Touches {
            follow,
            touched: root.counts.touched,
            closings: root.counts.closings,
            closed: root.counts.closed,
        })
    }
}

#[doc(hidden)]
pub trait Touched: Send {
    /// Whether the content was touched since the last time; `None` once the store has closed.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>>;
}

struct Touches<K> {
    follow: Follow<K>,
    touched: u64,
    closings: u64,
    closed: bool,
}

impl<K: Object> Touched for Touches<K> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        while !self.closed {
            let Some(root) = futures::ready!(self.follow.poll(cx)) else { break };
            self.closed = root.counts.closed || root.counts.closings != self.closings;
            if std::mem::replace(&mut self.touched, root.counts.touched) != root.counts.touched {
                return Poll::Ready(Some(()));
            }
        }
        self.closed = true;
        Poll::Ready(None)
    }
}

/// Changes of one or more stores, without saying which: see [`Store::changed`].
#[must_use = "streams do nothing unless polled"]
pub struct Changed {
    /// Those that have not closed.
    stores: Vec<Box<dyn Touched>>,
}

impl Changed {
    /// Waits after a change until nothing has changed for `min`, but for no longer than `max` after the first one: once
    /// for a burst.
    pub fn settle(self, min: Duration, max: Duration) -> Settle {
        Settle { changed: self, min, max, until: None, timer: None }
    }
}

impl Stream for Changed {
    type Item = ();

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
        let mut touched = false;
        self.stores.retain_mut(|store| {
            loop {
                match store.poll(cx) {
                    Poll::Ready(Some(())) => touched = true,
                    Poll::Ready(None) => break false,
                    Poll::Pending => break true,
                }
            }
        });
        match (touched, self.stores.is_empty()) {
            (true, _) => Poll::Ready(Some(())),
            (false, true) => Poll::Ready(None),
            (false, false) => Poll::Pending,
        }
    }
}

impl FusedStream for Changed {
    fn is_terminated(&self) -> bool {
        self.stores.is_empty()
    }
}

impl fmt::Debug for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changed").field("stores", &self.stores.len()).finish_non_exhaustive()
    }
}

/// Bursts of changes: see [`Changed::settle`].
#[must_use = "streams do nothing unless polled"]
#[derive(Debug)]
pub struct Settle {
    changed: Changed,
    min: Duration,
    max: Duration,
    /// A change waits to be told: at this time at the latest.
    until: Option<Instant>,
    /// Boxed once, reset in place.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Settle {
    fn arm(&mut self) {
        let now = Instant::now();
        let until = *self.until.get_or_insert(now + self.max);
        let at = until.min(now + self.min);
        match &mut self.timer {
            Some(timer) => timer.as_mut().reset(at),
            timer @ None => *timer = Some(Box::pin(sleep_until(at))),
        }
    }
}

impl Stream for Settle {
    type Item = ();

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
        let this = self.get_mut();
        loop {
            let over = match Pin::new(&mut this.changed).poll_next(cx) {
                Poll::Ready(Some(())) => {
                    this.arm();
                    continue;
                }
                Poll::Ready(None) => true,
                Poll::Pending => false,
            };
            let waits = this.until.is_some();
            let due = match &mut this.timer {
                Some(timer) if waits && !over => timer.as_mut().poll(cx).is_ready(),
                _ => over && waits,
            };
            if due {
                this.until = None;
                return Poll::Ready(Some(()));
            }
            return if over { Poll::Ready(None) } else { Poll::Pending };
        }
    }
}

impl FusedStream for Settle {
    fn is_terminated(&self) -> bool {
        self.changed.is_terminated() && self.until.is_none()
    }
}
