//! Many resources mirrored at once.

use listwatch::{
    State,
    client::{Client, Mirrors},
    source::{Shard, Strategy},
    testing::{ApiServer, Fault, Match, Resource, Times},
};
use serde_json::json;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(10);

async fn server() -> (ApiServer, Client) {
    let server = ApiServer::start().await;
    let client = Client::new(&server.url()).unwrap();
    (server, client)
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let wait = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(SOON, wait).await.unwrap_or_else(|_| panic!("{what}"));
}

#[tokio::test]
async fn all_of_a_server_is_mirrored_and_followed() {
    let (server, client) = server().await;
    server.register(Resource::custom("carts.shop.example"));
    for resource in ["configmaps", "deployments.apps", "carts.shop.example"] {
        server.create(resource, json!({"metadata": {"name": "a"}}));
    }
    let listable = client.resources().await.unwrap().into_iter().filter(|found| found.can_list()).count();
    let mirrors = client.mirror_all(client.resources().await.unwrap());
    mirrors.ready_within(SOON).await.unwrap();
    assert_eq!((mirrors.len(), mirrors.iter().count()), (listable, listable));
    for resource in ["configmaps", "deployments.apps", "carts.shop.example"] {
        let store = mirrors.store(resource).unwrap();
        assert!(store.contains(("default", "a")), "{resource}");
        server.create(resource, json!({"metadata": {"name": "b"}}));
        store.wait_until(|content| content.get(("default", "b")).is_some()).await.unwrap();
        assert!(mirrors.stats(resource).unwrap().get().events > 0);
    }
    let store = mirrors.store("configmaps").unwrap().clone();
    assert!(mirrors.store("nothing").is_none());
    mirrors.stop().await;
    assert!(matches!(store.state(), State::Stale { .. }), "{:?}", store.state());
    until("the watches end", || server.open_watches() == 0).await;
}

#[tokio::test]
async fn a_group_is_mirrored_and_one_that_is_not_there_is_told() {
    let (server, client) = server().await;
    for name in ["carts.shop.example", "orders.shop.example"] {
        server.register(Resource::custom(name));
    }
    let mirrors = client.mirror_group("shop.example").await.unwrap();
    mirrors.ready_within(SOON).await.unwrap();
    let names: Vec<_> = mirrors.states().iter().map(|state| state.resource.clone()).collect();
    assert_eq!(names, ["carts.shop.example", "orders.shop.example"]);
    server.register(Resource::custom("reviews.check.example").verbs(["create"]));
    for none in ["shops.example", "check.example"] {
        let error = client.mirror_group(none).await.unwrap_err();
        assert!(error.is_config() && error.to_string().contains(none), "{error}");
    }
}

#[tokio::test]
async fn what_fails_for_one_leaves_the_others_alone() {
    let (server, client) = server().await;
    server.create("configmaps", json!({"metadata": {"name": "a"}}));
    server.rule(Match::any().of("secrets"), Fault::status(403), Times::Always);
    let wanted = [client.discover("secrets").await.unwrap(), client.discover("configmaps").await.unwrap()];
    let mirrors = client.mirror_all(wanted);
    mirrors.store("configmaps").unwrap().ready().await.unwrap();
    until("the refusal is told", || matches!(mirrors.states().iter().next().unwrap().state, State::Stale { .. })).await;
    let error = mirrors.ready_within(Duration::from_millis(50)).await.unwrap_err();
    assert_eq!(error.missing().map(|state| &*state.resource).collect::<Vec<_>>(), ["secrets"]);
    let text = error.to_string();
    assert!(text.starts_with("1 of 2 mirrors are not ready after 50ms: secrets (") && text.contains("403"), "{text}");

    let table = mirrors.states().to_string();
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines[0], "RESOURCE    STATE    OBJECTS  SKIPPED  VERSION");
    assert!(lines[1].starts_with("secrets     stale          0        0  - ") && lines[1].contains("403"), "{table}");
    assert!(lines[2].starts_with("configmaps  live           1        0  "), "{table}");
    assert_eq!(lines.len(), 3);
}

#[tokio::test]
async fn what_cannot_be_watched_is_polled_and_what_cannot_be_listed_is_left_out() {
    let (server, client) = server().await;
    server.register(Resource::custom("figures.metrics.example").verbs(["get", "list", "create"]));
    server.register(Resource::custom("reviews.metrics.example").verbs(["create"]));
    let wanted =
        client.resources().await.unwrap().into_iter().filter(|found| found.resource.group == "metrics.example");
    let mirrors = Mirrors::builder(client.clone()).poll_every(Duration::from_millis(20)).start(wanted);
    mirrors.ready_within(SOON).await.unwrap();
    assert_eq!(mirrors.len(), 1);
    server.create("figures.metrics.example", json!({"metadata": {"name": "a"}}));
    let store = mirrors.store("figures.metrics.example").unwrap();
    until("it is polled", || store.len() == 1).await;
}

