//! One store fed by several streams.

use super::thing::{Thing, content, error, fail, feed, fold, listed, sorted, thing, told_now, unreadable};
use futures::FutureExt;
use listwatch::{Event, Fold, IntoFold, Recovery, State, Store, UnreadableAs, store::StoreFold};

fn part(store: &Store<Thing>, name: &str) -> StoreFold<Thing> {
    store.part(name).into_fold()
}

#[test]
fn a_snapshot_replaces_only_what_its_part_brought() {
    let store = Store::new();
    let (mut a, mut b) = (part(&store, "a"), part(&store, "b"));
    feed(&mut a, listed([thing("a1", 1), thing("a2", 2)], "2"));
    feed(&mut b, listed([thing("b1", 3)], "3"));
    assert_eq!(content(&store), ["a1@1", "a2@2", "b1@3"]);
    assert_eq!(feed(&mut a, listed([thing("a2", 5)], "5")), ["-a1@1 Missed", "~a2@2>5", "synced 5"]);
    assert_eq!(feed(&mut b, listed([], "6")), ["-b1@3 Missed", "synced 6"]);
    assert_eq!(content(&store), ["a2@5"]);
    assert_eq!((store.part("a").len(), store.part("b").len(), store.part("b").is_empty()), (1, 0, true));
}

#[test]
fn a_snapshot_takes_in_what_other_parts_did_meanwhile() {
    let store = Store::new();
    let (mut a, mut b) = (part(&store, "a"), part(&store, "b"));
    feed(&mut b, listed([thing("b1", 1), thing("b2", 1), thing("b3", 1)], "1"));
    feed(&mut a, [Event::SnapshotStart, Event::listed(thing("a1", 2))]);
    feed(&mut b, [Event::deleted(thing("b1", 3)), Event::modified(thing("b2", 4)), Event::added(thing("b4", 5))]);
    let late = store.index("by-name", |thing: &Thing| [thing.name.clone()]);
    assert_eq!(feed(&mut a, [Event::SnapshotEnd("6".into())]), ["+a1@2!", "synced 6!"]);
    assert_eq!(content(&store), ["a1@2", "b2@4", "b3@1", "b4@5"]);
    let mut indexed = late.values();
    indexed.sort();
    assert_eq!(indexed, ["a1", "b2", "b3", "b4"], "and an index that was made meanwhile");
}

#[test]
fn a_key_belongs_to_one_part() {
    let store = Store::new();
    let (mut a, mut b) = (part(&store, "a"), part(&store, "b"));
    feed(&mut a, listed([thing("x", 1)], "1"));
    let refused = b.fold(Event::added(thing("x", 2))).unwrap_err();
    assert_eq!(refused.to_string(), "ns/x is held by the part \"a\" of the store");
    assert_eq!(&*refused.taken_key().unwrap().name, "x");
    feed(&mut b, [Event::SnapshotStart]);
    assert!(b.fold(Event::listed(thing("x", 3))).unwrap_err().taken_key().is_some());
    assert_eq!(feed(&mut b, [Event::SnapshotEnd("3".into())]), ["synced 3!"]);
    assert_eq!(feed(&mut b, [Event::deleted(thing("x", 4))]), [""; 0], "nor is it another part's to delete");
    assert_eq!(content(&store), ["x@1"]);
    feed(&mut a, [Event::deleted(thing("x", 5))]);
    assert_eq!(feed(&mut b, [Event::added(thing("x", 6))]), ["+x@6"], "free again");
}

#[test]
fn of_two_snapshots_that_race_for_a_key_the_first_to_end_has_it() {
    let store = Store::new();
    let (mut a, mut b) = (part(&store, "a"), part(&store, "b"));
    feed(&mut a, [Event::SnapshotStart, Event::listed(thing("x", 1)), Event::listed(thing("a1", 1))]);
    feed(&mut b, [Event::SnapshotStart, Event::listed(thing("x", 2)), Event::SnapshotEnd("2".into())]);
    assert_eq!(feed(&mut a, [Event::SnapshotEnd("3".into())]), ["+a1@1!", "synced 3!"]);
    let refused = a.refused().unwrap();
    assert_eq!(refused.to_string(), "ns/x is held by the part \"b\" of the store");
    assert!(a.refused().is_none() && b.refused().is_none(), "once, and to the one that lost");
    assert_eq!(content(&store), ["a1@1", "x@2"]);
    assert_eq!((store.part("a").len(), store.part("b").len()), (1, 1));
    assert_eq!(store.stats().refused, 1);
    assert_eq!(feed(&mut a, listed([thing("a1", 1)], "4")), ["synced 4"]);
    assert!(a.refused().is_none(), "what is not brought again is not lost again");
}

#[test]
fn a_deletion_within_a_snapshot_counts_although_another_part_took_the_key() {
    let deletions: [fn(&mut StoreFold<Thing>); 2] = [
        |a| assert_eq!(feed(a, [Event::deleted(thing("x", 3))]), [""; 0]),
        |a| assert_eq!(fail(a, &unreadable(UnreadableAs::Deleted, "x", "", "3")), [""; 0]),
    ];
    for delete in deletions {
        let store = Store::new();
        let (mut a, mut b) = (part(&store, "a"), part(&store, "b"));
        feed(&mut a, [Event::SnapshotStart, Event::listed(thing("x", 1))]);
        feed(&mut b, [Event::modified(thing("x", 2))]);
        delete(&mut a);
        assert_eq!(content(&store), ["x@2"], "not its own to delete");
        feed(&mut b, listed([], "4"));
        assert_eq!(feed(&mut a, [Event::SnapshotEnd("5".into())]), ["synced 5!"]);
        assert_eq!(content(&store), [""; 0], "its stream took back what it had listed");
    }
}

