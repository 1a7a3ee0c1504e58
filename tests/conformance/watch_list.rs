//! W1 to W14: `reflector_watchlist_test.go`.

use crate::play::{
    Api, LIST, MS, S, added, api, closing, cms, deleted, during, errors, held, mirror, status, until, version,
    without_watch_list,
};
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Error, Recovery, Store,
    source::{ListBody, ListParams, ListWatch, WatchBody, WatchParams, WireEvent},
    testing::Step,
};
use std::time::Duration;
use tokio::time::Instant;

const EWL: &str = r#"WL """#;
const LIST_AT_0: &str = r#"L "0" limit 500"#;

/// A source that says nothing about watch-lists: the method is absent.
struct Silent(Api);
impl ListWatch for Silent {
    type Object = ConfigMap;
    async fn list_page(&self, params: ListParams) -> Result<ListBody<ConfigMap>, Error> {
        self.0.list_page(params).await
    }
    async fn open_watch(&self, params: WatchParams) -> Result<WatchBody<ConfigMap>, Error> {
        self.0.open_watch(params).await
    }
}

#[tokio::test(start_paused = true)]
async fn w01_the_watch_list_is_asked_for_where_wanted_and_not_declared_unsupported() {
    let first = async |api: &Api, mut events: listwatch::source::Events<ConfigMap>| {
        during(&mut events, MS).await;
        api.lines()[0].clone()
    };
    let (off, on) = (api(), api());
    assert_eq!(first(&off, off.clone().events().strategy(LIST)).await, LIST_AT_0, "off, supported");
    assert_eq!(first(&on, on.clone().events()).await, EWL, "on, supported");
    let unsupported = without_watch_list();
    assert_eq!(first(&unsupported, unsupported.clone().events()).await, LIST_AT_0, "on, unsupported");
    let absent = without_watch_list();
    assert_eq!(first(&absent, Silent(absent.clone()).events()).await, EWL, "on, method absent");
}

#[tokio::test(start_paused = true)]
async fn w02a_a_watch_without_initial_events_waits_for_no_bookmark() {
    let (log, _guard) = crate::play::log();
    let api = api().on_watch([]);
    let mut watch = api.watch_from("1").unwrap();
    assert_eq!(during(&mut watch, S * 30).await, ["watching 1"]);
    assert!(!log.text().contains("closing bookmark"), "{}", log.text());
}

#[tokio::test(start_paused = true)]
async fn w02b_a_watch_list_that_waits_for_its_bookmark_says_so_each_interval() {
    let (log, _guard) = crate::play::log();
    let steps = [Step::Wait(S * 5 / 2), Step::Item(Ok(added("p1@1"))), Step::Wait(S * 4), Step::Item(Ok(closing("1")))];
    let mut events = api().on_watch_steps(steps).events().name("testName").bookmark_notice(S);
    let notices = || {
        let text = log.text();
        text.lines().filter(|line| line.contains("closing bookmark")).map(str::to_owned).collect::<Vec<_>>()
    };
    during(&mut events, MS * 900).await;
    assert_eq!(notices().len(), 0);
    during(&mut events, MS * 200).await;
    assert_eq!(notices().len(), 1);
    assert!(
        notices()[0].contains("testName") && notices()[0].contains("no events received for 1s"),
        "{notices:?}",
        notices = notices()
    );
    during(&mut events, S).await;
    assert_eq!(notices().len(), 2);
    assert!(notices()[1].contains("no events received for 2s"), "{}", notices()[1]);
    during(&mut events, S).await;
    assert_eq!(notices().len(), 2, "an event half a second ago is news enough");
    during(&mut events, S).await;
    assert_eq!(notices().len(), 3);
    assert!(notices()[2].contains("received last event 1.5"), "{}", notices()[2]);
    during(&mut events, S).await;
    assert!(notices()[3].contains("received last event 2.5"), "{}", notices()[3]);
    let before = during(&mut events, S * 2).await;
    assert_eq!(before, ["end 1", "watching 1"]);
    let told = notices().len();
    during(&mut events, S * 30).await;
    assert_eq!(notices().len(), told, "no notice after the bookmark");
}

