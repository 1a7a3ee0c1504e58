//! A snapshot in progress. What it holds is freed as soon as it is void.

use super::{
    backlog::Backlog,
    changes::{Changes, News},
    draft::Draft,
    parts::PartState,
    refused::Refused,
    root::{Root, has_key, same_key, unchanged},
    shared::Shared,
    trie::{Entry, Trie},
};
use crate::{Change, DeleteReason, Key, Object, ResourceVersion, Unreadable, UnreadableAs};
use std::sync::Arc;

pub(super) struct Pending<K> {
    part: u32,
    draft: Draft<K>,
    /// Listed and told in `news`, but not in the draft yet; nothing was held under their keys before the snapshot.
    backlog: Backlog<K>,
    /// Held before, and not listed so far.
    unseen: Trie<Arc<K>>,
    /// Gone by an event within the snapshot, tagged with the reason; may have come again since.
    gone: Trie<Arc<K>>,
    /// Listed and not as before, in list order; may have been listed again since.
    news: Vec<News<K>>,
    /// A key came up twice, so that what is told must be checked against the result.
    superseded: bool,
    unreadable: Trie<Arc<Unreadable>>,
    tally: Tally,
}

/// How many keys the snapshot adds, updates and deletes, as it stands.
#[derive(Default)]
struct Tally {
    added: isize,
    updated: isize,
    deleted: isize,
}

impl Tally {
    /// A key that was `before` outside of the snapshot goes from `old` to `new` within it.
    fn moves<K>(&mut self, before: Option<&Arc<K>>, old: Option<&Arc<K>>, new: Option<&Arc<K>>) {
        self.count(before, old, -1);
        self.count(before, new, 1);
    }

    fn count<K>(&mut self, before: Option<&Arc<K>>, now: Option<&Arc<K>>, by: isize) {
        match (before, now) {
            (None, Some(_)) => self.added += by,
            (Some(_), None) => self.deleted += by,
            (Some(before), Some(now)) if !Arc::ptr_eq(before, now) => self.updated += by,
            _ => {}
        }
    }
}

const OBSERVED: u32 = 0;
const MISSED: u32 = 1;
const REPLACED: u32 = 2;

fn reason(tag: u32) -> DeleteReason {
    match tag {
        OBSERVED => DeleteReason::Observed,
        REPLACED => DeleteReason::Replaced,
        _ => DeleteReason::Missed,
    }
}

impl<K: Object> Pending<K> {
    pub(super) fn new(base: Arc<Root<K>>, part: u32) -> Self {
        Pending {
            part,
            unseen: base.members(part),
            draft: Draft::new(base, part),
            backlog: Backlog::new(),
            gone: Trie::new(),
            news: Vec::new(),
            superseded: false,
            unreadable: Trie::new(),
            tally: Tally::default(),
        }
    }

    /// What the part held under a key before the snapshot.
    fn before(&self, hash: u32, key: Key<'_>) -> Option<&Arc<K>> {
        let entry = self.draft.base().entry(hash, key)?;
        if entry.tag == self.part { entry.item() } else { None }
    }

    /// The name of another part that holds a key, now or when the snapshot began.
    fn taken(&self, shared: &Shared<K>, hash: u32, key: Key<'_>) -> Option<Arc<str>> {
        if self.draft.base().parts.len() == 1 && shared.parts() == 1 {
            return None;
        }
        let present = shared.load();
        let other = present.entry(hash, key).filter(|entry| entry.tag != self.part)?;
        Some(present.parts.name(other.tag))
    }

    pub(super) fn listed(&mut self, shared: &Shared<K>, object: &Arc<K>) -> Result<(), Refused> {
        let key = Key::of(&**object);
        let hash = self.draft.base().hash(key);
        if let Some(part) = self.taken(shared, hash, key) {
            return Err(Refused::taken(key.to_owned(), part));
        }
        self.unreadable.remove(hash, |held| held.key() == key);
        let held = self.draft.objects.len();
        if self.backlog.pays(held) && self.draft.base().objects.is_empty() {
            self.news.push((None, Some(Arc::clone(object))));
            if self.backlog.push(hash, Arc::clone(object), held) {
                self.settle(shared, hash);
            }
            return Ok(());
        }
        self.settle(shared, hash);
        let unseen = self.unseen.remove(hash, |held| has_key(&**held, key)).and_then(Entry::into_item);
        let held = self.draft.held(hash, key);
        if held.is_some_and(|held| unchanged(&**held, &**object)) {
            shared.meters.unchanged.add(1);
            return Ok(()); // the second copy is dropped here
        }
        let again = unseen.is_none();
        let before = unseen.or_else(|| self.before(hash, key).cloned());
        self.superseded |= again
            && (before.is_some() || held.is_some() || self.gone.get(hash, |gone| has_key(&**gone, key)).is_some());
        let object = match &before {
            Some(before) if unchanged(&**before, &**object) => Arc::clone(before),
            _ => Arc::clone(object),
        };
        self.tally.moves(before.as_ref(), held, Some(&object));
        self.draft.put(hash, Arc::clone(&object));
        self.news.push((before, Some(object)));
        Ok(())
    }

    /// Brings into the draft what is kept back, as far as it may be of this hash.
    fn settle(&mut self, shared: &Shared<K>, hash: u32) {
        self.backlog.take(hash).into_iter().for_each(|(hash, object)| self.put_fresh(shared, hash, object));
    }

