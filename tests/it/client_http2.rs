//! Many watches on one HTTP/2 connection: one that is stuck, and a server that wants the connection to end.

use crate::{certificates::Authority, folder::Folder, tls_front::Front};
use futures::{StreamExt, future::join_all};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Event,
    client::{Client, ClientBuilder, Collection},
    source::{Events, ListWatch, Strategy, WatchParams},
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

async fn list(ground: &Ground) {
    let list = async || {
        let page = Collection::<ConfigMap>::all(ground.client.clone()).list_page(Default::default()).await.unwrap();
        page.map(Result::unwrap).collect::<Vec<_>>().await
    };
    timeout(Duration::from_secs(10), list()).await.unwrap();
}

fn from_zero(new_connection: bool) -> WatchParams {
    let mut params = WatchParams::default();
    (params.new_connection, params.resource_version) = (new_connection, "0".into());
    params
}

/// How much of large events nobody reads is sent ahead: the setting, and what the last frame and TLS add to it.
#[tokio::test]
async fn of_what_nobody_reads_so_many_bytes_are_sent() {
    for window in [1 << 16, 1 << 18] {
        let ground = ground("http2-unread", Client::builder().unread_bytes(window)).await;
        let _stuck = watching(&ground).await;
        let before = ground.front.sent();
        for n in 0..40 {
            let data = json!({"k": "x".repeat(100 << 10)});
            ground.server.create("configmaps", json!({"metadata": {"name": n.to_string()}, "data": data}));
        }
        let mut sent = 0;
        while ground.front.sent() - before > sent || sent == 0 {
            sent = ground.front.sent() - before;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let (least, most) = (u64::from(window) / 2, u64::from(window) + (32 << 10));
        assert!((least..most).contains(&sent), "{sent} bytes for a window of {window}");
    }
}

#[tokio::test]
async fn each_connection_carries_so_many_answers_at_once() {
    let ground = ground("http2-streams", Client::builder().streams_per_connection(2)).await;
    let watch = async || {
        let watch = Collection::<ConfigMap>::all(ground.client.clone()).open_watch(from_zero(false)).await.unwrap();
        (watch, ground.front.connections().len())
    };
    let (first, one) = watch().await;
    let (_second, still_one) = watch().await;
    let (_third, two) = watch().await;
    drop(first);
    let (_fourth, still_two) = watch().await;
    assert_eq!([one, still_one, two, still_two], [1, 1, 2, 2]);
}

#[tokio::test]
async fn after_a_silent_watch_another_connection_is_taken_unless_this_one_is_young() {
    let ground = ground("http2-another", Client::builder()).await;
    let again = async || {
        Collection::<ConfigMap>::all(ground.client.clone()).open_watch(from_zero(true)).await.map(drop).unwrap();
        ground.front.connections().len()
    };
    list(&ground).await;
    assert_eq!(again().await, 1);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(30)).await;
    tokio::time::resume();
    assert_eq!(again().await, 2);
    assert_eq!(again().await, 2);
}

/// A connection that is open on both ends and carries nothing any more.
#[tokio::test]
async fn a_connection_that_answers_no_ping_is_given_up() {
    let short = Duration::from_millis(100);
    let ground = ground("http2-ping", Client::builder().ping(short, short)).await;
    let mut events = watching(&ground).await;
    tokio::time::sleep(short * 4).await;
    ground.server.create("configmaps", json!({"metadata": {"name": "a"}}));
    timeout(Duration::from_secs(10), until(&mut events, "a")).await.expect("pings were answered");
    ground.front.freeze();
    ground.server.create("configmaps", json!({"metadata": {"name": "b"}}));
    timeout(Duration::from_secs(10), until(&mut events, "b")).await.expect("the watch goes on over another one");
    assert_eq!(ground.front.connections().len(), 2);
}

#[tokio::test]
async fn the_least_of_each_setting_still_carries_requests() {
    let ground = ground("http2-least", Client::builder().unread_bytes(0).streams_per_connection(0)).await;
    list(&ground).await;
    list(&ground).await;
    assert_eq!(ground.front.connections().len(), 1);
}

#[tokio::test]
async fn http_1_is_spoken_where_http_2_is_not_wanted() {
    let ground = ground("http2-not", Client::builder().http2(false)).await;
    list(&ground).await;
    assert!(!ground.front.connections()[0].http2);
}

#[tokio::test]
async fn settings_that_could_stall_a_connection_are_refused() {
    let builder = || Client::builder().streams_per_connection(1000);
    assert!(builder().unread_bytes(2 << 20).url("https://cluster.example").is_ok());
    let error = builder().unread_bytes(4 << 20).url("https://cluster.example").unwrap_err();
    assert!(error.is_config() && error.to_string().contains("unread_bytes"), "{error}");
}
