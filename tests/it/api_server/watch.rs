//! WATCH: where it begins, what it brings, how it ends.

use super::client::{Http, MAPS, get};
use listwatch::testing::{ApiServer, ApiServerBuilder, Ending, Resource};
use serde_json::{Value, json};
use std::time::Duration;

const WATCH_LIST: &str = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";

fn map(name: &str, n: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"n": n}}})
}

async fn three(builder: ApiServerBuilder) -> (ApiServer, Http) {
    let builder = builder.freshness_timeout(Duration::from_millis(20));
    let server = builder.start().await.expect("a port");
    for (name, n) in [("a", "1"), ("b", "2"), ("c", "3")] {
        server.create("configmaps", map(name, n));
    }
    let http = Http::to(&server);
    (server, http)
}

#[tokio::test]
async fn from_a_version_only_what_came_later() {
    let (server, http) = three(ApiServer::builder()).await;
    let version = server.resource_version();
    let mut watch = http.watch(&format!("resourceVersion={}", version - 1)).await;
    assert_eq!((watch.code, watch.next().await.as_str()), (200, "ADDED c"));
    server.update("configmaps", map("a", "9"));
    server.delete("configmaps", "b");
    assert_eq!(watch.next().await, "MODIFIED a");
    assert_eq!(watch.next().await, "DELETED b");
    server.restart();
    assert_eq!(watch.next().await, "broken");
}

#[tokio::test]
async fn without_a_version_the_state_comes_first() {
    for cache in [true, false] {
        let (server, http) = three(ApiServer::builder().watch_cache(cache)).await;
        let version = server.resource_version();
        for query in ["", "resourceVersion=0", WATCH_LIST, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"] {
            let answer = http.get(&format!("{MAPS}?watch=1&timeoutSeconds=1&{query}")).await;
            let end = format!("END {version}");
            let mut expected = vec!["ADDED a", "ADDED b", "ADDED c"];
            if query == WATCH_LIST {
                expected.push(&end);
            }
            assert_eq!(answer.events(), expected, "{query}");
            assert!(answer.whole);
        }
    }
}

#[tokio::test]
async fn without_the_gate_there_is_no_watch_list() {
    let (_server, http) = three(ApiServer::builder().watch_list(false)).await;
    let refused = http.get(&format!("{MAPS}?watch=1&{WATCH_LIST}")).await;
    assert_eq!(refused.code, 422);
    assert_eq!(
        refused.json()["message"],
        "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
    );
    let plain = http.get(&format!("{MAPS}?watch=1&timeoutSeconds=1&allowWatchBookmarks=true")).await;
    assert_eq!(plain.events(), ["ADDED a", "ADDED b", "ADDED c"]);
}

#[tokio::test]
async fn bookmarks_come_by_and_by_and_before_the_end() {
    let builder = ApiServer::builder().bookmark_period(Duration::from_millis(300));
    let (server, http) = three(builder.bookmark_before_end(Duration::from_millis(50))).await;
    let version = server.resource_version();
    let target = format!("{MAPS}?watch=1&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion={version}");
    assert_eq!(http.get(&target).await.events(), [""; 0], "nothing happened since");
    let bookmark = format!("BOOKMARK {}", server.next_version());
    let events = http.get(&target).await.events();
    assert!((2..=4).contains(&events.len()) && events.iter().all(|event| *event == bookmark), "{events:?}");
    let (server, http) = three(ApiServer::builder().bookmarks(false)).await;
    let version = server.resource_version() - 1;
    let target = format!("{MAPS}?watch=1&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion={version}");
    assert_eq!(http.get(&target).await.events(), ["ADDED c"]);
}

#[tokio::test]
async fn bookmarks_carry_versions_of_other_resources() {
    let (server, http) = three(ApiServer::builder().bookmark_period(Duration::from_millis(20))).await;
    let version = server.resource_version();
    let mut watch = http.watch(&format!("allowWatchBookmarks=true&resourceVersion={version}")).await;
    let later = server.next_version();
    assert_eq!(watch.next().await, format!("BOOKMARK {later}"));
}

#[tokio::test]
async fn selectors_turn_changes_into_arrivals_and_departures() {
    let (server, http) = three(ApiServer::builder()).await;
    let version = server.resource_version();
    let mut watch = http.watch(&format!("labelSelector=n%3D1&resourceVersion={version}")).await;
    server.update("configmaps", map("b", "1"));
    server.update("configmaps", map("a", "2"));
    server.update("configmaps", map("c", "4"));
    server.delete("configmaps", "b");
    assert_eq!(watch.next().await, "ADDED b");
    assert_eq!(watch.next().await, "DELETED a");
    assert_eq!(watch.next().await, "DELETED b");
}

#[tokio::test]
async fn old_versions_expire_as_an_event() {
    let (server, http) = three(ApiServer::builder()).await;
    let version = server.resource_version();
    server.compact();
    let answer = http.get(&format!("{MAPS}?watch=1&resourceVersion=2")).await;
    assert_eq!(answer.code, 200);
    assert_eq!(answer.events(), [format!("ERROR 410 too old resource version: 2 ({version})")]);
    let (server, http) = three(ApiServer::builder().watch_cache(false)).await;
    server.compact();
    let answer = http.get(&format!("{MAPS}?watch=1&resourceVersion=2")).await;
    assert_eq!(answer.events(), ["ERROR 410 The resourceVersion for the provided watch is too old."]);
}

