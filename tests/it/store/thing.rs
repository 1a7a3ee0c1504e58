//! A small object, and short ways to feed a store with it.

use futures::{FutureExt, StreamExt};
use listwatch::{
    Change, DecodeError, Error, Event, Fold, Identity, IntoFold, Object, Recovery, Store, Unreadable, UnreadableAs,
    store::StoreFold,
};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Thing {
    pub namespace: String,
    pub name: String,
    pub uid: String,
    pub version: String,
    pub label: String,
}

impl Object for Thing {
    fn identity(&self) -> Identity<'_> {
        let Thing { namespace, name, uid, version, .. } = self;
        Identity { namespace, name, uid, resource_version: version }
    }

    fn decode(_: &[u8]) -> Result<Self, DecodeError> {
        Err(DecodeError::new("things are made, not decoded"))
    }
}

/// A thing in the namespace `ns`, of uid `<name>-1`.
pub fn thing(name: &str, version: u64) -> Thing {
    Thing {
        namespace: "ns".into(),
        name: name.into(),
        uid: format!("{name}-1"),
        version: version.to_string(),
        label: String::new(),
    }
}

impl Thing {
    pub fn uid(mut self, uid: &str) -> Self {
        self.uid = uid.into();
        self
    }

    pub fn label(mut self, label: &str) -> Self {
        self.label = label.into();
        self
    }
}

pub fn fold(store: &Store<Thing>) -> StoreFold<Thing> {
    store.into_fold()
}

pub type Told = Vec<String>;

/// A change in a few characters: `+a@1`, `~a@1>2`, `-a@2 Missed`, `synced 3`; `!` marks what is initial.
pub fn brief(change: &Change<Thing>) -> String {
    let at = |thing: &Arc<Thing>| format!("{}@{}", thing.name, thing.version);
    match change {
        Change::Added { object, initial } => format!("+{}{}", at(object), if *initial { "!" } else { "" }),
        Change::Updated { old, new } => format!("~{}>{}", at(old), new.version),
        Change::Deleted { last, why } => format!("-{} {why:?}", at(last)),
        Change::Resynced(object) => format!("={}", at(object)),
        Change::Synced { resource_version, initial } => {
            format!("synced {resource_version}{}", if *initial { "!" } else { "" })
        }
        Change::Bookmark(version) => format!("bookmark {version}"),
        Change::Watching(version) => format!("watching {version}"),
    }
}

/// Folds these, and says what was told.
pub fn feed(fold: &mut StoreFold<Thing>, events: impl IntoIterator<Item = Event<Thing>>) -> Told {
    let changes = events.into_iter().flat_map(|event| fold.fold(event).expect("the event is in place"));
    changes.map(|change| brief(&change)).collect()
}

pub fn fail(fold: &mut StoreFold<Thing>, error: &Error) -> Told {
    fold.failed(error).into_iter().flatten().map(|change| brief(&change)).collect()
}

pub fn error(recovery: Recovery, what: &str) -> Error {
    Error::other(what).with_recovery(recovery)
}

pub fn unreadable(came_as: UnreadableAs, name: &str, uid: &str, version: &str) -> Error {
    let object = Unreadable::new(came_as, "ns", name).with_identity(uid, version);
    Error::unreadable(object, DecodeError::new("bad"))
}

pub fn listed(things: impl IntoIterator<Item = Thing>, version: &str) -> Vec<Event<Thing>> {
    let items = things.into_iter().map(Event::listed);
    std::iter::once(Event::SnapshotStart).chain(items).chain([Event::SnapshotEnd(version.into())]).collect()
}

/// `name@version` of everything that is held, sorted.
pub fn content(store: &Store<Thing>) -> Vec<String> {
    let mut all: Vec<_> = store.snapshot().iter().map(|thing| format!("{}@{}", thing.name, thing.version)).collect();
    all.sort();
    all
}

/// The same, one after another, whatever order the store is free to choose.
pub fn sorted(mut told: Told) -> Told {
    told.sort();
    told
}

/// What a stream tells without waiting.
pub fn told_now(changes: &mut (impl futures::Stream<Item = Change<Thing>> + Unpin)) -> Told {
    let mut told = Vec::new();
    while let Some(Some(change)) = changes.next().now_or_never() {
        told.push(brief(&change));
    }
    told
}
