//! An object that counts how many of it live, on the thread of its test.

use listwatch::{DecodeError, Identity, Object};
use std::cell::Cell;

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
}

/// How many there are now.
pub(super) fn live() -> usize {
    LIVE.get()
}

#[derive(serde::Deserialize)]
struct Wire {
    metadata: Metadata,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: String,
    #[serde(default)]
    resource_version: String,
}

#[derive(Debug)]
pub(super) struct Counted {
    name: String,
    version: String,
}

impl Counted {
    pub(super) fn new(name: &str, version: usize) -> Self {
        LIVE.set(LIVE.get() + 1);
        Counted { name: name.to_owned(), version: version.to_string() }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        LIVE.set(LIVE.get() - 1);
    }
}

impl Object for Counted {
    fn identity(&self) -> Identity<'_> {
        Identity { namespace: "ns", name: &self.name, uid: "u", resource_version: &self.version }
    }

    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        let Wire { metadata } = serde_json::from_slice(json)?;
        Ok(Counted::new(&metadata.name, metadata.resource_version.parse().unwrap_or(0)))
    }
}
