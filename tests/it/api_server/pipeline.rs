//! A whole pipeline against the server, without a socket and in paused time.

use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Reflector, Store,
    client::{Client, Collection},
    source::Strategy,
    testing::{ApiServer, At, Ending, Fault, Match, Refusal, Times},
};
use serde_json::json;
use std::time::Duration;

async fn start() -> (ApiServer, Client) {
    let server = ApiServer::start().await;
    let client = Client::with_transport(server.clone());
    (server, client)
}

fn put(server: &ApiServer, name: &str, value: &str) {
    server.apply("configmaps", json!({"metadata": {"name": name}, "data": {"k": value}}));
}

/// Waits until the store is what the server has.
async fn equal(server: &ApiServer, store: &Store<ConfigMap>) {
    let wanted: Vec<_> = versions(server.list("configmaps").iter().map(|object| {
        let metadata = &object["metadata"];
        (metadata["name"].as_str().map(str::to_owned), metadata["resourceVersion"].as_str().map(str::to_owned))
    }));
    for _ in 0..1000 {
        let snapshot = store.snapshot();
        let seen =
            versions(snapshot.iter().map(|map| (map.metadata.name.clone(), map.metadata.resource_version.clone())));
        if seen == wanted {
            return;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    panic!("the store never became what the server has");
}

type Versioned = (Option<String>, Option<String>);

fn versions(objects: impl Iterator<Item = Versioned>) -> Vec<Versioned> {
    let mut versions: Vec<_> = objects.collect();
    versions.sort();
    versions
}

#[tokio::test(start_paused = true)]
async fn every_fault_is_survived() {
    let faults = [
        Fault::status(503),
        Fault::too_many_requests(Duration::from_secs(2)),
        Fault::html(),
        Fault::Before(Ending::Reset),
        Fault::Delay(Duration::from_secs(5)),
        Fault::End(At::Byte(20), Ending::Close),
        Fault::End(At::InsideEvent(1), Ending::Reset),
        Fault::End(At::Event(1), Ending::Eof),
        Fault::wrong_json(0),
        Fault::unknown_event_type(1),
        Fault::error_event(1, &Refusal::watch_expired()),
        Fault::error_event(0, &Refusal::internal_error("etcdserver: no leader")),
        Fault::SwallowBookmarks,
        Fault::SlowWrite(7, Duration::from_millis(10)),
        Fault::Restart,
    ];
    for strategy in [Strategy::WatchListFirst, Strategy::ListConsistent] {
        let (server, client) = start().await;
        put(&server, "a", "1");
        put(&server, "b", "1");
        let handle = Reflector::new(Collection::<ConfigMap>::all(client)).strategy(strategy).spawn();
        handle.store().ready().await.expect("a first list");
        for (n, fault) in faults.iter().enumerate() {
            server.rule(Match::any(), fault.clone(), Times::Once);
            server.end_connections(Ending::Close);
            put(&server, "a", &n.to_string());
            equal(&server, handle.store()).await;
        }
        put(&server, "c", "1");
        server.delete("configmaps", "b");
        server.compact();
        server.restart();
        equal(&server, handle.store()).await;
        handle.stop().await;
        assert_eq!((server.open_watches(), server.rules_left()), (0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_survived() {
    let (server, client) = start().await;
    put(&server, "a", "1");
    let handle = Reflector::new(Collection::<ConfigMap>::all(client)).spawn();
    handle.store().ready().await.expect("a first list");
    server.stop().await;
    put(&server, "b", "1");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(handle.store().len(), 1);
    server.start_again().await.expect("the same port");
    equal(&server, handle.store()).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_forgotten_before_a_watch_sent_it_is_not_lost() {
    let (server, client) = start().await;
    put(&server, "a", "1");
    let handle = Reflector::new(Collection::<ConfigMap>::all(client)).spawn();
    handle.store().ready().await.expect("a first list");
    put(&server, "b", "1");
    put(&server, "c", "1");
    server.compact();
    equal(&server, handle.store()).await;
    assert_eq!(handle.stats().get().lists, 2, "the watch cannot go on");
}

#[tokio::test(start_paused = true)]
async fn a_held_cache_forgets_nothing_that_it_has_still_to_show() {
    for forget in [ApiServer::compact, |server: &ApiServer| server.compact_storage_to(server.resource_version())] {
        let (server, client) = start().await;
        put(&server, "a", "1");
        server.hold_cache();
        put(&server, "a", "2");
        put(&server, "b", "1");
        forget(&server);
        let handle = Reflector::new(Collection::<ConfigMap>::all(client)).strategy(Strategy::List).spawn();
        handle.store().ready().await.expect("a first list");
        assert_eq!(handle.store().len(), 1, "what the cache has seen");
        server.resume_cache();
        equal(&server, handle.store()).await;
        assert_eq!(handle.stats().get().lists, 1, "the watch goes on");
    }
}
