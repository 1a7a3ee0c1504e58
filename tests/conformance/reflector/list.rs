//! R20 to R26: what a list asks for, and what it asks for next.

use crate::play::{
    Api, LIST, S, added, api, cms, deleted, during, error_event, errors, held, mirror, status, until, version,
    without_watch_list,
};
use futures::StreamExt;
use listwatch::{
    Error, Status, Store,
    source::{ListMeta, ListWatch},
};

const LIST_AT_0: &str = r#"L "0" limit 500"#;

/// `count` objects at version 10, named from `first` on.
fn items(first: usize, count: usize) -> Vec<k8s_openapi::api::core::v1::ConfigMap> {
    (first..first + count).map(|n| crate::play::cm(&format!("pod-{n}@10"))).collect()
}

/// Pages of 4, 4 and 2 objects.
fn three_pages(api: Api) -> Api {
    api.on_page(ListMeta::new("10").with_continue("C1"), items(0, 4))
        .on_page(ListMeta::new("10").with_continue("C2"), items(4, 4))
        .on_page(ListMeta::new("10"), items(8, 2))
}

/// The list requests among the calls.
fn lists(api: &Api) -> Vec<String> {
    api.lines().into_iter().filter(|line| !line.starts_with('W')).collect()
}

/// A watch that stands and then expires: the next list is at the position.
fn expires(api: Api) -> Api {
    api.on_watch([error_event(410, "Expired")])
}

