//! Faults on demand: each as a client meets it.

use super::client::{Http, MAPS, get};
use flate2::read::MultiGzDecoder;
use listwatch::testing::{ApiServer, At, Ending, Fault, Match, Refusal, Times};
use serde_json::json;
use std::{io::Read, time::Duration};
use tokio::time::{Instant, timeout};

async fn two() -> (ApiServer, Http) {
    let server = ApiServer::start().await;
    for name in ["a", "b"] {
        server.create("configmaps", json!({"metadata": {"name": name}, "data": {"k": "Käse"}}));
    }
    let http = Http::to(&server);
    (server, http)
}

fn watch(seconds: u64) -> String {
    format!("{MAPS}?watch=1&timeoutSeconds={seconds}")
}

#[tokio::test]
async fn other_answers() {
    let (server, http) = two().await;
    server.fail_next(Fault::status(503));
    server.fail_next(Fault::too_many_requests(Duration::from_secs(7)));
    server.fail_next(Fault::html());
    server.fail_next(Fault::answer(&Refusal::initializing()));
    let refused = http.get(MAPS).await;
    assert_eq!((refused.code, refused.json()["reason"].as_str()), (503, Some("ServiceUnavailable")));
    let throttled = http.get(MAPS).await;
    assert_eq!((throttled.code, throttled.text()), (429, "Too many requests, please try again later.\n"));
    assert_eq!(throttled.headers["retry-after"], "7");
    let page = http.get(MAPS).await;
    assert_eq!((page.code, &page.headers["content-type"]), (200, &"text/html".parse().expect("a value")));
    let cold = http.get(MAPS).await;
    assert_eq!((cold.code, &cold.headers["retry-after"]), (429, &"1".parse().expect("a value")));
    assert_eq!(cold.json()["message"], "storage is (re)initializing");
    assert_eq!((http.get(MAPS).await.code, server.rules_left()), (200, 0));
}

#[tokio::test]
async fn rules_choose_requests() {
    let (server, http) = two().await;
    server.rule(Match::lists().of("configmaps").skip(1), Fault::status(500), Times::Next(2));
    server.rule(Match::watches().with(|r| r.query("resourceVersion").is_none()), Fault::status(403), Times::Always);
    let mut codes = Vec::new();
    for _ in 0..4 {
        codes.push(http.get(MAPS).await.code);
    }
    assert_eq!(codes, [200, 500, 500, 200]);
    assert_eq!(http.get(&watch(1)).await.code, 403);
    assert_eq!(http.get(&format!("{}&resourceVersion=1", watch(1))).await.code, 200);
    server.clear_rules();
    assert_eq!(http.get(&watch(1)).await.code, 200);
}

#[tokio::test]
async fn no_answer_at_all() {
    let (server, http) = two().await;
    for how in [Ending::Reset, Ending::Close] {
        server.fail_next(Fault::Before(how));
        assert!(http.send(get(MAPS)).await.is_err(), "{how:?}");
    }
    for how in [Ending::Stall, Ending::HalfOpen] {
        server.fail_next(Fault::Before(how));
        assert!(timeout(Duration::from_millis(50), http.send(get(MAPS))).await.is_err(), "{how:?}");
    }
    assert_eq!(http.get(MAPS).await.code, 200);
}

#[tokio::test]
async fn refused_connections() {
    let (server, http) = two().await;
    server.refuse_connections(1);
    assert!(http.send(get(MAPS)).await.is_err());
    assert_eq!(http.get(MAPS).await.code, 200);
    server.stop().await;
    assert!(http.send(get(MAPS)).await.is_err());
    server.start_again().await.expect("the same port");
    assert_eq!(http.get(MAPS).await.names(), ["a", "b"]);
}

#[tokio::test]
async fn late_headers() {
    let (server, http) = two().await;
    server.fail_next(Fault::Delay(Duration::from_millis(30)));
    let before = Instant::now();
    assert_eq!(http.get(MAPS).await.code, 200);
    assert!(before.elapsed() >= Duration::from_millis(30));
}

#[tokio::test]
async fn bodies_cut_where_told() {
    let (server, http) = two().await;
    for how in [Ending::Close, Ending::Reset, Ending::Eof] {
        server.fail_next(Fault::End(At::Byte(10), how));
        let cut = http.get(MAPS).await;
        assert_eq!((cut.text(), cut.whole), ("{\"kind\":\"C", how == Ending::Eof), "{how:?}");
    }
    server.fail_next(Fault::End(At::InsideCharacter, Ending::Close));
    let cut = http.get(MAPS).await;
    assert_eq!(std::str::from_utf8(&cut.body).expect_err("half a character").error_len(), None);
    server.fail_next(Fault::End(At::Event(1), Ending::Close));
    let cut = http.get(&watch(5)).await;
    assert_eq!((cut.events(), cut.whole), (vec!["ADDED a".to_owned()], false));
    server.fail_next(Fault::End(At::InsideEvent(1), Ending::Eof));
    let cut = http.get(&watch(5)).await;
    assert_eq!(cut.text().lines().count(), 2);
    assert!(!cut.text().ends_with('\n'));
}

