//! Unit-testing an operator chain with a synthetic stream: no server, no client, no waiting.
//!
//! ```sh
//! cargo test --example unit_test
//! cargo run --example unit_test       # the same checks, as a program
//! ```

use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use listwatch::{
    Change, Error, Event, EventStreamExt, Recover, Store,
    policy::FixedBackoff,
    testing::{events, script},
};
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

/// What is under test: an application's own chain. It takes any stream of events, so a test can bring one.
///
/// Names the pods that fail, each once, and keeps all failed ones in the store.
fn failures<E>(
    pods: impl Stream<Item = Result<Event<Pod>, E>> + Unpin,
    store: &Store<Pod>,
) -> impl Stream<Item = String> + Unpin
where
    E: Recover + From<Error>,
{
    pods.filter_objects(|pod| phase(pod) == Some("Failed"))
        .backoff(FixedBackoff::new(Duration::from_secs(1)))
        .reflect(store)
        .on_error(|error| eprintln!("goes on after: {error}"))
        .filter_map(|change| {
            futures::future::ready(match change {
                Change::Added { object, .. } => Some(object.name_any()),
                _ => None,
            })
        })
}

fn phase(pod: &Pod) -> Option<&str> {
    pod.status.as_ref()?.phase.as_deref()
}

fn pod(name: &str, version: &str, phase: &str) -> Pod {
    let metadata = json!({"namespace": "shop", "name": name, "uid": name, "resourceVersion": version});
    serde_json::from_value(json!({"metadata": metadata, "status": {"phase": phase}})).expect("a pod")
}

/// One line for a stream: `events`.
async fn names_pods_that_fail() {
    let pods = events([
        Event::SnapshotStart,
        Event::listed(pod("cart", "1", "Failed")),
        Event::listed(pod("search", "2", "Running")),
        Event::SnapshotEnd("2".into()),
        Event::modified(pod("search", "3", "Failed")),
        Event::modified(pod("search", "4", "Failed")),
    ]);
    let store = Store::new();
    assert_eq!(failures(pods, &store).collect::<Vec<_>>().await, ["cart", "search"]);
    assert_eq!(store.len(), 2);
}

/// A pod that leaves the filter is gone for the store.
async fn forgets_pods_that_recover() {
    let pods = script()
        .snapshot([pod("cart", "1", "Failed")], "1")
        .modified(pod("cart", "2", "Running"))
        .modified(pod("cart", "3", "Failed"));
    let store = Store::new();
    assert_eq!(failures(pods, &store).collect::<Vec<_>>().await, ["cart", "cart"]);
    assert_eq!(store.get(("shop", "cart")).expect("held").resource_version().as_deref(), Some("3"));
}

/// Errors and time are steps of a script too; under paused time an hour takes no time at all.
async fn goes_on_after_an_outage() {
    let pods = script()
        .snapshot([pod("cart", "1", "Failed")], "1")
        .error(Error::unreachable("no route to host"))
        .wait(Duration::from_secs(3600))
        .watching("1")
        .added(pod("search", "2", "Failed"));
    let store = Store::new();
    let (start, mut names) = (Instant::now(), failures(pods, &store));
    assert_eq!(names.next().await.as_deref(), Some("cart"));
    assert_eq!(names.next().await.as_deref(), Some("search"));
    assert_eq!(start.elapsed().as_secs(), 3601, "the outage, after one second of backoff");
    assert!(store.state().is_live());
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    tokio::time::pause();
    names_pods_that_fail().await;
    forgets_pods_that_recover().await;
    goes_on_after_an_outage().await;
    println!("The chain does what it should.");
}

#[test]
fn chain() {
    main();
}
