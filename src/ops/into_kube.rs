use super::stage::{BUDGET, Stage, operator};
use crate::{Event, Key, Object, OwnedKey, Recover, Recovery, Unreadable, UnreadableAs};
use futures::Stream;
use hashbrown::HashMap;
use kube_runtime::watcher;
use pin_project::pin_project;
use std::{
    collections::VecDeque,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

/// Stream for the [`into_kube`](crate::EventStreamExt::into_kube) method.
///
#[doc = include_str!("figures/into_kube.md")]
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct IntoKube<S, K> {
    #[pin]
    stage: Stage<S, Mirror<K>>,
}

/// kube-runtime's events cannot say that an object of a snapshot is gone again, nor name an object without its content.
/// So a snapshot is told when it is complete, and what was told is held.
struct Mirror<K> {
    held: HashMap<OwnedKey, Arc<K>>,
    /// The snapshot in progress.
    pending: Option<Snapshot<K>>,
    /// What is to be told next.
    told: VecDeque<watcher::Event<Arc<K>>>,
}

struct Snapshot<K> {
    objects: HashMap<OwnedKey, Arc<K>>,
    /// Listed, but not readable, with the uid.
    unreadable: HashMap<OwnedKey, Box<str>>,
}

impl<S, K> IntoKube<S, K> {
    pub(super) fn new(stream: S) -> Self {
        let mirror = Mirror { held: HashMap::new(), pending: None, told: VecDeque::new() };
        IntoKube { stage: Stage::new(stream, mirror) }
    }
}

operator!(IntoKube<S, K>);

impl<S, K, E> Stream for IntoKube<S, K>
where
    S: Stream<Item = Result<Event<K>, E>>,
    K: Object + Clone,
    E: Recover,
{
    type Item = Result<watcher::Event<K>, E>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut stage = self.project().stage;
        for _ in 0..BUDGET {
            if let Some(Some(event)) = stage.as_mut().with(|mirror| mirror.told.pop_front().map(by_value)) {
                return Poll::Ready(Some(Ok(event)));
            }
            let failed = ready!(stage.as_mut().poll(cx, |mirror, item| match item {
                Ok(event) => {
                    mirror.event(event);
                    None
                }
                Err(error) => {
                    mirror.failed(&error);
                    Some(error)
                }
            }));
            match failed {
                Some(None) => {}
                Some(Some(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self.stage.user() {
            Some(mirror) => (mirror.told.len(), None),
            None => (0, Some(0)),
        }
    }
}

impl<K: Object> Mirror<K> {
    fn event(&mut self, event: Event<K>) {
        match (event, &mut self.pending) {
            (Event::SnapshotStart, pending) => {
                *pending = Some(Snapshot { objects: HashMap::new(), unreadable: HashMap::new() });
            }
            (Event::Listed(object) | Event::Added(object) | Event::Modified(object), Some(snapshot)) => {
                let key = Key::of(&*object).to_owned();
                snapshot.unreadable.remove(&key);
                snapshot.objects.insert(key, object);
            }
            (Event::Deleted(object), Some(snapshot)) => snapshot.forget(&Key::of(&*object).to_owned()),
            (Event::SnapshotEnd(_), _) => self.snapshot_ends(),
            (Event::Listed(object) | Event::Added(object) | Event::Modified(object), None) => {
                self.held.insert(Key::of(&*object).to_owned(), Arc::clone(&object));
                self.told.push_back(watcher::Event::Apply(object));
            }
            (Event::Deleted(object), None) => {
                self.held.remove(&Key::of(&*object).to_owned());
                self.told.push_back(watcher::Event::Delete(object));
            }
            (Event::Resync, _) => self.told.extend(self.held.values().cloned().map(watcher::Event::Apply)),
            (Event::Bookmark(_) | Event::Watching(_), _) => {}
        }
    }

    fn snapshot_ends(&mut self) {
        let Some(Snapshot { mut objects, unreadable }) = self.pending.take() else { return };
        for (key, uid) in unreadable {
            if let Some(object) = self.held.remove(&key)
                && same(&*object, &uid)
            {
                objects.insert(key, object);
            }
        }
        self.told.push_back(watcher::Event::Init);
        self.told.extend(objects.values().cloned().map(watcher::Event::InitApply));
        self.told.push_back(watcher::Event::InitDone);
        self.held = objects;
    }

    fn failed(&mut self, error: &impl Recover) {
        if error.recovery() != Recovery::Skip {
            self.pending = None;
        } else if let Some(object) = error.object().filter(|object| !object.name.is_empty()) {
            self.unreadable(object);
        }
    }

    /// The last readable state stays while it is the same object; a deletion, or another uid, ends it.
    fn unreadable(&mut self, object: &Unreadable) {
        let key = object.key().to_owned();
        let deleted = object.came_as == UnreadableAs::Deleted;
        if let Some(snapshot) = &mut self.pending {
            if deleted {
                snapshot.forget(&key);
            } else if !snapshot.objects.get(&key).is_some_and(|held| same(&**held, &object.uid)) {
                snapshot.forget(&key);
                snapshot.unreadable.insert(key, object.uid.clone());
            }
        } else if let Some(held) = self.held.get(&key)
            && (deleted || !same(&**held, &object.uid))
            && let Some(gone) = self.held.remove(&key)
        {
            self.told.push_back(watcher::Event::Delete(gone));
        }
    }
}

/// Whether the held object is the one of this uid, as far as can be known.
fn same<K: Object>(held: &K, uid: &str) -> bool {
    uid.is_empty() || held.identity().uid == uid
}

impl<K> Snapshot<K> {
    fn forget(&mut self, key: &OwnedKey) {
        self.objects.remove(key);
        self.unreadable.remove(key);
    }
}

fn by_value<K: Clone>(event: watcher::Event<Arc<K>>) -> watcher::Event<K> {
    match event {
        watcher::Event::Apply(object) => watcher::Event::Apply(Arc::unwrap_or_clone(object)),
        watcher::Event::Delete(object) => watcher::Event::Delete(Arc::unwrap_or_clone(object)),
        watcher::Event::Init => watcher::Event::Init,
        watcher::Event::InitApply(object) => watcher::Event::InitApply(Arc::unwrap_or_clone(object)),
        watcher::Event::InitDone => watcher::Event::InitDone,
    }
}
