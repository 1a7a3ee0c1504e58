//! What a source takes and holds of bodies that are too large or have no end.

use super::{
    counted::{Counted, live},
    tap::Tap,
};
use bytes::Bytes;
use futures::{FutureExt, Stream, StreamExt, stream::BoxStream};
use listwatch::{
    Error, Event, EventStreamExt, Raw, Recovery, Store,
    client::{Client, Collection, Request, RequestKind, Response},
    source::{ListParams, ListWatch, WatchParams},
};
use tokio_util::sync::CancellationToken;

const KIB: usize = 1 << 10;
const LIMIT: usize = 64 * KIB;
/// The size of a chunk of [`a`].
const CHUNK: usize = KIB;

const EVENT: &str = r#"{"type":"ADDED","object":{"metadata":{"name":""#;
const LIST: &str = r#"{"kind":"ThingList","metadata":{"resourceVersion":"7"},"items":["#;

fn a() -> String {
    "a".repeat(CHUNK)
}

type Body = BoxStream<'static, Result<Bytes, Error>>;

/// Things of a server whose every answer is 200 with such a body.
fn things(body: impl Fn(&Request) -> Body + Send + Sync + 'static) -> Collection<Counted> {
    answering(move |request| Response::new(200, body(request)).with_header("content-type", "application/json"))
}

