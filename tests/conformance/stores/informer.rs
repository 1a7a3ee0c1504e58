//! S35 to S46: `shared_informer_test.go`, as far as it is not about handlers.

use crate::play::{
    Fed, S, Word, add, added, api, cms, error_event, errors, held, mirror, status, until, without_watch_list,
};
use futures::{FutureExt, StreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{Error, EventStreamExt, Store, source::ListWatch};
use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
};

#[tokio::test(start_paused = true)]
async fn s38_a_relist_after_missed_events_tells_exactly_what_changed() {
    let api = without_watch_list()
        .on_list("2", cms("pod1@1 pod2@2"))
        .on_watch([error_event(410, "Expired")])
        .on_list("4", cms("pod1@1 pod2@3 pod3@4"))
        .on_watch([]);
    let store = Store::new();
    let events = api.clone().events().resync(S * 60);
    let mut changes = mirror(events, &store);
    until(&mut changes, "synced 2").await;
    let told = until(&mut changes, "synced 4").await;
    assert_eq!(errors(&told), ["Relist 410"]);
    let news: Vec<_> = told.iter().filter(|word| word.contains("pod")).collect();
    assert_eq!(news, ["updated pod2@3", "added pod3@4"], "pod1 is unchanged, and no news");
    // Who resyncs is told all of them, then.
    let told = until(&mut changes, "resynced pod3@4").await;
    let mut resynced: Vec<_> = told.iter().filter(|word| word.starts_with("resynced")).collect();
    resynced.sort();
    assert_eq!(resynced, ["resynced pod1@1", "resynced pod2@3", "resynced pod3@4"]);
}

#[tokio::test(start_paused = true)]
async fn s39_the_error_of_a_list_reaches_the_error_handler() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let handler = Arc::clone(&seen);
    let api = without_watch_list().on_list_error(status(403, "Forbidden")).on_list("1", cms("a@1"));
    let store = Store::new();
    let mut changes =
        mirror(api.events(), &store).on_error(move |error: Error| handler.lock().unwrap().push(error.word()));
    until(&mut changes, "synced 1").await;
    assert_eq!(*seen.lock().unwrap(), ["Relist 403"]);
}

#[tokio::test(start_paused = true)]
async fn s41_what_the_transformer_made_is_what_consumers_see() {
    let script = [added("b@2")];
    let api = without_watch_list().on_list("1", cms("a@1")).on_watch(script);
    let store = Store::new();
    let events = api.events().modify_objects(|object: &mut ConfigMap| object.immutable = Some(true));
    let mut changes = mirror(events, &store);
    let mut seen = 0;
    while seen < 2 {
        let change = changes.next().await.unwrap().unwrap();
        if let Some(object) = change.object() {
            assert_eq!(object.immutable, Some(true));
            seen += 1;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn s45_a_consumer_that_panics_does_so_where_it_is_polled_and_the_store_is_sound() {
    let script = [added("bad@2"), added("good@3")];
    let api = api().on_list("1", cms("a@1")).on_watch(script);
    let store = Store::new();
    let mut handled = mirror(api.events().strategy(crate::play::LIST), &store).map(|change| {
        let word = change.word();
        assert!(!word.contains("bad"), "the handler panics");
        word
    });
    let panicked = AssertUnwindSafe(async { while handled.next().await.is_some() {} }).catch_unwind().await;
    assert!(panicked.is_err(), "the panic goes out");
    assert_eq!(held(&store), "a@1 bad@2");
    assert!(store.ready().now_or_never().is_some_and(|ready| ready.is_ok()), "it was ready, and says so");
    drop(handled);
    // The store can be fed again.
    let mut fed = Fed::into(store);
    fed.tell([add("next@4")]);
    assert_eq!(held(&fed.store), "a@1 bad@2 next@4");
}
