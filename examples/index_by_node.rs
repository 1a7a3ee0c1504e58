//! Pods by the node that they run on, kept up to date, beside the nodes themselves.
//!
//! ```sh
//! cargo run --example index_by_node
//! ```
//!
//! A server in this process stands for the cluster.

use k8s_openapi::api::core::v1::{Node, Pod};
use listwatch::{
    Reflector,
    client::{Client, Collection},
    testing::ApiServer,
};
use serde_json::json;
use std::error::Error;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = ApiServer::start().await;
    for n in 0..3 {
        server.create("nodes", json!({"metadata": {"name": format!("node-{n}")}}));
    }
    for n in 0..12 {
        let node = format!("node-{}", n % 2); // the third has none
        server.create("pods", json!({"metadata": {"name": format!("pod-{n}")}, "spec": {"nodeName": node}}));
    }
    server.create("pods", json!({"metadata": {"name": "unbound"}, "spec": {}}));

    let client = Client::new(&server.url())?;
    let pods = Reflector::new(Collection::<Pod>::all(client.clone())).spawn();
    let nodes = Reflector::new(Collection::<Node>::all(client)).spawn();
    // At any time, before or after the content is there. A pod without a node is under none.
    let by_node = pods.store().index("node", |pod: &Pod| pod.spec.as_ref().and_then(|spec| spec.node_name.clone()));
    futures::try_join!(pods.store().ready(), nodes.store().ready())?;

    for node in nodes.store().snapshot().iter() {
        let name = node.metadata.name.as_deref().unwrap_or_default();
        println!("{name}: {} pods", by_node.count(name));
    }
    assert_eq!(["node-0", "node-1", "node-2"].map(|node| by_node.count(node)), [6, 6, 0]);

    // A snapshot and what an index says of it are of one moment, whatever happens meanwhile.
    let before = pods.store().snapshot();
    server.delete("pods", "pod-0");
    pods.store().wait_until(|now| now.len() == 12).await?;
    assert_eq!((before.by(&by_node).count("node-0"), by_node.count("node-0")), (6, 5));

    // Values without objects are not kept.
    let mut values = by_node.values();
    values.sort();
    assert_eq!(values, ["node-0", "node-1"]);
    Ok(())
}
