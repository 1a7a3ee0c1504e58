//! The client against the API server in this process.

use futures::StreamExt;
use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use listwatch::{
    Event, Object, Raw,
    client::{Client, Collection},
    source::ListWatch,
    testing::ApiServer,
};
use serde_json::json;

async fn server() -> (ApiServer, Client) {
    let server = ApiServer::start().await;
    let client = Client::new(&server.url()).unwrap();
    (server, client)
}

fn names<K: Object>(events: &[Event<K>]) -> Vec<&str> {
    events.iter().filter_map(|event| event.object()).map(|object| object.identity().name).collect()
}

#[tokio::test]
async fn a_collection_is_listed_and_watched_on() {
    let (server, client) = server().await;
    for name in ["a", "b"] {
        server.create("configmaps", json!({"metadata": {"namespace": "default", "name": name}}));
    }
    let mut events = Collection::<ConfigMap>::namespaced(client, "default").events();
    let mut next = async || events.next().await.unwrap().unwrap();
    assert!(matches!(next().await, Event::SnapshotStart));
    let listed = [next().await, next().await];
    assert_eq!(names(&listed), ["a", "b"]);
    assert!(matches!(next().await, Event::SnapshotEnd(_)));
    server.delete("configmaps", "default/a");
    assert!(matches!(next().await, Event::Watching(_)));
    assert!(matches!(next().await, Event::Deleted(object) if object.identity().name == "a"));
}

#[tokio::test]
async fn one_object_is_all_that_is_mirrored() {
    let (server, client) = server().await;
    for name in ["a", "b"] {
        server.create("configmaps", json!({"metadata": {"namespace": "default", "name": name}}));
    }
    let events: Vec<_> = Collection::<ConfigMap>::named(client, "b").list().map(Result::unwrap).collect().await;
    assert_eq!(names(&events), ["b"]);
}

#[tokio::test]
async fn a_resource_is_found_by_a_word_and_mirrored_as_any_type() {
    let (server, client) = server().await;
    server.create("configmaps", json!({"metadata": {"namespace": "default", "name": "a"}, "data": {"k": "v"}}));
    let found = client.discover("cm").await.unwrap();
    assert_eq!((found.full_name(), found.namespaced, found.can_list()), ("configmaps".into(), true, true));
    let all = Collection::<Raw>::all_with(client.clone(), &found.resource);
    let events: Vec<_> = all.list().map(Result::unwrap).collect().await;
    let raw = events.iter().find_map(Event::object).unwrap();
    let value: serde_json::Value = raw.parse().unwrap();
    assert_eq!((&value["kind"], &value["data"]["k"]), (&json!("ConfigMap"), &json!("v")));
    let error = client.discover("configmps").await.unwrap_err();
    assert!(error.is_no_resource() && error.to_string().contains("configmaps"), "{error}");
}

#[tokio::test]
async fn a_resource_that_is_not_there_is_not_found() {
    let (_server, client) = server().await;
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("shop.example", "v1", "Cart"));
    let carts = Collection::<DynamicObject>::namespaced_with(client.clone(), "default", &resource);
    let error = carts.list_page(Default::default()).await.unwrap_err();
    assert!(error.is_not_found() && error.request() == Some("list carts.shop.example in default"), "{error:?}");
    assert!(Collection::<Node>::all(client).list_page(Default::default()).await.is_ok());
}
