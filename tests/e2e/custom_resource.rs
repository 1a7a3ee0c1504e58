//! A custom resource as a derived type, and the same one as a dynamic object.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::{Api, CustomResource, CustomResourceExt};
use listwatch::client::{Client, Collection};
use listwatch::source::Strategy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::follower::Follower;
use crate::server::Server;
use crate::writer::{self, Writer};

const PATH: &str = "/apis/test.listwatch.dev/v1/gadgets";

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "test.listwatch.dev", version = "v1", kind = "Gadget", namespaced)]
struct GadgetSpec {
    size: u32,
}

/// Defines the resource and waits until it is served.
async fn define(kube: &kube::Client) {
    let definitions = Api::<CustomResourceDefinition>::all(kube.clone());
    definitions.create(&PostParams::default(), &Gadget::crd()).await.expect("define the resource");
    for _ in 0..200 {
        let request = http::Request::get(PATH).body(Vec::new()).expect("a valid path");
        if kube.request_text(request).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the custom resource is not served");
}

#[tokio::test]
async fn derived_and_dynamic() {
    let server = Server::shared().await;
    let kube = server.kube("token").await;
    define(&kube).await;
    Writer::new(&kube, "gadgets", "it").await;
    let api = Api::<Gadget>::namespaced(kube.clone(), "gadgets");
    let create = async |number: u32| {
        let gadget = Gadget::new(&format!("gadget-{number}"), GadgetSpec { size: number });
        api.create(&PostParams::default(), &gadget).await.expect("create a gadget");
    };
    for number in 0..30 {
        create(number).await;
    }

    let client = Client::from_kubeconfig(server.kubeconfig(), Some("token")).await.expect("a client");
    let resource = Gadget::api_resource();
    let derived = Follower::start(Collection::<Gadget>::all(client.clone()), |events| events);
    let paged = Follower::start(Collection::<Gadget>::all(client.clone()), |events| {
        events.strategy(Strategy::ListConsistent).page_size(10)
    });
    let dynamic = Collection::<DynamicObject>::all_with(client, &resource);
    let dynamic = Follower::start(dynamic, |events| events.strategy(Strategy::List));
    let wanted = writer::list(&kube, PATH).await;
    assert_eq!(wanted.len(), 30);
    derived.equals(&wanted).await;
    paged.equals(&wanted).await;
    dynamic.equals(&wanted).await;
    assert_eq!(paged.requests.lists().len(), 3, "an empty continue token ends a list: {:?}", paged.requests.lists());

    for number in 30..35 {
        create(number).await;
    }
    let patch = Patch::Merge(json!({ "spec": { "size": 100 } }));
    api.patch("gadget-1", &PatchParams::default(), &patch).await.expect("update a gadget");
    api.delete("gadget-2", &DeleteParams::default()).await.expect("delete a gadget");
    let wanted = writer::list(&kube, PATH).await;
    derived.equals(&wanted).await;
    paged.equals(&wanted).await;
    dynamic.equals(&wanted).await;

    let typed = derived.store.get(("gadgets", "gadget-1")).expect("gadget-1 is mirrored");
    assert_eq!(typed.spec.size, 100);
    for object in dynamic.store.snapshot().iter() {
        let types = object.types.as_ref().expect("a dynamic object knows its kind");
        assert_eq!((&*types.api_version, &*types.kind), ("test.listwatch.dev/v1", "Gadget"));
    }
    let object = dynamic.store.get(("gadgets", "gadget-1")).expect("gadget-1 is mirrored");
    assert_eq!(object.data["spec"]["size"], 100);
    for errors in [&derived.account().errors, &paged.account().errors, &dynamic.account().errors] {
        assert!(errors.is_empty(), "{errors:?}");
    }

    // Without its definition, the objects are deleted and the resource is not found.
    let definitions = Api::<CustomResourceDefinition>::all(kube.clone());
    definitions.delete("gadgets.test.listwatch.dev", &DeleteParams::default()).await.expect("remove the definition");
    derived.until("emptied", |account| account.objects.is_empty()).await;
    derived.until("told 404", |account| account.errors.iter().any(|error| error.is_not_found())).await;
}

/// Items of built-in lists carry no kind of their own.
#[tokio::test]
async fn listed_objects_of_built_in_types_know_their_kind() {
    let server = Server::shared().await;
    let kube = server.kube("token").await;
    Writer::new(&kube, "kinds", "it").await;
    let client = Client::from_kubeconfig(server.kubeconfig(), Some("token")).await.expect("a client");
    let resource = kube::api::ApiResource::erase::<k8s_openapi::api::core::v1::Namespace>(&());
    let namespaces = Collection::<DynamicObject>::all_with(client, &resource).fields("metadata.name=kinds");
    let follower = Follower::start(namespaces, |events| events.strategy(Strategy::List));
    follower.equals(&writer::list(&kube, "/api/v1/namespaces?fieldSelector=metadata.name%3Dkinds").await).await;
    let types = follower.store.get("kinds").expect("the namespace is mirrored").types.clone();
    assert_eq!(types.map(|types| (types.api_version, types.kind)), Some(("v1".into(), "Namespace".into())));
}
