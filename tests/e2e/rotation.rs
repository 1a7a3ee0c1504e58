//! Credentials that are replaced under a running mirror: nothing is listed anew, nothing is missed.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use listwatch::client::{Client, Collection};
use rcgen::{CertificateParams, DnType, DnValue, ExtendedKeyUsagePurpose, Issuer, KeyPair};
use serde_json::json;
use tokio::time::Instant;

use crate::follower::Follower;
use crate::server::Server;
use crate::writer::{self, Writer};

/// A folder beside the server's, with a kubeconfig for one user.
struct Folder(PathBuf);

impl Folder {
    fn new(server: &Server, name: &str, user: &str) -> Self {
        let path = server.kubeconfig().with_file_name(name);
        std::fs::create_dir_all(&path).expect("create a folder");
        let ca = server.kubeconfig().with_file_name("pki").join("ca.crt");
        let config = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{{name: x, context: {{cluster: c, user: u}}}}]\n\
             clusters: [{{name: c, cluster: {{server: '{}', certificate-authority: '{}'}}}}]\n\
             users: [{{name: u, user: {{{user}}}}}]\n",
            server.url(),
            ca.display()
        );
        let folder = Folder(path);
        folder.write("config", &config);
        folder
    }

    /// All at once, as whoever rotates credentials does it.
    fn write(&self, name: &str, content: &str) {
        let next = self.0.join(format!("{name}.next"));
        std::fs::write(&next, content).expect("write a file");
        std::fs::rename(next, self.0.join(name)).expect("put a file in its place");
    }

    async fn client(&self) -> Client {
        Client::from_kubeconfig(self.0.join("config"), None).await.expect("a client")
    }
}

/// Mirrors a namespace by watches of one to two seconds.
async fn follow(folder: &Folder, namespace: &str) -> Follower<ConfigMap> {
    let source = Collection::namespaced(folder.client().await, namespace);
    Follower::start(source, |events| events.watch_timeout(Duration::from_secs(1)))
}

/// Writes on until the mirror has opened so many watches more, and compares.
async fn goes_on(
    follower: &Follower<ConfigMap>,
    kube: &kube::Client,
    writer: &Writer,
    namespace: &str,
    watches: usize,
) {
    let start = Instant::now();
    let wanted = follower.requests.watches().len() + watches;
    let mut generation = 1;
    while follower.requests.watches().len() < wanted {
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", follower.account());
        writer.update(0..10, generation).await;
        generation += 1;
    }
    follower.equals(&writer::list(kube, &format!("/api/v1/namespaces/{namespace}/configmaps")).await).await;
    let account = follower.account();
    assert!(account.errors.is_empty(), "{:?}", account.errors);
    assert_eq!((account.synced, account.missed), (1, 0));
    assert_eq!((follower.requests.lists().len(), follower.requests.watch_lists().len()), (0, 1), "no snapshot more");
}

#[tokio::test]
async fn a_token_file() {
    let server = Server::shared().await;
    let kube = server.kube("token").await;
    let writer = Writer::new(&kube, "token-file", "it").await;
    writer.create(0..50).await;
    let accounts = Api::<ServiceAccount>::namespaced(kube.clone(), "token-file");
    let account = async |name: &str| {
        let body = serde_json::from_value(json!({ "metadata": { "name": name } })).expect("an account");
        accounts.create(&PostParams::default(), &body).await.expect("create an account");
        let grant = json!({
            "metadata": { "name": format!("token-file-{name}") },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin" },
            "subjects": [{ "kind": "ServiceAccount", "name": name, "namespace": "token-file" }],
        });
        let grant = serde_json::from_value(grant).expect("a binding");
        Api::<ClusterRoleBinding>::all(kube.clone()).create(&PostParams::default(), &grant).await.expect("grant");
        let request = TokenRequest { spec: Some(TokenRequestSpec::default()), ..TokenRequest::default() };
        let answer = accounts.create_token_request(name, &PostParams::default(), &request).await.expect("a token");
        answer.status.and_then(|status| status.token).expect("a token")
    };
    let (first, second) = (account("first").await, account("second").await);

    let folder = Folder::new(&server, "token-file", "tokenFile: token");
    folder.write("token", &first);
    let follower = follow(&folder, "token-file").await;
    goes_on(&follower, &kube, &writer, "token-file", 2).await;

    folder.write("token", &second);
    accounts.delete("first", &DeleteParams::default()).await.expect("delete the account");
    // The server remembers for some seconds that a token was good.
    let mut config = kube::Config::new(server.url().parse().expect("a URL"));
    config.accept_invalid_certs = true;
    config.auth_info.token = Some(first.into());
    let refused = kube::Client::try_from(config).expect("kube's client");
    let start = Instant::now();
    while refused.apiserver_version().await.is_ok() {
        assert!(start.elapsed() < Duration::from_secs(30), "the old token is still good");
        writer.update(10..20, 1).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    goes_on(&follower, &kube, &writer, "token-file", 3).await;
}

/// The certificate is over while the mirror runs on it: the server says 401 on the open connection, and the new one is
/// shown on another.
#[tokio::test]
async fn a_client_certificate() {
    let server = Server::shared().await;
    let kube = server.kube("token").await;
    let writer = Writer::new(&kube, "certificate", "it").await;
    writer.create(0..50).await;
    let folder = Folder::new(&server, "certificate", "client-certificate: client.crt, client-key: client.key");
    let life = Duration::from_secs(8);
    let over = Instant::now() + life;
    let [first, second] = [life, Duration::from_secs(3600)].map(|life| certificate(&server, SystemTime::now() + life));
    let show = |(certificate, key): &(String, String)| {
        folder.write("client.key", key);
        folder.write("client.crt", certificate);
    };
    show(&first);
    let follower = follow(&folder, "certificate").await;
    goes_on(&follower, &kube, &writer, "certificate", 2).await;
    show(&second);
    tokio::time::sleep_until(over + Duration::from_secs(1)).await;
    goes_on(&follower, &kube, &writer, "certificate", 3).await;

    // The first one is refused by now.
    show(&first);
    let follower = follow(&folder, "certificate").await;
    follower.until("refused", |account| account.errors.iter().any(|error| error.is_unauthorized())).await;
}

/// A certificate of a cluster admin by the server's authority, with its key.
fn certificate(server: &Server, not_after: SystemTime) -> (String, String) {
    let pki = server.kubeconfig().with_file_name("pki");
    let key = std::fs::read_to_string(pki.join("ca.key")).expect("the authority's key");
    let mut authority = CertificateParams::default();
    // The names as Go writes them: issuers are compared byte by byte.
    authority.distinguished_name.remove(DnType::CommonName);
    let name = DnValue::PrintableString("test-ca".try_into().expect("printable"));
    authority.distinguished_name.push(DnType::CommonName, name);
    let issuer = Issuer::new(authority, KeyPair::from_pem(&key).expect("a key"));
    let mut params = CertificateParams::default();
    params.not_after = not_after.into();
    params.distinguished_name.push(DnType::CommonName, "rotated");
    params.distinguished_name.push(DnType::OrganizationName, "system:masters");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let key = KeyPair::generate().expect("a key");
    let certificate = params.signed_by(&key, &issuer).expect("a certificate");
    (certificate.pem(), key.serialize_pem())
}
