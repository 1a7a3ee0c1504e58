//! D8: `listwatch_test.go`, what client-go 0.38 has of shards.

use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Error, Event, Identity,
    client::{Client, Collection, Request, RequestKind, Response},
    source::{ListParams, ListPart, ListWatch, Shard, Strategy, WatchParams, WireEvent},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

/// The objects of client-go's test: `pod-N` with the uid `uid-N`, all at version 10.
fn objects() -> Vec<Value> {
    let object = |n| {
        json!({"metadata": {
            "name": format!("pod-{n}"), "namespace": "default", "uid": format!("uid-{n}"), "resourceVersion": "10",
        }})
    };
    (0..16).map(object).collect()
}

fn holds(shard: &Shard, object: &Value) -> bool {
    let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
    shard.contains(&Identity { uid, ..Identity::default() })
}

fn line(kind: &str, object: &Value) -> String {
    format!("{}\n", json!({"type": kind, "object": object}))
}

/// A server that shards or not, over pages and watch-lists; a plain watch brings all in any case.
fn client(shards: bool) -> (Client, Arc<Mutex<Vec<Request>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    let client = Client::with_transport(move |request: Request| {
        log.lock().unwrap().push(request.clone());
        async move { Ok::<_, Error>(answer(&request, shards)) }
    });
    (client, asked)
}

fn answer(request: &Request, shards: bool) -> Response {
    let selector = request.query("shardSelector").expect("each request has the selector");
    let shard: Shard = selector.parse().expect("a selector");
    let plain = request.query("watch").is_some() && request.query("sendInitialEvents").is_none();
    let mut found = objects();
    found.retain(|object| !shards || plain || holds(&shard, object));
    if request.kind() == RequestKind::Watch {
        let mut lines: String = found.iter().map(|object| line("ADDED", object)).collect();
        if plain {
            lines += &line("BOOKMARK", &json!({"metadata": {"resourceVersion": "11"}}));
            lines += &line("ERROR", &json!({"kind": "Status", "status": "Failure", "code": 500}));
        } else {
            let end = json!({"resourceVersion": "10", "annotations": {"k8s.io/initial-events-end": "true"}});
            lines += &line("BOOKMARK", &json!({"metadata": end}));
        }
        let body = stream::iter([Ok(lines.into())]).chain(stream::pending());
        return Response::new(200, body).with_header("Content-Type", "application/json");
    }
    let start: usize = request.query("continue").map_or(0, |token| token.parse().expect("a token"));
    let limit = request.query("limit").map_or(usize::MAX, |limit| limit.parse().expect("a limit"));
    let end = start.saturating_add(limit).min(found.len());
    let mut meta = json!({"resourceVersion": "10"});
    if end < found.len() {
        meta["continue"] = end.to_string().into();
        if !shards {
            meta["remainingItemCount"] = (found.len() - end).into();
        }
    }
    if shards {
        meta["shardInfo"] = json!({"selector": selector});
    }
    Response::json(200, json!({"kind": "ConfigMapList", "metadata": meta, "items": found[start..end]}).to_string())
}

type Seen = BTreeMap<String, u32>;

fn see(seen: &mut Seen, shard: u32, object: &ConfigMap) {
    let name = object.metadata.name.clone().expect("a name");
    assert_eq!(seen.insert(name.clone(), shard), None, "{name} is in two shards");
}

#[tokio::test]
async fn d08_shards_make_up_the_whole_whether_the_server_applies_them_or_not() {
    for shards in [true, false] {
        for count in 1..=7 {
            let (mut listed, mut paged, mut streamed, mut watched) = <(Seen, Seen, Seen, Seen)>::default();
            for index in 0..count {
                let shard = Shard::of(index, count).expect("a shard");
                let (client, asked) = client(shards);
                let collection = Collection::<ConfigMap>::all(client).shard(shard.clone());

                let mut body = collection.list_page(ListParams::default()).await.expect("a list");
                while let Some(part) = body.try_next().await.expect("a part") {
                    if let ListPart::Item(object) = part {
                        see(&mut listed, index, &object);
                    }
                }

                // Pages of two: some have nothing of this shard.
                let list = collection.clone().list().page_size(2).strategy(Strategy::ListConsistent);
                let events: Vec<_> = list.try_collect().await.expect("pages");
                events.iter().filter_map(|event| event.object()).for_each(|object| see(&mut paged, index, object));

                let mut events = collection.clone().watch_list();
                while let Some(event) = events.try_next().await.expect("a watch-list") {
                    match event.object() {
                        Some(object) => see(&mut streamed, index, object),
                        None if matches!(event, Event::SnapshotEnd(_)) => break,
                        None => {}
                    }
                }

                let mut body = collection.open_watch(WatchParams::default()).await.expect("a watch");
                let (mut bookmarks, mut errors) = (0, 0);
                while errors == 0 {
                    match body.next().await.expect("an event").expect("an event") {
                        WireEvent::Added(object) => see(&mut watched, index, &object),
                        WireEvent::Bookmark { .. } => bookmarks += 1,
                        WireEvent::Error(_) => errors += 1,
                        WireEvent::Elsewhere(version) => assert_eq!(version, "10"),
                        other => panic!("{other:?}"),
                    }
                }
                assert_eq!((bookmarks, errors), (1, 1), "these are of every shard");
                for request in asked.lock().unwrap().iter() {
                    assert_eq!(request.query("shardSelector"), Some(&*shard.to_string()), "{request:?}");
                }
            }
            assert_eq!(listed.len(), 16, "of {count}");
            assert!(paged == listed && streamed == listed && watched == listed, "of {count}");
        }
    }
}

#[tokio::test]
async fn d08_another_shard_than_the_one_asked_for_is_an_error() {
    let [mine, other] = [0, 1].map(|index| Shard::of(index, 2).expect("a shard"));
    let says = other.to_string();
    let client = Client::with_transport(move |_: Request| {
        let list = json!({"metadata": {"resourceVersion": "10", "shardInfo": {"selector": says}}, "items": []});
        async move { Ok::<_, Error>(Response::json(200, list.to_string())) }
    });
    let collection = Collection::<ConfigMap>::all(client).shard(mine);
    let body = collection.list_page(ListParams::default()).await.expect("a list");
    let error = body.try_collect::<Vec<_>>().await.unwrap_err();
    assert!(error.is_garbage() && error.to_string().contains("another shard"), "{error}");

    let conflicts = collection.modify(move |request| request.set_query("shardSelector", other.to_string()));
    assert!(conflicts.list_page(ListParams::default()).await.unwrap_err().is_config());
    assert!(conflicts.open_watch(WatchParams::default()).await.unwrap_err().is_config());
}
