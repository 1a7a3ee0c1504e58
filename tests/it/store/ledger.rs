//! A ledger tells changes and missed deletions, and holds no objects.

use super::thing::{Thing, error, thing, unreadable};
use listwatch::{
    Event, Fold, Recovery, UnreadableAs,
    store::{Ledger, Noted, ledger},
};
use std::sync::Arc;

fn brief(noted: &Noted<Thing>) -> String {
    match noted {
        Noted::Added { object, initial } => {
            format!("+{}@{}{}", object.name, object.version, if *initial { "!" } else { "" })
        }
        Noted::Updated { old, new } => format!("~{}@{}>{}", old.name, old.resource_version, new.version),
        Noted::Deleted { last, why } => format!("-{}@{} {why:?}", last.name, last.resource_version),
        Noted::Synced { resource_version, initial } => {
            format!("synced {resource_version}{}", if *initial { "!" } else { "" })
        }
        Noted::Bookmark(version) => format!("bookmark {version}"),
        Noted::Watching(version) => format!("watching {version}"),
    }
}

fn feed(ledger: &mut Ledger<Thing>, event: Event<Thing>) -> Vec<String> {
    ledger.fold(event).unwrap().map(|noted| brief(&noted)).collect()
}

#[test]
fn listed_objects_are_told_as_they_come_and_deletions_at_the_end() {
    let mut ledger = ledger();
    feed(&mut ledger, Event::SnapshotStart);
    assert_eq!(feed(&mut ledger, Event::listed(thing("a", 1))), ["+a@1!"]);
    assert_eq!(feed(&mut ledger, Event::listed(thing("b", 1))), ["+b@1!"]);
    assert_eq!(feed(&mut ledger, Event::SnapshotEnd("2".into())), ["synced 2!"]);
    assert_eq!(feed(&mut ledger, Event::modified(thing("a", 3))), ["~a@1>3"]);
    assert_eq!(feed(&mut ledger, Event::modified(thing("a", 3))), [""; 0], "unchanged");
    assert_eq!(feed(&mut ledger, Event::added(thing("c", 4))), ["+c@4"]);
    assert_eq!(feed(&mut ledger, Event::Bookmark("5".into())), ["bookmark 5"]);
    feed(&mut ledger, Event::SnapshotStart);
    assert_eq!(feed(&mut ledger, Event::listed(thing("c", 4))), [""; 0]);
    assert_eq!(feed(&mut ledger, Event::listed(thing("b", 6).uid("new"))), ["-b@1 Replaced", "+b@6"]);
    assert_eq!(feed(&mut ledger, Event::SnapshotEnd("6".into())), ["-a@3 Missed", "synced 6"]);
    assert_eq!(feed(&mut ledger, Event::deleted(thing("c", 7))), ["-c@4 Observed"]);
    assert_eq!(feed(&mut ledger, Event::deleted(thing("c", 7))), [""; 0]);
    assert_eq!((ledger.len(), ledger.get(("ns", "b")).map(|entry| &*entry.uid)), (1, Some("new")));
}

#[test]
fn it_holds_no_object() {
    let mut ledger = ledger();
    let object = Arc::new(thing("a", 1));
    drop(ledger.fold(Event::Added(Arc::clone(&object))).unwrap());
    assert_eq!((Arc::strong_count(&object), ledger.len()), (1, 1));
}

#[test]
fn a_void_snapshot_takes_nothing_back_and_deletes_nothing() {
    let mut ledger = ledger();
    feed(&mut ledger, Event::added(thing("a", 1)));
    feed(&mut ledger, Event::SnapshotStart);
    feed(&mut ledger, Event::listed(thing("b", 2)));
    assert!(ledger.failed(&error(Recovery::Relist, "cut")).is_none());
    assert_eq!(ledger.len(), 2);
    feed(&mut ledger, Event::SnapshotStart);
    assert_eq!(feed(&mut ledger, Event::listed(thing("a", 1))), [""; 0]);
    assert_eq!(feed(&mut ledger, Event::SnapshotEnd("3".into())), ["-b@2 Missed", "synced 3!"]);
}

#[test]
fn unreadable_objects_are_kept_deleted_or_replaced() {
    let mut ledger = ledger();
    for name in ["a", "b", "c"] {
        feed(&mut ledger, Event::added(thing(name, 1)));
    }
    feed(&mut ledger, Event::SnapshotStart);
    let mut fails = |came_as, name, uid| {
        let error = unreadable(came_as, name, uid, "2");
        ledger.failed(&error).into_iter().flatten().map(|noted| brief(&noted)).collect::<Vec<_>>()
    };
    assert_eq!(fails(UnreadableAs::Listed, "a", "a-1"), [""; 0], "listed all the same");
    assert_eq!(fails(UnreadableAs::Listed, "b", "new"), ["-b@1 Replaced"]);
    assert_eq!(fails(UnreadableAs::Deleted, "c", ""), ["-c@1 Observed"]);
    assert_eq!(feed(&mut ledger, Event::SnapshotEnd("3".into())), ["synced 3!"]);
    assert_eq!(ledger.len(), 1);
    assert!(ledger.fold(Event::listed(thing("x", 1))).unwrap_err().is_grammar());
}
