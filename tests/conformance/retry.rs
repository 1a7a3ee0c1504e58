//! D1 to D4: `retry_with_deadline_test.go`, as what a watch does within `internal_error_window`.

use crate::play::{S, during, error_event, without_watch_list};
use listwatch::source::ListWatch;
use std::time::Duration;

#[derive(Clone, Copy)]
enum Step {
    /// The watch is cut without an error event.
    None,
    Internal,
    Other,
}

/// What the window makes of errors that come so many seconds after one another: whether each is retried.
async fn played(window: Duration, steps: &[(u32, Step)]) -> Vec<bool> {
    let mut retried = Vec::new();
    let mut api = without_watch_list().on_list("1", []);
    for (after, step) in steps {
        api = match step {
            Step::None => api.on_watch([listwatch::source::WireEvent::bookmark("1")]),
            Step::Internal => api.on_watch([error_event(500, "InternalError")]),
            Step::Other => api.on_watch([error_event(500, "StorageReadError")]),
        }
        .watch_delayed(S * *after)
        .on_list("1", []);
    }
    let mut events = api.on_watch([]).events().floor(Duration::ZERO).internal_error_window(window);
    for word in during(&mut events, S * 60).await {
        match word.split(' ').next() {
            Some("Resume") => retried.push(true),
            Some("Relist") => retried.push(false),
            _ => {}
        }
    }
    retried
}

#[tokio::test(start_paused = true)]
async fn d01_a_window_of_zero_retries_nothing() {
    let steps = [(1, Step::None), (0, Step::Internal), (1, Step::Other)];
    assert_eq!(played(Duration::ZERO, &steps).await, [false, false]);
}

#[tokio::test(start_paused = true)]
async fn d02_internal_errors_are_retried_within_the_window_only() {
    let steps = [(1, Step::Internal), (1, Step::Internal), (1, Step::Internal)];
    assert_eq!(played(S, &steps).await, [true, true, false]);
}

#[tokio::test(start_paused = true)]
async fn d03_another_error_is_not_retried() {
    assert_eq!(played(S, &[(1, Step::Other)]).await, [false]);
}

#[tokio::test(start_paused = true)]
async fn d04_another_error_does_not_end_the_window() {
    // client-go asks its timer also after the other error, which relists all the same.
    let steps = [(1, Step::Internal), (0, Step::Other), (1, Step::Internal)];
    assert_eq!(played(S, &steps).await, [true, false, true]);
}
