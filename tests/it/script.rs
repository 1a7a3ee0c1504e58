use futures::{Stream, StreamExt, stream::FusedStream};
use listwatch::{Error, Event, EventStreamExt, Raw, testing};
use std::{panic::catch_unwind, time::Duration};
use tokio::time::advance;
use tokio_test::{assert_pending, assert_ready, task};

fn message(panic: Box<dyn std::any::Any + Send>) -> String {
    *panic.downcast::<String>().unwrap()
}

#[tokio::test(start_paused = true)]
async fn plays_its_steps_in_order() {
    let script = testing::script()
        .pending()
        .snapshot([testing::raw("a", "1")], "2")
        .watching("2")
        .added(testing::raw("b", "3"))
        .modified(testing::raw("b", "4"))
        .wait(Duration::from_secs(5))
        .bookmark("5")
        .deleted(testing::raw("b", "6"))
        .event(Event::Resync)
        .error(Error::interrupted("cut"));
    assert_eq!(script.size_hint(), (10, Some(10)));
    let mut script = task::spawn(script);
    assert_pending!(script.poll_next());
    assert!(script.is_woken());
    let mut names = Vec::new();
    for _ in 0..6 {
        names.push(assert_ready!(script.poll_next()).unwrap().unwrap().name());
    }
    assert_pending!(script.poll_next());
    assert!(!script.is_woken());
    advance(Duration::from_secs(6)).await;
    assert!(script.is_woken());
    for _ in 0..3 {
        names.push(assert_ready!(script.poll_next()).unwrap().unwrap().name());
    }
    assert_eq!(names[..5], ["snapshot_start", "listed", "snapshot_end", "watching", "added"]);
    assert_eq!(names[5..], ["modified", "bookmark", "deleted", "resync"]);
    assert!(assert_ready!(script.poll_next()).unwrap().is_err());
    assert!(!script.is_terminated() && assert_ready!(script.poll_next()).is_none() && script.is_terminated());
}

#[test]
fn a_step_out_of_place_panics_unless_unchecked() {
    let misplaced = || testing::script::<Raw>().snapshot_start().bookmark("1");
    assert!(message(catch_unwind(misplaced).unwrap_err()).contains("bookmark"));
    let void = || testing::script::<Raw>().snapshot_start().error(Error::interrupted("cut")).snapshot_end("1");
    assert!(catch_unwind(void).is_err());
    let unchecked = || testing::script::<Raw>().unchecked().snapshot_start().bookmark("1");
    assert_eq!(futures::executor::block_on(unchecked().count()), 2);
}

#[test]
fn not_being_consumed_panics() {
    let dropped = || drop(testing::script::<Raw>().bookmark("1").bookmark("2"));
    assert!(message(catch_unwind(dropped).unwrap_err()).contains("2 items"));
    let half = || futures::executor::block_on(testing::script::<Raw>().bookmark("1").bookmark("2").take(1).count());
    assert!(catch_unwind(half).is_err());
    let all = || futures::executor::block_on(testing::script::<Raw>().bookmark("1").bookmark("2").take(2).count());
    assert_eq!(all(), 2, "the end itself need not be seen");
    let panicking = || {
        let _script = testing::script::<Raw>().bookmark("1");
        panic!("another");
    };
    assert_eq!(*catch_unwind(panicking).unwrap_err().downcast::<&str>().unwrap(), "another");
}

#[tokio::test]
async fn one_that_stays_open_says_nothing_more() {
    let mut script = task::spawn(testing::script::<Raw>().bookmark("1").stay_open());
    assert!(assert_ready!(script.poll_next()).is_some());
    assert_pending!(script.poll_next());
    assert!(!script.is_woken() && !script.is_terminated());
}

#[tokio::test]
async fn events_need_no_annotation() {
    let out: Vec<_> = testing::events([Event::added(testing::raw("a", "1"))]).validate().collect().await;
    assert_eq!(out.len(), 1);
}
