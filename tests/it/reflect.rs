use futures::{FutureExt, Stream, StreamExt, TryStreamExt, channel::mpsc, stream, stream::FusedStream};
use listwatch::{Error, Event, EventStreamExt, Fold, Object, Raw, Recover, Recovery, Store, testing};
use std::{cell::Cell, panic::AssertUnwindSafe, rc::Rc};
use tokio_test::{assert_pending, assert_ready, task};

/// Says what it was told. Its changes of an event are the event's name, as often as the object's name is long.
struct Told {
    dropped: Rc<Cell<bool>>,
}

impl Drop for Told {
    fn drop(&mut self) {
        self.dropped.set(true);
    }
}

impl Fold<Raw> for Told {
    type Changes = Vec<String>;
    type Error = String;
    fn fold(&mut self, event: Event<Raw>) -> Result<Vec<String>, String> {
        let name = event.object().map_or("", |object| object.identity().name);
        match name {
            "refused" => Err("refused".into()),
            "panic" => panic!("the user's code"),
            _ => Ok(vec![event.name().to_owned(); name.len()]),
        }
    }
    fn failed(&mut self, error: &dyn Recover) -> Option<Vec<String>> {
        (error.recovery() == Recovery::Relist).then(|| vec!["failed".into(); 2])
    }
}

/// Takes every event, and says how many of an object's letters it left out.
struct Late(usize);

impl Fold<Raw> for Late {
    type Changes = Option<String>;
    type Error = String;
    fn fold(&mut self, event: Event<Raw>) -> Result<Option<String>, String> {
        self.0 = event.object().map_or(0, |object| object.identity().name.len());
        Ok(Some(event.name().into()))
    }
    fn refused(&mut self) -> Option<String> {
        self.0 = self.0.checked_sub(1)?;
        Some(format!("{} left", self.0))
    }
}

#[tokio::test]
async fn what_an_event_left_out_comes_after_its_changes_each_as_an_item() {
    let script = testing::script().added(testing::raw("ab", "1")).bookmark("2").added(testing::raw("c", "3"));
    let items = |item: Result<String, Error>| {
        item.unwrap_or_else(|error| {
            assert!(error.is_refused() && error.recovery() == Recovery::Skip);
            std::error::Error::source(&error).unwrap().to_string()
        })
    };
    let out: Vec<_> = script.reflect(&mut Late(0)).map(items).collect().await;
    assert_eq!(out, ["added", "1 left", "0 left", "bookmark", "added", "0 left"]);
}

fn told() -> (Told, Rc<Cell<bool>>) {
    let dropped = Rc::new(Cell::new(false));
    (Told { dropped: Rc::clone(&dropped) }, dropped)
}

#[tokio::test]
async fn yields_each_events_changes_in_order_and_nothing_for_the_rest() {
    let (fold, dropped) = told();
    let script = testing::script()
        .snapshot([testing::raw("xx", "1")], "1")
        .added(testing::raw("yyy", "2"))
        .bookmark("3")
        .deleted(testing::raw("z", "4"));
    let mut changes = script.reflect(fold);
    let told: Vec<_> = changes.by_ref().map_ok(|change| change).try_collect().await.unwrap();
    assert_eq!(told, ["listed", "listed", "added", "added", "added", "deleted"]);
    assert!(dropped.get() && changes.is_terminated(), "the fold goes with the end of its stream");
    assert!(changes.next().await.is_none());
}

#[tokio::test]
async fn an_error_comes_first_and_then_what_it_led_to() {
    let (fold, _) = told();
    let script = testing::script::<Raw>().error(Error::interrupted("cut")).error(Error::other("gone")).bookmark("1");
    let out: Vec<_> = script.reflect(fold).map(|item| item.map_err(|error| error.recovery())).collect().await;
    let failed = || Ok("failed".to_owned());
    assert_eq!(out, [Err(Recovery::Resume), Err(Recovery::Relist), failed(), failed()]);
}

#[tokio::test]
async fn a_folds_error_is_one_skip_item_and_the_stream_goes_on() {
    let (fold, _) = told();
    let script = testing::script().added(testing::raw("refused", "1")).added(testing::raw("a", "2"));
    let out: Vec<_> = script.reflect(fold).collect().await;
    let [Err(error), Ok(added)] = &out[..] else { panic!("{out:?}") };
    assert_eq!((error.recovery(), error.is_refused(), added.as_str()), (Recovery::Skip, true, "added"));
    assert_eq!(std::error::Error::source(error).unwrap().to_string(), "refused");
}

