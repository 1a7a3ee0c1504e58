//! Which server is asked for what.

use crate::{cli::Args, failure::Failure};
use kube::core::{ApiResource, DynamicObject};
use listwatch::client::{Client, Collection};

/// What is mirrored.
#[derive(Debug)]
pub struct Target {
    pub collection: Collection<DynamicObject>,
    pub resource: ApiResource,
    /// Whether objects of several namespaces may come.
    pub across_namespaces: bool,
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
        let attempt = format!("looking for the resource {:?}", args.resource);
        let Ok(found) = found else {
            return Err(Failure::Said(format!("{attempt}: no answer from the server in {:?}", args.timeout)));
        };
        let found = found.map_err(|error| Failure::of(attempt, &error))?;

        let namespace = match &args.namespace {
            _ if args.all_namespaces || !found.is_namespaced() => "",
            Some(namespace) => namespace,
            None if url.is_some() => "",
            None => client.default_namespace(),
        }
        .to_owned();
        let mut collection = Collection::namespaced_with(client, &namespace, found.resource());
        if let Some(labels) = &args.selector {
            collection = collection.labels(labels);
        }
        if let Some(fields) = &args.field_selector {
            collection = collection.fields(fields);
        }
        let across_namespaces = found.is_namespaced() && namespace.is_empty();
        Ok(Target { collection, resource: found.resource().clone(), across_namespaces })
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
