//! The bridge to kube: its `Controller` runs on our recovery, and its `Api` is a source.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams};
use kube::{Api, ResourceExt};
use kube_runtime::controller::Action;
use kube_runtime::{Controller, reflector};
use listwatch::EventStreamExt;
use listwatch::client::{Client, Collection};
use listwatch::policy::ExponentialBackoff;
use listwatch::source::{ListWatch, Strategy};
use serde_json::json;
use tokio::time::Instant;

use crate::follower::Follower;
use crate::server::Server;
use crate::writer::{self, Writer};

const NAMESPACE: &str = "controller";
const PATH: &str = "/api/v1/namespaces/controller/configmaps";

struct Context {
    api: Api<ConfigMap>,
    errors: Mutex<Vec<String>>,
}

/// Writes what the object holds into an annotation, where it is not there yet.
async fn reconcile(object: Arc<ConfigMap>, context: Arc<Context>) -> Result<Action, kube::Error> {
    let held = held(&object);
    if object.annotations().get("seen") != Some(&held) {
        let patch = Patch::Merge(json!({ "metadata": { "annotations": { "seen": held } } }));
        context.api.patch(&object.name_any(), &PatchParams::default(), &patch).await?;
    }
    Ok(Action::await_change())
}

fn held(object: &ConfigMap) -> String {
    object.data.as_ref().and_then(|data| data.get("generation").cloned()).unwrap_or_default()
}

/// What the server has, once the controller has seen to all of it.
async fn all_seen(api: &Api<ConfigMap>) -> BTreeMap<String, String> {
    let start = Instant::now();
    loop {
        let listed = api.list(&Default::default()).await.expect("a list").items;
        if listed.iter().all(|object| object.annotations().get("seen") == Some(&held(object))) {
            return listed.iter().map(|object| (object.name_any(), held(object))).collect();
        }
        assert!(start.elapsed() < Duration::from_secs(60), "some were not reconciled");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_controller_of_kubes_runs_on_our_events() {
    let mut server = Server::start(&[]).await;
    let kube = server.kube("token").await;
    let writer = Writer::new(&kube, NAMESPACE, "it").await;
    writer.create(0..40).await;
    let client = Client::from_kubeconfig(server.kubeconfig(), Some("token")).await.expect("a client");

    let context = Arc::new(Context { api: Api::namespaced(kube.clone(), NAMESPACE), errors: Mutex::default() });
    let told = Arc::clone(&context);
    let events = Collection::<ConfigMap>::namespaced(client, NAMESPACE)
        .events()
        .backoff(ExponentialBackoff::default())
        .into_kube()
        .on_error(move |error| told.errors.lock().expect("no panic").push(error.to_string()))
        .map(Ok);
    let (reader, writer_of_store) = reflector::store();
    // Not by its import: both crates' streams have a `backoff`.
    let objects = kube_runtime::WatchStreamExt::applied_objects(reflector::reflector(writer_of_store, events));
    let controller = Controller::for_stream(objects, reader.clone())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_millis(200)), Arc::clone(&context))
        .for_each(|_| async {});
    let controller = tokio::spawn(controller);

    assert_eq!(all_seen(&context.api).await.len(), 40);
    writer.update(0..10, 1).await;
    writer.delete(30..40).await;
    let seen = all_seen(&context.api).await;
    assert_eq!((seen.len(), &*seen["it-5"]), (30, "1"));

    // Killed, and started again: what was written meanwhile is seen to.
    server.restart().await;
    writer.update(5..15, 2).await;
    writer.create(40..50).await;
    let seen = all_seen(&context.api).await;
    assert_eq!((seen.len(), &*seen["it-5"], &*seen["it-0"]), (40, "2", "1"));
    // A server that ends its watches in time may be back before anyone notices.
    println!("told of the outage: {:?}", context.errors.lock().expect("no panic"));

    // And the controller's own store is what the server has.
    let start = Instant::now();
    loop {
        let wanted = writer::list(&kube, PATH).await;
        let state = reader.state();
        let version =
            |object: &Arc<ConfigMap>| (object.uid().unwrap_or_default(), object.resource_version().unwrap_or_default());
        let key = |object: &Arc<ConfigMap>| format!("{NAMESPACE}/{}", object.name_any());
        let held: BTreeMap<_, _> = state.iter().map(|object| (key(object), version(object))).collect();
        if held == wanted {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "{} objects", state.len());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    controller.abort();
}

#[tokio::test]
async fn an_api_of_kubes_is_a_source() {
    const PATH: &str = "/api/v1/namespaces/kubes-api/configmaps";
    let server = Server::shared().await;
    let kube = server.kube("user").await;
    let writer = Writer::new(&server.kube("token").await, "kubes-api", "it").await;
    writer.create(0..50).await;
    let api = Api::<ConfigMap>::namespaced(kube.clone(), "kubes-api");
    let followers = [Strategy::WatchListFirst, Strategy::List, Strategy::ListConsistent].map(|strategy| {
        Follower::start(api.clone(), |events| {
            events.strategy(strategy).page_size(20).watch_timeout(Duration::from_secs(1))
        })
    });
    for generation in 0..3 {
        let wanted = writer::list(&kube, PATH).await;
        for follower in &followers {
            follower.equals(&wanted).await;
            assert!(follower.account().errors.is_empty(), "{:?}", follower.account().errors);
        }
        writer.update(0..20, generation).await;
        writer.delete(40 - generation..41 - generation).await;
    }
    assert_eq!(api.resource(), "configmaps");
}
