use super::{S, api, listed, next, status, unreadable};
use crate::objects::config_map;
use futures::StreamExt;
use listwatch::{
    Error, Status, UnreadableAs,
    source::{ListWatch, WireEvent},
    testing::Step,
};
use std::time::Duration;
use tokio::time::Instant;

/// tokio's timers round up to whole milliseconds.
const TICK: Duration = Duration::from_millis(2);
const QUIET: Duration = Duration::from_secs(20_000);

fn event(code: u16, reason: &str) -> Error {
    Error::from_event(Status::from_code(code).with_reason(reason))
}

#[tokio::test(start_paused = true)]
async fn the_first_watch_is_told_after_a_second_and_only_once() {
    let api = listed().on_watch_steps([Step::Wait(S * 5), Step::Item(Ok(WireEvent::bookmark("8")))]).stays_open();
    let mut events = api.clone().events();
    assert_eq!(next(&mut events, 3).await, ["start", "listed a", "end 7"]);
    let start = Instant::now();
    assert_eq!(next(&mut events, 1).await, ["watching 7"]);
    assert_eq!(start.elapsed(), S);
    assert_eq!(next(&mut events, 1).await, ["bookmark 8"]);
    assert_eq!(api.lines(), [r#"L "0" limit 500"#, r#"W "7""#]);
}

#[tokio::test(start_paused = true)]
async fn a_first_event_brings_it_forward() {
    let mut events = listed().on_watch([WireEvent::added(config_map("b", "8"))]).events();
    let start = Instant::now();
    let told = next(&mut events, 5).await;
    assert_eq!(told[3..], ["watching 7", "added b"]);
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn it_is_told_again_after_an_error_but_not_after_a_clean_end() {
    let added = |name: &str, version: &str| WireEvent::added(config_map(name, version));
    let mut events = listed()
        .on_watch([added("b", "8")])
        .on_watch([added("c", "9"), WireEvent::Error(event(429, "TooManyRequests"))])
        .on_watch([added("d", "10")])
        .events();
    next(&mut events, 3).await;
    let told = next(&mut events, 6).await;
    assert_eq!(told, ["watching 7", "added b", "added c", "Resume 429", "watching 9", "added d"]);
}

#[tokio::test(start_paused = true)]
async fn a_clean_end_resumes_without_an_item_at_the_last_version() {
    let script = [
        WireEvent::added(config_map("b", "8")),
        WireEvent::modified(config_map("b", "9")),
        WireEvent::deleted(config_map("a", "4")),
    ];
    let api = listed().on_watch(script).on_watch([WireEvent::bookmark("12")]).on_watch([]);
    let mut events = api.clone().events();
    let told = next(&mut events, 8).await;
    assert_eq!(told[3..], ["watching 7", "added b", "modified b", "deleted a", "bookmark 12"]);
    assert!(futures::FutureExt::now_or_never(events.next()).is_none());
    tokio::time::sleep(S * 2).await;
    assert!(futures::FutureExt::now_or_never(events.next()).is_none());
    assert_eq!(api.lines()[1..], [r#"W "7""#, r#"W "9""#, r#"W "12""#], "the deletion's older version moved nothing");
}

#[tokio::test(start_paused = true)]
async fn the_life_is_drawn_from_the_setting_and_never_zero_on_the_wire() {
    for (shortest, low, high) in [(300, 300, 600), (1800, 1800, 3600), (1, 1, 2)] {
        let api = api();
        let mut watch = api.clone().watch_from("7").unwrap().watch_timeout(S * shortest);
        assert!(futures::FutureExt::now_or_never(watch.next()).is_none());
        let asked = api.calls()[0].watch().unwrap().timeout_seconds();
        assert!((low..=high).contains(&asked), "{asked}");
    }
    let api = api();
    let mut watch = api.clone().watch_from("7").unwrap().watch_timeout(S / 10);
    assert!(futures::FutureExt::now_or_never(watch.next()).is_none());
    assert_eq!(api.calls()[0].watch().unwrap().timeout_seconds(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_client_ends_a_watch_a_tenth_after_its_life_and_takes_another_connection() {
    let api = api().on_watch([]).stays_open().on_watch([WireEvent::bookmark("9")]);
    let mut watch = api.clone().watch_from("7").unwrap();
    assert_eq!(next(&mut watch, 2).await, ["watching 7", "bookmark 9"]);
    let calls = api.calls();
    let first = calls[0].watch().unwrap();
    let lived = calls[1].at() - calls[0].at();
    assert!(lived - (first.timeout + S * 30) <= TICK, "{lived:?}");
    assert!(!first.new_connection && calls[1].watch().unwrap().new_connection);
}

#[tokio::test(start_paused = true)]
async fn whatever_arrives_the_life_is_the_end() {
    let steps = (0..).flat_map(|n| [Step::Wait(S), Step::Item(Ok(WireEvent::bookmark(n.to_string())))]).take(2000);
    let api = api().on_watch_steps(steps).on_watch([]);
    let mut watch = api.clone().watch_from("7").unwrap();
    while api.calls().len() < 2 {
        let _ = tokio::time::timeout(S * 5, watch.next()).await;
    }
    let calls = api.calls();
    let lived = calls[1].at() - calls[0].at();
    assert!(lived <= calls[0].watch().unwrap().timeout + S * 31, "{lived:?}");
}

#[tokio::test(start_paused = true)]
async fn silence_counts_once_the_server_has_sent_a_bookmark() {
    let api_ = api().on_watch([WireEvent::bookmark("8")]).stays_open().on_watch([WireEvent::bookmark("9")]);
    let (mut watch, start) = (api_.clone().watch_from("7").unwrap(), Instant::now());
    assert_eq!(next(&mut watch, 3).await, ["watching 7", "bookmark 8", "bookmark 9"]);
    assert_eq!(start.elapsed(), S * 150);
    assert!(api_.calls()[1].watch().unwrap().new_connection);

    let api_ = api().on_watch([WireEvent::added(config_map("a", "8"))]).stays_open().on_watch([]);
    let mut watch = api_.clone().watch_from("7").unwrap();
    assert_eq!(next(&mut watch, 2).await, ["watching 7", "added a"]);
    let _ = tokio::time::timeout(S * 299, watch.next()).await;
    assert_eq!(api_.calls().len(), 1, "a server that sends none may be silent for its whole life");
}

#[tokio::test(start_paused = true)]
async fn the_closing_bookmark_of_a_watch_list_does_not_arm_the_silence() {
    let api = api().on_watch([WireEvent::initial_events_end("8")]).stays_open().on_watch([]);
    let mut events = api.clone().events();
    assert_eq!(next(&mut events, 3).await, ["start", "end 8", "watching 8"]);
    let _ = tokio::time::timeout(S * 299, events.next()).await;
    assert_eq!(api.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_event_is_skipped_and_moves_the_position() {
    let skip = |came_as, version| Step::Item(Err(unreadable(came_as, "bad", version)));
    let steps = [skip(UnreadableAs::Modified, "9"), skip(UnreadableAs::Deleted, "8")];
    let api = api().on_watch_steps(steps).on_watch([]);
    let mut watch = api.clone().watch_from("7").unwrap();
    assert_eq!(next(&mut watch, 3).await, ["watching 7", "Skip", "Skip"]);
    let _ = tokio::time::timeout(S * 5, watch.next()).await;
    assert_eq!(api.lines(), [r#"W "7""#, r#"W "9""#]);
}

#[tokio::test(start_paused = true)]
async fn an_event_without_a_readable_name_is_garbage() {
    let api = api().on_watch_steps([Step::Item(Err(unreadable(UnreadableAs::Added, "", "9")))]).stays_open();
    let error = api.watch_from("7").unwrap().next().await.unwrap().unwrap_err();
    assert!(error.is_garbage(), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn short_watches_are_errors_and_the_tenth_relists() {
    let mut api = listed();
    for _ in 0..9 {
        api = api.on_watch([]);
    }
    let api = api.on_watch_steps([Step::Item(Err(Error::interrupted("reset")))]).on_list("8", []).on_watch([]);
    let mut events = api.clone().events();
    next(&mut events, 3).await;
    let told = next(&mut events, 12).await;
    assert_eq!(told[..9], ["Resume"; 9]);
    assert_eq!(told[9..], ["Relist", "start", "end 8"]);
    assert_eq!(events.stats().get().short_watches, 10);
    let mut watch = super::api().on_watch([]).stays_open().on_watch([]).watch_from("7").unwrap();
    assert_eq!(next(&mut watch, 1).await, ["watching 7"], "one that stood for a second is not");
}

#[tokio::test(start_paused = true)]
async fn half_the_life_bounds_what_is_short() {
    let api = api().on_watch_steps([Step::Wait(S * 3 / 4)]).on_watch([]);
    let mut watch = api.clone().watch_from("7").unwrap().watch_timeout(S).floor(Duration::ZERO);
    let _ = tokio::time::timeout(S / 2, watch.next()).await;
    let item = tokio::time::timeout(S, watch.next()).await;
    let timeout = api.calls()[0].watch().unwrap().timeout;
    let short = matches!(item, Ok(Some(Err(error))) if error.is_short_watch());
    assert_eq!(short, timeout / 2 > S * 3 / 4, "{timeout:?}");
}

#[tokio::test(start_paused = true)]
async fn error_events_are_judged_by_the_table() {
    for (error, word) in [
        (event(410, "Expired"), "Relist 410"),
        (event(429, "TooManyRequests"), "Resume 429"),
        (event(500, "InternalError"), "Resume 500"),
        (event(500, "StorageReadError"), "Relist 500"),
        (event(401, "Unauthorized"), "Resume 401"),
        (event(403, "Forbidden"), "Relist 403"),
        (Error::other("no Status"), "Relist"),
    ] {
        let mut events = listed().on_watch([WireEvent::Error(error)]).events();
        assert_eq!(next(&mut events, 4).await[3..], [word]);
    }
    let mut events = listed().on_watch([WireEvent::Unknown("NEW".into())]).events();
    assert_eq!(next(&mut events, 4).await[3..], ["Resume"]);
}

#[tokio::test(start_paused = true)]
async fn between_events_only_a_deadline_wakes() {
    let mut events = tokio_test::task::spawn(listed().on_watch_steps([]).stays_open().events());
    let mut told = 0;
    for _ in 0..2 {
        while events.poll_next().is_ready() {
            told += 1;
        }
        tokio::time::sleep(S + TICK).await; // "watching" is told after a second
    }
    assert_eq!(told, 4);
    for second in 0..290 {
        tokio::time::sleep(S).await;
        assert!(!events.is_woken(), "after {second} s");
    }
    tokio::time::sleep(S * 340).await;
    assert!(events.is_woken(), "the life of a watch is five to ten minutes");
}

#[tokio::test(start_paused = true)]
async fn an_open_that_is_never_answered_is_given_up_at_the_end_of_its_life() {
    let api = api().on_watch([]).watch_delayed(QUIET).on_watch([]);
    let mut watch = api.clone().watch_from("7").unwrap();
    let start = Instant::now();
    let error = watch.next().await.unwrap().unwrap_err();
    assert!(error.is_unreachable());
    let waited = start.elapsed() - (api.calls()[0].watch().unwrap().timeout + S * 30);
    assert!(waited <= TICK, "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_resource_that_cannot_be_watched_is_said_once_and_asked_again_after_minutes() {
    let refused = || status(405);
    let api = listed().on_watch_error(refused()).on_watch_error(refused()).on_watch([WireEvent::bookmark("9")]);
    let mut events = api.clone().events();
    assert_eq!(next(&mut events, 6).await[3..], ["Resume 405", "watching 7", "bookmark 9"]);
    let calls = api.calls();
    for pair in calls[1..].windows(2) {
        let pause = pair[1].at() - pair[0].at();
        assert!(pause >= S * 300 && pause < S * 600, "{pause:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn within_its_window_an_internal_error_only_reopens() {
    let internal = || WireEvent::Error(event(500, "InternalError"));
    let mut api = listed();
    for _ in 0..40 {
        api = api.on_watch_steps([Step::Wait(S), Step::Item(Ok(internal()))]);
    }
    let api = api.on_list("8", []);
    let mut events = api.clone().events().internal_error_window(S * 30).floor(Duration::ZERO);
    next(&mut events, 3).await;
    let mut resumed = 0;
    loop {
        match &*super::word(&events.next().await.unwrap()) {
            "Resume 500" => resumed += 1,
            "Relist 500" => break,
            word => assert!(word.starts_with("watching"), "{word}"),
        }
    }
    assert_eq!(resumed, 31, "as client-go's window of 30 s");
}

#[tokio::test(start_paused = true)]
async fn what_happens_elsewhere_shows_that_the_watch_stands_and_moves_its_position() {
    let elsewhere = |version: &str| WireEvent::Elsewhere(version.into());
    let api = listed().on_watch([elsewhere("8"), elsewhere("9"), elsewhere("8")]).on_watch_steps([]);
    let mut events = api.clone().events();
    next(&mut events, 3).await;
    assert_eq!(next(&mut events, 1).await, ["watching 8"]);
    assert!(tokio::time::timeout(S / 2, events.next()).await.is_err(), "a watch that brought something is not short");
    assert_eq!(events.stats().get().last_version.as_str(), "9", "an older one moves nothing");
    assert!(tokio::time::timeout(S * 2, events.next()).await.is_err());
    assert_eq!(api.lines()[1..], [r#"W "7""#, r#"W "9""#]);
}
