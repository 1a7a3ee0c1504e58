//! Changes replayed: each must be possible where it stands, and together they must give the store.

use super::thing::{Thing, key};
use listwatch::{Change, DeleteReason, Object, Snapshot, store::Noted};
use std::{collections::BTreeMap, sync::Arc};

#[derive(Debug, Default)]
pub struct Replay(BTreeMap<String, Arc<Thing>>);

impl Replay {
    /// What is held already when nothing has been told yet.
    pub fn of(store: &Snapshot<Thing>) -> Self {
        Replay(store.iter().map(|thing| (thing.key(), Arc::clone(thing))).collect())
    }

    pub fn take(&mut self, change: &Change<Thing>) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("{what}: {change:?}"));
        match change {
            Change::Added { object, .. } if self.0.insert(object.key(), Arc::clone(object)).is_some() => {
                wrong("added, but told before")
            }
            Change::Updated { old, new } if self.0.insert(new.key(), Arc::clone(new)).as_ref() != Some(old) => {
                wrong("updated, but the old one was not told last")
            }
            Change::Updated { old, new } if old.identity().uid != new.identity().uid => {
                wrong("updated, but it is another object")
            }
            Change::Deleted { last, why } => match self.0.remove(&last.key()) {
                None => wrong("deleted, but never told"),
                Some(told) if *why != DeleteReason::Observed && told != *last => {
                    wrong("deleted without an event, but not as told last")
                }
                Some(_) => Ok(()),
            },
            Change::Resynced(object) if self.0.get(&object.key()) != Some(object) => {
                wrong("resynced, but not as told last")
            }
            _ => Ok(()),
        }
    }

    pub fn equals(&self, store: &Snapshot<Thing>, told: impl Fn(&Thing) -> bool) -> Result<(), String> {
        if self.0 == Self::of(store).0.into_iter().filter(|(_, thing)| told(thing)).collect() {
            return Ok(());
        }
        Err(format!("replayed {:?}, but the store holds {:?}", self.0.values(), Self::of(store).0.values()))
    }
}

/// The same for subscribers that are told no old objects: uid and version by key.
#[derive(Debug, Default)]
pub struct Notes(BTreeMap<String, (String, String)>);

fn identity(thing: &Thing) -> (String, String) {
    let identity = thing.identity();
    (identity.uid.to_owned(), identity.resource_version.to_owned())
}

impl Notes {
    pub fn take(&mut self, noted: &Noted<Thing>) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("{what}: {noted:?}"));
        match noted {
            Noted::Added { object, .. } if self.0.insert(object.key(), identity(object)).is_some() => {
                wrong("added, but noted before")
            }
            Noted::Updated { old, new } => {
                let before = (old.uid.to_string(), old.resource_version.to_string());
                if self.0.insert(new.key(), identity(new)) == Some(before) { Ok(()) } else { wrong("not noted so") }
            }
            Noted::Deleted { last, .. } if self.0.remove(&key(last.key())).is_none() => {
                wrong("deleted, but never noted")
            }
            _ => Ok(()),
        }
    }

    pub fn equals(&self, store: &Snapshot<Thing>) -> Result<(), String> {
        if self.0 == store.iter().map(|thing| (thing.key(), identity(thing))).collect() {
            return Ok(());
        }
        Err(format!("noted {:?}, but the store holds {:?}", self.0, Replay::of(store).0.values()))
    }
}
