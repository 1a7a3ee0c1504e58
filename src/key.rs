use crate::Object;
use std::{fmt, sync::Arc};

/// What names an object within a store: namespace and name, borrowed.
///
/// Made from `("namespace", "name")`, from `"name"` for cluster-scoped objects, from `&OwnedKey` and from an
/// object itself, so that lookups allocate nothing.
///
/// ```
/// use listwatch::Key;
///
/// assert_eq!(Key::from(("shop", "cart")).to_string(), "shop/cart");
/// assert_eq!(Key::from("node-1"), Key { namespace: "", name: "node-1" });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key<'a> {
    /// `""` for cluster-scoped objects.
    pub namespace: &'a str,
    /// The name within the namespace.
    pub name: &'a str,
}

impl<'a> Key<'a> {
    /// The key of an object.
    pub fn of<K: Object>(object: &'a K) -> Self {
        let identity = object.identity();
        Key { namespace: identity.namespace, name: identity.name }
    }

    /// A copy that borrows nothing.
    pub fn to_owned(self) -> OwnedKey {
        OwnedKey { namespace: self.namespace.into(), name: self.name.into() }
    }
}

impl<'a> From<(&'a str, &'a str)> for Key<'a> {
    fn from((namespace, name): (&'a str, &'a str)) -> Self {
        Key { namespace, name }
    }
}

impl<'a> From<&'a str> for Key<'a> {
    fn from(name: &'a str) -> Self {
        Key { namespace: "", name }
    }
}

impl<'a> From<&'a OwnedKey> for Key<'a> {
    fn from(key: &'a OwnedKey) -> Self {
        Key { namespace: &key.namespace, name: &key.name }
    }
}

impl<'a, K: Object> From<&'a Arc<K>> for Key<'a> {
    fn from(object: &'a Arc<K>) -> Self {
        Key::of(&**object)
    }
}

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(self.name)
    }
}

/// A [`Key`] that owns its strings, for queues and maps of a user's own.
///
/// ```
/// use listwatch::{Key, OwnedKey};
///
/// let key: OwnedKey = "shop/cart".into();
/// assert_eq!(Key::from(&key), Key::from(("shop", "cart")));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[doc(alias = "ObjectName")]
pub struct OwnedKey {
    /// `""` for cluster-scoped objects.
    pub namespace: Box<str>,
    /// The name within the namespace.
    pub name: Box<str>,
}

impl From<Key<'_>> for OwnedKey {
    fn from(key: Key<'_>) -> Self {
        key.to_owned()
    }
}

/// `namespace/name`, or `name` alone, as client-go writes keys.
impl From<&str> for OwnedKey {
    fn from(key: &str) -> Self {
        let (namespace, name) = key.split_once('/').unwrap_or(("", key));
        OwnedKey { namespace: namespace.into(), name: name.into() }
    }
}

impl fmt::Display for OwnedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Key::from(self).fmt(f)
    }
}
