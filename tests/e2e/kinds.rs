//! Resources of every kind: found by any of their names, as dynamic objects, as metadata alone, and without a watch.

use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, PartialObjectMeta};
use listwatch::client::{Client, Collection};
use listwatch::source::{ListWatch, Strategy};
use listwatch::{Event, EventStreamExt, Recovery};

use crate::follower::Follower;
use crate::server::Server;
use crate::writer::{self, Writer};

async fn client(server: &Server) -> Client {
    Client::from_kubeconfig(server.kubeconfig(), Some("token")).await.expect("a client")
}

#[tokio::test]
async fn a_resource_is_found_by_any_of_its_names() {
    let server = Server::shared().await;
    let client = client(&server).await;
    for (words, full_name, namespaced) in [
        ("configmaps configmap ConfigMap CM configmaps.v1 cm.v1.", "configmaps", true),
        ("nodes no Node", "nodes", false),
        ("deployments deploy deploy.apps deployments.v1.apps Deployment.apps", "deployments.apps", true),
        ("crd crds CustomResourceDefinition", "customresourcedefinitions.apiextensions.k8s.io", false),
        ("apiservices.apiregistration.k8s.io", "apiservices.apiregistration.k8s.io", false),
        ("events ev", "events", true),
        ("events.events.k8s.io", "events.events.k8s.io", true),
    ] {
        for word in words.split_whitespace() {
            let found = client.discover(word).await.expect(word);
            assert_eq!((&*found.full_name(), found.namespaced), (full_name, namespaced), "{word}");
            assert!(found.can_list() && found.can_watch(), "{word}: {found:?}");
            let all = Collection::<DynamicObject>::all_with(client.clone(), &found.resource);
            all.list_page(Default::default()).await.expect(word);
        }
    }
    let all = client.resources().await.expect("all resources");
    let groups: std::collections::BTreeSet<_> = all.iter().map(|found| &*found.resource.group).collect();
    assert!(
        all.len() > 50 && ["", "apps", "batch", "rbac.authorization.k8s.io"].iter().all(|group| groups.contains(group))
    );

    let error = client.discover("widgets").await.expect_err("there are none");
    let place =
        format!(r#"the server has no resource "widgets" (looked in {} groups of {}"#, groups.len(), server.url());
    assert!(error.is_no_resource() && error.to_string().starts_with(&place), "{error}");
    let error = client.discover("configmpas").await.expect_err("a slip");
    assert!(error.to_string().ends_with("; close to it: configmaps"), "{error}");
}

#[tokio::test]
async fn subresources_are_refused_clearly() {
    let server = Server::shared().await;
    let client = client(&server).await;
    let said = r#""pods/status" is a subresource, which can be neither listed nor watched"#;
    let error = client.discover("pods/status").await.expect_err("a subresource");
    assert!(error.is_no_resource() && error.to_string() == said, "{error}");
    let mut resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "Pod"));
    resource.plural = "pods/status".to_owned();
    let mut events = Collection::<DynamicObject>::all_with(client, &resource).events();
    let error = events.next().await.expect("no end").expect_err("a subresource");
    assert!(error.is_no_resource() && error.to_string().ends_with(said), "{error}");
}

#[tokio::test]
async fn dynamic_objects_are_checked_for_their_kind() {
    let server = Server::shared().await;
    let kube = server.kube("token").await;
    Writer::new(&kube, "dynamic", "it").await.create(0..5).await;
    let found = client(&server).await.discover("cm").await.expect("ConfigMaps");
    let source = Collection::<DynamicObject>::namespaced_with(client(&server).await, "dynamic", &found.resource);
    for strategy in [Strategy::WatchListFirst, Strategy::List] {
        let events = || source.clone().events().strategy(strategy).take_while(ends_not).collect::<Vec<_>>();
        let told = events().await;
        assert_eq!(told.iter().filter(|item| matches!(item, Ok(Event::Listed(_)))).count(), 5);
        let right = source.clone().events().strategy(strategy).expect_kind("v1", "ConfigMap");
        let told = right.take_while(ends_not).collect::<Vec<_>>().await;
        assert_eq!(told.iter().filter(|item| matches!(item, Ok(Event::Listed(_)))).count(), 5, "{told:?}");
        let wrong = source.clone().events().strategy(strategy).expect_kind("v1", "Secret");
        let told = wrong.take_while(ends_not).collect::<Vec<_>>().await;
        let skipped = |item: &&Result<_, listwatch::Error>| {
            item.as_ref().is_err_and(|error| error.is_wrong_kind() && error.recovery() == Recovery::Skip)
        };
        assert_eq!(told.iter().filter(skipped).count(), 5, "{told:?}");
    }
}

