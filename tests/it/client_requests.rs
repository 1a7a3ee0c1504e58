//! What a collection puts on the wire.

use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kube::core::{ApiResource, GroupVersionKind, PartialObjectMeta};
use listwatch::{
    Error, Object, Raw,
    client::{Client, Collection, Request, RequestKind, Response},
    source::{ListParams, ListPart, ListWatch, VersionMatch, WatchParams},
};
use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

/// A client that answers each request with this list, and what it was asked.
fn client(list: &'static str) -> (Client, Arc<Mutex<Vec<Request>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    let client = Client::with_transport(move |request: Request| {
        let watch = request.kind() == RequestKind::Watch;
        log.lock().unwrap().push(request);
        async move {
            Ok(if watch {
                Response::new(200, stream::empty()).with_header("Content-Type", "application/json")
            } else {
                Response::json(200, list)
            })
        }
    });
    (client, asked)
}

const EMPTY: &str = r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}"#;

fn list_params(edit: impl FnOnce(&mut ListParams)) -> ListParams {
    let mut params = ListParams::default();
    edit(&mut params);
    params
}

fn watch_params(edit: impl FnOnce(&mut WatchParams)) -> WatchParams {
    let mut params = WatchParams::default();
    params.timeout = Duration::from_millis(400_900);
    edit(&mut params);
    params
}

async fn listed(collection: impl FnOnce(Client) -> Collection<ConfigMap>, params: ListParams) -> String {
    let (client, asked) = client(EMPTY);
    collection(client).list_page(params).await.expect("an answer");
    let asked = asked.lock().unwrap();
    asked[0].path_and_query()
}

async fn watched(params: WatchParams) -> Request {
    let (client, asked) = client(EMPTY);
    Collection::<ConfigMap>::all(client).open_watch(params).await.expect("an answer");
    let asked = asked.lock().unwrap();
    asked[0].clone()
}

#[tokio::test]
async fn a_list_leaves_out_what_is_not_set() {
    assert_eq!(listed(Collection::all, list_params(|_| {})).await, "/api/v1/configmaps");
    let first = list_params(|params| {
        params.resource_version = "0".into();
        params.limit = Some(500);
    });
    assert_eq!(listed(Collection::all, first).await, "/api/v1/configmaps?limit=500&resourceVersion=0");
}

#[tokio::test]
async fn a_page_sends_its_token_and_a_version_its_match() {
    let page = list_params(|params| {
        params.continue_token = Some("a+b/c==".into());
        params.limit = Some(500);
    });
    let wire = listed(|client| Collection::namespaced(client, "shop"), page).await;
    assert_eq!(wire, "/api/v1/namespaces/shop/configmaps?continue=a%2Bb%2Fc%3D%3D&limit=500");
    for (version_match, wire) in [
        (VersionMatch::NotOlderThan, "/api/v1/configmaps?resourceVersion=7&resourceVersionMatch=NotOlderThan"),
        (VersionMatch::Exact, "/api/v1/configmaps?resourceVersion=7&resourceVersionMatch=Exact"),
        (VersionMatch::Unset, "/api/v1/configmaps?resourceVersion=7"),
    ] {
        let params = list_params(|params| {
            params.resource_version = "7".into();
            params.version_match = version_match;
        });
        assert_eq!(listed(Collection::all, params).await, wire);
    }
}

#[tokio::test]
async fn a_watch_says_all_that_client_go_says() {
    let watch = watched(watch_params(|params| params.resource_version = "7".into())).await;
    let wire = "/api/v1/configmaps?allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=400&watch=true";
    assert_eq!(watch.path_and_query(), wire);
    assert_eq!(watch.headers().get("accept-encoding"), Some("identity"));
    assert!(!watch.wants_new_connection());
    let again = watched(watch_params(|params| {
        params.new_connection = true;
        params.timeout = Duration::from_millis(1);
    }));
    let again = again.await;
    assert!(again.wants_new_connection());
    assert_eq!(again.query("timeoutSeconds"), Some("1"), "0 would mean unset");
}

#[tokio::test]
async fn a_watch_list_is_a_watch_with_initial_events() {
    let watch = watched(watch_params(|params| params.send_initial_events = true)).await;
    let wire = "/api/v1/configmaps?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan\
                &sendInitialEvents=true&timeoutSeconds=400&watch=true";
    assert_eq!(watch.path_and_query(), wire);
}

#[tokio::test]
async fn selectors_are_encoded_and_hold_together() {
    let wire = listed(
        |client| Collection::all(client).labels("app in (a,b)").labels("!old").fields("spec.x=1").name("cart"),
        list_params(|_| {}),
    );
    let wire = wire.await;
    assert_eq!(
        wire,
        "/api/v1/configmaps?fieldSelector=spec.x%3D1%2Cmetadata.name%3Dcart&labelSelector=app%20in%20%28a%2Cb%29%2C%21old"
    );
}

