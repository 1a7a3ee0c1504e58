use super::{S, api, listed, next, status};
use crate::objects::config_map;
use futures::StreamExt;
use listwatch::{
    Error, Status,
    source::{ListWatch, WireEvent},
};
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_by_itself_is_reopened_after_a_second_since_it_was_opened() {
    let api_ =
        api().on_watch([WireEvent::added(config_map("a", "8"))]).on_watch([WireEvent::added(config_map("b", "9"))]);
    let (mut watch, start) = (api_.clone().watch_from("7").unwrap(), Instant::now());
    assert_eq!(next(&mut watch, 3).await, ["watching 7", "added a", "added b"]);
    assert_eq!(start.elapsed(), S);

    let api_ =
        api().on_watch([WireEvent::added(config_map("a", "8"))]).on_watch([WireEvent::added(config_map("b", "9"))]);
    let mut watch = api_.clone().watch_from("7").unwrap();
    next(&mut watch, 2).await;
    tokio::time::sleep(S * 3).await;
    let start = Instant::now();
    assert_eq!(next(&mut watch, 1).await, ["added b"]);
    assert_eq!(start.elapsed(), Duration::ZERO, "time spent elsewhere counts");
}

#[tokio::test(start_paused = true)]
async fn after_an_error_a_tenth_of_the_floor() {
    let mut api = listed();
    for _ in 0..5 {
        api = api.on_watch_error(status(401));
    }
    let mut events = api.clone().events();
    next(&mut events, 8).await;
    assert!(futures::FutureExt::now_or_never(events.next()).is_none());
    let calls = api.calls();
    for pair in calls[1..].windows(2) {
        assert_eq!(pair[1].at() - pair[0].at(), S / 10);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_everything_never_makes_the_stream_hot() {
    let (mut events, start, mut items) = (api().on_watch_error(status(422)).events(), Instant::now(), 0);
    while start.elapsed() < S * 60 {
        assert!(events.next().await.unwrap().is_err());
        items += 1;
    }
    assert!(items <= 602, "{items}");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_opened_before_retry_after() {
    let busy = || Error::from_status(Status::from_code(429).with_retry_after(S * 7));
    let api = listed().on_watch_error(busy()).on_watch([]);
    let mut events = api.clone().events();
    next(&mut events, 5).await;
    let calls = api.calls();
    assert_eq!(calls[2].at() - calls[1].at(), S * 7);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_waits_for_its_retry_after_alone() {
    let too_large = Status::from_code(504).with_cause("ResourceVersionTooLarge", "").with_retry_after(S);
    let api = listed()
        .on_watch_error(Error::from_status(Status::from_code(410)))
        .on_list_error(Error::from_status(too_large))
        .on_list("9", []);
    let mut events = api.clone().events();
    assert_eq!(next(&mut events, 7).await[3..], ["Relist 410", "Fallback 504", "start", "end 9"]);
    assert_eq!(api.lines()[2..], [r#"L "7""#, r#"L "" limit 500"#]);
    let calls = api.calls();
    assert_eq!(calls[3].at() - calls[2].at(), S);
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_cut_to_five_minutes() {
    let error = Error::from_status(Status::from_code(503).with_retry_after(S * 86_400));
    assert_eq!(error.retry_after(), Some(S * 300));
}