#[test]
fn an_unreadable_deletion_ends_the_note_of_an_unreadable_object_although_another_part_took_the_key() {
    let store = Store::new();
    let (mut a, mut b) = (part(&store, "a"), part(&store, "b"));
    fail(&mut a, &unreadable(UnreadableAs::Added, "x", "x", "1"));
    assert_eq!(store.unreadable().len(), 1);
    feed(&mut b, [Event::added(thing("x", 2))]);
    fail(&mut a, &unreadable(UnreadableAs::Deleted, "x", "x", "3"));
    assert_eq!((store.unreadable().len(), content(&store)), (0, vec!["x@2".into()]));
}

#[test]
fn a_second_stream_gets_a_numbered_part() {
    let store = Store::new();
    let (first, mut second) = (part(&store, "a"), part(&store, "a"));
    feed(&mut second, [Event::added(thing("x", 1))]);
    let mut names = store.parts();
    names.sort();
    assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), ["a", "a#2"]);
    drop((first, second));
    let _first = part(&store, "a");
    let mut taken_over = part(&store, "a");
    assert_eq!(feed(&mut taken_over, listed([], "2")), ["-x@1 Missed", "synced 2!"]);
    assert_eq!(store.parts().len(), 2);
}

#[test]
fn removal_takes_the_objects_along() {
    let store = Store::new();
    let (mut a, mut b) = (part(&store, "a"), part(&store, "b"));
    feed(&mut a, listed([thing("a1", 1), thing("a2", 1)], "1"));
    feed(&mut b, listed([thing("b1", 2)], "2"));
    let index = store.index("all", |_: &Thing| [()]);
    let mut changes = store.subscribe();
    told_now(&mut changes);
    store.part("a").remove();
    assert_eq!((content(&store), index.count(&())), (vec!["b1@2".into()], 1));
    assert_eq!(sorted(told_now(&mut changes)), ["-a1@1 Unwatched", "-a2@1 Unwatched"]);
    assert!(a.fold(Event::added(thing("a3", 3))).unwrap_err().is_removed(), "what its stream still brings is refused");
    assert!(a.fold(Event::SnapshotStart).unwrap_err().is_removed());
    assert_eq!(fail(&mut a, &error(Recovery::Relist, "cut")), [""; 0]);
    let mut again = part(&store, "a");
    feed(&mut again, listed([thing("a4", 4)], "4"));
    drop(a);
    assert_eq!(content(&store), ["a4@4", "b1@2"], "the end of the old stream is no concern of the new part");
    assert!(store.part("a").is_in_use());
    store.part("unknown").remove();
    drop(b);
}

#[test]
fn the_last_part_leaves_nothing_behind() {
    let store = Store::new();
    let mut a = part(&store, "a");
    let index = store.index("all", |_: &Thing| [()]);
    feed(&mut a, listed((0..500).map(|i| thing(&i.to_string(), i)), "1"));
    assert_eq!(index.count(&()), 500);
    store.part("a").remove();
    assert_eq!((store.len(), store.parts().len(), index.values().len()), (0, 0, 0));
    assert_eq!(store.state(), State::Empty);
}

#[test]
fn remove_on_end() {
    let store = Store::new();
    let mut kept = part(&store, "kept");
    let mut a = store.part("a").remove_on_end().into_fold();
    feed(&mut kept, listed([thing("k", 1)], "1"));
    feed(&mut a, listed([thing("x", 1)], "1"));
    let mut changes = store.subscribe();
    told_now(&mut changes);
    drop(a);
    assert_eq!(told_now(&mut changes), ["-x@1 Unwatched"]);
    assert_eq!((content(&store), store.parts().len()), (vec!["k@1".into()], 1));
}

#[test]
fn readiness_version_and_state_are_over_the_parts_in_use() {
    let store = Store::new();
    let ready = |store: &Store<Thing>| store.ready().now_or_never().is_some_and(|ready| ready.is_ok());
    let (mut a, mut b) = (part(&store, "a"), part(&store, "b"));
    feed(&mut a, listed([], "10"));
    assert!(!ready(&store), "b is not complete");
    assert_eq!((store.state(), store.resource_version()), (State::Live, None));
    feed(&mut b, [Event::SnapshotStart]);
    assert_eq!(store.state(), State::Syncing);
    feed(&mut b, [Event::SnapshotEnd("9".into())]);
    assert!(ready(&store));
    assert_eq!((store.state(), store.resource_version()), (State::Live, Some("9".into())));
    feed(&mut b, [Event::Bookmark("12".into())]);
    assert_eq!(store.resource_version(), Some("10".into()), "the lowest");
    fail(&mut a, &error(Recovery::Resume, "cut"));
    assert!(store.state().is_stale() && store.part("b").state() == State::Live);
    feed(&mut b, [Event::Bookmark("opaque".into())]);
    assert_eq!(store.resource_version(), None, "not comparable");
    drop(b);
    assert_eq!(store.resource_version(), Some("10".into()), "of those in use");
    let _c = part(&store, "c");
    assert!(!ready(&store), "a new part is not complete");
}

#[test]
fn it_is_told_per_part_and_resynced_per_part() {
    let store = Store::new();
    let (mut a, mut b) = (fold(&store), part(&store, "b"));
    feed(&mut a, listed([thing("a1", 1)], "1"));
    feed(&mut b, listed([thing("b1", 1)], "1"));
    assert_eq!(feed(&mut a, [Event::Resync]), ["=a1@1"]);
    assert_eq!(feed(&mut b, [Event::Resync]), ["=b1@1"]);
    assert_eq!(store.part("").len(), 1, "the unnamed one");
}