    /// Puts in what nothing was held under before the snapshot. No object is looked at unless hashes are the same, as
    /// it has left the cache since it came.
    fn put_fresh(&mut self, shared: &Shared<K>, hash: u32, object: Arc<K>) {
        let again = self.draft.objects.candidate(hash).is_some();
        let held = if again { self.draft.held(hash, Key::of(&*object)) } else { None };
        self.superseded |= held.is_some();
        if held.is_some_and(|held| unchanged(&**held, &*object)) {
            shared.meters.unchanged.add(1);
            return;
        }
        self.tally.moves(None, held, Some(&object));
        self.draft.put(hash, object);
    }

    pub(super) fn deleted(&mut self, shared: &Shared<K>, object: &Arc<K>) {
        let key = Key::of(&**object);
        let hash = self.draft.base().hash(key);
        self.settle(shared, hash);
        self.unreadable.remove(hash, |held| held.key() == key);
        if self.draft.held(hash, key).is_some() {
            self.goes(hash, object, OBSERVED);
        }
    }

    fn goes(&mut self, hash: u32, last: &Arc<K>, why: u32) {
        let key = Key::of(&**last);
        self.superseded |= self.unseen.remove(hash, |held| has_key(&**held, key)).is_none();
        let before = self.before(hash, key).cloned();
        self.tally.moves(before.as_ref(), self.draft.held(hash, key), None);
        self.draft.take(hash, key);
        self.gone.insert(Entry::new(hash, why, Arc::clone(last)), same_key);
    }

    pub(super) fn unreadable(&mut self, shared: &Shared<K>, object: &Unreadable) {
        let key = object.key();
        let hash = self.draft.base().hash(key);
        let deletion = object.came_as == UnreadableAs::Deleted;
        // A deletion also takes back what this snapshot brought before another part took the key.
        if !deletion && self.taken(shared, hash, key).is_some() {
            return;
        }
        self.settle(shared, hash);
        let held = self.draft.held(hash, key).cloned();
        // what the consumer was told, rather than what this snapshot brought
        let last = self.before(hash, key).or(held.as_ref()).cloned();
        if deletion {
            self.unreadable.remove(hash, |held| held.key() == key);
            if let (Some(_), Some(last)) = (held, last) {
                self.goes(hash, &last, OBSERVED);
            }
            return;
        }
        match (held, last) {
            (Some(held), Some(last)) if is_another(&*held, object) => self.goes(hash, &last, REPLACED),
            _ => drop(self.unseen.remove(hash, |held| has_key(&**held, key))),
        }
        self.unreadable.insert(Entry::new(hash, 0, Arc::new(object.clone())), |a, b| a.key() == b.key());
    }

    /// Swaps the content, and says what that changed, and what was left out of it.
    pub(super) fn end(
        mut self,
        shared: &Shared<K>,
        version: &ResourceVersion,
        first: First,
    ) -> Result<(Changes<K>, Vec<Refused>), Refused> {
        self.backlog.take_all().for_each(|(hash, object)| self.put_fresh(shared, hash, object));
        let (gone, tally) = (&mut self.gone, &mut self.tally);
        self.draft.take_all(&self.unseen, |hash, object| {
            tally.moves(Some(&object), Some(&object), None);
            gone.insert(Entry::new(hash, MISSED, Arc::clone(&object)), same_key);
        });
        let base = Arc::clone(self.draft.base());
        let part = self.part;
        let mut gone = Vec::with_capacity(self.gone.len());
        for entry in self.gone.entries() {
            let Some(object) = entry.item() else { continue };
            if base.entry(entry.hash, Key::of(&**object)).is_some_and(|held| held.tag == part) {
                gone.push((Some(Arc::clone(object)), reason(entry.tag)));
            }
        }
        let synced = Change::Synced { resource_version: version.clone(), initial: first.synced };
        let (news, superseded, unreadable) = (self.news, self.superseded, self.unreadable);
        let mut told = Changes::many(gone, news, first.content, Some(synced));
        let lost = self.draft.publish(shared, |root, mut state, draft| {
            if superseded || draft.has_lost() {
                told.check_against(&draft.objects, &root.hasher);
            }
            conclude(root, &mut state, version, &unreadable);
            root.parts.put(state);
            root.tell(shared.has_cursors().then(|| told.clone()), true);
        })?;
        shared.meters.added.add(self.tally.added.unsigned_abs());
        shared.meters.updated.add(self.tally.updated.unsigned_abs());
        shared.meters.deleted.add(self.tally.deleted.unsigned_abs());
        shared.meters.snapshots.add(1);
        Ok((told, lost))
    }
}

/// What the consumer of this stream has not been told yet.
#[derive(Clone, Copy)]
pub(super) struct First {
    /// Any content at all.
    pub(super) content: bool,
    /// A `Synced`.
    pub(super) synced: bool,
}

fn conclude<K: Object>(
    root: &mut Root<K>,
    part: &mut PartState<K>,
    version: &ResourceVersion,
    unreadable: &Trie<Arc<Unreadable>>,
) {
    if version < &part.version {
        tracing::warn!(%version, before = %part.version, "the snapshot is older than the one before; believed");
        root.counts.rewinds += 1;
    }
    part.version = version.clone();
    part.state = super::State::Live;
    part.complete = true;
    part.unreadable = unreadable.clone();
    root.counts.snapshots += 1;
}

/// Whether an object that does not decode has another uid than the held one. Not where one of the two has none.
pub(super) fn is_another<K: Object>(held: &K, object: &Unreadable) -> bool {
    let uid = held.identity().uid;
    !uid.is_empty() && !object.uid.is_empty() && uid != &*object.uid
}
