//! R31, R34, and what R01, R12, R20, R29 mean on the wire.

use crate::play::{LIST, S, held, until, version};
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    EventStreamExt, Recovery, Store,
    client::{Client, Collection},
    source::{ListWatch, Strategy},
    testing::{ApiServer, At, Ending, Fault, Match, Request, Times},
};
use serde_json::json;
use std::sync::Arc;

/// A server with so many ConfigMaps `cm-000` and on.
async fn server(objects: usize) -> ApiServer {
    let server = ApiServer::start().await;
    for n in 0..objects {
        server.create("configmaps", json!({"metadata": {"name": format!("cm-{n:03}"), "namespace": "ns"}}));
    }
    server
}

fn config_maps(server: &ApiServer) -> Collection<ConfigMap> {
    Collection::all(Client::new(&server.url()).expect("a URL"))
}

/// The parameters of a request, sorted; a timeout only as `timeoutSeconds`.
fn parameters(request: &Request) -> Vec<String> {
    let mut all: Vec<_> = request
        .queries()
        .iter()
        .map(|(key, value)| if key == "timeoutSeconds" { key.clone() } else { format!("{key}={value}") })
        .collect();
    all.sort();
    all
}

#[tokio::test]
async fn r12a_the_watch_list_on_the_wire() {
    let (server, store) = (server(1).await, Store::new());
    let mut changes = config_maps(&server).events().reflect(&store);
    while !matches!(changes.next().await, Some(Ok(listwatch::Change::Synced { .. }))) {}
    let asked = server.requests();
    assert_eq!(asked.len(), 1, "{asked:?}");
    let expected = [
        "allowWatchBookmarks=true",
        "resourceVersionMatch=NotOlderThan",
        "sendInitialEvents=true",
        "timeoutSeconds",
        "watch=true",
    ];
    assert_eq!(parameters(&asked[0]), expected);
    assert_eq!(store.len(), 1);
}

#[tokio::test]
async fn r12b_list_and_watch_on_the_wire() {
    let (server, store) = (server(1).await, Store::new());
    let mut changes = config_maps(&server).events().strategy(LIST).reflect(&store);
    while !matches!(changes.next().await, Some(Ok(listwatch::Change::Watching(_)))) {}
    let asked = server.requests();
    assert_eq!(parameters(&asked[0]), ["limit=500", "resourceVersion=0"]);
    let version = format!("resourceVersion={}", version(&store));
    assert_eq!(parameters(&asked[1]), ["allowWatchBookmarks=true", &*version, "timeoutSeconds", "watch=true"]);
}

#[tokio::test]
async fn r20_a_limit_at_a_version_on_the_wire() {
    let server = server(10).await;
    let version = server.resource_version().to_string();
    let mut list = config_maps(&server).list().at(&*version).page_size(4);
    while list.next().await.is_some() {}
    let asked: Vec<_> = server.requests().iter().map(parameters).collect();
    let first = ["limit=4", &*format!("resourceVersion={version}"), "resourceVersionMatch=NotOlderThan"];
    assert_eq!(asked[0], first);
    assert_eq!(asked.len(), 3);
    for next in &asked[1..] {
        assert!(next.len() == 2 && next[0].starts_with("continue=") && next[1] == "limit=4", "{next:?}");
    }
}

#[tokio::test]
async fn r29_timeouts_on_the_wire_are_whole_seconds_on_watches_alone() {
    for (minimum, low, high) in [(300, 300, 600), (1, 1, 2), (1800, 1800, 3600)] {
        let server = server(0).await;
        let mut events = config_maps(&server).events().strategy(LIST).watch_timeout(S * minimum);
        while !matches!(events.next().await, Some(Ok(listwatch::Event::Watching(_)))) {}
        let asked = server.requests();
        assert_eq!(asked[0].query("timeoutSeconds"), None);
        let seconds: u32 = asked[1].query("timeoutSeconds").expect("a timeout").parse().expect("whole seconds");
        assert!((low..=high).contains(&seconds), "{minimum}: {seconds}");
    }
}

#[tokio::test]
async fn r01_an_error_event_that_carries_no_status_on_the_wire() {
    let server = server(1).await;
    let line = r#"{"type":"ERROR","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}}"#;
    server.rule(
        Match::watches(),
        Fault::Insert(At::Event(0), format!("{line}\n").into()).and(Fault::End(At::Event(1), Ending::Stall)),
        Times::Once,
    );
    let mut events = config_maps(&server).events().strategy(LIST);
    let error = loop {
        if let Err(error) = events.next().await.expect("events never end") {
            break error;
        }
    };
    assert_eq!(error.recovery(), Recovery::Relist, "{error:?}");
    assert!(!error.to_string().contains("\"a\""), "{error}");
}

#[tokio::test]
async fn r31_one_object_of_a_page_does_not_keep_the_page() {
    let server = server(500).await;
    let mut list = config_maps(&server).list().strategy(Strategy::ListConsistent).page_size(100);
    let (mut kept, mut dropped) = (vec![], vec![]);
    while let Some(event) = list.next().await {
        let Some(object) = event.unwrap().object().cloned() else { continue };
        let name = object.metadata.name.as_deref().unwrap();
        if name.ends_with("01") { kept.push(object) } else { dropped.push(Arc::downgrade(&object)) }
    }
    assert_eq!(server.requests().len(), 5);
    assert_eq!((kept.len(), dropped.len()), (5, 495));
    assert!(dropped.iter().all(|object| object.upgrade().is_none()), "each object is an allocation of its own");
}

#[tokio::test]
async fn r34_a_table_is_an_error_and_never_an_empty_list() {
    for (version, kind, table) in [
        ("meta.k8s.io/v1beta1", "Table", true),
        ("meta.k8s.io/v1", "Table", true),
        ("v1", "ConfigMapList", false),
        ("custom.group/v1", "TableList", false),
    ] {
        let (server, store) = (server(1).await, Store::new());
        let body = json!({
            "kind": kind, "apiVersion": version, "metadata": {"resourceVersion": "7"},
            "columnDefinitions": [], "rows": [], "items": [{"metadata": {"name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "1"}}],
        });
        let answer = Fault::Answer {
            code: 200,
            content_type: "application/json",
            retry_after: None,
            body: body.to_string().into(),
        };
        server.rule(Match::lists(), answer, Times::Once);
        let mut changes = Box::pin(config_maps(&server).list().reflect(&store));
        if table {
            let error = changes.next().await.unwrap().unwrap_err();
            assert!(error.is_garbage() && error.to_string().contains("Table"), "{error}");
            assert_eq!(error.recovery(), Recovery::Relist);
            assert!(store.is_empty());
        } else {
            until(&mut changes, "synced 7").await;
            assert_eq!(held(&store), "a@1");
        }
    }
}