#[tokio::test]
async fn nothing_is_read_while_changes_are_left() {
    let (mut feed, events) = mpsc::channel::<Result<Event<Raw>, Error>>(8);
    let (fold, dropped) = told();
    let mut changes = task::spawn(events.reflect(fold));
    assert_pending!(changes.poll_next());
    feed.try_send(Ok(Event::added(testing::raw("xx", "1")))).unwrap();
    feed.try_send(Ok(Event::added(testing::raw("refused", "2")))).unwrap();
    assert!(changes.is_woken());
    assert!(assert_ready!(changes.poll_next()).unwrap().is_ok());
    assert!(changes.size_hint().0 == 1 && !dropped.get());
    assert!(assert_ready!(changes.poll_next()).unwrap().is_ok());
    assert!(assert_ready!(changes.poll_next()).unwrap().is_err());
    assert_pending!(changes.poll_next());
    drop(feed);
    assert!(changes.is_woken());
    assert!(assert_ready!(changes.poll_next()).is_none());
}

#[tokio::test]
async fn what_a_dropped_stream_has_not_told_is_in_the_store_and_not_told_again() {
    let store = Store::<Raw>::new();
    let snapshot = || testing::script().snapshot([testing::raw("a", "1"), testing::raw("b", "1")], "1");
    let mut changes = snapshot().reflect(&store);
    assert_eq!(changes.next().await.map(|change| change.map(|change| change.name()).unwrap()), Some("added"));
    drop(changes);
    assert_eq!(store.len(), 2);
    let told: Vec<_> = snapshot().reflect(&store).map_ok(|change| change.name()).try_collect().await.unwrap();
    assert_eq!(told, ["synced"]);
}

#[tokio::test]
async fn events_without_changes_do_not_hold_the_task() {
    let (fold, _) = told();
    let bookmarks =
        stream::iter((0..1000).map(|n: u32| Ok::<_, Error>(Event::Bookmark(n.to_string().as_str().into()))));
    let mut changes = task::spawn(bookmarks.reflect(fold));
    let mut polls = 0;
    while changes.poll_next().is_pending() {
        assert!(changes.is_woken(), "whoever lets go asks to be polled again");
        polls += 1;
    }
    assert!((2..1000).contains(&polls), "{polls}");
}

#[tokio::test]
async fn a_panic_in_the_fold_ends_the_stream_and_drops_the_fold() {
    let (fold, dropped) = told();
    let script = stream::iter([testing::raw("a", "1"), testing::raw("panic", "2"), testing::raw("b", "3")]);
    let mut changes = script.map(|object| Ok::<_, Error>(Event::added(object))).reflect(fold);
    assert!(changes.next().await.unwrap().is_ok());
    assert!(AssertUnwindSafe(changes.next()).catch_unwind().await.is_err(), "it goes out of the poll");
    assert!(dropped.get() && changes.is_terminated());
    assert!(changes.next().await.is_none());
}

#[tokio::test]
async fn a_panic_below_ends_it_too() {
    let (fold, dropped) = told();
    let panics = stream::poll_fn(|_| -> std::task::Poll<Option<Result<Event<Raw>, Error>>> { panic!("below") });
    let mut changes = panics.reflect(fold);
    assert!(AssertUnwindSafe(changes.next()).catch_unwind().await.is_err());
    assert!(dropped.get() && changes.next().await.is_none());
}

#[tokio::test]
async fn takes_a_fold_by_reference_and_any_error_that_recovers() {
    struct Mine(bool);
    impl std::fmt::Display for Mine {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("mine")
        }
    }
    impl Recover for Mine {}
    impl From<Error> for Mine {
        fn from(error: Error) -> Self {
            Mine(error.is_refused())
        }
    }
    let (mut fold, dropped) = told();
    let script = [Err(Mine(false)), Ok(Event::added(testing::raw("refused", "1")))];
    let out: Vec<_> = stream::iter(script).reflect(&mut fold).collect().await;
    assert!(matches!(&out[..], [Err(Mine(false)), Err(Mine(true))]));
    let script = [Err("cut".to_owned()), Ok(Event::added(testing::raw("a", "1")))];
    assert_eq!(stream::iter(script).reflect(&mut fold).count().await, 2);
    assert!(!dropped.get());
}

#[test]
fn accessors_reach_the_stream_below_and_debug_shows_no_fold() {
    let (fold, dropped) = told();
    let mut changes = testing::events([Event::added(testing::raw("a", "1")), Event::Resync]).reflect(fold);
    assert_eq!(changes.get_ref().size_hint().0, 2);
    assert!(changes.get_mut().next().now_or_never().is_some());
    assert!(std::pin::Pin::new(&mut changes).get_pin_mut().next().now_or_never().is_some());
    assert!(format!("{changes:?}").starts_with("Reflect { stream: Iter"));
    assert_eq!(changes.into_inner().size_hint(), (0, Some(0)));
    assert!(dropped.get());
}
