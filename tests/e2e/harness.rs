//! The harness alone: what the other tests rely on holds before the library is in play.

use std::time::Duration;

use kube::Client;
use tokio::time::Instant;

use crate::server::Server;
use crate::writer::{self, Writer};

const CONFIG_MAPS: &str = "/api/v1/namespaces/harness/configmaps";
const WATCH_LIST: &str = "/api/v1/configmaps?watch=true&allowWatchBookmarks=true&sendInitialEvents=true\
                          &resourceVersionMatch=NotOlderThan&timeoutSeconds=1";

/// The status code of a GET, and the body's text.
async fn answer(client: &Client, path: &str) -> (u16, String) {
    let request = http::Request::get(path).body(Vec::new()).expect("a valid path");
    match client.request_text(request).await {
        Ok(body) => (200, body),
        Err(kube::Error::Api(status)) => (status.code, status.message),
        Err(error) => panic!("GET {path}: {error}"),
    }
}

#[tokio::test]
async fn contexts_and_watch_list_on_the_shared_server() {
    let server = Server::shared().await;
    for context in ["token", "cert", "user"] {
        let (code, body) = answer(&server.kube(context).await, "/api/v1/namespaces").await;
        assert_eq!(code, 200, "{context}: {body}");
    }
    let (code, message) = answer(&server.kube("nobody").await, "/api/v1/namespaces").await;
    assert_eq!(code, 403, "{message}");
    let (code, body) = answer(&server.kube("token").await, WATCH_LIST).await;
    assert_eq!(code, 200, "{body}");
    assert!(body.contains("k8s.io/initial-events-end"), "{body}");
}

#[tokio::test]
async fn watch_list_off_is_a_422() {
    let server = Server::start(&["--feature-gates=WatchList=false"]).await;
    let (code, message) = answer(&server.kube("token").await, WATCH_LIST).await;
    assert_eq!(code, 422, "{message}");
    assert!(message.contains("sendInitialEvents is forbidden"), "{message}");
}

#[tokio::test]
async fn writes_survive_a_kill_and_a_pause_silences() {
    let mut server = Server::start(&[]).await;
    let client = server.kube("token").await;
    let writer = Writer::new(&client, "harness", "it").await;
    writer.create(0..100).await;
    writer.update(0..50, 1).await;
    writer.delete(90..100).await;
    let before = writer::list(&client, CONFIG_MAPS).await;
    assert_eq!(before.keys().filter(|key| key.starts_with("harness/it-")).count(), 90);

    let url = server.url().to_owned();
    server.kill();
    answer_fails(&client).await;
    server.restart().await;
    assert_eq!(server.url(), url);
    assert_eq!(writer::list(&client, CONFIG_MAPS).await, before, "the same client, the same data");

    server.pause().await;
    let silent = tokio::time::timeout(Duration::from_millis(500), answer(&client, "/readyz")).await;
    assert!(silent.is_err(), "a paused server answers nothing");
    server.resume();
    assert_eq!(answer(&client, "/readyz").await.0, 200);
}

async fn answer_fails(client: &Client) {
    let start = Instant::now();
    let request = http::Request::get("/readyz").body(Vec::new()).expect("a valid path");
    let error = client.request_text(request).await.expect_err("nothing listens");
    assert!(start.elapsed() < Duration::from_secs(5), "refused at once: {error}");
}
