//! Certificates: which are believed and shown, and what happens when their files are replaced.

use crate::{
    certificates::{Authority, Pair},
    folder::Folder,
    tls_front::Front,
};
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    Error, Event,
    client::{Client, Collection},
    source::{ListParams, ListWatch, Strategy},
    testing::{ApiServer, Ending, Fault, Match, Times},
};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use serde_json::json;
use std::{path::PathBuf, time::Duration};

/// A server behind TLS, and a folder with what a client needs to know of it.
struct Ground {
    server: ApiServer,
    front: Front,
    authority: Authority,
    folder: Folder,
}

impl Ground {
    async fn new(name: &str) -> Self {
        let server = ApiServer::start().await;
        let authority = Authority::new("first");
        let front = Front::start(server.address(), &authority.server(&["127.0.0.1", "cluster.example"])).await;
        let folder = Folder::new(name);
        folder.write("ca.pem", &authority.pem);
        Ground { server, front, authority, folder }
    }

    fn cluster(&self) -> String {
        format!("server: '{}', certificate-authority: ca.pem", self.front.url())
    }

    fn write(&self, pair: &Pair) {
        self.folder.write("client.pem", &pair.certificate);
        self.folder.write("client.key", &pair.key);
    }

    async fn collection(&self, cluster: &str, user: &str) -> Collection<ConfigMap> {
        collection(&self.folder.kubeconfig(cluster, user)).await
    }

    fn create(&self, name: &str) {
        self.server.create("configmaps", json!({"metadata": {"name": name}}));
    }
}

const PAIR: &str = "client-certificate: client.pem, client-key: client.key";

async fn collection(path: &PathBuf) -> Collection<ConfigMap> {
    Collection::all(Client::from_kubeconfig(path, None).await.unwrap())
}

async fn list(collection: &Collection<ConfigMap>) -> Result<(), Error> {
    collection.list_page(ListParams::default()).await.map(drop)
}

fn name(item: Result<Event<ConfigMap>, Error>) -> String {
    item.unwrap().object().and_then(|object| object.metadata.name.clone()).unwrap_or_default()
}

/// The streams' requests for content: more than one list is a relist.
fn lists(server: &ApiServer) -> usize {
    server.requests().iter().filter(|request| !request.is_watch() && request.query("limit").is_some()).count()
}

#[tokio::test]
async fn a_servers_certificate_is_believed_by_its_authority_its_name_or_not_at_all() {
    let ground = Ground::new("tls-believed").await;
    let url = ground.front.url();
    list(&ground.collection(&ground.cluster(), "").await).await.unwrap();
    assert!(ground.front.connections()[0].http2);

    // Nobody's authority, and a name that it is not for.
    ground.folder.write("other.pem", &Authority::new("other").pem);
    for cluster in [
        format!("server: '{url}', certificate-authority: other.pem"),
        format!("server: '{url}', certificate-authority: ca.pem, tls-server-name: another.example"),
    ] {
        let error = list(&ground.collection(&cluster, "").await).await.unwrap_err();
        assert!(error.is_unreachable() && format!("{error:?}").contains("certificate"), "{cluster}: {error:?}");
    }
    let named = format!("server: '{url}', certificate-authority: ca.pem, tls-server-name: cluster.example");
    list(&ground.collection(&named, "").await).await.unwrap();
    let seen = ground.front.connections();
    assert_eq!(seen.last().unwrap().server_name.as_deref(), Some("cluster.example"), "{seen:?}");
    list(&ground.collection(&format!("server: '{url}', insecure-skip-tls-verify: true"), "").await).await.unwrap();

    // The whole certificate in the kubeconfig.
    use base64::Engine;
    let data = base64::engine::general_purpose::STANDARD.encode(&ground.authority.pem);
    list(&ground.collection(&format!("server: '{url}', certificate-authority-data: {data}"), "").await).await.unwrap();
}

#[tokio::test]
async fn a_server_with_an_ipv6_address() {
    let ground = Ground::new("tls-ipv6").await;
    // Where there is no such address, there is nothing to be tested.
    let Ok(front) = Front::listen("[::1]:0", ground.server.address(), &ground.authority.server(&["::1"])).await else {
        return;
    };
    let cluster = format!("server: '{}', certificate-authority: ca.pem", front.url());
    assert!(cluster.contains("https://[::1]:"));
    list(&ground.collection(&cluster, "").await).await.unwrap();
    assert_eq!(front.connections().len(), 1);
}

/// The server says 401 as soon as the old certificate is over; what is replaced by then is shown at once, and the
/// watch on the old connection goes on.
#[tokio::test]
async fn a_replaced_client_certificate_is_shown_and_the_mirror_goes_on() {
    let ground = Ground::new("tls-client").await;
    let authority = Authority::new("clients");
    let pair = ground.authority.server(&["127.0.0.1"]);
    ground.front.show(&pair, Some(&authority));
    let (first, second) = (authority.client("a", &[]), authority.client("a", &[]));
    ground.write(&first);
    let collection = ground.collection(&ground.cluster(), PAIR).await;
    let mut events = collection.clone().events().strategy(Strategy::List);
    for _ in 0..2 {
        events.next().await.unwrap().unwrap();
    }
    ground.create("a");
    assert_eq!((name(events.next().await.unwrap()), name(events.next().await.unwrap())), (String::new(), "a".into()));

    // Half of the new pair is no reason to fail.
    ground.folder.write("client.pem", &second.certificate);
    ground.server.rule(Match::lists(), Fault::status(401), Times::Once);
    assert!(list(&collection).await.unwrap_err().is_unauthorized(), "there is nothing else to show yet");
    list(&collection).await.unwrap();

    ground.write(&second);
    ground.server.rule(Match::lists(), Fault::status(401), Times::Once);
    list(&collection).await.unwrap();
    let shown: Vec<_> = ground.front.connections().into_iter().map(|seen| seen.client.unwrap()).collect();
    assert_eq!(shown, [first.der, second.der], "one connection each");

    ground.create("b");
    assert_eq!(name(events.next().await.unwrap()), "b");
    assert_eq!(lists(&ground.server), 1, "the mirror was not listed anew");
}

