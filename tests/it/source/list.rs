use super::{S, api, next, status, unreadable};
use crate::objects::config_map;
use futures::StreamExt;
use listwatch::{
    Error, UnreadableAs,
    source::{ListMeta, ListPart, ListWatch, Strategy},
    testing::Step,
};
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn one_page_is_a_snapshot_and_the_stream_ends() {
    let api = api().on_list("7", [config_map("a", "5"), config_map("b", "6")]);
    let mut list = api.clone().list();
    assert_eq!(next(&mut list, 5).await, ["start", "listed a", "listed b", "end 7", "over"]);
    assert_eq!(api.lines(), [r#"L "0" limit 500"#]);
}

#[tokio::test(start_paused = true)]
async fn each_object_of_a_list_in_progress_is_heard() {
    let (part, wait) = (|name| Step::Item(Ok(ListPart::Item(config_map(name, "5").into()))), || Step::Wait(S * 3));
    let meta = Step::Item(Ok(ListPart::Meta(ListMeta::new("7"))));
    let api =
        api().on_list_steps([part("a"), wait(), part("b"), wait(), Step::Item(Ok(ListPart::Progress)), wait(), meta]);
    let mut list = api.list();
    let (stats, start) = (list.stats(), Instant::now());
    for (name, at) in [("start", 0), ("listed a", 0), ("listed b", 3)] {
        assert_eq!(next(&mut list, 1).await, [name]);
        assert_eq!(stats.get().last_heard.map(|heard| heard - start), Some(S * at), "{name}");
    }
    assert!(tokio::time::timeout(S * 4, list.next()).await.is_err(), "half a part is no item");
    assert_eq!(stats.get().last_heard.map(|heard| heard - start), Some(S * 6));
    assert_eq!(next(&mut list, 1).await, ["end 7"]);
}

#[tokio::test(start_paused = true)]
async fn pages_are_one_snapshot_with_the_first_pages_version() {
    let api = api()
        .on_page(ListMeta::new("7").with_continue("t1"), [config_map("a", "5")])
        .on_page(ListMeta::new("9").with_continue("t2"), [])
        .on_page(ListMeta::new("9").with_continue(""), [config_map("b", "6")]);
    let mut list = api.clone().list().page_size(1);
    assert_eq!(next(&mut list, 5).await, ["start", "listed a", "listed b", "end 7", "over"]);
    assert_eq!(api.lines(), [r#"L "0" limit 1"#, "P t1 limit 1", "P t2 limit 1"]);
    assert!(api.calls()[1..].iter().all(|call| call.list().is_some_and(|p| p.resource_version.is_unset())));
}

#[tokio::test(start_paused = true)]
async fn metadata_may_come_before_the_items() {
    let parts = [ListPart::Meta(ListMeta::new("7")), ListPart::Item(config_map("a", "5").into())];
    let api = api().on_list_steps(parts.map(|part| Step::Item(Ok(part))));
    assert_eq!(next(&mut api.list(), 4).await, ["start", "listed a", "end 7", "over"]);
}

#[tokio::test(start_paused = true)]
async fn no_items_are_an_empty_snapshot() {
    assert_eq!(next(&mut api().on_list("7", []).list(), 3).await, ["start", "end 7", "over"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_a_list_is_an_error_and_never_an_empty_list() {
    let without_version = api().on_list("", [config_map("a", "5")]).on_list("7", []);
    assert_eq!(next(&mut without_version.list(), 4).await, ["start", "listed a", "Relist", "start"]);
    let without_metadata = api().on_list_steps([]).on_list("7", []);
    assert_eq!(next(&mut without_metadata.list(), 4).await, ["Relist", "start", "end 7", "over"]);
    let meta = || Step::Item(Ok(ListPart::Meta(ListMeta::new("7"))));
    let twice = api().on_list_steps([meta(), meta()]).on_list("7", []);
    let mut list = twice.list();
    assert_eq!(next(&mut list, 1).await, ["start"]);
    assert!(list.next().await.unwrap().unwrap_err().is_garbage());
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_item_is_skipped_and_one_without_a_name_fails_the_list() {
    let skip = |name| Step::Item(Err(unreadable(UnreadableAs::Listed, name, "5")));
    let good = || Step::Item(Ok(ListPart::Item(config_map("b", "6").into())));
    let meta = || Step::Item(Ok(ListPart::Meta(ListMeta::new("7"))));
    let mut list = api().on_list_steps([skip("bad"), good(), meta()]).list();
    assert_eq!(next(&mut list, 5).await, ["start", "Skip", "listed b", "end 7", "over"]);
    assert_eq!(list.stats().get().skipped, 1);
    let mut list = api().on_list_steps([good(), skip("")]).on_list("8", []).list();
    assert_eq!(next(&mut list, 4).await, ["start", "listed b", "Relist", "start"]);
}

#[tokio::test(start_paused = true)]
async fn failures_are_items_and_the_list_is_tried_again() {
    let api = api().on_list_error(status(503)).on_list_error(status(403)).on_list("7", []);
    let mut list = api.clone().list();
    assert_eq!(next(&mut list, 5).await, ["Relist 503", "Relist 403", "start", "end 7", "over"]);
}

#[tokio::test(start_paused = true)]
async fn an_expired_page_is_followed_by_the_whole_list_in_a_new_snapshot() {
    let api = api()
        .on_page(ListMeta::new("11").with_continue("t"), [config_map("a", "5")])
        .on_list_error(status(410))
        .on_list("12", [config_map("a", "5")]);
    let mut list = api.clone().list().at("10").page_size(4);
    assert_eq!(next(&mut list, 6).await, ["start", "listed a", "Fallback 410", "start", "listed a", "end 12"]);
    assert_eq!(api.lines(), [r#"L "10" limit 4 NotOlderThan"#, "P t limit 4", r#"L "10""#]);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_refused_is_left_out_without_a_wait() {
    for code in [410, 400, 422] {
        let api = api().on_list_error(status(code)).on_list("7", []);
        let start = Instant::now();
        let mut list = api.clone().list();
        assert_eq!(next(&mut list, 3).await, [&*format!("Fallback {code}"), "start", "end 7"]);
        assert_eq!(api.lines(), [r#"L "0" limit 500"#, r#"L "" limit 500"#]);
        assert_eq!(start.elapsed(), Duration::ZERO);
    }
}

#[tokio::test(start_paused = true)]
async fn an_unpaged_body_that_is_cut_or_silent_is_asked_for_in_pages() {
    let item = || Step::Item(Ok(ListPart::Item(config_map("a", "5").into())));
    let cut = Step::Item(Err(Error::interrupted("reset")));
    let api_ = api().on_list_steps([item(), cut]).on_list("7", []);
    let mut list = api_.clone().list().at("5");
    assert_eq!(next(&mut list, 4).await, ["start", "listed a", "Relist", "start"]);
    assert_eq!(api_.lines(), [r#"L "5""#, r#"L "" limit 500"#]);

    let api_ = api().on_list_steps([item(), Step::Wait(S * 31), item()]).on_list("7", []);
    let (mut list, start) = (api_.clone().list().at("5"), Instant::now());
    assert_eq!(next(&mut list, 4).await, ["start", "listed a", "Relist", "start"]);
    assert_eq!(start.elapsed(), S * 30);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_makes_progress_is_not_silent() {
    let steps = (0..10).flat_map(|_| [Step::Wait(S * 20), Step::Item(Ok(ListPart::Progress))]);
    let api = api().on_list_steps(steps.chain([Step::Item(Ok(ListPart::Meta(ListMeta::new("7"))))]));
    assert_eq!(next(&mut api.list(), 3).await, ["start", "end 7", "over"]);
}

#[tokio::test(start_paused = true)]
async fn a_slow_consumer_is_not_taken_for_a_silent_server() {
    let mut list = api().on_list("7", [config_map("a", "5"), config_map("b", "6")]).list();
    for word in ["start", "listed a", "listed b", "end 7"] {
        assert_eq!(next(&mut list, 1).await, [word]);
        tokio::time::sleep(S * 300).await;
    }
}

#[tokio::test(start_paused = true)]
async fn headers_are_awaited_75_seconds() {
    let api = api().on_list("7", []).list_delayed(S * 76).on_list("8", []);
    let (mut list, start) = (api.list(), Instant::now());
    let error = list.next().await.unwrap().unwrap_err();
    assert!(error.is_unreachable(), "{error:?}");
    assert_eq!(start.elapsed(), S * 75);
    assert_eq!(next(&mut list, 2).await, ["start", "end 8"]);
}

#[tokio::test(start_paused = true)]
async fn list_consistent_asks_for_the_most_recent_state_in_pages() {
    let api = api().on_list("7", []);
    assert_eq!(next(&mut api.clone().list().strategy(Strategy::ListConsistent), 2).await, ["start", "end 7"]);
    assert_eq!(api.lines(), [r#"L "" limit 500"#]);
}
