//! Each way to take a snapshot gives what the server lists at exactly that version, also while it is written to.

use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::client::{Client, Collection};
use listwatch::source::{ListWatch, Strategy, VersionMatch};
use listwatch::{Event, EventStreamExt, ExponentialBackoff, Recovery};

use crate::recorded::{Recorded, Requests};
use crate::server::Server;
use crate::writer::Writer;

fn slim(object: &ConfigMap) -> ConfigMap {
    let mut object = object.clone();
    object.metadata.managed_fields = None;
    object
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_is_the_list_at_its_version() {
    let server = Server::shared().await;
    let writer = Writer::new(&server.kube("token").await, "consistency", "it").await;
    writer.create(0..60).await;
    let client = Client::from_kubeconfig(server.kubeconfig(), Some("token")).await.expect("a client");
    for strategy in [Strategy::WatchListFirst, Strategy::List, Strategy::ListConsistent] {
        let requests = Requests::default();
        let source = Collection::<ConfigMap>::namespaced(client.clone(), "consistency");
        let source = Recorded::new(source, requests.clone()).erase();
        let events = source.clone().events().strategy(strategy).page_size(25);
        let events = events.map_objects(slim).verify_with(source, slim);
        let mut events = events.backoff(ExponentialBackoff::default());
        let writing = tokio::spawn({
            let writer = writer.clone();
            async move { writer.update(0..60, 1).await }
        });
        let standing = async {
            let mut snapshots = 0;
            loop {
                match events.next().await.expect("events never end") {
                    Ok(Event::SnapshotEnd(_)) => snapshots += 1,
                    Ok(Event::Watching(_)) => break snapshots,
                    Ok(_) => {}
                    // A busy server may fail; what was checked and did not fit is skipped.
                    Err(error) => assert_ne!(error.recovery(), Recovery::Skip, "{strategy:?}: {error}"),
                }
            }
        };
        let snapshots = tokio::time::timeout(Duration::from_secs(120), standing).await.expect("a watch that stands");
        let exact = requests.lists().iter().filter(|list| list.version_match == VersionMatch::Exact).count();
        assert!(exact >= snapshots && snapshots > 0, "{strategy:?}: {:?}", requests.all());
        writing.await.expect("the writer");
    }
}
