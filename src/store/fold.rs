use super::{
    changes::Changes,
    parts::{Fixed, PartState},
    pending::{First, Pending, is_another},
    refused::Refused,
    root::{Root, unchanged},
    shared::Shared,
    state::State,
    trie::Entry,
};
use crate::{
    Change, DeleteReason, Event, Fold, Grammar, Key, Object, Recover, Recovery, ResourceVersion, Unreadable,
    UnreadableAs,
};
use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};
use tokio::time::Instant;

/// One stream's end of a part of a store: what [`reflect`](crate::EventStreamExt::reflect) and
/// [`tee`](crate::EventStreamExt::tee) feed where they are given a store.
///
/// # Drop
///
/// Ends the part's stream: its objects stay, [`Stale`](super::State::Stale), and the next stream of that name takes
/// them over. The store closes with the last stream.
pub struct StoreFold<K: Object> {
    shared: Arc<Shared<K>>,
    part: Arc<Fixed>,
    grammar: Grammar,
    pending: Option<Box<Pending<K>>>,
    first: First,
    /// What the last snapshot left to other parts, as far as it is not told yet.
    lost: std::vec::IntoIter<Refused>,
    remove_on_end: bool,
}

impl<K: Object> StoreFold<K> {
    pub(super) fn new(shared: Arc<Shared<K>>, part: &PartState<K>, remove_on_end: bool) -> Self {
        StoreFold {
            shared,
            part: Arc::clone(&part.fixed),
            grammar: Grammar::Start,
            pending: None,
            first: First { content: !part.complete, synced: true },
            lost: Vec::new().into_iter(),
            remove_on_end,
        }
    }

    /// One step outside of a snapshot, made from the present root, and again where another part was faster.
    fn step(
        &self,
        edit: impl Fn(&mut Root<K>, &mut PartState<K>) -> Result<Changes<K>, Refused>,
    ) -> Result<Changes<K>, Refused> {
        self.shared.update(|present| {
            let Some(before) = present.parts.get(self.part.id).filter(|part| !part.removed) else {
                return (None, Err(Refused::removed()));
            };
            let mut next = Root::clone(present);
            let mut part = PartState::clone(before);
            let changes = match edit(&mut next, &mut part) {
                Ok(changes) => changes,
                Err(refused) => return (None, Err(refused)),
            };
            let tells = changes.first().is_some();
            if !tells && !part.differs(before) {
                return (None, Ok(changes));
            }
            next.parts.put(part);
            if tells {
                let content = !next.objects.same(&present.objects);
                next.tell(Some(changes.clone()), content);
            }
            (Some(next), Ok(changes))
        })
    }

    fn begin(&mut self) -> Result<(), Refused> {
        self.void();
        self.step(|root, part| {
            let without_content = !part.complete && root.members(part.fixed.id).is_empty();
            if part.state == State::Empty || part.state.is_stale() && without_content {
                part.state = State::Syncing;
            }
            Ok(Changes::none())
        })?;
        self.pending = Some(Box::new(Pending::new(self.shared.load(), self.part.id)));
        Ok(())
    }

    /// Frees what is pending.
    fn void(&mut self) {
        if self.pending.take().is_some() {
            self.shared.meters.voided.add(1);
        }
    }

    /// Within a snapshot. What a panic of the user's code interrupts is void.
    fn within<T>(
        &mut self,
        event: &Event<K>,
        edit: impl FnOnce(&mut Pending<K>) -> Result<T, Refused>,
    ) -> Result<Changes<K>, Refused> {
        let mut pending = self.pending.take().ok_or_else(|| self.out_of_place(event))?;
        let edited = edit(&mut pending);
        self.pending = Some(pending);
        edited.map(|_| Changes::none())
    }

    fn out_of_place(&self, event: &Event<K>) -> Refused {
        Grammar::Void.event(event).map_or_else(Refused::grammar, |()| Refused::removed())
    }

