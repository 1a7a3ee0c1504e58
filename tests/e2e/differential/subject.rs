//! The two servers under one roof.

use crate::server::Server;
use kube::{
    Client,
    config::{KubeConfigOptions, Kubeconfig},
};
use listwatch::testing::{ApiServer, Resource};
use serde_json::json;
use std::{sync::Arc, time::Duration};
use tokio::sync::{Mutex, RwLock};

/// How the servers are set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    Cached,
    Stored,
    NoWatchList,
    Compacting,
}

/// A server to talk to.
#[derive(Clone)]
pub struct Subject {
    kind: Kind,
    client: Arc<RwLock<Client>>,
}

#[derive(Clone)]
enum Kind {
    Real(Arc<Mutex<Server>>),
    Fake(ApiServer),
}

pub const WIDGETS: &str = "/apis/example.com/v1/namespaces/{ns}/widgets";
pub const GADGETS: &str = "/apis/going.example.com/v1/namespaces/{ns}/gadgets";

impl Subject {
    pub async fn real(flavour: Flavour) -> Self {
        let flags: &[&str] = match flavour {
            Flavour::Cached => &[],
            Flavour::Stored => &["--watch-cache=false"],
            Flavour::NoWatchList => &["--feature-gates=WatchList=false"],
            Flavour::Compacting => &["--watch-cache=false", "--etcd-compaction-interval=5s"],
        };
        let server = Server::start(flags).await;
        let client = Arc::new(RwLock::new(client(&server).await));
        let subject = Self { kind: Kind::Real(Arc::new(Mutex::new(server))), client };
        for (plural, kind, group) in [("widgets", "Widget", "example.com"), ("gadgets", "Gadget", "going.example.com")]
        {
            subject.define(plural, kind, group).await;
        }
        subject
    }

    pub async fn fake(flavour: Flavour) -> Self {
        let builder = ApiServer::builder()
            .watch_cache(!matches!(flavour, Flavour::Stored | Flavour::Compacting))
            .watch_list(flavour != Flavour::NoWatchList)
            .register(Resource::custom("widgets.example.com").short_name("wd"))
            .register(Resource::custom("gadgets.going.example.com"));
        let server = builder.start().await.expect("a free port");
        let mut config = kube::Config::new(server.url().parse().expect("a URL"));
        config.default_retry = false;
        let client = Arc::new(RwLock::new(Client::try_from(config).expect("a client")));
        Self { kind: Kind::Fake(server), client }
    }

    pub async fn client(&self) -> Client {
        self.client.read().await.clone()
    }

    /// Forgets history: at once, or by waiting until storage answers 410 to a list at this version.
    pub async fn compact(&self, list: &str, version: &str) {
        match &self.kind {
            Kind::Fake(server) => server.compact(),
            Kind::Real(_) => {
                let target = format!("{list}?resourceVersionMatch=Exact&resourceVersion={version}");
                for _ in 0..600 {
                    let request = http::Request::get(&target).body(kube::client::Body::empty()).expect("a request");
                    let answer = self.client().await.send(request).await.expect("an answer");
                    if answer.status() == http::StatusCode::GONE {
                        return;
                    }
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                panic!("storage was not compacted within a minute");
            }
        }
    }

    pub async fn restart(&self) {
        match &self.kind {
            Kind::Fake(server) => server.restart(),
            Kind::Real(server) => {
                let mut server = server.lock().await;
                server.restart().await;
                *self.client.write().await = client(&server).await;
            }
        }
    }

    /// Serves gadgets no more.
    pub async fn remove_gadgets(&self) {
        match &self.kind {
            Kind::Fake(server) => server.unregister("gadgets"),
            Kind::Real(_) => {
                let target = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.going.example.com";
                let request = http::Request::delete(target).body(Vec::new()).expect("a request");
                self.client().await.request_text(request).await.expect("the definition is deleted");
                self.until("/apis/going.example.com/v1/gadgets", false).await;
            }
        }
    }

    async fn define(&self, plural: &str, kind: &str, group: &str) {
        let names = json!({"plural": plural, "singular": kind.to_lowercase(), "kind": kind});
        let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
        let version = json!({"name": "v1", "served": true, "storage": true, "schema": schema});
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{plural}.{group}")},
            "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
        });
        let request = http::Request::post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
            .header("content-type", "application/json")
            .body(definition.to_string().into_bytes())
            .expect("a request");
        let client = self.client().await;
        client.request_text(request).await.expect("the definition is taken");
        self.until(&format!("/apis/{group}/v1/{plural}"), true).await;
    }

    /// Waits until a path is served, or is no more.
    async fn until(&self, target: &str, served: bool) {
        for _ in 0..300 {
            let request = http::Request::get(target).body(Vec::new()).expect("a request");
            if self.client().await.request_text(request).await.is_ok() == served {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{target} was not as it should be within 30 s");
    }
}

/// A client that tries nothing twice.
async fn client(server: &Server) -> Client {
    let kubeconfig = Kubeconfig::read_from(server.kubeconfig()).expect("the server's kubeconfig");
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    let mut config = config.expect("a known context");
    config.default_retry = false;
    Client::try_from(config).expect("a client")
}