#[tokio::test]
async fn one_that_is_not_there_is_ready_and_comes_later() {
    let (server, client) = server().await;
    for verbs in [&["list", "watch", "create"] as &[_], &["list", "create"]] {
        let carts = Resource::custom("carts.shop.example").verbs(verbs.iter().copied());
        server.register(carts.clone());
        let wanted = [client.discover("carts").await.unwrap()];
        server.unregister("carts.shop.example");
        let short = Duration::from_millis(20);
        let builder = Mirrors::builder(client.clone()).poll_every(short);
        let mirrors = builder.events(move |events| events.look_again(short)).start(wanted);
        mirrors.ready_within(SOON).await.unwrap();
        assert!(mirrors.store("carts.shop.example").unwrap().is_empty());
        server.register(carts);
        server.create("carts.shop.example", json!({"metadata": {"name": "a"}}));
        let store = mirrors.store("carts.shop.example").unwrap();
        until("it has come", || store.len() == 1).await;
        server.unregister("carts.shop.example");
    }
}

#[tokio::test]
async fn settings_hold_for_each_and_versions_are_taken_once() {
    let (server, client) = server().await;
    server.create("configmaps", json!({"metadata": {"name": "a", "labels": {"app": "x"}}, "data": {"k": "v"}}));
    server.create("configmaps", json!({"metadata": {"name": "b"}}));
    let found = client.discover("configmaps").await.unwrap();
    let mut other = found.clone();
    other.resource.version = "v9".into();
    let mirrors = Mirrors::builder(client.clone())
        .collections(|collection| collection.labels("app=x"))
        .collections(|collection| collection.metadata_only().shard(Shard::of(0, 1).unwrap()))
        .events(|events| events.strategy(Strategy::List).page_size(7))
        .start([found, other]);
    mirrors.ready_within(SOON).await.unwrap();
    let store = mirrors.store("configmaps").unwrap();
    let object = store.get(("default", "a")).unwrap();
    assert_eq!((store.len(), mirrors.len(), object.data.get("data")), (1, 1, None));
    let asked = server.requests().into_iter().find(|request| request.query("limit") == Some("7"));
    assert_eq!(asked.as_ref().and_then(|request| request.query("labelSelector")), Some("app=x"));
}

#[tokio::test]
async fn none_of_nothing_is_ready_at_once() {
    let (_server, client) = server().await;
    let mirrors = client.mirror_all([]);
    assert!(mirrors.is_empty() && mirrors.ready().await.is_ok());
    assert_eq!(mirrors.states().to_string(), "RESOURCE  STATE    OBJECTS  SKIPPED  VERSION");
    assert_eq!(format!("{mirrors:?}"), "Mirrors([])");
}

#[tokio::test]
async fn dropping_them_ends_their_requests() {
    let (server, client) = server().await;
    let mirrors = client.mirror_all(client.resources().await.unwrap());
    mirrors.ready_within(SOON).await.unwrap();
    until("they watch", || server.open_watches() == mirrors.len()).await;
    drop(mirrors);
    until("the watches end", || server.open_watches() == 0).await;
}

#[tokio::test]
async fn objects_of_another_kind_are_left_out_and_counted() {
    let (server, client) = server().await;
    server.create("configmaps", json!({"metadata": {"name": "a"}}));
    let mut found = client.discover("configmaps").await.unwrap();
    found.resource.kind = "Other".into();
    let mirrors = client.mirror_all([found]);
    mirrors.ready_within(SOON).await.unwrap();
    let states = mirrors.states();
    let state = states.iter().next().unwrap();
    assert_eq!((state.objects, state.skipped), (0, 1), "{states}");
}

#[tokio::test]
async fn one_that_ends_before_it_is_complete_is_told() {
    let (_server, client) = server().await;
    let wanted = [client.discover("configmaps").await.unwrap()];
    let panics = |_: &mut listwatch::client::Request| panic!("of the user's own");
    let mirrors = Mirrors::builder(client).collections(move |collection| collection.modify(panics)).start(wanted);
    let error = tokio::time::timeout(SOON, mirrors.ready()).await.unwrap().unwrap_err();
    assert!(error.to_string().starts_with("a mirror ended before all were ready: configmaps"), "{error}");
}
