use listwatch::{DecodeError, Identity, Object};

/// What a scheduler's view of a Pod needs.
#[derive(serde::Deserialize)]
pub(crate) struct SlimPod {
    metadata: Metadata,
    #[allow(dead_code, reason = "held, which is what is measured")]
    spec: Spec,
    #[allow(dead_code, reason = "held, which is what is measured")]
    status: Status,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    #[serde(default)]
    namespace: Box<str>,
    name: Box<str>,
    #[serde(default)]
    uid: Box<str>,
    #[serde(default)]
    resource_version: Box<str>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "held, which is what is measured")]
struct Spec {
    node_name: Option<Box<str>>,
}

#[derive(serde::Deserialize)]
#[allow(dead_code, reason = "held, which is what is measured")]
struct Status {
    phase: Option<Box<str>>,
}

impl Object for SlimPod {
    fn identity(&self) -> Identity<'_> {
        let Metadata { namespace, name, uid, resource_version } = &self.metadata;
        Identity { namespace, name, uid, resource_version }
    }

    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        listwatch::decode_json(json)
    }
}
