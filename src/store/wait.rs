use super::{State, Store, follow::Follow, root::Root};
use crate::Object;
use futures::{Stream, ready, stream::FusedStream};
use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::timeout;

impl<K: Object> Store<K> {
    /// Waits until every part in use or restored is complete. Any number may wait.
    ///
    /// # Errors
    ///
    /// Where the store closes before: its last stream has ended.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nothing is lost by dropping the future.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// use listwatch::{Raw, Store};
    ///
    /// assert!(Store::<Raw>::of([]).ready().await.is_ok());
    /// # });
    /// ```
    #[doc(alias("HasSynced", "WaitForCacheSync"))]
    pub async fn ready(&self) -> Result<(), Closed> {
        self.until(|root| root.is_ready().then_some(())).await
    }

    /// [`ready`](Store::ready), but no longer than `limit`.
    ///
    /// # Errors
    ///
    /// Where the store closes or the time is over before; the error says the state and the last failure.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nothing is lost by dropping the future.
    pub async fn ready_within(&self, limit: Duration) -> Result<(), NotReady> {
        match timeout(limit, self.ready()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(closed)) => Err(NotReady { within: None, seen: closed.0 }),
            Err(_) => Err(NotReady { within: Some(limit), seen: Seen::of(&self.shared().load()) }),
        }
    }

    /// The state, now and whenever it changes. Of changes that come faster than they are read, the last.
    pub fn states(&self) -> States<K> {
        let (root, follow) = Follow::new(self.shared().follow());
        States { told: None, next: Some(root.state()), follow, over: false }
    }

    /// Waits until a root gives something.
    pub(super) async fn until<T>(&self, mut check: impl FnMut(&Arc<Root<K>>) -> Option<T>) -> Result<T, Closed> {
        let mut roots = self.shared().follow();
        let mut closings = None;
        loop {
            {
                let root = Arc::clone(&roots.borrow_and_update());
                if let Some(found) = check(&root) {
                    return Ok(found);
                }
                if root.counts.closed || *closings.get_or_insert(root.counts.closings) != root.counts.closings {
                    return Err(Closed(Seen::of(&root)));
                }
            }
            if roots.changed().await.is_err() {
                return Err(Closed(Seen::of(&self.shared().load())));
            }
        }
    }
}

/// What a failed wait saw last.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    state: State,
    last_failure: Option<Arc<str>>,
}

impl Seen {
    fn of<K: Object>(root: &Root<K>) -> Self {
        Seen { state: root.state(), last_failure: root.last_failure.clone() }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.state {
            State::Empty => f.write_str("nothing came yet")?,
            State::Syncing => f.write_str("the first snapshot is not complete")?,
            State::Live => f.write_str("the streams are live")?,
            State::Stale { since, why } => write!(f, "stale for {:?}: {why}", rounded(since.elapsed()))?,
        }
        match &self.last_failure {
            Some(failure) if !matches!(&self.state, State::Stale { why, .. } if why == failure) => {
                write!(f, "; last failure: {failure}")
            }
            _ => Ok(()),
        }
    }
}

/// Times as people read them: to the millisecond below a second, then to the tenth, to the second from a minute on.
fn rounded(time: Duration) -> Duration {
    let step = match time.as_secs() {
        0 => 1,
        1..60 => 100,
        _ => 1000,
    };
    let whole = time.as_millis() / step * step;
    u64::try_from(whole).map_or(time, Duration::from_millis)
}

/// A store closed: its last stream has ended, and what was waited for cannot come any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed(Seen);

/// A store is not complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotReady {
    within: Option<Duration>,
    seen: Seen,
}

macro_rules! seen {
    ($($name:ident => $($field:tt).+),*) => {$(
        impl $name {
            /// The state of the store then.
            pub fn state(&self) -> &State {
                &self.$($field).+.state
            }

            /// The last failure of a stream of the store, in one line.
            pub fn last_failure(&self) -> Option<&str> {
                self.$($field).+.last_failure.as_deref()
            }
        }

        impl std::error::Error for $name {}
    )*};
}
seen!(Closed => 0, NotReady => seen);

impl NotReady {
    /// Whether the store closed, rather than that the time was over.
    pub fn is_closed(&self) -> bool {
        self.within.is_none()
    }
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the store has closed: {}", self.0)
    }
}

impl fmt::Display for NotReady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.within {
            Some(within) => write!(f, "the store is not ready after {:?}: {}", rounded(within), self.seen),
            None => write!(f, "the store has closed before it was ready: {}", self.seen),
        }
    }
}

/// The states of a store: see [`Store::states`]. Ends with the last handle and stream of the store.
#[must_use = "streams do nothing unless polled"]
pub struct States<K> {
    told: Option<State>,
    next: Option<State>,
    follow: Follow<K>,
    over: bool,
}

impl<K: Object> Stream for States<K> {
    type Item = State;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<State>> {
        let this = self.get_mut();
        loop {
            if let Some(state) = this.next.take()
                && this.told.as_ref() != Some(&state)
            {
                this.told = Some(state.clone());
                return Poll::Ready(Some(state));
            }
            if this.over {
                return Poll::Ready(None);
            }
            match ready!(this.follow.poll(cx)) {
                Some(root) => this.next = Some(root.state()),
                None => this.over = true,
            }
        }
    }
}

impl<K: Object> FusedStream for States<K> {
    fn is_terminated(&self) -> bool {
        self.over && self.next.is_none()
    }
}

impl<K> fmt::Debug for States<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("States").field("told", &self.told).finish_non_exhaustive()
    }
}
