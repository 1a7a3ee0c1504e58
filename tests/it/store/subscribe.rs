//! Subscriptions: a cursor each, at any pace.

use super::thing::{Thing, brief, content, error, fail, feed, fold, listed, sorted, thing, told_now, unreadable};
use futures::StreamExt;
use listwatch::{Event, IntoFold, Recovery, Store, UnreadableAs, store::Noted};
use std::{sync::Arc, time::Duration};
use tokio_test::{assert_pending, assert_ready, task};

#[test]
fn nothing_until_ready_then_content_then_synced_then_changes() {
    let store = Store::new();
    let mut changes = task::spawn(store.subscribe());
    assert_pending!(changes.poll_next());
    let mut part = fold(&store);
    feed(&mut part, [Event::SnapshotStart, Event::listed(thing("a", 1))]);
    assert_pending!(changes.poll_next());
    feed(&mut part, [Event::SnapshotEnd("3".into())]);
    assert!(changes.is_woken());
    assert_eq!(told_now(&mut *changes), ["+a@1!", "synced 3!"]);
    feed(&mut part, [Event::added(thing("b", 4))]);
    assert!(changes.is_woken());
    assert_eq!(told_now(&mut *changes), ["+b@4"]);
    feed(&mut part, [Event::Bookmark("5".into())]);
    assert_eq!(told_now(&mut *changes), ["bookmark 5"]);
    feed(&mut part, [Event::deleted(thing("b", 6))]);
    assert_eq!(told_now(&mut *changes), ["-b@6 Observed"], "in pace: the writer's own change");
    assert_eq!(told_now(&mut store.subscribe()), ["+a@1!", "synced 6!"], "one that begins late");
}

#[test]
fn in_pace_a_snapshot_is_told_as_the_writer_tells_it() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed((0..50).map(|i| thing(&i.to_string(), 1)), "1"));
    let mut changes = store.subscribe();
    told_now(&mut changes);
    let mut events = vec![Event::SnapshotStart, Event::deleted(thing("7", 2))];
    events.extend((10..60).rev().map(|i| Event::listed(thing(&i.to_string(), 3))));
    events.push(Event::SnapshotEnd("3".into()));
    let writer = feed(&mut part, events);
    let told = told_now(&mut changes);
    assert_eq!(told.iter().map(|change| change.trim_end_matches('!')).collect::<Vec<_>>(), writer, "order and reasons");
}

#[test]
fn behind_it_is_told_the_difference_to_what_it_saw() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1), thing("b", 1), thing("c", 1)], "1"));
    let mut changes = store.subscribe();
    told_now(&mut changes);
    for version in 2..100 {
        feed(
            &mut part,
            [
                Event::modified(thing("a", version)),
                Event::added(thing("brief", version)),
                Event::deleted(thing("brief", version)),
            ],
        );
    }
    feed(
        &mut part,
        [Event::deleted(thing("b", 100)), Event::modified(thing("c", 101).uid("new")), Event::added(thing("d", 102))],
    );
    let told = told_now(&mut changes);
    assert_eq!(told[0], "-b@1 Missed", "deletions first; last is what it saw");
    assert_eq!(sorted(told[1..].to_vec()), ["+c@101", "+d@102", "-c@1 Replaced", "~a@1>99"], "one change for each key");
    let replaced = told.iter().position(|change| change.starts_with("-c")).unwrap();
    assert_eq!(told[replaced + 1], "+c@101");
    feed(&mut part, listed([thing("d", 102)], "103"));
    feed(&mut part, [Event::Bookmark("104".into())]);
    assert_eq!(
        sorted(told_now(&mut changes)),
        ["-a@99 Missed", "-c@101 Missed", "synced 104"],
        "a snapshot among it: Synced"
    );
}

