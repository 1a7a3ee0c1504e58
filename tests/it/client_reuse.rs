//! Objects that a store has in the same state are not decoded again.

use futures::{StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Change, DecodeError, Error, EventStreamExt, Identity, Object, Raw, Store,
    client::{Client, Collection, Request, RequestKind, Response},
    source::ListWatch,
};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

static DECODED: AtomicUsize = AtomicUsize::new(0);

#[derive(Debug)]
struct Counted(Raw);

impl Object for Counted {
    fn identity(&self) -> Identity<'_> {
        self.0.identity()
    }

    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        DECODED.fetch_add(1, Relaxed);
        Raw::decode(json).map(Counted)
    }
}

fn item(name: &str, uid: &str, version: &str) -> String {
    format!(r#"{{"metadata":{{"name":"{name}","namespace":"n","uid":"{uid}","resourceVersion":"{version}"}}}}"#)
}

/// The same objects as a list and as a watch-list.
fn collection(items: &[String]) -> Collection<Counted> {
    let list = format!(r#"{{"metadata":{{"resourceVersion":"9"}},"items":[{}]}}"#, items.join(","));
    let end = r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
    let added = items.iter().map(|item| format!("{{\"type\":\"ADDED\",\"object\":{item}}}\n"));
    let watch = added.chain([end.to_owned()]).collect::<String>();
    let client = Client::with_transport(move |request: Request| {
        let body = if request.kind() == RequestKind::List { list.clone() } else { watch.clone() };
        async { Ok::<_, Error>(Response::json(200, body)) }
    });
    Collection::<ConfigMap>::all(client).decode_as::<Counted>()
}

/// How many were decoded, and what was told.
async fn taken(items: &[String], store: &Store<Counted>, watch_list: bool) -> (usize, Vec<Change<Counted>>) {
    let before = DECODED.load(Relaxed);
    let objects = collection(items).reuse(store);
    let all = items.len() + 2; // and the two ends of the snapshot: a watch-list goes on as a watch
    let events = if watch_list { objects.watch_list().take(all).boxed() } else { objects.list().boxed() };
    let changes = events.reflect(store).try_collect().await.expect("a snapshot");
    (DECODED.load(Relaxed) - before, changes)
}

#[tokio::test]
async fn what_is_unchanged_is_not_decoded() {
    let first = [item("a", "1", "1"), item("b", "2", "2"), item("c", "3", "3")];
    // A new version, another object of the same name, one that is as it was, and a new one.
    let second = [item("a", "1", "4"), item("b", "5", "2"), item("c", "3", "3"), item("d", "6", "6")];
    for watch_list in [false, true] {
        let store = Store::new();
        let (decoded, told) = taken(&first, &store, watch_list).await;
        assert_eq!((decoded, told.len()), (3, 4), "{told:?}");
        let c = store.get(("n", "c")).expect("c");
        let (decoded, told) = taken(&first, &store, watch_list).await;
        assert_eq!((decoded, told.len()), (0, 1), "{told:?}");
        let (decoded, told) = taken(&second, &store, watch_list).await;
        assert_eq!(decoded, 3, "watch-list: {watch_list}");
        assert!(matches!(told.last(), Some(Change::Synced { .. })), "{told:?}");
        let versions = ["a", "b", "c", "d"].map(|name| store.get(("n", name)).expect(name));
        assert_eq!(versions.each_ref().map(|o| o.identity().resource_version), ["4", "2", "3", "6"]);
        assert_eq!(versions[1].identity().uid, "5");
        assert!(Arc::ptr_eq(&c, &versions[2]), "the same object stays");
    }
}
