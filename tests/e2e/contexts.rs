//! The contexts of a kubeconfig: a token, a client certificate, and one that may do nothing.

use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::Api;
use kube::api::PostParams;
use listwatch::client::{Client, Collection};
use listwatch::source::ListWatch;
use listwatch::store::State;
use listwatch::{EventStreamExt, Recovery, Store};
use serde_json::json;

use crate::account::content;
use crate::follower::Follower;
use crate::recorded::{Recorded, Requests};
use crate::server::Server;
use crate::writer::{self, Writer};

async fn config_maps(server: &Server, context: &str, namespace: &str) -> Collection<ConfigMap> {
    let client = Client::from_kubeconfig(server.kubeconfig(), Some(context)).await.expect("a client");
    Collection::namespaced(client, namespace)
}

#[tokio::test]
async fn a_token_and_a_certificate_let_in() {
    let server = Server::shared().await;
    let kube = server.kube("token").await;
    let writer = Writer::new(&kube, "contexts", "it").await;
    writer.create(0..10).await;
    let wanted = writer::list(&kube, "/api/v1/namespaces/contexts/configmaps").await;
    for context in ["token", "cert", "user"] {
        let follower = Follower::start(config_maps(&server, context, "contexts").await, |events| events);
        follower.equals(&wanted).await;
        assert!(follower.account().errors.is_empty(), "{context}: {:?}", follower.account().errors);
    }
}

#[tokio::test]
async fn nobody_is_refused_in_peace_and_healed_by_a_grant() {
    let server = Server::start(&[]).await;
    let kube = server.kube("token").await;
    let writer = Writer::new(&kube, "nobody", "it").await;
    writer.create(0..10).await;
    let follower = Follower::start(config_maps(&server, "nobody", "nobody").await, |events| events);
    let failed = follower.store.ready_within(Duration::from_secs(5)).await.expect_err("nobody may read nothing");
    assert!(failed.to_string().contains("403"), "{failed}");

    // 800 ms to 1.6 s, then twice that: two or three rounds of a watch-list and a list in 5 s.
    let asked = follower.requests.all().len();
    assert!((2..=8).contains(&asked), "{asked} requests in 5 s: {:?}", follower.requests.all());
    {
        let account = follower.account();
        assert!(account.errors.iter().all(|error| error.is_forbidden()), "{:?}", account.errors);
        assert!(account.errors.iter().any(|error| error.recovery() == Recovery::Relist), "{:?}", account.errors);
        assert_eq!((account.synced, account.watching), (0, 0));
    }
    let State::Stale { why, .. } = follower.store.state() else { panic!("{:?}", follower.store.state()) };
    assert!(why.contains("403"), "{why}");
    assert!(content(&follower.store).is_empty());

    let grant = json!({
        "metadata": { "name": "nobody" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "nobody" }],
    });
    let grant = serde_json::from_value(grant).expect("a binding");
    Api::<ClusterRoleBinding>::all(kube.clone()).create(&PostParams::default(), &grant).await.expect("grant");
    follower.equals(&writer::list(&kube, "/api/v1/namespaces/nobody/configmaps").await).await;
    assert!(matches!(follower.store.state(), State::Live), "{:?}", follower.store.state());
}

/// The source has a floor of its own, whoever forgets the backoff.
#[tokio::test]
async fn nobody_without_backoff_does_not_run_hot() {
    let server = Server::shared().await;
    let requests = Requests::default();
    let source = Recorded::new(config_maps(&server, "nobody", "default").await, requests.clone());
    let store = Store::<ConfigMap>::new();
    let mut changes = source.events().reflect(&store);
    let mut items = 0;
    let _ = tokio::time::timeout(Duration::from_secs(3), async {
        while let Some(item) = changes.next().await {
            assert!(item.expect_err("every request is refused").is_forbidden());
            items += 1;
        }
    })
    .await;
    // A watch-list and the list that it falls back to, then at least 100 ms.
    assert!((4..=62).contains(&items), "{items} items in 3 s");
    assert!(requests.all().len() <= 62, "{} requests in 3 s", requests.all().len());
}
