use super::stage::{Stage, operator};
use crate::{Event, Key, Object, OwnedKey, Recover, Unreadable, UnreadableAs};
use futures::Stream;
use hashbrown::{Equivalent, HashSet};
use pin_project::pin_project;
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

/// Stream for the [`filter_objects`](crate::EventStreamExt::filter_objects) method.
///
#[doc = include_str!("figures/filter_objects.md")]
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct FilterObjects<S, F> {
    #[pin]
    stage: Stage<S, Filter<F>>,
}

struct Filter<F> {
    f: F,
    passed: Passed,
}

/// What the consumer was told and not told to be gone.
enum Passed {
    /// The stream began without a snapshot, so that the consumer may hold anything. Also before the first event.
    Unknown,
    Keys(HashSet<OwnedKey>),
}

/// Looks a key up without a copy of it.
#[derive(Hash)]
struct Lookup<'a>(Key<'a>);

impl Equivalent<OwnedKey> for Lookup<'_> {
    fn equivalent(&self, key: &OwnedKey) -> bool {
        self.0 == Key::from(key)
    }
}

impl<S, F> FilterObjects<S, F> {
    pub(super) fn new(stream: S, f: F) -> Self {
        FilterObjects { stage: Stage::new(stream, Filter { f, passed: Passed::Unknown }) }
    }
}

operator!(FilterObjects<S, F>);

impl<S, F, K, E> Stream for FilterObjects<S, F>
where
    S: Stream<Item = Result<Event<K>, E>>,
    K: Object,
    E: Recover,
    F: FnMut(&K) -> bool,
{
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        self.project().stage.poll_some(cx, |filter, item| match item {
            Ok(event) => filter.filter(event).map(Ok),
            Err(error) => {
                filter.unreadable(error.object());
                Some(Err(error))
            }
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stage.size_hint_at_most()
    }
}

impl<F> Filter<F> {
    /// Of an object that does not decode the consumer holds what it could read last, and that it cannot read it.
    fn unreadable(&mut self, object: Option<&Unreadable>) {
        match object {
            Some(gone) if gone.came_as == UnreadableAs::Deleted => _ = self.passed.remove(gone.key()),
            Some(object) => self.passed.insert(object.key()),
            None => {}
        }
    }

    fn filter<K: Object>(&mut self, event: Event<K>) -> Option<Event<K>>
    where
        F: FnMut(&K) -> bool,
    {
        match &event {
            Event::SnapshotStart => self.passed = Passed::Keys(HashSet::new()),
            Event::Listed(object) | Event::Added(object) | Event::Modified(object) => {
                if (self.f)(object) {
                    self.passed.insert(Key::of(&**object));
                } else {
                    return self.passed.remove(Key::of(&**object)).then(|| Event::Deleted(Arc::clone(object)));
                }
            }
            Event::Deleted(object) => {
                self.passed.remove(Key::of(&**object));
            }
            Event::SnapshotEnd(_) | Event::Bookmark(_) | Event::Watching(_) | Event::Resync => {}
        }
        Some(event)
    }
}

impl Passed {
    fn insert(&mut self, key: Key<'_>) {
        if let Passed::Keys(keys) = self
            && !keys.contains(&Lookup(key))
        {
            keys.insert(key.to_owned());
        }
    }

    /// Whether the consumer may hold it.
    fn remove(&mut self, key: Key<'_>) -> bool {
        match self {
            Passed::Unknown => true,
            Passed::Keys(keys) => keys.remove(&Lookup(key)),
        }
    }
}
