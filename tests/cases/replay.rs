//! What a consumer knows that believes what it is told: must always be the store, and must never be surprised.

use super::record::{Consumed, Content, What};
use std::collections::BTreeMap;

/// Replays what a consumer was told: by key, the uid and version that it knows of.
///
/// # Errors
///
/// What no consumer can make sense of: an addition of what it has, an update or a deletion of what it has not, an
/// update from one object to another, an object without a name.
pub fn replay(consumed: &Consumed) -> Result<BTreeMap<&str, (&str, &str)>, String> {
    let mut known = BTreeMap::new();
    for told in &consumed.told {
        let (key, state) = (&*told.key, (&*told.uid, &*told.version));
        if matches!(told.what, What::Synced | What::Bookmark | What::Watching) {
            continue;
        }
        if told.name().is_empty() {
            return Err("an object without a name".into());
        }
        let had = match told.what {
            What::Deleted => known.remove(key),
            _ => known.insert(key, state),
        };
        match (&told.what, had) {
            (What::Added { .. }, None) | (What::Resynced | What::Deleted, Some(_)) => {}
            (What::Updated { old: (uid, version) }, Some(had)) if had == (&**uid, &**version) => {
                if **uid != *told.uid {
                    return Err(format!("{key} was updated from one uid to another"));
                }
            }
            (what, had) => return Err(format!("{key} was told as {what:?}, but the consumer had {had:?}")),
        }
    }
    Ok(known)
}

/// Whether a consumer that was told this knows just what the store holds.
pub fn is_store(consumed: &Consumed, content: &Content) -> Result<(), String> {
    let known = replay(consumed)?;
    let held = content.iter().map(|(key, held)| (&**key, (&*held.uid, &*held.version)));
    if known.iter().map(|(key, state)| (*key, *state)).eq(held) {
        return Ok(());
    }
    let names =
        |names: Vec<&str>| if names.len() > 20 { format!("{} objects", names.len()) } else { format!("{names:?}") };
    let held = names(content.keys().map(|key| &**key).collect());
    Err(format!("what it was told gives {}, the store holds {held}", names(known.keys().copied().collect())))
}
