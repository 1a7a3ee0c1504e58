//! One test per row of the decision table, named after it.

use super::*;

mod absent;

const HOUR: Duration = Duration::from_secs(3600);

fn plan(mode: Mode) -> Plan {
    Plan::new(mode, Strategy::WatchListFirst, None, None, Instant::now())
}
fn listing(strategy: Strategy, size: Option<u32>) -> Plan {
    Plan::new(Mode::Events, strategy, size, None, Instant::now())
}
/// `events()` that watches from version 7.
fn watching() -> Plan {
    Plan::new(Mode::Events, Strategy::List, None, Some("7".into()), Instant::now())
}
fn fails(plan: &mut Plan, class: Class) -> Verdict {
    plan.decide(Outcome::Failed { class, unpaged: true }, Instant::now())
}
fn ends(plan: &mut Plan, ending: Ending) -> Verdict {
    plan.decide(Outcome::Ended(ending), Instant::now())
}
fn page(plan: &mut Plan, token: Option<&str>, version: &str, pages: u64) -> Verdict {
    let token = token.map(Into::into);
    plan.decide(Outcome::Page { token, version: version.into(), pages }, Instant::now())
}
fn closing(plan: &mut Plan, version: &str) -> Verdict {
    plan.decide(Outcome::ClosingBookmark { version: version.into() }, Instant::now())
}
fn event(plan: &mut Plan, version: &str, deleted: bool) {
    assert_eq!(plan.decide(Outcome::Event { version: version.into(), deleted }, Instant::now()), Verdict::ReadOn);
}
fn wl(rv: &str) -> Request {
    Request::WatchList { rv: rv.into() }
}
fn list(rv: &str, limit: Option<u32>) -> Request {
    Request::List { rv: rv.into(), limit, version_match: VersionMatch::Unset }
}
fn not_older(rv: &str, limit: u32) -> Request {
    Request::List { rv: rv.into(), limit: Some(limit), version_match: VersionMatch::NotOlderThan }
}
fn watch(rv: &str) -> Request {
    Request::Watch { rv: rv.into() }
}
const FALLBACK: Verdict = Verdict::Next(Some(Recovery::Fallback));
const RELIST: Verdict = Verdict::Next(Some(Recovery::Relist));
const RESUME: Verdict = Verdict::Next(Some(Recovery::Resume));

#[tokio::test]
async fn s1_s2_s4_a_watch_list_is_read_on() {
    let mut plan = plan(Mode::Events);
    assert_eq!(*plan.request(), wl(""));
    assert_eq!(plan.decide(Outcome::Answered, Instant::now()), Verdict::ReadOn);
    event(&mut plan, "5", false);
    assert_eq!(plan.position(), "", "until the closing bookmark nothing moves the position");
}

#[tokio::test]
async fn s3_the_closing_bookmark_goes_on_as_the_watch_and_clears_the_state() {
    let mut plan = plan(Mode::Events);
    assert_eq!(fails(&mut plan, Class::Gone), FALLBACK);
    assert_eq!(fails(&mut plan, Class::Fault), RELIST);
    assert_eq!(closing(&mut plan, "9"), Verdict::SnapshotEnd { over: false });
    assert_eq!(*plan.request(), watch("9"));
    assert_eq!(fails(&mut plan, Class::Gone), RELIST);
    assert_eq!(*plan.request(), wl("9"), "no longer lost");
    assert_eq!(fails(&mut plan, Class::Fault), RELIST);
    assert_eq!(*plan.request(), wl("9"), "tries began anew");
}

#[tokio::test]
async fn s5_a_version_that_is_gone_or_too_large_is_not_named_again() {
    for class in [Class::Gone, Class::TooLarge] {
        let mut plan = plan(Mode::Events);
        closing(&mut plan, "9");
        assert_eq!(fails(&mut plan, Class::Gone), RELIST);
        assert_eq!(*plan.request(), wl("9"));
        assert_eq!(fails(&mut plan, class), FALLBACK);
        assert_eq!(*plan.request(), wl(""));
        assert_eq!(fails(&mut plan, class), FALLBACK);
        assert_eq!(*plan.request(), list("", Some(500)), "lost already: a list, and not at the version");
    }
}

