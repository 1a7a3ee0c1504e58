//! Which path means what.

use super::{list::Collection, resource::Resource, state::Data};

/// What a path addresses.
#[derive(Clone, Debug)]
pub(super) enum Route {
    /// `/api`, `/apis`, a group, a group version: a discovery document.
    Discovery(Vec<String>),
    /// `/healthz`, `/livez`, `/readyz`.
    Health,
    /// `/version`.
    Version,
    /// All objects of a resource, in one namespace or all; `watch` for the old paths below `/watch/`.
    Collection { collection: Collection, namespace: Option<String>, watch: bool },
    /// One object.
    Object { resource: Resource, namespace: String, name: String, watch: bool },
    /// A group or path that does not exist.
    NoSuchPath,
    /// A resource that does not exist in a group that does.
    NoSuchResource,
}

impl Route {
    pub(super) fn find(path: &str, data: &Data) -> Self {
        let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        match parts.as_slice() {
            ["healthz" | "livez" | "readyz", ..] => return Self::Health,
            ["version"] => return Self::Version,
            ["api" | "apis"] | ["apis", _] | ["api", "v1"] | ["apis", _, _] => {
                return Self::Discovery(parts.into_iter().map(str::to_owned).collect());
            }
            ["api" | "apis", ..] => {}
            _ => return Self::NoSuchPath,
        }
        let group = if parts[0] == "api" { "" } else { parts[1] };
        let version_at = if parts[0] == "api" { 1 } else { 2 };
        let version = parts.get(version_at).copied().unwrap_or_default();
        let served: Vec<_> = data.resources.iter().filter(|r| r.group == group && r.version == version).collect();
        let core = group.is_empty();
        if served.iter().all(|r| r.custom) && !core {
            let known = served.iter().any(|r| parts.contains(&r.plural.as_str()));
            if !known {
                return Self::NoSuchPath;
            }
        }
        let mut rest = parts.split_off(version_at + 1);
        let watch = rest.first() == Some(&"watch");
        if watch {
            rest.remove(0);
        }
        let (namespace, rest) = match rest.as_slice() {
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some(*namespace), rest),
            rest => (None, rest),
        };
        let found = rest.first().and_then(|plural| served.iter().find(|r| r.plural == *plural));
        let Some(&resource) = found else { return Self::NoSuchResource };
        if namespace.is_some() && !resource.namespaced {
            return Self::NoSuchResource;
        }
        match rest {
            [_] if namespace.is_none() && resource.namespaced && !resource.allows("list") => Self::NoSuchResource,
            [_] => Self::Collection {
                collection: Collection {
                    resource: resource.clone(),
                    prefix: namespace.map(|name| format!("{name}/")).unwrap_or_default(),
                },
                namespace: namespace.map(str::to_owned),
                watch,
            },
            [_, name] if namespace.is_some() == resource.namespaced => Self::Object {
                resource: resource.clone(),
                namespace: namespace.unwrap_or_default().to_owned(),
                name: (*name).to_owned(),
                watch,
            },
            _ => Self::NoSuchResource,
        }
    }
}
