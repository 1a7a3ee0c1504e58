//! `objects`, `deletions`, `map_objects`, `modify_objects`, `strip_managed_fields`, `expect_kind`.

use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::{DynamicObject, PartialObjectMeta};
use listwatch::{Change, DeleteReason, Error, Event, EventStreamExt, Object, Raw, Recovery, testing};
use std::{panic::AssertUnwindSafe, sync::Arc};

fn map(name: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(name.into());
    map
}

fn changes() -> impl futures::Stream<Item = Result<Change<u32>, Error>> + Unpin {
    stream::iter([
        Ok(Change::Added { object: 1.into(), initial: true }),
        Ok(Change::Synced { resource_version: "1".into(), initial: true }),
        Err(Error::interrupted("cut")),
        Ok(Change::Updated { old: 1.into(), new: 2.into() }),
        Ok(Change::Deleted { last: 3.into(), why: DeleteReason::Missed }),
        Ok(Change::Resynced(4.into())),
        Ok(Change::Bookmark("2".into())),
        Ok(Change::Watching("2".into())),
    ])
}

#[tokio::test]
async fn objects_and_deletions_of_changes() {
    let ok = |item: Result<Arc<u32>, Error>| item.ok().map(|object| *object);
    let objects: Vec<_> = changes().objects().map(ok).collect().await;
    assert_eq!(objects, [Some(1), None, Some(2), Some(4)]);
    let deletions: Vec<_> = changes().deletions().map(ok).collect().await;
    assert_eq!(deletions, [None, Some(3)]);
}

#[tokio::test]
async fn objects_and_deletions_of_events_share_the_allocation() {
    let object = Arc::new(testing::raw("a", "1"));
    let of = |event: fn(Arc<Raw>) -> Event<Raw>| testing::events([event(Arc::clone(&object)), Event::Resync]);
    for event in [Event::Listed, Event::Added, Event::Modified] {
        let objects: Vec<_> = of(event).objects().try_collect().await.unwrap();
        assert!(objects.len() == 1 && Arc::ptr_eq(&objects[0], &object));
        assert_eq!(of(event).deletions().count().await, 0);
    }
    assert_eq!(of(Event::Deleted).objects().count().await, 0);
    assert_eq!(of(Event::Deleted).deletions().count().await, 1);
}

#[tokio::test]
async fn map_objects_maps_each_object_once() {
    let mut calls = 0;
    let script = testing::script()
        .snapshot([testing::raw("a", "1")], "1")
        .added(testing::raw("b", "2"))
        .modified(testing::raw("b", "3"))
        .deleted(testing::raw("b", "4"))
        .bookmark("5")
        .error(Error::interrupted("cut"));
    let version = |object: &Raw| {
        calls += 1;
        object.identity().resource_version.to_owned()
    };
    let out: Vec<_> =
        script.map_objects(version).map(|item| item.ok().map(|event| event.object().cloned())).collect().await;
    let object = |version: &str| Some(Some(Arc::new(version.to_owned())));
    let rest = [object("1"), Some(None), object("2"), object("3"), object("4"), Some(None), None];
    assert_eq!((out[1..].to_vec(), calls), (rest.to_vec(), 4));
}

#[tokio::test]
async fn modify_objects_copies_only_what_is_held_elsewhere() {
    let mine = Arc::new(map("mine"));
    let address = {
        let alone = Event::added(map("alone"));
        let at = alone.object().map(Arc::as_ptr);
        let events = testing::events([alone, Event::Modified(Arc::clone(&mine))]);
        let out: Vec<_> = events.modify_objects(|map| map.immutable = Some(true)).try_collect().await.unwrap();
        assert!(out.iter().all(|event| event.object().unwrap().immutable == Some(true)));
        (at, out[0].object().map(Arc::as_ptr))
    };
    assert_eq!(address.0, address.1, "changed in place");
    assert_eq!(mine.immutable, None, "whoever holds it sees no change");
}

#[tokio::test]
async fn a_panic_in_the_closure_ends_the_stream() {
    let events = || testing::events([Event::added(map("a")), Event::added(map("b"))]);
    let mut mapped = events().map_objects(|_| -> u32 { panic!("the user's code") });
    assert!(AssertUnwindSafe(mapped.next()).catch_unwind().await.is_err());
    assert!(mapped.next().await.is_none());
    let mut modified = events().modify_objects(|_| panic!("the user's code"));
    assert!(AssertUnwindSafe(modified.next()).catch_unwind().await.is_err());
    assert!(modified.next().await.is_none());
}

#[tokio::test]
async fn strip_managed_fields_leaves_others_alone() {
    let mut managed = map("managed");
    managed.metadata.managed_fields = Some(vec![Default::default()]);
    managed.metadata.labels = Some([("a".into(), "b".into())].into());
    let plain = Arc::new(map("plain"));
    let events = testing::events([Event::added(managed.clone()), Event::Deleted(Arc::clone(&plain))]);
    let out: Vec<_> = events.strip_managed_fields().try_collect().await.unwrap();
    managed.metadata.managed_fields = None;
    assert_eq!(out[0], Event::added(managed));
    assert!(Arc::ptr_eq(out[1].object().unwrap(), &plain), "no copy where there is nothing to strip");
}

fn decoded<K: Object>(json: &str) -> Event<K> {
    Event::added(K::decode(json.as_bytes()).unwrap())
}

#[tokio::test]
async fn expect_kind_skips_other_kinds() {
    let pod = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"cart"}}"#;
    let secret = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"data":{"k":"hunter2"}}"#;
    let other_version = r#"{"apiVersion":"v2","kind":"Pod","metadata":{"name":"cart"}}"#;
    let bare = r#"{"metadata":{"name":"cart"}}"#;
    let events = [pod, secret, other_version, bare].map(decoded::<DynamicObject>);
    let out: Vec<_> = testing::events(events).expect_kind("v1", "Pod").collect().await;
    assert!(out[0].is_ok() && out[3].is_ok());
    for error in [&out[1], &out[2]] {
        let error = error.as_ref().unwrap_err();
        assert!(error.is_wrong_kind() && error.recovery() == Recovery::Skip, "{error}");
    }
    let text = format!("{:?}", out[1]);
    assert!(text.contains("v1 Secret") && !text.contains("hunter2"), "{text}");
}

#[tokio::test]
async fn expect_kind_takes_metadata_for_any_kind() {
    let partial = |api_version: &str, kind: &str| {
        let json = format!(r#"{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{{"name":"a"}}}}"#);
        decoded::<PartialObjectMeta<ConfigMap>>(&json)
    };
    let events = [partial("meta.k8s.io/v1", "PartialObjectMetadata"), partial("v1", "ConfigMap"), partial("v1", "Pod")];
    let out: Vec<_> = testing::events(events).expect_kind("v1", "ConfigMap").collect().await;
    assert!(out[0].is_ok() && out[1].is_ok() && out[2].is_err());
}

#[tokio::test]
async fn expect_kind_checks_every_event_with_an_object() {
    let raw = || testing::raw("a", "1");
    let script = testing::script().snapshot([raw()], "1").added(raw()).modified(raw()).deleted(raw()).bookmark("2");
    let out: Vec<_> = script.expect_kind("v1", "Other").map(|item| item.is_ok()).collect().await;
    assert_eq!(out, [true, false, true, false, false, false, true]);
}
