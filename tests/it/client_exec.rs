//! Exec plugins as real processes.
#![cfg(unix)]

use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    client::{Client, Collection},
    source::{ListParams, ListWatch},
    testing::ApiServer,
};
use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("listwatch-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    fn script(&self, name: &str, content: &str) {
        let path = self.write(name, &format!("#!/bin/sh\n{content}\n"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn runs(&self) -> usize {
        std::fs::read_to_string(self.0.join("runs")).map_or(0, |text| text.lines().count())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn kubeconfig(folder: &Folder, server: &str) -> PathBuf {
    folder.write(
        "config",
        &format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: x\n\
             clusters: [{{name: c, cluster: {{server: '{server}'}}}}]\n\
             contexts: [{{name: x, context: {{cluster: c, user: u, namespace: shop}}}}]\n\
             users: [{{name: u, user: {{exec: {{apiVersion: client.authentication.k8s.io/v1, command: ./plugin, \
             args: [token], env: [{{name: PREFIX, value: E}}], interactiveMode: Never}}}}}}]\n"
        ),
    )
}

/// Prints E1, E2 and so on, each valid for so many seconds.
fn plugin(folder: &Folder, seconds: f64) {
    let home = folder.0.display();
    let script = format!(
        "test \"$1\" = token || exit 3\n\
         echo \"$KUBERNETES_EXEC_INFO\" >> {home}/runs\n\
         n=$(wc -l < {home}/runs | tr -d ' ')\n\
         at=$(date -u -d \"@$(awk \"BEGIN {{printf \\\"%.3f\\\", $(date +%s.%N) + {seconds}}}\")\" +%Y-%m-%dT%H:%M:%S.%3NZ)\n\
         echo '{{\"kind\":\"ExecCredential\",\"status\":{{\"token\":\"'$PREFIX$n'\",\"expirationTimestamp\":\"'$at'\"}}}}'"
    );
    folder.script("plugin", &script);
}

async fn client(path: &Path) -> Collection<ConfigMap> {
    let client = Client::from_kubeconfig(path, None).await.unwrap();
    assert_eq!(client.default_namespace(), "shop");
    Collection::all(client)
}

async fn listed(collection: &Collection<ConfigMap>) {
    collection.list_page(ListParams::default()).await.unwrap();
}

fn tokens(server: &ApiServer) -> Vec<String> {
    let requests = server.requests();
    requests.iter().filter_map(|request| request.header("authorization")).map(str::to_owned).collect()
}

#[tokio::test]
async fn a_plugin_runs_once_and_again_when_its_credential_expires() {
    let (server, folder) = (ApiServer::start().await, Folder::new("exec-expires"));
    plugin(&folder, 2.0);
    let collection = client(&kubeconfig(&folder, &server.url())).await;
    assert_eq!(folder.runs(), 0, "not before it is needed");
    listed(&collection).await;
    listed(&collection.clone()).await;
    assert_eq!(folder.runs(), 1);
    tokio::time::sleep(Duration::from_millis(2100)).await;
    listed(&collection).await;
    assert_eq!(folder.runs(), 2);
    assert_eq!(tokens(&server), ["Bearer E1", "Bearer E1", "Bearer E2"]);
    let info = std::fs::read_to_string(folder.0.join("runs")).unwrap();
    assert!(info.contains("client.authentication.k8s.io/v1") && info.contains(r#""interactive":false"#), "{info}");
}

#[tokio::test]
async fn a_plugin_that_fails_is_an_error_without_its_output() {
    let (server, folder) = (ApiServer::start().await, Folder::new("exec-fails"));
    let collection = client(&kubeconfig(&folder, &server.url())).await;
    for (script, said) in [
        ("echo hunter2; exit 7", "exit status: 7"),
        ("echo hunter2", "printed no ExecCredential"),
        (r#"echo '{"spec":{}}'"#, "printed no status"),
        (r#"echo '{"status":{"x":"hunter2"}}'"#, "neither a token nor a certificate"),
    ] {
        folder.script("plugin", script);
        let error = collection.list_page(ListParams::default()).await.unwrap_err();
        let text = format!("{error:?}");
        assert!(error.is_unauthorized() && text.contains(said) && !text.contains("hunter2"), "{text}");
    }
    std::fs::remove_file(folder.0.join("plugin")).unwrap();
    let error = collection.list_page(ListParams::default()).await.unwrap_err();
    assert!(error.to_string().contains("No such file"), "{error}");
}
