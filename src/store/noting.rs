use super::{
    changes::Changes,
    follow::Follow,
    ledger::{Book, LedgerEntry, Noted, NotedChanges},
    root::Root,
    subscribe::View,
    trie,
};
use crate::{Change, DeleteReason, Key, Object, ResourceVersion};
use futures::{Stream, stream::FusedStream};
use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

/// A subscription that keeps no replaced object alive: see [`Subscription::without_old`](super::Subscription::without_old).
///
/// # Memory
///
/// One entry of four short strings an object. A state is held only while it is being told.
#[must_use = "streams do nothing unless polled"]
pub struct Noting<K> {
    follow: Follow<K>,
    view: View<K>,
    book: Book,
    phase: Phase<K>,
    /// The second half of what one object's change told.
    second: Option<Noted<K>>,
    /// How far the store was when it was told last.
    told: u64,
    snapshots: u64,
    closings: u64,
}

enum Phase<K> {
    Waiting(Arc<Root<K>>),
    Content { objects: trie::IntoIter<Arc<K>>, root: Arc<Root<K>> },
    Following,
    Step { changes: Changes<K>, root: Arc<Root<K>> },
    Gone { entries: trie::IntoIter<Arc<LedgerEntry>>, root: Arc<Root<K>> },
    News { objects: trie::IntoIter<Arc<K>>, root: Arc<Root<K>> },
    Over,
}

/// Objects that are looked at in one poll.
const BUDGET: usize = 256;

enum Told<K> {
    Noted(Noted<K>),
    Nothing,
    /// Everything of this state is told.
    All,
}

impl<K: Object> Noting<K> {
    pub(super) fn new(follow: Follow<K>, seen: Arc<Root<K>>, closings: u64, view: View<K>) -> Self {
        let phase = Phase::Waiting(seen);
        Noting { follow, view, book: Book::new(), phase, second: None, told: 0, snapshots: 0, closings }
    }

    fn note(&mut self, mut changes: NotedChanges<K>) -> Told<K> {
        let first = changes.next();
        self.second = changes.next();
        first.map_or(Told::Nothing, Told::Noted)
    }

    /// This state is told; whether it is the last one.
    fn done(&mut self, root: &Root<K>) {
        (self.told, self.snapshots) = (root.counts.told, root.counts.snapshots);
        let over = root.counts.closed || root.counts.closings != self.closings;
        self.phase = if over { Phase::Over } else { Phase::Following };
    }

    fn synced(root: &Root<K>, initial: bool) -> Told<K> {
        let resource_version: ResourceVersion = root.version().cloned().unwrap_or_default();
        Told::Noted(Noted::Synced { resource_version, initial })
    }

    fn advance(&mut self, root: Arc<Root<K>>) {
        self.phase = match &root.step {
            _ if root.counts.told == self.told => return self.done(&root),
            Some(step) if root.counts.told == self.told + 1 => Phase::Step { changes: step.clone(), root },
            _ => Phase::Gone { entries: self.book.entries(), root },
        };
    }

    fn remove(&mut self, key: Key<'_>, why: DeleteReason) -> Told<K> {
        self.book.remove(key).map_or(Told::Nothing, |last| Told::Noted(Noted::Deleted { last, why }))
    }

    /// What the store did, as far as this subscription is concerned.
    fn pass(&mut self, change: Change<K>, root: &Root<K>) -> Told<K> {
        match change {
            Change::Added { object, .. } | Change::Updated { new: object, .. } => {
                if self.view.held(root, Key::of(&*object)) {
                    let noted = self.book.note(object, false);
                    self.note(noted)
                } else {
                    self.remove(Key::of(&*object), DeleteReason::Observed)
                }
            }
            Change::Deleted { last, why } => self.remove(Key::of(&*last), why),
            Change::Synced { .. } if root.is_ready() => Self::synced(root, false),
            Change::Bookmark(_) => {
                root.version().cloned().map_or(Told::Nothing, |version| Told::Noted(Noted::Bookmark(version)))
            }
            Change::Watching(version) => Told::Noted(Noted::Watching(version)),
            Change::Synced { .. } | Change::Resynced(_) => Told::Nothing,
        }
    }

    fn tell(&mut self) -> Told<K> {
        if let Some(second) = self.second.take() {
            return Told::Noted(second);
        }
        match &mut self.phase {
            Phase::Waiting(root) if root.is_ready() => {
                self.phase = Phase::Content { objects: self.view.content(root), root: Arc::clone(root) };
                Told::Nothing
            }
            Phase::Waiting(_) | Phase::Following | Phase::Over => Told::All,
            Phase::Content { objects, root } => match objects.next() {
                Some(object) if self.view.matches(&object) => {
                    let noted = self.book.note(object, true);
                    self.note(noted)
                }
                Some(_) => Told::Nothing,
                None => {
                    let root = Arc::clone(root);
                    self.done(&root);
                    Self::synced(&root, true)
                }
            },
            Phase::Step { changes, root } => {
                let (change, root) = (changes.next(), Arc::clone(root));
                match change {
                    Some(change) => self.pass(change, &root),
                    None => {
                        self.done(&root);
                        Told::All
                    }
                }
            }
            Phase::Gone { entries, root } => match entries.next() {
                Some(entry) if self.view.held(root, entry.key()) && root.get(entry.key()).is_some() => Told::Nothing,
                Some(entry) => {
                    let still = root.get(entry.key()).is_some_and(|held| held.identity().uid == &*entry.uid);
                    let why = if still { DeleteReason::Observed } else { DeleteReason::Missed };
                    self.remove(entry.key(), why)
                }
                None => {
                    self.phase = Phase::News { objects: self.view.content(root), root: Arc::clone(root) };
                    Told::Nothing
                }
            },
            Phase::News { objects, root } => match objects.next() {
                Some(object) if self.view.matches(&object) => {
                    let noted = self.book.note(object, false);
                    self.note(noted)
                }
                Some(_) => Told::Nothing,
                None => {
                    let (root, before) = (Arc::clone(root), self.snapshots);
                    self.done(&root);
                    let snapshots = root.counts.snapshots != before;
                    if snapshots && root.is_ready() { Self::synced(&root, false) } else { Told::Nothing }
                }
            },
        }
    }
}

impl<K: Object> Stream for Noting<K> {
    type Item = Noted<K>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Noted<K>>> {
        let this = self.get_mut();
        for _ in 0..BUDGET {
            match this.tell() {
                Told::Noted(noted) => return Poll::Ready(Some(noted)),
                Told::Nothing => continue,
                Told::All => {}
            }
            match &mut this.phase {
                Phase::Over => return Poll::Ready(None),
                Phase::Waiting(root) => {
                    if root.counts.closed || root.counts.closings != this.closings {
                        this.phase = Phase::Over;
                        continue;
                    }
                    match this.follow.poll(cx) {
                        Poll::Pending => return Poll::Pending,
                        Poll::Ready(Some(next)) => *root = next,
                        Poll::Ready(None) => this.phase = Phase::Over,
                    }
                }
                _ => match this.follow.poll(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Some(root)) => this.advance(root),
                    Poll::Ready(None) => this.phase = Phase::Over,
                },
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<K: Object> FusedStream for Noting<K> {
    fn is_terminated(&self) -> bool {
        matches!(self.phase, Phase::Over) && self.second.is_none()
    }
}

impl<K> fmt::Debug for Noting<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Noting").finish_non_exhaustive()
    }
}
