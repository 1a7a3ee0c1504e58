//! What an event does to the store, and what is told of it: the section "Change" of the design, sentence by sentence.

use super::thing::{content, feed, fold, listed, sorted, thing};
use listwatch::{Change, Event, Fold, Recovery, Store};
use std::sync::Arc;

#[test]
fn a_snapshot_is_visible_all_at_once_and_before_it_is_told() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1), thing("b", 2)], "2"));
    feed(&mut part, [Event::SnapshotStart, Event::listed(thing("b", 5)), Event::listed(thing("c", 6))]);
    assert_eq!(content(&store), ["a@1", "b@2"], "the old content until the swap");
    let mut changes = part.fold(Event::SnapshotEnd("6".into())).unwrap();
    assert_eq!(content(&store), ["b@5", "c@6"], "swapped before the first change is told");
    assert!(matches!(changes.next(), Some(Change::Deleted { .. })));
}

#[test]
fn a_snapshot_is_told_as_its_differences_in_order() {
    let store = Store::new();
    let mut part = fold(&store);
    let first = feed(&mut part, listed([thing("c", 1), thing("a", 2), thing("b", 3)], "3"));
    assert_eq!(first, ["+c@1!", "+a@2!", "+b@3!", "synced 3!"], "in list order, initial");
    let second = feed(&mut part, listed([thing("z", 7), thing("b", 5), thing("y", 6)], "7"));
    assert_eq!(sorted(second[..2].to_vec()), ["-a@2 Missed", "-c@1 Missed"], "deletions first");
    assert_eq!(
        second[2..],
        ["+z@7", "~b@3>5", "+y@6", "synced 7"],
        "then in list order, then Synced; no longer initial"
    );
}

#[test]
fn what_is_unchanged_keeps_its_arc_and_tells_nothing() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1), thing("b", 2)], "2"));
    let held = store.get(("ns", "a")).unwrap();
    assert_eq!(feed(&mut part, listed([thing("b", 2), thing("a", 1)], "9")), ["synced 9"]);
    assert!(Arc::ptr_eq(&held, &store.get(("ns", "a")).unwrap()));
    assert_eq!(feed(&mut part, [Event::modified(thing("a", 1))]), [""; 0], "nor does an event without a change");
    assert!(Arc::ptr_eq(&held, &store.get(("ns", "a")).unwrap()));
    assert_eq!(store.stats().unchanged, 3);
}

#[test]
fn without_uid_or_version_an_object_counts_as_changed_each_time() {
    let store = Store::new();
    let mut part = fold(&store);
    let unversioned = || {
        let mut thing = thing("a", 1);
        thing.version.clear();
        thing
    };
    feed(&mut part, listed([thing("b", 1).uid(""), unversioned()], "2"));
    let again = feed(&mut part, listed([thing("b", 1).uid(""), unversioned()], "3"));
    assert_eq!(again, ["~b@1>1", "~a@>", "synced 3"]);
}

#[test]
fn another_uid_is_another_object() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1), thing("b", 1)], "1"));
    assert_eq!(feed(&mut part, [Event::modified(thing("a", 2).uid("new"))]), ["-a@1 Replaced", "+a@2"]);
    let relist = feed(&mut part, listed([thing("b", 3).uid("new"), thing("a", 2).uid("new")], "3"));
    assert_eq!(relist, ["-b@1 Replaced", "+b@3", "synced 3"]);
}

#[test]
fn added_and_modified_mean_the_same() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1)], "1"));
    let told = feed(&mut part, [Event::added(thing("a", 2)), Event::modified(thing("b", 3))]);
    assert_eq!(told, ["~a@1>2", "+b@3"]);
}

