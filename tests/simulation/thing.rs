//! A config map of the simulation: readable while its value is a text.

use listwatch::{DecodeError, Identity, Key, Object};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Thing {
    metadata: Meta,
    pub data: Data,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
struct Meta {
    namespace: String,
    name: String,
    uid: String,
    resource_version: String,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Data {
    pub value: String,
}

impl Object for Thing {
    fn identity(&self) -> Identity<'_> {
        let Meta { namespace, name, uid, resource_version } = &self.metadata;
        Identity { namespace, name, uid, resource_version }
    }

    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        Ok(serde_json::from_slice(json)?)
    }
}

impl Thing {
    pub fn key(&self) -> String {
        key(Key::of(self))
    }

    /// What filters of the simulation leave out.
    pub fn filtered_out(value: &str) -> bool {
        value.starts_with("drop")
    }
}

pub fn key(key: Key<'_>) -> String {
    format!("{}/{}", key.namespace, key.name)
}
