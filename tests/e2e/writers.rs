//! Many writers at once while their objects are mirrored.

use futures::future::join_all;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::client::{Client, Collection};

use crate::follower::Follower;
use crate::server::Server;
use crate::writer::{self, Writer};

const PATH: &str = "/api/v1/namespaces/writers/configmaps";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_objects_from_several_writers() {
    let server = Server::shared().await;
    let kube = server.kube("token").await;
    let writer = Writer::new(&kube, "writers", "it").await;
    writer.create(0..100).await; // the mirror starts on content, and the writers go on during its snapshot
    let client = Client::from_kubeconfig(server.kubeconfig(), Some("token")).await.expect("a client");
    let source = Collection::<ConfigMap>::namespaced(client.clone(), "writers");
    let follower = Follower::start(source, |events| events);
    let odd = Collection::<ConfigMap>::namespaced(client, "writers").labels("parity=odd");
    let odd = Follower::start(odd, |events| events);

    join_all((0..4).map(|number| {
        let (writer, from) = (writer.clone(), 100 + number * 475);
        async move {
            writer.create(from..from + 475).await;
            writer.update(from..from + 250, 1).await;
            writer.update(from..from + 100, 2).await;
            writer.delete(from + 200..from + 300).await;
            writer.create(from + 200..from + 210).await; // another uid under the same name
        }
    }))
    .await;

    let wanted = writer::list(&kube, PATH).await;
    assert_eq!(wanted.len(), 2_000 - 400 + 40);
    follower.equals(&wanted).await;
    odd.equals(&writer::list(&kube, &format!("{PATH}?labelSelector=parity%3Dodd")).await).await;
    for follower in [&follower, &odd] {
        let account = follower.account();
        assert_eq!((account.synced, account.errors.len()), (1, 0), "{:?}", account.errors);
        // The server closes watches that it finds too slow; each is resumed, and none costs a snapshot.
        assert_eq!((follower.requests.watch_lists().len(), follower.requests.lists().len()), (1, 0));
    }
}
