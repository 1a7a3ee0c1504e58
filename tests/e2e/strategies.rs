//! Each way to take the first snapshot gives the same store, by the requests it promises.

use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::client::{Client, Collection};
use listwatch::source::{Strategy, VersionMatch};

use crate::follower::Follower;
use crate::server::Server;
use crate::writer::{self, Writer};

/// Mirrors 60 objects, then changes to them, and gives the mirror for a look at its requests.
async fn mirrored(server: &Server, namespace: &str, strategy: Strategy, page_size: u32) -> Follower<ConfigMap> {
    let kube = server.kube("token").await;
    let path = format!("/api/v1/namespaces/{namespace}/configmaps");
    let writer = Writer::new(&kube, namespace, "it").await;
    writer.create(0..60).await;
    let client = Client::from_kubeconfig(server.kubeconfig(), Some("token")).await.expect("a client");
    let source = Collection::<ConfigMap>::namespaced(client, namespace);
    let follower = Follower::start(source, |events| events.strategy(strategy).page_size(page_size));
    follower.equals(&writer::list(&kube, &path).await).await;
    writer.update(0..20, 1).await;
    writer.delete(15..25).await;
    writer.create(60..70).await;
    follower.equals(&writer::list(&kube, &path).await).await;
    {
        let account = follower.account();
        assert_eq!((account.synced, account.errors.len()), (1, 0), "{:?}", account.errors);
    }
    follower
}

#[tokio::test]
async fn watch_list_first_needs_one_request() {
    let server = Server::shared().await;
    let follower = mirrored(&server, "watch-list", Strategy::WatchListFirst, 0).await;
    let requests = &follower.requests;
    assert_eq!((requests.watch_lists().len(), requests.all().len()), (1, 1), "{:?}", requests.all());
}

#[tokio::test]
async fn list_at_0_comes_whole_from_the_cache() {
    let server = Server::shared().await;
    let follower = mirrored(&server, "list-at-0", Strategy::List, 25).await;
    let lists = follower.requests.lists();
    assert_eq!(lists.len(), 1, "the cache does not page: {lists:?}");
    assert_eq!((lists[0].resource_version.as_str(), lists[0].limit), ("0", Some(25)));
    assert_eq!(follower.requests.watch_lists().len(), 0);
    assert_eq!(follower.requests.watches().len(), 1);
}

#[tokio::test]
async fn list_consistent_pages() {
    let server = Server::shared().await;
    let follower = mirrored(&server, "list-consistent", Strategy::ListConsistent, 25).await;
    let lists = follower.requests.lists();
    assert_eq!(lists.len(), 3, "60 objects in pages of 25: {lists:?}");
    assert!(lists[0].continue_token.is_none() && lists[0].resource_version.is_unset(), "{lists:?}");
    for page in &lists[1..] {
        assert!(page.continue_token.is_some() && page.resource_version.is_unset(), "{page:?}");
        assert_eq!((page.limit, page.version_match), (Some(25), VersionMatch::Unset));
    }
    assert_eq!(follower.requests.watch_lists().len(), 0);
    assert_eq!(follower.requests.watches().len(), 1);
}
