mod view;
pub(super) use self::view::{Posting, View};

use super::{
    Index, IndexValue, Store,
    changes::Changes,
    follow::Follow,
    noting::Noting,
    root::Root,
    trie::{self, Diff},
};
use crate::{Change, DeleteReason, Object, ResourceVersion};
use futures::{Stream, stream::FusedStream};
use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::{Instant, Sleep, sleep};

/// A consumer of a store's changes: see [`Store::subscribe`].
///
/// # Backpressure
///
/// None: nothing is queued for it, and the writer never waits for it. A consumer that falls behind is told the
/// difference to the present state, at most one change for each key (two where another uid took it).
///
/// # Memory
///
/// Keeps alive the objects of the state that it has told: of those, only what the store has replaced since costs
/// anything. [`without_old`](Subscription::without_old) keeps none. While a store has subscriptions it also keeps what
/// its last snapshot replaced, until the next event.
#[must_use = "streams do nothing unless polled"]
pub struct Subscription<K> {
    follow: Follow<K>,
    /// The state that was told, or is being told.
    seen: Arc<Root<K>>,
    view: View<K>,
    phase: Phase<K>,
    /// How often the store had closed when this began.
    closings: u64,
    resync: Option<Resync>,
    _cursor: Cursor,
}

/// Counted, so that the store knows that somebody wants to be told what a snapshot did.
#[derive(Debug)]
struct Cursor(Arc<AtomicUsize>);

impl Drop for Cursor {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[derive(Debug)]
struct Resync {
    period: Duration,
    /// Boxed once, reset in place.
    timer: Option<Pin<Box<Sleep>>>,
}

enum Phase<K> {
    /// Until the store is ready.
    Waiting,
    Content(trie::IntoIter<Arc<K>>),
    /// In pace with the store: the next root is told by what it did.
    Following,
    Step {
        changes: Changes<K>,
        from: Arc<Root<K>>,
    },
    /// Behind: told as a difference, first what is gone and then the rest.
    Gone {
        diff: Box<Diff<Arc<K>>>,
        from: Arc<Root<K>>,
    },
    News {
        diff: Box<Diff<Arc<K>>>,
        from: Arc<Root<K>>,
        second: Option<Change<K>>,
    },
    Replay(trie::IntoIter<Arc<K>>),
    Over,
}

impl<K: Object> Store<K> {
    /// Follows the store from now on: nothing until it is ready, then its content as `Added`, then `Synced`, then changes.
    ///
    /// Any number, at any time. Replaying what it yields always gives the store. In pace it passes on what the writer
    /// did; behind, it tells the difference between the state that it told last and the present one: deletions first
    /// ([`Missed`](DeleteReason::Missed)), `old` being what this subscriber saw. The versions and `initial` are this
    /// subscriber's. Ends when the store closes, after having told the rest.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// use futures::StreamExt;
    /// use listwatch::{Change, Event, Fold, IntoFold, Object, Raw, Store};
    ///
    /// let pod = |version: u32| {
    ///     let json = format!(r#"{{"metadata":{{"name":"a","uid":"u","resourceVersion":"{version}"}}}}"#);
    ///     Raw::decode(json.as_bytes())
    /// };
    /// let store = Store::of([pod(1)?]);
    /// let mut changes = store.subscribe();
    /// assert!(matches!(changes.next().await, Some(Change::Added { initial: true, .. })));
    /// assert!(matches!(changes.next().await, Some(Change::Synced { initial: true, .. })));
    /// let mut part = (&store).into_fold();
    /// part.fold(Event::modified(pod(2)?))?;
    /// part.fold(Event::modified(pod(3)?))?;
    /// let Some(Change::Updated { old, new }) = changes.next().await else { panic!() };
    /// assert_eq!((old.identity().resource_version, new.identity().resource_version), ("1", "3"));
    /// # Ok::<_, Box<dyn std::error::Error + Send + Sync>>(()) }).unwrap();
    /// ```
    #[doc(alias("AddEventHandler", "SharedInformer"))]
    pub fn subscribe(&self) -> Subscription<K> {
        self.subscription(View::All)
    }

    /// [`subscribe`](Store::subscribe) to the objects that match: one that begins to is `Added`, one that ceases to is
    /// `Deleted` ([`Observed`](DeleteReason::Observed), with the state that does not match). `matches` must say the same
    /// of the same object each time.
    pub fn subscribe_filtered(&self, matches: impl Fn(&K) -> bool + Send + Sync + 'static) -> Subscription<K> {
        self.subscription(View::Filter(Arc::new(matches)))
    }

    fn subscription(&self, view: View<K>) -> Subscription<K> {
        let cursors = &self.shared().cursors;
        cursors.fetch_add(1, Relaxed);
        let _cursor = Cursor(Arc::clone(cursors));
        let (seen, follow) = Follow::new(self.shared().follow());
        let closings = seen.counts.closings;
        Subscription { follow, seen, view, phase: Phase::Waiting, closings, resync: None, _cursor }
    }
}

impl<K: Object, V: IndexValue> Index<K, V> {
    /// [`Store::subscribe`] to the objects of one value: what comes to have it is `Added`, what ceases to is `Deleted`.
    /// Behind, it costs by the changes among these objects, not by those of the store.
    pub fn subscribe(&self, value: V) -> Subscription<K> {
        self.store().subscription(View::Value(self.posting(value)))
    }
}

impl<K: Object> Subscription<K> {
    /// Tells all objects once more, as `Resynced`, each time this long after the last time; the first time this long
    /// after the content was told. Runs only while there is nothing else to tell. A period of 0 is none.
    pub fn resync(mut self, period: Duration) -> Self {
        self.resync = (!period.is_zero()).then_some(Resync { period, timer: None });
        self
    }

