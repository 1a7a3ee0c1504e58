//! Definitions of custom resources that come and go.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, PostParams};
use serde_json::json;

/// The kind of a custom resource: `Thing` of `GROUP/v1`, without a schema, cluster-scoped.
pub fn kind(group: &str, kind: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1", kind))
}

/// Its collection.
pub fn path(resource: &ApiResource) -> String {
    format!("/apis/{}/{}", resource.api_version, resource.plural)
}

/// Defines it.
pub async fn define(kube: &kube::Client, resource: &ApiResource) {
    let ApiResource { group, version, kind, plural, .. } = resource;
    let definition = json!({
        "metadata": { "name": format!("{plural}.{group}") },
        "spec": {
            "group": group,
            "scope": "Cluster",
            "names": { "plural": plural, "singular": kind.to_lowercase(), "kind": kind },
            "versions": [{
                "name": version, "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } },
            }],
        },
    });
    let definition = serde_json::from_value(definition).expect("a definition");
    let definitions = Api::<CustomResourceDefinition>::all(kube.clone());
    definitions.create(&PostParams::default(), &definition).await.expect("define the resource");
}

/// Waits until it is served.
pub async fn is_served(kube: &kube::Client, resource: &ApiResource) {
    for _ in 0..1200 {
        let request = http::Request::get(path(resource)).body(Vec::new()).expect("a valid path");
        if kube.request_text(request).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{} is not served", path(resource));
}

/// Removes its definition, with which its objects go.
pub async fn remove(kube: &kube::Client, resource: &ApiResource) {
    let definitions = Api::<CustomResourceDefinition>::all(kube.clone());
    let name = format!("{}.{}", resource.plural, resource.group);
    definitions.delete(&name, &DeleteParams::default()).await.expect("remove the definition");
    for _ in 0..1200 {
        if definitions.get_opt(&name).await.expect("look for the definition").is_none() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the definition of {name} does not go");
}

/// Creates objects of these names.
pub async fn create(kube: &kube::Client, resource: &ApiResource, names: &[&str]) {
    let api = Api::<DynamicObject>::all_with(kube.clone(), resource);
    for name in names {
        let object = DynamicObject::new(name, resource);
        // A server that has just begun to serve it may know no place to store it yet.
        for last in [false, false, true] {
            match api.create(&PostParams::default(), &object).await {
                Ok(_) => break,
                Err(error) => assert!(!last, "create {name}: {error}"),
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }
}
