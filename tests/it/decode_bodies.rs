//! Bodies over any cuts, and of any bytes.

use bytes::Bytes;
use futures::{FutureExt, Stream, StreamExt, stream};
use listwatch::{
    DecodeError, Error, Identity, Kinded, Object, Raw,
    client::{ListDecoder, WatchDecoder},
    source::{ListPart, WireEvent},
};
use proptest::prelude::*;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

const LIST: &str = concat!(
    r#" {"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"a\"}{"},"x":[{"items":[1]}],"#,
    r#""items":[{"metadata":{"name":"a\\\"","labels":{"}":"]"}}} , {"metadata":{"name":"é\u00e9"}},"#,
    "\n",
    r#"{"metadata":{"name":7}},{"metadata":{"name":"a name that is longer than thirty-two bytes are"}}]} "#,
);
const WATCH: &str = concat!(
    r#"{"type":"ADDED","object":{"metadata":{"name":"é","resourceVersion":"8"}}}"#,
    "\r\n\n",
    r#"{"type":"DELETED","object":{"kind":7,"metadata":{"name":"b"}}}"#,
    "\n",
    r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}"#,
    "\n \n",
    r#"{"type":"ERROR","object":{"kind":"Status","code":410}}"#,
    "\n",
    r#"{"type":"NEW","object":{}}"#,
);

/// The bytes in chunks that end at these places.
fn chunked(bytes: &[u8], mut cuts: Vec<usize>) -> Vec<Bytes> {
    cuts.retain(|cut| *cut <= bytes.len());
    cuts.sort_unstable();
    cuts.push(bytes.len());
    let mut from = 0;
    cuts.into_iter()
        .map(|cut| {
            let chunk = Bytes::copy_from_slice(&bytes[from..cut]);
            from = cut;
            chunk
        })
        .collect()
}

fn said<T: std::fmt::Debug>(item: Result<T, Error>) -> String {
    match item {
        Ok(part) => format!("{part:?}"),
        Err(error) => format!("{error} {:?}", error.object()),
    }
}

fn list(bytes: &[u8], cuts: Vec<usize>) -> Vec<String> {
    let body = ListDecoder::new().decode::<Raw>(stream::iter(chunked(bytes, cuts)).map(Ok));
    let parts = body.filter(|part| std::future::ready(!matches!(part, Ok(ListPart::Progress)))).map(said);
    parts.collect().now_or_never().expect("never pending")
}

fn watch(bytes: &[u8], cuts: Vec<usize>) -> Vec<String> {
    let body = WatchDecoder::new().decode::<Raw>(stream::iter(chunked(bytes, cuts)).map(Ok));
    futures::executor::block_on(body.map(said).collect())
}

