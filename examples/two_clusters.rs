//! Two clusters in one store: a part for each, and keys that cannot collide.
//!
//! ```sh
//! cargo run --example two_clusters
//! ```
//!
//! A store goes by namespace and name, which two clusters may share. So each object becomes a `Placed` one whose
//! namespace names the cluster too; the store would refuse the second one otherwise, and say so. Two servers in this
//! process stand for the clusters.

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    DecodeError, EventStreamExt, Identity, Object, State, Store,
    client::{Client, Collection},
    policy::ExponentialBackoff,
    source::ListWatch,
    testing::ApiServer,
};
use serde_json::json;
use std::error::Error;
use tokio_util::sync::CancellationToken;

/// An object and where it is.
struct Placed {
    cluster: &'static str,
    /// The cluster, a slash, the namespace.
    namespace: String,
    map: ConfigMap,
}

impl Placed {
    fn new(cluster: &'static str, map: &ConfigMap) -> Self {
        let namespace = format!("{cluster}/{}", map.metadata.namespace.as_deref().unwrap_or_default());
        Placed { cluster, namespace, map: map.clone() }
    }
}

impl Object for Placed {
    fn identity(&self) -> Identity<'_> {
        Identity { namespace: &self.namespace, ..self.map.identity() }
    }
    fn decode(_: &[u8]) -> Result<Self, DecodeError> {
        Err(DecodeError::new("it is made by `map_objects`, of an object and its cluster"))
    }
}

/// Feeds the store's part of this name until cancelled.
fn mirror(cluster: &'static str, client: Client, store: &Store<Placed>, stop: &CancellationToken) {
    let part = Collection::<ConfigMap>::all(client)
        .events()
        .name(cluster)
        .backoff(ExponentialBackoff::default())
        .map_objects(move |map| Placed::new(cluster, map))
        .reflect(store.part(cluster))
        .on_error(move |error| eprintln!("{cluster}: {error}"))
        .until(stop.clone());
    tokio::spawn(part.for_each(async |_| {}));
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (east, west) = (ApiServer::start().await, ApiServer::start().await);
    for server in [&east, &west] {
        server.create("configmaps", json!({"metadata": {"name": "settings"}}));
    }
    west.create("configmaps", json!({"metadata": {"name": "only-west"}}));

    let (store, stop) = (Store::new(), CancellationToken::new());
    let by_cluster = store.index("cluster", |placed: &Placed| [placed.cluster]);
    mirror("east", Client::new(&east.url())?, &store, &stop);
    mirror("west", Client::new(&west.url())?, &store, &stop);
    store.ready().await?; // both
    println!("{} in the east, {} in the west", by_cluster.count("east"), by_cluster.count("west"));
    assert!(store.contains(("east/default", "settings")) && store.contains(("west/default", "settings")));
    assert_eq!((by_cluster.count("east"), by_cluster.count("west")), (1, 2));

    // One cluster goes away: its part is stale and says why, the other is live; the content stays.
    east.stop().await;
    west.delete("configmaps", "only-west");
    store.wait_until(|all| all.len() == 2).await?;
    let mut states = store.states();
    while let Some(state) = states.next().await {
        if let State::Stale { why, .. } = state {
            println!("the store is stale: {why}");
            break;
        }
    }
    assert!(store.part("east").state().is_stale() && store.part("west").state().is_live());
    stop.cancel();
    Ok(())
}
