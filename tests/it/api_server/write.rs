//! Writes over HTTP: what is stamped, and what is refused.

use super::client::{Http, MAPS};
use listwatch::testing::{ApiServer, Resource};
use serde_json::json;

#[tokio::test]
async fn objects_are_stamped() {
    let server = ApiServer::start().await;
    let http = Http::to(&server);
    let created = http.write("POST", MAPS, json!({"metadata": {"generateName": "g-"}})).await;
    assert_eq!(created.code, 201);
    let metadata = created.json()["metadata"].clone();
    assert_eq!(metadata["namespace"], "default");
    assert_eq!(metadata["resourceVersion"], server.resource_version().to_string());
    assert_eq!(metadata["uid"].as_str().map(str::len), Some(36));
    assert_eq!(metadata["creationTimestamp"].as_str().map(str::len), Some(20));
    assert_eq!(metadata["name"].as_str().map(str::len), Some(7));
    assert_eq!(created.json()["kind"], "ConfigMap");
}

#[tokio::test]
async fn updates_ask_for_the_version_and_only_changes_count() {
    let server = ApiServer::start().await;
    let first = server.create("configmaps", json!({"metadata": {"name": "a"}}));
    let http = Http::to(&server);
    let target = format!("{MAPS}/a");
    let changed = http.write("PUT", &target, json!({"metadata": {"name": "a"}, "data": {"k": "v"}})).await;
    assert_eq!(changed.code, 200);
    assert_eq!(changed.json()["metadata"]["uid"], first["metadata"]["uid"]);
    let version = server.resource_version();
    let same = http.write("PUT", &target, json!({"metadata": {"name": "a"}, "data": {"k": "v"}})).await;
    assert_eq!((same.code, server.resource_version()), (200, version));
    let stale = http.write("PUT", &target, first).await;
    assert_eq!(stale.code, 409);
    assert_eq!(
        stale.json()["message"],
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again"
    );
    let patched = http.write("PATCH", &target, json!({"data": {"k": null, "z": "1"}})).await;
    assert_eq!(patched.json()["data"], json!({"z": "1"}));
}

#[tokio::test]
async fn refusals_are_those_of_a_real_server() {
    let server = ApiServer::start().await;
    server.create("configmaps", json!({"metadata": {"name": "a"}}));
    let http = Http::to(&server);
    let one = format!("{MAPS}/zz");
    for (method, target, body, code, message) in [
        ("POST", MAPS, json!({"metadata": {"name": "a"}}), 409, "configmaps \"a\" already exists"),
        (
            "POST",
            MAPS,
            json!({}),
            422,
            "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required",
        ),
        (
            "POST",
            MAPS,
            json!({"metadata": {"name": "b", "namespace": "x"}}),
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            "POST",
            "/api/v1/namespaces/zzz/configmaps",
            json!({"metadata": {"name": "b"}}),
            404,
            "namespaces \"zzz\" not found",
        ),
        (
            "POST",
            MAPS,
            json!({"metadata": {"name": "b", "resourceVersion": "5"}}),
            500,
            "resourceVersion should not be set on objects to be created",
        ),
        (
            "POST",
            "/api/v1/configmaps",
            json!({"metadata": {"name": "b"}}),
            405,
            "the server does not allow this method on the requested resource",
        ),
        ("PUT", &one, json!({"metadata": {"name": "zz"}}), 404, "configmaps \"zz\" not found"),
        (
            "PUT",
            &one,
            json!({"metadata": {"name": "yy"}}),
            400,
            "the name of the object (yy) does not match the name on the URL (zz)",
        ),
        ("DELETE", &one, json!(null), 404, "configmaps \"zz\" not found"),
        ("GET", &one, json!(null), 404, "configmaps \"zz\" not found"),
    ] {
        let answer = http.write(method, target, body).await;
        assert_eq!((answer.code, answer.json()["message"].as_str()), (code, Some(message)), "{method} {target}");
    }
}

#[tokio::test]
async fn deletions_wait_for_finalizers() {
    let server = ApiServer::start().await;
    server.create("configmaps", json!({"metadata": {"name": "a", "finalizers": ["example.com/x"]}}));
    let http = Http::to(&server);
    let marked = http.write("DELETE", &format!("{MAPS}/a"), json!(null)).await;
    assert!(marked.json()["metadata"]["deletionTimestamp"].is_string());
    server.patch("configmaps", json!({"metadata": {"name": "a", "finalizers": null}}));
    assert_eq!(server.get("configmaps", "a"), None);
}

#[tokio::test]
async fn collections_are_deleted_by_selector() {
    let server = ApiServer::start().await;
    for (name, n) in [("a", "1"), ("b", "2")] {
        server.create("configmaps", json!({"metadata": {"name": name, "labels": {"n": n}}}));
    }
    let http = Http::to(&server);
    let gone = http.write("DELETE", &format!("{MAPS}?labelSelector=n%3D1"), json!(null)).await;
    assert_eq!((gone.code, gone.names()), (200, vec!["a".to_owned()]));
    assert_eq!(server.list("configmaps").len(), 1);
}

#[tokio::test]
async fn generations_count_changes_of_the_spec() {
    let server = ApiServer::start().await;
    server.register(Resource::custom("widgets.example.com"));
    let made = server.create("widgets", json!({"metadata": {"name": "w"}, "spec": {"a": 1}}));
    assert_eq!(made["metadata"]["generation"], 1);
    let labelled = server.patch("widgets", json!({"metadata": {"name": "w", "labels": {"a": "b"}}}));
    assert_eq!(labelled["metadata"]["generation"], 1);
    let changed = server.patch("widgets", json!({"metadata": {"name": "w"}, "spec": {"a": 2}}));
    assert_eq!(changed["metadata"]["generation"], 2);
}

#[tokio::test]
#[should_panic(expected = "the server refused: {\"kind\":\"Status\"")]
async fn a_refused_write_of_the_test_itself_panics() {
    let server = ApiServer::start().await;
    server.update("configmaps", json!({"metadata": {"name": "absent"}}));
}
