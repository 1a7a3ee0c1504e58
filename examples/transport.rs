//! Transports of one's own: one that serves recorded answers from files, as a support bundle holds them, and one around
//! it that counts requests and adds a header to each.
//!
//! ```sh
//! cargo run --example transport
//! ```

use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Error, EventStreamExt, Store,
    client::{Client, Collection, Request, RequestKind, Response, Transport},
    source::{ListWatch, Strategy},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

/// Serves the list of `/api/v1/configmaps` from `api/v1/configmaps.json`, and its watch from `api/v1/configmaps.watch`.
struct Recordings(PathBuf);

impl Transport for Recordings {
    async fn send(&self, request: Request) -> Result<Response, Error> {
        let place = self.0.join(request.path().trim_start_matches('/'));
        let not_there = |_| Response::json(404, r#"{"kind":"Status","code":404,"message":"not recorded"}"#);
        Ok(match request.kind() {
            RequestKind::Watch => match fs::read(place.with_extension("watch")) {
                // What was recorded, and then nothing, as on a quiet cluster.
                Ok(lines) => Response::new(200, stream::iter([Ok(lines.into())]).chain(stream::pending())),
                Err(error) => not_there(error),
            },
            _ => fs::read(place.with_extension("json")).map_or_else(not_there, |list| Response::json(200, list)),
        })
    }
}

/// Any transport, with a header for each request, and how many there were.
struct Counted<T> {
    inner: T,
    requests: Arc<AtomicUsize>,
}

impl<T: Transport> Transport for Counted<T> {
    async fn send(&self, mut request: Request) -> Result<Response, Error> {
        let number = self.requests.fetch_add(1, Relaxed) + 1;
        request.headers_mut().set("X-Request-Number", number.to_string());
        self.inner.send(request).await
    }
}

fn record(folder: &Path) -> io::Result<()> {
    let place = folder.join("api/v1");
    fs::create_dir_all(&place)?;
    let map = |name: &str, version: u32| {
        format!(
            r#"{{"metadata":{{"namespace":"default","name":"{name}","uid":"u-{name}","resourceVersion":"{version}"}}}}"#
        )
    };
    let list = format!(
        r#"{{"kind":"ConfigMapList","apiVersion":"v1","metadata":{{"resourceVersion":"7"}},"items":[{},{}]}}"#,
        map("cart", 5),
        map("till", 6)
    );
    fs::write(place.join("configmaps.json"), list)?;
    let event = |kind: &str, object: String| format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n");
    fs::write(place.join("configmaps.watch"), event("ADDED", map("shelf", 8)) + &event("DELETED", map("cart", 9)))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (names, requests) = run().await?;
    println!("{names:?} after {requests} requests");
    Ok(())
}

/// The names of what is mirrored in the end, and how many requests it took.
async fn run() -> Result<(Vec<String>, usize), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("listwatch-transport-{}", std::process::id()));
    record(&folder)?;
    let requests = Arc::<AtomicUsize>::default();
    let client = Client::with_transport(Counted { inner: Recordings(folder.clone()), requests: Arc::clone(&requests) });
    let store = Store::<ConfigMap>::new();
    let mut changes = Collection::<ConfigMap>::all(client).events().strategy(Strategy::List).reflect(&store);
    while store.resource_version().is_none_or(|version| version.as_str() != "9") {
        let change = changes.next().await.ok_or("the mirror has ended")??;
        println!("{} {:?}", change.name(), change.key());
    }
    fs::remove_dir_all(folder)?;
    let mut names: Vec<_> = store.snapshot().iter().filter_map(|map| map.metadata.name.clone()).collect();
    names.sort();
    Ok((names, requests.load(Relaxed)))
}

#[tokio::test]
async fn what_was_recorded_is_mirrored() {
    let (names, requests) = run().await.unwrap();
    assert_eq!((names, requests), (vec!["shelf".to_owned(), "till".to_owned()], 2));
}
