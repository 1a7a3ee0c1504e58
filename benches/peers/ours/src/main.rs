//! listwatch as a peer, and the floor: what the same transport costs with bytes split and decoded, and nothing else.
//!
//! Environment: URL (required), MODE (list | watchlist), WATCH_SECS, KIND (pod | slim | raw | floor),
//! WORKERS (of decoding, instead of the default), REUSE (set: unchanged objects are taken from the store).
//! Prints `key=value` lines as the other peers do.

mod figures;
mod floor;
mod slim;

use figures::{cpu_ms, report};
use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use listwatch::{
    Change, EventStreamExt, Object, Raw, Store,
    client::{Client, Collection},
    policy::ExponentialBackoff,
    source::{ListWatch, Strategy},
};
use std::{env, time::Duration};
use tokio::time::Instant;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let var = |name: &str, default: &str| env::var(name).unwrap_or_else(|_| default.into());
    let url = env::var("URL")?;
    let watch_list = var("MODE", "list") == "watchlist";
    let watch = Duration::from_secs(var("WATCH_SECS", "10").parse()?);
    let workers = var("WORKERS", "").parse().ok();
    let pods = || {
        let pods = Collection::<Pod>::all(Client::new(&url)?);
        Ok::<_, Failure>(workers.map_or(pods.clone(), |workers| pods.decode_workers(workers)))
    };
    // A mirror is a task of its own, as `Reflector::spawn` makes it: on the runtime's threads, not beside them.
    match &*var("KIND", "pod") {
        "pod" => tokio::spawn(run(pods()?, watch_list, watch)).await?,
        "slim" => tokio::spawn(run(pods()?.decode_as::<slim::SlimPod>(), watch_list, watch)).await?,
        "raw" => tokio::spawn(run(pods()?.decode_as::<Raw>(), watch_list, watch)).await?,
        "floor" => floor::run(&url, watch_list).await,
        other => Err(format!("KIND {other}").into()),
    }
}

async fn run<K: Object>(mut source: Collection<K>, watch_list: bool, watch: Duration) -> Result<(), Failure> {
    let store = Store::<K>::new();
    if env::var_os("REUSE").is_some() {
        source = source.reuse(&store);
    }
    let start = Instant::now();
    let strategy = if watch_list { Strategy::WatchListFirst } else { Strategy::ListConsistent };
    let events = source.events().strategy(strategy).backoff(ExponentialBackoff::default());
    let mut changes = events.reflect(&store).on_error(|error| eprintln!("{error:?}"));
    while let Some(change) = changes.next().await {
        if let Change::Synced { .. } = change {
            break;
        }
    }
    report("init_done", start, &format!("objects={}", store.len()));

    let (before, mut events) = (cpu_ms(), 0);
    let over = tokio::time::sleep(watch);
    tokio::pin!(over);
    loop {
        tokio::select! {
            () = &mut over => break,
            change = changes.next() => events += u64::from(matches!(change, Some(Change::Updated { .. }))),
        }
    }
    report("watched", start, &format!("events={events} watch_cpu_ms={}", cpu_ms() - before));
    Ok(())
}
