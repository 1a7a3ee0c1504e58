//! A sink to JSON lines: each change is a line, into anything that can be written to.
//!
//! ```sh
//! cargo run --example json_lines
//! ```
//!
//! A server in this process stands for the cluster.

use futures::{Sink, sink};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Change, EventStreamExt, Store,
    client::{Client, Collection},
    policy::ExponentialBackoff,
    source::ListWatch,
    testing::ApiServer,
};
use serde_json::json;
use std::{error::Error, io};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

/// Writes what is there and what is gone, and where it is complete.
fn json_lines<W: AsyncWrite + Unpin>(out: W) -> impl Sink<Change<ConfigMap>, Error = io::Error> {
    sink::unfold(out, |mut out, change: Change<ConfigMap>| async move {
        let line = match &change {
            Change::Added { object, .. } | Change::Updated { new: object, .. } => json!({"put": **object}),
            Change::Deleted { last, why } => json!({"gone": last.metadata.name, "why": format!("{why:?}")}),
            Change::Synced { resource_version, .. } => json!({"complete": resource_version.as_str()}),
            _ => return Ok(out),
        };
        out.write_all(format!("{line}\n").as_bytes()).await?;
        out.flush().await?; // `unfold` closes without flushing
        Ok(out)
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = ApiServer::start().await;
    for name in ["cart", "till"] {
        server.create("configmaps", json!({"metadata": {"name": name}}));
    }
    let (store, done) = (Store::new(), CancellationToken::new());
    let changes = Collection::<ConfigMap>::all(Client::new(&server.url())?)
        .events()
        .backoff(ExponentialBackoff::default())
        .until(done.clone()) // below `reflect`: what the store has taken is still told
        .reflect(&store);

    let mut out = Vec::new();
    let writing = changes.send_to(Box::pin(json_lines(&mut out)), |error| eprintln!("{error}"));
    let changing = async {
        store.ready().await?;
        server.patch("configmaps", json!({"metadata": {"name": "cart"}, "data": {"color": "blue"}}));
        server.delete("configmaps", "till");
        store.wait_until(|maps| maps.len() == 1).await?;
        done.cancel();
        Ok::<_, listwatch::store::Closed>(())
    };
    let (written, changed) = futures::join!(writing, changing);
    written?;
    changed?;

    let text = String::from_utf8(out)?;
    print!("{text}");
    let kinds: Vec<_> = text.lines().filter_map(|line| line.split('"').nth(1)).collect();
    assert_eq!(kinds, ["put", "put", "complete", "put", "gone"]);
    Ok(())
}