/// A server that shows a certificate of another authority from now on.
#[tokio::test]
async fn a_replaced_authority_is_believed_and_the_mirror_goes_on() {
    let ground = Ground::new("tls-authority").await;
    let collection = ground.collection(&ground.cluster(), "").await;
    let mut events = collection.clone().events().strategy(Strategy::List);
    for _ in 0..2 {
        events.next().await.unwrap().unwrap();
    }
    ground.create("a");
    assert_eq!((name(events.next().await.unwrap()), name(events.next().await.unwrap())), (String::new(), "a".into()));

    let next = Authority::new("second");
    ground.front.show(&next.server(&["127.0.0.1"]), None);
    ground.folder.write("ca.pem", &next.pem);
    ground.server.end_connections(Ending::Close);
    ground.create("b");
    loop {
        match tokio::time::timeout(Duration::from_secs(20), events.next()).await.expect("the mirror goes on").unwrap() {
            Err(error) => assert!(error.is_interrupted(), "the end of the connection, and nothing else: {error:?}"),
            Ok(Event::Watching(_)) => {}
            added => break assert_eq!(name(added), "b"),
        }
    }
    assert_eq!((lists(&ground.server), ground.front.connections().len()), (1, 2));

    // Where nothing was replaced, it is said what is wrong.
    ground.front.show(&Authority::new("third").server(&["127.0.0.1"]), None);
    ground.server.end_connections(Ending::Close);
    for _ in 0..100 {
        let error = list(&collection).await.unwrap_err();
        if error.is_unreachable() && format!("{error:?}").contains("certificate") {
            return;
        }
        tokio::task::yield_now().await; // the end of the old connection was not noticed yet
    }
    panic!("nothing was said of the certificate");
}

/// The way of a pod: an authority and a token in files, whose names only kube-client's configuration holds.
#[tokio::test]
async fn a_pods_files_are_read_again() {
    let ground = Ground::new("tls-pod").await;
    let (ca, token) = (ground.folder.path().join("ca.pem"), ground.folder.write("token", "T1"));
    let mut config = kube::Config::new(ground.front.url().parse().unwrap());
    config.root_cert = Some(vec![CertificateDer::from_pem_slice(ground.authority.pem.as_bytes()).unwrap().to_vec()]);
    config.root_cert_file = Some(ca);
    config.auth_info.token_file = Some(token.display().to_string());
    let collection = Collection::<ConfigMap>::all(Client::builder().config(config).unwrap());
    list(&collection).await.unwrap();
    ground.folder.write("ca.pem", "");
    pass(Duration::from_secs(10)).await;
    list(&collection).await.unwrap();
    assert_eq!(ground.front.connections().len(), 1, "an empty file is being written");
    let next = Authority::new("second");
    ground.front.show(&next.server(&["127.0.0.1"]), None);
    ground.folder.write("ca.pem", &next.pem);
    ground.folder.write("token", "T2");
    ground.server.end_connections(Ending::Close);
    list(&collection).await.unwrap();
    ground.server.rule(Match::lists(), Fault::status(401), Times::Once);
    list(&collection).await.unwrap();
    let requests = ground.server.requests();
    let tokens: Vec<_> = requests.iter().map(|request| request.header("authorization").unwrap()).collect();
    assert_eq!(tokens, ["Bearer T1", "Bearer T1", "Bearer T1", "Bearer T1", "Bearer T2"], "refused, then read again");
}

/// Lets time pass without waiting for it.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

#[tokio::test]
async fn files_are_looked_at_every_ten_seconds_and_replaced_ones_taken_once() {
    let ground = Ground::new("tls-looked").await;
    let authority = Authority::new("clients");
    ground.front.show(&ground.authority.server(&["127.0.0.1"]), Some(&authority));
    ground.write(&authority.client("a", &[]));
    let collection = ground.collection(&ground.cluster(), PAIR).await;
    let connections = async || {
        list(&collection).await.unwrap();
        ground.front.connections().len()
    };
    let later = Duration::from_secs(10);
    assert_eq!(connections().await, 1);
    ground.write(&authority.client("b", &[]));
    assert_eq!(connections().await, 1, "not at each request");
    pass(later).await;
    assert_eq!(connections().await, 2);
    ground.write(&authority.client("c", &[]));
    assert_eq!(connections().await, 2, "nor from then on");
    pass(later).await;
    assert_eq!(connections().await, 3);
    pass(later).await;
    assert_eq!(connections().await, 3, "nothing was replaced");
    ground.folder.write("ca.pem", "");
    pass(later).await;
    assert_eq!(connections().await, 3, "nothing is believed by an empty file, which is being written");
}
