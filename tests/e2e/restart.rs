//! The server is killed under load and started again on the same data: nothing is lost and no change is left out.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{Patch, PatchParams};
use listwatch::Recovery;
use listwatch::client::{Client, Collection};
use listwatch::source::{Events, ListParams, Strategy, VersionMatch};
use serde_json::json;

use crate::follower::Follower;
use crate::server::Server;
use crate::writer::{self, Writer};

const PATH: &str = "/api/v1/namespaces/restart/configmaps";

#[tokio::test]
async fn with_the_defaults() {
    let follower = killed_under_load(|events| events).await;
    assert_eq!(follower.requests.lists().len(), 0, "the watch-list serves the second snapshot too");
}

/// A server refuses to watch from before its start. A list at exactly such a version succeeds all the same, and would be
/// followed by a refused watch again and again.
#[tokio::test]
async fn with_pages_and_no_watch_list() {
    let follower = killed_under_load(|events| events.strategy(Strategy::List).page_size(20)).await;
    let at_a_version = |page: &ListParams| !matches!(page.resource_version.as_str(), "" | "0");
    let relists: Vec<_> = follower.requests.lists().into_iter().filter(at_a_version).collect();
    assert!(!relists.is_empty(), "{:?}", follower.requests.lists());
    for relist in relists {
        assert_eq!((relist.limit, relist.version_match), (Some(20), VersionMatch::NotOlderThan));
    }
}

async fn killed_under_load(configure: impl FnOnce(Events<ConfigMap>) -> Events<ConfigMap>) -> Follower<ConfigMap> {
    let mut server = Server::start(&[]).await;
    let kube = server.kube("token").await;
    let writer = Writer::new(&kube, "restart", "it").await;
    writer.create(0..100).await;
    let client = Client::from_kubeconfig(server.kubeconfig(), Some("token")).await.expect("a client");
    let follower = Follower::start(Collection::<ConfigMap>::namespaced(client, "restart"), configure);
    follower.equals(&writer::list(&kube, PATH).await).await;

    let stop = AtomicBool::new(false);
    let api = Api::<ConfigMap>::namespaced(kube.clone(), "restart");
    let load = async {
        let mut written = 0;
        while !stop.load(Ordering::Relaxed) {
            let name = format!("it-{}", written % 100);
            let patch = Patch::Merge(json!({ "data": { "written": written.to_string() } }));
            match api.patch(&name, &PatchParams::default(), &patch).await {
                Ok(_) => written += 1,
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
        written
    };
    let outage = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        server.kill();
        follower.until("told of the outage", |account| !account.errors.is_empty()).await;
        server.restart().await;
        let start = Instant::now();
        writer.delete(90..100).await;
        writer.create(100..120).await;
        stop.store(true, Ordering::Relaxed);
        start
    };
    let (written, restarted) = tokio::join!(load, outage);
    assert!(written > 50, "the load wrote only {written} times");
    follower.equals(&writer::list(&kube, PATH).await).await;
    assert!(restarted.elapsed() < Duration::from_secs(30), "healed after {:?}", restarted.elapsed());

    {
        let account = follower.account();
        assert!(account.synced <= 3, "{} snapshots", account.synced);
        assert!(account.errors.len() <= 20, "{:?}", account.errors);
        assert!(account.errors.iter().all(|error| error.recovery() != Recovery::Skip), "{:?}", account.errors);
    }

    // Quiet this time: what another resource wrote puts the server's new start past the mirror's version.
    let (synced, lists) = (follower.account().synced, begun(&follower));
    Writer::new(&kube, "another", "it").await;
    server.restart().await;
    writer.update(0..10, 7).await;
    follower.equals(&writer::list(&kube, PATH).await).await;
    assert_eq!(follower.account().synced, synced + 1, "one snapshot: {:?}", follower.account().errors);
    assert!(begun(&follower) <= lists + 1, "{:?}", follower.requests.lists());
    follower
}

/// How many lists were begun; their further pages do not count.
fn begun(follower: &Follower<ConfigMap>) -> usize {
    follower.requests.lists().iter().filter(|page| page.continue_token.is_none()).count()
}
