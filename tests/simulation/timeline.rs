//! Every state that the server had, by version.

use super::script::Value;
use listwatch::testing::ApiServer;
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc};

/// By `namespace/name`.
pub type State = BTreeMap<String, Entry>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub uid: String,
    pub version: u64,
    /// `None` where it cannot be read.
    pub value: Option<String>,
}

#[derive(Debug)]
pub struct Timeline {
    states: Vec<(u64, Arc<State>)>,
    /// How often it went back.
    pub rewinds: u64,
    first: u64,
}

impl Timeline {
    pub fn new(server: &ApiServer) -> Self {
        let first = server.resource_version();
        Timeline { states: vec![(first, Arc::default())], rewinds: 0, first }
    }

    pub fn write(&mut self, server: &ApiServer, name: &str, value: Value) {
        let (namespace, short) = name.split_once('/').expect("namespace/name");
        let value = match value {
            Value::Kept(n) => json!(format!("keep ä {n}")),
            Value::Dropped(n) => json!(format!("drop ä {n}")),
            Value::Unreadable(n) => json!(n),
        };
        let metadata = json!({"namespace": namespace, "name": short});
        let stored = server.apply("configmaps", json!({"metadata": metadata, "data": {"value": value}}));
        let entry = Entry {
            uid: stored["metadata"]["uid"].as_str().unwrap_or_default().to_owned(),
            version: stored["metadata"]["resourceVersion"]
                .as_str()
                .and_then(|version| version.parse().ok())
                .unwrap_or(0),
            value: value.as_str().map(str::to_owned),
        };
        self.change(server, |state| drop(state.insert(name.to_owned(), entry)));
    }

    pub fn delete(&mut self, server: &ApiServer, name: &str) {
        if server.delete("configmaps", name).is_some() {
            self.change(server, |state| drop(state.remove(name)));
        }
    }

    /// Goes back by so many versions.
    pub fn rewind(&mut self, server: &ApiServer, by: u64) {
        server.rewind(server.resource_version().saturating_sub(by).max(self.first));
        let version = server.resource_version();
        self.states.retain(|(at, _)| *at <= version);
        self.rewinds += 1;
    }

    fn change(&mut self, server: &ApiServer, change: impl FnOnce(&mut State)) {
        let mut state = State::clone(self.newest());
        change(&mut state);
        self.states.push((server.resource_version(), Arc::new(state)));
    }

    pub fn newest(&self) -> &State {
        self.states.last().map(|(_, state)| &**state).expect("there is a first state")
    }

    /// The state at a version, then the later ones.
    pub fn from(&self, version: u64) -> impl Iterator<Item = &State> {
        let from = self.states.partition_point(|(at, _)| *at <= version).saturating_sub(1);
        self.states[from..].iter().map(|(_, state)| &**state)
    }
}
