//! Many watches on one HTTP/2 connection: one that is stuck, and a server that wants the connection to end.

use crate::{certificates::Authority, folder::Folder, tls_front::Front};
use futures::{StreamExt, future::join_all};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Event,
    client::{Client, ClientBuilder, Collection},
    source::{Events, ListWatch, Strategy},
    testing::{ApiServer, Fault, Match, Times},
};
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, timeout};

struct Ground {
    server: ApiServer,
    front: Front,
    client: Client,
    _folder: Folder,
}

async fn ground(name: &str, builder: ClientBuilder) -> Ground {
    let server = ApiServer::start().await;
    let authority = Authority::new("ca");
    let front = Front::start(server.address(), &authority.server(&["127.0.0.1"])).await;
    let folder = Folder::new(name);
    folder.write("ca.pem", &authority.pem);
    let path = folder.kubeconfig(&format!("server: '{}', certificate-authority: ca.pem", front.url()), "");
    let client = builder.from_kubeconfig(path, None).await.unwrap();
    Ground { server, front, client, _folder: folder }
}

/// A mirror whose watch is open.
async fn watching(ground: &Ground) -> Events<ConfigMap> {
    let mut events = Collection::<ConfigMap>::all(ground.client.clone()).events().strategy(Strategy::List);
    while !matches!(events.next().await.unwrap().unwrap(), Event::Watching(_)) {}
    events
}

/// Reads until the object of this name was told, without any error.
async fn until(events: &mut Events<ConfigMap>, name: &str) {
    loop {
        let event = events.next().await.unwrap().unwrap();
        if event.object().is_some_and(|object| object.metadata.name.as_deref() == Some(name)) {
            return;
        }
    }
}

#[tokio::test]
async fn goaway_moves_requests_to_another_connection_and_no_mirror_notices() {
    let ground = ground("http2-goaway", Client::builder()).await;
    let mut events = watching(&ground).await;
    let lists = ground.server.requests().len();
    ground.server.rule(Match::lists(), Fault::GoAway, Times::Once);
    let list =
        async || Collection::<ConfigMap>::all(ground.client.clone()).list_page(Default::default()).await.unwrap();
    list().await;
    while ground.front.connections().len() < 2 {
        list().await;
    }
    ground.server.create("configmaps", json!({"metadata": {"name": "a"}}));
    timeout(Duration::from_secs(10), until(&mut events, "a")).await.unwrap();
    let requests = ground.server.requests();
    assert!(requests.iter().all(|request| request.is_http2()));
    assert_eq!(requests.iter().filter(|request| request.is_watch()).count(), 1, "the watch stayed where it was");
    assert!(requests[lists..].last().unwrap().connection() > requests[0].connection());
}

/// 60 watches on one connection, 59 of whose consumers read nothing of 6 MiB each: the last one's latency.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn consumers_that_are_stuck_hold_up_nobody_else() {
    const WATCHES: usize = 60;
    let ground = ground("http2-stall", Client::builder().streams_per_connection(WATCHES)).await;
    // The first one opens the connection, which the others then share.
    let mut live = watching(&ground).await;
    let mut all = join_all((1..WATCHES).map(|_| watching(&ground))).await;
    let connections = ground.front.connections().len();
    assert_eq!(connections, 1);
    let mut worst = Duration::ZERO;
    for n in 0..60 {
        let name = format!("large-{n}");
        ground.server.create("configmaps", json!({"metadata": {"name": name}, "data": {"k": "x".repeat(100 << 10)}}));
        let start = Instant::now();
        let told = timeout(Duration::from_secs(20), until(&mut live, &name)).await;
        assert!(told.is_ok(), "stuck at {name} after {:?}", start.elapsed());
        worst = worst.max(start.elapsed());
    }
    println!("{} stuck watches on {connections} connections; the live one waited {worst:?} at most", WATCHES - 1);
    // Who was stuck goes on from where it stood.
    for stuck in &mut all[..3] {
        timeout(Duration::from_secs(20), until(stuck, "large-59")).await.unwrap();
    }
}

#[tokio::test]
async fn settings_that_could_stall_a_connection_are_refused() {
    let builder = || Client::builder().streams_per_connection(1000);
    assert!(builder().unread_bytes(2 << 20).url("https://cluster.example").is_ok());
    let error = builder().unread_bytes(4 << 20).url("https://cluster.example").unwrap_err();
    assert!(error.is_config() && error.to_string().contains("unread_bytes"), "{error}");
}
