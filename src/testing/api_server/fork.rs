//! What the trials of perturbed consumers need of a server beyond its handle.

use super::{ApiServer, Fault, Match, Refusal, Times, settings::Settings};
use serde_json::Value;
use std::{fmt, sync::Arc};

/// One way to write an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::testing) enum WriteVerb {
    Create,
    Update,
    Apply,
    Patch,
    Delete,
}

impl fmt::Display for WriteVerb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Apply => "apply",
            Self::Patch => "patch",
            Self::Delete => "delete",
        })
    }
}

impl ApiServer {
    /// Another server that is at an earlier version and stays there. Watches from later versions are too old for it,
    /// so that their clients list anew.
    ///
    /// # Panics
    ///
    /// No port could be bound.
    pub(in crate::testing) fn fork(&self, version: u64) -> Self {
        let state = self.shared().state.fork(version);
        let fork = Self::open(state, Settings::clone(&self.shared().settings)).expect("a free port");
        let later = move |request: &super::Request| {
            request.query("resourceVersion").and_then(|at| at.parse::<u64>().ok()).is_some_and(|at| at > version)
        };
        let expired = Fault::error_event(0, &Refusal::watch_expired());
        fork.rule(Match::watches().with(later), expired, Times::Always);
        fork
    }

    /// Writes, or says why not.
    ///
    /// # Errors
    ///
    /// What the server answers.
    ///
    /// # Panics
    ///
    /// There is no such resource.
    pub(in crate::testing) fn attempt(&self, verb: WriteVerb, resource: &str, object: Value) -> Result<Value, Refusal> {
        let written = self.write(resource, object, |data, resource, namespace, name, object| match verb {
            WriteVerb::Create => data.create(resource, namespace, object),
            WriteVerb::Update => data.update(resource, namespace, name, object),
            WriteVerb::Apply => data.apply(resource, namespace, name, object),
            WriteVerb::Patch => data.patch(resource, namespace, name, &object),
            WriteVerb::Delete => data.delete(resource, namespace, name, &Value::Null),
        });
        written.map(Arc::unwrap_or_clone)
    }

    /// All objects of all resources: `configmaps shop/cart` and such.
    pub(in crate::testing) fn everything(&self) -> Vec<(String, Value)> {
        let data = self.shared().state.lock();
        let newest = data.history.revision();
        let resources = data.resources.iter();
        resources
            .flat_map(|resource| {
                let name = resource.qualified();
                let objects = data.at(resource, "", "", newest);
                objects.into_iter().map(move |(key, object)| (format!("{name} {key}"), Arc::unwrap_or_clone(object)))
            })
            .collect()
    }
}
