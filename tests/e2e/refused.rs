//! A server without watch-list: asked once, then never again by the same stream.

use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::Recovery;
use listwatch::client::{Client, Collection};

use crate::follower::Follower;
use crate::server::Server;
use crate::writer::{self, Writer};

const PATH: &str = "/api/v1/namespaces/refused/configmaps";

#[tokio::test]
async fn a_refused_watch_list_is_remembered() {
    let mut server = Server::start(&["--feature-gates=WatchList=false"]).await;
    let kube = server.kube("token").await;
    let writer = Writer::new(&kube, "refused", "it").await;
    writer.create(0..50).await;
    let client = Client::from_kubeconfig(server.kubeconfig(), Some("token")).await.expect("a client");
    let follower = Follower::start(Collection::<ConfigMap>::namespaced(client, "refused"), |events| events);
    follower.equals(&writer::list(&kube, PATH).await).await;
    {
        let account = follower.account();
        let [error] = &account.errors[..] else { panic!("one refusal: {account:?}") };
        assert_eq!(error.recovery(), Recovery::Fallback);
        assert_eq!(error.status().map(|status| status.code), Some(422));
    }
    assert_eq!(follower.requests.watch_lists().len(), 1);
    assert_eq!(follower.requests.lists()[0].resource_version.as_str(), "0");

    // A server that starts anew watches from its start only, and this write puts that past the mirror's version:
    // the next snapshot is a list straight away.
    Writer::new(&kube, "another", "it").await;
    server.restart().await;
    writer.update(0..10, 1).await;
    follower.equals(&writer::list(&kube, PATH).await).await;
    follower.until("synced again", |account| account.synced >= 2).await;
    assert_eq!(follower.requests.watch_lists().len(), 1, "{:?}", follower.requests.all());
    assert!(follower.requests.lists().len() >= 2);
}
