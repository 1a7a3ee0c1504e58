//! Two hundred resource types in one process.

use std::time::Duration;
use tokio::time::Instant;

use futures::stream::{self, StreamExt};
use listwatch::State;
use listwatch::client::{Client, ListRate};

use crate::account::content;
use crate::defined::{create, define, is_served, kind, path};
use crate::server::Server;
use crate::writer;

const TYPES: usize = 200;
const GROUP: &str = "many.listwatch.dev";

/// Open TCP connections to the server, of this process and any other.
fn connections(server: &Server) -> usize {
    let port: u16 = server.url().rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let remote = format!(":{port:04X} 01"); // its remote end, established
    table
        .lines()
        .filter(|line| line.split_whitespace().skip(2).take(2).collect::<Vec<_>>().join(" ").ends_with(&remote))
        .count()
}

#[tokio::test]
async fn two_hundred_resource_types_in_one_process() {
    let server = Server::start(&[]).await;
    let kube = server.kube("token").await;
    let kinds: Vec<_> = (0..TYPES).map(|n| kind(GROUP, &format!("Kind{n:03}"))).collect();
    let each = |kind| {
        let kube = &kube;
        async move {
            define(kube, kind).await;
            is_served(kube, kind).await;
            create(kube, kind, &["a", "b", "c"]).await;
        }
    };
    let start = Instant::now();
    stream::iter(&kinds).for_each_concurrent(16, each).await;
    eprintln!("many: {TYPES} types defined, 3 objects each, in {:?}", start.elapsed());

    let rate = ListRate::every(Duration::from_millis(10)).burst(50);
    let client = Client::builder().list_rate(rate).from_kubeconfig(server.kubeconfig(), Some("token")).await;
    let client = client.expect("a client");
    let before = connections(&server);
    let start = Instant::now();
    // Discovery is told of new definitions a while later.
    let mirrors = loop {
        let mirrors = client.mirror_group(GROUP).await.expect("a group");
        if mirrors.len() == TYPES {
            break mirrors;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "discovery has {} of them", mirrors.len());
        mirrors.stop().await;
        tokio::time::sleep(Duration::from_millis(500)).await;
    };
    let (start, mut most) = (Instant::now(), 0);
    {
        let mut ready = std::pin::pin!(mirrors.ready_within(Duration::from_secs(120)));
        loop {
            tokio::select! {
                all = &mut ready => break all.expect("all are complete"),
                () = tokio::time::sleep(Duration::from_millis(10)) => most = most.max(connections(&server)),
            }
        }
    }
    let (took, opened) = (start.elapsed(), connections(&server).saturating_sub(before));
    for (found, store) in mirrors.iter() {
        assert_eq!(content(store), writer::list(&kube, &path(&found.resource)).await, "{}", found.full_name());
    }
    for kind in [&kinds[0], &kinds[TYPES - 1]] {
        create(&kube, kind, &["d"]).await;
        let store = mirrors.store(&format!("{}.{GROUP}", kind.plural)).expect("it is mirrored");
        let late = tokio::time::timeout(Duration::from_secs(20), store.wait_until(|content| content.len() == 4)).await;
        late.expect("each is followed").expect("its store is open");
    }
    let states = mirrors.states();
    assert!(
        states.iter().all(|state| state.is_complete && state.state == State::Live && state.skipped == 0),
        "{states}"
    );
    let mut table: Vec<_> = states.to_string().lines().map(str::to_owned).collect();
    drop(table.splice(6..table.len() - 3, ["…".to_owned()]));
    eprintln!(
        "many: {TYPES} types ready after {took:?}, over {opened} connections, {} at most\n{}",
        most.saturating_sub(before),
        table.join("\n")
    );
    assert!((1..=10).contains(&opened), "200 watches, 80 to a connection: {opened} connections");
    mirrors.stop().await;
}