#[tokio::test]
async fn after_a_restart_the_watch_cache_knows_nothing_older() {
    let (server, http) = three(ApiServer::builder()).await;
    let before = server.resource_version();
    server.create("configmaps", map("d", "4"));
    server.restart();
    let watch = http.get(&format!("{MAPS}?watch=1&resourceVersion={before}")).await;
    assert_eq!(watch.events(), [format!("ERROR 410 too old resource version: {before} ({})", before + 1)]);
    let list = http.get(&format!("{MAPS}?resourceVersion={before}&resourceVersionMatch=Exact")).await;
    assert_eq!(list.names(), ["a", "b", "c"]);
}

#[tokio::test]
async fn a_version_ahead_is_silent_or_an_error_event() {
    let (server, http) = three(ApiServer::builder()).await;
    let current = server.resource_version();
    let plain =
        http.get(&format!("{MAPS}?watch=1&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=9999")).await;
    assert_eq!((plain.code, plain.text()), (200, ""));
    let list = http.get(&format!("{MAPS}?watch=1&{WATCH_LIST}&resourceVersion=9999")).await;
    assert_eq!(list.events(), [format!("ERROR 504 Timeout: Too large resource version: 9999, current: {current}")]);
    assert!(list.text().contains("\"retryAfterSeconds\":1"));
}

#[tokio::test]
async fn a_version_that_is_none_is_500_without_a_reason() {
    let (_server, http) = three(ApiServer::builder()).await;
    let answer = http.get(&format!("{MAPS}?watch=1&resourceVersion=abc")).await;
    assert_eq!(
        answer.text(),
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"resourceVersion: Invalid value: \\\"abc\\\": strconv.ParseUint: parsing \\\"abc\\\": invalid syntax\",\"code\":500}\n"
    );
}

#[tokio::test]
async fn a_watch_of_one_object_is_the_object() {
    let (_server, http) = three(ApiServer::builder()).await;
    let answer = http.get(&format!("{MAPS}/a?watch=1")).await;
    assert_eq!(answer.json()["metadata"]["name"], "a");
    let old = http.get("/api/v1/watch/namespaces/default/configmaps/a?timeoutSeconds=1").await;
    assert_eq!(old.events(), ["ADDED a"]);
}

#[tokio::test]
async fn a_custom_resource_goes() {
    let server = ApiServer::start().await;
    server.register(Resource::custom("widgets.example.com"));
    server.create("widgets", map("w", "1"));
    let http = Http::to(&server);
    let mut watch = http.open(get("/apis/example.com/v1/widgets?watch=1")).await.expect("an answer");
    assert_eq!(watch.next().await, "ADDED w");
    server.unregister("widgets");
    assert_eq!(watch.next().await, "DELETED w");
    assert_eq!(watch.next().await, "eof");
    assert_eq!(http.get("/apis/example.com/v1/widgets").await.text(), "404 page not found\n");
}

#[tokio::test]
async fn rewound_storage_gives_versions_again() {
    let (server, http) = three(ApiServer::builder()).await;
    let version = server.resource_version();
    let mut watch = http.watch(&format!("resourceVersion={version}")).await;
    server.rewind(version - 1);
    assert_eq!(watch.next().await, "eof");
    assert_eq!(http.get(MAPS).await.names(), ["a", "b"]);
    server.create("configmaps", map("z", "1"));
    assert_eq!(server.resource_version(), version);
}

#[tokio::test]
async fn a_held_cache_lags_until_resumed() {
    let (server, http) = three(ApiServer::builder()).await;
    server.hold_cache();
    server.create("configmaps", map("d", "4"));
    assert_eq!(http.get(&format!("{MAPS}?resourceVersion=0")).await.names(), ["a", "b", "c"]);
    assert_eq!(http.get(MAPS).await.code, 504);
    let mut watch = http.watch("resourceVersion=0").await;
    for name in ["ADDED a", "ADDED b", "ADDED c"] {
        assert_eq!(watch.next().await, name);
    }
    server.resume_cache();
    assert_eq!(watch.next().await, "ADDED d");
}

#[tokio::test]
async fn a_slow_watch_is_ended() {
    let (server, http) = three(ApiServer::builder().slow_watch(10)).await;
    let version = server.resource_version();
    for n in 0..11 {
        server.update("configmaps", map("a", &n.to_string()));
    }
    let watch = http.get(&format!("{MAPS}?watch=1&resourceVersion={version}")).await;
    assert_eq!((watch.text(), watch.whole), ("", true));
}

#[tokio::test]
async fn dropping_a_watch_and_the_server_leaves_nothing_open() {
    let (server, http) = three(ApiServer::builder()).await;
    let mut watch = http.watch("").await;
    assert_eq!(watch.next().await, "ADDED a");
    assert_eq!(server.open_watches(), 1);
    drop(watch);
    while server.open_watches() > 0 {
        tokio::task::yield_now().await;
    }
    let address = server.address();
    let mut watch = http.watch("").await;
    drop(server);
    while watch.next().await != "broken" {}
    while tokio::net::TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn connections_end_as_told() {
    for how in [Ending::Close, Ending::Reset] {
        let (server, http) = three(ApiServer::builder()).await;
        let mut watch = http.watch(&format!("resourceVersion={}", server.resource_version())).await;
        server.end_connections(how);
        assert_eq!(watch.next().await, "broken");
        assert_eq!(http.get(MAPS).await.code, 200);
        assert_eq!(server.connections().len(), 2);
    }
}
