use super::{Client, ListDecoder, Request, Response, WatchDecoder, request::segment};
use crate::{
    Error, Object,
    source::{ListBody, ListParams, ListWatch, WatchBody, WatchParams},
};
use kube_core::{ApiResource, Resource};
use std::{fmt, marker::PhantomData, sync::Arc};

/// All objects of one resource, or those of a namespace, that match the selectors: what is listed and watched over
/// HTTP. Not called `Api`, as users import `kube::Api` beside it.
///
/// ```
/// use futures::StreamExt;
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use listwatch::{Error, Event, client::{Client, Collection, Request, Response}, source::ListWatch};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let client = Client::with_transport(async |request: Request| {
///     assert_eq!(request.path(), "/api/v1/namespaces/shop/configmaps");
///     assert_eq!(request.query("labelSelector"), Some("app=cart"));
///     Ok::<_, Error>(Response::json(200, r#"{"kind":"ConfigMapList","metadata":{"resourceVersion":"7"},"items":[]}"#))
/// });
/// let events = Collection::<ConfigMap>::namespaced(client, "shop").labels("app=cart").list();
/// let events: Vec<_> = events.map(Result::unwrap).collect().await;
/// assert!(matches!(&events[..], [Event::SnapshotStart, Event::SnapshotEnd(version)] if version.as_str() == "7"));
/// # });
/// ```
#[doc(alias("Api", "ListerWatcher"))]
pub struct Collection<K> {
    client: Client,
    resource: ApiResource,
    namespace: String,
    labels: String,
    fields: String,
    metadata_only: bool,
    modify: Option<Modify>,
    _object: PhantomData<fn() -> K>,
}

type Modify = Arc<dyn Fn(&mut Request) + Send + Sync>;

impl<K: Object + Resource<DynamicType = ()>> Collection<K> {
    /// All objects of the cluster.
    pub fn all(client: Client) -> Self {
        Self::at(client, ApiResource::erase::<K>(&()), "").with_metadata_api(K::metadata_api())
    }

    /// All objects of a namespace; `""` is all of the cluster.
    pub fn namespaced(client: Client, namespace: &str) -> Self {
        Self::all(client).in_namespace(namespace)
    }

    /// The one object of this name in the client's [default namespace](Client::default_namespace); for one without a
    /// namespace, [`all`](Collection::all) with [`name`](Collection::name).
    pub fn named(client: Client, name: &str) -> Self {
        let namespace = client.default_namespace().to_owned();
        Self::namespaced(client, &namespace).name(name)
    }
}

impl<K: Object> Collection<K> {
    /// All objects of a resource that is known only at run time, or whose type does not say which it is. Each request
    /// for a subresource, such as `pods/status`, is [`Error::is_no_resource`].
    pub fn all_with(client: Client, resource: &ApiResource) -> Self {
        Self::at(client, resource.clone(), "")
    }

    /// All objects of such a resource in a namespace; `""` is all of the cluster.
    pub fn namespaced_with(client: Client, namespace: &str, resource: &ApiResource) -> Self {
        Self::at(client, resource.clone(), namespace)
    }

    fn at(client: Client, resource: ApiResource, namespace: &str) -> Self {
        Collection {
            client,
            resource,
            namespace: namespace.to_owned(),
            labels: String::new(),
            fields: String::new(),
            metadata_only: false,
            modify: None,
            _object: PhantomData,
        }
    }

    fn with_metadata_api(mut self, metadata_only: bool) -> Self {
        self.metadata_only = metadata_only;
        self
    }

    fn in_namespace(mut self, namespace: &str) -> Self {
        namespace.clone_into(&mut self.namespace);
        self
    }

    /// Only objects whose labels match, as kubectl's `-l`: `app in (a, b), !old`. Several hold together.
    #[must_use]
    pub fn labels(mut self, selector: &str) -> Self {
        join(&mut self.labels, selector);
        self
    }

    /// Only objects whose fields match, such as `spec.nodeName=n1`. Several hold together.
    #[must_use]
    pub fn fields(mut self, selector: &str) -> Self {
        join(&mut self.fields, selector);
        self
    }

    /// Only the object of this name.
    #[must_use]
    pub fn name(self, name: &str) -> Self {
        self.fields(&format!("metadata.name={name}"))
    }

    /// Asks the server for metadata alone, where the type would take more: for `DynamicObject`, slim types and
    /// [`Raw`](crate::Raw). `PartialObjectMeta` does so by itself.
    #[must_use]
    pub fn metadata_only(mut self) -> Self {
        self.metadata_only = true;
        self
    }

    /// The same objects as another type, such as a slim one that holds fewer fields.
    #[must_use]
    pub fn decode_as<L: Object>(self) -> Collection<L> {
        let Collection { client, resource, namespace, labels, fields, metadata_only, modify, _object } = self;
        Collection { client, resource, namespace, labels, fields, metadata_only, modify, _object: PhantomData }
    }

    /// Changes each request before it is sent. Several hold, in their order.
    #[must_use]
    pub fn modify(mut self, change: impl Fn(&mut Request) + Send + Sync + 'static) -> Self {
        self.modify = Some(match self.modify.take() {
            Some(before) => Arc::new(move |request| {
                before(request);
                change(request);
            }),
            None => Arc::new(change),
        });
        self
    }

    /// The resource that is asked for.
    pub fn api_resource(&self) -> &ApiResource {
        &self.resource
    }

    fn path(&self) -> String {
        let ApiResource { group, version, plural, .. } = &self.resource;
        let mut path = if group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", segment(group)) };
        path = format!("{path}/{}", segment(version));
        if !self.namespace.is_empty() {
            path = format!("{path}/namespaces/{}", segment(&self.namespace));
        }
        format!("{path}/{}", segment(plural))
    }

    /// The request with what holds for all of this collection's.
    fn complete(&self, mut request: Request) -> Request {
        if self.metadata_only {
            request = request.metadata_only();
        }
        request.set_query("labelSelector", &*self.labels);
        request.set_query("fieldSelector", &*self.fields);
        if let Some(modify) = &self.modify {
            modify(&mut request);
        }
        request
    }

    async fn send(&self, verb: &str, request: Request) -> Result<Response, Error> {
        if self.resource.plural.contains('/') {
            return Err(subresource(&self.resource.plural));
        }
        self.client.send(self.complete(request)).await.map_err(|error| {
            let ApiResource { plural, group, .. } = &self.resource;
            let dot = if group.is_empty() { "" } else { "." };
            let (of, namespace) = if self.namespace.is_empty() { ("", "") } else { (" in ", &*self.namespace) };
            error.with_request(format!("{verb} {plural}{dot}{group}{of}{namespace}"))
        })
    }
}

/// The server would answer with one object, or a 404 that does not say why.
pub(super) fn subresource(name: &str) -> Error {
    Error::no_resource(format!("{name:?} is a subresource, which can be neither listed nor watched"))
}

fn join(selectors: &mut String, selector: &str) {
    if !selectors.is_empty() && !selector.is_empty() {
        selectors.push(',');
    }
    selectors.push_str(selector);
}

impl<K: Object> ListWatch for Collection<K> {
    type Object = K;

    async fn list_page(&self, params: ListParams) -> Result<ListBody<K>, Error> {
        let mut decoder = ListDecoder::new().max_item_size(params.max_event_size);
        if !self.metadata_only {
            decoder = decoder.kind_of_items(&self.resource.api_version, &self.resource.kind);
        }
        Ok(decoder.decode(self.send("list", Request::list(self.path(), params)).await?.into_body()))
    }

    async fn open_watch(&self, params: WatchParams) -> Result<WatchBody<K>, Error> {
        let decoder = WatchDecoder::new().max_event_size(params.max_event_size);
        Ok(decoder.decode(self.send("watch", Request::watch(self.path(), params)).await?.into_body()))
    }

    fn resource(&self) -> &str {
        &self.resource.plural
    }

    fn namespace(&self) -> &str {
        &self.namespace
    }
}

impl<K> Clone for Collection<K> {
    fn clone(&self) -> Self {
        Collection {
            client: self.client.clone(),
            resource: self.resource.clone(),
            namespace: self.namespace.clone(),
            labels: self.labels.clone(),
            fields: self.fields.clone(),
            metadata_only: self.metadata_only,
            modify: self.modify.clone(),
            _object: PhantomData,
        }
    }
}

impl<K> fmt::Debug for Collection<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collection")
            .field("resource", &self.resource.plural)
            .field("namespace", &self.namespace)
            .field("labels", &self.labels)
            .field("fields", &self.fields)
            .field("metadata_only", &self.metadata_only)
            .finish_non_exhaustive()
    }
}
