//! S47 to S53: `controller_test.go`.

use crate::play::{
    Fed, LIST, Word, add, added, api, cms, deleted, errors, held, mirror, modified, status, until, update, version,
};
use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Change, Error, Event, EventStreamExt, Fold, Store,
    source::{ListWatch, WireEvent},
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

/// A long random history over few names, as events, and what it leaves.
fn history(seed: u64, length: u64) -> (Vec<WireEvent<ConfigMap>>, BTreeMap<String, u64>) {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut events, mut content) = (vec![], BTreeMap::new());
    for version in 2..2 + length {
        let name = format!("pod-{}", random.u8(..20));
        let spec = format!("{name}@{version}");
        events.push(match content.contains_key(&name) {
            true if random.bool() => {
                content.remove(&name);
                deleted(&spec)
            }
            true => {
                content.insert(name, version);
                modified(&spec)
            }
            false => {
                content.insert(name, version);
                added(&spec)
            }
        });
    }
    (events, content)
}

/// Cuts a history into watches, some of which fail.
async fn hammered(seed: u64) -> (Vec<Change<ConfigMap>>, String, String) {
    let (events, content) = history(seed, 500);
    let mut random = fastrand::Rng::with_seed(!seed);
    let mut api = api().on_list("1", []);
    let mut events = events.into_iter().peekable();
    while events.peek().is_some() {
        if random.u8(..4) == 0 {
            api = api.on_watch_error(status(429, "TooManyRequests"));
        }
        api = api.on_watch(events.by_ref().take(1 + random.usize(..40)).collect::<Vec<_>>());
    }
    let store = Store::new();
    let mut changes = mirror(api.clone().events().strategy(LIST), &store);
    let mut told = vec![];
    let last = "501";
    while version(&store) != last {
        match changes.next().await.unwrap() {
            Ok(change) => told.push(change),
            Err(error) => assert!(error.is_too_many_requests(), "{error:?}"),
        }
    }
    let mut left: Vec<_> = content.iter().map(|(name, version)| format!("{name}@{version}")).collect();
    left.sort();
    (told, held(&store), left.join(" "))
}

#[tokio::test(start_paused = true)]
async fn s47_hammered_with_events_and_faults_the_store_is_what_the_history_leaves() {
    for seed in 0..10 {
        let (told, held, left) = hammered(seed).await;
        assert_eq!(held, left, "seed {seed}");
        let mut replayed = BTreeMap::new();
        for change in told {
            let Some(key) = change.key() else { continue };
            match change {
                Change::Deleted { .. } => replayed.remove(&key),
                change => replayed.insert(key, change.object().map(|object| crate::play::spec(object))),
            };
        }
        let mut replayed: Vec<_> = replayed.into_values().flatten().collect();
        replayed.sort();
        assert_eq!(replayed.join(" "), left, "the changes replayed, seed {seed}");
    }
}

#[tokio::test(start_paused = true)]
async fn s48_an_update_goes_from_what_was_told_to_what_is_new() {
    let (told, ..) = hammered(42).await;
    let mut last = BTreeMap::new();
    let mut updates = 0;
    for change in told {
        let Some(key) = change.key() else { continue };
        if let Change::Updated { old, new } = &change {
            updates += 1;
            assert!(Arc::ptr_eq(&last[&key], old), "{key}");
            assert!(!Arc::ptr_eq(old, new));
        }
        last.insert(key, Arc::clone(change.object().expect("a key is an object's")));
    }
    assert!(updates > 20, "{updates}");
}

