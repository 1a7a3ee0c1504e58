//! Every operator and every source stream keeps the laws. A new one joins a list below.

use futures::{FutureExt, Stream, StreamExt, future::LocalBoxFuture, sink, stream, stream::FusedStream};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Change, DeleteReason, Error, Event, EventStreamExt, Fold, Object, Raw, Recover, Recovery, Store, Unreadable,
    UnreadableAs,
    policy::FixedBackoff,
    source::{Body, ListBody, ListMeta, ListParams, ListPart, ListWatch, WatchBody, WatchParams, WireEvent},
    testing::{
        self,
        laws::{self, Probe},
    },
};
use std::{
    collections::BTreeSet,
    fmt::Debug,
    fs,
    panic::AssertUnwindSafe,
    path::Path,
    pin::Pin,
    sync::Mutex,
    task::{Context, Poll},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

const MINUTE: Duration = Duration::from_secs(60);

type Checks = fn() -> LocalBoxFuture<'static, ()>;

/// Each operator, by its file in `src/ops`.
const OPERATORS: &[(&str, Checks)] = &[
    ("backoff", || on_events(true, |below| below.backoff(FixedBackoff::new(Duration::from_secs(1))))),
    ("checkpoint_every", || {
        on_events(false, |below| below.checkpoint_every(&Store::<ConfigMap>::new(), "never ready", MINUTE))
    }),
    ("deletions", || on_events(false, EventStreamExt::deletions)),
    ("expect_kind", || on_events(false, |below| below.expect_kind("v2", "Thing"))),
    ("filter_objects", || {
        on_events(false, |below| below.filter_objects(|object| object.identity().resource_version < "4"))
    }),
    #[cfg(feature = "kube-runtime")]
    ("into_kube", || check(false, config_maps, EventStreamExt::into_kube).boxed_local()),
    #[cfg(not(feature = "kube-runtime"))]
    ("into_kube", || async {}.boxed_local()),
    ("map_objects", || on_events(false, |below| below.map_objects(|object| object.identity().name.to_owned()))),
    ("modify_objects", || on_events(false, |below| below.modify_objects(|object| *object = testing::raw("x", "1")))),
    ("objects", || on_events(false, EventStreamExt::objects)),
    ("on_error", || hold(false, events, |below| below.on_error(drop)).boxed_local()),
    ("only_changed_by", || check(false, changes, |below| below.only_changed_by(|old, new| old != new)).boxed_local()),
    ("reflect", || on_events(false, |below| below.reflect(Names))),
    ("resync", || on_events(true, |below| below.resync(MINUTE))),
    ("send_to", || hold(false, events, |below| below.send_to(sink::drain(), drop).into_stream().fuse()).boxed_local()),
    ("strip_managed_fields", || check(false, config_maps, EventStreamExt::strip_managed_fields).boxed_local()),
    ("tee", || on_events(false, |below| below.tee(Names))),
    ("until", || on_events(false, |below| below.until(CancellationToken::new()))),
    ("validate", || on_events(false, EventStreamExt::validate)),
    ("verify_with", || {
        on_events(true, |below| {
            let lists = testing::ScriptedApi::new().on_list("3", [testing::raw("a", "1")]).on_list("6", []);
            below.verify_with(lists, Raw::clone)
        })
    }),
];

/// What `src/ops` holds besides operators.
const NO_OPERATORS: &[&str] = &["changed", "ext", "figures", "fold", "ledger", "mod", "project", "stage", "timer"];

/// Each source stream, by its type.
const SOURCES: &[(&str, Checks)] = &[
    ("List", || on_lists(|source| source.list().take(40).fuse())),
    ("PollEvery", || on_lists(|source| source.poll_every(Duration::from_secs(1)).take(6).fuse())),
    ("WatchFrom", || on_watches(|source| source.watch_from("1").unwrap().take(6).fuse())),
    ("WatchList", || on_watch_lists(|source| source.watch_list().take(8).fuse())),
    ("Events", || on_watch_lists(|source| source.events().take(8).fuse())),
];

#[tokio::test(start_paused = true)]
async fn every_operator_keeps_the_laws() {
    for (name, check) in OPERATORS {
        eprintln!("{name}"); // shown where it fails
        check().await;
    }
}

#[tokio::test(start_paused = true)]
async fn every_source_stream_keeps_the_laws() {
    for (name, check) in SOURCES {
        eprintln!("{name}"); // shown where it fails
        check().await;
    }
}

#[test]
fn every_operator_has_joined_the_list() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ops");
    let names = fs::read_dir(dir).unwrap().map(|file| file.unwrap().path().file_stem().unwrap().to_owned());
    let files: BTreeSet<String> = names.map(|name| name.into_string().unwrap()).collect();
    let listed: BTreeSet<String> = OPERATORS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let others: BTreeSet<String> = NO_OPERATORS.iter().map(|name| (*name).to_owned()).collect();
    let missing: Vec<_> = files.difference(&listed).filter(|name| !others.contains(*name)).collect();
    assert!(missing.is_empty(), "operators whose laws nobody checks: {missing:?}");
    let gone: Vec<_> = listed.difference(&files).collect();
    assert!(gone.is_empty(), "no such operators: {gone:?}");
}