#[tokio::test]
async fn one_object_is_a_collection_of_its_name() {
    let wire = listed(|client| Collection::named(client, "cart"), list_params(|_| {})).await;
    assert_eq!(wire, "/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name%3Dcart");
    let (client, asked) = client(EMPTY);
    Collection::<Node>::all(client).name("n1").list_page(ListParams::default()).await.unwrap();
    let asked = asked.lock().unwrap();
    assert_eq!(asked[0].path_and_query(), "/api/v1/nodes?fieldSelector=metadata.name%3Dn1");
}

#[tokio::test]
async fn metadata_only_lists_and_watches_ask_in_different_words() {
    let (client, asked) = client(EMPTY);
    let collection = Collection::<PartialObjectMeta<ConfigMap>>::all(client.clone());
    collection.list_page(ListParams::default()).await.unwrap();
    collection.open_watch(WatchParams::default()).await.unwrap();
    let slim = Collection::<ConfigMap>::all(client).metadata_only().decode_as::<Raw>();
    slim.list_page(ListParams::default()).await.unwrap();
    let asked = asked.lock().unwrap();
    let accept: Vec<_> = asked.iter().map(|request| request.headers().get("accept").unwrap()).collect();
    let list = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let watch = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    assert_eq!(accept, [list, watch, list]);
}

#[tokio::test]
async fn resources_that_are_known_at_run_time_have_their_path() {
    let gvk = GroupVersionKind::gvk("shop.example", "v1beta1", "Cart");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "carts");
    let (client, asked) = client(EMPTY);
    let all = Collection::<Raw>::all_with(client.clone(), &resource);
    all.list_page(ListParams::default()).await.unwrap();
    let one = Collection::<Raw>::namespaced_with(client, "a b", &resource);
    assert_eq!((ListWatch::resource(&one), ListWatch::namespace(&one)), ("carts", "a b"));
    one.list_page(ListParams::default()).await.unwrap();
    let asked = asked.lock().unwrap();
    assert_eq!(asked[0].path(), "/apis/shop.example/v1beta1/carts");
    assert_eq!(asked[1].path(), "/apis/shop.example/v1beta1/namespaces/a%20b/carts");
}

#[tokio::test]
async fn a_request_may_be_changed_before_it_is_sent() {
    let (client, asked) = client(EMPTY);
    let collection =
        Collection::<ConfigMap>::all(client).modify(|request| request.set_query("limit", "1")).modify(|request| {
            let limit = request.query("limit").unwrap_or_default().to_owned();
            request.headers_mut().set("X-Trace", limit);
        });
    collection.list_page(ListParams::default()).await.unwrap();
    let asked = asked.lock().unwrap();
    assert_eq!((asked[0].query("limit"), asked[0].headers().get("x-trace")), (Some("1"), Some("1")));
}

async fn kinds_of<K: Object>(
    list: &'static str,
    collection: impl FnOnce(Client) -> Collection<K>,
    kind: fn(&K) -> String,
) -> Vec<String> {
    let body = collection(client(list).0).list_page(ListParams::default()).await.expect("an answer");
    let parts: Vec<Result<ListPart<K>, Error>> = body.collect().await;
    let items = parts.into_iter().filter_map(|part| match part.expect("a part") {
        ListPart::Item(object) => Some(kind(&object)),
        _ => None,
    });
    items.collect()
}

#[tokio::test]
async fn dynamic_items_without_a_kind_get_the_lists() {
    use kube::core::DynamicObject;
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "ConfigMap"));
    let kind = |object: &DynamicObject| {
        let types = object.types.as_ref();
        types.map(|types| format!("{} {}", types.api_version, types.kind)).unwrap_or_default()
    };
    for list in [
        r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a"}}]}"#,
        r#"{"items":[{"metadata":{"name":"a"}}],"metadata":{"resourceVersion":"7"}}"#,
        r#"{"items":[{"metadata":{"name":"a"},"kind":"ConfigMap","apiVersion":"v1"}],"metadata":{}}"#,
    ] {
        let kinds = kinds_of(list, |client| Collection::all_with(client, &resource), kind).await;
        assert_eq!(kinds, ["v1 ConfigMap"], "{list}");
    }
    let partial = r#"{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"}}]}"#;
    let kinds = kinds_of(partial, |client| Collection::all_with(client, &resource).metadata_only(), kind).await;
    assert_eq!(kinds, ["meta.k8s.io/v1 PartialObjectMetadata"]);
}
