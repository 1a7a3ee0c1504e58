//! What a server is asked about its resources, and what is made of odd answers.

use bytes::Bytes;
use futures::{StreamExt, stream};
use kube::core::{ApiResource, GroupVersionKind};
use listwatch::{
    Error, Raw, Status,
    client::{Client, Collection, Request, Response},
    source::{ListParams, ListWatch, WatchParams},
};
use serde_json::{Value, json};
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

type Asked = Arc<Mutex<Vec<Request>>>;

/// A client of a server that has these documents, and answers 503 to everything else.
fn client(documents: impl Fn(&str) -> Option<Value> + Send + Sync + 'static) -> (Client, Asked) {
    let asked = Asked::default();
    let log = Arc::clone(&asked);
    let client = Client::with_transport(move |request: Request| {
        let document = documents(request.path());
        log.lock().unwrap().push(request);
        async move {
            let down = || Error::from_status(Status::from_code(503));
            document.map(|document| Response::json(200, document.to_string())).ok_or_else(down)
        }
    });
    (client, asked)
}

fn resources(name: &str) -> Value {
    json!({"resources": [{"name": name, "singularName": "", "kind": name, "namespaced": true, "verbs": ["list"]}]})
}

#[tokio::test]
async fn the_whole_tree_is_asked_for_and_taken_where_the_server_has_it() {
    let tree = |group: &str, resource: &str| {
        let resource = json!({"resource": resource, "responseKind": {"kind": "K"}, "scope": "Namespaced"});
        let versions = json!([{"version": "v1", "freshness": "Stale", "resources": [resource]}]);
        json!({"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": group}, "versions": versions}]})
    };
    let (client, asked) = client(move |path| match path {
        "/api" => Some(tree("", "pods")),
        "/apis" => Some(tree("apps", "deployments")),
        _ => None,
    });
    let names: Vec<_> = client.resources().await.unwrap().iter().map(|found| found.full_name()).collect();
    assert_eq!(names, ["pods", "deployments.apps"]);
    for request in asked.lock().unwrap().iter() {
        let accept = request.headers().get("accept").unwrap();
        assert!(
            accept.starts_with("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"),
            "{accept}"
        );
        assert!(accept.ends_with(",application/json"), "{accept}");
    }
    assert_eq!(asked.lock().unwrap().len(), 2);
    let error = client.discover("zebras").await.unwrap_err().to_string();
    assert!(error.contains("these did not answer: v1, apps/v1"), "{error}");
}

#[tokio::test]
async fn a_group_that_does_not_answer_is_named_and_leaves_the_others_alone() {
    let (client, _) = client(|path| match path {
        "/api" => Some(json!({"versions": ["v1"]})),
        "/apis" => Some(json!({"groups": [
            {"versions": [{"groupVersion": "metrics.k8s.io/v1"}]}, {"versions": [{"groupVersion": "apps/v1"}]},
        ]})),
        "/api/v1" => Some(resources("pods")),
        "/apis/apps/v1" => Some(resources("deployments")),
        _ => None,
    });
    let names: Vec<_> = client.resources().await.unwrap().iter().map(|found| found.full_name()).collect();
    assert_eq!(names, ["pods", "deployments.apps"]);
    let error = client.discover("zebras").await.unwrap_err().to_string();
    assert!(
        error.contains("looked in 2 groups") && error.contains("these did not answer: metrics.k8s.io/v1"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn eight_group_versions_are_asked_at_a_time() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&most);
    let client = Client::with_transport(move |request: Request| {
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        async move {
            most.fetch_max(now.fetch_add(1, Relaxed) + 1, Relaxed);
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            now.fetch_sub(1, Relaxed);
            let versions = || (0..30).map(|n| json!({"groupVersion": format!("g{n}/v1")})).collect::<Vec<_>>();
            Ok::<_, Error>(Response::json(
                200,
                match request.path() {
                    "/api" => json!({"versions": []}).to_string(),
                    "/apis" => json!({"groups": [{"versions": versions()}]}).to_string(),
                    _ => resources("things").to_string(),
                },
            ))
        }
    });
    assert_eq!(client.resources().await.unwrap().len(), 30);
    assert_eq!(seen.load(Relaxed), 8);
}

#[tokio::test]
async fn a_document_without_end_is_an_error() {
    let taken = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&taken);
    let client = Client::with_transport(move |_: Request| {
        let counter = Arc::clone(&counter);
        let body = stream::repeat(Bytes::from(" ".repeat(1 << 20))).take(200).map(move |chunk| {
            counter.fetch_add(chunk.len(), Relaxed);
            Ok(chunk)
        });
        async move { Ok::<_, Error>(Response::new(200, body).with_header("Content-Type", "application/json")) }
    });
    let error = client.resources().await.unwrap_err();
    assert!(error.is_garbage() && error.request() == Some("get /api"), "{error:?}");
    assert!(taken.load(Relaxed) <= 2 * (65 << 20), "{taken:?} bytes");
}

#[tokio::test]
async fn a_subresource_is_no_resource_and_nothing_is_asked_for_it() {
    let (client, asked) = client(|_| None);
    let mut resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Pod"));
    resource.plural = "pods/status".into();
    let all = Collection::<Raw>::all_with(client.clone(), &resource);
    for error in [
        client.discover("pods/status").await.unwrap_err(),
        all.list_page(ListParams::default()).await.unwrap_err(),
        all.open_watch(WatchParams::default()).await.unwrap_err(),
    ] {
        assert!(error.is_no_resource() && error.to_string().contains("is a subresource"), "{error}");
    }
    assert!(asked.lock().unwrap().is_empty());
}
