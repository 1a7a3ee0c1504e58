use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// All objects of a server after a run, by resource and `namespace/name`, without what differs by nature: uids (also
/// where owner references and others quote them), versions, generations and times of the server.
#[derive(Clone, PartialEq, Eq)]
pub struct EndState(BTreeMap<String, Value>);

impl EndState {
    pub(super) fn new(objects: Vec<(String, Value)>, ignore: impl Fn(&mut Value)) -> Self {
        let uids: BTreeMap<String, String> = objects
            .iter()
            .filter_map(|(key, object)| Some((object["metadata"]["uid"].as_str()?.to_owned(), format!("uid of {key}"))))
            .collect();
        let plain = objects.into_iter().map(|(key, mut object)| {
            if let Some(metadata) = object["metadata"].as_object_mut() {
                for field in ["uid", "resourceVersion", "generation", "creationTimestamp"] {
                    metadata.remove(field);
                }
                if let Some(time) = metadata.get_mut("deletionTimestamp") {
                    *time = "set".into();
                }
            }
            rename(&mut object, &uids);
            ignore(&mut object);
            (key, object)
        });
        EndState(plain.collect())
    }

    /// The objects: `"configmaps shop/cart"` and such.
    #[must_use]
    pub fn objects(&self) -> &BTreeMap<String, Value> {
        &self.0
    }

    /// A line for each object that is only in one of the two, and for each field that differs, without its values.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let keys: BTreeSet<_> = self.0.keys().chain(other.0.keys()).collect();
        let mut lines = Vec::new();
        for key in keys {
            match (self.0.get(key), other.0.get(key)) {
                (Some(_), None) => lines.push(format!("{key} is missing")),
                (None, _) => lines.push(format!("{key} is too much")),
                (Some(this), Some(other)) => compare(this, other, String::new(), &mut |pointer| {
                    lines.push(format!("{key}: {pointer} differs"));
                }),
            }
        }
        lines
    }
}

/// The names of the objects, not what they hold.
impl fmt::Debug for EndState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Replaces whole strings that are uids.
fn rename(value: &mut Value, uids: &BTreeMap<String, String>) {
    match value {
        Value::String(text) => {
            if let Some(name) = uids.get(text) {
                name.clone_into(text);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, uids)),
        Value::Object(fields) => fields.values_mut().for_each(|field| rename(field, uids)),
        _ => {}
    }
}

/// Tells the JSON pointer of each difference, as deep as it lies.
fn compare(this: &Value, other: &Value, at: String, differs: &mut impl FnMut(&str)) {
    let (Value::Object(this), Value::Object(other)) = (this, other) else {
        if this != other {
            differs(&at);
        }
        return;
    };
    let null = Value::Null;
    let field = |of: &Map<String, Value>, name: &str| of.get(name).unwrap_or(&null).clone();
    for name in this.keys().chain(other.keys().filter(|name| !this.contains_key(*name))) {
        compare(&field(this, name), &field(other, name), format!("{at}/{name}"), differs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn state(objects: &[(&str, Value)]) -> EndState {
        EndState::new(objects.iter().map(|(key, object)| ((*key).to_owned(), object.clone())).collect(), |_| {})
    }

    #[test]
    fn uids_versions_and_times_do_not_count_but_who_owns_whom_does() {
        let owned = |uid: &str, owner: &str| {
            let metadata = json!({"uid": uid, "resourceVersion": uid, "ownerReferences": [{"uid": owner}]});
            state(&[("pods a", json!({"metadata": metadata})), ("pods b", json!({"metadata": {"uid": owner}}))])
        };
        assert_eq!(owned("1", "2"), owned("3", "4"));
        let other = state(&[
            ("pods a", json!({"metadata": {"uid": "1", "ownerReferences": [{"uid": "1"}]}})),
            ("pods b", json!({"metadata": {"uid": "2"}})),
        ]);
        assert_eq!(owned("1", "2").differences(&other), ["pods a: /metadata/ownerReferences differs"]);
    }

    #[test]
    fn differences_name_places_and_no_values() {
        let one = state(&[("a", json!({"data": {"x": "1", "y": {"z": 1}}})), ("b", json!({}))]);
        let two = state(&[("a", json!({"data": {"x": "2", "y": 7}, "more": 1})), ("c", json!({}))]);
        assert_eq!(
            one.differences(&two),
            ["a: /data/x differs", "a: /data/y differs", "a: /more differs", "b is missing", "c is too much"]
        );
        assert!(one.differences(&one).is_empty());
    }
}