#[tokio::test(start_paused = true)]
async fn r20_a_page_size_holds_for_every_list() {
    let (api, store) = (three_pages(api()), Store::new());
    let mut changes = mirror(api.clone().list().at("10").page_size(4), &store);
    until(&mut changes, "synced 10").await;
    // At a version the limit would mean exactly that version; ours says what it means.
    assert_eq!(api.lines(), [r#"L "10" limit 4 NotOlderThan"#, "P C1 limit 4", "P C2 limit 4"]);
    assert_eq!(store.len(), 10);
}

#[tokio::test(start_paused = true)]
async fn r21_a_list_at_a_version_is_not_paged() {
    let (api, store) = (api().on_list("10", items(0, 10)), Store::new());
    let mut changes = mirror(api.clone().list().at("10"), &store);
    until(&mut changes, "synced 10").await;
    assert_eq!(api.lines(), [r#"L "10""#]);
    assert_eq!(store.len(), 10);
}

#[tokio::test(start_paused = true)]
async fn r22_where_version_0_came_in_pages_every_list_is_paged() {
    let (api, store) = (three_pages(expires(three_pages(api()))), Store::new());
    let mut changes = mirror(api.clone().events().strategy(LIST), &store);
    until(&mut changes, "synced 10").await;
    assert_eq!(store.len(), 10);
    let told = until(&mut changes, "synced 10").await;
    assert_eq!(errors(&told), ["Relist 410"]);
    assert_eq!(store.len(), 10);
    let pages = ["P C1 limit 500", "P C2 limit 500"];
    let first = [LIST_AT_0, pages[0], pages[1]];
    let second = [r#"L "10" limit 500 NotOlderThan"#, pages[0], pages[1]];
    assert_eq!(lists(&api), [first, second].concat());
}

#[tokio::test(start_paused = true)]
async fn r23_a_relist_asks_for_the_last_version() {
    let api = expires(api().on_list("10", items(0, 4))).on_list("11", items(0, 8));
    let store = Store::new();
    let mut changes = mirror(api.clone().events().strategy(LIST), &store);
    until(&mut changes, "synced 10").await;
    assert_eq!(store.len(), 4);
    until(&mut changes, "synced 11").await;
    assert_eq!(store.len(), 8);
    assert_eq!(lists(&api), [LIST_AT_0, r#"L "10""#]);
}

#[tokio::test(start_paused = true)]
async fn r24_an_expired_version_is_left_out() {
    let api =
        expires(api().on_list("10", items(0, 4))).on_list_error(status(410, "Expired")).on_list("11", items(0, 8));
    let store = Store::new();
    let mut changes = mirror(api.clone().events().strategy(LIST), &store);
    until(&mut changes, "synced 10").await;
    assert_eq!(store.len(), 4);
    let told = until(&mut changes, "synced 11").await;
    assert_eq!(errors(&told), ["Relist 410", "Fallback 410"]);
    assert_eq!(store.len(), 8);
    assert_eq!(lists(&api), [LIST_AT_0, r#"L "10""#, r#"L "" limit 500"#]);
}

#[tokio::test(start_paused = true)]
async fn r25_an_expired_page_is_followed_by_the_whole_list_at_the_first_version() {
    let api = expires(api().on_list("10", items(0, 4)))
        .on_page(ListMeta::new("11").with_continue("C1"), items(0, 4))
        .on_list_error(status(410, "Expired"))
        .on_list("11", items(0, 8));
    let store = Store::new();
    let mut changes = mirror(api.clone().events().strategy(LIST).page_size(4), &store);
    until(&mut changes, "synced 10").await;
    assert_eq!(store.len(), 4);
    until(&mut changes, "synced 11").await;
    assert_eq!(store.len(), 8);
    assert_eq!(lists(&api), [r#"L "0" limit 4"#, r#"L "10" limit 4 NotOlderThan"#, "P C1 limit 4", r#"L "10""#]);
}

#[tokio::test(start_paused = true)]
async fn r26_a_version_too_large_in_any_shape_is_left_out() {
    let timeout = || Status::from_code(504).with_reason("Timeout");
    let shapes = [
        timeout().with_cause("ResourceVersionTooLarge", "Too large resource version"),
        timeout().with_cause("", "Too large resource version"),
        timeout().with_message("Timeout: Too large resource version: 40, current: 39"),
    ];
    let mut api = api().on_list("20", items(0, 1));
    for (shape, version) in shapes.into_iter().zip(["30", "40", "50"]) {
        api = expires(api).on_list_error(Error::from_status(shape)).on_list(version, items(0, 1));
    }
    let store = Store::new();
    let mut changes = mirror(api.clone().events().strategy(LIST), &store);
    for at in ["20", "30", "40", "50"] {
        until(&mut changes, &format!("synced {at}")).await;
        assert_eq!(version(&store), at);
    }
    let asked = [LIST_AT_0, r#"L "20""#, r#"L "" limit 500"#, r#"L "30""#, r#"L "" limit 500"#, r#"L "40""#];
    assert_eq!(lists(&api)[..6], asked);
    assert_eq!(lists(&api)[6..], [r#"L "" limit 500"#]);
}

#[tokio::test(start_paused = true)]
async fn r13_a_store_fed_by_one_reflector_after_another_is_each_ones_list() {
    let store = Store::new();
    let script = without_watch_list().on_list("1", []).on_watch([added("foo@2"), added("bar@3")]);
    let mut changes = mirror(script.events(), &store);
    until(&mut changes, "synced 1").await;
    assert_eq!(held(&store), "");
    until(&mut changes, "added bar@3").await;
    drop(changes);

    let script = without_watch_list().on_list("3", cms("foo@2 bar@3")).on_watch([deleted("foo@4"), added("qux@5")]);
    let mut changes = mirror(script.events(), &store);
    let told = until(&mut changes, "synced 3").await;
    assert_eq!(told, ["synced 3"], "what is held already is not told again");
    assert_eq!(held(&store), "bar@3 foo@2");
    until(&mut changes, "added qux@5").await;
    assert_eq!(held(&store), "bar@3 qux@5");
    drop(changes);

    // The error of a list is the item, through whatever wraps it.
    let script = without_watch_list().on_list_error(Error::other("E"));
    let mut changes = mirror(script.events(), &store);
    let error = changes.next().await.unwrap().unwrap_err();
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "E");
    assert_eq!(held(&store), "bar@3 qux@5");
    drop(changes);

    let script = without_watch_list().on_list("5", cms("bar@3 qux@5")).on_watch_error(Error::other("F"));
    let mut changes = mirror(script.events(), &store);
    assert_eq!(until(&mut changes, "synced 5").await, ["synced 5"]);
    assert_eq!(held(&store), "bar@3 qux@5");
    let error = changes.next().await.unwrap().unwrap_err();
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "F");
    drop(changes);

    let script = without_watch_list().on_list("5", cms("bar@3 qux@5")).on_watch([added("baz@6")]);
    let mut changes = mirror(script.events(), &store);
    until(&mut changes, "added baz@6").await;
    drop(changes);

    let script = without_watch_list().on_list("6", cms("bar@3 qux@5 baz@6"));
    let mut changes = mirror(script.events(), &store);
    assert_eq!(during(&mut changes, S / 2).await, ["synced 6"]);
    assert_eq!(held(&store), "bar@3 baz@6 qux@5");
}
