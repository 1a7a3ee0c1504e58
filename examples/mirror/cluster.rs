//! Which server is asked for what.

use crate::{demo, failure::Failure, scope::Scope};
use kube::core::{ApiResource, DynamicObject};
use listwatch::client::{Client, Collection};

/// What is mirrored.
#[derive(Debug)]
pub struct Target {
    pub collection: Collection<DynamicObject>,
    pub resource: ApiResource,
    /// Whether objects of several namespaces may come.
    pub across_namespaces: bool,
    /// How many objects to list at a time, where that is not left to the library.
    pub page_size: Option<u32>,
}

impl Target {
    /// Finds a resource at the server in this process, else at the cluster.
    ///
    /// # Errors
    ///
    /// No answer in time, no such resource.
    pub async fn find(client: Client, scope: &Scope, name: &str) -> Result<Self, Failure> {
        let found = tokio::time::timeout(scope.timeout, client.discover(name)).await;
        let late = |_| Failure::Said(format!("the server gave no answer in {:?}", scope.timeout));
        let found = found.map_err(late)?;
        let found = found.map_err(|error| Failure::of(format_args!("looking for {name:?}"), &error))?;
        if !found.can_list() || !found.can_watch() {
            return Err(Failure::Said(format!("the server does not list and watch {}", found.full_name())));
        }
        let (resource, namespaced) = (found.resource, found.namespaced);

        let is_demo = !scope.is_cluster();
        let namespace = match &scope.namespace {
            _ if scope.all_namespaces || !namespaced => "",
            Some(namespace) => namespace,
            None if is_demo => "",
            None => client.default_namespace(),
        }
        .to_owned();
        let mut collection = Collection::namespaced_with(client, &namespace, &resource);
        if let Some(labels) = &scope.selector {
            collection = collection.labels(labels);
        }
        if let Some(fields) = &scope.field_selector {
            collection = collection.fields(fields);
        }
        let page_size = scope.page_size.or(is_demo.then_some(demo::PAGE));
        Ok(Target { collection, resource, across_namespaces: namespaced && namespace.is_empty(), page_size })
    }
}

/// Reaches the server of this URL, else the cluster.
///
/// # Errors
///
/// No configuration.
pub async fn connect(scope: &Scope, url: Option<&str>) -> Result<Client, Failure> {
    let context = scope.context.as_deref();
    let client = match (url, &scope.kubeconfig, context) {
        (Some(url), ..) => Client::new(url),
        (None, Some(path), _) => Client::from_kubeconfig(path, context).await,
        (None, None, Some(context)) => Client::builder().context(context).infer().await,
        (None, None, None) => Client::infer().await,
    };
    client.map_err(|error| Failure::of("connecting", &error))
}
