//! S01 to S16: `store_test.go`, `thread_safe_store_test.go`.

use crate::play::{Fed, add, cm, delete, held, update, version};
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{Change, Error, Event, EventStreamExt, Fold, Recovery};

#[test]
fn s01_objects_are_added_got_updated_and_deleted() {
    let mut fed = Fed::new();
    fed.tell([add("foo@1")]);
    assert_eq!(fed.store.get(("ns", "foo")).as_deref(), Some(&cm("foo@1")));
    fed.tell([update("foo@2")]);
    assert_eq!(fed.store.get(("ns", "foo")).as_deref(), Some(&cm("foo@2")));
    assert!(fed.store.contains(("ns", "foo")) && !fed.store.contains(("other", "foo")));
    fed.tell([delete("foo@3")]);
    assert_eq!(fed.store.get(("ns", "foo")), None);
    assert!(!fed.store.contains(("ns", "foo")));
}

#[test]
fn s02_the_content_lists_every_object_once() {
    let mut fed = Fed::new();
    fed.tell([add("a@1"), add("b@1"), add("c@1"), update("b@2")]);
    assert_eq!(held(&fed.store), "a@1 b@2 c@1");
    assert_eq!(fed.store.len(), 3);
    assert_eq!(fed.store.keys().count(), 3);
}

#[test]
fn s03_a_snapshot_replaces_the_whole_content() {
    let mut fed = Fed::new();
    fed.tell([add("foo@1"), add("bar@1")]);
    fed.replace("foo@2 qux@2", "2");
    assert_eq!(held(&fed.store), "foo@2 qux@2");
}

#[tokio::test]
async fn s05_the_store_holds_what_a_transformer_made() {
    let store = listwatch::Store::new();
    let events =
        crate::play::snapshot("foo@1", "1").into_iter().chain([add("bar@2"), update("foo@3")]).map(Ok::<_, Error>);
    let changes = futures::stream::iter(events)
        .modify_objects(|object: &mut ConfigMap| object.immutable = Some(true))
        .reflect(&store);
    futures::StreamExt::for_each(changes, async |change| {
        let Ok(change) = change else { panic!("{change:?}") };
        assert!(change.object().is_none_or(|object| object.immutable == Some(true)));
    })
    .await;
    assert!(store.snapshot().iter().all(|object| object.immutable == Some(true)));
    assert_eq!(store.len(), 2);
}

/// Refuses what is called `bad`.
struct Fussy;
impl Fold<ConfigMap> for Fussy {
    type Changes = Option<Change<ConfigMap>>;
    type Error = &'static str;
    fn fold(&mut self, event: Event<ConfigMap>) -> Result<Self::Changes, Self::Error> {
        let Event::Added(object) = event else { return Ok(None) };
        if object.metadata.name.as_deref() == Some("bad") {
            return Err("not this one");
        }
        Ok(Some(Change::Added { object, initial: false }))
    }
}

#[test]
fn s08_of_several_writes_those_that_fail_are_named_and_the_others_hold() {
    let outcomes = |names: &[&str]| {
        let events: Vec<_> = names.iter().map(|name| Ok::<_, Error>(add(&format!("{name}@1")))).collect();
        let items = futures::StreamExt::collect::<Vec<_>>(futures::stream::iter(events).reflect(Fussy));
        let items = futures::executor::block_on(items);
        items.into_iter().map(|item| item.map(drop).map_err(|error| error.recovery())).collect::<Vec<_>>()
    };
    let (ok, failed) = (Ok(()), Err(Recovery::Skip));
    assert_eq!(outcomes(&["a", "b", "c"]), [ok, ok, ok]);
    assert_eq!(outcomes(&["bad", "bad"]), [failed, failed]);
    assert_eq!(outcomes(&["a", "bad", "c", "bad"]), [ok, failed, ok, failed]);
}

#[test]
fn s13_the_version_follows_events_and_what_carries_none_keeps_it() {
    let mut fed = Fed::new();
    let store = fed.store.clone();
    let mut after = |event| {
        fed.tell([event]);
        version(&store)
    };
    assert_eq!(version(&store), "");
    assert_eq!(after(add("a@10")), "10");
    assert_eq!(after(add("b@10")), "10");
    assert_eq!(after(update("a@20")), "20");
    assert_eq!(after(delete("a@30")), "30");
    assert_eq!(after(add("c@")), "30", "an object without a version");
    assert_eq!(after(update("c@40")), "40");
    assert_eq!(after(delete("b@")), "40", "a deletion without one");
}

#[test]
fn s14_of_several_events_the_last_one_gives_the_version() {
    let mut fed = Fed::new();
    fed.tell([add("a@40"), add("b@30"), add("c@50")]);
    assert_eq!(version(&fed.store), "50");
    fed.tell([add("d@60"), add("e@45")]);
    assert_eq!(version(&fed.store), "45", "versions are never compared");
}

#[test]
fn s15_a_snapshot_gives_its_own_version() {
    let mut fed = Fed::new();
    fed.tell([add("a@10")]);
    fed.replace("a@10 b@20", "50");
    assert_eq!(version(&fed.store), "50");
}

#[test]
fn s16_of_one_key_written_twice_at_once_the_later_holds() {
    let mut fed = Fed::new();
    let told = fed.replace("a@1 b@1 a@2", "2");
    assert_eq!(held(&fed.store), "a@2 b@1");
    assert_eq!(told.iter().filter(|word| word.contains("a@")).count(), 1, "{told:?}");
}
