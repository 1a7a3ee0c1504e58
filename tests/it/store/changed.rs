//! "Something changed, look at everything, once."

use super::thing::{Thing, error, fail, feed, fold, listed, thing};
use futures::{FutureExt, StreamExt};
use listwatch::{Event, Recovery, Store, store::changed};
use std::time::Duration;
use tokio::time::{Instant, advance};
use tokio_test::{assert_pending, assert_ready, task};

#[test]
fn it_wakes_for_content_and_snapshots_only() {
    let store = Store::<Thing>::new();
    let mut changed = task::spawn(store.changed());
    assert_pending!(changed.poll_next());
    let mut part = fold(&store);
    feed(&mut part, [Event::SnapshotStart, Event::listed(thing("a", 1))]);
    assert_pending!(changed.poll_next(), "not while a snapshot comes in");
    feed(&mut part, [Event::SnapshotEnd("1".into())]);
    assert!(changed.is_woken());
    assert_eq!(assert_ready!(changed.poll_next()), Some(()));
    assert_pending!(changed.poll_next());
    feed(
        &mut part,
        [Event::Bookmark("2".into()), Event::Watching("2".into()), Event::Resync, Event::modified(thing("a", 1))],
    );
    fail(&mut part, &error(Recovery::Resume, "cut"));
    assert_pending!(changed.poll_next(), "not for these");
    feed(&mut part, listed([thing("a", 1)], "3"));
    assert_eq!(assert_ready!(changed.poll_next()), Some(()), "a snapshot without differences");
    feed(&mut part, [Event::added(thing("b", 4)), Event::deleted(thing("a", 5))]);
    assert_eq!(assert_ready!(changed.poll_next()), Some(()));
    assert_pending!(changed.poll_next(), "both were one");
    drop(part);
    assert_eq!(assert_ready!(changed.poll_next()), None, "closed");
}

#[tokio::test(start_paused = true)]
async fn over_several_stores_of_different_types_settled() {
    let (things, raws) = (Store::<Thing>::new(), Store::<listwatch::Raw>::new());
    let (min, max) = (Duration::from_millis(100), Duration::from_millis(250));
    let mut settled = task::spawn(changed([&things, &raws]).settle(min, max));
    assert_pending!(settled.poll_next());
    let mut part = fold(&things);
    let raw = listwatch::IntoFold::into_fold(&raws);
    feed(&mut part, [Event::added(thing("a", 1))]);
    assert_pending!(settled.poll_next());
    advance(Duration::from_millis(90)).await;
    feed(&mut part, [Event::added(thing("b", 2))]);
    assert_pending!(settled.poll_next(), "not quiet for 100 ms");
    advance(Duration::from_millis(90)).await;
    assert_pending!(settled.poll_next());
    advance(Duration::from_millis(11)).await;
    assert!(settled.is_woken());
    assert_eq!(assert_ready!(settled.poll_next()), Some(()));
    assert_pending!(settled.poll_next());
    let start = Instant::now();
    for i in 0..10 {
        feed(&mut part, [Event::modified(thing("a", 10 + i))]);
        if let Some(told) = settled.next().now_or_never() {
            assert_eq!(told, Some(()));
            break;
        }
        advance(Duration::from_millis(50)).await;
    }
    let waited = start.elapsed();
    assert!(waited >= max && waited < max + Duration::from_millis(51), "never quiet: after {waited:?}");
    drop(part);
    assert_pending!(settled.poll_next(), "the other store is open");
    drop(raw);
    assert_eq!(assert_ready!(settled.poll_next()), None);
}
