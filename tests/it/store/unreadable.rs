//! Objects that do not decode: what a store keeps, deletes and lists of them.

use super::thing::{content, fail, feed, fold, listed, thing, unreadable};
use listwatch::{Event, Store, UnreadableAs as As};

fn names(store: &Store<super::thing::Thing>) -> Vec<String> {
    let mut names: Vec<_> = store.unreadable().into_iter().map(|object| object.name.to_string()).collect();
    names.sort();
    names
}

#[test]
fn a_deletion_removes_the_key_all_the_same() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1)], "1"));
    assert_eq!(
        fail(&mut part, &unreadable(As::Deleted, "a", "", "5")),
        ["-a@1 Observed"],
        "the held one, as no other is known"
    );
    assert_eq!(fail(&mut part, &unreadable(As::Deleted, "a", "", "6")), [""; 0]);
    assert!(store.is_empty());
    assert_eq!(store.resource_version(), Some("6".into()), "the position moves on");
}

#[test]
fn the_last_good_value_stays_until_a_readable_version_comes() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1)], "1"));
    assert_eq!(fail(&mut part, &unreadable(As::Modified, "a", "a-1", "5")), [""; 0]);
    assert_eq!((content(&store), names(&store)), (vec!["a@1".into()], vec!["a".into()]));
    assert_eq!(store.resource_version(), Some("5".into()));
    assert_eq!(feed(&mut part, [Event::modified(thing("a", 6))]), ["~a@1>6"]);
    assert!(store.unreadable().is_empty());
    fail(&mut part, &unreadable(As::Added, "b", "b-1", "7"));
    assert_eq!(names(&store), ["b"], "listed, though nothing is held");
    assert_eq!(feed(&mut part, [Event::deleted(thing("b", 8))]), [""; 0]);
    assert!(store.unreadable().is_empty(), "or until a deletion");
}

#[test]
fn another_uid_deletes_the_held_one() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1), thing("b", 1)], "1"));
    assert_eq!(fail(&mut part, &unreadable(As::Added, "a", "new", "5")), ["-a@1 Replaced"]);
    assert_eq!(names(&store), ["a"]);
    feed(&mut part, [Event::SnapshotStart]);
    fail(&mut part, &unreadable(As::Listed, "b", "new", "6"));
    assert_eq!(feed(&mut part, [Event::SnapshotEnd("6".into())]), ["-b@1 Replaced", "synced 6"], "also in a snapshot");
    assert_eq!(names(&store), ["b"], "which does not list a");
}

#[test]
fn a_snapshot_keeps_what_it_lists_and_deletes_what_it_does_not() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1), thing("b", 2)], "2"));
    fail(&mut part, &unreadable(As::Modified, "b", "b-1", "3"));
    feed(&mut part, [Event::SnapshotStart]);
    fail(&mut part, &unreadable(As::Listed, "a", "a-1", "4"));
    assert_eq!(names(&store), ["b"], "until the swap");
    assert_eq!(feed(&mut part, [Event::SnapshotEnd("5".into())]), ["-b@2 Missed", "synced 5"]);
    assert_eq!((content(&store), names(&store)), (vec!["a@1".into()], vec!["a".into()]));
    assert_eq!(
        feed(&mut part, listed([thing("a", 1)], "6")),
        ["synced 6"],
        "readable again at the version that is held"
    );
    assert!(store.unreadable().is_empty());
}

#[test]
fn within_a_watch_list_snapshot() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1), thing("b", 1)], "2"));
    feed(
        &mut part,
        [
            Event::SnapshotStart,
            Event::listed(thing("a", 1)),
            Event::listed(thing("b", 3)),
            Event::listed(thing("n", 4)),
        ],
    );
    fail(&mut part, &unreadable(As::Deleted, "a", "", "5"));
    fail(&mut part, &unreadable(As::Deleted, "n", "n-1", "6"));
    fail(&mut part, &unreadable(As::Modified, "b", "b-1", "7"));
    let told = feed(&mut part, [Event::SnapshotEnd("7".into())]);
    assert_eq!(told, ["-a@1 Observed", "~b@1>3", "synced 7"], "taken back: a and n; b keeps what was last readable");
    assert_eq!(names(&store), ["b"]);
}

#[test]
fn a_void_snapshot_forgets_what_it_could_not_read() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, [Event::SnapshotStart]);
    fail(&mut part, &unreadable(As::Listed, "a", "a-1", "1"));
    fail(&mut part, &super::thing::error(listwatch::Recovery::Relist, "cut"));
    feed(&mut part, listed([], "2"));
    assert!(store.unreadable().is_empty());
}
