//! S17 to S34: `delta_fifo_test.go`, `the_real_fifo_test.go`. There is no queue here: what they promise of their
//! order and of what is told holds for the changes of a store.

use crate::play::{Fed, Word, add, cm, delete, held, snapshot, update, version};
use futures::{FutureExt, StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{Error, Event, EventStreamExt, Store};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

#[tokio::test]
async fn s17_the_order_of_each_producer_is_kept() {
    let producer = |name: &'static str| {
        stream::iter((1..=500).map(move |n| Ok::<_, Error>(add(&format!("{name}@{n}"))))).then(|item| async {
            tokio::task::yield_now().await;
            item
        })
    };
    let store = Store::new();
    let told: Vec<_> = stream::select(producer("a").boxed(), producer("b").boxed())
        .reflect(&store)
        .map(|change| change.unwrap().object().unwrap().metadata.clone())
        .collect()
        .await;
    assert_eq!(told.len(), 1000);
    for name in ["a", "b"] {
        let versions: Vec<u32> = told
            .iter()
            .filter(|meta| meta.name.as_deref() == Some(name))
            .map(|meta| meta.resource_version.as_deref().unwrap().parse().unwrap())
            .collect();
        assert_eq!(versions, (1..=500).collect::<Vec<_>>());
    }
}

#[test]
fn s18_a_deletion_and_a_snapshot_with_a_new_object_are_told_as_both() {
    let mut fed = Fed::new();
    fed.replace("foo@1", "1");
    let mut told = fed.tell([delete("foo@2")]);
    let mut new = cm("foo@3");
    new.metadata.uid = Some("another".into());
    told.extend(fed.tell([Event::SnapshotStart, Event::listed(new), Event::SnapshotEnd("3".into())]));
    assert_eq!(told, ["deleted foo@2 Observed", "added foo@3", "synced 3"]);
}

#[test]
fn s19_what_an_empty_snapshot_misses_is_deleted_once_as_it_was_last() {
    let mut fed = Fed::new();
    fed.replace("foo@1 bar@1", "1");
    fed.tell([update("foo@2"), delete("bar@3")]);
    assert_eq!(fed.replace("", "4"), ["deleted foo@2 Missed", "synced 4"]);
    assert_eq!(fed.replace("", "5"), ["synced 5"]);
}

#[test]
fn s20_deletions_of_unknown_keys_are_dropped_and_of_known_ones_told() {
    let mut fed = Fed::new();
    fed.tell([add("foo@1")]);
    assert!(fed.tell([delete("bar@2")]).is_empty());
    assert_eq!(fed.tell([delete("foo@3")]), ["deleted foo@3 Observed"]);
}

#[test]
fn s21_a_second_deletion_is_not_told_and_an_observed_one_carries_the_real_object() {
    let mut fed = Fed::new();
    fed.replace("foo@1", "1");
    assert_eq!(fed.tell([delete("foo@2"), delete("foo@2")]), ["deleted foo@2 Observed"]);
    assert_eq!(fed.replace("", "3"), ["synced 3"], "no tombstone after it");
}

#[test]
fn s22_what_a_snapshot_lists_is_told_and_what_it_misses_is_deleted() {
    let mut fed = Fed::new();
    fed.replace("a@1 b@1 c@1", "1");
    let told = fed.replace("b@2 d@2 c@1", "2");
    assert_eq!(told, ["deleted a@1 Missed", "updated b@2", "added d@2", "synced 2"]);
}

#[test]
fn s23_a_resync_tells_what_is_held_and_nothing_else() {
    let mut fed = Fed::new();
    fed.tell([add("a@1"), add("b@1"), delete("a@2")]);
    assert_eq!(fed.tell([Event::Resync]), ["resynced b@1"]);
}

