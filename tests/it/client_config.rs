//! Kubeconfigs: good, odd and broken.

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    client::{Client, Collection},
    source::ListWatch,
    testing::ApiServer,
};
use std::path::PathBuf;

/// A file that is removed at the end.
struct File(PathBuf);

impl File {
    fn new(name: &str, content: &str) -> Self {
        let path = std::env::temp_dir().join(format!("listwatch-config-{name}-{}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        File(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn config(cluster: &str, user: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: x\n\
         clusters: [{{name: c, cluster: {{{cluster}}}}}]\n\
         contexts: [{{name: x, context: {{cluster: c, user: u}}}}, {{name: lost, context: {{cluster: gone, user: u}}}}]\n\
         users: [{{name: u, user: {{{user}}}}}]\n"
    )
}

async fn told(name: &str, content: &str, context: Option<&str>) -> Option<String> {
    let file = File::new(name, content);
    let error = Client::from_kubeconfig(&file.0, context).await.err()?;
    assert!(error.is_config());
    let text = format!("{error:?}");
    assert!(text.contains(&file.0.display().to_string()), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
    Some(text)
}

#[tokio::test]
async fn good_and_odd_ones_are_taken() {
    let https = "server: 'https://cluster.example:6443/k8s'";
    for (n, (cluster, user)) in [
        (https, "token: hunter2"),
        (https, "username: u, password: hunter2"),
        (https, "tokenFile: not/there/yet"),
        (https, ""),
        (https, "exec: {apiVersion: v1, command: not-there-yet}"),
        (https, "token: hunter2, as: other, as-groups: [a, b], as-user-extra: {reason: [x]}"),
        ("server: 'https://[::1]:6443'", "token: hunter2"),
        ("server: 'https://10.0.0.1', tls-server-name: cluster.example", "token: hunter2"),
        ("server: 'https://cluster.example', insecure-skip-tls-verify: true", "token: hunter2"),
        ("server: 'https://cluster.example', proxy-url: 'http://u:hunter2@proxy.example:3128'", "token: hunter2"),
        ("server: 'https://cluster.example', proxy-url: 'socks5://proxy.example:1080'", "token: hunter2"),
        ("server: 'http://127.0.0.1:8001', disable-compression: true", "token: hunter2"),
        ("server: 'http://cluster.example'", ""),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(told(&format!("good{n}"), &config(cluster, user), None).await, None, "{cluster} {user}");
    }
    let file = File::new(
        "shown",
        &config("server: 'https://cluster.example', proxy-url: 'http://u:hunter2@p'", "token: hunter2"),
    );
    let client = Client::from_kubeconfig(&file.0, Some("x")).await.unwrap();
    let shown = format!("{client:?}");
    assert!(shown.contains("cluster.example") && !shown.contains("hunter2"), "{shown}");
}

#[tokio::test]
async fn broken_ones_say_file_context_and_field_and_no_secret() {
    let https = "server: 'https://cluster.example'";
    for (n, (content, context, said)) in [
        ("{".to_owned(), None, "is no kubeconfig"),
        ("users: [{name: u, user: {token: [hunter2]}}]".to_owned(), None, "is no kubeconfig: line 1"),
        ("users: [{name: u, user: hunter2}]".to_owned(), None, "is no kubeconfig: line 1"),
        ("kind: Config".to_owned(), None, "no current-context"),
        (config(https, ""), Some("y"), r#"no context "y"; there are ["x", "lost"]"#),
        (config(https, ""), Some("lost"), r#"its cluster "gone" is not there"#),
        (config("", ""), None, r#"context "x": its cluster has no server"#),
        (config("server: ''", ""), None, "no URL"),
        (config("server: 'ftp://cluster.example'", ""), None, "no http or https URL"),
        (config(&format!("{https}, certificate-authority: not/there"), ""), None, "certificate-authority"),
        (config(&format!("{https}, certificate-authority-data: '!hunter2'"), ""), None, "no base64"),
        (config(&format!("{https}, proxy-url: '::hunter2::'"), ""), None, "proxy-url"),
        (config(https, "client-certificate: not/there, client-key: not/there"), None, "client-certificate"),
        (config(https, "client-certificate-data: aHVudGVyMg==, client-key-data: aHVudGVyMg=="), None, "cannot be used"),
        (config("server: 'http://cluster.example'", "token: hunter2"), None, "over plain HTTP"),
        (config("server: 'https://u:hunter2@cluster.example'", ""), None, "holds credentials"),
    ]
    .into_iter()
    .enumerate()
    {
        let text = told(&format!("broken{n}"), &content, context).await.expect(&content);
        assert!(text.contains(said), "{content}: {text}");
    }
    let missing = Client::from_kubeconfig("/not/there", None).await.unwrap_err().to_string();
    assert!(missing.contains("/not/there: cannot be read"), "{missing}");
}

#[tokio::test]
async fn whoever_is_impersonated_is_said_in_headers() {
    let server = ApiServer::start().await;
    let cluster = format!("server: '{}'", server.url());
    let user = "token: T, as: other, as-uid: '7', as-groups: [a, b], as-user-extra: {why: [x]}";
    let file = File::new("impersonate", &config(&cluster, user));
    let client = Client::from_kubeconfig(&file.0, None).await.unwrap();
    Collection::<ConfigMap>::all(client).list().map(Result::unwrap).collect::<Vec<_>>().await;
    let requests = server.requests();
    let header = |name| requests[0].header(name);
    assert_eq!(header("authorization"), Some("Bearer T"));
    assert_eq!((header("impersonate-user"), header("impersonate-uid")), (Some("other"), Some("7")));
    assert_eq!(header("impersonate-extra-why"), Some("x"));
    assert!(header("impersonate-group").is_some());
}
