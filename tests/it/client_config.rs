//! Kubeconfigs: good, odd and broken.

use crate::{
    child,
    folder::{Folder, kubeconfig},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    client::{Client, Collection},
    source::ListWatch,
    testing::ApiServer,
};

/// The usual file, with one more context whose cluster is not there.
fn config(cluster: &str, user: &str) -> String {
    let lost = "contexts: [{name: lost, context: {cluster: gone, user: u}}, ";
    kubeconfig(cluster, user).replace("contexts: [", lost)
}

async fn told(name: &str, content: &str, context: Option<&str>) -> Option<String> {
    let folder = Folder::new(&format!("config-{name}"));
    let file = folder.write("config", content);
    let error = Client::from_kubeconfig(&file, context).await.err()?;
    assert!(error.is_config());
    let text = format!("{error:?}");
    assert!(text.contains(&file.display().to_string()), "{text}");
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
        ("server: 'https://[2001:db8::1]', tls-server-name: cluster.example", "token: hunter2"),
        // A name for certificates means nothing without them.
        ("server: 'http://127.0.0.1:8001', tls-server-name: cluster.example", "token: hunter2"),
        ("server: 'https://cluster.example', proxy-url: 'proxy.example:3128'", "token: hunter2"),
        ("server: 'https://cluster.example', proxy-url: ''", "token: hunter2"),
        ("server: 'https://cluster.example', proxy-url: 'https://u:hunter2@proxy.example'", "token: hunter2"),
        (https, "auth-provider: {name: oidc, config: {id-token: hunter2.hunter2.hunter2}}"),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(told(&format!("good{n}"), &config(cluster, user), None).await, None, "{cluster} {user}");
    }
    let folder = Folder::new("config-shown");
    let cluster = "server: 'https://cluster.example', proxy-url: 'http://u:hunter2@p'";
    let client = Client::from_kubeconfig(folder.kubeconfig(cluster, "token: hunter2"), Some("x")).await.unwrap();
    let shown = format!("{client:?}");
    assert!(shown.contains("cluster.example") && !shown.contains("hunter2"), "{shown}");
}

