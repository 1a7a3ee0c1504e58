//! The documents by which clients find resources.

use super::{answer::Answer, answer::Refused, refusal::Refusal, resource::Resource, state::Data};
use serde_json::{Value, json};

/// Answers `/api`, `/apis`, `/apis/GROUP`, `/api/v1` and `/apis/GROUP/VERSION`.
///
/// # Errors
///
/// 404 in the shape of a real server.
pub(super) fn discover(path: &[String], data: &Data) -> Result<Answer, Refused> {
    let path: Vec<_> = path.iter().map(String::as_str).collect();
    let document = match path.as_slice() {
        ["api"] => json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}),
        ["apis"] => json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups(data)}),
        ["apis", name] => {
            let mut group = groups(data).into_iter().find(|group| group["name"] == *name).ok_or(Refused::NoSuchPath)?;
            group["kind"] = "APIGroup".into();
            group["apiVersion"] = "v1".into();
            group
        }
        ["api", version] => resources("", version, data).ok_or_else(Refusal::no_such_resource)?,
        ["apis", group, version] => resources(group, version, data).ok_or(Refused::NoSuchPath)?,
        _ => return Err(Refused::NoSuchPath),
    };
    let mut out = Vec::new();
    super::encode::document(&mut out, &document);
    Ok(Answer::json(200, out))
}

/// Answers `/version`.
pub(super) fn version() -> Answer {
    Answer::json(200, json!({"major": "1", "minor": "36", "gitVersion": "v1.36.3"}).to_string().into_bytes())
}

fn groups(data: &Data) -> Vec<Value> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for resource in data.resources.iter().filter(|resource| !resource.group.is_empty()) {
        match groups.iter_mut().find(|(name, _)| *name == resource.group) {
            Some((_, versions)) if !versions.contains(&resource.version.as_str()) => versions.push(&resource.version),
            Some(_) => {}
            None => groups.push((&resource.group, vec![&resource.version])),
        }
    }
    groups
        .into_iter()
        .map(|(name, versions)| {
            let versions: Vec<_> = versions
                .into_iter()
                .map(|version| json!({"groupVersion": format!("{name}/{version}"), "version": version}))
                .collect();
            json!({"name": name, "versions": versions, "preferredVersion": versions[0]})
        })
        .collect()
}

fn resources(group: &str, version: &str, data: &Data) -> Option<Value> {
    let mut served: Vec<_> = data.resources.iter().filter(|r| r.group == group && r.version == version).collect();
    served.sort_by_key(|resource| &resource.plural);
    let api_version = served.first()?.api_version();
    let resources: Vec<_> = served.into_iter().map(describe).collect();
    Some(json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": api_version, "resources": resources}))
}

fn describe(resource: &Resource) -> Value {
    let mut out = json!({
        "name": resource.plural,
        "singularName": resource.kind.to_lowercase(),
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": resource.verbs,
    });
    if !resource.short_names.is_empty() {
        out["shortNames"] = json!(resource.short_names);
    }
    out
}