#[test]
fn every_source_stream_has_joined_the_list() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/source/streams.rs");
    let text = fs::read_to_string(file).unwrap();
    let (_, streams) = text.split_once("\nstream!(").unwrap();
    let streams: BTreeSet<&str> = streams.split(')').next().unwrap().split(", ").collect();
    assert_eq!(streams, SOURCES.iter().map(|(name, _)| *name).collect());
}

/// Checks every law but that errors pass.
async fn hold<I, T, S>(waits: bool, input: I, make: impl Fn(Probe<T>) -> S)
where
    I: Fn() -> Vec<T>,
    S: Stream + FusedStream + Unpin,
    S::Item: Debug,
{
    let mut whole = make(laws::of(&input, &make).probe());
    while !whole.is_terminated() {
        let ended = whole.next().await.is_none();
        assert_eq!(whole.is_terminated(), ended, "is_terminated is true from the end on");
    }
    let laws = laws::of(input, make);
    if waits { laws.waits().hold().await } else { laws.hold().await }
}

/// Checks every law.
async fn check<A, B, E, S>(waits: bool, input: fn() -> Vec<Result<A, E>>, make: fn(Probe<Result<A, E>>) -> S)
where
    S: Stream<Item = Result<B, E>> + FusedStream + Unpin,
    B: Debug,
    E: Debug,
{
    let laws = laws::of(input, make);
    if waits {
        laws.waits().errors_pass().await
    } else {
        laws.errors_pass().await
    }
    hold(waits, input, make).await;
}

fn on_events<B, S>(waits: bool, make: fn(Probe<Result<Event<Raw>, Error>>) -> S) -> LocalBoxFuture<'static, ()>
where
    S: Stream<Item = Result<B, Error>> + FusedStream + Unpin + 'static,
    B: Debug + 'static,
{
    check(waits, events, make).boxed_local()
}

fn cut() -> Error {
    Error::interrupted("cut")
}

fn unreadable(came_as: UnreadableAs, name: &str) -> Error {
    Error::unreadable(Unreadable::new(came_as, "", name), listwatch::DecodeError::new("not so"))
}

/// All that may come of a source, and some that may not.
fn events() -> Vec<Result<Event<Raw>, Error>> {
    let raw = testing::raw;
    vec![
        Err(cut()),
        Ok(Event::SnapshotStart),
        Ok(Event::listed(raw("a", "1"))),
        Err(unreadable(UnreadableAs::Listed, "u")),
        Ok(Event::listed(raw("b", "2"))),
        Ok(Event::deleted(raw("b", "3"))),
        Ok(Event::SnapshotEnd("3".into())),
        Ok(Event::Watching("3".into())),
        Ok(Event::added(raw("refused", "4"))),
        Err(Error::other("gone")),
        Ok(Event::modified(raw("a", "5"))),
        Err(cut().with_recovery(Recovery::Fallback)),
        Ok(Event::SnapshotStart),
        Ok(Event::SnapshotStart),
        Ok(Event::listed(raw("a", "5"))),
        Err(cut()),
        Ok(Event::listed(raw("a", "5"))),
        Ok(Event::SnapshotStart),
        Ok(Event::SnapshotEnd("6".into())),
        Ok(Event::Bookmark("7".into())),
        Ok(Event::added(raw("c", "8"))),
        Ok(Event::Resync),
    ]
}

fn config_maps() -> Vec<Result<Event<ConfigMap>, Error>> {
    let map = |object: &Raw| {
        let mut map = ConfigMap::default();
        map.metadata.name = Some(object.identity().name.into());
        map.metadata.managed_fields = Some(vec![Default::default()]);
        map
    };
    let to_map = |event: Event<Raw>| event.map(|object| map(&object).into());
    events().into_iter().map(|item| item.map(to_map)).collect()
}

fn changes() -> Vec<Result<Change<u32>, Error>> {
    let updated = |old: u32, new: u32| Ok(Change::Updated { old: old.into(), new: new.into() });
    vec![
        Ok(Change::Added { object: 1.into(), initial: true }),
        updated(1, 1),
        Err(cut()),
        updated(1, 1),
        updated(1, 2),
        Ok(Change::Deleted { last: 2.into(), why: DeleteReason::Missed }),
        updated(3, 3),
    ]
}

