//! Exec plugins as real processes.
#![cfg(unix)]

use crate::{certificates::Authority, folder::Folder, tls_front::Front};
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Event,
    client::{Client, Collection},
    source::{ListParams, ListWatch, Strategy},
    testing::{ApiServer, Fault, Match, Times},
};
use serde_json::json;
use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

fn script(folder: &Folder, name: &str, content: &str) {
    let path = folder.write(name, &format!("#!/bin/sh\n{content}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn runs(folder: &Folder) -> usize {
    std::fs::read_to_string(folder.path().join("runs")).map_or(0, |text| text.lines().count())
}

const EXEC: &str = "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./plugin, args: [token], \
                    env: [{name: PREFIX, value: E}], interactiveMode: Never}";

fn kubeconfig(folder: &Folder, server: &str) -> PathBuf {
    folder.kubeconfig(&format!("server: '{server}'"), EXEC)
}

/// Prints E1, E2 and so on, each valid for so many seconds.
fn plugin(folder: &Folder, seconds: f64) {
    let home = folder.path().display();
    let text = format!(
        "test \"$1\" = token || exit 3\n\
         echo \"$KUBERNETES_EXEC_INFO\" >> {home}/runs\n\
         n=$(wc -l < {home}/runs | tr -d ' ')\n\
         at=$(date -u -d \"@$(awk \"BEGIN {{printf \\\"%.3f\\\", $(date +%s.%N) + {seconds}}}\")\" +%Y-%m-%dT%H:%M:%S.%3NZ)\n\
         echo '{{\"kind\":\"ExecCredential\",\"status\":{{\"token\":\"'$PREFIX$n'\",\"expirationTimestamp\":\"'$at'\"}}}}'"
    );
    script(folder, "plugin", &text);
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
    assert_eq!(runs(&folder), 0, "not before it is needed");
    listed(&collection).await;
    listed(&collection.clone()).await;
    assert_eq!(runs(&folder), 1);
    tokio::time::sleep(Duration::from_millis(2100)).await;
    listed(&collection).await;
    assert_eq!(runs(&folder), 2);
    assert_eq!(tokens(&server), ["Bearer E1", "Bearer E1", "Bearer E2"]);
    let info = std::fs::read_to_string(folder.path().join("runs")).unwrap();
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
        self::script(&folder, "plugin", script);
        let error = collection.list_page(ListParams::default()).await.unwrap_err();
        let text = format!("{error:?}");
        assert!(error.is_unauthorized() && text.contains(said) && !text.contains("hunter2"), "{text}");
    }
    std::fs::remove_file(folder.path().join("plugin")).unwrap();
    let error = collection.list_page(ListParams::default()).await.unwrap_err();
    assert!(error.to_string().contains("No such file"), "{error}");
}

#[tokio::test]
async fn a_plugin_runs_again_when_its_credential_is_refused() {
    let (server, folder) = (ApiServer::start().await, Folder::new("exec-refused"));
    plugin(&folder, 3600.0);
    let collection = client(&kubeconfig(&folder, &server.url())).await;
    listed(&collection).await;
    server.rule(Match::lists(), Fault::status(401), Times::Once);
    listed(&collection).await;
    assert_eq!(tokens(&server), ["Bearer E1", "Bearer E1", "Bearer E2"], "one more try, with another token");
    server.rule(Match::lists(), Fault::status(401), Times::Next(2));
    assert!(collection.list_page(ListParams::default()).await.unwrap_err().is_unauthorized());
    assert_eq!((runs(&folder), tokens(&server).len()), (3, 5), "and no more than one");
}

/// Each run gives another certificate; the watch on the connection of the first one goes on.
#[tokio::test]
async fn a_plugins_certificates_are_shown_and_change_when_they_are_over() {
    let (server, folder, authority) = (ApiServer::start().await, Folder::new("exec-certificate"), Authority::new("ca"));
    let front = Front::start(server.address(), &authority.server(&["127.0.0.1"])).await;
    front.show(&authority.server(&["127.0.0.1"]), Some(&authority));
    folder.write("ca.pem", &authority.pem);
    let pairs: Vec<_> = (1..=2).map(|_| authority.client("plugin", &[])).collect();
    for (n, pair) in pairs.iter().enumerate() {
        let expiry = if n == 0 { "@AT@" } else { "2100-01-01T00:00:00Z" };
        let status = json!({
            "clientCertificateData": pair.certificate, "clientKeyData": pair.key, "expirationTimestamp": expiry,
        });
        folder.write(&format!("shown-{}", n + 1), &json!({"kind": "ExecCredential", "status": status}).to_string());
    }
    let home = folder.path().display();
    script(
        &folder,
        "plugin",
        &format!(
            "echo run >> {home}/runs\n\
             n=$(wc -l < {home}/runs | tr -d ' ')\n\
             sed \"s/@AT@/$(date -u -d '+3 seconds' +%Y-%m-%dT%H:%M:%SZ)/\" {home}/shown-$n"
        ),
    );
    let cluster = format!("server: '{}', certificate-authority: ca.pem", front.url());
    let collection = client(&folder.kubeconfig(&cluster, EXEC)).await;
    let mut events = collection.clone().events().strategy(Strategy::List);
    while !matches!(events.next().await.unwrap().unwrap(), Event::Watching(_)) {}
    tokio::time::sleep(Duration::from_millis(3100)).await;
    listed(&collection).await;
    let shown: Vec<_> = front.connections().into_iter().map(|seen| seen.client.unwrap()).collect();
    assert_eq!(shown, [pairs[0].der.clone(), pairs[1].der.clone()]);
    assert_eq!(runs(&folder), 2);
    server.create("configmaps", json!({"metadata": {"name": "a"}}));
    assert!(matches!(events.next().await, Some(Ok(Event::Added(_)))), "nothing of the mirror ended");
}