#[test]
fn of_one_key_listed_twice_the_later_holds() {
    let store = Store::new();
    let mut part = fold(&store);
    let told = feed(&mut part, listed([thing("a", 1), thing("b", 2), thing("a", 3)], "3"));
    assert_eq!(told, ["+b@2!", "+a@3!", "synced 3!"]);
    let relist = feed(&mut part, listed([thing("a", 4), thing("a", 3), thing("b", 5), thing("b", 6)], "6"));
    assert_eq!(relist, ["~b@2>6", "synced 6"], "a came back to what was held");
    assert_eq!(content(&store), ["a@3", "b@6"]);
}

#[test]
fn a_deletion_removes_whatever_the_uid_or_version() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 5), thing("b", 6)], "6"));
    assert_eq!(feed(&mut part, [Event::deleted(thing("a", 1).uid("other"))]), ["-a@1 Observed"], "the event's object");
    assert_eq!(feed(&mut part, [Event::deleted(thing("a", 7))]), [""; 0], "an unknown key tells nothing");
    assert_eq!(content(&store), ["b@6"]);
}

#[test]
fn versions_are_never_compared_among_events() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 50)], "50"));
    assert_eq!(feed(&mut part, [Event::modified(thing("a", 7))]), ["~a@50>7"]);
    assert_eq!(store.resource_version(), Some("7".into()));
    assert_eq!(
        feed(&mut part, listed([thing("a", 6)], "6")),
        ["~a@7>6", "synced 6"],
        "a lower SnapshotEnd is believed"
    );
    assert_eq!(store.resource_version(), Some("6".into()));
}

#[test]
fn deletions_within_a_watch_list_snapshot_take_back_what_was_listed() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1), thing("b", 2)], "2"));
    let told = feed(
        &mut part,
        [
            Event::SnapshotStart,
            Event::listed(thing("a", 1)),
            Event::listed(thing("n", 4)),
            Event::deleted(thing("n", 5)),
            Event::deleted(thing("a", 6)),
            Event::deleted(thing("unknown", 6)),
            Event::listed(thing("b", 7)),
            Event::SnapshotEnd("7".into()),
        ],
    );
    assert_eq!(told, ["-a@6 Observed", "~b@2>7", "synced 7"], "n came and went unseen");
    assert_eq!(content(&store), ["b@7"]);
}

#[test]
fn deleted_and_made_again_within_a_snapshot_is_one_change() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1), thing("b", 1)], "2"));
    let told = feed(
        &mut part,
        [
            Event::SnapshotStart,
            Event::listed(thing("a", 1)),
            Event::deleted(thing("a", 4)),
            Event::listed(thing("a", 5).uid("new")),
            Event::deleted(thing("b", 6)),
            Event::listed(thing("b", 7)),
            Event::deleted(thing("b", 8)),
            Event::SnapshotEnd("8".into()),
        ],
    );
    assert_eq!(told, ["-b@8 Observed", "-a@1 Replaced", "+a@5", "synced 8"]);
    let stats = store.stats();
    assert_eq!((stats.added, stats.updated, stats.deleted, stats.objects), (2, 1, 1, 1), "as the snapshots came out");
}

#[test]
fn a_resync_replays_what_is_held_from_one_state() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed([thing("a", 1), thing("b", 2)], "2"));
    let replay = part.fold(Event::Resync).unwrap();
    assert_eq!(replay.size_hint(), (2, Some(2)));
    feed(&mut part, [Event::deleted(thing("a", 3))]);
    assert_eq!(sorted(replay.map(|change| super::thing::brief(&change)).collect()), ["=a@1", "=b@2"]);
}

#[test]
fn what_is_told_may_be_dropped_half_way() {
    let store = Store::new();
    let mut part = fold(&store);
    drop(part.fold(Event::SnapshotStart).unwrap());
    (0..3000).for_each(|i| drop(part.fold(Event::listed(thing(&i.to_string(), i))).unwrap()));
    let mut changes = part.fold(Event::SnapshotEnd("1".into())).unwrap();
    assert!(changes.next().is_some());
    drop(changes);
    assert_eq!(store.len(), 3000, "telling changes nothing");
    assert_eq!(feed(&mut part, [Event::Bookmark("4000".into())]), ["bookmark 4000"]);
}

