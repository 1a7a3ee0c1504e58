//! A sink to a channel, and one to a bounded queue with a worker that takes its time.
//!
//! ```sh
//! cargo run --example channel
//! ```
//!
//! A store's subscriptions cannot fail, so futures' own `forward` is right for them. The slow worker holds up its own
//! subscription and nothing else: while it is behind, what comes is told as the difference. A server in this process
//! stands for the cluster.

use futures::{StreamExt, channel::mpsc};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Change, Reflector,
    client::{Client, Collection},
    testing::ApiServer,
};
use serde_json::json;
use std::{error::Error, sync::Arc};
use tokio::sync::Notify;
use tokio_util::sync::PollSender;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = ApiServer::start().await;
    server.create("configmaps", json!({"metadata": {"name": "counter"}, "data": {"n": "0"}}));
    let reflector = Reflector::new(Collection::<ConfigMap>::all(Client::new(&server.url())?)).spawn();
    let store = reflector.store().clone();

    // A channel of futures is a sink as it is.
    let (sender, channel) = mpsc::channel(16);
    tokio::spawn(store.subscribe().map(Ok).forward(sender));
    let told = channel.filter_map(async |change| number(&change)).take_while(|n| std::future::ready(*n < 100));
    let told = tokio::spawn(told.boxed().count());

    // One of tokio's becomes a sink with `PollSender`. It has room for one change, and its worker is busy with the first.
    let (sender, mut queue) = tokio::sync::mpsc::channel(1);
    tokio::spawn(store.subscribe().map(Ok).forward(PollSender::new(sender)));
    let busy = Arc::new(Notify::new());
    let free = Arc::clone(&busy);
    let worker = tokio::spawn(async move {
        let mut changes = 0;
        while let Some(change) = queue.recv().await {
            changes += 1;
            if changes == 1 {
                free.notified().await;
            }
            if number(&change) == Some(100) {
                break;
            }
        }
        changes
    });

    store.ready().await?;
    for n in 1..=100 {
        let written =
            server.patch("configmaps", json!({"metadata": {"name": "counter"}, "data": {"n": n.to_string()}}));
        let version = written["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        store.wait_for(version).await?; // the store has it, however busy the worker is
    }
    busy.notify_one();
    let (told, worked) = (told.await?, worker.await?);
    println!("100 writes: the channel was told of {told} before the last, the worker took {worked} changes in all");
    assert!(worked < 10, "{worked}");
    reflector.stop().await;
    Ok(())
}

fn number(change: &Change<ConfigMap>) -> Option<u32> {
    change.object()?.data.as_ref()?.get("n")?.parse().ok()
}
