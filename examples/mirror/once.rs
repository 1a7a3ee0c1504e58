//! `--once`: the mirror as it is when it is first complete.

use crate::{
    cli::Format,
    failure::Failure,
    pipeline::{self, Mirror},
    screen::{FRAME, Screen},
    table::{Columns, table},
};
use futures::StreamExt;
use k8s_openapi::jiff::Timestamp;
use kube::core::DynamicObject;
use listwatch::Key;
use serde_json::json;
use std::{sync::Arc, time::Duration};

/// Waits for the mirror and prints it.
///
/// # Errors
///
/// It is not complete in time, or will never be.
pub async fn print(
    mut mirror: Mirror,
    what: &str,
    columns: Columns,
    format: Format,
    screen: Screen,
    timeout: Duration,
) -> Result<(), Failure> {
    let synced = sync(&mut mirror, what, &screen, timeout).await;
    screen.close();
    synced?;
    let snapshot = mirror.store.snapshot();
    let mut objects: Vec<_> = snapshot.iter().collect();
    objects.sort_by_key(|object| Key::of(&***object));
    match format {
        Format::Json => Ok(screen.print([list(&objects)])?),
        Format::Table if objects.is_empty() => {
            eprintln!("No {what} found.");
            Ok(())
        }
        Format::Table => {
            Ok(screen.print(table(columns, objects.into_iter().map(|object| &**object), Timestamp::now()))?)
        }
    }
}

async fn sync(mirror: &mut Mirror, what: &str, screen: &Screen, timeout: Duration) -> Result<(), Failure> {
    let ready = mirror.store.ready_within(timeout);
    tokio::pin!(ready);
    let mut frames = tokio::time::interval(FRAME);
    loop {
        tokio::select! {
            ready = &mut ready => return ready.map_err(|error| pipeline::failed(what, &error)),
            // The mirror runs because it is read.
            change = mirror.changes.next() => match change {
                Some(Ok(_)) => {}
                Some(Err(error)) if pipeline::is_final(&error) => return Err(pipeline::failed(what, &error)),
                Some(Err(error)) => tracing::info!(%error, "tries again"),
                None => return Err(Failure::Interrupted),
            },
            _ = frames.tick() => screen.syncing(&mirror.stats.get()),
        }
    }
}

/// As `kubectl get -o json` prints several objects.
fn list(objects: &[&Arc<DynamicObject>]) -> String {
    let items: Vec<_> = objects.iter().map(|object| &***object).collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items});
    format!("{list:#}")
}
