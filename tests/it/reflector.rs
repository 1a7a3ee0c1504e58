//! The standard composition.

use crate::objects::config_map;
use futures::{FutureExt, StreamExt, stream::FusedStream};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Change, Ended, Error, Reflector, State, Status, Store,
    policy::ExponentialBackoff,
    source::{ListWatch, Strategy, WireEvent},
    testing::ScriptedApi,
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

const S: Duration = Duration::from_secs(1);

fn listed() -> ScriptedApi<ConfigMap> {
    ScriptedApi::new().without_watch_list().on_list("7", [config_map("a", "5")])
}

#[tokio::test(start_paused = true)]
async fn is_a_stream_of_changes_that_feeds_its_store() {
    let mut reflector = Reflector::new(listed().on_watch([WireEvent::deleted(config_map("a", "8"))]));
    let store = reflector.store();
    let names: Vec<_> = reflector.by_ref().take(4).map(|change| change.name()).collect().await;
    assert_eq!(names, ["added", "synced", "watching", "deleted"]);
    assert!(store.is_empty() && !reflector.is_terminated());
    assert!(format!("{reflector:?}").contains("reflector.rs"));
}

#[tokio::test(start_paused = true)]
async fn settings_reach_the_source() {
    let api = ScriptedApi::<ConfigMap>::new().on_list("7", []).on_watch([]);
    let reflector =
        Reflector::new(api.clone()).name("maps").strategy(Strategy::ListConsistent).page_size(3).watch_timeout(S * 30);
    assert_eq!(reflector.stats().get().lists, 0);
    let handle = reflector.spawn();
    handle.store().ready().await.unwrap();
    tokio::time::sleep(S * 2).await;
    assert_eq!(api.lines(), [r#"L "" limit 3"#, r#"W "7""#]);
    let timeout = api.calls()[1].watch().unwrap().timeout;
    assert!(timeout >= S * 30 && timeout < S * 60);
    assert_eq!(handle.stats().get().lists_done, 1);
    assert_eq!(handle.stop().await, Ended::Stopped);
}

#[tokio::test(start_paused = true)]
async fn errors_go_to_the_handler_and_the_state() {
    let refused = || Error::from_status(Status::from_code(403));
    let api = ScriptedApi::<ConfigMap>::new().without_watch_list().on_list_error(refused()).on_list_error(refused());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let handler = {
        let seen = Arc::clone(&seen);
        move |error: Error| seen.lock().unwrap().push(error.status().unwrap().code)
    };
    let handle = Reflector::new(api).backoff(ExponentialBackoff::default()).on_error(handler).spawn();
    tokio::time::sleep(S / 2).await;
    assert_eq!(*seen.lock().unwrap(), [403]);
    assert!(matches!(handle.state(), State::Stale { .. }), "{:?}", handle.state());
    tokio::time::sleep(S * 2).await;
    assert_eq!(*seen.lock().unwrap(), [403, 403]);
}

#[tokio::test(start_paused = true)]
async fn resyncs_when_the_predicate_says_so() {
    let due = Arc::new(Mutex::new(false));
    let predicate = {
        let due = Arc::clone(&due);
        move || *due.lock().unwrap()
    };
    let mut reflector = Reflector::new(listed()).resync(S * 10).resync_if(predicate);
    assert_eq!(reflector.by_ref().take(3).count().await, 3);
    assert!(tokio::time::timeout(S * 35, reflector.next()).await.is_err());
    *due.lock().unwrap() = true;
    let change = tokio::time::timeout(S * 11, reflector.next()).await.unwrap().unwrap();
    assert!(matches!(change, Change::Resynced(_)));
}

#[tokio::test(start_paused = true)]
async fn runs_until_its_token_is_cancelled() {
    let store = Store::new();
    let reflector = Reflector::new(listed()).into_store(&store);
    let token = CancellationToken::new();
    let running = tokio::spawn(reflector.run(token.clone()));
    store.ready().await.unwrap();
    assert_eq!(store.len(), 1);
    token.cancel();
    running.await.unwrap();
    assert!(matches!(store.state(), State::Stale { .. }), "{:?}", store.state());
}

#[tokio::test(start_paused = true)]
async fn a_relist_is_told_as_its_differences() {
    let api = listed().on_watch([]).stays_open().on_list("9", [config_map("b", "9")]).on_watch([]);
    let handle = Reflector::new(api.clone()).spawn();
    handle.store().ready().await.unwrap();
    tokio::time::sleep(S * 2).await;
    handle.relist();
    tokio::time::sleep(S).await;
    assert!(handle.store().contains(("ns", "b")) && !handle.store().contains(("ns", "a")));
    assert_eq!(api.lines()[2], r#"L "7""#);
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_user_code_is_why_it_ended() {
    let api =
        ScriptedApi::<ConfigMap>::new().without_watch_list().on_list_error(Error::from_status(Status::from_code(500)));
    let handle = Reflector::new(api).on_error(|_| panic!("handler of a user")).spawn();
    assert_eq!(handle.ended().await, Ended::Panicked("handler of a user".into()));
}

#[tokio::test(start_paused = true)]
async fn dropping_the_handle_ends_it() {
    let api = listed();
    let handle = Reflector::new(api.clone()).spawn();
    let store = handle.store().clone();
    store.ready().await.unwrap();
    drop(handle);
    tokio::task::yield_now().await;
    assert!(matches!(store.state(), State::Stale { .. }), "{:?}", store.state());
    assert!(store.ready().now_or_never().is_some());
    assert!(api.erase().list().stats().get().lists == 0);
}
