//! An API server in this process, full of objects that keep changing, so that there is something to see without a
//! cluster.

use crate::churn::Churn;
use listwatch::testing::{ApiServer, Fault, Match, Resource, Times};
use serde_json::{Value, json};
use std::{io, time::Duration};
use tokio::task::JoinHandle;

pub const NAMESPACES: [&str; 4] = ["checkout", "payments", "search", "shop"];
pub const APPS: [&str; 5] = ["api", "cache", "queue", "web", "worker"];
pub const NODES: usize = 6;
const REPLICAS: usize = 18;

/// How many objects to list at a time from a server as small as this.
pub const PAGE: u32 = 40;

/// How much later than usual each page of a list comes: the distance of a cluster, which makes the first sync visible.
const DISTANCE: Duration = Duration::from_millis(150);

/// The server, and the task that changes its objects. Both go when this is dropped.
#[derive(Debug)]
pub struct Demo {
    server: ApiServer,
    changing: JoinHandle<()>,
}

impl Demo {
    /// Starts the server and fills it.
    pub async fn start() -> io::Result<Self> {
        let server = ApiServer::builder()
            .register(Resource::custom("widgets.example.com").short_name("wd"))
            .bookmark_period(Duration::from_secs(5))
            .start()
            .await?;
        fill(&server);
        server.rule(Match::lists(), Fault::Delay(DISTANCE), Times::Always);
        let changing = tokio::spawn(Churn::new(server.clone()).run());
        Ok(Demo { server, changing })
    }

    /// Where a client finds the server.
    pub fn url(&self) -> String {
        self.server.url()
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        self.changing.abort();
    }
}

fn fill(server: &ApiServer) {
    for number in 1..=NODES {
        let labels = json!({"topology.kubernetes.io/zone": if number % 2 == 0 { "a" } else { "b" }});
        server.create("nodes", json!({"metadata": {"name": format!("node-{number}"), "labels": labels}}));
    }
    for namespace in NAMESPACES {
        server.create("namespaces", json!({"metadata": {"name": namespace}}));
        for app in APPS {
            let meta = json!({"namespace": namespace, "name": app, "labels": {"app": app}});
            let replicas = json!({"replicas": REPLICAS});
            server.create("deployments", json!({"metadata": meta, "spec": replicas, "status": {"readyReplicas": 0}}));
            server.create("services", json!({"metadata": meta, "spec": {"ports": [{"port": 80}]}}));
            server.create("configmaps", json!({"metadata": meta, "data": {"revision": "1"}}));
            server.create("widgets.example.com", json!({"metadata": meta, "spec": {"size": 1}}));
            for _ in 0..REPLICAS {
                server.create("pods", pod(namespace, app, Stage::Running));
            }
        }
    }
}

/// Where a pod is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Pending,
    Creating,
    Running,
    Crashed,
}

/// A new pod with a name of its own.
pub fn pod(namespace: &str, app: &str, stage: Stage) -> Value {
    let hash =
        |length| (0..length).map(|_| fastrand::choice(b"bcdfghjklmnpqrstvwxz2456789").map_or('x', |&c| c as char));
    let name: String = format!("{app}-").chars().chain(hash(5)).chain(['-']).chain(hash(5)).collect();
    let tier = if app == "web" { "front" } else { "back" };
    let mut pod = json!({
        "metadata": {"namespace": namespace, "name": name, "labels": {"app": app, "tier": tier}},
        "spec": {"containers": [{"name": app, "image": format!("registry.example.com/{app}:1")}]},
    });
    merge(&mut pod, stage);
    pod
}

/// What of a pod is different at this stage.
pub fn merge(pod: &mut Value, stage: Stage) {
    if stage != Stage::Pending && pod["spec"]["nodeName"].is_null() {
        pod["spec"]["nodeName"] = format!("node-{}", fastrand::usize(1..=NODES)).into();
    }
    let (phase, state) = match stage {
        Stage::Pending => ("Pending", json!({})),
        Stage::Creating => ("Pending", json!({"waiting": {"reason": "ContainerCreating"}})),
        Stage::Running => ("Running", json!({"running": {}})),
        Stage::Crashed => ("Running", json!({"waiting": {"reason": "CrashLoopBackOff"}})),
    };
    let name = pod["spec"]["containers"][0]["name"].clone();
    let container = json!({"name": name, "ready": stage == Stage::Running, "state": state});
    pod["status"] = json!({"phase": phase, "containerStatuses": [container]});
}
