use super::{
    refused::Refused,
    root::hash_key,
    trie::{self, Trie},
};
use crate::{
    DeleteReason, Event, Fold, Grammar, Identity, Key, Object, Recover, Recovery, ResourceVersion, Unreadable,
    UnreadableAs,
};
use hashbrown::DefaultHashBuilder;
use std::{fmt, marker::PhantomData, sync::Arc};

/// What a [`Ledger`] holds of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LedgerEntry {
    /// `""` for cluster-scoped objects.
    pub namespace: Box<str>,
    /// The name within the namespace.
    pub name: Box<str>,
    /// Another uid under the same key is another object.
    pub uid: Box<str>,
    /// The version that was told last.
    pub resource_version: ResourceVersion,
}

impl LedgerEntry {
    /// The key of the object.
    pub fn key(&self) -> Key<'_> {
        Key { namespace: &self.namespace, name: &self.name }
    }

    fn of(identity: &Identity<'_>) -> Self {
        LedgerEntry {
            namespace: identity.namespace.into(),
            name: identity.name.into(),
            uid: identity.uid.into(),
            resource_version: identity.resource_version.into(),
        }
    }

    fn identity(&self) -> Identity<'_> {
        Identity {
            namespace: &self.namespace,
            name: &self.name,
            uid: &self.uid,
            resource_version: self.resource_version.as_str(),
        }
    }
}

/// A change as a [`Ledger`] tells it: with the object as it came and what was held of the one before.
///
/// The enum is complete on purpose, as [`Change`](crate::Change) is.
#[derive(Debug, PartialEq, Eq)]
pub enum Noted<K> {
    /// An object that was not known.
    Added {
        /// The object; the ledger does not hold it.
        object: Arc<K>,
        /// Part of the first content that this consumer is told, not news.
        initial: bool,
    },
    /// Another state of a known object.
    Updated {
        /// What was held of it.
        old: LedgerEntry,
        /// The object; the ledger does not hold it.
        new: Arc<K>,
    },
    /// An object is gone.
    Deleted {
        /// What was held of it.
        last: LedgerEntry,
        /// How that is known.
        why: DeleteReason,
    },
    /// A snapshot is complete, and all that it changed was told.
    Synced {
        /// The version of the snapshot.
        resource_version: ResourceVersion,
        /// The first one that this consumer is told.
        initial: bool,
    },
    /// Nothing changed up to this version.
    Bookmark(ResourceVersion),
    /// The watch stands: the server answers.
    Watching(ResourceVersion),
}

/// Tells changes and missed deletions while holding only namespace, name, uid and version of each object: see [`ledger`].
pub struct Ledger<K> {
    book: Book,
    grammar: Grammar,
    /// Of a snapshot in progress: what it has not listed so far.
    unseen: Option<Trie<Arc<LedgerEntry>>>,
    initial: bool,
    kind: PhantomData<fn() -> K>,
}

/// The entries, by key.
pub(super) struct Book {
    entries: Trie<Arc<LedgerEntry>>,
    hasher: DefaultHashBuilder,
}

/// A fold for consumers that want every change, deletions that no event told among them, but hold no objects.
///
/// Listed objects are told as they come, not at the end of the snapshot; deletions at its end, before `Synced`. An object
/// whose uid and version are unchanged is not told. A void snapshot takes nothing back.
///
/// # Memory
///
/// One entry of four short strings an object.
///
/// ```
/// use listwatch::{Event, Fold, Object, Raw, store::{Noted, ledger}};
///
/// let pod = |name: &str| Raw::decode(format!(r#"{{"metadata":{{"name":"{name}"}}}}"#).as_bytes());
/// let mut ledger = ledger::<Raw>();
/// for event in [Event::SnapshotStart, Event::listed(pod("a")?), Event::SnapshotEnd("1".into()), Event::SnapshotStart] {
///     ledger.fold(event)?;
/// }
/// let told: Vec<_> = ledger.fold(Event::SnapshotEnd("2".into()))?.collect();
/// assert!(matches!(&told[0], Noted::Deleted { last, .. } if &*last.name == "a"), "missed, but told");
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
pub fn ledger<K: Object>() -> Ledger<K> {
    Ledger { book: Book::new(), grammar: Grammar::Start, unseen: None, initial: true, kind: PhantomData }
}

impl<K: Object> Ledger<K> {
    /// How many objects are known.
    pub fn len(&self) -> usize {
        self.book.entries.len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is held of an object.
    pub fn get<'k>(&self, key: impl Into<Key<'k>>) -> Option<&LedgerEntry> {
        self.book.get(key.into())
    }

    fn seen(&mut self, key: Key<'_>) {
        let hash = self.book.hash(key);
        if let Some(unseen) = &mut self.unseen {
            unseen.remove(hash, |entry| entry.key() == key);
        }
    }

    fn end(&mut self, resource_version: ResourceVersion) -> NotedChanges<K> {
        let gone = self.unseen.take().unwrap_or_else(Trie::new);
        for entry in gone.clone().into_iter() {
            self.book.remove(entry.key());
        }
        let initial = std::mem::replace(&mut self.initial, false);
        let synced = Noted::Synced { resource_version, initial };
        NotedChanges { gone: Some(gone.into_iter()), few: [Some(synced), None] }
    }

