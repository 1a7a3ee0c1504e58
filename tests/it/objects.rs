//! Small objects for tests.

use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};

/// `ns/NAME` with the uid `uid-NAME`.
pub(crate) fn config_map(name: &str, version: &str) -> ConfigMap {
    with_uid(name, &format!("uid-{name}"), version)
}

pub(crate) fn with_uid(name: &str, uid: &str, version: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            namespace: Some("ns".into()),
            name: Some(name.into()),
            uid: Some(uid.into()),
            resource_version: Some(version.into()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}
