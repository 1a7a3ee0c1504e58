//! D5 to D8: `reflector_data_consistency_detector_test.go`, `listwatch_test.go`.

use crate::play::{
    Api, MS, S, Word as _, added, api, closing, cm, cms, during, errors, held, mirror, refused, status, until,
};
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use listwatch::{
    DecodeError, Error, Event, EventStreamExt, Recovery, Store, Unreadable, UnreadableAs,
    client::{Client, Collection},
    source::{ListMeta, ListPart, ListWatch, VersionMatch},
    testing::{ApiServer, Step},
};

const EXACT: &str = r#"L "1" Exact"#;

/// One object, complete at version 1; the list at exactly that version has `listed`.
fn script(listed: &str) -> Api {
    api().on_watch([added("pod-1@1"), closing("1")]).on_list("1", cms(listed))
}

fn label(mut object: ConfigMap) -> ConfigMap {
    object.metadata.labels = Some([("transformed".to_owned(), "yes".to_owned())].into());
    object
}

#[tokio::test(start_paused = true)]
async fn d05_a_snapshot_that_is_the_list_passes_also_when_transformed() {
    let (api, store) = (script("pod-1@1"), Store::new());
    let events = api.clone().events().verify_with(api.clone(), ConfigMap::clone);
    let mut changes = mirror(events, &store);
    let told = during(&mut changes, S * 5).await;
    assert_eq!(told, ["added pod-1@1 initial", "synced 1", "watching 1"]);
    assert_eq!(api.lines(), [r#"WL """#, EXACT]);
    assert_eq!(held(&store), "pod-1@1");

    let (api, store) = (script("pod-1@1"), Store::new());
    let events = api.clone().events().map_objects(|object: &ConfigMap| label(object.clone()));
    let events = events.verify_with(api.clone(), |object: &ConfigMap| label(object.clone()));
    let mut changes = mirror(events, &store);
    assert!(errors(&during(&mut changes, S * 5).await).is_empty());
    assert_eq!(api.lines(), [r#"WL """#, EXACT]);
    assert!(store.get(("ns", "pod-1")).is_some_and(|pod| pod.metadata.labels.is_some()));
}

#[tokio::test]
async fn d05_against_a_server_that_is_written_to() {
    let server = ApiServer::start().await;
    let write = |n: usize| {
        let name = format!("cm-{n:03}");
        server.create("configmaps", serde_json::json!({"metadata": {"name": name, "namespace": "ns"}}));
    };
    (0..50).for_each(write);
    let source = Collection::<ConfigMap>::all(Client::new(&server.url()).expect("a URL"));
    let mut events = source.clone().events().verify_with(source, ConfigMap::clone);
    while !matches!(events.next().await, Some(Ok(Event::SnapshotEnd(_)))) {}
    // The list is asked for after these, and still is the one of the snapshot.
    (50..60).for_each(write);
    for _ in 0..11 {
        let item = events.next().await.expect("events never end");
        assert!(matches!(item, Ok(Event::Watching(_) | Event::Added(_))), "{item:?}");
    }
    let exact =
        server.requests().iter().filter(|request| request.query("resourceVersionMatch") == Some("Exact")).count();
    assert_eq!(exact, 1);
}

#[tokio::test(start_paused = true)]
async fn d06_a_snapshot_that_is_not_the_list_is_an_error_that_names_what_differs() {
    let mut changed = cm("c@1");
    changed.data = Some([("secret".to_owned(), "content".to_owned())].into());
    let api = api()
        .on_watch([added("a@1"), added("b@1"), added("c@1"), closing("2"), added("e@3")])
        .on_list_error(refused())
        .on_list_error(status(503, "ServiceUnavailable"))
        .on_page(ListMeta::new("2").with_continue("more"), [cm("b@1"), changed])
        .on_page(ListMeta::new("2"), [cm("d@2")]);
    let mut events = api.clone().events().verify_with(api.clone(), ConfigMap::clone);
    until(&mut events, "end 2").await;
    let error = events.next().await.unwrap().unwrap_err();
    assert!(error.is_inconsistent() && error.recovery() == Recovery::Skip, "{error:?}");
    let text = format!("{error} {error:?}");
    assert!(text.contains("1 missing (ns/d)") && text.contains("1 too many (ns/a)"), "{text}");
    assert!(text.contains("1 of other content (ns/c)"), "{text}");
    assert!(!text.contains("secret") && !text.contains("content\""), "{text}");
    // It is asked at exactly that version, without a limit, and again each second while the server cannot say.
    let exact = r#"L "2" Exact"#;
    assert_eq!(api.lines(), [r#"WL """#, exact, exact, exact, "P more"]);
    let asked = api.calls()[1].list().unwrap().clone();
    assert_eq!((asked.version_match, asked.limit), (VersionMatch::Exact, None));
    let waited = api.calls()[2].at() - api.calls()[1].at();
    assert!(waited >= S && waited <= S + MS * 2, "{waited:?}");
    // The stream goes on.
    assert_eq!(during(&mut events, S).await, ["watching 2", "added e@3"]);
}

#[tokio::test(start_paused = true)]
async fn d06_what_cannot_be_listed_exactly_is_said_and_what_has_no_version_is_not_checked() {
    // An expired version is not asked for again.
    let expired = api().on_watch([added("a@1"), closing("2")]).on_list_error(status(410, "Expired"));
    let mut events = expired.clone().events().verify_with(expired.clone(), ConfigMap::clone);
    until(&mut events, "end 2").await;
    let error = events.next().await.unwrap().unwrap_err();
    assert!(error.is_expired() && !error.is_inconsistent() && error.recovery() == Recovery::Skip, "{error:?}");
    assert!(error.to_string().contains("to verify"), "{error}");
    assert_eq!(expired.calls().len(), 2);

    // A server that never answers is given up in the end.
    let down = api().on_watch([added("a@1"), closing("2")]);
    let mut events = down.clone().events().verify_with(down.clone(), ConfigMap::clone);
    until(&mut events, "end 2").await;
    let start = tokio::time::Instant::now();
    assert_eq!(events.next().await.unwrap().word(), "Skip 503");
    assert_eq!(down.calls().len(), 1 + 30);
    assert!(start.elapsed() >= S * 29 && start.elapsed() < S * 30, "{:?}", start.elapsed());

    // Nor is a list that does not come waited for longer than five minutes.
    let slow = api().on_watch([added("a@1"), closing("2")]).on_list("2", cms("a@1")).list_delayed(S * 400);
    let mut events = slow.clone().events().verify_with(slow.clone(), ConfigMap::clone);
    until(&mut events, "end 2").await;
    let start = tokio::time::Instant::now();
    assert_eq!(events.next().await.unwrap().word(), "Skip");
    assert_eq!(start.elapsed(), S * 300);

    // Neither a snapshot without a version nor a voided one.
    let lists = api();
    let events = [crate::play::snapshot("a@1", ""), crate::play::snapshot("a@1", "0")].concat();
    let items = events.into_iter().map(Ok).chain([
        Ok(Event::SnapshotStart),
        Err(status(503, "")),
        Ok(Event::SnapshotEnd("7".into())),
    ]);
    let verified = futures::stream::iter(items).verify_with(lists.clone(), ConfigMap::clone);
    assert_eq!(verified.collect::<Vec<_>>().await.len(), 9);
    assert!(lists.calls().is_empty());
}

#[tokio::test(start_paused = true)]
async fn d06_what_does_not_decode_on_either_side_is_left_out() {
    let unreadable = |came_as, name: &str| {
        let object = Unreadable::new(came_as, "ns", name).with_identity(format!("uid-{name}"), "1");
        Error::unreadable(object, DecodeError::new("bad"))
    };
    let in_watch = unreadable(UnreadableAs::Added, "bad");
    let steps = [Ok(added("a@1")), Err(in_watch), Ok(added("odd@1")), Ok(closing("2"))].map(Step::Item);
    let listed = [
        Ok(ListPart::Item(cm("a@1").into())),
        Ok(ListPart::Item(cm("bad@1").into())),
        Err(unreadable(UnreadableAs::Listed, "odd")),
        Ok(ListPart::Meta(ListMeta::new("2"))),
    ];
    let api = api().on_watch_steps(steps).on_list_steps(listed.map(Step::Item));
    let mut events = api.clone().events().verify_with(api.clone(), ConfigMap::clone);
    let told = during(&mut events, S * 2).await;
    assert_eq!(told, ["start", "listed a@1", "Skip", "listed odd@1", "end 2", "watching 2"]);
    assert_eq!(api.lines()[1], r#"L "2" Exact"#);
}

#[tokio::test(start_paused = true)]
async fn d07_wrappers_say_of_the_watch_list_what_the_source_says() {
    for supported in [true, false] {
        let source = if supported { api() } else { api().without_watch_list() };
        assert_eq!(source.clone().erase().supports_watch_list(), supported);
        assert_eq!(std::sync::Arc::new(source.clone()).supports_watch_list(), supported);
        assert_eq!(std::sync::Arc::new(source.erase()).erase().supports_watch_list(), supported);
    }
}