#[tokio::test]
async fn s6_a_refusal_falls_back_and_is_remembered_for_an_hour() {
    let refused = [Class::BadRequest, Class::NotOffered, Class::NotAllowed, Class::Unsupported]
        .map(|class| Outcome::Failed { class, unpaged: false });
    for outcome in refused.into_iter().chain([Outcome::SnapshotDeadline, Outcome::PlainBookmark]) {
        let (mut plan, now) = (plan(Mode::Events), Instant::now());
        assert_eq!(plan.decide(outcome, now), FALLBACK);
        assert_eq!(*plan.request(), list("0", Some(500)));
        page(&mut plan, None, "7", 1);
        plan.decide(Outcome::Failed { class: Class::Gone, unpaged: false }, now + HOUR - Duration::from_secs(1));
        assert_eq!(*plan.request(), list("7", None), "off");
        page(&mut plan, None, "8", 1);
        plan.decide(Outcome::Failed { class: Class::Gone, unpaged: false }, now + HOUR);
        assert_eq!(*plan.request(), wl("8"), "tried again after an hour");
    }
}

#[tokio::test]
async fn s7_hidden_and_other_fall_back_without_being_remembered() {
    for class in [Class::Hidden, Class::Absent, Class::Other] {
        let mut plan = plan(Mode::Events);
        assert_eq!(fails(&mut plan, class), FALLBACK);
        assert_eq!(*plan.request(), list("0", Some(500)));
        assert_eq!(fails(&mut plan, class), RELIST);
        assert_eq!(*plan.request(), wl(""));
    }
}

#[tokio::test]
async fn s8_what_stays_unfinished_is_tried_once_more() {
    let failed = |class| Outcome::Failed { class, unpaged: false };
    let garbled = [failed(Class::Garbage), failed(Class::Interrupted), failed(Class::Silent)];
    let ended = [Ending::Short, Ending::Clean, Ending::Deadline].map(Outcome::Ended);
    let unversioned = Outcome::ClosingBookmark { version: "".into() };
    for (outcome, remembered) in [Class::Fault, Class::FaultEvent, Class::Internal]
        .map(|class| (failed(class), false))
        .into_iter()
        .chain(garbled.into_iter().chain(ended).chain([unversioned]).map(|outcome| (outcome, true)))
    {
        let (mut plan, now) = (plan(Mode::Events), Instant::now());
        assert_eq!(plan.decide(outcome.clone(), now), RELIST, "{outcome:?}");
        assert_eq!(*plan.request(), wl(""));
        assert_eq!(plan.decide(outcome.clone(), now), FALLBACK, "{outcome:?}");
        assert_eq!(*plan.request(), list("0", Some(500)));
        page(&mut plan, None, "7", 1);
        plan.decide(failed(Class::Gone), now);
        assert_eq!(*plan.request() == wl("7"), !remembered, "{outcome:?}");
    }
}

#[tokio::test]
async fn s9_busy_auth_and_unreachable_ask_for_the_watch_list_again_for_ever() {
    for class in [Class::Busy, Class::Auth, Class::Unreachable] {
        let mut plan = plan(Mode::Events);
        for _ in 0..20 {
            assert_eq!(fails(&mut plan, class), RELIST);
            assert_eq!(*plan.request(), wl(""));
        }
    }
}

#[tokio::test]
async fn l2_a_token_is_the_next_page_with_the_limit_alone() {
    let mut plan = listing(Strategy::List, Some(4));
    assert_eq!(page(&mut plan, Some("t1"), "7", 1), Verdict::Next(None));
    assert_eq!(*plan.request(), Request::Page { token: "t1".into(), limit: Some(4) });
    assert_eq!(page(&mut plan, Some(""), "7", 2), Verdict::SnapshotEnd { over: false });
}

#[tokio::test]
async fn l3_the_last_page_ends_the_snapshot_and_clears_the_state() {
    let mut plan = watching();
    for _ in 0..9 {
        fails(&mut plan, Class::Fault);
    }
    fails(&mut plan, Class::Garbage);
    assert_eq!(fails(&mut plan, Class::TooLarge), RELIST);
    assert_eq!(*plan.request(), list("", Some(500)));
    assert_eq!(page(&mut plan, None, "3", 1), Verdict::SnapshotEnd { over: false });
    assert_eq!(*plan.request(), watch("3"), "a lower version is believed");
    for _ in 0..9 {
        assert_eq!(fails(&mut plan, Class::Fault), RESUME, "idle began anew");
    }
    assert_eq!(fails(&mut plan, Class::Garbage), RESUME, "bad began anew");
    assert_eq!(fails(&mut plan, Class::Gone), RELIST);
    assert_eq!(*plan.request(), list("3", None), "no longer lost");
}

