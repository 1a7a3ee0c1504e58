//! What a change is called and what of the object is different.

use super::{table::Columns, tone::Tone};
use kube::core::DynamicObject;
use listwatch::{Change, DeleteReason};
use serde_json::Map;
use std::collections::BTreeSet;

/// The word for a change to one object, and its colour; `None` for what is not about one.
pub fn word(change: &Change<DynamicObject>) -> Option<(&'static str, Tone)> {
    match change {
        Change::Added { .. } => Some(("ADDED", Tone::Good)),
        Change::Updated { .. } => Some(("UPDATED", Tone::Changed)),
        Change::Deleted { .. } => Some(("DELETED", Tone::Bad)),
        _ => None,
    }
}

/// The version, and what else is different: what cells said before, sections of the object by name.
pub fn difference(change: &Change<DynamicObject>, columns: Columns) -> String {
    match change {
        Change::Updated { old, new } => {
            let mut parts = vec![format!("version {} -> {}", version(old), version(new))];
            parts.extend(cells(old, new, columns));
            parts.extend(sections(old, new, columns));
            parts.join(", ")
        }
        Change::Deleted { last, why: DeleteReason::Observed } => format!("version {}", version(last)),
        Change::Deleted { last, why } => format!("version {}, {}", version(last), format!("{why:?}").to_lowercase()),
        change => change.object().map(|object| format!("version {}", version(object))).unwrap_or_default(),
    }
}

fn version(object: &DynamicObject) -> &str {
    object.metadata.resource_version.as_deref().unwrap_or("unknown")
}

fn cells(old: &DynamicObject, new: &DynamicObject, columns: Columns) -> impl Iterator<Item = String> {
    let pairs = columns.facts(old).zip(columns.facts(new));
    pairs.filter(|(old, new)| old != new).map(|(old, _)| format!("was {old}"))
}

fn sections(old: &DynamicObject, new: &DynamicObject, columns: Columns) -> Vec<String> {
    let (a, b) = (&old.metadata, &new.metadata);
    let metadata = [
        ("labels", a.labels != b.labels),
        ("annotations", a.annotations != b.annotations),
        ("finalizers", a.finalizers != b.finalizers),
        ("owners", a.owner_references != b.owner_references),
        ("deletion", a.deletion_timestamp != b.deletion_timestamp),
    ];
    let names: BTreeSet<_> =
        [old, new].into_iter().filter_map(|object| object.data.as_object()).flat_map(Map::keys).collect();
    // What the cells of a pod are made of is told by them.
    let told = cells(old, new, columns).next().is_some();
    let changed = names.into_iter().filter(|name| old.data.get(name.as_str()) != new.data.get(name.as_str()));
    let changed = changed.filter(|name| !(told && matches!(name.as_str(), "spec" | "status")));
    let metadata = metadata.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name.to_owned());
    metadata.chain(changed.cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::{ApiResource, GroupVersionKind};
    use serde_json::{Value, json};
    use std::sync::Arc;

    fn pod(version: &str, more: Value) -> Arc<DynamicObject> {
        let mut object = json!({"metadata": {"name": "a", "resourceVersion": version}});
        object.as_object_mut().expect("a map").extend(more.as_object().expect("a map").clone());
        Arc::new(serde_json::from_value(object).expect("an object"))
    }

    fn tell(change: &Change<DynamicObject>, kind: &str) -> String {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", kind));
        difference(change, Columns::of(&resource, false))
    }

    #[test]
    fn what_cells_said_before() {
        let old = pod("1", json!({"status": {"phase": "Pending"}}));
        let new = pod("2", json!({"status": {"phase": "Running"}, "spec": {"nodeName": "n"}}));
        let change = Change::Updated { old, new };
        assert_eq!(tell(&change, "Pod"), "version 1 -> 2, was Pending, was <none>");
        assert_eq!(tell(&change, "Widget"), "version 1 -> 2, spec, status");
    }

    #[test]
    fn sections_by_name_alone() {
        let (old, new) =
            (pod("1", json!({"data": {"password": "a"}, "type": "t"})), pod("2", json!({"data": {"password": "b"}})));
        assert_eq!(tell(&Change::Updated { old, new }, "Secret"), "version 1 -> 2, data, type");
    }

    #[test]
    fn deletions_say_how_they_were_learned() {
        let gone = |why| tell(&Change::Deleted { last: pod("7", json!({})), why }, "Pod");
        assert_eq!(gone(DeleteReason::Observed), "version 7");
        assert_eq!(gone(DeleteReason::Missed), "version 7, missed");
    }
}