#[tokio::test]
async fn bodies_that_go_silent() {
    let (server, http) = two().await;
    for how in [Ending::Stall, Ending::HalfOpen] {
        server.fail_next(Fault::End(At::Event(1), how));
        let mut silent = http.open(get(&watch(1))).await.expect("an answer");
        assert_eq!(silent.next().await, "ADDED a");
        assert!(timeout(Duration::from_millis(1200), silent.next()).await.is_err(), "{how:?}");
    }
}

#[tokio::test]
async fn wrong_lines() {
    let (server, http) = two().await;
    server.fail_next(Fault::wrong_json(1));
    let broken = http.get(&watch(1)).await;
    let lines: Vec<_> =
        broken.text().lines().map(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()).collect();
    assert_eq!(lines, [true, false, true]);
    server.fail_next(Fault::unknown_event_type(0));
    assert!(http.get(&watch(1)).await.events()[0].starts_with("RENAMED"));
    server.fail_next(Fault::error_event(1, &Refusal::new(500)));
    let failed = http.get(&watch(5)).await;
    assert_eq!(failed.events(), ["ADDED a", "ERROR 500 Internal error occurred: injected"]);
    server.fail_next(Fault::error_event(0, &Refusal::watch_expired()));
    assert_eq!(http.get(&watch(5)).await.events().len(), 1);
}

#[tokio::test]
async fn swallowed_bookmarks() {
    let (server, http) = two().await;
    server.fail_next(Fault::SwallowBookmarks);
    let target = format!("{}&allowWatchBookmarks=true", watch(1));
    assert_eq!(http.get(&target).await.events(), ["ADDED a", "ADDED b"]);
    assert_eq!(http.get(&target).await.events().len(), 3);
}

#[tokio::test]
async fn a_gzip_member_per_event() {
    let (server, http) = two().await;
    server.fail_next(Fault::GzipEachEvent);
    let answer = http.get(&watch(1)).await;
    assert_eq!(answer.headers["content-encoding"], "gzip");
    assert_eq!(answer.body.windows(3).filter(|bytes| *bytes == [0x1f, 0x8b, 8]).count(), 2);
    let mut text = String::new();
    MultiGzDecoder::new(&answer.body[..]).read_to_string(&mut text).expect("gzip");
    assert_eq!(text.lines().count(), 2);
}

#[tokio::test]
async fn slow_writing_and_reading() {
    let (server, http) = two().await;
    let body = http.get(MAPS).await.body.len();
    server.fail_next(Fault::SlowWrite(body / 2, Duration::from_millis(20)));
    let before = Instant::now();
    assert_eq!(http.get(MAPS).await.names(), ["a", "b"]);
    assert!(before.elapsed() >= Duration::from_millis(40));
    server.fail_next(Fault::SlowRead(Duration::from_millis(20)));
    let before = Instant::now();
    assert_eq!(http.get(MAPS).await.code, 200);
    assert!(before.elapsed() >= Duration::from_millis(20));
}

#[tokio::test]
async fn goaway_moves_the_client_to_another_connection() {
    let (server, http) = two().await;
    server.fail_next(Fault::GoAway);
    assert_eq!(http.get(MAPS).await.code, 200);
    assert_eq!(http.get(MAPS).await.code, 200);
    let connections: Vec<_> = server.requests().iter().map(listwatch::testing::Request::connection).collect();
    assert_eq!(connections, [1, 2]);
}

#[tokio::test]
async fn restarts_and_rewinds_at_a_request() {
    let (server, http) = two().await;
    server.fail_next(Fault::Restart);
    assert!(http.send(get(MAPS)).await.is_err());
    server.fail_next(Fault::Rewind(server.resource_version() - 1));
    assert_eq!(http.get(MAPS).await.names(), ["a"]);
}

#[tokio::test]
async fn requests_are_recorded() {
    let (server, http) = two().await;
    http.get(&format!("{MAPS}?limit=5&labelSelector=a%20in%20(b%2Bc)")).await;
    let seen = server.until(|requests| requests.len() == 1).await;
    assert_eq!((seen[0].method(), seen[0].path(), seen[0].query("limit")), ("GET", MAPS, Some("5")));
    assert_eq!(seen[0].query("labelSelector"), Some("a in (b+c)"));
    assert_eq!((seen[0].resource(), seen[0].is_list(), seen[0].is_watch()), (Some("configmaps"), true, false));
    assert!(seen[0].header("Host").is_some());
    assert!(server.connections()[0].is_open());
    server.clear_requests();
    assert!(server.requests().is_empty());
}
