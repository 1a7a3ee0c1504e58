use super::{reused::reused, unreadable::known_of};
use crate::{Error, Object, Store, UnreadableAs};
use std::sync::Arc;

/// An object, that of the store where it has the same; or an error that says what is known of one that does not fit its
/// type.
pub(super) fn object<K: Object>(json: &[u8], came_as: UnreadableAs, store: Option<&Store<K>>) -> Result<Arc<K>, Error> {
    if let Some(object) = reused(json, store) {
        return Ok(object);
    }
    K::decode(json).map(Arc::new).map_err(|error| {
        if is_json(json) {
            Error::unreadable(known_of(json, came_as), error)
        } else {
            Error::garbage("an object is no JSON")
        }
    })
}

/// Whether the bytes are JSON of any kind. Keeps nothing and does not recurse.
pub(super) fn is_json(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_ok() && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}