    /// The same changes without the objects that they replaced, so that none of them is kept alive. Of what was told,
    /// only namespace, name, uid and version are held.
    pub fn without_old(self) -> Noting<K> {
        Noting::new(self.follow, self.seen, self.closings, self.view)
    }

    fn version(&self) -> ResourceVersion {
        self.seen.version().cloned().unwrap_or_default()
    }

    fn ends_at(&self, root: &Root<K>) -> bool {
        root.counts.closed || root.counts.closings != self.closings
    }

    /// Goes on to another state.
    fn advance(&mut self, to: Arc<Root<K>>) {
        let from = std::mem::replace(&mut self.seen, to);
        let told = self.seen.counts.told;
        self.phase = match &self.seen.step {
            _ if told == from.counts.told => Phase::Following,
            Some(step) if told == from.counts.told + 1 => Phase::Step { changes: step.clone(), from },
            _ => Phase::Gone { diff: Box::new(self.view.diff(&from, &self.seen)), from },
        };
    }

    /// After everything of this state was told.
    fn told(&mut self) {
        self.phase = Phase::Following;
        if self.seen.step.as_ref().is_some_and(|step| step.is_many()) {
            // what that step replaced is not to be kept for as long as this state is
            let mut seen = Root::clone(&self.seen);
            seen.step = None;
            self.seen = Arc::new(seen);
        }
        if self.ends_at(&self.seen) {
            self.phase = Phase::Over;
        }
    }

    fn synced(&self, initial: bool) -> Change<K> {
        Change::Synced { resource_version: self.version(), initial }
    }

    /// The next change without waiting, or `None` where there is nothing to tell of this state any more.
    fn tell(&mut self) -> Option<Change<K>> {
        loop {
            match &mut self.phase {
                Phase::Waiting if self.seen.is_ready() => self.phase = Phase::Content(self.view.content(&self.seen)),
                Phase::Waiting | Phase::Following | Phase::Over => return None,
                Phase::Content(objects) => match objects.next() {
                    Some(object) if self.view.matches(&object) => return Some(Change::Added { object, initial: true }),
                    Some(_) => {}
                    None => {
                        if let Some(resync) = &mut self.resync {
                            resync.timer = Some(Box::pin(sleep(resync.period)));
                        }
                        let synced = self.synced(true);
                        self.told();
                        return Some(synced);
                    }
                },
                Phase::Step { changes, from } => match changes.next() {
                    Some(change) => {
                        if let Some(change) = self.view.pass(change, from, &self.seen) {
                            return Some(change);
                        }
                    }
                    None => self.told(),
                },
                Phase::Gone { diff, from } => match diff.next() {
                    Some((old, new)) => {
                        let change = self.view.between(old, new, &self.seen).next();
                        if let Some(Change::Deleted { why, .. }) = &change
                            && *why != DeleteReason::Replaced
                        {
                            return change;
                        }
                    }
                    None => {
                        let (from, diff) = (Arc::clone(from), Box::new(self.view.diff(from, &self.seen)));
                        self.phase = Phase::News { diff, from, second: None };
                    }
                },
                Phase::News { diff, from, second } => {
                    if let Some(change) = second.take() {
                        return Some(change);
                    }
                    let Some((old, new)) = diff.next() else {
                        let snapshots = from.counts.snapshots != self.seen.counts.snapshots;
                        self.told();
                        if snapshots && self.seen.is_ready() {
                            return Some(self.synced(false));
                        }
                        continue;
                    };
                    let mut changes = self.view.between(old, new, &self.seen);
                    match changes.next() {
                        Some(Change::Deleted { why, .. }) if why != DeleteReason::Replaced => {} // told before
                        Some(change) => {
                            *second = changes.next();
                            return Some(change);
                        }
                        None => {}
                    }
                }
                Phase::Replay(objects) => match objects.next() {
                    Some(object) if self.view.matches(&object) => return Some(Change::Resynced(object)),
                    Some(_) => {}
                    None => {
                        if let Some(Resync { period, timer: Some(timer) }) = &mut self.resync {
                            timer.as_mut().reset(Instant::now() + *period);
                        }
                        self.phase = Phase::Following;
                    }
                },
            }
        }
    }

    fn resync_is_due(&mut self, cx: &mut Context<'_>) -> bool {
        match &mut self.resync {
            Some(Resync { timer: Some(timer), .. }) => timer.as_mut().poll(cx).is_ready(),
            _ => false,
        }
    }
}

impl<K: Object> Stream for Subscription<K> {
    type Item = Change<K>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Change<K>>> {
        let this = self.get_mut();
        loop {
            if let Some(change) = this.tell() {
                return Poll::Ready(Some(change));
            }
            if matches!(this.phase, Phase::Over) {
                return Poll::Ready(None);
            }
            if matches!(this.phase, Phase::Waiting) && this.ends_at(&this.seen) {
                this.phase = Phase::Over;
                continue;
            }
            if matches!(this.phase, Phase::Following) && this.resync_is_due(cx) {
                this.phase = Phase::Replay(this.view.content(&this.seen));
                continue;
            }
            match this.follow.poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => this.phase = Phase::Over,
                Poll::Ready(Some(root)) if matches!(this.phase, Phase::Waiting) => this.seen = root,
                Poll::Ready(Some(root)) => {
                    this.advance(root);
                    if matches!(this.phase, Phase::Following) {
                        this.told();
                    }
                }
            }
        }
    }
}

impl<K: Object> FusedStream for Subscription<K> {
    fn is_terminated(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }
}

impl<K> fmt::Debug for Subscription<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("resync", &self.resync).finish_non_exhaustive()
    }
}
