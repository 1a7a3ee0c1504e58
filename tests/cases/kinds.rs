//! Which resource a path means.

use super::format::Case;

/// The collection that a case is about, from the path of its first request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// What stands before it in the path: of a server behind a proxy.
    pub prefix: String,
    pub group: String,
    pub version: String,
    pub namespace: Option<String>,
    pub plural: String,
    pub kind: String,
}

impl Resource {
    pub fn of(case: &Case) -> Result<Self, String> {
        let path = &case.conversation[0].expect.path;
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let start = parts.iter().position(|part| matches!(*part, "api" | "apis")).unwrap_or_default();
        let (prefix, parts) = parts.split_at(start);
        let (group, version, rest) = match parts {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return Err(format!("{path} is no path of a collection")),
        };
        let (namespace, plural) = match rest {
            ["namespaces", namespace, plural] => (Some((*namespace).to_owned()), *plural),
            [plural] => (None, *plural),
            _ => return Err(format!("{path} is no path of a collection")),
        };
        Ok(Resource {
            prefix: prefix.iter().map(|part| format!("/{part}")).collect(),
            group: group.into(),
            version: version.into(),
            namespace,
            plural: plural.into(),
            kind: case.setup.typed.clone().or_else(|| kind_of(plural)).unwrap_or_else(|| guess(plural)),
        })
    }

    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }
}

/// The kinds of resources whose plurals do not say them.
fn kind_of(plural: &str) -> Option<String> {
    let kind = match plural {
        "configmaps" => "ConfigMap",
        "customresourcedefinitions" => "CustomResourceDefinition",
        "daemonsets" => "DaemonSet",
        "endpointslices" => "EndpointSlice",
        "ingresses" => "Ingress",
        "persistentvolumeclaims" => "PersistentVolumeClaim",
        "replicasets" => "ReplicaSet",
        "serviceaccounts" => "ServiceAccount",
        "statefulsets" => "StatefulSet",
        _ => return None,
    };
    Some(kind.into())
}

fn guess(plural: &str) -> String {
    let single = plural.strip_suffix('s').unwrap_or(plural);
    let mut letters = single.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
