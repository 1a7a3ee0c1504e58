//! Shards of a collection, on a server that applies them and on one that does not.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::client::{Client, Collection};
use listwatch::source::{Shard, ShardField, Strategy};

use crate::server::Server;
use crate::writer::{self, Version, Writer};
use crate::{account::content, follower::Follower};

const MAPS: &str = "/api/v1/configmaps?labelSelector=parity";
const COUNT: u32 = 3;

/// Three shards by each field and strategy, together equal to the server before and after writes. The number of items
/// that the server sent for the first shard of the uids, of how many.
async fn follows(server: &Server) -> (usize, usize) {
    let kube = server.kube("token").await;
    let client = Client::from_kubeconfig(server.kubeconfig(), Some("token")).await.expect("a client");
    let mut writers = Vec::new();
    for namespace in ["0-shards", "1-shards", "2-shards", "3-shards", "4-shards", "5-shards", "6-shards"] {
        writers.push(Writer::new(&kube, namespace, "it").await);
    }
    for writer in &writers {
        writer.create(0..20).await;
    }
    let mut groups = Vec::new();
    for field in [ShardField::Uid, ShardField::Namespace] {
        for strategy in [Strategy::WatchListFirst, Strategy::ListConsistent] {
            let shard = |index| Shard::of(index, COUNT).expect("a shard").by(field);
            let start = |index| {
                let all = Collection::<ConfigMap>::all(client.clone()).labels("parity").shard(shard(index));
                Follower::start(all, |events| events.strategy(strategy).page_size(11))
            };
            groups.push((field, strategy, (0..COUNT).map(start).collect::<Vec<_>>()));
        }
    }
    let wanted = writer::list(&kube, MAPS).await;
    let same = async |wanted: &BTreeMap<String, Version>| {
        for (field, strategy, followers) in &groups {
            for _ in 0..600 {
                if followers.iter().flat_map(|follower| content(&follower.store)).collect::<BTreeMap<_, _>>() == *wanted
                {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            let sizes: Vec<_> = followers.iter().map(|follower| follower.store.len()).collect();
            assert_eq!(
                sizes.iter().sum::<usize>(),
                wanted.len(),
                "disjoint and complete: {field:?} {strategy:?} {sizes:?}"
            );
            for follower in followers {
                let account = follower.account();
                assert!(account.errors.is_empty() && account.gaps.is_empty(), "{account:?}");
            }
        }
    };
    same(&wanted).await;
    for writer in &writers {
        writer.update(5..15, 1).await;
        writer.delete(10..20).await;
        writer.create(20..25).await;
    }
    let wanted = writer::list(&kube, MAPS).await;
    same(&wanted).await;

    let selector = Shard::of(0, COUNT).expect("a shard").to_string();
    let encoded: String = selector.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let sent = writer::get(&kube, &format!("{MAPS}&shardSelector={encoded}")).await;
    let said = sent["metadata"]["shardInfo"]["selector"].as_str();
    let items = sent["items"].as_array().expect("a list").len();
    eprintln!("shards: the server sent {items} of {} for shard 0 of {COUNT}, and said {said:?}", wanted.len());
    assert!(said.is_none_or(|said| said == selector), "{said:?}");
    assert_eq!(said.is_some(), items < wanted.len());
    (items, wanted.len())
}

#[tokio::test]
async fn on_a_server_that_knows_of_shards() {
    let server = Server::start(&["--feature-gates=ShardedListAndWatch=true"]).await;
    let (sent, of) = follows(&server).await;
    assert!(sent < of, "{sent} of {of}");
}

#[tokio::test]
async fn on_a_server_that_does_not() {
    let server = Server::start(&[]).await; // the other tests' objects would be in the way
    let (sent, of) = follows(&server).await;
    assert_eq!(sent, of);
}
