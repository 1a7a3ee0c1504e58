//! The next page is asked for while the one before it is read.

use super::{Api, S, api, next, status};
use crate::objects::config_map;
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Error,
    source::{ListBody, ListMeta, ListParams, ListPart, ListWatch, WatchBody, WatchParams},
    testing::Step,
};
use std::{sync::Arc, time::Duration};
use tokio::time::Instant;

const MS: Duration = Duration::from_millis(1);

fn meta(token: &str) -> Step<ListPart<ConfigMap>> {
    let meta = ListMeta::new("7");
    Step::Item(Ok(ListPart::Meta(if token.is_empty() { meta } else { meta.with_continue(token) })))
}

fn item(name: &str) -> Step<ListPart<ConfigMap>> {
    Step::Item(Ok(ListPart::Item(config_map(name, "5").into())))
}

/// A page whose metadata stand before its items; both halves take 20 ms.
fn typed(api: Api, token: &str, name: &str) -> Api {
    api.on_list_steps([meta(token), Step::Wait(20 * MS), item(name)]).list_delayed(20 * MS)
}

#[tokio::test(start_paused = true)]
async fn a_hundred_pages_take_at_most_six_tenths_of_one_after_the_other() {
    let mut api = api();
    for n in 1..100 {
        api = typed(api, &format!("t{n}"), &format!("a{n}"));
    }
    let (api, start) = (typed(api, "", "a100"), Instant::now());
    let told = next(&mut api.clone().list(), 103).await;
    let in_order: Vec<_> = (1..=100).map(|n| format!("listed a{n}")).collect();
    assert_eq!(told[1..101], in_order);
    assert_eq!(told[101..], ["end 7", "over"]);
    let one_after_the_other = 100 * 40 * MS;
    assert!(start.elapsed() <= one_after_the_other * 6 / 10, "{:?}", start.elapsed());
    assert_eq!(api.calls().len(), 100);
}

#[tokio::test(start_paused = true)]
async fn it_is_asked_for_as_soon_as_its_token_is_known_and_one_page_ahead_at_most() {
    let api = typed(typed(typed(api(), "t1", "a"), "t2", "b"), "", "c");
    let mut list = api.clone().list();
    assert_eq!(next(&mut list, 1).await, ["start"], "the first page's metadata are there, its items are not");
    assert_eq!(api.calls().len(), 2);
    tokio::time::sleep(S).await; // the consumer is slow
    assert_eq!(next(&mut list, 1).await, ["listed a"]);
    assert_eq!(api.calls().len(), 2, "the second page is not read before the first is");
    assert_eq!(next(&mut list, 2).await, ["listed b", "listed c"]);
    assert_eq!(api.lines(), [r#"L "0" limit 500"#, "P t1 limit 500", "P t2 limit 500"]);
}

#[tokio::test(start_paused = true)]
async fn what_became_of_it_is_told_after_the_items_before_it() {
    let expired = || status(410);
    for (error, recovery) in [(expired(), "Fallback 410"), (status(500), "Relist 500")] {
        let api = api()
            .on_list_steps([meta("t1"), item("a"), Step::Wait(S), item("b")])
            .on_list_error(error)
            .on_list("9", [config_map("c", "8")]);
        let told = next(&mut api.list(), 8).await;
        assert_eq!(told, ["start", "listed a", "listed b", recovery, "start", "listed c", "end 9", "over"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_never_answers_is_given_up_after_75_seconds() {
    let api = typed(api(), "t1", "a").on_list_steps([meta("")]).list_delayed(1000 * S).on_list("9", []);
    let start = Instant::now();
    let mut list = api.list();
    assert_eq!(next(&mut list, 2).await, ["start", "listed a"]);
    let error = list.next().await.unwrap().unwrap_err();
    assert!(format!("{error:?}").contains("no answer within 75s"), "{error:?}");
    assert_eq!(start.elapsed().as_secs(), 75, "from when it was asked for");
}

#[tokio::test(start_paused = true)]
async fn what_an_item_may_be_holds_for_each_page() {
    let api = typed(typed(api(), "t1", "a"), "", "b");
    next(&mut api.clone().list().max_event_size(1000), 4).await;
    let sizes: Vec<_> = api.calls().iter().map(|call| call.list().unwrap().max_event_size).collect();
    assert_eq!(sizes, [1000, 1000]);
}

/// Pages wait a second for their turn; `asked` is held by each request for one that is under way.
struct Slow {
    api: Api,
    asked: Arc<()>,
}

impl ListWatch for Slow {
    type Object = ConfigMap;

    async fn list_page(&self, params: ListParams) -> Result<ListBody<ConfigMap>, Error> {
        let _asked = Arc::clone(&self.asked);
        self.api.list_page(params).await
    }

    async fn open_watch(&self, params: WatchParams) -> Result<WatchBody<ConfigMap>, Error> {
        self.api.open_watch(params).await
    }

    async fn before_list(&self) {
        tokio::time::sleep(S).await;
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_waits_for_its_turn_is_sent_while_the_page_before_it_is_read() {
    let api = api().on_list_steps([meta("t1"), Step::Wait(S * 10), item("a")]).on_list_steps([meta("")]);
    let (start, asked) = (Instant::now(), Arc::default());
    assert_eq!(next(&mut Slow { api: api.clone(), asked }.list(), 3).await, ["start", "listed a", "end 7"]);
    let at: Vec<_> = api.calls().iter().map(|call| call.at() - start).collect();
    assert_eq!(at, [S, S * 2]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_dropped_ends_the_request_for_the_next_page() {
    let api = api().on_list_steps([meta("t1"), Step::Wait(S * 5), item("a")]);
    let api = api.on_list_steps([meta("")]).list_delayed(S * 1000);
    let asked = Arc::default();
    let mut list = Slow { api: api.clone(), asked: Arc::clone(&asked) }.list();
    assert_eq!(next(&mut list, 2).await, ["start", "listed a"]);
    assert_eq!((api.calls().len(), Arc::strong_count(&asked)), (2, 3), "asked for, and not answered");
    drop(list);
    tokio::time::sleep(S).await;
    assert_eq!(Arc::strong_count(&asked), 1);
}

#[tokio::test(start_paused = true)]
async fn where_a_page_fails_the_one_asked_for_ahead_is_dropped() {
    let api = api()
        .on_list_steps([meta("t1"), item("a"), Step::Wait(S * 5), Step::Item(Err(Error::interrupted("cut")))])
        .on_list_steps([meta(""), item("never")])
        .list_delayed(S * 1000)
        .on_list("9", []);
    let asked = Arc::default();
    let mut list = Slow { api: api.clone(), asked: Arc::clone(&asked) }.list();
    assert_eq!(next(&mut list, 3).await, ["start", "listed a", "Relist"]);
    assert_eq!((api.calls().len(), Arc::strong_count(&asked)), (2, 2), "asked for, and no longer under way");
    assert_eq!(next(&mut list, 3).await, ["start", "end 9", "over"]);
}