    fn delete(&mut self, key: Key<'_>, why: DeleteReason) -> NotedChanges<K> {
        self.seen(key);
        NotedChanges::few(self.book.remove(key).map(|last| Noted::Deleted { last, why }), None)
    }
}

impl Book {
    pub(super) fn new() -> Self {
        Book { entries: Trie::new(), hasher: DefaultHashBuilder::default() }
    }

    fn hash(&self, key: Key<'_>) -> u32 {
        hash_key(&self.hasher, key)
    }

    pub(super) fn get(&self, key: Key<'_>) -> Option<&LedgerEntry> {
        self.entries.get(self.hash(key), |entry| entry.key() == key).map(|entry| &**entry)
    }

    pub(super) fn entries(&self) -> trie::IntoIter<Arc<LedgerEntry>> {
        self.entries.clone().into_iter()
    }

    /// Notes an object, and tells what that changes.
    pub(super) fn note<K: Object>(&mut self, object: Arc<K>, initial: bool) -> NotedChanges<K> {
        let identity = object.identity();
        let key = Key { namespace: identity.namespace, name: identity.name };
        let known = self.get(key);
        if known.is_some_and(|known| known.identity().is_unchanged_from(&identity)) {
            return NotedChanges::few(None, None);
        }
        let hash = self.hash(key);
        let entry = trie::Entry::new(hash, 0, Arc::new(LedgerEntry::of(&identity)));
        let old = self.entries.insert(entry, |a, b| a.key() == b.key()).and_then(trie::Entry::into_item);
        match old.map(Arc::unwrap_or_clone) {
            Some(last) if *last.uid != *identity.uid => {
                let gone = Noted::Deleted { last, why: DeleteReason::Replaced };
                NotedChanges::few(Some(gone), Some(Noted::Added { object, initial }))
            }
            Some(old) => NotedChanges::few(Some(Noted::Updated { old, new: object }), None),
            None => NotedChanges::few(Some(Noted::Added { object, initial }), None),
        }
    }

    pub(super) fn remove(&mut self, key: Key<'_>) -> Option<LedgerEntry> {
        let removed = self.entries.remove(self.hash(key), |entry| entry.key() == key)?;
        removed.into_item().map(Arc::unwrap_or_clone)
    }
}

impl<K: Object> Fold<K> for Ledger<K> {
    type Changes = NotedChanges<K>;
    type Error = Refused;

    fn fold(&mut self, event: Event<K>) -> Result<NotedChanges<K>, Refused> {
        let placed = self.grammar.event(&event).map_err(Refused::grammar);
        if matches!(event, Event::SnapshotStart) {
            self.unseen = Some(self.book.entries.clone());
        }
        placed?;
        if event.object().is_some_and(|object| object.identity().name.is_empty()) {
            return Err(Refused::nameless());
        }
        Ok(match event {
            Event::SnapshotStart | Event::Resync => NotedChanges::few(None, None),
            Event::Listed(object) => {
                self.seen(Key::of(&*object));
                self.book.note(object, self.initial)
            }
            Event::Added(object) | Event::Modified(object) => self.book.note(object, false),
            Event::Deleted(object) => self.delete(Key::of(&*object), DeleteReason::Observed),
            Event::SnapshotEnd(version) => self.end(version),
            Event::Bookmark(version) => NotedChanges::few(Some(Noted::Bookmark(version)), None),
            Event::Watching(version) => NotedChanges::few(Some(Noted::Watching(version)), None),
        })
    }

    fn failed(&mut self, error: &dyn Recover) -> Option<NotedChanges<K>> {
        self.grammar.error(error.recovery());
        if self.grammar == Grammar::Void {
            self.unseen = None;
            return None;
        }
        let object: &Unreadable = error.object().filter(|_| error.recovery() == Recovery::Skip)?;
        if object.came_as == UnreadableAs::Deleted {
            return Some(self.delete(object.key(), DeleteReason::Observed));
        }
        let known = self.book.get(object.key())?;
        if !known.uid.is_empty() && !object.uid.is_empty() && known.uid != object.uid {
            return Some(self.delete(object.key(), DeleteReason::Replaced));
        }
        self.seen(object.key());
        None
    }
}

impl<K> fmt::Debug for Ledger<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Ledger");
        out.field("objects", &self.book.entries.len()).field("grammar", &self.grammar).finish_non_exhaustive()
    }
}

/// What one event did to a [`Ledger`], told lazily.
pub struct NotedChanges<K> {
    gone: Option<trie::IntoIter<Arc<LedgerEntry>>>,
    few: [Option<Noted<K>>; 2],
}

impl<K> NotedChanges<K> {
    fn few(first: Option<Noted<K>>, second: Option<Noted<K>>) -> Self {
        NotedChanges { gone: None, few: [first, second] }
    }
}

impl<K> Iterator for NotedChanges<K> {
    type Item = Noted<K>;

    fn next(&mut self) -> Option<Noted<K>> {
        if let Some(last) = self.gone.as_mut().and_then(Iterator::next) {
            return Some(Noted::Deleted { last: Arc::unwrap_or_clone(last), why: DeleteReason::Missed });
        }
        let [first, second] = &mut self.few;
        first.take().or_else(|| second.take())
    }
}

impl<K> fmt::Debug for NotedChanges<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NotedChanges").finish_non_exhaustive()
    }
}
