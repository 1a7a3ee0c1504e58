//! What a consumer knows that believes what it is told: must always be the store, and must never be surprised.

use super::record::{Content, Told, What};
use std::collections::BTreeMap;

/// What a consumer knows by now.
#[derive(Default)]
pub struct Replay {
    /// By key: uid and version.
    known: BTreeMap<Box<str>, (Box<str>, Box<str>)>,
    /// The first thing that no consumer can make sense of.
    broken: Option<String>,
}

impl Replay {
    /// Takes the next change. What makes no sense is an addition of what it has, an update or a deletion of what it has
    /// not, an update from one object to another, an object without a name.
    pub fn tell(&mut self, told: &Told) {
        if matches!(told.what, What::Synced | What::Bookmark | What::Watching) || self.broken.is_some() {
            return;
        }
        let had = match told.what {
            What::Deleted => self.known.remove(&told.key),
            _ => self.known.insert(told.key.clone(), (told.uid.clone(), told.version.clone())),
        };
        let key = &told.key;
        self.broken = match (&told.what, had) {
            _ if told.name().is_empty() => Some("an object without a name".into()),
            (What::Added { .. }, None) | (What::Resynced | What::Deleted, Some(_)) => None,
            (What::Updated { old }, Some(had)) if had == *old => {
                (old.0 != told.uid).then(|| format!("{key} was updated from one uid to another"))
            }
            (what, had) => Some(format!("{key} was told as {what:?}, but the consumer had {had:?}")),
        };
    }

    /// Whether the consumer knows just what the store holds.
    pub fn is_store(&self, content: &Content) -> Result<(), String> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        let known = self.known.iter().map(|(key, (uid, version))| (&**key, &**uid, &**version));
        if known.eq(content.iter().map(|(key, held)| (&**key, &*held.uid, &*held.version))) {
            return Ok(());
        }
        let names = |names: Vec<&str>| match names.len() {
            ..=20 => format!("{names:?}"),
            count => format!("{count} objects"),
        };
        let held = names(content.keys().map(|key| &**key).collect());
        let known = names(self.known.keys().map(|key| &**key).collect());
        Err(format!("what it was told gives {known}, the store holds {held}"))
    }
}