#[tokio::test]
async fn l3_pages_at_zero_are_remembered() {
    let mut plan = listing(Strategy::List, None);
    page(&mut plan, Some("t"), "7", 1);
    page(&mut plan, None, "7", 2);
    fails(&mut plan, Class::Gone);
    assert_eq!(*plan.request(), not_older("7", 500));
    page(&mut plan, None, "8", 1);
    fails(&mut plan, Class::Gone);
    assert_eq!(*plan.request(), not_older("8", 500), "for ever");
}

#[tokio::test]
async fn l4_a_version_that_does_not_work_is_left_out_at_once() {
    for class in [Class::Gone, Class::TooLarge, Class::BadRequest] {
        let mut plan = listing(Strategy::List, None);
        assert_eq!(fails(&mut plan, class), FALLBACK);
        assert_eq!(*plan.request(), list("", Some(500)));
        assert_eq!(fails(&mut plan, class), RELIST, "nothing left to leave out");
        assert_eq!(*plan.request(), list("", Some(500)), "still lost");
    }
}

#[tokio::test]
async fn l5_an_expired_page_asks_for_the_whole_list_then_for_the_present() {
    let mut plan = listing(Strategy::List, Some(4));
    page(&mut plan, None, "10", 1);
    fails(&mut plan, Class::Gone);
    assert_eq!(*plan.request(), not_older("10", 4));
    page(&mut plan, Some("t"), "11", 1);
    assert_eq!(fails(&mut plan, Class::Gone), FALLBACK);
    assert_eq!(*plan.request(), list("10", None));
    page(&mut plan, Some("t"), "11", 1);
    assert_eq!(fails(&mut plan, Class::Gone), RELIST, "full already");
    assert_eq!(*plan.request(), list("", Some(4)));
    page(&mut plan, None, "12", 1);
    fails(&mut plan, Class::Gone);
    page(&mut plan, Some("t"), "13", 1);
    assert_eq!(fails(&mut plan, Class::Gone), FALLBACK, "full began anew");
}

#[tokio::test]
async fn l5_a_whole_list_that_is_gone_leaves_the_version_out() {
    let mut plan = listing(Strategy::List, Some(4));
    page(&mut plan, None, "10", 1);
    fails(&mut plan, Class::Gone);
    page(&mut plan, Some("t"), "11", 1);
    fails(&mut plan, Class::Gone);
    assert_eq!(fails(&mut plan, Class::Gone), FALLBACK);
    assert_eq!(*plan.request(), list("", Some(4)));
}

#[tokio::test]
async fn l6_a_whole_list_that_was_cut_is_paged_next_time() {
    for class in [Class::Interrupted, Class::Silent] {
        let mut plan = listing(Strategy::List, None);
        page(&mut plan, None, "10", 1);
        fails(&mut plan, Class::Gone);
        assert_eq!(*plan.request(), list("10", None));
        assert_eq!(fails(&mut plan, class), RELIST);
        assert_eq!(*plan.request(), list("", Some(500)));
    }
    let mut plan = listing(Strategy::List, Some(4));
    page(&mut plan, None, "10", 1);
    fails(&mut plan, Class::Gone);
    let cut = Outcome::Failed { class: Class::Interrupted, unpaged: false };
    assert_eq!(plan.decide(cut, Instant::now()), RELIST);
    assert_eq!(*plan.request(), not_older("10", 4), "it was paged: the same again");
}

#[tokio::test]
async fn l7_everything_else_takes_the_snapshot_again() {
    let rest = [
        Class::Busy,
        Class::Auth,
        Class::Hidden,
        Class::Absent,
        Class::NotAllowed,
        Class::NotOffered,
        Class::Fault,
        Class::Internal,
        Class::FaultEvent,
        Class::Unreachable,
        Class::Garbage,
        Class::Unsupported,
        Class::Other,
    ];
    for class in rest {
        let mut plan = listing(Strategy::List, None);
        assert_eq!(fails(&mut plan, class), RELIST);
        assert_eq!(*plan.request(), list("0", Some(500)), "{class:?}");
        page(&mut plan, Some("t"), "7", 1);
        assert_eq!(fails(&mut plan, class), RELIST, "on a page");
        assert_eq!(*plan.request(), list("0", Some(500)), "{class:?}");
    }
}

