//! Row A1: a resource that the server does not have is an empty one.

use super::*;

/// `events()` that takes a missing resource for an empty one.
fn patient(mode: Mode, strategy: Strategy) -> Plan {
    Plan::new(mode, strategy, None, None, Instant::now()).absent_is_empty(true)
}
const TOLD: Verdict = Verdict::Absent { tell: true, over: false };
const UNTOLD: Verdict = Verdict::Absent { tell: false, over: false };

#[tokio::test]
async fn a1_it_is_told_once_and_looked_for_ever_more_rarely() {
    for (strategy, asked) in [(Strategy::WatchListFirst, wl("")), (Strategy::List, list("0", Some(500)))] {
        let mut plan = patient(Mode::Events, strategy);
        assert_eq!(fails(&mut plan, Class::Absent), TOLD);
        for looks in 0..40 {
            assert_eq!((plan.request(), plan.pause()), (&asked, Pause::Absent(looks)));
            assert_eq!(fails(&mut plan, Class::Absent), UNTOLD);
        }
    }
}

#[tokio::test]
async fn a1_once_it_is_there_its_snapshot_follows() {
    let mut plan = patient(Mode::Events, Strategy::WatchListFirst);
    fails(&mut plan, Class::Absent);
    assert_eq!(plan.decide(Outcome::Answered, Instant::now()), Verdict::ReadOn);
    assert_eq!(closing(&mut plan, "9"), Verdict::SnapshotEnd { over: false });
    assert_eq!(*plan.request(), watch("9"));
    assert_eq!(fails(&mut plan, Class::Absent), RELIST, "W7: that it went is told");
    assert_eq!(fails(&mut plan, Class::Absent), TOLD);
    assert_eq!((plan.request(), plan.pause()), (&wl(""), Pause::Absent(0)), "what comes back is another one");
}

#[tokio::test]
async fn a1_whatever_came_between_it_is_told_again() {
    for class in [Class::Unreachable, Class::Hidden, Class::Gone] {
        let mut plan = patient(Mode::Events, Strategy::List);
        fails(&mut plan, Class::Absent);
        assert!(matches!(fails(&mut plan, class), FALLBACK | RELIST), "{class:?}");
        assert_eq!((fails(&mut plan, Class::Absent), plan.pause()), (TOLD, Pause::Absent(0)), "{class:?}");
    }
    let mut plan = patient(Mode::Events, Strategy::List);
    fails(&mut plan, Class::Absent);
    plan.take_snapshot(Instant::now());
    assert_eq!(plan.pause(), Pause::None, "who asks for a relist gets one");
    assert_eq!(fails(&mut plan, Class::Absent), TOLD);
}

#[tokio::test]
async fn a1_a_page_is_no_proof() {
    let mut plan = patient(Mode::Events, Strategy::List);
    page(&mut plan, Some("t"), "7", 1);
    assert_eq!(fails(&mut plan, Class::Absent), RELIST, "the snapshot has begun");
    assert_eq!(fails(&mut plan, Class::Absent), TOLD);
}

#[tokio::test]
async fn a1_list_ends_with_it_and_poll_every_tells_it_each_period() {
    let mut once = patient(Mode::List, Strategy::List);
    assert_eq!(fails(&mut once, Class::Absent), Verdict::Absent { tell: true, over: true });
    let mut poll = patient(Mode::Poll, Strategy::List);
    for _ in 0..3 {
        assert_eq!((fails(&mut poll, Class::Absent), poll.pause()), (TOLD, Pause::Poll));
    }
}

#[tokio::test]
async fn without_being_asked_for_it_is_a_failure() {
    let mut plan = plan(Mode::Events);
    assert_eq!(fails(&mut plan, Class::Absent), FALLBACK);
    assert_eq!(fails(&mut plan, Class::Absent), RELIST);
}
