use super::{
    Discovered,
    documents::{Resources, Root, Tree},
    resolve::resolve,
};
use crate::{
    Error,
    client::{Client, Request, RequestKind, collection::subresource},
};
use futures::{StreamExt, TryStreamExt, stream};
use serde::de::DeserializeOwned;
use std::collections::HashSet;

/// The whole tree in one document, where the server can.
const TREE: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
/// A discovery document of more bytes is an error.
const MAX: usize = 64 << 20;
/// So many group versions are asked at a time.
const AT_A_TIME: usize = 8;

impl Client {
    /// The resource that a word means, as kubectl takes it: plural, singular, short name or kind, with `.group` or
    /// `.version.group` behind it where there are several. The server's order of preference decides between those.
    ///
    /// # Errors
    ///
    /// [`Error::is_no_resource`] where there is none, naming where it was looked for and some that are close, and for a
    /// subresource; else as [`send`](Client::send).
    ///
    /// ```
    /// use listwatch::{Error, client::{Client, Request, Response}};
    ///
    /// # futures::executor::block_on(async {
    /// let client = Client::with_transport(async |request: Request| {
    ///     Ok::<_, Error>(Response::json(200, match request.path() {
    ///         "/api" => r#"{"kind":"APIVersions","versions":["v1"]}"#,
    ///         "/apis" => r#"{"kind":"APIGroupList","groups":[]}"#,
    ///         _ => r#"{"resources":[{"name":"pods","singularName":"pod","shortNames":["po"],
    ///                  "kind":"Pod","namespaced":true,"verbs":["list","watch"]}]}"#,
    ///     }))
    /// });
    /// let found = client.discover("po").await?;
    /// assert_eq!((&*found.resource.plural, found.namespaced, found.can_watch()), ("pods", true, true));
    /// assert!(client.discover("pdos").await.unwrap_err().to_string().contains("pods"));
    /// # Ok::<_, Error>(()) }).unwrap();
    /// ```
    pub async fn discover(&self, word: &str) -> Result<Discovered, Error> {
        if word.contains('/') {
            return Err(subresource(word));
        }
        let tree = self.tree().await?;
        resolve(&tree.resources, word).map_err(|close| Error::no_resource(self.not_found(word, &tree, &close)))
    }

    /// All resources of the server, in its order of preference: groups, then versions. Of an aggregated API that does
    /// not answer there are none.
    ///
    /// # Errors
    ///
    /// As [`send`](Client::send).
    pub async fn resources(&self) -> Result<Vec<Discovered>, Error> {
        Ok(self.tree().await?.resources)
    }

    async fn tree(&self) -> Result<Tree, Error> {
        let (mut core, groups) = futures::try_join!(self.under("/api"), self.under("/apis"))?;
        core.resources.extend(groups.resources);
        core.unknown.extend(groups.unknown);
        Ok(core)
    }

    async fn under(&self, root: &str) -> Result<Tree, Error> {
        let group_versions = match self.document::<Root>(root).await?.resources() {
            Ok(tree) => return Ok(tree),
            Err(group_versions) => group_versions,
        };
        let asked = group_versions.into_iter().map(|group_version| async move {
            match self.document::<Resources>(&format!("{root}/{group_version}")).await {
                Ok(resources) => Ok(resources.of(&group_version)),
                Err(error) => {
                    tracing::warn!(group_version, %error, "its resources are not known");
                    Err(group_version)
                }
            }
        });
        let mut tree = Tree::default();
        let mut answers = stream::iter(asked).buffered(AT_A_TIME);
        while let Some(answer) = answers.next().await {
            match answer {
                Ok(resources) => tree.resources.extend(resources),
                Err(group_version) => tree.unknown.push(group_version),
            }
        }
        Ok(tree)
    }

    /// What was looked for, where, and what is close to it.
    fn not_found(&self, word: &str, tree: &Tree, close: &[String]) -> String {
        let groups: HashSet<_> = tree.resources.iter().map(|found| &found.resource.group).collect();
        let mut text = format!("the server has no resource {word:?} (looked in {} groups", groups.len());
        match self.server() {
            "" => text.push(')'),
            server => text += &format!(" of {server})"),
        }
        if !tree.unknown.is_empty() {
            text += &format!("; these did not answer: {}", tree.unknown.join(", "));
        }
        if !close.is_empty() {
            text += &format!("; close to it: {}", close.join(", "));
        }
        text
    }

    async fn document<T: DeserializeOwned>(&self, path: &str) -> Result<T, Error> {
        let mut request = Request::new(RequestKind::List, path);
        request.headers_mut().set("Accept", TREE);
        let read = async {
            let mut body = Vec::new();
            let mut chunks = self.send(request).await?.into_body();
            while let Some(chunk) = chunks.try_next().await? {
                if body.len() + chunk.len() > MAX {
                    return Err(Error::garbage("it is too large"));
                }
                body.extend_from_slice(&chunk);
            }
            serde_json::from_slice(&body).map_err(|_| Error::garbage("it is no discovery document"))
        };
        read.await.map_err(|error: Error| error.with_request(format!("get {path}")))
    }
}