#[test]
fn it_tells_the_rest_and_ends_when_the_store_closes() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1)], "1"));
    let mut changes = task::spawn(store.subscribe());
    told_now(&mut *changes);
    assert_pending!(changes.poll_next());
    feed(&mut part, [Event::modified(thing("a", 2)), Event::added(thing("b", 3))]);
    drop(part);
    assert!(changes.is_woken());
    let _next = fold(&store);
    assert_eq!(sorted(told_now(&mut *changes)), ["+b@3", "~a@1>2"]);
    assert_eq!(assert_ready!(changes.poll_next()), None, "though the store has opened again meanwhile");
    assert_eq!(assert_ready!(changes.poll_next()), None);
    drop(_next);
    assert_eq!(
        sorted(told_now(&mut store.subscribe())),
        ["+a@2!", "+b@3!", "synced 3!"],
        "a closed store has its content"
    );
}

#[test]
fn one_of_a_store_that_never_got_ready_ends_without_a_word() {
    let store = Store::<Thing>::new();
    let part = fold(&store);
    let mut changes = task::spawn(store.subscribe());
    assert_pending!(changes.poll_next());
    drop(part);
    assert_eq!(assert_ready!(changes.poll_next()), None);
}

#[test]
fn a_stuck_one_keeps_only_what_was_replaced_of_its_state() {
    let store = Store::new();
    let mut part = fold(&store);
    let first = Arc::new(thing("a", 1));
    feed(&mut part, [Event::Added(Arc::clone(&first))]);
    feed(&mut part, listed([thing("a", 1)], "1"));
    let mut stuck = store.subscribe();
    told_now(&mut stuck);
    let passing = Arc::new(thing("a", 2));
    feed(&mut part, [Event::Modified(Arc::clone(&passing))]);
    feed(&mut part, [Event::modified(thing("a", 3)), Event::Bookmark("4".into())]);
    assert_eq!(Arc::strong_count(&passing), 1, "nothing is queued");
    assert_eq!(Arc::strong_count(&first), 2, "of its own state");
    drop(stuck);
    assert_eq!(Arc::strong_count(&first), 1);
}

#[test]
fn without_old_keeps_no_replaced_object() {
    let store = Store::new();
    let mut part = fold(&store);
    let first = Arc::new(thing("a", 1));
    feed(
        &mut part,
        [
            Event::SnapshotStart,
            Event::Listed(Arc::clone(&first)),
            Event::listed(thing("b", 1)),
            Event::SnapshotEnd("1".into()),
        ],
    );
    let mut noting = task::spawn(store.subscribe().without_old());
    let mut told = Vec::new();
    while let std::task::Poll::Ready(Some(noted)) = noting.poll_next() {
        told.push(noted);
    }
    assert!(matches!(
        &told[..],
        [Noted::Added { initial: true, .. }, Noted::Added { .. }, Noted::Synced { initial: true, .. }]
    ));
    drop(told);
    feed(
        &mut part,
        [
            Event::modified(thing("a", 2)),
            Event::modified(thing("a", 3)),
            Event::deleted(thing("b", 4)),
            Event::added(thing("c", 5)),
        ],
    );
    assert_eq!(Arc::strong_count(&first), 1, "though it is behind");
    let Some(Noted::Deleted { last, .. }) = assert_ready!(noting.poll_next()) else { panic!("deletions first") };
    assert_eq!(&*last.name, "b");
    let mut rest = [assert_ready!(noting.poll_next()).unwrap(), assert_ready!(noting.poll_next()).unwrap()];
    rest.sort_by_key(|noted| matches!(noted, Noted::Added { .. }));
    assert!(matches!(&rest[0], Noted::Updated { old, new } if old.resource_version == "1" && new.version == "3"));
    feed(&mut part, [Event::modified(thing("c", 6).uid("new"))]);
    drop(part);
    assert!(matches!(assert_ready!(noting.poll_next()), Some(Noted::Deleted { .. })));
    assert!(matches!(assert_ready!(noting.poll_next()), Some(Noted::Added { .. })));
    assert!(assert_ready!(noting.poll_next()).is_none());
}

