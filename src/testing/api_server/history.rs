//! What storage remembers: every version of every object since the last compaction, in one order.

use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Arc,
};

/// All objects of a server with their past. One counter numbers the changes of all resources.
#[derive(Clone, Debug)]
pub(super) struct History {
    revision: u64,
    compacted: u64,
    tables: HashMap<String, Table>,
}

/// The objects of one resource, keyed by `namespace/name` or `name`.
#[derive(Clone, Debug, Default)]
struct Table {
    versions: BTreeMap<String, Vec<Version>>,
    log: VecDeque<Change>,
    /// The newest change that the log has lost.
    forgotten: u64,
}

/// An object as it was from a revision on, or nothing from its deletion on.
type Version = (u64, Option<Arc<Value>>);

/// One change of one object.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) revision: u64,
    pub(super) key: String,
    pub(super) before: Option<Arc<Value>>,
    pub(super) after: Option<Arc<Value>>,
}

impl History {
    pub(super) fn new() -> Self {
        Self { revision: 1, compacted: 0, tables: HashMap::new() }
    }

    /// The number of the newest change.
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    /// The oldest version that can still be listed.
    pub(super) fn compacted(&self) -> u64 {
        self.compacted
    }

    /// Writes an object, or with `None` deletes it, as the next revision, which the object's metadata then carries.
    pub(super) fn write(&mut self, resource: &str, key: &str, object: Option<Value>) -> Option<Arc<Value>> {
        self.revision += 1;
        let revision = self.revision;
        let table = self.tables.entry(resource.to_owned()).or_default();
        let versions = table.versions.entry(key.to_owned()).or_default();
        let before = versions.last().and_then(|(_, object)| object.clone());
        let after = object.map(|object| Arc::new(with_version(object, revision)));
        versions.push((revision, after.clone()));
        let gone = before.as_deref().map(|object| Arc::new(with_version(object.clone(), revision)));
        table.log.push_back(Change { revision, key: key.to_owned(), before, after: after.clone() });
        after.or(gone)
    }

    /// Counts a change of something else, so that the next version leaves a gap.
    pub(super) fn skip(&mut self) -> u64 {
        self.revision += 1;
        self.revision
    }

    pub(super) fn get(&self, resource: &str, key: &str) -> Option<Arc<Value>> {
        self.tables.get(resource)?.versions.get(key)?.last()?.1.clone()
    }

    /// The objects as of a revision, in the order of their keys, from the first key not before `start`.
    pub(super) fn at(&self, resource: &str, prefix: &str, start: &str, revision: u64) -> Vec<(String, Arc<Value>)> {
        let Some(table) = self.tables.get(resource) else { return Vec::new() };
        let from = start.max(prefix);
        table
            .versions
            .range(from.to_owned()..)
            .take_while(|(key, _)| key.starts_with(prefix))
            .filter_map(|(key, versions)| {
                let (_, object) = versions.iter().rev().find(|(version, _)| *version <= revision)?;
                Some((key.clone(), object.clone()?))
            })
            .collect()
    }

    /// The changes of a resource after one revision, up to and with another, oldest first; at most `most`.
    pub(super) fn changes(&self, resource: &str, after: u64, until: u64, most: usize) -> Vec<Change> {
        let Some(table) = self.tables.get(resource) else { return Vec::new() };
        let from = table.log.partition_point(|change| change.revision <= after);
        table.log.range(from..).take_while(|change| change.revision <= until).take(most).cloned().collect()
    }

    /// Whether changes of a resource after this revision are forgotten, so that a watch cannot go on from it.
    pub(super) fn has_forgotten(&self, resource: &str, after: u64) -> bool {
        self.tables.get(resource).is_some_and(|table| after < table.forgotten)
    }

    /// Forgets what no list or watch at `revision` or later needs; a watch cache that reaches further back keeps its
    /// changes, and one that has seen less than `revision` the objects as it saw them.
    pub(super) fn compact(&mut self, revision: u64, cache_start: u64, seen: u64) {
        self.compacted = self.compacted.max(revision.min(self.revision));
        let compacted = self.compacted;
        for table in self.tables.values_mut() {
            table.versions.retain(|_, versions| {
                let kept = versions.iter().rposition(|(version, _)| *version <= compacted.min(seen)).unwrap_or(0);
                versions.drain(..kept);
                !(versions.len() == 1 && versions[0].1.is_none())
            });
            // The change at the compacted revision itself is kept, for a watch from the one before, as etcd keeps it.
            while table.log.front().is_some_and(|change| change.revision < compacted.min(cache_start)) {
                table.forgotten = table.log.pop_front().map_or(table.forgotten, |change| change.revision);
            }
        }
    }

    /// Goes back to the state at a revision, as storage restored from a backup does; later changes never happened.
    pub(super) fn rewind(&mut self, revision: u64) {
        self.revision = revision.max(self.compacted);
        let revision = self.revision;
        for table in self.tables.values_mut() {
            table.versions.retain(|_, versions| {
                versions.retain(|(version, _)| *version <= revision);
                !versions.is_empty()
            });
            while table.log.back().is_some_and(|change| change.revision > revision) {
                table.log.pop_back();
            }
        }
    }
}

fn with_version(mut object: Value, revision: u64) -> Value {
    object["metadata"]["resourceVersion"] = Value::String(revision.to_string());
    object
}