#[tokio::test]
async fn the_list_request_follows_strategy_size_and_position() {
    assert_eq!(*listing(Strategy::List, None).request(), list("0", Some(500)));
    assert_eq!(*listing(Strategy::ListConsistent, None).request(), list("", Some(500)));
    assert_eq!(*listing(Strategy::List, Some(4)).request(), list("0", Some(4)));
    let mut plan = listing(Strategy::ListConsistent, None);
    page(&mut plan, None, "7", 1);
    fails(&mut plan, Class::Gone);
    assert_eq!(*plan.request(), list("7", None));
}

#[tokio::test]
async fn w1_an_unreachable_or_busy_server_is_asked_again_for_ever() {
    for class in [Class::Unreachable, Class::Auth, Class::Busy] {
        let mut plan = watching();
        for _ in 0..30 {
            assert_eq!(fails(&mut plan, class), RESUME);
            assert_eq!(*plan.request(), watch("7"));
        }
    }
}

#[tokio::test]
async fn w2_events_move_the_position_by_the_rules_of_the_watch() {
    let mut plan = watching();
    event(&mut plan, "9", false);
    assert_eq!(plan.position(), "9");
    event(&mut plan, "", false);
    assert_eq!(plan.position(), "9", "an empty one moves nothing");
    event(&mut plan, "8", true);
    assert_eq!(plan.position(), "9", "an older one of a deletion moves nothing");
    event(&mut plan, "8", false);
    assert_eq!(plan.position(), "8", "the last one wins");
    event(&mut plan, "12", true);
    assert_eq!(plan.position(), "12");
    event(&mut plan, "abc", true);
    assert_eq!(plan.position(), "abc", "not comparable: it is taken");
}

#[tokio::test]
async fn w2_progress_clears_idle_and_bad() {
    let mut plan = watching();
    for _ in 0..9 {
        fails(&mut plan, Class::Fault);
    }
    fails(&mut plan, Class::Garbage);
    event(&mut plan, "8", false);
    for _ in 0..9 {
        assert_eq!(fails(&mut plan, Class::Fault), RESUME);
    }
    assert_eq!(fails(&mut plan, Class::Garbage), RESUME);
}

#[tokio::test]
async fn w4_w8_w9_the_tenth_watch_without_progress_relists() {
    let failed = |class| Outcome::Failed { class, unpaged: false };
    for outcome in [failed(Class::Fault), failed(Class::Internal), Outcome::Ended(Ending::Short)] {
        let mut plan = watching();
        for _ in 0..9 {
            assert_eq!(plan.decide(outcome.clone(), Instant::now()), RESUME);
            assert_eq!(*plan.request(), watch("7"));
        }
        assert_eq!(plan.decide(outcome.clone(), Instant::now()), RELIST);
        assert_eq!(*plan.request(), list("7", None));
        page(&mut plan, None, "8", 1);
        assert_eq!(plan.decide(outcome, Instant::now()), RESUME, "counted anew");
    }
}

#[tokio::test]
async fn w4_w8_w9_share_one_count() {
    let mut plan = watching();
    for _ in 0..3 {
        fails(&mut plan, Class::Fault);
        fails(&mut plan, Class::Internal);
        ends(&mut plan, Ending::Short);
    }
    assert_eq!(fails(&mut plan, Class::Fault), RELIST);
}

#[tokio::test]
async fn w5_a_version_that_is_gone_relists_at_the_position() {
    let mut plan = watching();
    assert_eq!(fails(&mut plan, Class::Gone), RELIST);
    assert_eq!(*plan.request(), list("7", None));
}

#[tokio::test]
async fn w6_a_too_large_version_relists_without_naming_it() {
    let mut plan = watching();
    assert_eq!(fails(&mut plan, Class::TooLarge), RELIST);
    assert_eq!(*plan.request(), list("", Some(500)));
}

#[tokio::test]
async fn w7_what_is_hidden_refused_or_unknown_relists() {
    for class in [
        Class::Hidden,
        Class::Absent,
        Class::BadRequest,
        Class::NotOffered,
        Class::Other,
        Class::FaultEvent,
        Class::Unsupported,
    ] {
        let mut plan = watching();
        assert_eq!(fails(&mut plan, class), RELIST);
        assert_eq!(*plan.request(), list("7", None), "{class:?}");
    }
}