#[tokio::test(start_paused = true)]
async fn its_resync_is_its_own() {
    let store = Store::of([thing("a", 1), thing("b", 1)]);
    let mut changes = store.subscribe().resync(Duration::from_secs(10));
    let mut other = store.subscribe();
    assert_eq!(changes.by_ref().take(3).count().await, 3);
    told_now(&mut other);
    let start = tokio::time::Instant::now();
    let replayed: Vec<_> = changes.by_ref().take(2).map(|change| brief(&change)).collect().await;
    assert_eq!((sorted(replayed), start.elapsed()), (vec!["=a@1".into(), "=b@1".into()], Duration::from_secs(10)));
    assert!(told_now(&mut other).is_empty());
    let mut part = fold(&store);
    feed(&mut part, [Event::modified(thing("a", 2))]);
    assert_eq!(told_now(&mut changes), ["~a@1>2"]);
    let replayed: Vec<_> = changes.take(2).map(|change| brief(&change)).collect().await;
    assert_eq!((sorted(replayed), start.elapsed()), (vec!["=a@2".into(), "=b@1".into()], Duration::from_secs(20)));
}

#[test]
fn filtered_objects_come_and_go_as_they_match() {
    let store = Store::of([thing("a", 1).label("x"), thing("b", 1)]);
    let index = store.index("label", |thing: &Thing| [thing.label.clone()]);
    let mut subscriptions = [store.subscribe_filtered(|thing| thing.label == "x"), index.subscribe("x".into())];
    let mut part = fold(&store);
    let steps: [(Event<Thing>, &[&str]); 8] = [
        (Event::modified(thing("b", 2).label("x")), &["+b@2"]),
        (Event::modified(thing("b", 3).label("x")), &["~b@2>3"]),
        (Event::modified(thing("b", 4)), &["-b@4 Observed"]),
        (Event::modified(thing("b", 5)), &[]),
        (Event::deleted(thing("b", 6).label("x")), &[]),
        (Event::modified(thing("a", 7).uid("new").label("x")), &["-a@1 Replaced", "+a@7"]),
        (Event::deleted(thing("a", 8)), &["-a@8 Observed"]),
        (Event::Bookmark("9".into()), &["bookmark 9"]),
    ];
    for changes in &mut subscriptions {
        assert_eq!(told_now(changes), ["+a@1!", "synced !"]);
    }
    for (event, expected) in steps {
        feed(&mut part, [event]);
        for changes in &mut subscriptions {
            assert_eq!(told_now(changes), expected);
        }
    }
    feed(&mut part, [Event::added(thing("c", 10).label("x")), Event::added(thing("d", 11).label("x"))]);
    subscriptions.iter_mut().for_each(|changes| drop(told_now(changes)));
    feed(
        &mut part,
        [Event::modified(thing("c", 12)), Event::deleted(thing("d", 13)), Event::added(thing("e", 14).label("x"))],
    );
    for changes in &mut subscriptions {
        let told = told_now(changes);
        assert_eq!(sorted(told[..2].to_vec()), ["-c@12 Observed", "-d@11 Missed"], "behind, likewise");
        assert_eq!(told[2..], ["+e@14"]);
    }
}

#[test]
fn synced_is_told_when_the_store_is_complete_not_a_part() {
    let store = Store::new();
    let (mut a, mut b) = (store.part("a").into_fold(), store.part("b").into_fold());
    let mut changes = store.subscribe();
    feed(&mut a, listed([thing("x", 1)], "5"));
    assert!(told_now(&mut changes).is_empty());
    feed(&mut b, listed([], "3"));
    assert_eq!(told_now(&mut changes), ["+x@1!", "synced 3!"], "at the lowest version");
    let mut c = store.part("c").into_fold();
    feed(&mut a, listed([thing("x", 1)], "6"));
    assert!(told_now(&mut changes).is_empty(), "c is not complete");
    feed(&mut c, listed([thing("y", 2)], "7"));
    assert_eq!(told_now(&mut changes), ["+y@2", "synced 3"]);
}

#[test]
fn failures_and_unreadable_objects_reach_it_only_as_what_they_changed() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1)], "1"));
    let mut changes = store.subscribe();
    told_now(&mut changes);
    fail(&mut part, &error(Recovery::Relist, "cut"));
    fail(&mut part, &unreadable(UnreadableAs::Modified, "a", "a-1", "2"));
    assert!(told_now(&mut changes).is_empty());
    fail(&mut part, &unreadable(UnreadableAs::Deleted, "a", "a-1", "3"));
    assert_eq!(told_now(&mut changes), ["-a@1 Observed"]);
    assert!(content(&store).is_empty());
}
