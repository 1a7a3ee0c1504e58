use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::core::DynamicObject;
use listwatch::{Change, DeleteReason, Error, EventStreamExt, Object, ops::changed};
use std::collections::HashMap;

#[tokio::test]
async fn leaves_out_updates_only() {
    let updated = |old: u32, new: u32| Ok(Change::Updated { old: old.into(), new: new.into() });
    let changes = stream::iter([
        Ok(Change::Added { object: 1.into(), initial: false }),
        updated(1, 1),
        updated(1, 2),
        Err(Error::interrupted("cut")),
        Ok(Change::Resynced(2.into())),
        Ok(Change::Deleted { last: 2.into(), why: DeleteReason::Observed }),
        Ok(Change::Synced { resource_version: "1".into(), initial: true }),
        Ok(Change::Bookmark("1".into())),
        Ok(Change::Watching("1".into())),
    ]);
    let mut asked = Vec::new();
    let differ = |old: &u32, new: &u32| {
        asked.push((*old, *new));
        old != new
    };
    let names: Vec<_> =
        changes.only_changed_by(differ).map(|item| item.map_or("err", |change| change.name())).collect().await;
    assert_eq!(names, ["added", "updated", "err", "resynced", "deleted", "synced", "bookmark", "watching"]);
    assert_eq!(asked, [(1, 1), (1, 2)], "old first");
}

#[test]
fn generation_passes_objects_without_one() {
    let pod = |generation| {
        let mut pod = Pod::default();
        pod.metadata.generation = generation;
        pod
    };
    assert!(changed::generation(&pod(Some(1)), &pod(Some(2))));
    assert!(!changed::generation(&pod(Some(2)), &pod(Some(2))));
    assert!(changed::generation(&pod(None), &pod(None)));
    assert!(changed::generation(&pod(None), &pod(Some(1))) && changed::generation(&pod(Some(1)), &pod(None)));
}

#[test]
fn no_labels_are_as_good_as_empty_ones() {
    let map = |labels: Option<&[(&str, &str)]>| {
        let mut map = ConfigMap::default();
        let labels = labels.map(|labels| labels.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect());
        map.metadata.labels.clone_from(&labels);
        map.metadata.annotations = labels;
        map
    };
    for differ in [changed::labels::<ConfigMap>, changed::annotations] {
        assert!(!differ(&map(None), &map(Some(&[]))));
        assert!(!differ(&map(Some(&[("a", "1")])), &map(Some(&[("a", "1")]))));
        assert!(differ(&map(Some(&[("a", "1")])), &map(Some(&[("a", "2")]))));
        assert!(differ(&map(Some(&[("a", "1")])), &map(None)));
    }
}

#[test]
fn spec_looks_at_nothing_else() {
    let object = |json: &str| DynamicObject::decode(json.as_bytes()).unwrap();
    let old = object(r#"{"metadata":{"name":"a"},"spec":{"size":1,"other":[1]},"status":{"ready":false}}"#);
    let status = object(r#"{"metadata":{"name":"a"},"status":{"ready":true},"spec":{"other":[1],"size":1}}"#);
    let grown = object(r#"{"metadata":{"name":"a"},"spec":{"size":2,"other":[1]}}"#);
    let none = object(r#"{"metadata":{"name":"a"}}"#);
    assert!(!changed::spec(&old, &status));
    assert!(changed::spec(&old, &grown) && changed::spec(&old, &none) && changed::spec(&none, &old));
    assert!(!changed::spec(&none, &none));
}

#[test]
fn spec_sees_no_difference_in_the_order_of_a_hash_map_and_passes_what_does_not_serialize() {
    #[derive(serde::Serialize)]
    struct Thing {
        spec: HashMap<String, u32>,
    }
    let keys = || (0..100).map(|n| (n.to_string(), n));
    let (old, new) = (Thing { spec: keys().collect() }, Thing { spec: keys().rev().collect() });
    assert!(!changed::spec(&old, &new));
    let never: HashMap<[u8; 1], u32> = [([1], 1)].into();
    assert!(changed::spec(&never, &never));
}
