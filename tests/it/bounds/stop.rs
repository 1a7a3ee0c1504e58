//! A stop ends any wait at once: no time passes, and no request follows.

use super::tap::Tap;
use crate::{
    objects::config_map,
    source::{Api, S, api, listed, status},
};
use bytes::Bytes;
use futures::{FutureExt, Stream, StreamExt, future, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Ended, Error, EventStreamExt, Reflector, Status,
    client::{Client, Collection, Credential, Request, Response},
    policy::FixedBackoff,
    source::{ListPart, ListWatch, Strategy, WireEvent},
    testing::Step,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

const LONG: Duration = Duration::from_secs(100_000);

/// Lets the stream come to its wait, which `asked` requests show, and stops it there in each of three ways.
async fn stops<I: 'static>(
    wait: &str,
    asked: usize,
    make: impl Fn() -> (Box<dyn Stream<Item = I> + Send + Unpin>, Box<dyn Fn() -> usize>),
) {
    let waits = async |stream: &mut (dyn Stream<Item = I> + Send + Unpin)| {
        // Well past floors and items at hand, well before any deadline.
        tokio::select! {
            () = sleep(S * 5) => {}
            () = stream.for_each(|_| future::ready(())) => panic!("{wait}: it ended"),
        }
    };

    let (mut stream, calls) = make();
    waits(&mut stream).await;
    assert_eq!(calls(), asked, "{wait}: requests before the stop");
    let start = Instant::now();
    drop(stream);
    assert_eq!(start.elapsed(), Duration::ZERO, "{wait}: dropped");

    let (stream, calls) = make();
    let token = CancellationToken::new();
    let mut stream = stream.until(token.clone());
    waits(&mut stream).await;
    let start = Instant::now();
    let (stopped, ()) = future::join(stream.next(), async { token.cancel() }).await;
    assert!(stopped.is_none(), "{wait}: cancelled");
    assert_eq!((start.elapsed(), calls()), (Duration::ZERO, asked), "{wait}: cancelled");
}

/// The same of the source stream and of a reflector over it.
async fn source_stops(wait: &str, asked: usize, api: impl Fn() -> Api) {
    stops(wait, asked, || {
        let api = api();
        (Box::new(api.clone().events()), Box::new(move || api.calls().len()))
    })
    .await;

    let api = api();
    let reflector = Reflector::new(api.clone()).backoff(FixedBackoff::default()).spawn();
    sleep(S * 5).await;
    assert_eq!(api.calls().len(), asked, "{wait}: requests of the reflector");
    let start = Instant::now();
    assert_eq!(reflector.stop().await, Ended::Stopped, "{wait}");
    assert_eq!((start.elapsed(), api.calls().len()), (Duration::ZERO, asked), "{wait}: reflector stopped");
}

#[tokio::test(start_paused = true)]
async fn headers() {
    source_stops("headers of a list", 1, || api().without_watch_list().on_list("7", []).list_delayed(LONG)).await;
    source_stops("headers of a watch-list", 1, || api().on_watch([]).watch_delayed(LONG)).await;
    source_stops("headers of a watch", 2, || listed().on_watch([]).watch_delayed(LONG)).await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_body() {
    source_stops("a silent list", 1, || {
        let item = Step::Item(Ok(ListPart::Item(Arc::new(config_map("a", "5")))));
        api().without_watch_list().on_list_steps([item, Step::Wait(LONG)])
    })
    .await;
    source_stops("a watch-list before its closing bookmark", 1, || {
        api().on_watch([WireEvent::added(config_map("a", "5"))])
    })
    .await;
    source_stops("a silent watch", 2, || listed().on_watch([WireEvent::added(config_map("b", "8"))])).await;
}

#[tokio::test(start_paused = true)]
async fn retry_after() {
    let busy = || Error::from_status(Status::from_code(429).with_retry_after(S * 200));
    source_stops("Retry-After of a list", 1, || api().without_watch_list().on_list_error(busy())).await;
    source_stops("Retry-After of a watch", 2, || listed().on_watch_error(busy())).await;
}

#[tokio::test(start_paused = true)]
async fn a_parked_405() {
    source_stops("parked", 2, || listed().on_watch_error(status(405))).await;
}

#[tokio::test(start_paused = true)]
async fn the_floor() {
    stops("floor", 2, || {
        let api = listed().on_watch([WireEvent::added(config_map("b", "8"))]).on_watch([]);
        (Box::new(api.clone().events().floor(LONG)), Box::new(move || api.calls().len()))
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_backoff() {
    stops("backoff of a list", 1, || {
        let api = api().without_watch_list().on_list_error(status(503));
        let events = api.clone().events().backoff(FixedBackoff::new(LONG));
        (Box::new(events), Box::new(move || api.calls().len()))
    })
    .await;
    stops("backoff of a watch", 2, || {
        let api = listed().on_watch_error(status(503));
        let events = api.clone().events().backoff(FixedBackoff::new(LONG));
        (Box::new(events), Box::new(move || api.calls().len()))
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_period_of_a_poll() {
    stops("poll", 1, || {
        let api = api().on_list("7", [config_map("a", "5")]);
        (Box::new(api.clone().poll_every(LONG)), Box::new(move || api.calls().len()))
    })
    .await;
}

/// Waits below the source: of the client itself.
#[tokio::test(start_paused = true)]
async fn waits_of_the_client() {
    let silent = |status: u16| move || Response::new(status, stream::pending());
    client_stops("a silent error body", silent(500)).await;
    client_stops("a silent list body", silent(200)).await;

    let asked = Arc::new(AtomicUsize::new(0));
    stops("a credential that does not come", 1, || {
        let asks = asked.clone();
        asks.store(0, Relaxed);
        let never = move || {
            asks.fetch_add(1, Relaxed);
            future::pending::<Result<Credential, Error>>()
        };
        let transport = async |_: Request| Ok::<_, Error>(Response::json(200, "{}"));
        let maps = Collection::<ConfigMap>::all(Client::builder().credentials(never).transport(transport));
        let asked = asked.clone();
        (Box::new(maps.events()), Box::new(move || asked.load(Relaxed)))
    })
    .await;
}

async fn client_stops(wait: &str, answer: impl Fn() -> Response + Clone + Send + Sync + 'static) {
    stops(wait, 1, || {
        let (asked, answer) = (Arc::new(AtomicUsize::new(0)), answer.clone());
        let calls = asked.clone();
        let client = Client::with_transport(move |_: Request| {
            asked.fetch_add(1, Relaxed);
            future::ready(Ok::<_, Error>(answer()))
        });
        let events = Collection::<ConfigMap>::all(client).events().strategy(Strategy::List);
        (Box::new(events), Box::new(move || calls.load(Relaxed)))
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_request() {
    let tap = Tap::default();
    let server = tap.clone();
    let client = Client::with_transport(move |_: Request| {
        let body = server.endless("\n", "").then(|chunk: Result<Bytes, Error>| sleep(S).map(|()| chunk));
        future::ready(Ok::<_, Error>(Response::new(200, body)))
    });
    let reflector = Reflector::new(Collection::<ConfigMap>::all(client)).spawn();
    sleep(S * 5).await;
    assert_eq!(tap.open(), 1);
    assert_eq!(reflector.stop().await, Ended::Stopped);
    assert_eq!(tap.open(), 0);
}
