//! What a kind of object is called and how it is served.

/// A kind of object that an [`ApiServer`](super::ApiServer) serves.
///
/// # Defaults
///
/// Version `v1`, a kind made from the plural (`widgets`: `Widget`), namespaced, all verbs, no short names, served from
/// the watch cache.
///
/// # Examples
///
/// ```
/// use listwatch::testing::Resource;
///
/// let resource = Resource::custom("widgets.example.com").version("v1alpha1").short_name("wd");
/// assert_eq!(resource.api_version(), "example.com/v1alpha1");
/// assert_eq!(resource.kind(), "Widget");
/// assert_eq!(resource.path(Some("shop")), "/apis/example.com/v1alpha1/namespaces/shop/widgets");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) kind: String,
    pub(super) plural: String,
    pub(super) short_names: Vec<String>,
    pub(super) namespaced: bool,
    pub(super) custom: bool,
    pub(super) cached: bool,
    pub(super) generation: bool,
    pub(super) verbs: Vec<String>,
    pub(super) fields: Vec<String>,
    pub(super) blank: String,
}

const VERBS: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

impl Resource {
    /// A custom resource, named as its definition would be: `widgets.example.com`.
    ///
    /// Its objects are encoded with sorted keys, items of its lists carry `kind` and `apiVersion`, and its lists end
    /// with their `metadata`, which always has a `continue`.
    #[must_use]
    pub fn custom(name: &str) -> Self {
        let mut resource = Self::built_in(name);
        resource.custom = true;
        resource.generation = true;
        resource
    }

    /// A resource that is compiled into the server: `configmaps`, or `deployments.apps` in a group.
    #[must_use]
    pub fn built_in(name: &str) -> Self {
        let (plural, group) = name.split_once('.').unwrap_or((name, ""));
        let singular = plural.strip_suffix('s').unwrap_or(plural);
        let mut letters = singular.chars();
        let kind = letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default();
        Self {
            group: group.to_owned(),
            version: "v1".to_owned(),
            kind,
            plural: plural.to_owned(),
            short_names: Vec::new(),
            namespaced: true,
            custom: false,
            cached: true,
            generation: false,
            verbs: VERBS.map(str::to_owned).to_vec(),
            fields: Vec::new(),
            blank: String::new(),
        }
    }

    /// Sets the version within the group, such as `v1beta1`.
    #[must_use]
    pub fn version(mut self, version: &str) -> Self {
        version.clone_into(&mut self.version);
        self
    }

    /// Sets the kind of the objects, in camel case.
    #[must_use]
    pub fn with_kind(mut self, kind: &str) -> Self {
        kind.clone_into(&mut self.kind);
        self
    }

    /// Adds a short name for discovery, such as `cm`.
    #[must_use]
    pub fn short_name(mut self, name: &str) -> Self {
        self.short_names.push(name.to_owned());
        self
    }

    /// Serves the resource outside namespaces.
    #[must_use]
    pub fn cluster_scoped(mut self) -> Self {
        self.namespaced = false;
        self
    }

    /// Serves the resource from storage as if it had no watch cache: lists at version "0" page, and watches get no
    /// periodic bookmarks.
    #[must_use]
    pub fn uncached(mut self) -> Self {
        self.cached = false;
        self
    }

    /// Replaces the verbs the resource supports; a request for another one is answered with 405.
    #[must_use]
    pub fn verbs<'a>(mut self, verbs: impl IntoIterator<Item = &'a str>) -> Self {
        self.verbs = verbs.into_iter().map(str::to_owned).collect();
        self
    }

    /// Allows a field selector on this path, such as `spec.nodeName`, beside `metadata.name` and
    /// `metadata.namespace`.
    #[must_use]
    pub fn selectable(mut self, path: &str) -> Self {
        self.fields.push(path.to_owned());
        self
    }

    /// Counts changes of `spec` in `metadata.generation`, as custom resources and most built-in ones with a
    /// controller do.
    #[must_use]
    pub fn counted(mut self) -> Self {
        self.generation = true;
        self
    }

    /// Sets the fields beside `metadata` that an empty object of this kind has on the wire, as JSON members; bookmarks
    /// carry them.
    #[must_use]
    pub fn blank(mut self, members: &str) -> Self {
        members.clone_into(&mut self.blank);
        self
    }

    /// The kind of the objects.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The plural in lower case, as in paths.
    #[must_use]
    pub fn plural(&self) -> &str {
        &self.plural
    }

    /// Group and version as in an object's `apiVersion`.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// The path of the collection, in one namespace or in all.
    #[must_use]
    pub fn path(&self, namespace: Option<&str>) -> String {
        let root = if self.group.is_empty() { "/api" } else { "/apis" };
        let namespace = namespace.map(|name| format!("namespaces/{name}/")).unwrap_or_default();
        format!("{root}/{}/{namespace}{}", self.api_version(), self.plural)
    }

    /// The name by which statuses call the resource: `deployments.apps`.
    pub(super) fn qualified(&self) -> String {
        if self.group.is_empty() { self.plural.clone() } else { format!("{}.{}", self.plural, self.group) }
    }

    pub(super) fn allows(&self, verb: &str) -> bool {
        self.verbs.iter().any(|v| v == verb)
    }

    pub(super) fn goes_by(&self, name: &str) -> bool {
        self.plural == name
            || self.qualified() == name
            || self.kind == name
            || self.short_names.iter().any(|short| short == name)
    }
}
