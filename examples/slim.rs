//! The same pods in a fraction of the memory: as k8s-openapi's `Pod`, as `Raw`, as a struct of six fields.
//!
//! ```sh
//! cargo run --release --example slim
//! ```
//!
//! A counting allocator says what each store holds. A server in this process stands for the cluster.

use k8s_openapi::api::core::v1::Pod;
use listwatch::{DecodeError, Identity, Key, Object, Raw, Store, testing::ApiServer};
use serde_json::{Value, json};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    error::Error,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

const PODS: usize = 2000;

/// The bytes that are allocated now, as they were asked for.
struct Counting;

static BYTES: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: it only counts, and leaves all else to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size(), Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(place, layout) }
    }
}

/// What a scheduler's dashboard shows of a pod.
#[derive(serde::Deserialize)]
struct SlimPod {
    metadata: Meta,
    #[serde(default)]
    spec: Spec,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    namespace: Box<str>,
    name: Box<str>,
    uid: Box<str>,
    resource_version: Box<str>,
}

#[derive(Default, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    node_name: Option<Box<str>>,
    priority_class_name: Option<Box<str>>,
}

impl SlimPod {
    fn line(&self) -> String {
        let Spec { node_name, priority_class_name } = &self.spec;
        let [node, priority] = [node_name, priority_class_name].map(|field| field.as_deref().unwrap_or("none"));
        format!("{} on {node}, priority {priority}", Key::of(self))
    }
}

impl Object for SlimPod {
    fn identity(&self) -> Identity<'_> {
        let Meta { namespace, name, uid, resource_version } = &self.metadata;
        Identity { namespace, name, uid, resource_version }
    }
    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        listwatch::decode_json(json)
    }
}

/// A pod as a cluster has them: a container with some environment, a status, managed fields.
fn pod(n: usize) -> Value {
    let env: Vec<_> =
        (0..8).map(|i| json!({"name": format!("SETTING_{i}"), "value": format!("value-{i}-of-{n}")})).collect();
    let condition = |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"});
    let conditions = ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map(condition);
    json!({
        "metadata": {
            "namespace": "shop", "name": format!("cart-{n}"), "labels": {"app": "cart", "pod-template-hash": "5d9c7b"},
            "managedFields": [{"manager": "kubelet", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
                "fieldsV1": {"f:status": {"f:conditions": {"k:{\"type\":\"Ready\"}": {"f:status": {}, "f:type": {}}}}}}],
        },
        "spec": {
            "nodeName": format!("node-{}", n % 50), "priorityClassName": "high", "serviceAccountName": "cart",
            "containers": [{"name": "cart", "image": "registry.example.com/cart:1", "env": env,
                "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}, "ports": [{"containerPort": 8080}]}],
            "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}],
        },
        "status": {"phase": "Running", "podIP": "10.0.0.1", "startTime": "2026-01-01T00:00:00Z",
            "conditions": conditions},
    })
}

/// Holds all pods as `K` in a store, and says how many bytes each costs there. The store comes with it, as one that is
/// dropped is freed on another thread, while the next is measured.
fn bytes_each<K: Object>(bodies: &[Vec<u8>], show: impl Fn(&K) -> String) -> Result<(usize, Store<K>), DecodeError> {
    let before = BYTES.load(Relaxed);
    let pods = bodies.iter().map(|json| K::decode(json)).collect::<Result<Vec<K>, _>>()?;
    let store = Store::of(pods);
    let held = BYTES.load(Relaxed) - before; // nothing was awaited meanwhile
    assert_eq!(store.len(), PODS);
    println!("{}", store.snapshot().iter().next().map(|pod| show(pod)).unwrap_or_default());
    Ok((held / PODS, store))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = ApiServer::start().await;
    for n in 0..PODS {
        server.create("pods", pod(n));
    }
    // `Collection::<Pod>::all(client).decode_as::<SlimPod>()` decodes the same bodies as they come in.
    let bodies: Vec<Vec<u8>> = server.list("pods").iter().map(serde_json::to_vec).collect::<Result<_, _>>()?;

    let (typed, _typed) = bytes_each::<Pod>(&bodies, |pod| format!("{:?}", pod.metadata.name))?;
    let (raw, _raw) = bytes_each::<Raw>(&bodies, |pod| format!("{pod:?}"))?;
    let (slim, _slim) = bytes_each::<SlimPod>(&bodies, SlimPod::line)?;
    println!("{PODS} pods, bytes each: {typed} as Pod, {raw} as Raw, {slim} as a struct of six fields");
    assert!(slim * 4 < raw && raw < typed, "{slim} {raw} {typed}");
    Ok(())
}
