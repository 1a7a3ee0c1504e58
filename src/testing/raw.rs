use crate::{Object, OwnedKey, Raw};

/// A small object for tests: a key (`"namespace/name"`, or a name alone) and a version. Its uid is made of the key, so
/// that the same key is the same object.
///
/// ```
/// use listwatch::{Object, testing};
///
/// let cart = testing::raw("shop/cart", "7");
/// assert_eq!((cart.identity().name, cart.identity().resource_version), ("cart", "7"));
/// ```
///
/// # Panics
///
/// Where the key or version is no plain text, such as one with quotes.
pub fn raw(key: impl Into<OwnedKey>, version: &str) -> Raw {
    let key = key.into();
    let OwnedKey { namespace, name } = &key;
    let meta =
        format!(r#""namespace":"{namespace}","name":"{name}","uid":"uid-of-{key}","resourceVersion":"{version}""#);
    let json = format!(r#"{{"apiVersion":"v1","kind":"Thing","metadata":{{{meta}}}}}"#);
    Raw::decode(json.as_bytes()).expect("a key and a version of plain text")
}
