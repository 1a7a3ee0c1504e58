use futures::{StreamExt, channel::mpsc};
use listwatch::{Error, Event, EventStreamExt, Raw, testing};
use std::time::Duration;
use tokio::time::{Instant, advance, sleep};
use tokio_test::{assert_pending, assert_ready, task};

type Item = Result<Event<Raw>, Error>;

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn start() -> Item {
    Ok(Event::SnapshotStart)
}
fn end() -> Item {
    Ok(Event::SnapshotEnd("1".into()))
}

/// Each item's name, and the second at which it came.
async fn told(stream: impl futures::Stream<Item = Item> + Unpin, n: usize) -> Vec<(&'static str, u64)> {
    let start = Instant::now();
    let name = |item: Item| item.map_or("err", |event| event.name());
    stream.take(n).map(|item| (name(item), start.elapsed().as_secs())).collect().await
}

#[tokio::test(start_paused = true)]
async fn comes_once_a_period_and_wakes() {
    let (mut feed, events) = mpsc::channel::<Item>(8);
    let mut stream = task::spawn(events.resync(secs(10)));
    assert_pending!(stream.poll_next());
    feed.try_send(start()).unwrap();
    feed.try_send(end()).unwrap();
    assert!(stream.is_woken());
    assert_eq!(assert_ready!(stream.poll_next()).unwrap().unwrap(), Event::SnapshotStart);
    assert!(matches!(assert_ready!(stream.poll_next()), Some(Ok(Event::SnapshotEnd(_)))));
    for _ in 0..3 {
        assert_pending!(stream.poll_next());
        advance(Duration::from_millis(9990)).await;
        assert!(!stream.is_woken());
        advance(Duration::from_millis(20)).await;
        assert!(stream.is_woken());
        assert_eq!(assert_ready!(stream.poll_next()).unwrap().unwrap(), Event::Resync);
    }
    assert_pending!(stream.poll_next());
    drop(feed);
    assert!(stream.is_woken(), "the stream below still wakes");
    assert!(assert_ready!(stream.poll_next()).is_none());
}

#[tokio::test(start_paused = true)]
async fn does_not_run_before_the_first_snapshot_is_complete() {
    let script = testing::script().wait(secs(100)).snapshot_start().wait(secs(100)).snapshot_end("1").stay_open();
    assert_eq!(
        told(script.resync(secs(10)), 3).await,
        [("snapshot_start", 100), ("snapshot_end", 200), ("resync", 210)]
    );
}

#[tokio::test(start_paused = true)]
async fn due_inside_a_snapshot_waits_for_its_end_and_is_not_reset() {
    let script = testing::script()
        .snapshot([], "1")
        .wait(secs(4))
        .snapshot_start()
        .wait(secs(2))
        .snapshot_end("2")
        .wait(secs(7))
        .snapshot_start()
        .error(Error::interrupted("cut"))
        .wait(secs(20))
        .snapshot_start()
        .deleted(testing::raw("a", "3"))
        .wait(secs(1))
        .snapshot_end("3")
        .stay_open();
    let told = told(script.resync(secs(10)), 13).await;
    assert_eq!(told[2..5], [("snapshot_start", 4), ("snapshot_end", 6), ("resync", 10)], "a relist resets nothing");
    assert_eq!(
        told[5..11],
        [
            ("snapshot_start", 13),
            ("err", 13),
            ("snapshot_start", 33),
            ("deleted", 33),
            ("snapshot_end", 34),
            ("resync", 34),
        ]
    );
    assert_eq!(told[11..], [("resync", 44), ("resync", 54)]);
}

#[tokio::test(start_paused = true)]
async fn an_error_between_snapshots_does_not_stop_it() {
    let script = testing::script().snapshot([], "1").error(Error::interrupted("cut")).stay_open();
    assert_eq!(told(script.resync(secs(10)), 4).await[2..], [("err", 0), ("resync", 10)]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_a_first_snapshot_is_resynced_from_its_first_change_on() {
    let script = testing::script::<Raw>().wait(secs(5)).deleted(testing::raw("a", "3")).stay_open();
    assert_eq!(told(script.resync(secs(10)), 2).await, [("deleted", 5), ("resync", 15)]);
}

#[tokio::test(start_paused = true)]
async fn rearms_after_the_replay_was_taken() {
    let mut stream = testing::script::<Raw>().snapshot([], "1").stay_open().resync(secs(10));
    let begin = Instant::now();
    assert_eq!(told(&mut stream, 3).await[2], ("resync", 10));
    sleep(secs(25)).await; // the replay
    assert!(matches!(stream.next().await, Some(Ok(Event::Resync))));
    assert_eq!(begin.elapsed().as_secs(), 10 + 25 + 10);
}

#[tokio::test(start_paused = true)]
async fn asks_its_predicate_each_time() {
    let mut asked = 0;
    let second = || {
        asked += 1;
        asked % 2 == 0
    };
    let script = testing::script::<Raw>().snapshot([], "1").stay_open();
    assert_eq!(told(script.resync_if(secs(10), second), 4).await[2..], [("resync", 20), ("resync", 40)]);
    assert_eq!(asked, 4);
}

#[tokio::test(start_paused = true)]
async fn zero_means_never() {
    let script = testing::script::<Raw>().snapshot([], "1").wait(secs(1_000_000)).bookmark("2");
    assert_eq!(told(script.resync(Duration::ZERO), 9).await.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_period_shorter_than_the_replay_does_not_starve_the_stream() {
    let script = testing::script::<Raw>().snapshot([], "1").bookmark("2").bookmark("3");
    let mut stream = script.resync(Duration::from_nanos(1));
    let mut names = Vec::new();
    while let Some(event) = stream.next().await {
        names.push(event.unwrap().name());
        sleep(secs(1)).await;
    }
    assert_eq!(names, ["snapshot_start", "snapshot_end", "resync", "bookmark", "resync", "bookmark", "resync"]);
}
