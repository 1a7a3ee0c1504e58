//! `kube::Api` as a source.

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use listwatch::{
    Event, Object,
    source::{ListWatch, Strategy},
    testing::ApiServer,
};
use serde_json::json;

async fn client(server: &ApiServer) -> kube::Client {
    kube::Client::try_from(kube::Config::new(server.url().parse().unwrap())).unwrap()
}

#[tokio::test]
async fn an_api_can_be_listed_and_watched() {
    let server = ApiServer::start().await;
    server.create("configmaps", json!({"metadata": {"namespace": "default", "name": "a"}}));
    let api = Api::<ConfigMap>::namespaced(client(&server).await, "default");
    assert_eq!((ListWatch::resource(&api), ListWatch::namespace(&api)), ("configmaps", "default"));
    let mut events = api.events().strategy(Strategy::List);
    let mut next = async || events.next().await.unwrap().unwrap();
    assert!(matches!(next().await, Event::SnapshotStart));
    assert!(matches!(next().await, Event::Listed(object) if object.identity().name == "a"));
    assert!(matches!(next().await, Event::SnapshotEnd(_)));
    server.create("configmaps", json!({"metadata": {"namespace": "default", "name": "b"}}));
    assert!(matches!(next().await, Event::Watching(_)));
    assert!(matches!(next().await, Event::Added(object) if object.identity().name == "b"));
    let requests = server.requests();
    let watch = requests.iter().find(|request| request.is_watch()).unwrap();
    assert_eq!(watch.header("accept-encoding"), Some("identity"));
}

#[tokio::test]
async fn a_dynamic_api_gets_the_kind_of_its_list() {
    let server = ApiServer::start().await;
    server.create("configmaps", json!({"metadata": {"namespace": "default", "name": "a"}}));
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "ConfigMap"));
    let api = Api::<DynamicObject>::all_with(client(&server).await, &resource);
    let events: Vec<_> = api.list().map(Result::unwrap).collect().await;
    let kinds: Vec<_> = events.iter().filter_map(|event| event.object()?.types.clone()).collect();
    assert!(!kinds.is_empty() && kinds.iter().all(|types| types.kind == "ConfigMap" && types.api_version == "v1"));
}

#[tokio::test]
async fn its_failures_say_what_was_asked() {
    let server = ApiServer::start().await;
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("shop.example", "v1", "Cart"));
    let api = Api::<DynamicObject>::all_with(client(&server).await, &resource);
    let error = api.list_page(Default::default()).await.unwrap_err();
    assert!(error.is_not_found() && error.request() == Some("list carts"), "{error:?}");
    server.stop().await;
    let error = api.list_page(Default::default()).await.unwrap_err();
    assert!(error.is_unreachable(), "{error:?}");
}
