//! Which server is asked for what.

use crate::{cli::Args, demo, failure::Failure};
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
    /// Finds the resource that the command line names, at the server of this URL, else at the cluster.
    ///
    /// # Errors
    ///
    /// No configuration, no answer in time, no such resource.
    pub async fn find(args: &Args, url: Option<String>) -> Result<Self, Failure> {
        let client = match &url {
            Some(url) => Client::new(url),
            None => connect(args).await,
        };
        let client = client.map_err(|error| Failure::of("connecting", &error))?;
        let found = tokio::time::timeout(args.timeout, client.discover(&args.resource)).await;
        let late = |_| Failure::Said(format!("the server gave no answer in {:?}", args.timeout));
        let found = found.map_err(late)?;
        let found = found.map_err(|error| Failure::of(format_args!("looking for {:?}", args.resource), &error))?;
        if !found.can_list() || !found.can_watch() {
            return Err(Failure::Said(format!("the server does not list and watch {}", found.full_name())));
        }
        let (resource, namespaced) = (found.resource, found.namespaced);

        let namespace = match &args.namespace {
            _ if args.all_namespaces || !namespaced => "",
            Some(namespace) => namespace,
            None if url.is_some() => "",
            None => client.default_namespace(),
        }
        .to_owned();
        let mut collection = Collection::namespaced_with(client, &namespace, &resource);
        if let Some(labels) = &args.selector {
            collection = collection.labels(labels);
        }
        if let Some(fields) = &args.field_selector {
            collection = collection.fields(fields);
        }
        let page_size = args.page_size.or(url.map(|_| demo::PAGE));
        Ok(Target { collection, resource, across_namespaces: namespaced && namespace.is_empty(), page_size })
    }
}

async fn connect(args: &Args) -> Result<Client, listwatch::Error> {
    let context = args.context.as_deref();
    match &args.kubeconfig {
        Some(path) => Client::from_kubeconfig(path, context).await,
        None => match context {
            Some(context) => Client::builder().context(context).infer().await,
            None => Client::infer().await,
        },
    }
}
