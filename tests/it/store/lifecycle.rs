//! States, versions, readiness, closing: the paragraph "Time" of the design.

use super::thing::{Thing, content, error, fail, feed, fold, listed, thing};
use futures::FutureExt;
use listwatch::{Event, Fold, IntoFold, Recovery, State, Store};
use std::time::Duration;
use tokio_test::{assert_pending, assert_ready, task};

fn why(state: &State) -> &str {
    match state {
        State::Stale { why, .. } => why,
        other => panic!("not stale: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn from_empty_to_live_and_stale_and_back() {
    let store = Store::<Thing>::new();
    assert_eq!(store.state(), State::Empty);
    let mut part = fold(&store);
    assert_eq!(store.state(), State::Empty);
    fail(&mut part, &error(Recovery::Skip, "skip"));
    fail(&mut part, &error(Recovery::Fallback, "fallback"));
    assert_eq!(store.state(), State::Empty, "skip and fallback change nothing");
    fail(&mut part, &error(Recovery::Resume, "refused"));
    assert!(store.state().is_stale(), "whatever it was");
    feed(&mut part, [Event::SnapshotStart]);
    assert_eq!(store.state(), State::Syncing, "stale without content");
    fail(&mut part, &error(Recovery::Fallback, "410"));
    assert_eq!(store.state(), State::Syncing);
    feed(&mut part, listed([], "1"));
    assert_eq!(store.state(), State::Live);
    tokio::time::advance(Duration::from_secs(5)).await;
    let since = tokio::time::Instant::now();
    fail(&mut part, &error(Recovery::Relist, "first"));
    tokio::time::advance(Duration::from_secs(5)).await;
    fail(&mut part, &error(Recovery::Resume, "last"));
    let text = "the source failed";
    assert_eq!(store.state(), State::Stale { since, why: text.into() }, "since the first, with the last");
    feed(&mut part, [Event::SnapshotStart]);
    assert!(store.state().is_stale(), "a complete part stays stale until the snapshot is complete");
    feed(&mut part, [Event::SnapshotEnd("2".into())]);
    assert_eq!(store.state(), State::Live);
    fail(&mut part, &error(Recovery::Resume, "again"));
    feed(&mut part, [Event::Resync]);
    assert!(store.state().is_stale(), "a resync says nothing of the source");
    for event in [
        Event::Watching("2".into()),
        Event::Bookmark("3".into()),
        Event::added(thing("a", 4)),
        Event::modified(thing("a", 4)),
        Event::deleted(thing("unknown", 5)),
    ] {
        fail(&mut part, &error(Recovery::Resume, "again"));
        assert!(store.state().is_stale());
        feed(&mut part, [event.clone()]);
        assert_eq!(store.state(), State::Live, "{}", event.name());
    }
}

#[tokio::test(start_paused = true)]
async fn the_version_moves_with_snapshots_changes_and_bookmarks() {
    let store = Store::new();
    let mut part = fold(&store);
    assert_eq!(store.resource_version(), None);
    feed(&mut part, [Event::SnapshotStart, Event::listed(thing("a", 9))]);
    assert_eq!(store.resource_version(), None, "a snapshot in progress moves nothing");
    let at = |version: &str| Some(version.into());
    feed(&mut part, [Event::SnapshotEnd("10".into())]);
    assert_eq!(store.resource_version(), at("10"));
    feed(&mut part, [Event::modified(thing("a", 11))]);
    assert_eq!(store.resource_version(), at("11"));
    feed(&mut part, [Event::Bookmark("20".into()), Event::Watching("15".into()), Event::Bookmark("".into())]);
    assert_eq!(store.resource_version(), at("20"), "not with Watching, nor with an empty version");
    feed(&mut part, [Event::deleted(thing("a", 12))]);
    assert_eq!(store.resource_version(), at("20"), "an older deletion moves nothing");
    feed(&mut part, listed([], ""));
    assert_eq!(store.resource_version(), None, "a list without a version has none");
}

#[tokio::test(start_paused = true)]
async fn last_heard_moves_with_each_event_but_resync() {
    let store = Store::new();
    let mut part = fold(&store);
    assert_eq!(store.last_heard(), None);
    let second = Duration::from_secs(1);
    tokio::time::advance(second).await;
    feed(&mut part, [Event::SnapshotStart]);
    let first = store.last_heard().unwrap();
    assert_eq!(first, tokio::time::Instant::now());
    for event in [Event::listed(thing("a", 1)), Event::SnapshotEnd("1".into()), Event::Bookmark("2".into())] {
        tokio::time::advance(second).await;
        feed(&mut part, [event]);
        assert_eq!(store.last_heard(), Some(tokio::time::Instant::now()));
    }
    tokio::time::advance(second).await;
    feed(&mut part, [Event::Resync]);
    fail(&mut part, &error(Recovery::Resume, "cut"));
    assert_eq!(store.last_heard(), Some(tokio::time::Instant::now() - second));
}

#[tokio::test(start_paused = true)]
async fn any_number_may_wait_and_each_is_woken() {
    let store = Store::new();
    let mut part = fold(&store);
    let mut waiters: Vec<_> = (0..50).map(|_| task::spawn(store.ready())).collect();
    waiters.iter_mut().for_each(|waiter| assert_pending!(waiter.poll()));
    feed(&mut part, [Event::SnapshotStart, Event::listed(thing("a", 1))]);
    drop(waiters.split_off(25)); // cancelled ones take no wake-up along
    waiters.iter_mut().for_each(|waiter| assert_pending!(waiter.poll()));
    feed(&mut part, [Event::SnapshotEnd("1".into())]);
    for waiter in &mut waiters {
        assert!(waiter.is_woken());
        assert_ready!(waiter.poll()).unwrap();
    }
    assert!(store.ready().now_or_never().unwrap().is_ok(), "and at once afterwards");
}

#[tokio::test(start_paused = true)]
async fn ready_within_says_why_not() {
    let store = Store::new();
    let second = Duration::from_secs(1);
    let text = store.ready_within(second).await.unwrap_err().to_string();
    assert_eq!(text, "the store is not ready after 1s: nothing came yet");
    let mut part = fold(&store);
    fail(&mut part, &error(Recovery::Relist, "refused"));
    feed(&mut part, [Event::SnapshotStart]);
    let error = store.ready_within(second).await.unwrap_err();
    assert_eq!((error.state(), error.last_failure()), (&State::Syncing, Some("the source failed")));
    assert_eq!(
        error.to_string(),
        "the store is not ready after 1s: the first snapshot is not complete; last failure: the source failed"
    );
    assert!(!error.is_closed());
    let said = async |time| store.ready_within(time).await.unwrap_err().to_string();
    assert!(said(Duration::from_nanos(345_678_901)).await.contains("after 345ms:"));
    fail(&mut part, &super::thing::error(Recovery::Relist, "refused"));
    assert!(said(Duration::from_nanos(7_345_678_901)).await.contains("after 7.3s: stale for 7.3s: "));
    feed(&mut part, [Event::SnapshotStart]);
    let waiting = tokio::spawn({
        let store = store.clone();
        async move { store.ready_within(second).await }
    });
    tokio::task::yield_now().await;
    drop(part);
    let error = waiting.await.unwrap().unwrap_err();
    assert!(error.is_closed() && error.to_string().contains("closed before it was ready"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_store_closes_with_its_last_stream_and_opens_with_the_next() {
    let store = Store::new();
    let mut early = task::spawn(store.ready());
    assert_pending!(early.poll(), "before the first stream it is open");
    let part = fold(&store);
    assert_pending!(early.poll());
    drop(part);
    assert!(early.is_woken());
    let closed = assert_ready!(early.poll()).unwrap_err();
    assert_eq!(why(closed.state()), "the stream has ended");
    assert!(store.ready().now_or_never().unwrap().is_err(), "closed");
    let mut part = fold(&store);
    let mut late = task::spawn(store.ready());
    assert_pending!(late.poll(), "open again");
    feed(&mut part, listed([thing("a", 1)], "1"));
    assert!(assert_ready!(late.poll()).is_ok());
    drop(part);
    assert!(store.ready().now_or_never().unwrap().is_ok(), "closed, but complete");
    assert_eq!((why(&store.state()), content(&store)), ("the stream has ended", vec!["a@1".to_string()]));
}

#[tokio::test(start_paused = true)]
async fn a_waiter_that_slept_through_closing_and_opening_fails() {
    let store = Store::new();
    let part = fold(&store);
    let mut waiter = task::spawn(store.ready());
    assert_pending!(waiter.poll());
    drop(part);
    let _part = fold(&store);
    assert!(assert_ready!(waiter.poll()).is_err());
}

#[tokio::test(start_paused = true)]
async fn the_next_stream_takes_the_content_over() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1), thing("b", 2)], "2"));
    drop(part);
    let mut next = fold(&store);
    assert!(store.state().is_stale() && store.len() == 2);
    let told = feed(&mut next, listed([thing("b", 3), thing("a", 1), thing("c", 4)], "4"));
    assert_eq!(
        told,
        ["~b@2>3", "+c@4", "synced 4!"],
        "the differences are news; this stream's first Synced is its initial one"
    );
}

