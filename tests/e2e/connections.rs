//! Many watches on few connections: consumers that are stuck, and a server that closes connections politely.

use std::time::Duration;

use futures::StreamExt;
use futures::future::join_all;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::PostParams;
use listwatch::Event;
use listwatch::client::{Client, Collection};
use listwatch::source::{Events, ListParams, ListWatch};
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::follower::Follower;
use crate::server::Server;
use crate::writer::{self, Writer};

/// 1 in 50 requests over HTTP/2 makes the server close its connection once all on it is answered.
#[tokio::test]
async fn goaway_is_no_failure() {
    let server = Server::start(&["--goaway-chance=0.02"]).await;
    let kube = server.kube("token").await;
    let writer = Writer::new(&kube, "goaway", "it").await;
    writer.create(0..20).await;
    let client = Client::from_kubeconfig(server.kubeconfig(), Some("token")).await.expect("a client");
    let source = Collection::<ConfigMap>::namespaced(client, "goaway");
    let followers: Vec<_> = (0..10)
        .map(|_| Follower::start(source.clone(), |events| events.watch_timeout(Duration::from_secs(1))))
        .collect();
    // On the same connections: all of 600 without a GOAWAY is one chance in 180,000.
    for n in 0..600 {
        source.list_page(ListParams::default()).await.expect("a list");
        if n % 20 == 0 {
            writer.update(0..20, n).await;
        }
    }
    let wanted = writer::list(&kube, "/api/v1/namespaces/goaway/configmaps").await;
    for follower in &followers {
        follower.equals(&wanted).await;
        let account = follower.account();
        assert!(account.errors.is_empty(), "{:?}", account.errors);
        assert_eq!(account.synced, 1);
    }
}

/// A mirror whose watch is open.
async fn watching(source: &Collection<ConfigMap>) -> Events<ConfigMap> {
    let mut events = source.clone().events();
    while !matches!(events.next().await.expect("no end").expect("no error"), Event::Watching(_)) {}
    events
}

/// Reads until this object was told, without any error.
async fn until(events: &mut Events<ConfigMap>, map: &ConfigMap) {
    loop {
        let event = events.next().await.expect("no end").expect("no error");
        if event.object().is_some_and(|object| object.metadata.name == map.metadata.name) {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn consumers_that_are_stuck_hold_up_nobody_else() {
    const WATCHES: usize = 40;
    let server = Server::shared().await;
    let kube = server.kube("token").await;
    Writer::new(&kube, "stuck", "it").await;
    let client = Client::from_kubeconfig(server.kubeconfig(), Some("token")).await.expect("a client");
    let source = Collection::<ConfigMap>::namespaced(client, "stuck");
    // The first one opens the connection, which the others then share.
    let mut live = watching(&source).await;
    let _stuck = join_all((1..WATCHES).map(|_| watching(&source))).await;
    let api = Api::<ConfigMap>::namespaced(kube, "stuck");
    let mut worst = Duration::ZERO;
    for n in 0..60 {
        let map = json!({ "metadata": { "name": format!("large-{n}") }, "data": { "k": "x".repeat(100 << 10) } });
        let map: ConfigMap = serde_json::from_value(map).expect("a ConfigMap");
        api.create(&PostParams::default(), &map).await.expect("create a ConfigMap");
        let start = Instant::now();
        let told = timeout(Duration::from_secs(20), until(&mut live, &map)).await;
        assert!(told.is_ok(), "stuck at large-{n}");
        worst = worst.max(start.elapsed());
    }
    println!("{} watches are stuck; the live one waited {worst:?} at most for 60 events of 100 KiB", WATCHES - 1);
}