#[tokio::test(start_paused = true)]
async fn w03_only_what_is_not_added_moves_the_version_before_the_bookmark() {
    let script: [(Vec<WireEvent<ConfigMap>>, &str); 3] =
        [(vec![], EWL), (vec![added("p1@1")], EWL), (vec![added("p1@1"), closing("2")], r#"WL "2""#)];
    for (events, next) in script {
        let cut = [Step::Wait(S * 2), Step::Item(Err(status(410, "Expired")))];
        let steps = events.into_iter().map(|event| Step::Item(Ok(event))).chain(cut);
        let api = api().on_watch_steps(steps).on_watch([]).stays_open();
        let mut events = api.clone().events();
        during(&mut events, S * 20).await;
        assert_eq!(api.lines()[1], next);
    }
}

#[tokio::test(start_paused = true)]
async fn w04_without_the_bookmark_nothing_is_synced() {
    let (api, store) = (api().on_watch([added("p1@1")]), Store::new());
    let mut changes = mirror(api.clone().events(), &store);
    assert!(during(&mut changes, S * 20).await.is_empty());
    assert_eq!(api.lines(), [EWL]);
    assert_eq!(held(&store), "");
}

#[tokio::test(start_paused = true)]
async fn w05_with_the_gate_off_it_lists_and_watches() {
    let (api, store) = (api().on_list("1", cms("p1@1")), Store::new());
    let mut changes = mirror(api.clone().events().strategy(LIST), &store);
    assert!(errors(&during(&mut changes, S * 5).await).is_empty());
    assert_eq!(api.lines(), [LIST_AT_0, r#"W "1""#]);
    assert_eq!(held(&store), "p1@1");
}

#[tokio::test(start_paused = true)]
async fn w06_any_error_falls_back_to_a_list() {
    let api = api().on_watch_error(Error::other("dummy error")).on_list("1", cms("p1@1")).on_watch([added("p2@2")]);
    let (store, start) = (Store::new(), Instant::now());
    let mut changes = mirror(api.clone().events(), &store);
    let told = until(&mut changes, "added p2@2").await;
    assert_eq!(errors(&told), ["Fallback"], "one that is not classified, at once");
    assert!(start.elapsed().is_zero());
    assert_eq!(api.lines(), [EWL, LIST_AT_0, r#"W "1""#]);
    assert_eq!(held(&store), "p1@1 p2@2");

    // A server that fails is asked once more before it is given the heavier request.
    let unavailable = || status(503, "ServiceUnavailable");
    let api = crate::play::api().on_watch_error(unavailable()).on_watch_error(unavailable());
    let api = api.on_list("1", cms("p1@1")).on_watch([added("p2@2")]);
    let store = Store::new();
    let mut changes = mirror(api.clone().events(), &store);
    let told = during(&mut changes, S * 20).await;
    assert_eq!(errors(&told), ["Relist 503", "Fallback 503"]);
    assert_eq!(api.lines(), [EWL, EWL, LIST_AT_0, r#"W "1""#]);
    assert_eq!(held(&store), "p1@1 p2@2");
}

#[tokio::test(start_paused = true)]
async fn w07_invalid_falls_back_to_a_list() {
    let api =
        api().on_watch_error(status(422, "Invalid")).on_list("1", cms("p1@1")).on_watch([added("p2@2")]).stays_open();
    let store = Store::new();
    let mut changes = mirror(api.clone().events(), &store);
    let told = until(&mut changes, "added p2@2").await;
    assert_eq!(errors(&told), ["Fallback 422"]);
    assert_eq!(api.lines(), [EWL, LIST_AT_0, r#"W "1""#]);
    assert_eq!(held(&store), "p1@1 p2@2");
}

#[tokio::test(start_paused = true)]
async fn w08_the_bookmark_syncs() {
    let (api, store) = (api().on_watch([added("p1@1"), added("p2@2"), closing("2")]), Store::new());
    let mut changes = mirror(api.clone().events(), &store);
    let told = until(&mut changes, "synced 2").await;
    assert_eq!(told, ["added p1@1 initial", "added p2@2 initial", "synced 2"]);
    during(&mut changes, S * 5).await;
    assert_eq!(api.lines(), [EWL]);
    assert_eq!(held(&store), "p1@1 p2@2");
    assert_eq!(version(&store), "2");
}

#[tokio::test(start_paused = true)]
async fn w09_updates_and_deletions_before_the_bookmark_count() {
    let mut changed = crate::play::cm("p1@3");
    changed.data = Some([("field".to_owned(), "changed".to_owned())].into());
    let script =
        [added("p1@1"), added("p2@2"), WireEvent::modified(changed), added("p3@4"), deleted("p3@5"), closing("5")];
    let (api, store) = (api().on_watch(script), Store::new());
    let mut changes = mirror(api.clone().events(), &store);
    until(&mut changes, "synced 5").await;
    assert_eq!(api.lines(), [EWL]);
    assert_eq!(held(&store), "p1@3 p2@2");
    assert!(store.get(("ns", "p1")).is_some_and(|p1| p1.data.as_ref().is_some_and(|data| data["field"] == "changed")));
}

#[tokio::test(start_paused = true)]
async fn w10_too_many_requests_are_retried() {
    let api = api()
        .on_watch_error(status(429, "TooManyRequests"))
        .on_watch_error(status(429, "TooManyRequests"))
        .on_watch([added("p1@1"), closing("2")]);
    let store = Store::new();
    let mut changes = mirror(api.clone().events(), &store);
    let told = until(&mut changes, "synced 2").await;
    assert_eq!(errors(&told), ["Relist 429", "Relist 429"]);
    during(&mut changes, S * 5).await;
    assert_eq!(api.lines(), [EWL, EWL, EWL], "no list");
    assert_eq!(held(&store), "p1@1");
    let calls = api.calls();
    let (first, second) = (calls[1].at() - calls[0].at(), calls[2].at() - calls[1].at());
    assert!(
        first >= MS * 800 && first <= MS * 1601 && second >= MS * 1600 && second <= MS * 3201,
        "{first:?} {second:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn w11_a_stream_stopped_before_it_synced_is_asked_for_once_more() {
    let api = api().on_watch([added("p1@1")]).on_watch([added("p1@1"), closing("1")]);
    let store = Store::new();
    let mut changes = mirror(api.clone().events(), &store);
    let told = until(&mut changes, "synced 1").await;
    assert_eq!(errors(&told), ["Relist"]);
    during(&mut changes, S * 5).await;
    assert_eq!(api.lines(), [EWL, EWL]);
    assert_eq!(held(&store), "p1@1");
    let calls = api.calls();
    assert!(calls[1].at() - calls[0].at() >= MS * 800, "with backoff");

    // Twice in a row is enough: the third request is a list.
    let api = crate::play::api().on_watch([added("p1@1")]).on_watch([added("p1@1")]).on_list("1", cms("p1@1"));
    let store = Store::new();
    let mut changes = mirror(api.clone().events(), &store);
    assert_eq!(errors(&until(&mut changes, "synced 1").await), ["Relist", "Fallback"]);
    assert_eq!(api.lines(), [EWL, EWL, LIST_AT_0]);
}

#[tokio::test(start_paused = true)]
async fn w12_a_stream_stopped_after_it_synced_is_watched_on() {
    let api = api().on_watch([added("p1@1"), added("p2@2"), closing("2"), added("p3@3")]).on_watch([added("p4@4")]);
    let store = Store::new();
    let mut changes = mirror(api.clone().events(), &store);
    let told = until(&mut changes, "added p4@4").await;
    assert!(errors(&told).is_empty(), "{told:?}");
    during(&mut changes, S * 5).await;
    assert_eq!(api.lines(), [EWL, r#"W "3""#]);
    assert_eq!(held(&store), "p1@1 p2@2 p3@3 p4@4");
}

#[tokio::test(start_paused = true)]
async fn w13_an_established_watch_that_expires_is_an_error() {
    let expired = listwatch::Status::from_code(410).with_reason("Expired").with_message("rv already expired");
    let api = api().on_watch([added("p1@1"), closing("2"), added("p3@3")]).on_watch_error(Error::from_status(expired));
    let store = Store::new();
    let mut changes = mirror(api.clone().events(), &store);
    let error = loop {
        if let Err(error) = changes.next().await.expect("events never end") {
            break error;
        }
    };
    assert!(error.is_expired() && error.recovery() == Recovery::Relist);
    assert!(error.to_string().contains("rv already expired"), "{error}");
    assert_eq!(api.lines(), [EWL, r#"W "3""#]);
    assert_eq!(held(&store), "p1@1 p3@3", "the content stays");
}

#[tokio::test(start_paused = true)]
async fn w14_an_annotation_of_another_value_ends_nothing() {
    let other = WireEvent::Bookmark { resource_version: "2".into(), initial_events_end: Some("false".into()) };
    let (api, store) = (api().on_watch([added("p1@1"), added("p2@2"), other]), Store::new());
    let mut changes = mirror(api.clone().events(), &store);
    assert!(during(&mut changes, Duration::from_secs(20)).await.is_empty());
    assert_eq!(api.lines(), [EWL]);
    assert_eq!(held(&store), "");
}
