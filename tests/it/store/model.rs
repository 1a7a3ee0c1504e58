//! A naive store: maps, and every rule written down once more in the plainest way.

use super::thing::Thing;
use listwatch::{Change, DeleteReason, Event, Grammar, Recovery, UnreadableAs};
use std::{collections::BTreeMap, collections::BTreeSet};

pub type Content = BTreeMap<String, Thing>;

#[derive(Default)]
pub struct Model {
    pub parts: Vec<PartModel>,
}

#[derive(Default)]
pub struct PartModel {
    pub content: Content,
    pub unreadable: BTreeSet<String>,
    grammar: Grammar,
    pending: Snapshot,
}

#[derive(Default)]
struct Snapshot {
    content: Content,
    mentioned: BTreeSet<String>,
    unreadable: BTreeSet<String>,
}

fn unchanged(a: &Thing, b: &Thing) -> bool {
    !a.uid.is_empty() && !a.version.is_empty() && (&a.uid, &a.version) == (&b.uid, &b.version)
}

impl Model {
    pub fn content(&self) -> Content {
        self.parts.iter().flat_map(|part| part.content.clone()).collect()
    }

    fn is_of_another(&self, part: usize, name: &str) -> bool {
        self.parts.iter().enumerate().any(|(i, other)| i != part && other.content.contains_key(name))
    }

    /// Whether the store takes the event.
    pub fn event(&mut self, at: usize, event: &Event<Thing>) -> bool {
        let placed = self.parts[at].grammar.event(event).is_ok();
        let thing = event.object().map(|object| Thing::clone(object));
        // A deletion is nothing to refuse: it takes back what this part's own snapshot brought, if anything.
        let deletion = matches!(event, Event::Deleted(_));
        if thing.as_ref().is_some_and(|thing| placed && !deletion && self.is_of_another(at, &thing.name)) {
            return false;
        }
        let others: BTreeSet<String> = self
            .parts
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != at)
            .flat_map(|(_, p)| p.content.keys().cloned())
            .collect();
        let part = &mut self.parts[at];
        if matches!(event, Event::SnapshotStart) {
            part.pending = Snapshot::default();
        }
        if !placed {
            return false;
        }
        let in_snapshot = part.grammar == Grammar::Snapshot;
        match (event, thing) {
            (Event::Listed(_), Some(thing)) => part.listed(thing),
            (Event::Deleted(_), Some(thing)) if in_snapshot => {
                part.pending.content.remove(&thing.name);
                part.pending.unreadable.remove(&thing.name);
                part.pending.mentioned.insert(thing.name);
            }
            (Event::Deleted(_), Some(thing)) => {
                part.content.remove(&thing.name);
                part.unreadable.remove(&thing.name);
            }
            (Event::Added(_) | Event::Modified(_), Some(thing)) => {
                part.unreadable.remove(&thing.name);
                if !part.content.get(&thing.name).is_some_and(|held| unchanged(held, &thing)) {
                    part.content.insert(thing.name.clone(), thing);
                }
            }
            (Event::SnapshotEnd(_), _) => {
                let mut pending = std::mem::take(&mut part.pending);
                pending.content.retain(|name, _| !others.contains(name));
                (part.content, part.unreadable) = (pending.content, pending.unreadable);
            }
            _ => {}
        }
        true
    }

    pub fn failed(&mut self, at: usize, recovery: Recovery) {
        self.parts[at].grammar.error(recovery);
    }

    pub fn unreadable(&mut self, at: usize, came_as: UnreadableAs, name: &str, uid: &str) {
        let deletion = came_as == UnreadableAs::Deleted;
        if !deletion && self.is_of_another(at, name) {
            return;
        }
        let part = &mut self.parts[at];
        let (content, unreadable, last) = match part.grammar {
            Grammar::Void => return,
            Grammar::Snapshot => {
                let pending = &mut part.pending;
                let mentioned = !pending.mentioned.insert(name.into());
                let before = if mentioned { &pending.content } else { &part.content };
                let last = before.get(name).cloned();
                (&mut pending.content, &mut pending.unreadable, last)
            }
            _ => {
                let last = part.content.get(name).cloned();
                (&mut part.content, &mut part.unreadable, last)
            }
        };
        content.remove(name);
        if deletion {
            unreadable.remove(name);
            return;
        }
        unreadable.insert(name.into());
        if let Some(last) = last.filter(|last| uid.is_empty() || last.uid.is_empty() || last.uid == uid) {
            content.insert(name.into(), last);
        }
    }

    /// The stream ends, and another one takes the part over.
    pub fn reopen(&mut self, at: usize) {
        self.parts[at].grammar = Grammar::Start;
    }

    pub fn remove(&mut self, at: usize) {
        self.parts[at] = PartModel::default();
    }
}

impl PartModel {
    fn listed(&mut self, thing: Thing) {
        let pending = &mut self.pending;
        let held = self.content.get(&thing.name);
        let now = if pending.mentioned.contains(&thing.name) { pending.content.get(&thing.name) } else { held };
        let keeps = [now, held].into_iter().flatten().find(|old| unchanged(old, &thing)).cloned();
        pending.mentioned.insert(thing.name.clone());
        pending.unreadable.remove(&thing.name);
        pending.content.insert(thing.name.clone(), keeps.unwrap_or(thing));
    }
}

/// Replays changes, each of which must be possible where it stands.
#[derive(Default, Debug)]
pub struct Replay {
    pub content: Content,
    pub synced: usize,
}

impl Replay {
    pub fn take(&mut self, change: &Change<Thing>) {
        match change {
            Change::Added { object, .. } => {
                let before = self.content.insert(object.name.clone(), Thing::clone(object));
                assert_eq!(before, None, "added twice");
            }
            Change::Updated { old, new } => {
                assert_eq!(old.uid, new.uid, "another uid is another object");
                let before = self.content.insert(new.name.clone(), Thing::clone(new));
                assert_eq!(before.as_ref(), Some(&**old), "old is not what was told last");
            }
            Change::Deleted { last, why } => {
                let before = self.content.remove(&last.name).expect("deleted, but never told");
                assert!(*why == DeleteReason::Observed || before == **last, "{why:?}: last is not what was told last");
            }
            Change::Resynced(object) => assert_eq!(self.content.get(&object.name), Some(&**object)),
            Change::Synced { initial, .. } => {
                assert!(!initial || self.synced == 0);
                self.synced += 1;
            }
            Change::Bookmark(_) | Change::Watching(_) => {}
        }
    }
}
