//! Writers at full speed, past the proxies, as often as the server lets them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use fastrand::Rng;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::task::JoinSet;

pub const NAMESPACES: [&str; 2] = ["chaos-a", "chaos-b"];

const WRITERS: usize = 8;
/// Objects per namespace, of which some are deleted at any time.
const OBJECTS: usize = 250;

/// Writers that run until they are stopped.
pub struct Traffic {
    stop: Arc<AtomicBool>,
    written: Arc<AtomicUsize>,
    writers: JoinSet<()>,
}

impl Traffic {
    pub async fn start(client: &Client, seed: u64) -> Self {
        for namespace in NAMESPACES {
            let body = serde_json::from_value(json!({ "metadata": { "name": namespace } })).expect("a namespace");
            let namespaces = Api::<Namespace>::all(client.clone());
            namespaces.create(&PostParams::default(), &body).await.expect("create a namespace");
        }
        let (stop, written) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let mut writers = JoinSet::new();
        for number in 0..WRITERS {
            let draw = Rng::with_seed(seed.wrapping_add(number as u64));
            let api = Api::namespaced(client.clone(), NAMESPACES[number % NAMESPACES.len()]);
            writers.spawn(write(api, draw, stop.clone(), written.clone()));
        }
        Self { stop, written, writers }
    }

    /// How many writes there were.
    pub fn written(&self) -> usize {
        self.written.load(Ordering::Relaxed)
    }

    /// Waits until the last write is done.
    pub async fn stop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        while let Some(writer) = self.writers.join_next().await {
            writer.expect("a writer ends well");
        }
    }
}

/// What the filtered mirror goes by.
pub fn parity(object: &ConfigMap) -> &str {
    object.data.as_ref().and_then(|data| data.get("parity")).map_or("", |parity| &**parity)
}

async fn write(api: Api<ConfigMap>, mut draw: Rng, stop: Arc<AtomicBool>, written: Arc<AtomicUsize>) {
    while !stop.load(Ordering::Relaxed) {
        let name = format!("it-{}", draw.usize(0..OBJECTS));
        match one(&api, &name, &mut draw).await {
            Ok(()) => drop(written.fetch_add(1, Ordering::Relaxed)),
            // Another writer was faster.
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn one(api: &Api<ConfigMap>, name: &str, draw: &mut Rng) -> kube::Result<()> {
    let mut object = content(name, draw);
    match draw.u32(0..100) {
        0..15 => api.delete(name, &DeleteParams::default()).await.map(drop),
        15..35 => {
            object["metadata"]["name"] = name.into();
            let object = serde_json::from_value(object).expect("a config map");
            api.create(&PostParams::default(), &object).await.map(drop)
        }
        _ => api.patch(name, &PatchParams::default(), &Patch::Merge(object)).await.map(drop),
    }
}

/// Of any size up to a few thousand bytes, with characters that a cut may fall into.
fn content(name: &str, draw: &mut Rng) -> Value {
    let keep = if draw.bool() { "yes" } else { "no" };
    let parity = if draw.bool() { "odd" } else { "even" };
    let most = 1 << draw.u32(0..9);
    let text = "nä€𝄞".repeat(draw.usize(0..most));
    json!({
        "metadata": { "labels": { "keep": keep, "of": name } },
        "data": { "parity": parity, "text": text },
    })
}
