//! From a case's setup to the library: the client with its credentials, the collection, the source's settings.

use super::{
    format::{Case, Initial},
    ground::Ground,
    kinds::Resource,
    mirror::Mirror,
    record::Record,
};
use futures::StreamExt;
use k8s_openapi::api::{
    apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet},
    batch::v1::Job,
    coordination::v1::Lease,
    core::v1::{ConfigMap, Namespace, Node, PersistentVolumeClaim, Pod, Secret, Service, ServiceAccount},
    discovery::v1::EndpointSlice,
};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind, PartialObjectMeta};
use listwatch::{
    BoxError, EventStreamExt, Object,
    client::{Client, Collection, Credential},
    source::{Events, ListWatch, Strategy},
};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

/// Starts the mirror of a case.
pub async fn mirror(case: &Case, ground: &Ground, record: &Arc<Record>) -> Result<Mirror, String> {
    let resource = Resource::of(case)?;
    let client = client(case, ground, &resource).await.map_err(|error| format!("the client: {error}"))?;
    let namespace = resource.namespace.clone().unwrap_or_default();
    // Types that the runner knows; anything else is an object of any kind.
    macro_rules! typed {
        ($($kind:ident),*) => {
            match &*resource.kind {
                $(stringify!($kind) if !case.setup.client.dynamic && is::<$kind>(&resource) => {
                    if case.setup.client.metadata_only {
                        let collection = Collection::<PartialObjectMeta<$kind>>::namespaced(client, &namespace);
                        let events = events(collection, case);
                        return Mirror::start(events.0.boxed(), events.1, case, record);
                    }
                    let events = events(Collection::<$kind>::namespaced(client, &namespace), case);
                    return Mirror::start(events.0.boxed(), events.1, case, record);
                })*
                _ => {}
            }
        };
    }
    typed!(
        ConfigMap,
        DaemonSet,
        Deployment,
        EndpointSlice,
        Job,
        Lease,
        Namespace,
        Node,
        PersistentVolumeClaim,
        Pod,
        ReplicaSet,
        Secret,
        Service,
        ServiceAccount,
        StatefulSet
    );
    let kind = GroupVersionKind::gvk(&resource.group, &resource.version, &resource.kind);
    let api = ApiResource::from_gvk_with_plural(&kind, &resource.plural);
    let mut collection = Collection::<DynamicObject>::namespaced_with(client, &namespace, &api);
    if case.setup.client.metadata_only {
        collection = collection.metadata_only();
    }
    let (events, relist) = events(collection, case);
    let events = events.expect_kind(&resource.api_version(), &resource.kind);
    Mirror::start(events.boxed(), relist, case, record)
}

/// Whether the case's path is the one of this type.
fn is<K: k8s_openapi::Resource>(resource: &Resource) -> bool {
    K::API_VERSION == resource.api_version() && K::URL_PATH_SEGMENT == resource.plural
}

fn events<K: Object>(collection: Collection<K>, case: &Case) -> (Events<K>, listwatch::source::RelistHandle) {
    let setup = &case.setup.client;
    let mut collection = collection;
    if let Some(selector) = &setup.label_selector {
        collection = collection.labels(selector);
    }
    if setup.allow_bookmarks == Some(false) {
        collection = collection.modify(|request| request.set_query("allowWatchBookmarks", ""));
    }
    let mut events = collection.events().name(&*case.id).strategy(match setup.initial.unwrap_or_default() {
        Initial::List => Strategy::List,
        Initial::Watchlist => Strategy::WatchListFirst,
    });
    if let Some(items) = setup.page_size {
        events = events.page_size(items);
    }
    if let Some(deadline) = setup.watchlist_deadline_ms {
        events = events.bookmark_deadline(deadline);
    }
    if let Some(timeout) = setup.watch_timeout_ms {
        events = events.watch_timeout(timeout);
    }
    let relist = events.relist_handle();
    (events, relist)
}

async fn client(case: &Case, ground: &Ground, resource: &Resource) -> Result<Client, String> {
    let setup = &case.setup;
    let mut builder = Client::builder();
    if let Some(timeout) = setup.client.connect_timeout_ms {
        builder = builder.connect_timeout(timeout);
    }
    if let Some(values) = &setup.auth.provider {
        let values = Mutex::new(VecDeque::from(values.clone()));
        builder = builder.credentials(move || {
            let token = next(&mut values.lock().unwrap_or_else(PoisonError::into_inner));
            async move { token.map(Credential::bearer).ok_or_else(|| BoxError::from("the source has no credential")) }
        });
    }
    if ground.has_kubeconfig() || setup.env.0.iter().any(|(name, _)| name == "KUBECONFIG") {
        return builder.infer().await.map_err(|error| error.to_string());
    }
    let kubeconfig = ground.kubeconfig(setup.tls, &resource.prefix).map_err(|e| e.to_string())?;
    builder.from_kubeconfig(kubeconfig, None).await.map_err(|error| error.to_string())
}

/// The next value, or the last one again.
fn next(values: &mut VecDeque<Option<String>>) -> Option<String> {
    if values.len() > 1 { values.pop_front().flatten() } else { values.front().cloned().flatten() }
}
