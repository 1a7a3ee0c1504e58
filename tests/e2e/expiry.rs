//! Old versions that the server has compacted away: of a watch, and of a page.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::Instant;

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Client as Kube;
use listwatch::client::{Client, Collection};
use listwatch::source::{ListWatch, Strategy};
use listwatch::{Event, Object, Recovery};

use crate::follower::Follower;
use crate::server::Server;
use crate::writer::{self, Writer};

const FLAGS: [&str; 2] = ["--watch-cache=false", "--etcd-compaction-interval=5s"];
const PATH: &str = "/api/v1/namespaces/expiry/configmaps";

/// Writes until the server no longer serves a version.
async fn expire(kube: &Kube, writer: &Writer, version: &str) {
    let start = Instant::now();
    let path = format!("{PATH}?resourceVersion={version}&resourceVersionMatch=Exact&limit=1");
    for generation in 100.. {
        writer.update(0..1, generation).await;
        let request = http::Request::get(&path).body(Vec::new()).expect("a valid path");
        match kube.request_text(request).await {
            Err(kube::Error::Api(status)) if status.code == 410 => return,
            other => other.map(drop).expect("the version is served until it is expired"),
        }
        assert!(start.elapsed() < Duration::from_secs(60), "version {version} does not expire");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

#[tokio::test]
async fn a_watch_that_resumes_too_late_takes_a_snapshot() {
    let server = Server::start(&FLAGS).await;
    let kube = server.kube("token").await;
    let writer = Writer::new(&kube, "expiry", "it").await;
    writer.create(0..50).await;
    let client = Client::from_kubeconfig(server.kubeconfig(), Some("token")).await.expect("a client");
    let source = Collection::<ConfigMap>::namespaced(client, "expiry").erase();
    let follower = Follower::start(source.clone(), |events| events);
    follower.equals(&writer::list(&kube, PATH).await).await;
    let (store, account) = follower.stop().await;
    let version = store.resource_version().expect("a complete store has a version");

    writer.update(10..20, 1).await;
    writer.delete(20..30).await;
    writer.create(50..60).await;
    expire(&kube, &writer, version.as_str()).await;

    let synced = account.synced;
    let follower = Follower::go_on(store, account, source, |events| {
        events.resume_from(Some(version.clone())).expect("a version that a watch can start at")
    });
    follower.equals(&writer::list(&kube, PATH).await).await;
    let account = follower.account();
    assert!(
        account.errors.iter().any(|error| error.is_expired() && error.recovery() == Recovery::Relist),
        "{account:?}"
    );
    assert_eq!(account.missed, 10, "deleted while nobody watched");
    assert_eq!(account.synced, synced + 1);
    assert_eq!(follower.requests.watches()[0].resource_version, version);
}

#[tokio::test]
async fn a_page_that_is_asked_for_too_late_falls_back_to_a_whole_list() {
    let server = Server::start(&FLAGS).await;
    let kube = server.kube("token").await;
    let writer = Writer::new(&kube, "expiry", "it").await;
    writer.create(0..50).await;
    let client = Client::from_kubeconfig(server.kubeconfig(), Some("token")).await.expect("a client");
    let source = Collection::<ConfigMap>::namespaced(client, "expiry");
    let mut events = source.list().strategy(Strategy::ListConsistent).page_size(20);

    // The first page, then nothing until its token has expired.
    let before = writer::get(&kube, PATH).await["metadata"]["resourceVersion"].as_str().expect("a version").to_owned();
    assert!(matches!(events.next().await, Some(Ok(Event::SnapshotStart))));
    for _ in 0..20 {
        assert!(matches!(events.next().await, Some(Ok(Event::Listed(_)))));
    }
    writer.delete(40..50).await;
    expire(&kube, &writer, &before).await;

    let mut fallbacks = 0;
    let mut names = BTreeSet::new();
    let mut end = None;
    while let Some(item) = events.next().await {
        match item {
            Ok(Event::SnapshotStart) => names.clear(),
            Ok(Event::Listed(object)) => drop(names.insert(object.identity().name.to_owned())),
            Ok(Event::SnapshotEnd(version)) => end = Some(version),
            Ok(event) => panic!("{} in a list", event.name()),
            Err(error) => {
                assert!(error.is_expired() && error.recovery() == Recovery::Fallback, "{error:?}");
                fallbacks += 1;
            }
        }
    }
    let wanted: BTreeSet<_> = (0..40).map(|number| format!("it-{number}")).collect();
    assert_eq!(names, wanted, "the state after the deletions, and none of the first page's");
    assert!(fallbacks >= 1);
    assert!(end.is_some_and(|version| version.as_str() != before));
}