/// Tells each event's name twice, refuses some, and answers errors that relist.
#[derive(Clone, Copy)]
struct Names;

impl Fold<Raw> for Names {
    type Changes = Vec<&'static str>;
    type Error = &'static str;
    fn fold(&mut self, event: Event<Raw>) -> Result<Vec<&'static str>, &'static str> {
        match &event {
            Event::Bookmark(_) => Ok(vec![]),
            event if event.object().is_some_and(|object| object.identity().name == "refused") => Err("refused"),
            event => Ok(vec![event.name(); 2]),
        }
    }
    fn failed(&mut self, error: &dyn Recover) -> Option<Vec<&'static str>> {
        (error.recovery() == Recovery::Relist).then(|| vec!["failed"; 2])
    }
}

/// A source that gives each body once; then nothing more comes.
struct Once {
    list: Mutex<Option<ListBody<Raw>>>,
    watch: Mutex<Option<WatchBody<Raw>>>,
}

fn once(list: Option<ListBody<Raw>>, watch: Option<WatchBody<Raw>>) -> Once {
    Once { list: Mutex::new(list), watch: Mutex::new(watch) }
}

impl ListWatch for Once {
    type Object = Raw;
    async fn list_page(&self, _: ListParams) -> Result<ListBody<Raw>, Error> {
        Ok(self.list.lock().unwrap().take().unwrap_or_else(|| Body::new(stream::pending())))
    }
    async fn open_watch(&self, _: WatchParams) -> Result<WatchBody<Raw>, Error> {
        Ok(self.watch.lock().unwrap().take().unwrap_or_else(|| Body::new(stream::pending())))
    }
}

fn on_lists<S>(make: fn(Once) -> S) -> LocalBoxFuture<'static, ()>
where
    S: Stream<Item = Result<Event<Raw>, Error>> + FusedStream + Unpin + 'static,
{
    let input = || {
        let item = |name| Ok(ListPart::Item(testing::raw(name, "1").into()));
        let unreadable = Err(unreadable(UnreadableAs::Listed, "u"));
        vec![item("a"), Ok(ListPart::Progress), unreadable, Ok(ListPart::Meta(ListMeta::new("7"))), item("b")]
    };
    hold(true, input, move |below| make(once(Some(Body::new(below)), None))).boxed_local()
}

fn on_watches<S>(make: fn(Once) -> S) -> LocalBoxFuture<'static, ()>
where
    S: Stream<Item = Result<Event<Raw>, Error>> + FusedStream + Unpin + 'static,
{
    let input = || {
        vec![
            Ok(WireEvent::added(testing::raw("a", "2"))),
            Err(unreadable(UnreadableAs::Added, "u")),
            Ok(WireEvent::bookmark("")),
            Ok(WireEvent::bookmark("3")),
            Ok(WireEvent::modified(testing::raw("a", "4"))),
            Ok(WireEvent::deleted(testing::raw("a", "5"))),
        ]
    };
    hold(true, input, move |below| make(once(None, Some(Body::new(below))))).boxed_local()
}

fn on_watch_lists<S>(make: fn(Once) -> S) -> LocalBoxFuture<'static, ()>
where
    S: Stream<Item = Result<Event<Raw>, Error>> + FusedStream + Unpin + 'static,
{
    let input = || {
        vec![
            Ok(WireEvent::added(testing::raw("a", "2"))),
            Err(unreadable(UnreadableAs::Added, "u")),
            Ok(WireEvent::modified(testing::raw("a", "3"))),
            Ok(WireEvent::initial_events_end("3")),
            Ok(WireEvent::bookmark("4")),
            Ok(WireEvent::deleted(testing::raw("a", "5"))),
        ]
    };
    hold(true, input, move |below| make(once(None, Some(Body::new(below))))).boxed_local()
}

/// What the suite says of an operator that breaks a law.
async fn broken<S>(make: fn(Probe<u32>) -> S) -> String
where
    S: Stream,
    S::Item: Debug,
{
    let laws = laws::of(|| [1, 2, 3], make);
    let panic = AssertUnwindSafe(laws.hold()).catch_unwind().await.expect_err("a law is broken");
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap()
}

#[track_caller]
fn assert_contains(text: &str, part: &str) {
    assert!(text.contains(part), "{text:?} does not say {part:?}");
}

/// Does with each poll of the stream below whatever the closure does.
struct Op<F>(Probe<u32>, F);

