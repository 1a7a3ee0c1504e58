//! What happens to the objects of the server in this process: pods come, start, crash, recover and go.

use crate::demo::{APPS, NAMESPACES, NODES, Stage, merge, pod};
use listwatch::testing::ApiServer;
use serde_json::{Value, json};
use std::time::Duration;

const PERIOD: Duration = Duration::from_millis(300);

/// A small life of a cluster, one step at a time.
#[derive(Debug)]
pub struct Churn {
    server: ApiServer,
    /// Pods (`namespace/name`) that are about to reach a stage.
    under_way: Vec<(String, Stage)>,
}

impl Churn {
    pub fn new(server: ApiServer) -> Self {
        Churn { server, under_way: Vec::new() }
    }

    /// Changes something every now and then, for ever.
    pub async fn run(mut self) {
        let mut every = tokio::time::interval(PERIOD);
        loop {
            every.tick().await;
            self.pods();
            self.others();
        }
    }

    fn pods(&mut self) {
        if self.under_way.len() > 3 || fastrand::bool() && !self.under_way.is_empty() {
            let (name, stage) = self.under_way.remove(0);
            return self.advance(&name, stage);
        }
        let pods = self.server.list("pods");
        let Some(old) = fastrand::choice(&pods) else { return };
        if fastrand::u8(..4) == 0 {
            return self.advance(&key(old), Stage::Crashed);
        }
        // Replaced by another one, as in a rollout.
        let (namespace, app) = (&old["metadata"]["namespace"], &old["metadata"]["labels"]["app"]);
        let (Some(namespace), Some(app)) = (namespace.as_str(), app.as_str()) else { return };
        let new = self.server.create("pods", pod(namespace, app, Stage::Pending));
        self.under_way.retain(|(name, _)| *name != key(old));
        self.server.delete("pods", &key(old));
        self.under_way.push((key(&new), Stage::Creating));
    }

    /// Brings a pod to a stage, and names the one that follows.
    fn advance(&mut self, name: &str, stage: Stage) {
        let Some(mut pod) = self.server.get("pods", name) else { return };
        merge(&mut pod, stage);
        self.server.update("pods", pod);
        match stage {
            Stage::Creating | Stage::Crashed => self.under_way.push((name.to_owned(), Stage::Running)),
            Stage::Pending | Stage::Running => {}
        }
    }

    fn others(&self) {
        let meta = json!({
            "namespace": NAMESPACES[fastrand::usize(..NAMESPACES.len())],
            "name": APPS[fastrand::usize(..APPS.len())],
        });
        let number = fastrand::u16(1..1000);
        match fastrand::u8(..8) {
            0 => self.server.patch("configmaps", json!({"metadata": meta, "data": {"revision": number.to_string()}})),
            1 => self.server.patch("deployments", json!({"metadata": meta, "status": {"readyReplicas": number % 19}})),
            2 => self.server.patch("widgets.example.com", json!({"metadata": meta, "spec": {"size": number}})),
            3 => self.server.patch(
                "nodes",
                json!({"metadata": {"name": format!("node-{}", fastrand::usize(1..=NODES)),
                    "annotations": {"example.com/heartbeat": number.to_string()}}}),
            ),
            _ => Value::Null,
        };
    }
}

fn key(object: &Value) -> String {
    let part = |name: &str| object["metadata"][name].as_str().unwrap_or_default();
    format!("{}/{}", part("namespace"), part("name"))
}
