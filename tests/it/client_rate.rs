//! The rate of lists that all streams of a client share.

use crate::source::S;
use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Error, Event,
    client::{Client, Collection, ListRate, Request, RequestKind, Response},
    source::{Events, ListWatch, Strategy},
};
use std::sync::{Arc, Mutex};
use tokio::{
    task::JoinSet,
    time::{Instant, timeout},
};

type Asked = Arc<Mutex<Vec<(Instant, Request)>>>;

const END: &str = concat!(
    r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7","#,
    r#""annotations":{"k8s.io/initial-events-end":"true"}}}}"#,
    "\n"
);

/// Empty lists of two pages at version 7; watch-lists end, watches are silent.
fn client(rate: ListRate) -> (Client, Asked) {
    let asked = Asked::default();
    let log = Arc::clone(&asked);
    let client = Client::builder().list_rate(rate).transport(move |request: Request| {
        log.lock().unwrap().push((Instant::now(), request.clone()));
        let token = if request.query("limit").is_some() { "next" } else { "" };
        let list = format!(r#"{{"metadata":{{"resourceVersion":"7","continue":"{token}"}},"items":[]}}"#);
        let answer = match (request.kind(), request.query("sendInitialEvents")) {
            (RequestKind::Watch, Some(_)) => watch(END),
            (RequestKind::Watch, None) => watch(""),
            _ if request.query("continue").is_some() => {
                Response::json(200, r#"{"metadata":{"resourceVersion":"7"},"items":[]}"#)
            }
            _ => Response::json(200, list),
        };
        async move { Ok::<_, Error>(answer) }
    });
    (client, asked)
}

fn watch(lines: &'static str) -> Response {
    let body = stream::iter((!lines.is_empty()).then(|| Ok(lines.into()))).chain(stream::pending());
    Response::new(200, body).with_header("Content-Type", "application/json")
}

fn events(client: &Client, name: usize) -> Events<ConfigMap> {
    Collection::namespaced(client.clone(), &name.to_string()).events()
}

/// Seconds since `start` at which each list was asked for, and of which namespace.
fn lists(asked: &Asked, start: Instant) -> Vec<(f64, String)> {
    let asked = asked.lock().unwrap();
    let lists = asked
        .iter()
        .filter(|(_, request)| request.kind() == RequestKind::List || request.query("sendInitialEvents").is_some());
    let namespace = |request: &Request| request.path().split('/').nth(4).unwrap_or_default().to_owned();
    lists.map(|(at, request)| ((*at - start).as_secs_f64(), namespace(request))).collect()
}

async fn complete(events: &mut Events<ConfigMap>) {
    while !matches!(events.next().await.unwrap().unwrap(), Event::SnapshotEnd(_)) {}
}

#[tokio::test(start_paused = true)]
async fn a_burst_then_one_each_period_first_come_first_served() {
    let (client, asked) = client(ListRate::every(S).burst(3));
    let (start, mut mirrors) = (Instant::now(), JoinSet::new());
    for n in 0..8 {
        let mut events = events(&client, n);
        mirrors.spawn(async move { complete(&mut events).await });
    }
    mirrors.join_all().await;
    let told = lists(&asked, start);
    let times: Vec<_> = told.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let order: Vec<_> = told.iter().map(|(_, namespace)| namespace.as_str()).collect();
    assert_eq!(order, ["0", "1", "2", "3", "4", "5", "6", "7"]);
    // After a while without lists the burst is there again, and no more than that.
    tokio::time::sleep(S * 60).await;
    let (later, mut mirrors) = (Instant::now(), JoinSet::new());
    for n in 0..5 {
        let mut events = events(&client, n);
        mirrors.spawn(async move { complete(&mut events).await });
    }
    mirrors.join_all().await;
    let times: Vec<_> = lists(&asked, later).iter().skip(8).map(|(at, _)| *at).collect();
    assert_eq!(times, [0.0, 0.0, 0.0, 1.0, 2.0]);
}

#[tokio::test(start_paused = true)]
async fn each_page_counts_and_no_watch() {
    let (client, asked) = client(ListRate::every(S));
    let start = Instant::now();
    let mut events = events(&client, 0).strategy(Strategy::ListConsistent).page_size(1);
    complete(&mut events).await;
    assert_eq!(start.elapsed(), S, "the second page");
    assert!(timeout(S / 2, events.next()).await.is_err(), "the watch is silent");
    assert_eq!(asked.lock().unwrap().len(), 3, "and was opened at once");
}

#[tokio::test(start_paused = true)]
async fn the_wait_counts_towards_no_deadline() {
    let (client, _) = client(ListRate::every(S * 400));
    for strategy in [Strategy::WatchListFirst, Strategy::List] {
        let start = Instant::now();
        for n in 0..2 {
            complete(&mut events(&client, n).strategy(strategy)).await; // fails on any error
        }
        assert!(start.elapsed() >= S * 400, "{strategy:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_gives_up_takes_no_turn() {
    let (client, asked) = client(ListRate::every(S * 10));
    complete(&mut events(&client, 0)).await;
    let (start, mut impatient) = (Instant::now(), Vec::new());
    for n in 1..5 {
        let mut events = events(&client, n);
        assert!(timeout(S / 2, events.next()).await.is_err());
        impatient.push(events);
    }
    // They are in the queue, and not polled.
    let mut last = events(&client, 9);
    assert!(timeout(S / 2, last.next()).await.is_err());
    drop(impatient);
    complete(&mut last).await;
    assert_eq!(start.elapsed(), S * 10, "as if they had never been there");
    assert_eq!(lists(&asked, start).last().map(|(_, namespace)| namespace.as_str()), Some("9"));
}

#[tokio::test(start_paused = true)]
async fn who_is_not_polled_holds_up_nobody() {
    let (client, _) = client(ListRate::every(S * 10));
    complete(&mut events(&client, 0)).await;
    let (start, mut lazy) = (Instant::now(), events(&client, 1));
    assert!(timeout(S, lazy.next()).await.is_err());
    complete(&mut events(&client, 2)).await;
    assert_eq!(start.elapsed(), S * 20, "after the turn of the one before");
    complete(&mut lazy).await;
    assert_eq!(start.elapsed(), S * 20, "which it kept");
}

#[tokio::test(start_paused = true)]
async fn without_a_rate_nothing_waits_and_a_period_of_zero_is_none() {
    let (client, asked) = client(ListRate::every(std::time::Duration::ZERO));
    let start = Instant::now();
    for n in 0..100 {
        complete(&mut events(&client, n)).await;
    }
    assert_eq!((start.elapsed(), asked.lock().unwrap().len()), (std::time::Duration::ZERO, 100));
}

#[test]
fn a_rate_has_bounds() {
    assert_eq!(ListRate::every(S).burst(0), ListRate::every(S));
    assert_eq!(ListRate::every(S).burst(u32::MAX), ListRate::every(S).burst(10_000));
    assert_eq!(ListRate::every(std::time::Duration::MAX), ListRate::every(S * 60 * 60 * 24));
}
