use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube_runtime::{reflector, watcher};
use listwatch::{DecodeError, Error, Event, EventStreamExt, Unreadable, UnreadableAs, testing};

fn map(name: &str, version: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(name.into());
    map.metadata.uid = Some(format!("uid-of-{name}"));
    map.metadata.resource_version = Some(version.into());
    map
}

fn unreadable(came_as: UnreadableAs, name: &str, uid: &str) -> Error {
    let object = Unreadable::new(came_as, "", name).with_identity(uid, "9");
    Error::unreadable(object, DecodeError::new("not so"))
}

fn name_of(item: &Result<watcher::Event<ConfigMap>, Error>) -> String {
    let object = |what: &str, map: &ConfigMap| {
        format!("{what} {}@{}", map.metadata.name.as_ref().unwrap(), map.metadata.resource_version.as_ref().unwrap())
    };
    match item {
        Err(_) => "err".into(),
        Ok(watcher::Event::Init) => "init".into(),
        Ok(watcher::Event::InitDone) => "done".into(),
        Ok(watcher::Event::InitApply(map)) => object("init", map),
        Ok(watcher::Event::Apply(map)) => object("apply", map),
        Ok(watcher::Event::Delete(map)) => object("delete", map),
    }
}

/// What comes out, and what kube-runtime's store then holds.
async fn played(script: testing::Script<ConfigMap>) -> (Vec<String>, Vec<String>) {
    let mut told = Vec::new();
    let (store, writer) = reflector::store::<ConfigMap>();
    let events = script.into_kube().inspect(|item| told.push(name_of(item))).on_error(drop).map(Ok);
    reflector::reflector(writer, events).for_each(|_| async {}).await;
    let held = |map: &ConfigMap| name_of(&Ok(watcher::Event::Apply(map.clone()))).split_off("apply ".len());
    let mut held: Vec<_> = store.state().iter().map(|map| held(map)).collect();
    held.sort();
    (told, held)
}

#[tokio::test]
async fn tells_a_snapshot_when_it_is_complete_and_then_changes() {
    let script = testing::script()
        .snapshot([map("a", "1")], "1")
        .watching("1")
        .added(map("b", "2"))
        .modified(map("a", "3"))
        .bookmark("4")
        .deleted(map("b", "5"));
    let (told, held) = played(script).await;
    assert_eq!(told, ["init", "init a@1", "done", "apply b@2", "apply a@3", "delete b@5"]);
    assert_eq!(held, ["a@3"]);
}

#[tokio::test]
async fn a_deletion_inside_a_snapshot_leaves_no_trace() {
    let script = testing::script()
        .snapshot_start()
        .listed(map("a", "1"))
        .listed(map("b", "1"))
        .deleted(map("b", "2"))
        .listed(map("a", "3"))
        .snapshot_end("3");
    let (told, held) = played(script).await;
    assert_eq!((told.len(), held), (3, vec!["a@3".to_owned()]));
}

#[tokio::test]
async fn a_voided_snapshot_leaves_no_trace() {
    let script = testing::script()
        .snapshot([map("a", "1")], "1")
        .snapshot_start()
        .listed(map("b", "2"))
        .error(Error::interrupted("cut"))
        .snapshot([map("c", "3")], "3");
    let (told, held) = played(script).await;
    assert_eq!(told[3..], ["err", "init", "init c@3", "done"]);
    assert_eq!(held, ["c@3"]);
}

#[tokio::test]
async fn an_unreadable_object_stays_as_it_was_last_readable() {
    let script = testing::script()
        .snapshot([map("a", "1"), map("b", "1"), map("c", "1")], "1")
        .error(unreadable(UnreadableAs::Modified, "a", "uid-of-a"))
        .snapshot_start()
        .error(unreadable(UnreadableAs::Listed, "a", "uid-of-a"))
        .error(unreadable(UnreadableAs::Listed, "b", "another"))
        .error(unreadable(UnreadableAs::Listed, "new", "uid-of-new"))
        .snapshot_end("9");
    let (_, held) = played(script).await;
    assert_eq!(held, ["a@1"], "b is another object now, c is not listed, and nothing is known of new");
}

#[tokio::test]
async fn an_unreadable_deletion_deletes() {
    let script = testing::script()
        .snapshot([map("a", "1"), map("b", "1"), map("c", "1")], "1")
        .error(unreadable(UnreadableAs::Deleted, "a", ""))
        .error(unreadable(UnreadableAs::Added, "b", "another"))
        .error(unreadable(UnreadableAs::Deleted, "unknown", ""))
        .error(Error::refused("something else"));
    let (told, held) = played(script).await;
    assert_eq!(told[5..], ["err", "delete a@1", "err", "delete b@1", "err", "err"]);
    assert_eq!(held, ["c@1"]);
}

#[tokio::test]
async fn within_a_snapshot_an_unreadable_update_keeps_what_was_listed_and_a_deletion_takes_it_back() {
    let script = testing::script()
        .snapshot_start()
        .listed(map("a", "1"))
        .error(unreadable(UnreadableAs::Modified, "a", "uid-of-a"))
        .listed(map("b", "1"))
        .error(unreadable(UnreadableAs::Deleted, "b", "uid-of-b"))
        .listed(map("c", "1"))
        .error(unreadable(UnreadableAs::Modified, "c", "another"))
        .snapshot_end("9");
    assert_eq!(played(script).await.1, ["a@1"]);
}

#[tokio::test]
async fn a_resync_applies_each_object_again() {
    let script = testing::script().snapshot([map("a", "1")], "1").added(map("b", "2")).event(Event::Resync);
    let (mut told, _) = played(script).await;
    told[4..].sort();
    assert_eq!(told[4..], ["apply a@1", "apply b@2"]);
}

#[tokio::test]
async fn any_error_that_recovers_will_do() {
    let items = stream::iter([Ok(Event::SnapshotStart), Err("cut".to_owned()), Ok(Event::added(map("a", "1")))]);
    let out: Vec<_> = items.into_kube().map(|item| item.is_ok()).collect().await;
    assert_eq!(out, [false, true], "a string voids the snapshot");
}
