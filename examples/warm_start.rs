//! A warm start, and one that is friendly to leader election: whoever becomes the leader has the content already.
//!
//! ```sh
//! cargo run --example warm_start
//! ```
//!
//! Every replica mirrors and writes checkpoints; only the leader acts. A process that starts again reads its checkpoint,
//! is readable at once, and goes on with the watch: no list is asked for. A server in this process stands for the cluster.

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    EventStreamExt, Store,
    client::{Client, Collection},
    policy::ExponentialBackoff,
    source::ListWatch,
    testing::ApiServer,
};
use serde_json::json;
use std::{error::Error, path::Path, time::Duration};
use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

/// One replica: a store that is fed until the token is cancelled, from its checkpoint on where there is one.
fn mirror(
    server: &ApiServer,
    file: &Path,
    stop: CancellationToken,
) -> Result<(Store<ConfigMap>, JoinHandle<()>), Box<dyn Error>> {
    let store = Store::new();
    // What the content comes from; a checkpoint of another source is refused, and that is a cold start.
    store.part("").set_source("this cluster, all namespaces");
    match std::fs::read(file) {
        Ok(bytes) => match store.restore(&bytes) {
            Ok(()) => println!("warm: {} objects, {:?}", store.len(), store.state()),
            Err(error) => println!("cold: {error}"),
        },
        Err(error) => println!("cold: {error}"),
    }
    let changes = Collection::<ConfigMap>::all(Client::new(&server.url())?)
        .events()
        .resume_from(store.resource_version())?
        .backoff(ExponentialBackoff::default())
        .until(stop)
        .reflect(&store)
        .checkpoint_every(&store, file, Duration::from_secs(60)) // and at the end
        .on_error(|error| eprintln!("{error}"));
    let running = tokio::spawn(changes.for_each(async |_| {}));
    Ok((store, running))
}

/// Acts on the content whenever it changes, but only while this replica leads.
async fn act(store: Store<ConfigMap>, mut leads: watch::Receiver<bool>) -> Option<usize> {
    leads.wait_for(|leads| *leads).await.ok()?;
    let snapshot = store.snapshot(); // complete, without a request: it has been kept all the time
    snapshot.is_ready().then(|| snapshot.len())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = ApiServer::start().await;
    for n in 0..100 {
        server.create("configmaps", json!({"metadata": {"name": format!("map-{n}")}}));
    }
    let file = std::env::temp_dir().join(format!("warm-start-{}.checkpoint", std::process::id()));

    // A follower: it mirrors, and does nothing until it is told to lead.
    let stop = CancellationToken::new();
    let (store, running) = mirror(&server, &file, stop.clone())?;
    let (lead, leads) = watch::channel(false); // what leader election would set
    let acting = tokio::spawn(act(store.clone(), leads));
    store.ready().await?;
    lead.send(true)?;
    println!("leads, and acts on {:?} objects at once", acting.await?);

    // The process ends and starts again. Meanwhile the cluster goes on.
    stop.cancel();
    running.await?;
    server.delete("configmaps", "map-0");
    server.clear_requests();
    let (store, _running) = mirror(&server, &file, CancellationToken::new())?;
    assert_eq!(store.len(), 100, "readable before anything was asked");
    store.wait_until(|maps| maps.len() == 99).await?;
    let requests = server.requests();
    println!("{} requests since: {}", requests.len(), if requests[0].is_watch() { "a watch" } else { "a list" });
    assert!(requests.iter().all(|request| request.is_watch() && request.query("sendInitialEvents").is_none()));
    std::fs::remove_file(file)?;
    Ok(())
}
