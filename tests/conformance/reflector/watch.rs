//! R8 to R12, R30, R32, R33: what a watch brings.

use crate::play::{
    LIST, MS, S, added, api, closing, cms, deleted, during, error_event, errors, held, mirror, modified, until,
    version, without_watch_list,
};
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    EventStreamExt, Recovery, Store,
    source::{ListWatch, WireEvent},
    testing::Step,
};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

const LIST_AT_0: &str = r#"L "0" limit 500"#;

#[tokio::test(start_paused = true)]
async fn r08_a_watch_that_has_ended_already_is_a_very_short_one() {
    let api = api().on_watch([]).on_watch([]);
    let mut watch = api.clone().watch_from("1").unwrap();
    let error = watch.next().await.unwrap().unwrap_err();
    assert!(error.is_short_watch() && error.recovery() == Recovery::Resume, "{error:?}");
    during(&mut watch, S).await;
    assert_eq!(api.lines(), [r#"W "1""#, r#"W "1""#], "resumed, where client-go relists");
}

#[tokio::test(start_paused = true)]
async fn r09_so_is_one_that_ends_soon_without_an_event_and_the_tenth_in_a_row_relists() {
    let mut api = without_watch_list().on_list("1", []);
    for _ in 0..10 {
        api = api.on_watch_steps([Step::Wait(MS * 10)]);
    }
    let api = api.on_list("2", []).on_watch([]);
    let store = Store::new();
    let mut changes = mirror(api.clone().events(), &store);
    let told = until(&mut changes, "synced 2").await;
    let expected: Vec<_> = std::iter::repeat_n("Resume", 9).chain(["Relist"]).collect();
    assert_eq!(errors(&told), expected);
    let watches = std::iter::repeat_n(r#"W "1""#, 10);
    assert_eq!(api.lines(), [LIST_AT_0].into_iter().chain(watches).chain([r#"L "1""#]).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn r12a_list_and_watch_with_the_watch_list() {
    let script = [
        added("foo@1"),
        closing("1"),
        modified("foo@2"),
        added("bar@3"),
        added("baz@4"),
        added("qux@5"),
        added("zoo@6"),
    ];
    let (api, store) = (api().on_watch(script), Store::new());
    let mut changes = mirror(api.clone().events(), &store);
    let told = until(&mut changes, "added zoo@6").await;
    let expected = ["added foo@1 initial", "synced 1", "watching 1", "updated foo@2", "added bar@3", "added baz@4"];
    assert_eq!(told, [&expected[..], &["added qux@5", "added zoo@6"]].concat());
    assert_eq!(api.lines(), [r#"WL """#], "no list");
    assert_eq!(held(&store), "bar@3 baz@4 foo@2 qux@5 zoo@6");
}

#[tokio::test(start_paused = true)]
async fn r12b_list_and_watch_without_it() {
    let script = [modified("foo@2"), added("bar@3"), added("baz@4"), added("qux@5"), added("zoo@6")];
    let (api, store) = (api().on_list("1", cms("foo@1")).on_watch(script), Store::new());
    let mut changes = mirror(api.clone().events().strategy(LIST), &store);
    let told = until(&mut changes, "added zoo@6").await;
    let expected = ["added foo@1 initial", "synced 1", "watching 1", "updated foo@2", "added bar@3", "added baz@4"];
    assert_eq!(told, [&expected[..], &["added qux@5", "added zoo@6"]].concat());
    assert_eq!(api.lines(), [LIST_AT_0, r#"W "1""#]);
    assert_eq!(held(&store), "bar@3 baz@4 foo@2 qux@5 zoo@6");
}

#[tokio::test(start_paused = true)]
async fn r30_each_event_tells_its_version_in_order() {
    let script = [added("a@10"), modified("a@20"), WireEvent::bookmark("30"), deleted("a@40")];
    let (api, store) = (without_watch_list().on_list("10", []).on_watch(script), Store::new());
    let events = api.events();
    let seen = store.clone();
    let mut changes = mirror(events, &store);
    until(&mut changes, "synced 10").await;
    let mut versions = vec![];
    while versions.len() < 4 {
        if !matches!(changes.next().await, Some(Ok(listwatch::Change::Watching(_)))) {
            versions.push(version(&seen));
        }
    }
    assert_eq!(versions, ["10", "20", "30", "40"]);
}

#[tokio::test(start_paused = true)]
async fn r32_an_unreadable_object_of_the_storage_relists_and_the_list_replaces_the_content() {
    let api = without_watch_list()
        .on_list("3", cms("foo-1@1 foo-2@2 foo-3@3"))
        .on_watch([added("foo@4"), error_event(500, "StorageReadError")])
        .on_list("5", cms("foo-1@1 foo-2@2 foo-3@3"))
        .on_watch([]);
    let store = Store::new();
    let mut changes = mirror(api.clone().events(), &store);
    let told = until(&mut changes, "Relist 500").await;
    assert_eq!(told.last().map(String::as_str), Some("Relist 500"));
    assert_eq!(held(&store), "foo-1@1 foo-2@2 foo-3@3 foo@4");
    let told = until(&mut changes, "synced 5").await;
    assert_eq!(told, ["deleted foo@4 Missed", "synced 5"], "one replace, told as its difference");
    assert_eq!(held(&store), "foo-1@1 foo-2@2 foo-3@3");
    assert_eq!(version(&store), "5");
    assert_eq!(api.lines(), [LIST_AT_0, r#"W "3""#, r#"L "4""#]);
}

#[tokio::test(start_paused = true)]
async fn r33_each_object_is_transformed_once() {
    let script = [added("foo-1@1"), added("foo-2@2"), closing("3"), added("foo-3@3")];
    let (api, store, runs) = (api().on_watch(script), Store::new(), Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&runs);
    let events = api.clone().events().modify_objects(move |object: &mut ConfigMap| {
        count.fetch_add(1, Ordering::Relaxed);
        object.metadata.labels = Some([("hostname".to_owned(), "set".to_owned())].into());
    });
    let mut changes = mirror(events, &store);
    until(&mut changes, "added foo-3@3").await;
    assert_eq!(api.lines(), [r#"WL """#], "no list");
    assert_eq!(version(&store), "3");
    assert_eq!(held(&store), "foo-1@1 foo-2@2 foo-3@3");
    assert!(store.snapshot().iter().all(|object| object.metadata.labels.is_some()));
    assert_eq!(runs.load(Ordering::Relaxed), 3);
}