#[tokio::test]
async fn s24_the_transformer_runs_neither_for_missed_deletions_nor_for_resyncs() {
    let (store, runs) = (Store::new(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&runs);
    let events = [snapshot("a@1 b@1", "1"), vec![Event::Resync], snapshot("b@1", "2")].concat();
    let changes = stream::iter(events.into_iter().map(Ok::<_, Error>))
        .modify_objects(move |_: &mut ConfigMap| {
            count.fetch_add(1, Ordering::Relaxed);
        })
        .reflect(&store);
    let told: Vec<_> = changes.map(|change| change.word()).collect().await;
    assert_eq!(told.iter().filter(|word| word.starts_with("resynced")).count(), 2);
    assert!(told.contains(&"deleted a@1 Missed".to_owned()), "{told:?}");
    assert_eq!(runs.load(Ordering::Relaxed), 3, "once for each object that came");
}

#[test]
fn s25_the_store_is_ready_once_its_first_snapshot_is_in_it() {
    let ready = |fed: &Fed| fed.store.ready().now_or_never().is_some_and(|ready| ready.is_ok());
    let mut fed = Fed::new();
    assert!(!ready(&fed));
    fed.replace("", "1");
    assert!(ready(&fed), "an empty one will do");

    let mut fed = Fed::new();
    fed.tell([Event::SnapshotStart, Event::listed(cm("a@1"))]);
    assert!(!ready(&fed));
    fed.tell([Event::listed(cm("b@1"))]);
    assert!(!ready(&fed));
    fed.tell([Event::SnapshotEnd("1".into())]);
    assert!(ready(&fed));

    // An event alone makes no store complete, where client-go says that it has synced.
    let mut fed = Fed::new();
    fed.tell([add("a@1")]);
    assert!(!ready(&fed));
}

#[test]
fn s26_the_first_snapshot_is_initial_and_nothing_after_it_is() {
    let mut fed = Fed::new();
    assert_eq!(fed.replace("a@1 b@1", "1"), ["added a@1 initial", "added b@1 initial", "synced 1"]);
    assert_eq!(fed.tell([add("c@2")]), ["added c@2"]);
    assert_eq!(fed.replace("a@1 b@1 c@2 d@3", "3"), ["added d@3", "synced 3"]);
}

#[tokio::test]
async fn s28_closing_wakes_all_who_wait() {
    let fed = Fed::new();
    let store = fed.store.clone();
    let waiting: Vec<_> = (0..10)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.ready().await.is_err() })
        })
        .collect();
    tokio::task::yield_now().await;
    drop(fed);
    for waiter in waiting {
        assert!(waiter.await.unwrap(), "closed before it was ready");
    }
}

#[test]
fn s29_every_event_is_told_in_order_and_none_is_merged() {
    let mut fed = Fed::new();
    let told = fed.tell([add("a@1"), update("a@2"), update("a@3"), delete("a@4"), add("a@5"), update("a@6")]);
    let expected = ["added a@1", "updated a@2", "updated a@3", "deleted a@4 Observed", "added a@5", "updated a@6"];
    assert_eq!(told, expected);
}

#[test]
fn s30_a_snapshot_is_told_deletions_first_then_in_list_order() {
    let mut fed = Fed::new();
    fed.replace("a@1 b@1 c@1 d@1", "1");
    let told = fed.replace("z@2 c@2 y@2 a@2", "2");
    let (deletions, rest) = told.split_at(2);
    let mut deletions = deletions.to_vec();
    deletions.sort();
    assert_eq!(deletions, ["deleted b@1 Missed", "deleted d@1 Missed"]);
    assert_eq!(rest, ["added z@2", "updated c@2", "added y@2", "updated a@2", "synced 2"]);
}

#[test]
fn s31_a_deletion_of_an_unknown_key_is_dropped_also_in_a_snapshot() {
    let mut fed = Fed::new();
    assert!(fed.tell([delete("a@1")]).is_empty());
    let told = fed.tell([
        Event::SnapshotStart,
        Event::listed(cm("b@1")),
        delete("c@2"),
        delete("b@2"),
        Event::SnapshotEnd("2".into()),
    ]);
    assert_eq!(told, ["synced 2"]);
}

#[test]
fn s33_a_snapshot_is_one_step_and_so_is_a_resync() {
    let mut fed = Fed::new();
    fed.replace("a@1 b@1", "1");
    fed.tell([Event::SnapshotStart, Event::listed(cm("a@2")), Event::listed(cm("c@2"))]);
    assert_eq!(held(&fed.store), "a@1 b@1", "nothing of it is seen before its end");
    let before = fed.store.snapshot();
    let told = fed.tell([Event::SnapshotEnd("2".into()), Event::Resync]);
    assert_eq!(told[..4], ["deleted b@1 Missed", "updated a@2", "added c@2", "synced 2"]);
    let mut resynced = told[4..].to_vec();
    resynced.sort();
    assert_eq!(resynced, ["resynced a@2", "resynced c@2"]);
    assert_eq!(before.iter().count(), 2, "who holds the old state keeps it");
}

#[test]
fn s34_a_bookmark_is_told_and_moves_the_version_alone() {
    let mut fed = Fed::new();
    fed.replace("a@1", "1");
    assert_eq!(fed.tell([Event::Bookmark("9".into())]), ["bookmark 9"]);
    assert_eq!(version(&fed.store), "9");
    assert_eq!(held(&fed.store), "a@1");
}
