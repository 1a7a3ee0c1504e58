use super::{S, api, next, status, unreadable};
use crate::objects::{config_map, with_uid};
use futures::StreamExt;
use listwatch::{
    Error, Recovery, Status, UnreadableAs,
    source::{ListWatch, WireEvent},
    testing::Step,
};
use std::time::Duration;
use tokio::time::Instant;

fn added(name: &str, version: &str) -> WireEvent<k8s_openapi::api::core::v1::ConfigMap> {
    WireEvent::added(config_map(name, version))
}
fn wait<T>(seconds: u64) -> Step<T> {
    Step::Wait(Duration::from_secs(seconds))
}
fn item<T>(item: T) -> Step<T> {
    Step::Item(Ok(item))
}

#[tokio::test(start_paused = true)]
async fn the_closing_bookmark_ends_the_snapshot_and_the_watch_goes_on() {
    let script = [
        added("a", "9"),
        added("b", "2"),
        WireEvent::modified(config_map("a", "11")),
        WireEvent::deleted(config_map("b", "12")),
        WireEvent::initial_events_end("12"),
        added("c", "13"),
    ];
    let api = api().on_watch(script);
    let mut events = api.clone().events();
    let told = next(&mut events, 8).await;
    assert_eq!(told, ["start", "listed a", "listed b", "listed a", "deleted b", "end 12", "watching 12", "added c"]);
    assert_eq!(api.lines(), [r#"WL """#], "one connection");
    let params = api.calls()[0].watch().unwrap().clone();
    assert!(params.timeout >= S * 300 && params.timeout < S * 600, "{params:?}");
}

#[tokio::test(start_paused = true)]
async fn each_object_of_a_snapshot_in_progress_is_heard() {
    let script = [
        item(added("a", "1")),
        wait(3),
        item(added("b", "2")),
        wait(3),
        item(WireEvent::deleted(config_map("a", "3"))),
    ];
    let mut events = api().on_watch_steps(script).events();
    let (stats, start) = (events.stats(), Instant::now());
    let heard = || stats.get().last_heard.map(|heard| heard - start);
    assert_eq!(heard(), None);
    for (name, at) in [("start", 0), ("listed a", 0), ("listed b", 3), ("deleted a", 6)] {
        assert_eq!(next(&mut events, 1).await, [name]);
        assert_eq!(heard(), Some(S * at), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_annotation_true_closes_it() {
    let other = WireEvent::Bookmark { resource_version: "3".into(), initial_events_end: Some("false".into()) };
    let mut events = api().on_watch([other, WireEvent::initial_events_end("4")]).events();
    assert_eq!(next(&mut events, 2).await, ["start", "end 4"]);
}

#[tokio::test(start_paused = true)]
async fn a_plain_bookmark_shows_a_server_that_ignores_the_request() {
    let api = api().on_watch([added("a", "1"), WireEvent::bookmark("3")]).on_list("7", []);
    let mut events = api.clone().events();
    assert_eq!(next(&mut events, 5).await, ["start", "listed a", "Fallback", "start", "end 7"]);
    assert_eq!(api.lines(), [r#"WL """#, r#"L "0" limit 500"#]);
}

#[tokio::test(start_paused = true)]
async fn a_closing_bookmark_without_a_version_does_not_count() {
    let api = api().on_watch([WireEvent::initial_events_end("")]).stays_open().on_watch([]).stays_open();
    let mut events = api.clone().events();
    assert_eq!(next(&mut events, 3).await, ["start", "Relist", "start"]);
    assert_eq!(api.lines(), [r#"WL """#, r#"WL """#]);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_falls_back_at_once_and_is_remembered() {
    let api =
        api().on_watch_error(status(422)).on_list("7", []).on_watch_error(status(410)).on_list("8", []).on_watch([]);
    let (mut events, start) = (api.clone().events(), Instant::now());
    assert_eq!(next(&mut events, 3).await, ["Fallback 422", "start", "end 7"]);
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(next(&mut events, 4).await, ["Relist 410", "start", "end 8", "watching 8"]);
    let lines = [r#"WL """#, r#"L "0" limit 500"#, r#"W "7""#, r#"L "7""#, r#"W "8""#];
    assert_eq!(api.lines(), lines);
}

#[tokio::test(start_paused = true)]
async fn thirty_seconds_without_added_are_the_deadline_and_added_extends_it() {
    let steps = [item(added("a", "1")), wait(25), item(added("b", "2")), wait(25), item(added("c", "3")), wait(31)];
    let api = api().on_watch_steps(steps).stays_open().on_list("7", []);
    let (mut events, start) = (api.clone().events(), Instant::now());
    let told = next(&mut events, 5).await;
    assert_eq!(told, ["start", "listed a", "listed b", "listed c", "Fallback"]);
    assert_eq!(start.elapsed(), S * 80);
    assert_eq!(next(&mut events, 2).await, ["start", "end 7"]);
}

#[tokio::test(start_paused = true)]
async fn modified_does_not_extend_the_deadline() {
    let modified = || item(WireEvent::modified(with_uid("a", "u", "2")));
    let steps = [item(added("a", "1")), wait(20), modified(), wait(20), modified()];
    let mut events = api().on_watch_steps(steps).on_list("7", []).events();
    let start = Instant::now();
    assert_eq!(next(&mut events, 4).await, ["start", "listed a", "listed a", "Fallback"]);
    assert_eq!(start.elapsed(), S * 30);
}

#[tokio::test(start_paused = true)]
async fn ten_deadlines_are_the_longest_in_all() {
    let steps = (0..40).flat_map(|n| [item(added(&format!("n{n}"), "1")), wait(20)]);
    let mut events = api().on_watch_steps(steps).on_list("7", []).events();
    let start = Instant::now();
    while let Some(Ok(_)) = events.next().await {}
    assert_eq!(start.elapsed(), S * 300);
}

#[tokio::test(start_paused = true)]
async fn the_deadline_is_settable() {
    let mut events = api().on_watch([]).stays_open().on_list("7", []).events().bookmark_deadline(S * 2);
    let start = Instant::now();
    assert_eq!(next(&mut events, 2).await, ["start", "Fallback"]);
    assert_eq!(start.elapsed(), S * 2);
}

#[tokio::test(start_paused = true)]
async fn a_slow_consumer_is_not_taken_for_a_missing_bookmark() {
    let script = [added("a", "1"), added("b", "2"), WireEvent::initial_events_end("3")];
    let mut events = api().on_watch(script).events();
    for word in ["start", "listed a", "listed b", "end 3"] {
        assert_eq!(next(&mut events, 1).await, [word]);
        tokio::time::sleep(S * 100).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_ends_before_its_bookmark_is_tried_once_more() {
    let api = api().on_watch([added("a", "1")]).on_watch([]).on_watch([]).on_list("7", []);
    let mut events = api.clone().events();
    let told = next(&mut events, 7).await;
    assert_eq!(told, ["start", "listed a", "Relist", "start", "Fallback", "start", "end 7"]);
    assert_eq!(events.stats().get().short_watches, 1);
}

#[tokio::test(start_paused = true)]
async fn an_error_event_of_a_lost_version_asks_without_it() {
    let gone = WireEvent::Error(Error::from_event(Status::from_code(410).with_reason("Expired")));
    let api = api()
        .on_watch([WireEvent::initial_events_end("9"), gone])
        .on_watch_error(status(410))
        .on_watch([WireEvent::initial_events_end("12")]);
    let mut events = api.clone().events();
    assert_eq!(next(&mut events, 4).await, ["start", "end 9", "watching 9", "Relist 410"]);
    assert_eq!(next(&mut events, 3).await, ["Fallback 410", "start", "end 12"]);
    assert_eq!(api.lines(), [r#"WL """#, r#"WL "9""#, r#"WL """#]);
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_object_is_skipped_in_a_snapshot() {
    let skip = Step::Item(Err(unreadable(UnreadableAs::Added, "bad", "3")));
    let steps = [item(added("a", "1")), skip, item(WireEvent::initial_events_end("4"))];
    let mut events = api().on_watch_steps(steps).events();
    assert_eq!(next(&mut events, 4).await, ["start", "listed a", "Skip", "end 4"]);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_offers_none_is_asked_for_a_list_without_an_error() {
    let api = api().without_watch_list().on_list("7", []);
    assert_eq!(next(&mut api.clone().events(), 2).await, ["start", "end 7"]);
    let mut watch_list = api.watch_list();
    let error = watch_list.next().await.unwrap().unwrap_err();
    assert!(error.is_unsupported() && error.recovery() == Recovery::Fallback);
    assert!(watch_list.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn watch_list_goes_on_over_reconnects_and_ends_with_a_relist() {
    let api = api()
        .on_watch([WireEvent::initial_events_end("9"), added("a", "10")])
        .on_watch([added("b", "11")])
        .on_watch_error(status(410));
    let mut events = api.clone().watch_list();
    let told = next(&mut events, 7).await;
    assert_eq!(told, ["start", "end 9", "watching 9", "added a", "added b", "Relist 410", "over"]);
    assert_eq!(api.lines(), [r#"WL """#, r#"W "10""#, r#"W "11""#]);
}

#[tokio::test(start_paused = true)]
async fn what_is_elsewhere_extends_the_deadline() {
    let elsewhere = || [wait(20), item(WireEvent::Elsewhere("5".into()))];
    let end = [wait(20), item(WireEvent::initial_events_end("9"))];
    let api = api().on_watch_steps(elsewhere().into_iter().chain(elsewhere()).chain(end));
    assert_eq!(next(&mut api.events(), 2).await, ["start", "end 9"]);
}
