//! P1 to P11: `pager_test.go`, with pages of 10.

use crate::play::{Api, Item, MS, api, cm, status, until};
use futures::{Stream, StreamExt};
use listwatch::{
    Event,
    source::{ListMeta, ListParams, ListWatch, VersionMatch},
};

/// A server that gives `items` objects in pages of 10, the list being at `version`.
fn paged(items: usize, version: &str) -> Api {
    let mut api = api();
    let pages = items.div_ceil(10).max(1);
    for page in 0..pages {
        let objects = (page * 10..items.min(page * 10 + 10)).map(|n| cm(&format!("pod-{n}@1")));
        let meta = ListMeta::new(version);
        let meta = if page + 1 < pages { meta.with_continue(format!("token-{page}")) } else { meta };
        api = api.on_page(meta, objects);
    }
    api
}

async fn all(mut list: impl Stream<Item = Item> + Unpin) -> usize {
    until(&mut list, "end 11").await.iter().filter(|word| word.starts_with("listed")).count()
}

fn params(api: &Api) -> Vec<ListParams> {
    api.calls().iter().filter_map(|call| call.list().cloned()).collect()
}

/// Lists that many items, in so many calls, each as a page is asked for.
async fn lists(items: usize, calls: usize) {
    let api = paged(items, "11");
    assert_eq!(all(api.clone().list().page_size(10)).await, items);
    let asked = params(&api);
    assert_eq!(asked.len(), calls);
    for (n, asked) in asked.iter().enumerate() {
        assert_eq!(asked.limit, Some(10));
        if n == 0 {
            assert_eq!(asked.continue_token, None);
        } else {
            assert_eq!(asked.continue_token.as_deref(), Some(&*format!("token-{}", n - 1)));
            assert!(asked.resource_version.is_unset() && asked.version_match == VersionMatch::Unset);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn p01_no_items_are_one_call() {
    lists(0, 1).await;
}

#[tokio::test(start_paused = true)]
async fn p02_less_than_a_page_is_one_call() {
    lists(9, 1).await;
}

#[tokio::test(start_paused = true)]
async fn p03_a_page_is_one_call() {
    lists(10, 1).await;
}

#[tokio::test(start_paused = true)]
async fn p04_one_more_than_a_page_is_two() {
    lists(11, 2).await;
}

#[tokio::test(start_paused = true)]
async fn p05_one_more_than_two_pages_is_three() {
    lists(21, 3).await;
}

#[tokio::test(start_paused = true)]
async fn p07_an_expired_page_is_followed_by_the_whole_list() {
    let api = api()
        .on_page(ListMeta::new("11").with_continue("token-0"), (0..10).map(|n| cm(&format!("pod-{n}@1"))))
        .on_list_error(status(410, "Expired"))
        .on_list("11", (0..21).map(|n| cm(&format!("pod-{n}@1"))));
    let mut list = api.clone().list().page_size(10);
    until(&mut list, "Fallback 410").await;
    assert_eq!(all(list).await, 21);
    assert_eq!(api.lines(), [r#"L "0" limit 10"#, "P token-0 limit 10", r#"L "0""#]);
    assert_eq!(params(&api)[2].continue_token, None);
}

#[tokio::test(start_paused = true)]
async fn p08_only_the_first_call_carries_the_version() {
    let api = paged(11, "11");
    assert_eq!(all(api.clone().list().at("rv:10").page_size(10)).await, 11);
    let asked = params(&api);
    assert_eq!(asked[0].resource_version, "rv:10");
    assert!(asked[1].resource_version.is_unset());
}

#[tokio::test(start_paused = true)]
async fn p09_only_the_first_call_carries_the_match() {
    let api = paged(11, "11");
    assert_eq!(all(api.clone().list().at("rv:10").page_size(10)).await, 11);
    let asked = params(&api);
    assert_eq!(asked[0].version_match, VersionMatch::NotOlderThan);
    assert_eq!(asked[1].version_match, VersionMatch::Unset);
}

#[tokio::test(start_paused = true)]
async fn p11_no_page_is_asked_for_before_its_first_item_is_wanted() {
    let api = paged(50, "11");
    let mut list = api.clone().list().page_size(10);
    assert!(matches!(list.next().await, Some(Ok(Event::SnapshotStart))));
    for processed in 1..=50 {
        assert!(matches!(list.next().await, Some(Ok(Event::Listed(_)))));
        tokio::time::sleep(MS).await;
        assert_eq!(api.calls().len(), (processed - 1) / 10 + 1, "after {processed} items");
    }
}
