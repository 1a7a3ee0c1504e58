use kube_core::ApiResource;

/// A resource that a server has, by [`Client::discover`](crate::client::Client::discover).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Discovered {
    /// What [`Collection::all_with`](crate::client::Collection::all_with) takes.
    pub resource: ApiResource,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Such as `pod`; `""` where the server does not say.
    pub singular: String,
    /// Such as `po`.
    pub short_names: Vec<String>,
    /// What may be done with it, such as `list`.
    pub verbs: Vec<String>,
}

impl Discovered {
    /// Whether the server says that it can be listed.
    pub fn can_list(&self) -> bool {
        self.verbs.iter().any(|verb| verb == "list")
    }

    /// Whether the server says that it can be watched. Where not,
    /// [`poll_every`](crate::source::ListWatch::poll_every) mirrors it.
    pub fn can_watch(&self) -> bool {
        self.verbs.iter().any(|verb| verb == "watch")
    }

    /// `deployments.apps`, and for the core group `pods`.
    pub fn full_name(&self) -> String {
        let ApiResource { plural, group, .. } = &self.resource;
        if group.is_empty() { plural.clone() } else { format!("{plural}.{group}") }
    }
}
