//! A resource that the server does not have, taken for an empty one.

use super::{S, api, next, status, word};
use crate::objects::config_map;
use futures::{FutureExt, StreamExt};
use listwatch::{
    Change, Error, EventStreamExt, State, Status, Store,
    policy::FixedBackoff,
    source::{ListPart, ListWatch, WireEvent},
    testing::Step,
};
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn it_is_empty_once_and_picked_up_when_it_comes() {
    let api = api()
        .on_watch_error(status(404))
        .on_watch_error(status(404))
        .on_watch_error(status(404))
        .on_watch([WireEvent::added(config_map("a", "5")), WireEvent::initial_events_end("5")]);
    let mut events = api.clone().events().absent_is_empty();
    assert_eq!(next(&mut events, 5).await, ["start", "end ", "start", "listed a", "end 5"]);
    assert_eq!(api.lines(), [r#"WL """#; 4]);
    let waits: Vec<_> = api.calls().windows(2).map(|pair| pair[1].at() - pair[0].at()).collect();
    for (wait, shortest) in waits.into_iter().zip([S, S * 2, S * 4]) {
        assert!(wait >= shortest && wait < shortest * 2, "{wait:?} for {shortest:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_goes_leaves_the_store_empty_and_live() {
    let api = api()
        .on_watch([WireEvent::added(config_map("a", "5")), WireEvent::initial_events_end("5")])
        .on_watch_error(status(404)) // the watch
        .on_watch_error(status(404)) // its relist
        .on_watch([WireEvent::added(config_map("b", "9")), WireEvent::initial_events_end("9")]);
    let store = Store::new();
    let events = api.clone().events().absent_is_empty().backoff(FixedBackoff::new(S));
    let mut changes = events.reflect(&store).map(|change| match change {
        Ok(Change::Added { object, .. }) => format!("added {}", object.metadata.name.clone().unwrap_or_default()),
        Ok(Change::Deleted { last, why }) => {
            format!("deleted {} {why:?}", last.metadata.name.clone().unwrap_or_default())
        }
        Ok(Change::Synced { .. }) => "synced".into(),
        Ok(_) => "other".into(),
        Err(error) => format!("{:?}", error.recovery()),
    });
    let mut told = async |count| (&mut changes).take(count).collect::<Vec<_>>().await;
    assert_eq!(told(2).await, ["added a", "synced"]);
    assert_eq!(told(4).await, ["other", "Relist", "deleted a Missed", "synced"], "the other is Watching");
    assert_eq!((store.len(), store.state()), (0, State::Live));
    assert!(store.ready().now_or_never().is_some_and(|ready| ready.is_ok()));
    assert_eq!(told(2).await, ["added b", "synced"]);
    assert_eq!(api.lines(), [r#"WL """#, r#"W "5""#, r#"WL "5""#, r#"WL """#], "one that comes back is another one");
}

#[tokio::test(start_paused = true)]
async fn after_a_failure_it_is_told_again() {
    let api =
        api().without_watch_list().on_list_error(status(404)).on_list_error(status(503)).on_list_error(status(404));
    let mut events = api.clone().events().absent_is_empty();
    assert_eq!(next(&mut events, 5).await, ["start", "end ", "Relist 503", "start", "end "]);
}

#[tokio::test(start_paused = true)]
async fn the_longest_wait_can_be_set_and_a_relist_does_not_wait() {
    let lists = (0..4).fold(api().without_watch_list(), |api, _| api.on_list_error(status(404)));
    let mut events = lists.clone().events().absent_is_empty().look_again(S / 2);
    assert_eq!(next(&mut events, 2).await, ["start", "end "]);
    let asked = events.relist_handle();
    assert!(tokio::time::timeout(S, events.next()).await.is_err(), "told already");
    assert_eq!(lists.calls().len(), 2, "looked for again within a second");
    let before = Instant::now();
    asked.relist();
    assert_eq!(next(&mut events, 2).await, ["start", "end "]);
    assert_eq!(before.elapsed(), std::time::Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_list_of_it_is_empty_and_so_is_each_poll() {
    let mut list = api().on_list_error(status(404)).list().absent_is_empty();
    assert_eq!(next(&mut list, 3).await, ["start", "end ", "over"]);
    let twice = api().on_list_error(status(404)).on_list_error(status(404)).on_list("", [config_map("a", "1")]);
    let (mut poll, start) = (twice.poll_every(S * 10).absent_is_empty(), Instant::now());
    assert_eq!(next(&mut poll, 7).await, ["start", "end ", "start", "end ", "start", "listed a", "end "]);
    assert_eq!(start.elapsed(), S * 20);
}

#[tokio::test(start_paused = true)]
async fn otherwise_and_for_403_it_is_a_failure() {
    let api = |code| api().without_watch_list().on_list_error(status(code));
    assert_eq!(word(&api(404).events().next().await.unwrap()), "Relist 404");
    assert_eq!(word(&api(403).events().absent_is_empty().next().await.unwrap()), "Relist 403");
}

#[tokio::test(start_paused = true)]
async fn a_list_that_has_begun_is_not_absent_whatever_it_ends_with() {
    let broken = [Step::Item(Ok(ListPart::Item(config_map("a", "5").into()))), Step::Item(Err(status(404)))];
    let mut events = api().without_watch_list().on_list_steps(broken).events().absent_is_empty();
    assert_eq!(next(&mut events, 3).await, ["start", "listed a", "Relist 404"]);
}

#[tokio::test(start_paused = true)]
async fn a_404_that_says_when_to_come_again_is_heeded() {
    let later = Error::from_status(Status::from_code(404).with_retry_after(S * 60));
    let api = api().without_watch_list().on_list_error(later).on_list("7", []);
    let (mut events, start) = (api.events().absent_is_empty(), Instant::now());
    assert_eq!(next(&mut events, 3).await, ["start", "end ", "start"]);
    assert_eq!(start.elapsed(), S * 60);
}

/// Over HTTP, against the testing room's server: a definition that comes, goes and comes back.
#[cfg(feature = "client")]
#[tokio::test]
async fn a_definition_comes_goes_and_comes_back() {
    use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
    use listwatch::{
        Reflector,
        client::{Client, Collection},
        testing::{ApiServer, Resource},
    };
    use serde_json::json;
    use std::time::Duration;

    let server = ApiServer::start().await;
    let client = Client::new(&server.url()).unwrap();
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("shop.example", "v1", "Cart"));
    let carts = Collection::<DynamicObject>::all_with(client, &kind);
    let settings = |events: listwatch::source::Events<_>| {
        events.absent_is_empty().look_again(Duration::from_millis(20)).floor(Duration::from_millis(50))
    };
    let reflector =
        Reflector::new(carts).events(settings).backoff(FixedBackoff::new(Duration::from_millis(10))).spawn();
    let store = reflector.store();
    store.ready().await.unwrap();
    assert!(store.is_empty());
    for name in ["a", "b"] {
        server.register(Resource::custom("carts.shop.example"));
        server.create("carts.shop.example", json!({"metadata": {"name": name}}));
        store.wait_until(|content| content.get(("default", name)).is_some()).await.unwrap();
        server.unregister("carts.shop.example");
        store.wait_until(|content| content.is_empty()).await.unwrap();
    }
    reflector.stop().await;
}
