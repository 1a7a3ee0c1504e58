//! One store that follows namespaces by a label: a part for each, which comes and goes with its namespace.
//!
//! ```sh
//! cargo run --example namespaces
//! ```
//!
//! A selector on the objects' own labels would be one stream; that of their namespaces is not something a server can
//! select by. A server in this process stands for the cluster.

use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use listwatch::{
    Change, EventStreamExt, Store,
    client::{Client, Collection},
    policy::ExponentialBackoff,
    source::ListWatch,
    testing::ApiServer,
};
use serde_json::json;
use std::{collections::HashMap, error::Error};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Feeds `store` with the ConfigMaps of every namespace that the selector matches, until cancelled.
async fn follow(client: Client, selector: &str, store: Store<ConfigMap>, stop: CancellationToken) {
    // Dropping a guard ends the stream of its namespace, and `remove_on_end` takes the objects along.
    let mut followed: HashMap<String, DropGuard> = HashMap::new();
    let namespaces = Store::<Namespace>::new();
    let mut changes = Collection::<Namespace>::all(client.clone())
        .labels(selector)
        .events()
        .backoff(ExponentialBackoff::default())
        .reflect(&namespaces)
        .on_error(|error| eprintln!("namespaces: {error}"))
        .until(stop);
    while let Some(change) = changes.next().await {
        match change {
            Change::Added { object, .. } => {
                let Some(name) = object.metadata.name.clone() else { continue };
                let token = CancellationToken::new();
                let label = name.clone();
                let part = Collection::<ConfigMap>::namespaced(client.clone(), &name)
                    .events()
                    .backoff(ExponentialBackoff::default())
                    .reflect(store.part(&name).remove_on_end())
                    .on_error(move |error| eprintln!("{label}: {error}"))
                    .until(token.clone());
                tokio::spawn(part.for_each(async |_| {}));
                followed.insert(name, token.drop_guard());
            }
            Change::Deleted { last, .. } => {
                followed.remove(last.metadata.name.as_deref().unwrap_or_default());
            }
            _ => {}
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    for keys in run().await? {
        println!("{keys:?}");
    }
    Ok(())
}

/// What the store holds: at first, after a namespace got the label, and after another one lost it.
async fn run() -> Result<[Vec<String>; 3], Box<dyn Error>> {
    let server = ApiServer::start().await;
    for (name, team) in [("cart", "shop"), ("search", "none"), ("till", "shop")] {
        server.apply("namespaces", json!({"metadata": {"name": name, "labels": {"team": team}}}));
        server.create("configmaps", json!({"metadata": {"name": "settings", "namespace": name}}));
    }
    let (store, stop) = (Store::new(), CancellationToken::new());
    // Its parts come and go: it is to stay open while there is none.
    let _open = store.keep_open();
    let client = Client::new(&server.url())?;
    let following = tokio::spawn(follow(client, "team=shop", store.clone(), stop.clone()));
    let keys = |namespaces: usize| {
        let store = store.clone();
        async move {
            let snapshot = store.wait_until(|snapshot| snapshot.len() == namespaces).await?;
            let mut keys: Vec<_> =
                snapshot.keys().map(|key| key.to_string()).filter(|key| key.ends_with("/settings")).collect();
            keys.sort();
            Ok::<_, listwatch::store::Closed>(keys)
        }
    };
    let first = keys(2).await?;
    server.patch("namespaces", json!({"metadata": {"name": "search", "labels": {"team": "shop"}}}));
    let second = keys(3).await?;
    server.patch("namespaces", json!({"metadata": {"name": "cart", "labels": {"team": "none"}}}));
    let third = keys(2).await?;
    stop.cancel();
    following.await?;
    Ok([first, second, third])
}

#[tokio::test]
async fn parts_come_and_go_with_their_namespaces() {
    let [first, second, third] = run().await.expect("no failure");
    assert_eq!(first, ["cart/settings", "till/settings"]);
    assert_eq!(second, ["cart/settings", "search/settings", "till/settings"]);
    assert_eq!(third, ["search/settings", "till/settings"]);
}