    fn end(&mut self, version: &ResourceVersion) -> Result<Changes<K>, Refused> {
        let event = Event::SnapshotEnd(version.clone());
        let pending = self.pending.take().ok_or_else(|| self.out_of_place(&event))?;
        let first = self.first;
        let (changes, lost) = pending.end(&self.shared, version, first)?;
        lost.iter().for_each(|refused| self.warn(event.name(), refused));
        self.lost = lost.into_iter();
        self.first = First { content: false, synced: false };
        let objects = self.shared.len();
        if first.content {
            tracing::info!(part = &*self.part.name, objects, %version, "caches populated");
        } else {
            tracing::debug!(part = &*self.part.name, objects, %version, "snapshot taken over");
        }
        Ok(changes)
    }

    fn upsert(&self, object: &Arc<K>) -> Result<Changes<K>, Refused> {
        let changes = self.step(|root, part| {
            let identity = object.identity();
            let key = Key { namespace: identity.namespace, name: identity.name };
            let hash = root.hash(key);
            let held = held(root, part, hash, key)?;
            part.state = State::Live;
            part.reach(identity.resource_version, false);
            part.mark_readable(hash, key);
            if held.as_ref().is_some_and(|held| unchanged(&**held, &**object)) {
                return Ok(Changes::none());
            }
            root.claim(part.fixed.id);
            root.put(part, hash, object);
            Ok(Changes::between(held, Some(Arc::clone(object)), false, DeleteReason::Observed))
        })?;
        if changes.first().is_none() {
            self.shared.meters.unchanged.add(1);
        }
        Ok(changes)
    }

    fn delete(&self, object: &Arc<K>) -> Result<Changes<K>, Refused> {
        self.step(|root, part| {
            let identity = object.identity();
            let key = Key { namespace: identity.namespace, name: identity.name };
            let hash = root.hash(key);
            part.state = State::Live;
            part.reach(identity.resource_version, true);
            part.mark_readable(hash, key);
            if held(root, part, hash, key).unwrap_or_default().is_none() {
                return Ok(Changes::none());
            }
            root.take(part, hash, key);
            Ok(Changes::one(Change::Deleted { last: Arc::clone(object), why: DeleteReason::Observed }))
        })
    }

    /// An object outside of a snapshot does not decode.
    fn unreadable(&self, object: &Unreadable) -> Result<Changes<K>, Refused> {
        let deletion = object.came_as == UnreadableAs::Deleted;
        self.step(|root, part| {
            let key = object.key();
            let hash = root.hash(key);
            part.reach(object.resource_version.as_str(), deletion);
            let held = match held(root, part, hash, key) {
                Err(_) if deletion => None, // another part's object, but maybe this part's note of an unreadable one
                held => held?,
            };
            if deletion {
                part.mark_readable(hash, key);
            } else {
                part.mark_unreadable(hash, object);
            }
            match held {
                Some(last) if deletion || is_another(&*last, object) => {
                    root.take(part, hash, key);
                    let why = if deletion { DeleteReason::Observed } else { DeleteReason::Replaced };
                    Ok(Changes::one(Change::Deleted { last, why }))
                }
                _ => Ok(Changes::none()),
            }
        })
    }

    fn failing(&mut self, error: &dyn Recover) -> Result<Changes<K>, Refused> {
        match (error.recovery(), error.object()) {
            (Recovery::Skip, Some(object)) if !object.name.is_empty() => {
                self.shared.meters.unreadable.add(1);
                match (self.grammar, &mut self.pending) {
                    (Grammar::Snapshot, Some(pending)) => pending.unreadable(&self.shared, object),
                    (Grammar::Start | Grammar::Live, _) => return self.unreadable(object),
                    _ => {}
                }
                Ok(Changes::none())
            }
            (Recovery::Resume | Recovery::Relist, _) => {
                self.shared.meters.failures.add(1);
                let (now, why): (_, Arc<str>) = (Instant::now(), error.to_string().into());
                self.step(|root, part| {
                    root.last_failure = Some(Arc::clone(&why));
                    part.state.failed(now, Arc::clone(&why));
                    Ok(Changes::none())
                })
            }
            _ => Ok(Changes::none()),
        }
    }

