//! A custom resource that changes while it is watched: another version, another schema, gone and back.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use listwatch::client::{Client, Collection};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::follower::Follower;
use crate::server::Server;
use crate::writer::{self, Writer};

const NAME: &str = "widgets.definitions.listwatch.dev";

/// Both versions with these sizes' types; each is served or not, one is stored.
fn definition(versions: &[(&str, bool, bool, &str)]) -> Value {
    let version = |(name, served, stored, size): &(&str, bool, bool, &str)| {
        let spec = json!({ "type": "object", "properties": { "size": { "type": size } } });
        json!({
            "name": name, "served": served, "storage": stored,
            "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": spec } } },
        })
    };
    let versions: Vec<_> = versions.iter().map(version).collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": NAME },
        "spec": {
            "group": "definitions.listwatch.dev", "scope": "Namespaced", "versions": versions,
            "names": { "plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wg"] },
            "conversion": { "strategy": "None" },
        },
    })
}

struct Ground {
    kube: kube::Client,
    client: Client,
    definitions: Api<CustomResourceDefinition>,
}

impl Ground {
    async fn new(server: &Server, namespace: &str) -> Self {
        let kube = server.kube("token").await;
        Writer::new(&kube, namespace, "it").await;
        let client = Client::from_kubeconfig(server.kubeconfig(), Some("token")).await.expect("a client");
        Ground { definitions: Api::all(kube.clone()), kube, client }
    }

    async fn define(&self, definition: Value) {
        let body = serde_json::from_value(definition).expect("a definition");
        self.definitions.create(&PostParams::default(), &body).await.expect("define the resource");
    }

    async fn redefine(&self, definition: &Value) {
        let patch = Patch::Merge(json!({ "spec": { "versions": definition["spec"]["versions"] } }));
        self.definitions.patch(NAME, &PatchParams::default(), &patch).await.expect("change the definition");
    }

