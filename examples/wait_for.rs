//! Waiting for a condition, but not for ever: of one object, of everything in a store, of a write of one's own.
//!
//! ```sh
//! cargo run --example wait_for
//! ```
//!
//! A server in this process stands for the cluster; it is the client's transport, without a socket, so that paused time
//! makes the time limits of this example cost nothing.

use k8s_openapi::api::core::v1::Pod;
use listwatch::{
    Reflector,
    client::{Client, Collection},
    testing::ApiServer,
};
use serde_json::json;
use std::{error::Error, time::Duration};
use tokio::time::timeout;

fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = ApiServer::start().await;
    server.create("pods", json!({"metadata": {"name": "job"}, "status": {"phase": "Pending"}}));
    let client = Client::with_transport(server.clone());
    let set = |phase: &str| server.patch("pods", json!({"metadata": {"name": "job"}, "status": {"phase": phase}}));

    // One object. The wait may be given up and begun again; it goes on from the state that it knows.
    let mut job = Collection::<Pod>::named(client.clone(), "job").object();
    let is_over = |pod: Option<&Pod>| pod.is_none_or(|pod| phase(pod) == "Succeeded");
    let minute = Duration::from_secs(60);
    assert!(timeout(minute, job.wait(is_over)).await.is_err(), "it is still pending after a minute");
    set("Succeeded");
    let pod = timeout(minute, job.wait(is_over)).await??;
    println!("one object: {:?}", pod.as_deref().map(phase));

    // Everything in a store: a predicate on a consistent state. Any number may wait.
    let pods = Reflector::new(Collection::<Pod>::all(client)).spawn();
    pods.store().ready_within(minute).await?; // its error says the state and the last failure
    let none_fails = pods.store().wait_until(|all| all.iter().all(|pod| phase(pod) == "Succeeded"));
    println!("a store: {} pods have succeeded", timeout(minute, none_fails).await??.len());

    // A write of one's own: the store has it, or something newer, once it has reached its version.
    let written = set("Failed");
    let version = written["metadata"]["resourceVersion"].as_str().unwrap_or_default();
    let seen = timeout(minute, pods.store().wait_for_object(("default", "job"), version)).await??;
    println!("a write: {:?}", seen.as_deref().map(phase));
    assert_eq!(seen.as_deref().map(phase), Some("Failed"));
    Ok(())
}