#[test]
fn a_whole_list_and_a_whole_watch() {
    let parts = list(LIST.as_bytes(), vec![]);
    assert_eq!(parts.len(), 5, "{parts:#?}");
    assert!(parts[0].contains(r#"a\"}{"#) && parts[1].contains(r#"name: "a\\\"""#), "{parts:#?}");
    assert!(parts[3].contains("does not decode"), "{parts:#?}");
    let events = watch(WATCH.as_bytes(), vec![]);
    assert_eq!(events.len(), 5, "{events:#?}");
    assert!(events[1].contains("does not decode") && events[1].contains(r#"name: "b""#), "{events:#?}");
    assert!(events[4].contains("NEW"), "an unterminated last line counts");
}

#[test]
fn one_byte_at_a_time_is_the_same() {
    assert_eq!(list(LIST.as_bytes(), (0..LIST.len()).collect()), list(LIST.as_bytes(), vec![]));
    assert_eq!(watch(WATCH.as_bytes(), (0..WATCH.len()).collect()), watch(WATCH.as_bytes(), vec![]));
}

#[test]
fn a_chunk_that_completes_nothing_is_progress() {
    let chunks =
        [r#"{"kind":"PodList","items":[{"metadata":{"#, r#""name":"a"}},"#, "{", r#""metadata":{"name":"b"}}]}"#];
    let body = ListDecoder::new().decode::<Raw>(stream::iter(chunks).map(|chunk| Ok(chunk.into())));
    let parts: Vec<_> = body.map(Result::unwrap).collect().now_or_never().unwrap();
    let shape: Vec<_> = parts.iter().map(|part| matches!(part, ListPart::Progress)).collect();
    assert_eq!(shape, [true, false, true, false]);
}

#[test]
fn a_watch_cut_inside_of_an_event_is_interrupted() {
    let line = r#"{"type":"ADDED","object":{"metadata":{"name":"a"}}}"#;
    for cut in 1..line.len() {
        let events = watch(&line.as_bytes()[..cut], vec![]);
        assert!(matches!(&events[..], [only] if only.contains("broke off")), "{cut}: {events:?}");
    }
}

#[test]
fn an_error_of_the_chunks_is_passed_on_and_the_body_ends() {
    let chunks = || stream::iter([Ok(Bytes::from(LIST)), Err(Error::interrupted("reset")), Ok("x".into())]);
    let parts: Vec<_> = ListDecoder::new().decode::<Raw>(chunks()).collect().now_or_never().unwrap();
    assert!(parts.last().unwrap().as_ref().is_err_and(Error::is_interrupted));
    let chunks = || stream::iter([Ok(Bytes::from("{")), Err(Error::interrupted("reset")), Ok("}".into())]);
    let events: Vec<_> = WatchDecoder::new().decode::<Raw>(chunks()).collect().now_or_never().unwrap();
    assert!(matches!(&events[..], [Err(error)] if error.is_interrupted()));
}

#[test]
fn garbage_ends_a_watch_and_an_unreadable_object_does_not() {
    let lines =
        "{\"type\":\"ADDED\",\"object\":{}}\nx\n{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n";
    let events = watch(lines.as_bytes(), vec![]);
    assert_eq!(events.len(), 2, "{events:?}");
    assert!(events[0].contains("does not decode") && events[1].contains("not what was asked for"));
}

#[test]
fn an_event_over_the_limit_is_an_error() {
    let line = format!("{{\"type\":\"ADDED\",\"object\":{{\"metadata\":{{\"name\":\"{}\"}}}}}}\n", "a".repeat(100));
    let body = WatchDecoder::new().max_event_size(80).decode::<Raw>(stream::iter([Ok(line.into())]));
    let events: Vec<_> = body.collect().now_or_never().unwrap();
    assert!(matches!(&events[..], [Err(error)] if error.is_garbage()));
    let ok = stream::iter([Ok("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n".into())]);
    let body = WatchDecoder::new().max_event_size(80).decode::<Raw>(ok);
    assert!(matches!(&body.collect::<Vec<_>>().now_or_never().unwrap()[..], [Ok(WireEvent::Added(_))]));
}

/// What a decoder with a limit says of chunks of this size, and the bytes that it took.
/// 600 KB of what a body may hold, and then what ends it.
fn long(item: impl Fn(usize, &str) -> String, end: &str) -> Vec<u8> {
    let pad = "x".repeat(250);
    let items = (0..2000).map(|n| match n % 100 {
        99 => item(n, r#"{"metadata":{"name":7,"uid":"u"}}"#),
        _ => item(n, &format!(r#"{{"metadata":{{"name":"a{n}","resourceVersion":"{n}"}},"data":"{pad}"}}"#)),
    });
    items.chain([end.to_owned()]).collect::<String>().into_bytes()
}

fn with_workers(workers: usize, bytes: &[u8], is_list: bool) -> Vec<String> {
    let chunks = stream::iter(chunked(bytes, (1..).map(|n| n * 30_000).take(20).collect())).map(Ok);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        if is_list {
            let body = ListDecoder::new().decode_workers(workers).decode::<Raw>(chunks);
            body.filter(|part| std::future::ready(!matches!(part, Ok(ListPart::Progress)))).map(said).collect().await
        } else {
            WatchDecoder::new().decode_workers(workers).decode::<Raw>(chunks).map(said).collect::<Vec<_>>().await
        }
    })
}

#[test]
fn several_workers_say_the_same_in_the_same_order() {
    let as_event = |_, json: &str| format!("{{\"type\":\"ADDED\",\"object\":{json}}}\n");
    let as_item = |n, json: &str| format!("{}{json}", if n == 0 { r#"{"items":["# } else { "," });
    for (bytes, is_list, last) in [
        (long(as_event, ""), false, "resource_version"),
        (long(as_event, "{\"type\":\"ADDED\",\"object\":{\"a\""), false, "broke off"),
        (
            long(as_event, "garbage\n{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"b\"}}}\n"),
            false,
            "not what was asked for",
        ),
        (long(as_item, r#"],"metadata":{"resourceVersion":"7"}}"#), true, "Meta"),
        (long(as_item, r#",{"metadata":{"name":"b"}},"#), true, "broke off"),
        (
            long(as_item, r#",{"metadata":tru},{"metadata":{"name":"b"}}],"metadata":{"resourceVersion":"7"}}"#),
            true,
            "not what was asked for",
        ),
    ] {
        let one = with_workers(1, &bytes, is_list);
        assert!(one.len() >= 2000 && one.iter().filter(|part| part.contains("Unreadable")).count() == 20);
        assert!(one.last().is_some_and(|said| said.contains(last)), "{:?} is not {last}", one.last());
        for workers in [2, 4] {
            assert_eq!(with_workers(workers, &bytes, is_list), one, "{workers} workers, {last}");
        }
    }
}

#[test]
#[should_panic(expected = "of the user's own")]
fn a_panic_of_an_objects_decode_is_the_readers() {
    #[derive(Debug)]
    struct Panics;
    impl Object for Panics {
        fn identity(&self) -> Identity<'_> {
            Identity::default()
        }
        fn decode(json: &[u8]) -> Result<Self, DecodeError> {
            if json.ends_with(b"17}") { panic!("of the user's own") } else { Ok(Panics) }
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let lines = (0..2000).map(|n| format!("{{\"type\":\"ADDED\",\"object\":{{\"a\":{:0300}}}}}\n", n));
        let chunk = Bytes::from(lines.collect::<String>());
        let body = WatchDecoder::new().decode_workers(2).decode::<Panics>(stream::iter([Ok(chunk)]));
        assert_eq!(body.count().await, 2000);
    });
}

fn limited_list(bytes: &[u8], max: usize, size: usize) -> (Vec<String>, usize) {
    let taken = Arc::new(AtomicUsize::new(0));
    let body = ListDecoder::new().max_item_size(max).decode::<Raw>(counted(bytes, size, &taken));
    let parts = body.filter(|part| std::future::ready(!matches!(part, Ok(ListPart::Progress)))).map(said);
    (parts.collect().now_or_never().expect("never pending"), taken.load(Relaxed))
}

fn limited_watch(bytes: &[u8], max: usize, size: usize) -> (Vec<String>, usize) {
    let taken = Arc::new(AtomicUsize::new(0));
    let body = WatchDecoder::new().max_event_size(max).decode::<Raw>(counted(bytes, size, &taken));
    (futures::executor::block_on(body.map(said).collect()), taken.load(Relaxed))
}

fn counted(
    bytes: &[u8],
    size: usize,
    taken: &Arc<AtomicUsize>,
) -> impl Stream<Item = Result<Bytes, Error>> + Send + use<> {
    let (chunks, taken) = (chunked(bytes, (0..bytes.len()).step_by(size).collect()), taken.clone());
    stream::iter(chunks).map(move |chunk| {
        taken.fetch_add(chunk.len(), Relaxed);
        Ok(chunk)
    })
}

/// Bytes that are nearly a list or a watch.
fn nearly(text: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let bits = prop_oneof![
        Just(vec![]),
        any::<[u8; 1]>().prop_map(|b| b.to_vec()),
        prop::sample::select(vec!["{", "}", "[", "]", "\"", "\\", ",", ":", "\n", "null"])
            .prop_map(|text| text.as_bytes().to_vec()),
    ];
    (0..text.len(), 0..8usize, bits).prop_map(move |(at, cut, put)| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.splice(at..(at + cut).min(text.len()), put);
        bytes
    })
}

proptest! {
    #[test]
    fn cuts_change_nothing(cuts in prop::collection::vec(0..LIST.len(), 0..40)) {
        prop_assert_eq!(list(LIST.as_bytes(), cuts.clone()), list(LIST.as_bytes(), vec![]));
        prop_assert_eq!(watch(WATCH.as_bytes(), cuts.clone()), watch(WATCH.as_bytes(), vec![]));
    }

    #[test]
    fn broken_bytes_are_objects_or_errors_whatever_the_cuts(
        a_list in nearly(LIST),
        a_watch in nearly(WATCH),
        cuts in prop::collection::vec(0..LIST.len(), 0..10),
    ) {
        prop_assert_eq!(list(&a_list, cuts.clone()), list(&a_list, vec![]));
        prop_assert_eq!(watch(&a_watch, cuts.clone()), watch(&a_watch, vec![]));
    }

    #[test]
    fn any_bytes_are_objects_or_errors_whatever_the_cuts(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        cuts in prop::collection::vec(0..200usize, 0..10),
    ) {
        prop_assert_eq!(list(&bytes, cuts.clone()), list(&bytes, vec![]));
        prop_assert_eq!(watch(&bytes, cuts), watch(&bytes, vec![]));
    }

    #[test]
    fn a_limit_bounds_what_is_taken_whatever_the_cuts(
        a_list in nearly(LIST),
        a_watch in nearly(WATCH),
        max in 1..150usize,
        size in 1..50usize,
    ) {
        let (parts, taken) = limited_list(&a_list, max, size);
        prop_assert_eq!(&parts, &limited_list(&a_list, max, a_list.len().max(1)).0);
        prop_assert!(taken <= a_list.len());
        if !parts.last().is_some_and(|last| last.contains("not what was asked for")) {
            prop_assert_eq!(parts, list(&a_list, vec![]));
        }
        let (events, taken) = limited_watch(&a_watch, max, size);
        let lines = || a_watch.split(|byte| *byte == b'\n');
        match lines().position(|line| line.len() > max) {
            None => prop_assert_eq!(events, watch(&a_watch, vec![])),
            Some(long) => {
                let before: usize = lines().take(long).map(|line| line.len() + 1).sum();
                prop_assert!(taken <= before + max + size, "{} bytes", taken);
            }
        }
    }
}

/// An item that says no kind is given its list's, which the limit is not about.
#[test]
fn the_limit_of_an_item_is_about_what_was_sent() {
    let item = r#"{"metadata":{"name":"a"},"data":{}}"#;
    let list = format!(r#"{{"kind":"ConfigMapList","apiVersion":"v1","items":[{item}],"metadata":{{}}}}"#);
    for (max, fits) in [(item.len(), true), (item.len() - 1, false)] {
        let body = ListDecoder::new().max_item_size(max).decode::<Raw>(stream::iter([Ok(list.clone().into())]));
        let parts: Vec<_> = futures::executor::block_on(body.collect());
        let kinds = parts.iter().filter_map(|part| match part {
            Ok(ListPart::Item(item)) => item.api_version_kind(),
            _ => None,
        });
        assert_eq!(kinds.collect::<Vec<_>>(), if fits { vec![("v1", "ConfigMap")] } else { vec![] }, "{parts:?}");
        assert_eq!(parts.iter().all(Result::is_ok), fits, "{parts:?}");
    }
}

/// Blank lines without end, from a transport that always has more: one poll takes only so many.
#[test]
fn a_poll_of_a_watch_that_brings_nothing_is_bounded() {
    let taken = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&taken);
    let blank = stream::repeat_with(move || {
        counter.fetch_add(1, Relaxed);
        Ok::<_, Error>(Bytes::from_static(b"\n"))
    });
    let mut body = tokio_test::task::spawn(WatchDecoder::new().decode::<Raw>(blank));
    for polls in 1..4 {
        assert!(body.poll_next().is_pending() && body.is_woken());
        assert!(taken.load(Relaxed) <= polls * 100, "{taken:?} chunks in {polls} polls");
    }
}

/// An object that knows which task decoded it.
#[derive(Debug)]
struct Tasked(Option<tokio::task::Id>);

impl Object for Tasked {
    fn identity(&self) -> Identity<'_> {
        Identity { name: "a", ..Identity::default() }
    }
    fn decode(_: &[u8]) -> Result<Self, DecodeError> {
        Ok(Tasked(tokio::task::try_id()))
    }
}

/// Events of so many bytes in all, in one chunk.
fn burst(bytes: usize) -> Bytes {
    let line = format!("{{\"type\":\"ADDED\",\"object\":{{\"metadata\":{{\"name\":\"{:0900}\"}}}}}}\n", 7);
    line.repeat(bytes / line.len()).into()
}

async fn all_here(body: impl Stream<Item = Result<WireEvent<Tasked>, Error>>) -> bool {
    let here = tokio::task::try_id();
    body.all(|event| std::future::ready(matches!(event.unwrap(), WireEvent::Added(object) if object.0 == here))).await
}

#[tokio::test]
async fn what_is_little_is_decoded_in_place() {
    for (bytes, here) in [(30 << 10, true), (80 << 10, false)] {
        let body = WatchDecoder::new().decode_workers(2).decode(stream::iter([Ok(burst(bytes))]));
        assert_eq!(all_here(body).await, here, "{bytes} bytes");
    }
}

#[cfg(feature = "client")]
#[tokio::test]
async fn a_collections_number_of_workers_holds_for_watches_and_other_types() {
    use listwatch::{
        client::{Client, Collection, Request, Response},
        source::{ListWatch, WatchParams},
    };
    let client = Client::with_transport(async |_: Request| {
        let body = stream::iter([Ok(burst(150 << 10))]);
        Ok::<_, Error>(Response::new(200, body).with_header("Content-Type", "application/json"))
    });
    let maps = Collection::<k8s_openapi::api::core::v1::ConfigMap>::all(client);
    for (workers, here) in [(1, true), (2, false)] {
        let things = maps.clone().decode_workers(workers).decode_as::<Tasked>();
        assert_eq!(all_here(things.open_watch(WatchParams::default()).await.unwrap()).await, here, "{workers}");
    }
}

#[test]
fn what_nobody_wants_any_more_is_not_decoded() {
    static DECODED: AtomicUsize = AtomicUsize::new(0);
    #[derive(Debug)]
    struct Counts;
    impl Object for Counts {
        fn identity(&self) -> Identity<'_> {
            Identity::default()
        }
        fn decode(_: &[u8]) -> Result<Self, DecodeError> {
            DECODED.fetch_add(1, Relaxed);
            Ok(Counts)
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let busy = tokio::task::spawn_blocking(move || wait.recv());
        let chunks = stream::iter([Ok(burst(150 << 10))]).chain(stream::pending());
        let mut body = WatchDecoder::new().decode_workers(2).decode::<Counts>(chunks);
        assert!(body.next().now_or_never().is_none(), "the only thread is busy");
        drop(body);
        go.send(()).unwrap();
        busy.await.unwrap().unwrap();
        tokio::task::spawn_blocking(|| ()).await.unwrap(); // after all that was handed over
    });
    assert_eq!(DECODED.load(Relaxed), 0);
}
