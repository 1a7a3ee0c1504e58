//! The same server over HTTP/2 with prior knowledge.

use super::client::MAPS;
use http_body_util::{BodyExt, Empty};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use listwatch::testing::{ApiServer, At, Ending, Fault, Match, Times};
use serde_json::json;
use std::time::Duration;
use tokio::time::timeout;

type Http2 = Client<hyper_util::client::legacy::connect::HttpConnector, Empty<bytes::Bytes>>;

async fn two() -> (ApiServer, Http2) {
    let server = ApiServer::start().await;
    for name in ["a", "b"] {
        server.create("configmaps", json!({"metadata": {"name": name}}));
    }
    (server, Client::builder(TokioExecutor::new()).http2_only(true).build_http())
}

async fn open(server: &ApiServer, client: &Http2, query: &str) -> Option<hyper::body::Incoming> {
    let target = format!("{}{MAPS}?{query}", server.url());
    client.get(target.parse().expect("a URL")).await.ok().map(hyper::Response::into_body)
}

/// The bytes of the next frame; nothing at the end, however it comes.
async fn next(body: &mut hyper::body::Incoming) -> Option<bytes::Bytes> {
    body.frame().await?.ok()?.into_data().ok()
}

#[tokio::test]
async fn one_connection_carries_lists_and_watches() {
    let (server, client) = two().await;
    let mut watch = open(&server, &client, "watch=1&resourceVersion=0").await.expect("an answer");
    for _ in 0..2 {
        assert!(next(&mut watch).await.expect("an event").starts_with(b"{\"type\":\"ADDED\""));
    }
    let list = open(&server, &client, "").await.expect("an answer");
    let list = list.collect().await.expect("a whole body").to_bytes();
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&list).expect("JSON")["items"].as_array().map(Vec::len),
        Some(2)
    );
    server.delete("configmaps", "a");
    assert!(next(&mut watch).await.expect("an event").starts_with(b"{\"type\":\"DELETED\""));
    assert!(server.requests().iter().all(|request| request.is_http2() && request.connection() == 1));
}

#[tokio::test]
async fn faults_break_what_they_should() {
    let (server, client) = two().await;
    let watches = || Match::watches();
    for how in [Ending::Close, Ending::Reset] {
        server.rule(watches(), Fault::End(At::Event(1), how), Times::Once);
        let mut watch = open(&server, &client, "watch=1").await.expect("an answer");
        assert!(next(&mut watch).await.is_some(), "{how:?}");
        assert!(matches!(watch.frame().await, Some(Err(_))), "{how:?}");
    }
    server.rule(watches(), Fault::End(At::Event(1), Ending::Stall), Times::Once);
    let mut watch = open(&server, &client, "watch=1").await.expect("an answer");
    assert!(next(&mut watch).await.is_some());
    assert!(timeout(Duration::from_millis(50), next(&mut watch)).await.is_err());
    assert!(open(&server, &client, "").await.is_some(), "the connection is healthy");
    server.rule(watches(), Fault::End(At::Event(1), Ending::HalfOpen), Times::Once);
    let mut watch = open(&server, &client, "watch=1").await.expect("an answer");
    assert!(next(&mut watch).await.is_some());
    assert!(timeout(Duration::from_millis(50), open(&server, &client, "")).await.is_err(), "nothing is answered");
}

#[tokio::test]
async fn goaway_lets_the_watch_go_on_and_moves_the_rest() {
    let (server, client) = two().await;
    let mut watch = open(&server, &client, "watch=1&resourceVersion=0").await.expect("an answer");
    server.fail_next(Fault::GoAway);
    assert!(open(&server, &client, "").await.is_some());
    while server.requests().last().is_none_or(|request| request.connection() == 1) {
        assert!(open(&server, &client, "").await.is_some());
    }
    for _ in 0..2 {
        assert!(next(&mut watch).await.is_some());
    }
    server.delete("configmaps", "a");
    assert!(next(&mut watch).await.expect("an event").starts_with(b"{\"type\":\"DELETED\""));
}

#[tokio::test]
async fn a_dropped_server_ends_its_streams() {
    let (server, client) = two().await;
    let mut watch = open(&server, &client, "watch=1&resourceVersion=0").await.expect("an answer");
    drop(server);
    while next(&mut watch).await.is_some() {}
}