#[tokio::test(start_paused = true)]
async fn states_are_told_once_each_and_the_last_where_they_come_fast() {
    let store = Store::new();
    let mut states = task::spawn(store.states());
    assert_eq!(assert_ready!(states.poll_next()), Some(State::Empty));
    let mut part = fold(&store);
    assert_pending!(states.poll_next(), "opening a part is no new state");
    feed(&mut part, [Event::SnapshotStart]);
    assert!(states.is_woken());
    assert_eq!(assert_ready!(states.poll_next()), Some(State::Syncing));
    feed(&mut part, [Event::SnapshotEnd("1".into())]);
    fail(&mut part, &error(Recovery::Resume, "cut"));
    feed(&mut part, [Event::Watching("1".into())]);
    assert_eq!(assert_ready!(states.poll_next()), Some(State::Live));
    assert_pending!(states.poll_next());
    feed(&mut part, [Event::Bookmark("2".into())]);
    assert_pending!(states.poll_next());
    drop(part);
    assert_eq!(why(&assert_ready!(states.poll_next()).unwrap()), "the stream has ended");
    assert_pending!(states.poll_next(), "the store may open again");
    drop(store);
    assert_eq!(assert_ready!(states.poll_next()), None);
}

#[tokio::test(start_paused = true)]
async fn a_store_of_objects_is_live_and_ready_without_a_stream() {
    let store = Store::of([thing("a", 1), thing("b", 1), thing("a", 2)]);
    assert_eq!(content(&store), ["a@2", "b@1"]);
    assert_eq!((store.state(), store.resource_version()), (State::Live, None));
    store.ready().await.unwrap();
    let mut part = fold(&store);
    assert_eq!(feed(&mut part, listed([thing("b", 1)], "5")), ["-a@2 Missed", "synced 5!"], "a stream takes it over");
}