#[tokio::test]
async fn w10_an_end_is_no_failure() {
    let mut plan = watching();
    for _ in 0..9 {
        fails(&mut plan, Class::Fault);
    }
    assert_eq!(ends(&mut plan, Ending::Deadline), Verdict::Next(None));
    assert_eq!((plan.request(), plan.pause()), (&watch("7"), Pause::Reopen));
    assert_eq!(fails(&mut plan, Class::Fault), RELIST, "a deadline is no progress");
    let mut plan = watching();
    for _ in 0..9 {
        fails(&mut plan, Class::Fault);
    }
    assert_eq!(ends(&mut plan, Ending::Clean), Verdict::Next(None));
    assert_eq!(fails(&mut plan, Class::Fault), RESUME, "a clean end is");
}

#[tokio::test]
async fn w11_garbage_resumes_once() {
    let mut plan = watching();
    assert_eq!(fails(&mut plan, Class::Garbage), RESUME);
    ends(&mut plan, Ending::Clean);
    assert_eq!(fails(&mut plan, Class::Garbage), RELIST);
    page(&mut plan, None, "8", 1);
    assert_eq!(fails(&mut plan, Class::Garbage), RESUME);
}

#[tokio::test]
async fn w12_a_resource_that_cannot_be_watched_is_said_once_and_parked() {
    let mut plan = watching();
    assert_eq!(fails(&mut plan, Class::NotAllowed), RESUME);
    assert_eq!((plan.request(), plan.pause()), (&watch("7"), Pause::Parked));
    assert_eq!(fails(&mut plan, Class::NotAllowed), Verdict::Next(None));
    assert_eq!(plan.pause(), Pause::Parked);
    plan.decide(Outcome::Answered, Instant::now());
    assert_eq!(fails(&mut plan, Class::NotAllowed), RESUME, "said again after it was answered");
}

#[tokio::test]
async fn list_is_the_rows_l_and_ends_with_its_snapshot() {
    let mut list_ = plan(Mode::List);
    assert_eq!(*list_.request(), list("0", Some(500)));
    assert_eq!(fails(&mut list_, Class::Hidden), RELIST);
    assert_eq!(*list_.request(), list("0", Some(500)), "SNAP is L");
    assert_eq!(page(&mut list_, None, "7", 1), Verdict::SnapshotEnd { over: true });
}

#[tokio::test]
async fn watch_list_ends_where_a_list_is_next() {
    let mut plan_ = plan(Mode::WatchList);
    assert_eq!(fails(&mut plan_, Class::Unreachable), RELIST);
    assert_eq!(*plan_.request(), wl(""), "SNAP is WL");
    assert_eq!(fails(&mut plan_, Class::BadRequest), Verdict::Over(Recovery::Fallback));
    let mut plan_ = plan(Mode::WatchList);
    closing(&mut plan_, "9");
    assert_eq!(ends(&mut plan_, Ending::Clean), Verdict::Next(None));
    assert_eq!(*plan_.request(), watch("9"), "across reconnects");
    assert_eq!(fails(&mut plan_, Class::Gone), Verdict::Over(Recovery::Relist));
}

#[tokio::test]
async fn watch_from_ends_where_a_snapshot_is_next() {
    let mut plan = Plan::new(Mode::WatchFrom, Strategy::WatchListFirst, None, Some("7".into()), Instant::now());
    assert_eq!(*plan.request(), watch("7"));
    assert_eq!(fails(&mut plan, Class::Busy), RESUME);
    assert_eq!(fails(&mut plan, Class::Gone), Verdict::Over(Recovery::Relist));
}

#[tokio::test]
async fn poll_every_lists_at_its_position_and_needs_no_version() {
    let mut plan = plan(Mode::Poll);
    assert_eq!(*plan.request(), list("0", Some(500)));
    assert_eq!(page(&mut plan, None, "7", 1), Verdict::SnapshotEnd { over: false });
    assert_eq!((plan.request(), plan.pause()), (&list("7", None), Pause::Poll));
    page(&mut plan, None, "", 1);
    assert_eq!(*plan.request(), list("0", Some(500)));
}