#[tokio::test]
async fn s49_each_object_is_transformed_once_whatever_is_replayed() {
    let (store, runs) = (Store::new(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&runs);
    let events = crate::play::snapshot("a@1 b@1", "1").into_iter().chain([
        Event::Resync,
        update("a@2"),
        Event::Resync,
        Event::Resync,
    ]);
    let changes = stream::iter(events.map(Ok::<_, Error>))
        .modify_objects(move |object: &mut ConfigMap| {
            count.fetch_add(1, Ordering::Relaxed);
            assert_eq!(object.immutable, None, "never transformed twice");
            object.immutable = Some(true);
        })
        .reflect(&store);
    let told: Vec<_> = changes.map(|change| change.word()).collect().await;
    assert_eq!(told.iter().filter(|word| word.starts_with("resynced")).count(), 6);
    assert_eq!(runs.load(Ordering::Relaxed), 3);
}

/// Fails for the second object.
struct SecondFails(usize);
impl Fold<ConfigMap> for SecondFails {
    type Changes = Option<String>;
    type Error = &'static str;
    fn fold(&mut self, event: Event<ConfigMap>) -> Result<Self::Changes, Self::Error> {
        self.0 += 1;
        if self.0 == 2 { Err("the second") } else { Ok(Some(event.word())) }
    }
}

#[tokio::test]
async fn s50_consumers_see_what_was_taken_and_not_what_failed() {
    let events = ["pod-1@1", "pod-2@2", "pod-3@3"].map(|spec| Ok::<_, Error>(add(spec)));
    let items: Vec<_> = stream::iter(events).reflect(SecondFails(0)).collect().await;
    let seen: Vec<_> = items.iter().filter_map(|item| item.as_ref().ok()).collect();
    assert_eq!(seen, ["added pod-1@1", "added pod-3@3"]);
    assert!(items[1].as_ref().unwrap_err().is_refused());
}

#[test]
fn s51_a_snapshot_is_told_when_the_store_shows_it_already() {
    // create
    let mut fed = Fed::new();
    assert_eq!(fed.replace("pod-1@1", "1"), ["added pod-1@1 initial", "synced 1"]);

    // delete all
    fed.replace("pod-1@1 pod-3@3", "3");
    fed.tell([Event::SnapshotStart]);
    let mut deletions = vec![];
    fed.send(Event::SnapshotEnd("4".into()));
    while let Some(word) = fed.one() {
        assert!(fed.store.is_empty(), "already, when {word} is told");
        deletions.push(word);
    }
    assert_eq!(deletions.pop().as_deref(), Some("synced 4"));
    deletions.sort();
    assert_eq!(deletions, ["deleted pod-1@1 Missed", "deleted pod-3@3 Missed"]);

    // mixed
    let mut fed = Fed::new();
    fed.replace("pod-1@1 pod-2@2 pod-3@3", "3");
    fed.tell([Event::SnapshotStart]);
    for object in cms("pod-1@4 pod-2@5 pod-4@6") {
        fed.send(Event::listed(object));
    }
    fed.send(Event::SnapshotEnd("6".into()));
    let mut told = vec![];
    while let Some(word) = fed.one() {
        assert_eq!(held(&fed.store), "pod-1@4 pod-2@5 pod-4@6", "already, when {word} is told");
        told.push(word);
    }
    assert_eq!(told, ["deleted pod-3@3 Missed", "updated pod-1@4", "updated pod-2@5", "added pod-4@6", "synced 6"]);
}

#[tokio::test(start_paused = true)]
async fn s52_after_a_watch_was_reset_changes_are_no_longer_initial() {
    let api =
        api().on_list("1", cms("a@1")).on_watch_error(status(410, "Expired")).on_list("3", cms("a@2 b@3")).on_watch([]);
    let store = Store::new();
    let mut changes = mirror(api.events().strategy(LIST), &store);
    assert_eq!(until(&mut changes, "synced 1").await, ["added a@1 initial", "synced 1"]);
    let told = until(&mut changes, "synced 3").await;
    assert_eq!(errors(&told), ["Relist 410"]);
    assert_eq!(told[1..], ["updated a@2", "added b@3", "synced 3"]);
}

#[tokio::test]
async fn s53_the_version_follows_what_comes_and_stays_where_a_transformer_leaves_none() {
    let store = Store::new();
    let events =
        crate::play::snapshot("a@1", "1").into_iter().chain([add("b@2"), add("bare@3"), Event::Bookmark("9".into())]);
    let events = events.chain(crate::play::snapshot("a@1", "12"));
    let mut changes = stream::iter(events.map(Ok::<_, Error>))
        .modify_objects(|object: &mut ConfigMap| {
            if object.metadata.name.as_deref() == Some("bare") {
                object.metadata.resource_version = None;
            }
        })
        .reflect(&store);
    let mut versions = vec![];
    while let Some(change) = changes.next().await {
        let version = version(&store);
        let word = change.word();
        if versions.last().is_none_or(|(_, last)| *last != version) || word.contains("bare") {
            versions.push((word, version));
        }
    }
    let versions: Vec<_> = versions.iter().map(|(_, version)| version.as_str()).collect();
    assert_eq!(versions[..5], ["1", "2", "2", "9", "12"]);
}