fn answering(answer: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Collection<Counted> {
    let client = Client::with_transport(move |request: Request| {
        let answer = answer(&request);
        async move { Ok::<_, Error>(answer) }
    });
    let resource = kube::core::ApiResource {
        group: "example.com".into(),
        version: "v1".into(),
        api_version: "example.com/v1".into(),
        kind: "Thing".into(),
        plural: "things".into(),
    };
    Collection::all_with(client, &resource)
}

async fn first_error(stream: &mut (impl Stream<Item = Result<Event<Counted>, Error>> + Unpin)) -> Error {
    loop {
        if let Err(error) = stream.next().await.expect("another item") {
            return error;
        }
    }
}

/// Nothing that was given out, or made of it, is there any more.
#[track_caller]
fn assert_nothing_is_held(tap: &Tap) {
    assert_eq!((tap.held(), tap.open(), live()), (0, 0, 0), "bytes, bodies, objects");
}

#[tokio::test(start_paused = true)]
async fn a_line_without_end_is_an_error_at_the_limit() {
    let tap = Tap::default();
    let server = tap.clone();
    let things = things(move |_| server.endless(EVENT, &a()).boxed());
    let mut watch = things.watch_from("7").unwrap().max_event_size(LIMIT);
    for n in 1..=20 {
        let error = first_error(&mut watch).await;
        assert!(error.is_garbage() && error.recovery() == Recovery::Resume || n == 2, "{error}");
        assert!(tap.given() <= n * (LIMIT + CHUNK), "{} bytes after {n} watches", tap.given());
        assert_nothing_is_held(&tap);
        if error.recovery() == Recovery::Relist {
            return;
        }
    }
    panic!("a second line that is no event in a row relists");
}

#[tokio::test(start_paused = true)]
async fn the_default_limit_of_a_line_is_16_mib() {
    let tap = Tap::default();
    let server = tap.clone();
    let chunk = "a".repeat(KIB * KIB);
    let things = things(move |_| server.endless(EVENT, &chunk).boxed());
    assert!(first_error(&mut things.watch_from("7").unwrap()).await.is_garbage());
    assert!((16 * KIB * KIB..=17 * KIB * KIB).contains(&tap.given()), "{}", tap.given());
    assert_nothing_is_held(&tap);
}

/// They say nothing, but each chunk is dropped before the next, and the stream can be stopped meanwhile.
#[tokio::test(start_paused = true)]
async fn blank_lines_without_end_are_not_kept() {
    let (tap, token) = (Tap::default(), CancellationToken::new());
    let (server, stop) = (tap.clone(), token.clone());
    let blank = "\n".repeat(CHUNK);
    let things = things(move |_| stopping(server.endless("\n", &blank), server.clone(), stop.clone()));
    let mut watch = things.watch_from("7").unwrap().until(token);
    assert!(watch.next().await.is_none_or(|item| item.is_ok()));
    drop(watch);
    assert!(tap.most_held() <= 2 * CHUNK, "{}", tap.most_held());
    assert_nothing_is_held(&tap);
}

/// Cancels the token once 1 MiB was given out. Like a socket, it lets others run now and then.
fn stopping(
    body: impl Stream<Item = Result<Bytes, Error>> + Send + 'static,
    tap: Tap,
    token: CancellationToken,
) -> Body {
    body.then(move |chunk| {
        if tap.given() >= KIB * KIB {
            token.cancel();
        }
        tokio::task::consume_budget().map(|()| chunk)
    })
    .boxed()
}

#[tokio::test(start_paused = true)]
async fn a_huge_event_is_an_error_and_the_next_watch_goes_on() {
    let tap = Tap::default();
    let server = tap.clone();
    let things = things(move |request| {
        if server.given() == 0 {
            server.ending(EVENT, &a(), 1000, "\"}}}\n").boxed()
        } else {
            assert_eq!(request.query("resourceVersion"), Some("7"));
            server.ending(EVENT, "b", 1, "\",\"resourceVersion\":\"8\"}}}\n").boxed()
        }
    });
    let mut watch = things.watch_from("7").unwrap().max_event_size(LIMIT);
    let error = first_error(&mut watch).await;
    assert!(error.is_garbage() && error.recovery() == Recovery::Resume, "{error}");
    assert!(tap.given() <= LIMIT + CHUNK, "{}", tap.given());
    assert_nothing_is_held(&tap);
    assert!(matches!(watch.next().await, Some(Ok(Event::Watching(_)))));
    assert!(matches!(watch.next().await, Some(Ok(Event::Added(_)))));
}

#[tokio::test(start_paused = true)]
async fn a_huge_part_of_a_list_is_an_error() {
    for (what, head) in [
        ("an item", format!("{LIST}{{\"metadata\":{{\"name\":\"")),
        ("the metadata", r#"{"kind":"ThingList","metadata":{"resourceVersion":""#.to_owned()),
        ("its kind", r#"{"kind":""#.to_owned()),
        ("a key", r#"{""#.to_owned()),
        ("a number", format!("{LIST}1")),
    ] {
        let tap = Tap::default();
        let (server, again) = (tap.clone(), a().replace('a', "1"));
        let mut list = things(move |_| server.endless(&head, &again).boxed()).list().max_event_size(LIMIT);
        let error = first_error(&mut list).await;
        assert!(error.is_garbage(), "{what}: {error}");
        assert!(tap.given() <= LIMIT + 2 * CHUNK, "{what}: {}", tap.given());
        assert_nothing_is_held(&tap);
    }
}

#[tokio::test(start_paused = true)]
async fn what_nobody_wants_of_a_list_is_not_kept() {
    for head in [r#"{"x":""#, r#"{"items":[],"x":["#, " ", r#"{"items":[ "#] {
        let (tap, token) = (Tap::default(), CancellationToken::new());
        let (server, stop) = (tap.clone(), token.clone());
        let again = if head.ends_with(['"', ',']) { a() } else { " ".repeat(CHUNK) };
        let things = things(move |_| stopping(server.endless(head, &again), server.clone(), stop.clone()));
        let mut list = things.list().until(token);
        assert!(list.next().await.is_none(), "nothing was listed: {head}");
        drop(list);
        assert!(tap.most_held() <= 2 * CHUNK, "{head}: {}", tap.most_held());
        assert_nothing_is_held(&tap);
    }
}

#[tokio::test(start_paused = true)]
async fn an_endless_list_is_read_as_it_is_taken() {
    let tap = Tap::default();
    let (server, item) = (tap.clone(), r#"{"metadata":{"name":"a"}},"#);
    let mut list = things(move |_| server.endless(LIST, item).boxed()).decode_workers(1).list();
    assert!(matches!(list.next().await, Some(Ok(Event::SnapshotStart))));
    for n in 1..=10_000 {
        assert!(matches!(list.next().await, Some(Ok(Event::Listed(_)))));
        assert!(live() <= 1, "{} objects", live());
        assert!(tap.given() <= LIST.len() + (n + 1) * item.len(), "{n} items, {} bytes", tap.given());
    }
    assert!(tap.most_held() <= LIST.len() + item.len(), "{}", tap.most_held());
    drop(list);
    assert_nothing_is_held(&tap);
}

/// Each has a batch of at most 32 KiB, as many wait to be theirs, and one is being taken.
#[tokio::test(start_paused = true)]
async fn several_workers_read_a_bounded_number_of_bytes_ahead() {
    const WORKERS: usize = 3;
    let tap = Tap::default();
    let (server, item) = (tap.clone(), r#"{"metadata":{"name":"a"}},"#);
    let things = things(move |_| server.endless(LIST, item).boxed()).decode_as::<Raw>().decode_workers(WORKERS);
    let (mut list, mut ahead) = (things.list(), 0);
    assert!(matches!(list.next().await, Some(Ok(Event::SnapshotStart))));
    for n in 1..=50_000 {
        assert!(matches!(list.next().await, Some(Ok(Event::Listed(_)))));
        ahead = ahead.max(tap.given() - n * item.len());
    }
    assert!(ahead > 32 * KIB, "{ahead} bytes: nobody but the reader was at work");
    assert!(ahead <= (2 * WORKERS + 2) * 32 * KIB + CHUNK, "{ahead} bytes ahead");
    drop(list);
    while tap.held() > 0 {
        tokio::task::yield_now().await; // until the batches at work are done
    }
    assert_eq!(tap.open(), 0);
}

/// A server whose pages lead to themselves: the snapshot in progress holds each object once.
#[tokio::test(start_paused = true)]
async fn pages_without_end_fill_no_store() {
    let tap = Tap::default();
    let server = tap.clone();
    let page = r#"{"kind":"ThingList","metadata":{"resourceVersion":"7","continue":"again"},"items":["#;
    let things = things(move |_| server.ending(page, r#"{"metadata":{"name":"a"}},"#, 9, LAST).boxed());
    let store = Store::new();
    let mut changes = things.list().reflect(&store);
    for _ in 0..100 {
        assert!(changes.next().now_or_never().is_none(), "nothing is told before the snapshot's end");
        assert!(live() <= 3, "{} objects", live());
        tokio::task::yield_now().await;
    }
    assert!(tap.given() > 100 * page.len(), "many pages were read: {}", tap.given());
    // A page, and the one that was asked for while it is read.
    assert!(store.is_empty() && tap.most_held() <= 5 * page.len(), "{}", tap.most_held());
}

const LAST: &str = r#"{"metadata":{"name":"b"}}]}"#;

#[tokio::test(start_paused = true)]
async fn an_error_body_without_end_is_read_up_to_64_kib() {
    for status in [400, 401, 410, 429, 500, 503] {
        let tap = Tap::default();
        let server = tap.clone();
        let things = answering(move |_| Response::new(status, server.endless("{\"message\":\"", &a())));
        let error = asked(&things, RequestKind::List).await;
        assert_eq!(error.status().map(|status| status.code), Some(status));
        assert!(tap.given() <= LIMIT + CHUNK, "{status}: {}", tap.given());
        assert_nothing_is_held(&tap);
        let error = asked(&things, RequestKind::Watch).await;
        assert!(tap.given() <= 2 * (LIMIT + CHUNK), "{status}: {}", tap.given());
        assert!(format!("{error:?}").len() < 10 * KIB, "an error holds little of it");
    }
}

#[tokio::test(start_paused = true)]
async fn of_an_answer_that_is_not_json_no_body_is_read() {
    for (status, kind) in [(200, "text/html"), (204, "application/json"), (302, "text/html")] {
        let tap = Tap::default();
        let server = tap.clone();
        let things =
            answering(move |_| Response::new(status, server.endless("<", &a())).with_header("content-type", kind));
        asked(&things, RequestKind::List).await;
        asked(&things, RequestKind::Watch).await;
        assert_eq!(tap.given(), 0);
        assert_nothing_is_held(&tap);
    }
}

async fn asked(things: &Collection<Counted>, kind: RequestKind) -> Error {
    match kind {
        RequestKind::List => things.list_page(ListParams::default()).map(|answer| answer.map(drop)).boxed().await,
        _ => things.open_watch(WatchParams::default()).map(|answer| answer.map(drop)).boxed().await,
    }
    .expect_err("an error")
}
