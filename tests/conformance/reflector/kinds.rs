//! R10, R28: which objects of a watch are taken.

use crate::play::version;
use futures::{FutureExt, StreamExt, stream};
use kube::core::{ApiResource, DynamicObject, TypeMeta};
use listwatch::{Error, Event, EventStreamExt, Key, Recovery, Store};

/// An object of this kind in `ns`; `""` for a version that it does not carry.
fn object(kind: Option<&str>, name: &str, version: &str) -> DynamicObject {
    let mut object = DynamicObject::new(name, &ApiResource::erase::<k8s_openapi::api::core::v1::Pod>(&()));
    object.types = kind.map(|kind| TypeMeta { api_version: "v1".into(), kind: kind.into() });
    object.metadata.namespace = Some("ns".into());
    object.metadata.uid = Some(format!("uid-{name}"));
    object.metadata.resource_version = (!version.is_empty()).then(|| version.into());
    object
}

fn names(store: &Store<DynamicObject>) -> Vec<String> {
    let name = |object: &DynamicObject| {
        format!("{}@{}", Key::of(object).name, object.metadata.resource_version.as_deref().unwrap_or_default())
    };
    let mut names: Vec<_> = store.snapshot().iter().map(|object| name(object)).collect();
    names.sort();
    names
}

#[tokio::test]
async fn r10_a_watch_takes_what_is_of_its_kind_and_the_last_version_wins() {
    let store = Store::new();
    let pod = |name, version| object(Some("Pod"), name, version);
    let events = stream::iter([
        Ok::<_, Error>(Event::added(pod("foo", ""))),
        Ok(Event::added(pod("bar", ""))),
        Ok(Event::added(object(Some("Service"), "rejected", "50"))),
        Ok(Event::deleted(pod("foo", ""))),
        Ok(Event::modified(pod("bar", "55"))),
        Ok(Event::added(pod("baz", "32"))),
    ])
    .chain(stream::pending());
    let mut changes = events.expect_kind("v1", "Pod").reflect(&store);
    let mut errors = vec![];
    while let Some(Some(change)) = changes.next().now_or_never() {
        errors.extend(change.err());
    }
    assert_eq!(names(&store), ["bar@55", "baz@32"]);
    assert_eq!(version(&store), "32", "the last event wins, not the highest");
    assert_eq!(errors.len(), 1);
    assert!(errors[0].is_wrong_kind() && errors[0].recovery() == Recovery::Skip);
}

#[tokio::test]
async fn r28_only_a_kind_that_is_asked_for_and_carried_is_checked() {
    let passed = async |stream: stream::BoxStream<'static, Result<Event<DynamicObject>, Error>>| {
        stream.map(|item| item.is_ok()).collect::<Vec<_>>().await
    };
    let objects = || {
        let objects = [object(None, "a", "1"), object(Some("Pod"), "b", "2"), object(Some("MyKind"), "c", "3")];
        stream::iter(objects.map(|object| Ok(Event::added(object))))
    };
    assert_eq!(passed(objects().boxed()).await, [true, true, true], "no kind is asked for");
    assert_eq!(passed(objects().expect_kind("v1", "Pod").boxed()).await, [true, true, false]);
    assert_eq!(passed(objects().expect_kind("v1", "MyKind").boxed()).await, [true, false, true]);
    assert_eq!(passed(objects().expect_kind("mygroup/v1", "MyKind").boxed()).await, [true, false, false]);
}
