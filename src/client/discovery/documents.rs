//! Discovery documents, as far as they matter here.

use super::Discovered;
use kube_core::ApiResource;

/// What `/api` and `/apis` answer: the whole tree where the server can (since 1.26), else names of what to ask next.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Root {
    items: Option<Vec<GroupTree>>,
    versions: Vec<String>,
    groups: Vec<Group>,
}

#[derive(serde::Deserialize)]
struct GroupTree {
    #[serde(default)]
    metadata: Name,
    #[serde(default)]
    versions: Vec<VersionTree>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Name {
    name: String,
}

#[derive(serde::Deserialize)]
struct VersionTree {
    version: String,
    #[serde(default)]
    resources: Vec<TreeResource>,
    /// `Current`, or `Stale` where an aggregated server does not answer.
    #[serde(default)]
    freshness: String,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct TreeResource {
    resource: String,
    #[serde(default)]
    response_kind: Option<Kind>,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    singular_resource: String,
    #[serde(default)]
    short_names: Vec<String>,
    #[serde(default)]
    verbs: Vec<String>,
}

#[derive(serde::Deserialize)]
struct Kind {
    kind: String,
}

#[derive(serde::Deserialize)]
struct Group {
    versions: Vec<GroupVersion>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct GroupVersion {
    group_version: String,
}

/// What `/api/v1` or `/apis/apps/v1` answers.
#[derive(serde::Deserialize)]
pub(super) struct Resources {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    name: String,
    kind: String,
    #[serde(default)]
    namespaced: bool,
    #[serde(default)]
    singular_name: String,
    #[serde(default)]
    short_names: Vec<String>,
    #[serde(default)]
    verbs: Vec<String>,
}

/// All that a server has, as far as it is known.
#[derive(Default)]
pub(super) struct Tree {
    /// In the server's order of preference.
    pub(super) resources: Vec<Discovered>,
    /// Group versions whose server did not answer.
    pub(super) unknown: Vec<String>,
}

impl Root {
    /// The tree; or the group versions that are to be asked.
    pub(super) fn resources(self) -> Result<Tree, Vec<String>> {
        let Some(items) = self.items else {
            let groups = self.groups.into_iter().flat_map(|group| group.versions).map(|version| version.group_version);
            return Err(self.versions.into_iter().chain(groups).collect());
        };
        let mut tree = Tree::default();
        for GroupTree { metadata: Name { name: group }, versions } in items {
            for VersionTree { version, resources, freshness } in versions {
                if freshness == "Stale" {
                    tree.unknown.push(group_version(&group, &version));
                }
                tree.resources.extend(resources.into_iter().filter_map(|found| of_tree(&group, &version, found)));
            }
        }
        Ok(tree)
    }
}

fn of_tree(group: &str, version: &str, resource: TreeResource) -> Option<Discovered> {
    Some(Discovered {
        resource: api_resource(group, version, resource.response_kind?.kind, resource.resource),
        namespaced: resource.scope == "Namespaced",
        singular: resource.singular_resource,
        short_names: resource.short_names,
        verbs: resource.verbs,
    })
}

impl Resources {
    /// The resources of this group version, without subresources.
    pub(super) fn of(self, group_version: &str) -> Vec<Discovered> {
        let (group, version) = group_version.split_once('/').unwrap_or(("", group_version));
        let resources = self.resources.into_iter().filter(|resource| !resource.name.contains('/'));
        let named = |resource: Resource| Discovered {
            resource: api_resource(group, version, resource.kind, resource.name),
            namespaced: resource.namespaced,
            singular: resource.singular_name,
            short_names: resource.short_names,
            verbs: resource.verbs,
        };
        resources.map(named).collect()
    }
}

fn api_resource(group: &str, version: &str, kind: String, plural: String) -> ApiResource {
    let api_version = group_version(group, version);
    ApiResource { group: group.to_owned(), version: version.to_owned(), api_version, kind, plural }
}

fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_says_scope_and_verbs_and_who_did_not_answer() {
        let tree = r#"{"items": [
            {"versions": [{"version": "v1", "freshness": "Current", "resources": [
                {"resource": "pods", "responseKind": {"kind": "Pod"}, "scope": "Namespaced", "verbs": ["list"],
                 "subresources": [{"subresource": "status", "responseKind": {"kind": "Pod"}}]},
                {"resource": "nodes", "responseKind": {"kind": "Node"}, "scope": "Cluster"},
                {"resource": "kindless", "scope": "Cluster"}]}]},
            {"metadata": {"name": "metrics.k8s.io"}, "versions": [{"version": "v1", "freshness": "Stale"}]}]}"#;
        let root: Root = serde_json::from_str(tree).expect("a tree");
        let Ok(Tree { resources, unknown }) = root.resources() else { panic!("no tree") };
        let told: Vec<_> =
            resources.iter().map(|found| (found.full_name(), found.namespaced, found.can_list())).collect();
        assert_eq!(told, [("pods".to_owned(), true, true), ("nodes".to_owned(), false, false)]);
        assert_eq!(unknown, ["metrics.k8s.io/v1"]);
    }

    #[test]
    fn subresources_are_left_out() {
        let resources = r#"{"resources": [{"name": "pods", "kind": "Pod", "namespaced": true},
            {"name": "pods/status", "kind": "Pod", "namespaced": true}, {"name": "nodes", "kind": "Node"}]}"#;
        let resources: Resources = serde_json::from_str(resources).expect("resources");
        let told: Vec<_> = resources.of("v1").iter().map(|found| (found.full_name(), found.namespaced)).collect();
        assert_eq!(told, [("pods".to_owned(), true), ("nodes".to_owned(), false)]);
    }
}