#[tokio::test(start_paused = true)]
async fn a_store_fed_by_a_watch_alone_is_never_ready() {
    let store = Store::new();
    let mut part = fold(&store);
    assert_eq!(feed(&mut part, [Event::added(thing("a", 1))]), ["+a@1"], "news, not initial");
    assert_eq!(store.state(), State::Live);
    assert!(store.ready_within(Duration::from_secs(1)).await.is_err());
}

#[test]
fn a_panic_of_the_users_code_poisons_nothing() {
    let store = Store::new();
    let mut part = fold(&store);
    let index = store.index("fragile", |thing: &Thing| {
        assert_ne!(thing.label, "bad");
        [thing.label.clone()]
    });
    feed(&mut part, listed([thing("a", 1).label("x")], "1"));
    let before = content(&store);
    let panics =
        |part: &mut _, event| std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| feed(part, [event]))).is_err();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    assert!(panics(&mut part, Event::modified(thing("a", 2).label("bad"))));
    assert_eq!((content(&store), index.count("x")), (before, 1), "the event changed nothing");
    feed(&mut part, [Event::SnapshotStart, Event::listed(thing("b", 3).label("y"))]);
    assert!(panics(&mut part, Event::listed(thing("c", 4).label("bad"))));
    std::panic::set_hook(hook);
    assert!(part.fold(Event::SnapshotEnd("4".into())).unwrap_err().is_grammar(), "the snapshot is void");
    assert_eq!(feed(&mut part, listed([thing("a", 5).label("z")], "5")), ["~a@1>5", "synced 5"]);
    assert_eq!((index.count("x"), index.count("z")), (0, 1));
}

#[test]
fn the_users_code_may_use_the_store_it_is_called_by() {
    let store = Store::new();
    let mut part = store.part("a").into_fold();
    let seen = store.clone();
    let first = std::sync::atomic::AtomicBool::new(true);
    let index = store.index("reentrant", move |thing: &Thing| {
        if first.swap(false, std::sync::atomic::Ordering::Relaxed) {
            let nested = seen.index("nested", |_: &Thing| [0]);
            feed(&mut seen.part("b").into_fold(), [Event::added(super::thing::thing("from-within", 1))]);
            assert_eq!(nested.count(&0), 1);
        }
        [thing.name.clone()]
    });
    feed(&mut part, [Event::added(thing("a", 1))]);
    assert_eq!(content(&store), ["a@1", "from-within@1"]);
    assert_eq!(index.values().len(), 2);
}