#[tokio::test]
async fn broken_ones_say_file_context_and_field_and_no_secret() {
    let mut wrong = Vec::new();
    let https = "server: 'https://cluster.example'";
    for (n, (content, context, said)) in [
        ("{".to_owned(), None, "is no kubeconfig"),
        ("users: [{name: u, user: {token: [hunter2]}}]".to_owned(), None, "is no kubeconfig: line 1"),
        ("users: [{name: u, user: hunter2}]".to_owned(), None, "is no kubeconfig: line 1"),
        ("kind: Config".to_owned(), None, "no current-context"),
        (config(https, ""), Some("y"), r#"no context "y"; there are ["lost", "x"]"#),
        (config(https, ""), Some("lost"), r#"its cluster "gone" is not there"#),
        (config("", ""), None, r#"context "x": its cluster has no server"#),
        (config("server: ''", ""), None, "no URL"),
        (config("server: 'ftp://cluster.example'", ""), None, "no http or https URL"),
        (config(&format!("{https}, certificate-authority: not/there"), ""), None, "certificate-authority"),
        (config(&format!("{https}, certificate-authority-data: '!hunter2'"), ""), None, "no base64"),
        (config(&format!("{https}, proxy-url: '::hunter2::'"), ""), None, "proxy-url"),
        (config(https, "client-certificate: not/there, client-key: not/there"), None, "client-certificate"),
        (config(https, "client-certificate-data: aHVudGVyMg==, client-key-data: aHVudGVyMg=="), None, "cannot be used"),
        (
            config(https, "client-certificate-data: '!hunter2', client-key-data: '!hunter2'"),
            None,
            "client-certificate: its data is no base64",
        ),
        (
            config(https, "client-certificate-data: aHVudGVyMg==, client-key-data: '!hunter2'"),
            None,
            "client-key: its data is no base64",
        ),
        (config(https, "client-certificate-data: aHVudGVyMg=="), None, "client-key: neither data nor a file"),
        (
            config(&format!("{https}, certificate-authority-data: aHVudGVyMg=="), ""),
            None,
            "certificate-authority: no certificate",
        ),
        (config(&format!("{https}, proxy-url: 'ftp://hunter2@proxy.example'"), ""), None, "proxy-url cannot be used"),
        (config(&format!("{https}, tls-server-name: 10.0.0.1"), ""), None, "tls-server-name that is an address"),
        (config(&format!("{https}, tls-server-name: 'no name'"), ""), None, "tls-server-name is no host name"),
        (
            config(&format!("{https}, tls-server-name: a.example, proxy-url: 'http://u:hunter2@p'"), ""),
            None,
            "do not go together",
        ),
        (
            config(https, "auth-provider: {name: nobody, config: {id-token: hunter2}}"),
            None,
            "auth-provider of its user cannot be used",
        ),
        (
            config(https, "auth-provider: {name: oidc, config: {refresh-token: hunter2}}"),
            None,
            "auth-provider of its user cannot be used",
        ),
        (
            config("server: 'http://localhost.example', tls-server-name: localhost", "token: hunter2"),
            None,
            "over plain HTTP",
        ),
        (config("server: 'http://cluster.example'", "token: hunter2"), None, "over plain HTTP"),
        (config("server: 'https://u:hunter2@cluster.example'", ""), None, "holds credentials"),
    ]
    .into_iter()
    .enumerate()
    {
        let text = told(&format!("broken{n}"), &content, context).await.unwrap_or_default();
        if !text.contains(said) {
            wrong.push(format!("{content}: not {said:?}: {text}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let missing = Client::from_kubeconfig("/not/there", None).await.unwrap_err().to_string();
    assert!(missing.contains("/not/there: cannot be read"), "{missing}");
}

#[tokio::test]
async fn whoever_is_impersonated_is_said_in_headers() {
    let server = ApiServer::start().await;
    let cluster = format!("server: '{}'", server.url());
    let user = "token: T, as: other, as-uid: '7', as-groups: [a, b], as-user-extra: {why: [x]}";
    let folder = Folder::new("config-impersonate");
    let client = Client::from_kubeconfig(folder.kubeconfig(&cluster, user), None).await.unwrap();
    Collection::<ConfigMap>::all(client).list().map(Result::unwrap).collect::<Vec<_>>().await;
    let requests = server.requests();
    let header = |name| requests[0].header(name);
    assert_eq!(header("authorization"), Some("Bearer T"));
    assert_eq!((header("impersonate-user"), header("impersonate-uid")), (Some("other"), Some("7")));
    assert_eq!(header("impersonate-extra-why"), Some("x"));
    assert!(header("impersonate-group").is_some());
}

/// What several files say, told by what they make a process send.
#[tokio::test]
async fn several_files_are_one_configuration() {
    let (server, other) = (ApiServer::start().await, ApiServer::start().await);
    let folder = Folder::new("config-several");
    let first = "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n\
                 users: [{name: u, user: {tokenFile: ../tokens/one}}]\n";
    let second = "current-context: y\ncontexts: [{name: y, context: {cluster: d, user: u}}]\n";
    let clusters = |c: &str, d: &str| {
        format!("clusters: [{{name: c, cluster: {{server: '{c}'}}}}, {{name: d, cluster: {{server: '{d}'}}}}]\n")
    };
    let first = folder.write("a/config", first);
    let second = folder.write(
        "b/config",
        &format!("{second}{}users: [{{name: u, user: {{token: other}}}}]\n", clusters(&server.url(), &other.url())),
    );
    let third = folder.write("c", &clusters(&other.url(), &other.url()));
    folder.write("tokens/one", "T1\n");
    let files = std::env::join_paths([&folder.path().join("not-there"), &first, &second, &third]).unwrap();
    let files = files.to_str().unwrap();
    assert_eq!(child::lists(1, &[("KUBECONFIG", files)]).await, ["listed"]);
    let requests = server.requests();
    assert_eq!(requests[0].header("authorization"), Some("Bearer T1"), "the first to name something wins");
    assert!(other.requests().is_empty());

    // The one that is broken is named.
    let broken = folder.write("broken", "users: [{name: u, user: {token: [hunter2]}}]");
    let files = std::env::join_paths([&first, &broken]).unwrap();
    let told = child::lists(1, &[("KUBECONFIG", files.to_str().unwrap())]).await;
    assert!(told[0].contains(&broken.display().to_string()) && told[0].contains("line 1"), "{told:?}");
    assert!(!told[0].contains("hunter2"), "{told:?}");
}

#[tokio::test]
async fn a_home_directory_has_the_usual_file_and_a_pod_its_own() {
    let server = ApiServer::start().await;
    let folder = Folder::new("config-home");
    let home = folder.path().display().to_string();
    let told = child::lists(1, &[("HOME", &home)]).await;
    assert!(told[0].contains(&format!("no {home}/.kube/config, and KUBERNETES_SERVICE_HOST is not set")), "{told:?}");
    // Not a pod, but its variables: the files are missing, and named.
    let pod = [("HOME", &*home), ("KUBERNETES_SERVICE_HOST", "10.0.0.1"), ("KUBERNETES_SERVICE_PORT", "443")];
    let told = child::lists(1, &pod).await;
    assert!(told[0].contains("in-cluster: /var/run/secrets/kubernetes.io/serviceaccount/"), "{told:?}");
    for (pod, said) in
        [(&pod[..2], "not both set"), (&[pod[0], pod[1], ("KUBERNETES_SERVICE_PORT", "tcp")][..], "no port")]
    {
        let told = child::lists(1, pod).await;
        assert!(told[0].contains("KUBERNETES_SERVICE_PORT") && told[0].contains(said), "{told:?}");
    }
    folder.write(".kube/config", &kubeconfig(&format!("server: '{}'", server.url()), ""));
    assert_eq!(child::lists(1, &pod).await, ["listed"], "a file goes before the pod's");
    assert_eq!(server.requests().len(), 1);
}

/// `namespace` is the context's, and what is inline is used as it stands.
#[tokio::test]
async fn inline_data_and_the_namespace_are_taken() {
    let server = ApiServer::start().await;
    let folder = Folder::new("config-inline");
    let cluster = format!("server: '{}', disable-compression: true", server.url());
    let path = folder.kubeconfig(&cluster, "username: u, password: hunter2");
    let client = Client::from_kubeconfig(&path, None).await.unwrap();
    assert_eq!(client.default_namespace(), "shop");
    Collection::<ConfigMap>::all(client).list().map(Result::unwrap).collect::<Vec<_>>().await;
    let basic = format!("Basic {}", STANDARD.encode("u:hunter2"));
    assert_eq!(server.requests()[0].header("authorization"), Some(&*basic));
    assert_eq!(server.requests()[0].header("accept-encoding"), Some("identity"), "disable-compression");
}