/// The whole of a snapshot.
fn ends_not<K>(item: &Result<Event<K>, listwatch::Error>) -> std::future::Ready<bool> {
    std::future::ready(!matches!(item, Ok(Event::SnapshotEnd(_))))
}

#[tokio::test]
async fn metadata_alone() {
    const PATH: &str = "/api/v1/namespaces/metadata/configmaps";
    let server = Server::shared().await;
    let kube = server.kube("token").await;
    let writer = Writer::new(&kube, "metadata", "it").await;
    writer.create(0..50).await;
    let found = client(&server).await.discover("cm").await.expect("ConfigMaps");
    let typed = Collection::<PartialObjectMeta<ConfigMap>>::namespaced(client(&server).await, "metadata");
    let dynamic = Collection::<DynamicObject>::namespaced_with(client(&server).await, "metadata", &found.resource);
    let dynamic = dynamic.metadata_only();
    let typed = [Strategy::WatchListFirst, Strategy::ListConsistent]
        .map(|strategy| Follower::start(typed.clone(), |events| events.strategy(strategy).page_size(20)));
    let dynamic = [Strategy::WatchListFirst, Strategy::ListConsistent]
        .map(|strategy| Follower::start(dynamic.clone(), |events| events.strategy(strategy).page_size(20)));
    let equal = async || {
        let wanted = writer::list(&kube, PATH).await;
        for follower in &typed {
            follower.equals(&wanted).await;
            assert!(follower.account().errors.is_empty(), "{:?}", follower.account().errors);
        }
        for follower in &dynamic {
            follower.equals(&wanted).await;
            assert!(follower.account().errors.is_empty(), "{:?}", follower.account().errors);
            for object in follower.store.snapshot().iter() {
                assert_eq!(object.types.as_ref().expect("a kind").kind, "PartialObjectMetadata");
                assert!(object.data.get("data").is_none() && object.metadata.labels.is_some(), "{object:?}");
            }
        }
    };
    equal().await;
    writer.update(0..10, 1).await;
    writer.delete(40..50).await;
    writer.create(50..55).await;
    equal().await;
}

/// The server lists component statuses, but can neither watch them nor give their list a version.
#[tokio::test]
async fn what_cannot_be_watched_is_polled() {
    let server = Server::shared().await;
    let client = client(&server).await;
    let found = client.discover("cs").await.expect("component statuses");
    assert!(found.can_list() && !found.can_watch(), "{found:?}");
    let source = Collection::<DynamicObject>::all_with(client, &found.resource);
    let error = source.open_watch(Default::default()).await.expect_err("no watch");
    assert!(error.is_unwatchable(), "{error:?}");

    let mut polled = source.poll_every(Duration::from_millis(200));
    let mut names = Vec::new();
    for _ in 0..3 {
        let mut snapshot = Vec::new();
        loop {
            match polled.next().await.expect("no end").expect("no error") {
                Event::Listed(object) => snapshot.push(object.metadata.name.clone().expect("a name")),
                Event::SnapshotEnd(version) => break assert!(version.is_unset()),
                event => assert!(matches!(event, Event::SnapshotStart), "{event:?}"),
            }
        }
        snapshot.sort(); // the server asks its components all at once
        names.push(snapshot);
    }
    assert!(names[0].iter().any(|name| name.starts_with("etcd")), "{names:?}");
    assert!(names.iter().all(|snapshot| snapshot == &names[0]));
}