    fn take(&mut self, event: &Event<K>) -> Result<Changes<K>, Refused> {
        self.shared.meters.events.add(1);
        if !matches!(event, Event::Resync) {
            self.shared.meters.heard(&self.part.heard);
        }
        let placed = self.grammar.event(event).map_err(Refused::grammar);
        if matches!(event, Event::SnapshotStart) {
            self.begin()?;
        }
        placed?;
        if event.object().is_some_and(|object| object.identity().name.is_empty()) {
            return Err(Refused::nameless());
        }
        match event {
            Event::SnapshotStart => Ok(Changes::none()),
            Event::Listed(object) => {
                let shared = Arc::clone(&self.shared);
                self.within(event, |pending| pending.listed(&shared, object))
            }
            Event::Deleted(object) if self.grammar == Grammar::Snapshot => {
                let shared = Arc::clone(&self.shared);
                self.within(event, |pending| {
                    pending.deleted(&shared, object);
                    Ok(())
                })
            }
            Event::SnapshotEnd(version) => self.end(version),
            Event::Added(object) | Event::Modified(object) => self.upsert(object),
            Event::Deleted(object) => self.delete(object),
            Event::Bookmark(version) => self.step(|_, part| {
                part.state = State::Live;
                part.reach(version.as_str(), false);
                Ok(Changes::one(Change::Bookmark(version.clone())))
            }),
            Event::Watching(version) => self.step(|_, part| {
                part.state = State::Live;
                Ok(Changes::one(Change::Watching(version.clone())))
            }),
            Event::Resync => {
                let members = self.shared.load().members(self.part.id);
                Ok(Changes::replay(members.into_iter()))
            }
        }
    }

    fn warn(&self, event: &str, refused: &Refused) {
        self.shared.meters.refused.add(1);
        tracing::warn!(part = &*self.part.name, event, %refused, "an event was not taken");
    }

    fn counted(&self, changes: &Changes<K>) {
        for change in changes.few() {
            match change {
                Change::Added { .. } => self.shared.meters.added.add(1),
                Change::Updated { .. } => self.shared.meters.updated.add(1),
                Change::Deleted { .. } => self.shared.meters.deleted.add(1),
                _ => {}
            }
        }
    }
}

/// What a part holds under a key.
///
/// # Errors
///
/// Where another part holds it.
fn held<K: Object>(root: &Root<K>, part: &PartState<K>, hash: u32, key: Key<'_>) -> Result<Option<Arc<K>>, Refused> {
    match root.entry(hash, key) {
        Some(entry) if entry.tag != part.fixed.id => Err(Refused::taken(key.to_owned(), root.parts.name(entry.tag))),
        entry => Ok(entry.and_then(Entry::item).cloned()),
    }
}

impl<K: Object> Fold<K> for StoreFold<K> {
    type Changes = Changes<K>;
    type Error = Refused;

    fn fold(&mut self, event: Event<K>) -> Result<Changes<K>, Refused> {
        let taken = self.take(&event);
        match &taken {
            Ok(changes) => self.counted(changes),
            Err(refused) => self.warn(event.name(), refused),
        }
        taken
    }

    fn failed(&mut self, error: &dyn Recover) -> Option<Changes<K>> {
        self.grammar.error(error.recovery());
        if self.grammar == Grammar::Void {
            self.void();
        }
        // What another part holds, or a part that was removed, is not this stream's to change.
        let changes = self.failing(error).ok()?;
        self.counted(&changes);
        changes.first().is_some().then_some(changes)
    }

    fn refused(&mut self) -> Option<Refused> {
        self.lost.next()
    }
}

impl<K: Object> Drop for StoreFold<K> {
    fn drop(&mut self) {
        self.void();
        if self.remove_on_end {
            // Runs the user's code, maybe while a panic of it unwinds: a second one would abort.
            let removed = catch_unwind(AssertUnwindSafe(|| super::part::remove(&self.shared, self.part.id)));
            drop(removed);
        }
        let (now, why): (_, Arc<str>) = (Instant::now(), "the stream has ended".into());
        self.shared.update(|present| {
            let mut next = Root::clone(present);
            if let Some(part) = present.parts.get(self.part.id) {
                let mut part = PartState::clone(part);
                part.in_use = false;
                if !part.state.is_stale() {
                    part.state.failed(now, Arc::clone(&why));
                }
                next.parts.put(part);
            }
            next.close_if_unfed();
            (Some(next), ())
        });
    }
}

impl<K: Object> fmt::Debug for StoreFold<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreFold")
            .field("part", &self.part.name)
            .field("grammar", &self.grammar)
            .finish_non_exhaustive()
    }
}