    /// Until the server answers so for a version.
    async fn served(&self, version: &str, wanted: bool) {
        for _ in 0..400 {
            let request = http::Request::get(path(version)).body(Vec::new()).expect("a valid path");
            if self.kube.request_text(request).await.is_ok() == wanted {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{version} is served: not {wanted}");
    }

    fn widgets(&self, version: &str) -> Api<DynamicObject> {
        Api::namespaced_with(self.kube.clone(), "definitions", &resource(version))
    }

    async fn create(&self, version: &str, name: &str, size: Value) {
        let mut widget = DynamicObject::new(name, &resource(version));
        widget.data = json!({ "spec": { "size": size } });
        // Right after a change of its definition a resource may not be served for a moment, or by its old schema.
        for _ in 0..100 {
            match self.widgets(version).create(&PostParams::default(), &widget).await {
                Ok(_) => return,
                Err(kube::Error::Api(status)) if matches!(status.code, 404 | 422 | 429 | 500..) => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                Err(error) => panic!("create {name}: {error}"),
            }
        }
        panic!("{name} cannot be created");
    }

    /// The version of a resource, once discovery knows it.
    async fn discovered(&self, word: &str) -> String {
        for _ in 0..200 {
            match self.client.discover(word).await {
                Ok(found) => return found.resource.version,
                Err(error) => assert!(error.is_no_resource(), "{error}"),
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{word} is not discovered");
    }

    fn follow(&self, version: &str) -> Follower<DynamicObject> {
        Follower::start(Collection::all_with(self.client.clone(), &resource(version)), |events| events)
    }

    async fn equals(&self, followers: &[(&str, &Follower<DynamicObject>)]) {
        for (version, follower) in followers {
            follower.equals(&writer::list(&self.kube, &path(version)).await).await;
            for object in follower.store.snapshot().iter() {
                let types = object.types.as_ref().expect("a kind");
                assert_eq!(types.api_version, format!("definitions.listwatch.dev/{version}"));
            }
        }
    }
}

fn resource(version: &str) -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("definitions.listwatch.dev", version, "Widget"), "widgets")
}

fn path(version: &str) -> String {
    format!("/apis/definitions.listwatch.dev/{version}/widgets")
}

#[derive(Clone, Debug, Deserialize)]
struct Slim {
    metadata: Metadata,
    spec: Spec,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    namespace: String,
    name: String,
    uid: String,
    resource_version: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Spec {
    size: u32,
}

impl listwatch::Object for Slim {
    fn identity(&self) -> listwatch::Identity<'_> {
        let Metadata { namespace, name, uid, resource_version } = &self.metadata;
        listwatch::Identity { namespace, name, uid, resource_version }
    }

    fn decode(bytes: &[u8]) -> Result<Self, listwatch::DecodeError> {
        Ok(serde_json::from_slice(bytes)?)
    }
}

#[tokio::test]
async fn versions_and_schemas_change_and_the_definition_goes_and_comes_back() {
    let server = Server::start(&[]).await;
    let ground = Ground::new(&server, "definitions").await;
    ground.define(definition(&[("v1", true, true, "integer")])).await;
    ground.served("v1", true).await;
    for n in 0..10 {
        ground.create("v1", &format!("old-{n}"), json!(n)).await;
    }
    assert_eq!(ground.discovered("wg").await, "v1");
    let first = ground.follow("v1");
    let typed = Follower::start(
        Collection::<DynamicObject>::all_with(ground.client.clone(), &resource("v1")).decode_as::<Slim>(),
        |events| events,
    );
    ground.equals(&[("v1", &first)]).await;

    // Another version, which is the stored one from now on.
    ground.redefine(&definition(&[("v1", true, false, "integer"), ("v2", true, true, "integer")])).await;
    ground.served("v2", true).await;
    let second = ground.follow("v2");
    ground.create("v2", "new", json!(7)).await;
    ground.widgets("v1").delete("old-9", &DeleteParams::default()).await.expect("delete a widget");
    ground.equals(&[("v1", &first), ("v2", &second)]).await;
    assert_eq!(typed.store.get(("definitions", "old-3")).expect("it is mirrored").spec.size, 3);

    // Another schema: a typed mirror keeps the last state that it can read, and says which object it cannot.
    ground.redefine(&definition(&[("v1", true, false, "string"), ("v2", true, true, "string")])).await;
    ground.create("v1", "worded", json!("large")).await;
    let patch = Patch::Merge(json!({ "spec": { "size": "larger" } }));
    ground.widgets("v2").patch("old-3", &PatchParams::default(), &patch).await.expect("update a widget");
    ground.equals(&[("v1", &first), ("v2", &second)]).await;
    typed
        .until("told of both", |account| account.errors.iter().filter(|error| error.is_unreadable()).count() >= 2)
        .await;
    assert_eq!(typed.store.get(("definitions", "old-3")).expect("it is kept").spec.size, 3);
    assert_eq!(typed.store.unreadable().len(), 2);

    // The first version is served no more: its mirror is stale and keeps what it had; the other goes on.
    let held = first.store.len();
    ground.redefine(&definition(&[("v1", false, false, "string"), ("v2", true, true, "string")])).await;
    first.until("told 404", |account| account.errors.iter().any(|error| error.is_not_found())).await;
    ground.create("v2", "newest", json!("small")).await;
    ground.equals(&[("v2", &second)]).await;
    assert_eq!(first.store.len(), held);

    // And served again.
    ground.redefine(&definition(&[("v1", true, false, "string"), ("v2", true, true, "string")])).await;
    ground.served("v1", true).await;
    ground.equals(&[("v1", &first), ("v2", &second)]).await;

    // Removed: the objects are held until the server says what became of them (`absent_is_empty` takes its word at once).
    // Back: what comes then is mirrored, and nothing else.
    ground.definitions.delete(NAME, &DeleteParams::default()).await.expect("remove the definition");
    for follower in [&first, &second] {
        follower.until("told 404", |account| account.errors.last().is_some_and(|error| error.is_not_found())).await;
    }
    ground.define(definition(&[("v1", true, false, "integer"), ("v2", true, true, "integer")])).await;
    ground.served("v2", true).await;
    ground.create("v2", "back", json!(1)).await;
    ground.equals(&[("v1", &first), ("v2", &second)]).await;
    typed.until("back", |account| account.objects.len() == 1).await;
    assert_eq!(typed.store.get(("definitions", "back")).expect("it is mirrored").spec.size, 1);
}