fn op<F>(below: Probe<u32>, f: F) -> stream::Fuse<Op<F>>
where
    F: FnMut(&mut Probe<u32>, &mut Context<'_>) -> Poll<Option<u32>> + Unpin,
{
    Op(below, f).fuse()
}

impl<F: FnMut(&mut Probe<u32>, &mut Context<'_>) -> Poll<Option<u32>> + Unpin> Stream for Op<F> {
    type Item = u32;
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<u32>> {
        let Op(below, f) = self.get_mut();
        f(below, cx)
    }
}

#[tokio::test(start_paused = true)]
async fn the_suite_finds_each_broken_law() {
    // Drops an item whenever the stream below was pending before.
    let forgets = broken(|below| {
        let mut pending = false;
        op(below, move |below, cx| {
            let mut polled = below.poll_next_unpin(cx);
            if pending && polled.is_ready() {
                polled = below.poll_next_unpin(cx);
            }
            pending = polled.is_pending();
            polled
        })
    });
    assert_contains(&forgets.await, "law");
    // Swallows an item without polling again.
    let swallows = broken(|below| {
        op(below, |below, cx| match below.poll_next_unpin(cx) {
            Poll::Ready(Some(2)) => Poll::Pending,
            polled => polled,
        })
    });
    assert_contains(&swallows.await, "law Wakes: pending, though");
    // Keeps the first waker.
    let stale = broken(|below| {
        let mut first = None;
        op(below, move |below, cx| {
            let waker = first.get_or_insert_with(|| cx.waker().clone()).clone();
            below.poll_next_unpin(&mut Context::from_waker(&waker))
        })
    });
    assert_contains(&stale.await, "law Wakes: the stream below has something");
    // Begins anew after its end.
    let revives = broken(|below| {
        let mut ended = false;
        Op(below, move |below: &mut Probe<u32>, cx: &mut Context<'_>| {
            if ended {
                return Poll::Ready(Some(7));
            }
            let polled = below.poll_next_unpin(cx);
            ended = matches!(polled, Poll::Ready(None));
            polled
        })
    });
    assert_contains(&revives.await, "law Ends once: something came after the end");
    // Has no memory of the end.
    let unfused = broken(|below| Op(below, |below: &mut Probe<u32>, cx: &mut Context<'_>| below.poll_next_unpin(cx)));
    assert_contains(&unfused.await, "law Ends once: the stream below was polled after its end");
    // Hands the stream below to somebody else.
    let leaks = broken(|below| {
        std::mem::forget(below);
        stream::empty::<u32>()
    });
    assert_contains(&leaks.await, "law Drops");
    // Reads everything in one poll.
    let greedy = broken(|below| {
        let mut ended = false;
        op(below, move |below, cx| {
            while !ended {
                ended = std::task::ready!(below.poll_next_unpin(cx)).is_none();
            }
            Poll::Ready(None)
        })
    });
    assert_contains(&greedy.await, "law Bounded");
    // Promises what does not come.
    struct Promises(stream::Fuse<Probe<u32>>);
    impl Stream for Promises {
        type Item = u32;
        fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<u32>> {
            self.0.poll_next_unpin(cx)
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            (1, None)
        }
    }
    assert_contains(&broken(|below| Promises(below.fuse())).await, "law Honest");
    // Waits for what never comes.
    let mut stuck = laws::of(|| [1, 2], |below: Probe<u32>| below.fuse().chain(stream::pending()));
    let panic = AssertUnwindSafe(stuck.hold()).catch_unwind().await.expect_err("pending for no reason");
    assert!(panic.downcast_ref::<String>().unwrap().contains("law Wakes: pending"));
    stuck = stuck.waits();
    let panic = AssertUnwindSafe(stuck.hold()).catch_unwind().await.expect_err("never woken");
    assert!(panic.downcast_ref::<String>().unwrap().contains("law Wakes: nothing wakes"));
}

#[tokio::test(start_paused = true)]
async fn the_suite_finds_errors_that_do_not_pass() {
    let input = || [Ok(1), Err("a"), Err("b"), Ok(2)];
    type Below = Probe<Result<u32, &'static str>>;
    laws::of(input, |below: Below| below.fuse()).errors_pass().await;
    let swapped = laws::of(input, |below: Below| {
        below.fuse().map(|item| item.map_err(|error| if error == "a" { "b" } else { "a" }))
    });
    assert!(AssertUnwindSafe(swapped.errors_pass()).catch_unwind().await.is_err());
    let swallowed = laws::of(input, |below: Below| below.fuse().filter(|item| std::future::ready(item.is_ok())));
    assert!(AssertUnwindSafe(swallowed.errors_pass()).catch_unwind().await.is_err());
}
