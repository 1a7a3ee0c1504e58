//! R14 to R18: how long it waits, and what it asks meanwhile.

use crate::play::{MS, S, added, cms, during, error_event, errors, mirror, refused, status, until, without_watch_list};
use futures::StreamExt;
use listwatch::{EventStreamExt, ExponentialBackoff, Recovery, Store, policy::Backoff, source::ListWatch};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::time::Instant;

/// How long it takes until a watch stands that is refused so many times, without a floor.
async fn reconnecting(refusals: usize, policy: impl Backoff) -> Duration {
    let mut api = without_watch_list().on_list("1", []);
    for _ in 0..refusals {
        api = api.on_watch_error(refused());
    }
    let api = api.on_watch([added("a@2")]);
    let (store, start) = (Store::new(), Instant::now());
    let mut changes = api.clone().events().floor(Duration::ZERO).backoff(policy).reflect(&store);
    let told = until(&mut changes, "added a@2").await;
    assert_eq!(errors(&told), vec!["Resume"; refusals]);
    assert_eq!(api.calls().len(), refusals + 2, "no relist");
    start.elapsed()
}

#[tokio::test(start_paused = true)]
async fn r14_refused_watches_wait_exponentially_up_to_the_cap() {
    let policy = || {
        ExponentialBackoff::builder()
            .initial(MS)
            .factor(2.0)
            .jitter(1.0)
            .max(MS * 50)
            .reset_after(MS * 100)
            .build()
            .unwrap()
    };
    // Each delay d becomes one in [d, 2d); tokio's timers round up to whole milliseconds.
    for (refusals, sum) in [(5, 31), (40, 63 + 34 * 50)] {
        let waited = reconnecting(refusals, policy()).await;
        let most = MS * (2 * sum + 2 * u32::try_from(refusals).unwrap());
        assert!(waited >= MS * sum && waited <= most, "{refusals} refusals: {waited:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn r15_the_backoff_is_settable() {
    let waited = reconnecting(2, ExponentialBackoff::default()).await;
    assert!(waited >= MS * 2400 && waited < S * 10, "{waited:?}");
    let policy = ExponentialBackoff::builder().initial(MS * 10).factor(2.0).jitter(0.0).max(MS * 100).build().unwrap();
    let waited = reconnecting(5, policy).await;
    assert!(waited >= MS * 250 && waited <= MS * 300, "10+20+40+80+100: {waited:?}");
}

/// Counts how often it is asked, and does not wait.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicUsize>);
impl Backoff for Counting {
    fn delay(&mut self, _: Recovery, _: u32) -> Duration {
        self.0.fetch_add(1, Ordering::Relaxed);
        Duration::ZERO
    }
}

#[tokio::test(start_paused = true)]
async fn r16_too_many_requests_wait_as_an_answer_and_as_an_event() {
    let api = without_watch_list()
        .on_list("1", [])
        .on_watch_error(status(429, "TooManyRequests"))
        .on_watch([error_event(429, "TooManyRequests")])
        .on_watch([])
        .on_watch([]);
    let delays = Counting::default();
    let mut events = api.clone().events().backoff(delays.clone());
    let mut seen = vec![];
    while seen.len() < 2 {
        if let Err(error) = events.next().await.unwrap() {
            assert!(error.is_too_many_requests() && error.recovery() == Recovery::Resume, "{error:?}");
            seen.push(delays.0.load(Ordering::Relaxed));
        }
    }
    assert_eq!(seen, [1, 2]);
    // The ended stream that closes client-go's scenario is one more error here.
    assert!(events.next().await.unwrap().unwrap_err().is_short_watch());
    assert_eq!(delays.0.load(Ordering::Relaxed), 3);
}

#[tokio::test(start_paused = true)]
async fn r17_too_many_requests_never_relist() {
    let mut api = without_watch_list().on_list("1", []);
    for _ in 0..4 {
        api = api.on_watch_error(status(429, "TooManyRequests"));
    }
    let api = api.on_watch([]);
    let store = Store::new();
    let mut changes = mirror(api.clone().events(), &store);
    let told = during(&mut changes, S * 100).await;
    assert_eq!(errors(&told), ["Resume 429"; 4]);
    let calls = api.lines();
    assert_eq!(calls.iter().filter(|call| call.starts_with('L')).count(), 1);
    assert_eq!(calls.iter().filter(|call| call.starts_with('W')).count(), 5);
}

/// Watches that take a second to answer and then bring an internal error; how many are opened again before a relist.
async fn retries(window: Duration, long_tenth: bool) -> usize {
    let mut api = without_watch_list().on_list("1", []);
    for call in 1..=60 {
        let takes = if long_tenth && call == 10 { S * 61 } else { S };
        api = api.on_watch([error_event(500, "InternalError")]).watch_delayed(takes);
    }
    let mut events = api.clone().events().internal_error_window(window);
    while events.next().await.unwrap().err().is_none_or(|error| error.recovery() != Recovery::Relist) {}
    assert_eq!(api.calls().iter().filter(|call| call.list().is_some()).count(), 1, "no relist before");
    api.calls().iter().filter(|call| call.watch().is_some()).count() - 1
}

#[tokio::test(start_paused = true)]
async fn r18_internal_errors_are_retried_within_their_window() {
    assert_eq!(retries(Duration::ZERO, false).await, 0);
    assert_eq!(retries(S * 30, false).await, 31);
    assert_eq!(retries(S * 30, true).await, 40);
    // Without a window they count towards the ten watches without progress that relist.
    let mut api = without_watch_list().on_list("1", cms("a@1"));
    for _ in 0..10 {
        api = api.on_watch([error_event(500, "InternalError")]);
    }
    let mut events = api.events();
    let told = until(&mut events, "Relist 500").await;
    assert_eq!(errors(&told).len(), 10);
}
