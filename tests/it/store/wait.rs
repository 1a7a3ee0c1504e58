//! Waiting for versions, objects and predicates.

use super::thing::{Thing, feed, fold, listed, thing};
use futures::FutureExt;
use listwatch::{Event, IntoFold, Store, store::WaitError};
use tokio_test::{assert_pending, assert_ready, task};

#[test]
fn a_version_is_waited_for() {
    let store = Store::new();
    let mut part = fold(&store);
    let mut waiters: Vec<_> = (0..20).map(|_| task::spawn(store.wait_for("30"))).collect();
    waiters.iter_mut().for_each(|waiter| assert_pending!(waiter.poll()));
    feed(&mut part, listed([thing("a", 9)], "9"));
    feed(&mut part, [Event::modified(thing("a", 29))]);
    waiters.iter_mut().for_each(|waiter| assert_pending!(waiter.poll()));
    feed(&mut part, [Event::Bookmark("100".into())]);
    for waiter in &mut waiters {
        assert!(waiter.is_woken());
        assert_eq!(assert_ready!(waiter.poll()), Ok(()));
    }
    assert_eq!(store.wait_for("99").now_or_never(), Some(Ok(())));
}

#[test]
fn each_part_in_use_must_reach_it() {
    let store = Store::<Thing>::new();
    let (mut a, mut b) = (store.part("a").into_fold(), store.part("b").into_fold());
    feed(&mut a, listed([], "30"));
    let mut waiter = task::spawn(store.wait_for("30"));
    assert_pending!(waiter.poll());
    feed(&mut b, listed([], "29"));
    assert_pending!(waiter.poll());
    feed(&mut b, [Event::Bookmark("30".into())]);
    assert_eq!(assert_ready!(waiter.poll()), Ok(()));
}

#[test]
fn it_fails_where_the_version_may_never_come() {
    let store = Store::<Thing>::new();
    let mut part = fold(&store);
    feed(&mut part, listed([], "50"));
    let mut waiter = task::spawn(store.wait_for("60"));
    assert_pending!(waiter.poll());
    feed(&mut part, listed([], "7"));
    let rewound = assert_ready!(waiter.poll()).unwrap_err();
    assert!(matches!(rewound, WaitError::Rewound(_)));
    assert_eq!(rewound.to_string(), "the store went back to version \"7\" while \"60\" was waited for");
    let mut later = task::spawn(store.wait_for("60"));
    assert_pending!(later.poll(), "one that began afterwards waits");
    feed(&mut part, listed([], "6"));
    feed(&mut part, [Event::Bookmark("61".into())]);
    assert_eq!(assert_ready!(later.poll()), Ok(()), "reached, all the same");

    let incomparable = store.wait_for("etag").now_or_never().unwrap().unwrap_err();
    assert!(matches!(incomparable, WaitError::NotComparable(_)), "{incomparable}");

    let mut waiter = task::spawn(store.wait_for("1000"));
    assert_pending!(waiter.poll());
    drop(part);
    assert!(matches!(assert_ready!(waiter.poll()), Err(WaitError::Closed(_))));
    assert_eq!(store.wait_for("61").now_or_never(), Some(Ok(())), "what a closed store has reached it has reached");
}

#[test]
fn one_object_is_waited_for_without_a_bookmark() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 5), thing("gone", 5)], "5"));
    let mut waiter = task::spawn(store.wait_for_object(("ns", "a"), "7"));
    assert_pending!(waiter.poll());
    feed(&mut part, [Event::modified(thing("a", 6))]);
    assert_pending!(waiter.poll());
    feed(&mut part, [Event::modified(thing("a", 8))]);
    assert_eq!(assert_ready!(waiter.poll()).unwrap().unwrap().version, "8");
    let mut waiter = task::spawn(store.wait_for_object(("ns", "gone"), "9"));
    assert_pending!(waiter.poll());
    feed(&mut part, [Event::deleted(thing("gone", 10))]);
    assert_eq!(assert_ready!(waiter.poll()), Ok(None), "deleted since");
    let mut unmatched = task::spawn(store.wait_for_object(("ns", "elsewhere"), "12"));
    assert_pending!(unmatched.poll());
    feed(&mut part, [Event::Bookmark("12".into())]);
    assert_eq!(assert_ready!(unmatched.poll()), Ok(None));
}

#[test]
fn a_predicate_sees_snapshots_and_may_use_the_store() {
    let store = Store::new();
    let mut part = fold(&store);
    let seen = store.clone();
    let mut waiter = task::spawn(store.wait_until(move |snapshot| {
        assert_eq!(seen.len(), snapshot.len());
        snapshot.len() == 2
    }));
    assert_pending!(waiter.poll());
    feed(&mut part, [Event::added(thing("a", 1))]);
    assert_pending!(waiter.poll());
    feed(&mut part, [Event::added(thing("b", 2))]);
    assert!(assert_ready!(waiter.poll()).unwrap().contains(("ns", "b")));
    let mut waiter = task::spawn(store.wait_until(|_| false));
    assert_pending!(waiter.poll());
    drop(part);
    assert!(assert_ready!(waiter.poll()).unwrap_err().to_string().contains("the stream has ended"));
}
