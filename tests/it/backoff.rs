use futures::{Stream, StreamExt, channel::mpsc, stream::FusedStream};
use listwatch::{
    Error, EventStreamExt, ExponentialBackoff, Recovery, Status,
    policy::{Backoff, FixedBackoff},
    testing,
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::{Instant, advance, sleep};
use tokio_test::{assert_pending, assert_ready, task};

type Item = Result<u32, Error>;

fn fails(recovery: Recovery) -> Item {
    Err(Error::other("down").with_recovery(recovery))
}

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// Waits a second, and notes what it was asked.
#[derive(Clone, Default)]
struct Noted(Arc<Mutex<Vec<(Recovery, u32)>>>);
impl Backoff for Noted {
    fn delay(&mut self, recovery: Recovery, attempt: u32) -> Duration {
        self.0.lock().unwrap().push((recovery, attempt));
        secs(1)
    }
}
impl Noted {
    fn take(&self) -> Vec<(Recovery, u32)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A stream that is fed by hand, and how long after the start each item came out.
async fn times(items: impl Stream<Item = Item> + Unpin) -> Vec<u64> {
    let start = Instant::now();
    items.map(|_| u64::try_from(start.elapsed().as_millis()).unwrap()).collect().await
}

#[tokio::test(start_paused = true)]
async fn waits_by_recovery() {
    let policy = || FixedBackoff::new(secs(10));
    for (recovery, second) in
        [(Recovery::Skip, 0), (Recovery::Fallback, 0), (Recovery::Resume, 10_000), (Recovery::Relist, 10_000)]
    {
        let items = futures::stream::iter([fails(recovery), Ok(1)]).backoff(policy());
        assert_eq!(times(items).await, [0, second], "{recovery:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_longer_of_policy_and_retry_after() {
    let busy = |after, recovery| {
        let error = Error::from_status(Status::from_code(429)).with_retry_after(secs(after));
        Err(error.with_recovery(recovery))
    };
    for (after, recovery, waited) in [
        (3, Recovery::Resume, 10),
        (30, Recovery::Resume, 30),
        (30, Recovery::Relist, 30),
        (3, Recovery::Fallback, 3),
        (3, Recovery::Skip, 0),
    ] {
        let items = futures::stream::iter([busy(after, recovery), Ok(1)]).backoff(FixedBackoff::new(secs(10)));
        assert_eq!(times(items).await, [0, waited * 1000], "{after} {recovery:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_error_comes_at_once_and_the_timer_wakes() {
    let (mut feed, items) = mpsc::channel::<Item>(8);
    let mut stream = task::spawn(items.backoff(FixedBackoff::new(secs(5))));
    assert_pending!(stream.poll_next());
    feed.try_send(fails(Recovery::Resume)).unwrap();
    assert!(stream.is_woken());
    assert!(assert_ready!(stream.poll_next()).unwrap().is_err());
    feed.try_send(Ok(1)).unwrap();
    assert_pending!(stream.poll_next());
    advance(Duration::from_millis(4990)).await;
    assert!(!stream.is_woken(), "an item that is there does not end the wait");
    assert_pending!(stream.poll_next());
    advance(Duration::from_millis(20)).await;
    assert!(stream.is_woken());
    assert_eq!(assert_ready!(stream.poll_next()).unwrap().unwrap(), 1);
    assert_pending!(stream.poll_next());
    drop(feed);
    assert!(stream.is_woken());
    assert!(assert_ready!(stream.poll_next()).is_none());
    assert!(stream.is_terminated() && assert_ready!(stream.poll_next()).is_none());
}

#[tokio::test(start_paused = true)]
async fn another_waker_takes_the_place_of_the_first() {
    let mut stream = futures::stream::iter([fails(Recovery::Resume), Ok(1)]).backoff(FixedBackoff::new(secs(5)));
    stream.next().await;
    let stream = Arc::new(Mutex::new(stream));
    let poll = || {
        let stream = Arc::clone(&stream);
        task::spawn(futures::stream::poll_fn(move |cx| stream.lock().unwrap().poll_next_unpin(cx)))
    };
    let (mut first, mut second) = (poll(), poll());
    assert_pending!(first.poll_next());
    assert_pending!(second.poll_next());
    advance(secs(6)).await;
    assert!(second.is_woken());
    assert!(assert_ready!(second.poll_next()).is_some());
}

#[tokio::test(start_paused = true)]
async fn each_recovery_has_a_count_of_its_own() {
    let noted = Noted::default();
    let items =
        [Recovery::Resume, Recovery::Relist, Recovery::Skip, Recovery::Resume, Recovery::Fallback, Recovery::Relist];
    let _ = times(futures::stream::iter(items.map(fails)).backoff(noted.clone())).await;
    let (resume, relist) = (Recovery::Resume, Recovery::Relist);
    assert_eq!(noted.take(), [(resume, 0), (relist, 0), (resume, 1), (relist, 1)]);
}

#[tokio::test(start_paused = true)]
async fn items_between_failures_do_not_reset_only_health_does() {
    let noted = Noted::default();
    let (mut feed, items) = mpsc::channel::<Item>(8);
    let mut stream = items.backoff(noted.clone());
    let mut attempt = async |gap: Duration| {
        sleep(gap).await;
        feed.try_send(Ok(1)).unwrap();
        feed.try_send(fails(Recovery::Resume)).unwrap();
        assert!(stream.next().await.unwrap().is_ok());
        assert!(stream.next().await.unwrap().is_err());
        noted.take()[0].1
    };
    // The stream is polled first, after the wait of 1 s, within the call that follows: its time counts from there.
    assert_eq!(attempt(secs(0)).await, 0);
    assert_eq!(attempt(secs(0)).await, 1);
    assert_eq!(attempt(secs(600)).await, 2, "nobody polled: waiting is not health");
}

#[tokio::test(start_paused = true)]
async fn both_counts_reset_after_two_minutes_of_health() {
    for (health, second) in [(Duration::from_millis(119_990), 1), (secs(120), 0), (secs(4000), 0)] {
        let noted = Noted::default();
        let script = testing::script::<listwatch::Raw>()
            .error(Error::interrupted("cut"))
            .error(Error::other("gone"))
            .wait(health)
            .error(Error::interrupted("cut"))
            .error(Error::other("gone"));
        assert_eq!(script.backoff(noted.clone()).count().await, 4);
        let attempts: Vec<_> = noted.take().into_iter().map(|(_, attempt)| attempt).collect();
        assert_eq!(attempts, [0, 0, second, second], "{health:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_longer_than_the_reset_is_not_health() {
    let noted = Noted::default();
    let slow = || Error::interrupted("cut").with_retry_after(secs(300));
    let script = testing::script::<listwatch::Raw>().error(slow()).error(slow()).error(slow());
    assert_eq!(script.backoff(noted.clone()).count().await, 3);
    assert_eq!(noted.take().into_iter().map(|(_, n)| n).collect::<Vec<_>>(), [0, 1, 2]);
}

#[tokio::test(start_paused = true)]
async fn time_spent_downstream_counts() {
    let mut stream = futures::stream::iter([fails(Recovery::Resume), Ok(1)]).backoff(FixedBackoff::new(secs(10)));
    let start = Instant::now();
    stream.next().await;
    sleep(secs(7)).await;
    stream.next().await;
    assert_eq!(start.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn the_default_policy_grows_and_is_bounded() {
    let errors = (0..9).map(|_| fails(Recovery::Resume));
    let policy = ExponentialBackoff::builder().random(|| 0.0).build().unwrap();
    let times = times(futures::stream::iter(errors).backoff(policy)).await;
    let gaps: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps, [800, 1600, 3200, 6400, 12800, 25600, 30000, 30000]);
}

#[test]
fn no_wait_needs_no_runtime_and_the_longest_wait_is_no_panic() {
    let items = futures::stream::iter([fails(Recovery::Resume), Ok(1)]).backoff(FixedBackoff::default());
    assert_eq!(futures::executor::block_on(items.count()), 2);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let items = futures::stream::iter([fails(Recovery::Resume), Ok(1)]);
        let mut items = task::spawn(items.backoff(FixedBackoff::new(Duration::MAX)));
        assert!(assert_ready!(items.poll_next()).is_some());
        assert_pending!(items.poll_next());
    });
}
