//! The mirrors: each takes its snapshots in another way, and goes through a proxy of its own.

use std::time::Duration;

use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::config::{KubeConfigOptions, Kubeconfig};
use listwatch::client::{Client, ClientBuilder, Collection};
use listwatch::policy::{ExponentialBackoff, FixedBackoff};
use listwatch::source::{Events, ListWatch, Strategy};
use listwatch::{EventStreamExt, ResourceVersion};
use serde_json::Value;

use crate::mirror::{Mirror, Wanted};
use crate::proxy::Proxy;
use crate::recorded::{Recorded, Requests};
use crate::server::Server;
use crate::traffic::{self, NAMESPACES};

const SECOND: Duration = Duration::from_secs(1);

/// Everything in the cluster.
const ALL: Wanted = Wanted { lists: &["/api/v1/configmaps"], keeps: |_| true };
const IN_NAMESPACES: Wanted = Wanted {
    lists: &["/api/v1/namespaces/chaos-a/configmaps", "/api/v1/namespaces/chaos-b/configmaps"],
    keeps: |_| true,
};
const KEPT: Wanted = Wanted { lists: &["/api/v1/configmaps?labelSelector=keep%3Dyes"], keeps: is_odd };

fn is_odd(object: &Value) -> bool {
    object["data"]["parity"] == "odd"
}

pub async fn all(server: &Server) -> Vec<Mirror> {
    vec![
        defaults(server).await,
        whole_lists(server).await,
        pages(server).await,
        two_parts(server).await,
        filtered(server).await,
        hasty(server).await,
    ]
}

/// Nothing is set: the watch-list, the default timeouts and waits.
async fn defaults(server: &Server) -> Mirror {
    let (proxy, source, requests) = source(server, |client| client).await;
    Mirror::start(
        "defaults",
        proxy,
        requests,
        ALL,
        Box::new(move |store, resume| {
            let events = from(source.clone().events(), store.resource_version(), resume);
            events.backoff(ExponentialBackoff::default()).reflect(store).boxed()
        }),
    )
}

/// Snapshots by LIST from the server's cache, over HTTP/1.1, where nothing but a watch's life tells a dead connection.
async fn whole_lists(server: &Server) -> Mirror {
    let (proxy, source, requests) = source(server, |client| client.http2(false)).await;
    Mirror::start(
        "list",
        proxy,
        requests,
        ALL,
        Box::new(move |store, resume| {
            let events = from(source.clone().events(), store.resource_version(), resume);
            let events = events.strategy(Strategy::List).watch_timeout(SECOND * 10);
            events.backoff(quick()).reflect(store).boxed()
        }),
    )
}

/// Snapshots from storage, in small pages.
async fn pages(server: &Server) -> Mirror {
    let (proxy, source, requests) = source(server, brisk).await;
    Mirror::start(
        "paged",
        proxy,
        requests,
        ALL,
        Box::new(move |store, resume| {
            let events = from(source.clone().events(), store.resource_version(), resume);
            let events = events.strategy(Strategy::ListConsistent).page_size(25);
            events.backoff(quick()).reflect(store).boxed()
        }),
    )
}

/// A namespace each, in one store.
async fn two_parts(server: &Server) -> Mirror {
    let (proxy, client) = client(server, brisk).await;
    let requests = Requests::default();
    let sources = NAMESPACES.map(|namespace| {
        Recorded::new(Collection::<ConfigMap>::namespaced(client.clone(), namespace), requests.clone()).erase()
    });
    Mirror::start(
        "two parts",
        proxy,
        requests,
        IN_NAMESPACES,
        Box::new(move |store, resume| {
            let [a, b] = [0, 1].map(|number| {
                let part = store.part(NAMESPACES[number]);
                let events = from(sources[number].clone().events(), part.resource_version(), resume);
                events.backoff(quick()).reflect(part)
            });
            stream::select(a, b).boxed()
        }),
    )
}

/// A label that objects gain and lose, and a filter of our own on top.
async fn filtered(server: &Server) -> Mirror {
    let (proxy, client) = client(server, brisk).await;
    let requests = Requests::default();
    let collection = Collection::<ConfigMap>::all(client).labels("keep=yes");
    let source = Recorded::new(collection, requests.clone()).erase();
    Mirror::start(
        "filtered",
        proxy,
        requests,
        KEPT,
        Box::new(move |store, resume| {
            let events = from(source.clone().events(), store.resource_version(), resume);
            let events = events.filter_objects(|object: &ConfigMap| traffic::parity(object) == "odd");
            events.backoff(quick()).reflect(store).boxed()
        }),
    )
}

/// Short of patience everywhere.
async fn hasty(server: &Server) -> Mirror {
    let hasty = |client: ClientBuilder| client.connect_timeout(SECOND / 2).ping(SECOND / 2, SECOND / 2);
    let (proxy, source, requests) = source(server, hasty).await;
    Mirror::start(
        "hasty",
        proxy,
        requests,
        ALL,
        Box::new(move |store, resume| {
            let events = from(source.clone().events(), store.resource_version(), resume);
            let events = events.watch_timeout(SECOND * 3).idle_timeout(SECOND).bookmark_deadline(SECOND * 2);
            events.floor(SECOND / 5).backoff(FixedBackoff::new(SECOND / 10)).reflect(store).boxed()
        }),
    )
}

fn from(events: Events<ConfigMap>, version: Option<ResourceVersion>, resume: bool) -> Events<ConfigMap> {
    let version = version.filter(|_| resume);
    events.resume_from(version).expect("a version that the store had")
}

/// Waits that let a mirror take part in much of what happens.
fn quick() -> ExponentialBackoff {
    let policy = ExponentialBackoff::builder().initial(SECOND / 20).max(SECOND);
    policy.build().expect("a policy")
}

/// Notices a dead connection within seconds.
fn brisk(client: ClientBuilder) -> ClientBuilder {
    client.connect_timeout(SECOND * 3).ping(SECOND * 2, SECOND * 2)
}

type Source = listwatch::source::AnySource<ConfigMap>;

/// All config maps, through a proxy; each request is noted.
async fn source(server: &Server, set: impl FnOnce(ClientBuilder) -> ClientBuilder) -> (Proxy, Source, Requests) {
    let (proxy, client) = client(server, set).await;
    let requests = Requests::default();
    (proxy, Recorded::new(Collection::<ConfigMap>::all(client), requests.clone()).erase(), requests)
}

/// A client that is held to the server's limits.
async fn client(server: &Server, set: impl FnOnce(ClientBuilder) -> ClientBuilder) -> (Proxy, Client) {
    let proxy = Proxy::start(server.port()).await;
    let kubeconfig = Kubeconfig::read_from(server.kubeconfig()).expect("read the kubeconfig");
    let options = KubeConfigOptions { context: Some("user".into()), ..KubeConfigOptions::default() };
    let mut config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await.expect("a known context");
    config.cluster_url = format!("https://127.0.0.1:{}", proxy.port()).parse().expect("a URL");
    (proxy, set(Client::builder()).config(config).expect("a client"))
}
