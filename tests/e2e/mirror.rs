//! The example `mirror`, run as its users run it, prints what kubectl prints.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::PostParams;
use serde_json::{Value, json};

use crate::server::Server;
use crate::writer::{self, Writer};

#[tokio::test]
async fn prints_what_kubectl_prints() {
    let server = Server::shared().await;
    let kube = server.kube("token").await;
    for namespace in ["mirror-a", "mirror-b"] {
        Writer::new(&kube, namespace, "it").await;
        let pods = Api::<Pod>::namespaced(kube.clone(), namespace);
        for number in 0..30 {
            let pod = json!({
                "metadata": { "name": format!("pod-{number}"), "labels": { "app": "mirror" } },
                "spec": { "containers": [{ "name": "main", "image": "example.test/none" }] },
            });
            pods.create(&PostParams::default(), &serde_json::from_value(pod).expect("a pod"))
                .await
                .expect("create a pod");
        }
    }
    let kubeconfig = server.kubeconfig();

    // One page after another, then the table, whose first columns are namespace and name.
    let table = mirror(&kubeconfig, &["pods", "-A", "--once", "--page-size", "7"]).await;
    let printed: Vec<_> = table.lines().skip(1).map(namespace_and_name).collect();
    let listed = match run(kubectl(&kubeconfig, &["get", "pods", "-A", "--no-headers"])).await {
        Some(table) => table.lines().map(namespace_and_name).collect(),
        None => writer::list(&kube, "/api/v1/pods").await.into_keys().collect::<Vec<_>>(),
    };
    assert_eq!(listed.len(), 60);
    assert_eq!(sorted(printed), sorted(listed));

    // The whole objects, without their managed fields in both.
    let printed = items(&mirror(&kubeconfig, &["po", "-A", "--once", "-o", "json"]).await);
    let listed = match run(kubectl(&kubeconfig, &["get", "pods", "-A", "-o", "json"])).await {
        Some(list) => items(&list),
        None => items(&as_kubectl_shows(writer::get(&kube, "/api/v1/pods").await).to_string()),
    };
    assert_eq!(printed, listed);
}

#[tokio::test]
async fn any_resource_is_found_by_its_plural_and_group() {
    let server = Server::shared().await;
    let kubeconfig = server.kubeconfig();
    let rules = mirror(&kubeconfig, &["clusterroles.rbac.authorization.k8s.io", "--once", "-o", "json"]).await;
    let listed = writer::list(&server.kube("token").await, "/apis/rbac.authorization.k8s.io/v1/clusterroles").await;
    assert_eq!(items(&rules).into_keys().collect::<Vec<_>>(), listed.into_keys().collect::<Vec<_>>());
}

/// The standard output of the example.
async fn mirror(kubeconfig: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    // What cargo tells this test of its package would make another cargo build its dependencies anew.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
            command.env_remove(name);
        }
    }
    command.args(["run", "--quiet", "--example", "mirror", "--", "--kubeconfig"]).arg(kubeconfig).args(arguments);
    run(command).await.expect("cargo is installed")
}

fn kubectl(kubeconfig: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("kubectl");
    command.arg("--kubeconfig").arg(kubeconfig).args(arguments);
    command
}

/// The standard output of a program that ends well; `None` if it is not installed.
async fn run(mut command: Command) -> Option<String> {
    let name = format!("{command:?}");
    let output = tokio::task::spawn_blocking(move || command.output()).await.expect("run a program");
    let output = match output {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        output => output.unwrap_or_else(|error| panic!("{name}: {error}")),
    };
    assert!(output.status.success(), "{name}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("UTF-8 text"))
}

fn namespace_and_name(line: &str) -> String {
    line.split_whitespace().take(2).collect::<Vec<_>>().join("/")
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

/// The items of a printed list by namespace and name.
fn items(list: &str) -> BTreeMap<String, Value> {
    let list: Value = serde_json::from_str(list).expect("JSON");
    let key = |item: &Value| {
        let metadata = &item["metadata"];
        let name = metadata["name"].as_str().expect("an object has a name");
        metadata["namespace"].as_str().map_or(name.to_owned(), |namespace| format!("{namespace}/{name}"))
    };
    list["items"].as_array().expect("a list").iter().map(|item| (key(item), item.clone())).collect()
}

/// kubectl shows the kind of each object, which the items of a list do not have, and leaves out managed fields.
fn as_kubectl_shows(mut list: Value) -> Value {
    for item in list["items"].as_array_mut().expect("a list") {
        item["apiVersion"] = "v1".into();
        item["kind"] = "Pod".into();
        item["metadata"].as_object_mut().expect("an object has metadata").remove("managedFields");
    }
    list
}
