//! Whether a controller survives late news, old news, no news and crashes: one call in a unit test.
//!
//! ```sh
//! cargo test --example perturb
//! cargo run --example perturb     # tells what it found
//! ```
//!
//! The controllers below do the same job. Each ConfigMap is a claim: it gets a pod `worker-NAME` and is told its name;
//! the pod goes when the claim goes. The first reacts to changes, and seems to work.

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Change, Reflector, Snapshot,
    client::Collection,
    testing::{
        ApiServer,
        perturb::{self, Access, Trial},
    },
};
use serde_json::{Value, json};

/// Does what each change asks for.
async fn hasty(access: Access) {
    let mut changes = Reflector::new(Collection::<ConfigMap>::all(access.client()));
    while let Some(change) = changes.next().await {
        match change {
            Change::Added { object, .. } => {
                let claim = name(&object);
                if access.create("pods", worker(claim)).await.is_ok() {
                    // After a crash right here the pod is there already, and the claim is never told.
                    access.patch("configmaps", told(claim)).await.ok();
                }
            }
            Change::Deleted { last, .. } => {
                access.delete("pods", &format!("worker-{}", name(&last))).await.ok();
            }
            _ => {}
        }
    }
}

/// After each change, compares all that is with all that should be.
async fn steady(access: Access) {
    let mut changes = Reflector::new(Collection::<ConfigMap>::all(access.client()));
    let store = changes.store();
    while changes.next().await.is_some() {
        reconcile(&access, &store.snapshot()).await;
    }
}

async fn reconcile(access: &Access, claims: &Snapshot<ConfigMap>) {
    for claim in claims.iter() {
        // That it is there already is as good; that the claim is gone by now, the next change will say.
        access.create("pods", worker(name(claim))).await.ok();
        if claim.data.as_ref().is_none_or(|data| !data.contains_key("worker")) {
            access.patch("configmaps", told(name(claim))).await.ok();
        }
    }
    for pod in access.list("pods") {
        let (Some(pod), Some(claim)) = (pod["metadata"]["name"].as_str(), pod["metadata"]["labels"]["claim"].as_str())
        else {
            continue;
        };
        if !claims.iter().any(|held| name(held) == claim) {
            access.delete("pods", pod).await.ok();
        }
    }
}

fn name(claim: &ConfigMap) -> &str {
    claim.metadata.name.as_deref().unwrap_or_default()
}

fn worker(claim: &str) -> Value {
    json!({"metadata": {"name": format!("worker-{claim}"), "labels": {"claim": claim}}})
}

fn told(claim: &str) -> Value {
    json!({"metadata": {"name": claim}, "data": {"worker": format!("worker-{claim}")}})
}

/// What users do meanwhile.
fn trial<C: AsyncFn(Access)>(controller: C) -> Trial<C> {
    let claim = |server: &ApiServer, name: &str| drop(server.create("configmaps", json!({"metadata": {"name": name}})));
    perturb::of(controller)
        .given(move |server| claim(server, "cart"))
        .step("another claim comes", move |server| claim(server, "search"))
        .step("the first goes", |server| drop(server.delete("configmaps", "cart")))
        .step("it comes back", move |server| claim(server, "cart"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    tokio::time::pause();
    println!("hasty: {}", trial(hasty).explore().await);
    println!("steady: {}", trial(steady).explore().await);
}

#[cfg(test)]
mod tests {
    use super::*;
    use listwatch::testing::perturb::Perturbation;

    #[tokio::test(start_paused = true)]
    async fn the_hasty_one_is_found_out() {
        let report = trial(hasty).explore().await;
        let found = report.found().expect("a perturbation that ends differently");
        assert_eq!(found.perturbations(), [Perturbation::Crash { after_write: 3 }]);
        assert_eq!(found.differences(), ["configmaps default/search: /data differs"], "{report}");
    }

    #[tokio::test(start_paused = true)]
    async fn the_steady_one_holds() {
        trial(steady).hold().await;
    }
}
