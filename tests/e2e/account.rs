//! A second account of what a mirror holds, made from its changes alone.

use std::collections::BTreeMap;

use listwatch::{Change, DeleteReason, Error, Object, Store};

use crate::writer::Version;

/// What the changes said.
#[derive(Debug, Default)]
pub struct Account {
    /// The content that a consumer of the changes holds.
    pub objects: BTreeMap<String, Version>,
    /// Changes that do not follow from those before: something was lost or told twice.
    pub gaps: Vec<String>,
    pub errors: Vec<Error>,
    /// Changes of objects.
    pub told: usize,
    pub synced: usize,
    pub watching: usize,
    /// Deletions that only a snapshot showed.
    pub missed: usize,
    /// The highest version that each name was ever told at.
    highest: BTreeMap<String, u64>,
}

impl Account {
    /// Notes what a mirror says.
    pub fn note<K: Object>(&mut self, item: Result<Change<K>, Error>) {
        match item {
            Ok(change) => self.apply(&change),
            Err(error) => self.errors.push(error),
        }
    }

    /// Another stream feeds the mirror, and may begin at an older state than the last one reached.
    pub fn begins_anew(&mut self) {
        self.highest.clear();
    }

    /// All was told that the store has.
    pub fn equals<K: Object>(&mut self, store: &Store<K>) {
        let held = content(store);
        if held != self.objects {
            self.gaps.push(format!("the changes do not give the store: {}", differences(&self.objects, &held)));
        }
    }

    fn apply<K: Object>(&mut self, change: &Change<K>) {
        let fits = match change {
            Change::Added { object, .. } => {
                let (key, version) = entry(&**object);
                self.objects.insert(key, version).is_none()
            }
            Change::Updated { old, new } => {
                let (key, version) = entry(&**new);
                self.objects.insert(key, version) == Some(entry(&**old).1)
            }
            Change::Deleted { last, why } => {
                self.missed += usize::from(*why == DeleteReason::Missed);
                let (key, (uid, _)) = entry(&**last);
                self.objects.remove(&key).is_some_and(|held| held.0 == uid)
            }
            Change::Resynced(object) => {
                let (key, version) = entry(&**object);
                self.objects.get(&key) == Some(&version)
            }
            Change::Synced { .. } => {
                self.synced += 1;
                true
            }
            Change::Watching(_) => {
                self.watching += 1;
                true
            }
            Change::Bookmark(_) => true,
        };
        if !fits {
            self.gap(change, "does not follow");
        }
        if let Some(object) = change.object() {
            self.told += 1;
            let (key, (_, version)) = entry(&**object);
            let version = version.parse().unwrap_or(0);
            let highest = self.highest.entry(key).or_default();
            if version < *highest {
                let what = format!("goes back from version {highest} to {version}");
                self.gap(change, &what);
            } else {
                *highest = version;
            }
        }
    }

    fn gap<K: Object>(&mut self, change: &Change<K>, what: &str) {
        let objects = self.objects.len();
        self.gaps.push(format!("{} of {:?} {what}, with {objects} objects", change.name(), change.key()));
    }
}

/// The content of a store as [`writer::list`](crate::writer::list) gives that of the server.
pub fn content<K: Object>(store: &Store<K>) -> BTreeMap<String, Version> {
    store.snapshot().iter().map(|object| entry(&**object)).collect()
}

/// Name and version of an object.
pub fn entry<K: Object>(object: &K) -> (String, Version) {
    let identity = object.identity();
    let key = match identity.namespace {
        "" => identity.name.to_owned(),
        namespace => format!("{namespace}/{}", identity.name),
    };
    (key, (identity.uid.to_owned(), identity.resource_version.to_owned()))
}

/// What is held and should not be, and the other way round.
pub fn differences(held: &BTreeMap<String, Version>, wanted: &BTreeMap<String, Version>) -> String {
    let absent: Vec<_> = wanted.keys().filter(|key| !held.contains_key(*key)).take(5).collect();
    let extra: Vec<_> = held.keys().filter(|key| !wanted.contains_key(*key)).take(5).collect();
    let stale: Vec<_> =
        wanted.iter().filter(|(key, version)| held.get(*key).is_some_and(|held| held != *version)).take(5).collect();
    format!(
        "{} of {} objects, absent {absent:?}, too many {extra:?}, other versions {stale:?}",
        held.len(),
        wanted.len()
    )
}
