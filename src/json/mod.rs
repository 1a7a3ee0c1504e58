//! JSON into objects that are kept for long: every vector is made of the size that it needs.

mod arrays;
mod reader;
mod structure;
mod text;
mod values;

use crate::DecodeError;
use reader::Reader;
use serde::Deserialize;

#[cfg(any(feature = "client", feature = "kube-client", fuzzing))]
pub(crate) use structure::Structure;

/// A value from its JSON, as `serde_json::from_slice` reads it, but for objects that are held for long.
///
/// A `Vec` that grows while it is read ends up half empty, and a Kubernetes object has dozens of them: a Pod of
/// k8s-openapi takes a third more memory that way than it needs. Here arrays are counted before they are read, so that
/// each vector is allocated once and full. That costs one scan of the bytes within arrays that are read at all; fields
/// that the type does not name are passed over without it.
///
/// Every type of the feature `kube` is decoded by it. A slim type of one's own calls it in its
/// [`Object::decode`](crate::Object::decode).
///
/// # Errors
///
/// Those of `serde_json`, which reads whatever this reader does not take: what is no JSON, or does not fit the type,
/// or needs more than JSON's own shapes, such as a `RawValue`.
///
/// ```
/// let ports: Vec<u16> = listwatch::decode_json(b"[80, 443, 8080, 8443, 9090]")?;
/// assert_eq!(ports.capacity(), ports.len());
///
/// let error = listwatch::decode_json::<Vec<u16>>(b"[80, \"http\"]").unwrap_err();
/// let error = error.to_string();
/// assert!(error.contains("invalid type") && error.contains("line 1"), "{error}");
/// # Ok::<(), listwatch::DecodeError>(())
/// ```
pub fn decode_json<'de, T: Deserialize<'de>>(json: &'de [u8]) -> Result<T, DecodeError> {
    match Reader::read(json) {
        Ok(value) => Ok(value),
        Err(_) => Ok(serde_json::from_slice(json)?),
    }
}

#[cfg(test)]
mod tests;
