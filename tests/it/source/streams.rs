use super::{api, listed, next, status};
use crate::objects::config_map;
use futures::{StreamExt, stream::FusedStream};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::Error;
use listwatch::{
    Grammar, Status,
    source::{AnySource, Body, ListBody, ListParams, ListWatch, WatchBody, WatchParams, WireEvent},
};

#[test]
fn a_watch_cannot_start_without_a_version() {
    for version in ["", "0"] {
        assert!(api().watch_from(version).unwrap_err().to_string().contains(version));
        assert!(api().events().resume_from(Some(version.into())).is_err());
    }
    assert!(api().events().resume_from(None).is_ok());
}

#[tokio::test(start_paused = true)]
async fn resume_from_begins_with_the_watch() {
    let api = api().on_watch([WireEvent::added(config_map("a", "8"))]);
    let mut events = api.clone().events().resume_from(Some("7".into())).unwrap();
    assert_eq!(next(&mut events, 2).await, ["watching 7", "added a"]);
    assert_eq!(api.lines(), [r#"W "7""#]);
}

#[tokio::test(start_paused = true)]
async fn watch_from_ends_after_a_relist() {
    let mut watch = api().on_watch_error(status(429)).on_watch_error(status(410)).watch_from("7").unwrap();
    assert_eq!(next(&mut watch, 2).await, ["Resume 429", "Relist 410"]);
    assert!(!watch.is_terminated());
    assert_eq!(next(&mut watch, 2).await, ["over", "over"]);
    assert!(watch.is_terminated());
}

#[tokio::test(start_paused = true)]
async fn what_every_stream_yields_follows_the_grammar() {
    let gone = WireEvent::Error(Error::from_event(Status::from_code(410)));
    let api = api()
        .on_watch([WireEvent::added(config_map("a", "1"))])
        .on_watch_error(status(500))
        .on_list_error(status(500))
        .on_watch([WireEvent::added(config_map("a", "1")), WireEvent::initial_events_end("2"), gone])
        .on_watch([WireEvent::initial_events_end("3"), WireEvent::deleted(config_map("a", "4"))]);
    let (mut events, mut grammar) = (api.events(), Grammar::Start);
    for _ in 0..14 {
        match events.next().await.unwrap() {
            Ok(event) => grammar.event(&event).unwrap(),
            Err(error) => grammar.error(error.recovery()),
        }
    }
    assert_eq!(grammar, Grammar::Live);
}

/// A source whose body panics, as a user's might.
struct Panics;
impl ListWatch for Panics {
    type Object = ConfigMap;
    async fn list_page(&self, _: ListParams) -> Result<ListBody<ConfigMap>, Error> {
        Ok(Body::new(futures::stream::poll_fn(|_| panic!("user code"))))
    }
    async fn open_watch(&self, _: WatchParams) -> Result<WatchBody<ConfigMap>, Error> {
        Ok(Body::new(futures::stream::pending()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_the_source_goes_out_and_finishes_the_stream() {
    let mut list = Panics.list();
    let panicked = std::panic::AssertUnwindSafe(list.next());
    assert!(futures::FutureExt::catch_unwind(panicked).await.is_err());
    assert!(list.is_terminated());
    assert!(list.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn names_and_figures_can_be_read() {
    let api = listed().on_watch([WireEvent::added(config_map("b", "8"))]);
    let mut events = api.events();
    let stats = events.stats();
    assert!(format!("{events:?}").contains("streams.rs"), "{events:?}");
    next(&mut events, 5).await;
    let figures = stats.get();
    assert_eq!((figures.lists, figures.lists_done, figures.last_list_objects), (1, 1, 1));
    assert_eq!((figures.watches, figures.events, figures.last_version.as_str()), (1, 1, "8"));
    assert!(figures.last_heard.is_some());
    let erased: AnySource<ConfigMap> = listed().erase();
    assert!(format!("{:?}", erased.clone().list().name("mine")).contains("mine"));
}

#[tokio::test(start_paused = true)]
async fn a_relist_can_be_asked_for_and_is_taken_at_the_position() {
    let api = listed().on_watch([WireEvent::added(config_map("b", "8"))]).stays_open().on_list("9", []).on_watch([]);
    let mut events = api.clone().events();
    let relist = events.relist_handle();
    next(&mut events, 5).await;
    relist.relist();
    relist.relist();
    assert_eq!(next(&mut events, 2).await, ["start", "end 9"]);
    assert!(futures::FutureExt::now_or_never(events.next()).is_none());
    assert_eq!(api.lines()[1..], [r#"W "7""#, r#"L "8""#, r#"W "9""#]);
}

#[tokio::test(start_paused = true)]
async fn a_relist_asked_for_during_a_snapshot_comes_after_it() {
    let api = listed().on_list("9", []).on_watch([]);
    let mut events = api.clone().events();
    events.relist_handle().relist();
    assert_eq!(next(&mut events, 5).await, ["start", "listed a", "end 7", "start", "end 9"]);
}
