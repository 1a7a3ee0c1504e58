use super::{Client, ListDecoder, Request, Response, WatchDecoder, request::segment, sharded::Sharded};
use crate::{
    Error, Object, Store,
    source::{ListBody, ListParams, ListWatch, Shard, WatchBody, WatchParams},
};
use kube_core::{ApiResource, Resource};
use std::{fmt, sync::Arc};

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
    decode_workers: Option<usize>,
    shard: Option<Sharded>,
    reuse: Option<Store<K>>,
    modify: Option<Modify>,
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
            decode_workers: None,
            shard: None,
            reuse: None,
            modify: None,
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
        Collection {
            client: self.client,
            resource: self.resource,
            namespace: self.namespace,
            labels: self.labels,
            fields: self.fields,
            metadata_only: self.metadata_only,
            shard: self.shard,
            reuse: None,
            decode_workers: self.decode_workers,
            modify: self.modify,
        }
    }

    /// How many tasks decode at once where objects come faster than one decodes them: see
    /// [`ListDecoder::decode_workers`]. Default: one per thread of the runtime, at most four; 1 is the task of the stream
    /// and no other.
    #[must_use]
    pub fn decode_workers(mut self, workers: usize) -> Self {
        self.decode_workers = Some(workers);
        self
    }

    /// Only the objects of a shard; the last one holds. The server is asked for it (`shardSelector`, a gate that is off
    /// by default in Kubernetes 1.36), and what it sends of other shards all the same is left out here. So several
    /// processes may share a collection whatever the server can; where it cannot, each still gets all of it sent.
    ///
    /// A list that says it is that of another shard is an error.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// use futures::TryStreamExt;
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use listwatch::{Error, client::{Client, Collection, Request, Response}, source::{ListWatch, Shard}};
    ///
    /// let client = Client::with_transport(async |request: Request| {
    ///     assert!(request.query("shardSelector").is_some_and(|selector| selector.starts_with("shardRange(")));
    ///     Ok::<_, Error>(Response::json(200, r#"{"metadata":{"resourceVersion":"7"},"items":[
    ///         {"metadata":{"name":"a","uid":"1"}}, {"metadata":{"name":"b","uid":"2"}}]}"#))
    /// });
    /// let mut names = Vec::new();
    /// for index in 0..2 {
    ///     let shard = Shard::of(index, 2).unwrap();
    ///     let events: Vec<_> = Collection::<ConfigMap>::all(client.clone()).shard(shard).list().try_collect().await?;
    ///     names.extend(events.iter().filter_map(|event| event.object()?.metadata.name.clone()));
    /// }
    /// names.sort();
    /// assert_eq!(names, ["a", "b"], "each in one of them");
    /// # Ok::<_, Error>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn shard(mut self, shard: Shard) -> Self {
        self.shard = Some(Sharded::new(shard));
        self
    }

    /// Takes objects from this store, which is to be the one that this collection is folded into, where it has them in
    /// the same state by uid and version, instead of decoding them again. So a relist, where most objects are unchanged,
    /// reads little but their metadata. Not for a pipeline that changes objects before they reach the store: it would
    /// change them again.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use futures::TryStreamExt;
    /// use listwatch::{Change, EventStreamExt, Store, source::ListWatch, testing::ApiServer};
    /// use listwatch::client::{Client, Collection};
    /// use k8s_openapi::api::core::v1::ConfigMap;
    ///
    /// let server = ApiServer::start().await;
    /// server.create("configmaps", serde_json::json!({"metadata": {"name": "a"}}));
    /// let store: Store<ConfigMap> = Store::new();
    /// let maps = Collection::all(Client::new(&server.url())?).reuse(&store);
    /// for changes in [2, 1] {
    ///     let told: Vec<_> = maps.clone().list().reflect(&store).try_collect().await?;
    ///     assert_eq!(told.len(), changes, "the object and Synced, then only Synced: {told:?}");
    ///     assert!(matches!(told.last(), Some(Change::Synced { .. })));
    /// }
    /// # Ok::<_, listwatch::Error>(()) }).unwrap();
    /// ```
    #[must_use]
    pub fn reuse(mut self, store: &Store<K>) -> Self {
        self.reuse = Some(store.clone());
        self
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
        let selector = self.shard.as_ref().map(Sharded::selector).unwrap_or_default();
        request.set_query("shardSelector", selector);
        if let Some(modify) = &self.modify {
            modify(&mut request);
        }
        request
    }

    async fn send(&self, verb: &str, request: Request) -> Result<Response, Error> {
        if self.resource.plural.contains('/') {
            return Err(subresource(&self.resource.plural));
        }
        let request = self.complete(request);
        if self.shard.as_ref().is_some_and(|shard| request.query("shardSelector") != Some(shard.selector())) {
            return Err(Error::config("modify() asks for another shard than shard()"));
        }
        self.client.send(request).await.map_err(|error| {
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
        if let Some(workers) = self.decode_workers {
            decoder = decoder.decode_workers(workers);
        }
        if !self.metadata_only {
            decoder = decoder.kind_of_items(&self.resource.api_version, &self.resource.kind);
        }
        let answer = self.send("list", Request::list(self.path(), params)).await?;
        let body = decoder.decode_beside(answer.into_body(), self.reuse.clone());
        Ok(match self.shard.clone() {
            Some(shard) => shard.list(body),
            None => body,
        })
    }

    async fn open_watch(&self, params: WatchParams) -> Result<WatchBody<K>, Error> {
        let mut decoder = WatchDecoder::new().max_event_size(params.max_event_size);
        if let Some(workers) = self.decode_workers {
            decoder = decoder.decode_workers(workers);
        }
        let answer = self.send("watch", Request::watch(self.path(), params)).await?;
        let body = decoder.decode_beside(answer.into_body(), self.reuse.clone());
        Ok(match self.shard.clone() {
            Some(shard) => shard.watch(body),
            None => body,
        })
    }

    async fn before_list(&self) {
        self.client.list_turn().await;
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
            decode_workers: self.decode_workers,
            shard: self.shard.clone(),
            reuse: self.reuse.clone(),
            modify: self.modify.clone(),
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
            .field("shard", &self.shard.as_ref().map(Sharded::selector))
            .finish_non_exhaustive()
    }
}