#[test]
fn events_out_of_place_are_refused_one_by_one() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, [Event::SnapshotStart, Event::listed(thing("a", 1))]);
    assert!(part.fold(Event::added(thing("b", 2))).unwrap_err().is_grammar());
    assert!(part.fold(Event::Bookmark("3".into())).unwrap_err().is_grammar());
    feed(&mut part, [Event::SnapshotEnd("3".into())]);
    assert_eq!(content(&store), ["a@1"], "the snapshot went on");
    assert!(part.fold(Event::listed(thing("c", 4))).unwrap_err().is_grammar());
    assert_eq!(store.stats().refused, 3);
}

#[test]
fn a_start_in_the_middle_restarts_the_snapshot() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, [Event::SnapshotStart, Event::listed(thing("a", 1))]);
    assert!(part.fold(Event::SnapshotStart).unwrap_err().is_grammar(), "but is told");
    assert_eq!(feed(&mut part, [Event::listed(thing("b", 2)), Event::SnapshotEnd("2".into())]), ["+b@2!", "synced 2!"]);
}

#[test]
fn an_object_without_a_name_is_refused() {
    let store = Store::new();
    let mut part = fold(&store);
    assert!(part.fold(Event::added(thing("", 1))).unwrap_err().to_string().contains("without a name"));
    assert!(store.is_empty());
}

#[test]
fn a_void_snapshot_is_freed_at_once() {
    let store = Store::new();
    let mut part = fold(&store);
    let pending = Arc::new(thing("a", 1));
    feed(&mut part, [Event::SnapshotStart, Event::Listed(Arc::clone(&pending))]);
    assert_eq!(Arc::strong_count(&pending), 3, "its place, and the list of what is new");
    part.failed(&super::thing::error(Recovery::Fallback, "gone"));
    assert_eq!(Arc::strong_count(&pending), 1);
    assert!(
        part.fold(Event::SnapshotEnd("1".into())).unwrap_err().is_grammar(),
        "only errors and a new snapshot may come"
    );
    assert_eq!(feed(&mut part, listed([thing("b", 2)], "2")), ["+b@2!", "synced 2!"]);
    assert_eq!(store.stats().voided, 1);
}

#[test]
fn what_a_relist_replaced_is_not_kept() {
    let store = Store::new();
    let mut part = fold(&store);
    let old = Arc::new(thing("a", 1));
    feed(&mut part, [Event::SnapshotStart, Event::Listed(Arc::clone(&old)), Event::SnapshotEnd("1".into())]);
    feed(&mut part, listed([thing("a", 2)], "2"));
    assert_eq!(Arc::strong_count(&old), 1);
}

#[test]
fn reads_agree_with_each_other() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, listed((0..100).map(|i| thing(&i.to_string(), i)), "100"));
    assert_eq!((store.len(), store.is_empty(), store.keys().count()), (100, false, 100));
    assert!((0..100).all(|i| store.contains(("ns", i.to_string().as_str()))));
    assert!(!store.contains(("other", "1")) && !store.contains("1"));
    let snapshot = store.snapshot();
    feed(&mut part, listed([], "101"));
    assert!(store.is_empty());
    assert_eq!((snapshot.len(), snapshot.iter().count(), snapshot.keys().count()), (100, 100, 100));
    assert_eq!(snapshot.resource_version(), Some("100".into()));
    assert_eq!(snapshot.get(("ns", "7")).unwrap().version, "7");
}

#[test]
fn an_error_of_skip_leaves_a_snapshot_standing() {
    let store = Store::new();
    let mut part = fold(&store);
    feed(&mut part, [Event::SnapshotStart, Event::listed(thing("a", 1))]);
    part.failed(&super::thing::error(Recovery::Skip, "one object"));
    assert_eq!(feed(&mut part, [Event::SnapshotEnd("1".into())]), ["+a@1!", "synced 1!"]);
}
