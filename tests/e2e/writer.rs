//! Writers that change ConfigMaps quickly, and the final list to compare a store with.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use futures::stream::{self, StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};

/// What identifies a version of an object: its uid and resource version.
pub type Version = (String, String);

/// How many requests a writer keeps in flight.
const IN_FLIGHT: usize = 16;

/// Writes ConfigMaps `PREFIX-N` in one namespace.
#[derive(Clone, Debug)]
pub struct Writer {
    api: Api<ConfigMap>,
    prefix: &'static str,
}

impl Writer {
    /// A writer in a namespace, which is created if it does not exist.
    pub async fn new(client: &Client, namespace: &str, prefix: &'static str) -> Self {
        let body = serde_json::from_value(json!({ "metadata": { "name": namespace } })).expect("a namespace");
        let created = Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &body).await;
        assert!(created.is_ok() || is_conflict(&created), "create the namespace: {created:?}");
        Self { api: Api::namespaced(client.clone(), namespace), prefix }
    }

    /// Creates the objects numbered by the range.
    pub async fn create(&self, numbers: Range<usize>) {
        self.each(numbers, |name, number| async move {
            let body = json!({
                "metadata": { "name": name, "labels": { "parity": parity(number) } },
                "data": { "generation": "0" },
            });
            let body = serde_json::from_value(body).expect("a ConfigMap");
            self.api.create(&PostParams::default(), &body).await.map(drop)
        })
        .await;
    }

    /// Gives the objects numbered by the range new data.
    pub async fn update(&self, numbers: Range<usize>, generation: usize) {
        self.each(numbers, |name, _| async move {
            let patch = Patch::Merge(json!({ "data": { "generation": generation.to_string() } }));
            self.api.patch(&name, &PatchParams::default(), &patch).await.map(drop)
        })
        .await;
    }

    /// Deletes the objects numbered by the range.
    pub async fn delete(&self, numbers: Range<usize>) {
        self.each(numbers, |name, _| async move { self.api.delete(&name, &DeleteParams::default()).await.map(drop) })
            .await;
    }

    async fn each<F>(&self, numbers: Range<usize>, write: impl Fn(String, usize) -> F)
    where
        F: Future<Output = kube::Result<()>>,
    {
        stream::iter(numbers)
            .map(|number| write(format!("{}-{number}", self.prefix), number))
            .buffer_unordered(IN_FLIGHT)
            .try_collect::<()>()
            .await
            .expect("every write succeeds");
    }
}

/// The label `parity` of an object: `even` or `odd`.
pub fn parity(number: usize) -> &'static str {
    if number.is_multiple_of(2) { "even" } else { "odd" }
}

/// The body of a GET as the server sends it. Asked again where it says so, as it does while a changed definition's
/// storage starts.
pub async fn get(client: &Client, path: &str) -> Value {
    for _ in 0..200 {
        let request = http::Request::get(path).body(Vec::new()).expect("a valid path");
        match client.request(request).await {
            Err(kube::Error::Api(status)) if status.code == 429 => tokio::time::sleep(Duration::from_millis(50)).await,
            answer => return answer.unwrap_or_else(|error| panic!("GET {path}: {error}")),
        }
    }
    panic!("GET {path}: too many requests for ten seconds")
}

/// The present list at a path, read from etcd: `namespace/name` (or `name`) and version of each object.
pub async fn list(client: &Client, path: &str) -> BTreeMap<String, Version> {
    let body = get(client, path).await;
    let items = body["items"].as_array().expect("a list has items");
    items.iter().map(|item| entry(&item["metadata"])).collect()
}

/// Name and version by an object's metadata.
pub fn entry(metadata: &Value) -> (String, Version) {
    let text = |field: &str| metadata[field].as_str().unwrap_or_default().to_owned();
    let key = match metadata["namespace"].as_str() {
        Some(namespace) => format!("{namespace}/{}", text("name")),
        None => text("name"),
    };
    (key, (text("uid"), text("resourceVersion")))
}

fn is_conflict<T>(result: &kube::Result<T>) -> bool {
    matches!(result, Err(kube::Error::Api(status)) if status.code == 409)
}
