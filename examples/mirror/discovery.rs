//! Which resource a word means: the documents by which an API server tells what it serves.

use super::failure::Failure;
use futures::{StreamExt, stream};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroupList, APIResource, APIResourceList};
use kube::core::{ApiResource, GroupVersionKind};
use listwatch::{
    Error,
    client::{Client, Request, RequestKind},
};
use serde::de::DeserializeOwned;

/// A resource that the server can list and watch.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub resource: ApiResource,
    pub namespaced: bool,
}

/// How many documents are asked for at once.
const AT_ONCE: usize = 16;

/// Finds a resource by its plural, singular, kind or short name, all of them also with the group after a dot.
///
/// Earlier groups come first, as kubectl has it: the core group, then the server's order, preferred versions first.
///
/// # Errors
///
/// The server gives no answer, serves no such resource, or cannot list and watch it.
pub async fn find(client: &Client, word: &str) -> Result<Found, Failure> {
    let attempt = format!("looking for the resource {word:?}");
    let failed = |error| Failure::of(&attempt, &error);
    let groups: APIGroupList = get(client, "/apis").await.map_err(failed)?;
    let mut versions = vec![("/api/v1".to_owned(), String::new())];
    for group in groups.groups {
        let preferred = group.preferred_version.map(|version| version.group_version).unwrap_or_default();
        let (first, others): (Vec<_>, Vec<_>) =
            group.versions.into_iter().map(|version| version.group_version).partition(|version| *version == preferred);
        versions
            .extend(first.into_iter().chain(others).map(|version| (format!("/apis/{version}"), group.name.clone())));
    }
    let documents =
        versions.into_iter().map(async |(path, group)| (get::<APIResourceList>(client, &path).await, group));
    let mut documents = stream::iter(documents).buffered(AT_ONCE);
    let mut unusable = None;
    // A group whose server is down hides its own resources only.
    let mut hidden = None;
    while let Some((document, group)) = documents.next().await {
        let document = match document {
            Ok(document) => document,
            Err(error) if group.is_empty() => return Err(failed(error)),
            Err(error) => {
                hidden.get_or_insert(error);
                continue;
            }
        };
        let meant = document.resources.iter().filter(|resource| goes_by(resource, &group, word));
        for resource in meant.filter(|resource| !resource.name.contains('/')) {
            match found(resource, &group, &document.group_version) {
                Some(found) => return Ok(found),
                None => unusable = Some(resource.name.clone()),
            }
        }
    }
    Err(Failure::Said(match (unusable, hidden) {
        (Some(name), _) => format!("the server does not list and watch {name}"),
        (None, Some(error)) => return Err(failed(error)),
        (None, None) => format!("the server has no resource {word:?}"),
    }))
}

fn goes_by(resource: &APIResource, group: &str, word: &str) -> bool {
    let word = match word.split_once('.') {
        // `deployments.apps` and `deployments.v1.apps` alike.
        Some((word, rest)) if rest == group || rest.split_once('.').is_some_and(|(_, rest)| rest == group) => word,
        Some(_) => return false,
        None => word,
    };
    let short = resource.short_names.iter().flatten();
    let mut names = [&resource.name, &resource.singular_name, &resource.kind].into_iter().chain(short);
    !word.is_empty() && names.any(|name| name.eq_ignore_ascii_case(word))
}

fn found(resource: &APIResource, group: &str, group_version: &str) -> Option<Found> {
    let can = |verb: &str| resource.verbs.iter().any(|known| known == verb);
    let version = group_version.rsplit('/').next()?;
    let kind = GroupVersionKind::gvk(group, version, &resource.kind);
    (can("list") && can("watch")).then(|| Found {
        resource: ApiResource::from_gvk_with_plural(&kind, &resource.name),
        namespaced: resource.namespaced,
    })
}

async fn get<T: DeserializeOwned>(client: &Client, path: &str) -> Result<T, Error> {
    let mut body = client.send(Request::new(RequestKind::List, path)).await?.into_body();
    let mut bytes = Vec::new();
    while let Some(chunk) = body.next().await {
        bytes.extend_from_slice(&chunk?);
    }
    serde_json::from_slice(&bytes).map_err(|error| Error::garbage(format!("{path}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use listwatch::testing::{ApiServer, Fault, Match, Resource, Times};

    async fn ask(server: &ApiServer, word: &str) -> Result<(String, bool), String> {
        let client = Client::new(&server.url()).expect("a URL");
        match find(&client, word).await {
            Ok(found) => Ok((format!("{}/{}", found.resource.api_version, found.resource.plural), found.namespaced)),
            Err(failure) => Err(format!("{failure:?}")),
        }
    }

    #[tokio::test]
    async fn every_name_of_a_resource() {
        let server = ApiServer::builder().register(Resource::custom("widgets.example.com").short_name("wd"));
        let server = server.start().await.expect("a server");
        for word in ["pods", "pod", "po", "Pod"] {
            assert_eq!(ask(&server, word).await, Ok(("v1/pods".to_owned(), true)), "{word}");
        }
        for word in ["deployments", "deploy", "Deployment", "deployments.apps", "deployments.v1.apps"] {
            assert_eq!(ask(&server, word).await, Ok(("apps/v1/deployments".to_owned(), true)), "{word}");
        }
        for word in ["widgets", "wd", "widget.example.com"] {
            assert_eq!(ask(&server, word).await, Ok(("example.com/v1/widgets".to_owned(), true)), "{word}");
        }
        assert_eq!(ask(&server, "no").await, Ok(("v1/nodes".to_owned(), false)));
    }

    #[tokio::test]
    async fn what_is_not_there_or_cannot_be_watched() {
        let server = ApiServer::start().await;
        for word in ["podz", "pods.apps", "", ".", "pods/log"] {
            assert_eq!(
                ask(&server, word).await,
                Err(format!("Said({:?})", format!("the server has no resource {word:?}")))
            );
        }
        assert_eq!(
            ask(&server, "bindings").await,
            Err("Said(\"the server does not list and watch bindings\")".to_owned())
        );
    }

    #[tokio::test]
    async fn a_group_that_is_down_hides_itself_only() {
        let server = ApiServer::start().await;
        let apps = Match::any().with(|request| request.path() == "/apis/apps/v1");
        server.rule(apps, Fault::status(503), Times::Always);
        assert!(ask(&server, "jobs").await.is_ok());
        assert!(ask(&server, "deploy").await.is_err_and(|said| said.contains("503")));
    }
}
