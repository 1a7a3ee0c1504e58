use super::{
    ClientBuilder, Headers, Request, Response, Transport,
    answer::judged,
    credentials::{Cache, Credential},
    list_rate::Limiter,
    transport::AnyTransport,
};
use crate::Error;
use std::{fmt, path::Path, sync::Arc};

/// Access to an API server. Cheap to clone; clones share connections and credentials.
///
/// # Defaults
///
/// Settings have names on [`ClientBuilder`], with their defaults. There is no total timeout: watches last.
///
/// # Security
///
/// Credentials go over plain HTTP to loopback addresses only, unless
/// [allowed](ClientBuilder::credentials_over_plain_http). Redirects are not followed. Nothing secret is shown by
/// `Debug`, errors or traces.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

pub(super) struct Inner {
    pub(super) transport: Box<dyn AnyTransport>,
    pub(super) credentials: Option<Cache>,
    /// Sent with each request.
    pub(super) headers: Headers,
    pub(super) default_namespace: String,
    pub(super) server: String,
    pub(super) lists: Option<Limiter>,
}

impl Client {
    /// As kubectl does it: the files of `KUBECONFIG` (those that exist; the first to name something wins), else
    /// `~/.kube/config`, else the service account of the pod.
    ///
    /// # Errors
    ///
    /// [`Error::is_config`]: there is none, or it cannot be used; the error says file, context and field.
    pub async fn infer() -> Result<Self, Error> {
        Self::builder().infer().await
    }

    /// By a kubeconfig file and one of its contexts; `None` is its current one.
    ///
    /// # Errors
    ///
    /// [`Error::is_config`]: it cannot be read or used; the error says file, context and field.
    pub async fn from_kubeconfig(path: impl AsRef<Path>, context: Option<&str>) -> Result<Self, Error> {
        Self::builder().from_kubeconfig(path, context).await
    }

    /// By the server's address, without credentials.
    ///
    /// # Errors
    ///
    /// [`Error::is_config`]: it is no http or https URL.
    ///
    /// ```
    /// use listwatch::client::Client;
    ///
    /// assert!(Client::new("http://127.0.0.1:8001").is_ok());
    /// assert!(Client::new("127.0.0.1:8001").unwrap_err().is_config());
    /// ```
    pub fn new(url: &str) -> Result<Self, Error> {
        Self::builder().url(url)
    }

    /// By whatever carries requests, without credentials of our own.
    pub fn with_transport(transport: impl Transport) -> Self {
        Self::builder().transport(transport)
    }

    /// Settings first.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    pub(super) fn from_inner(inner: Inner) -> Self {
        Client(Arc::new(inner))
    }

    /// The namespace of the context, of the pod, or `default`.
    pub fn default_namespace(&self) -> &str {
        &self.0.default_namespace
    }

    /// The server's URL; `""` with a transport of one's own.
    pub(super) fn server(&self) -> &str {
        &self.0.server
    }

    /// Sends one request with the client's credentials and resolves to an answer that is JSON with status 200.
    ///
    /// A 401 makes the client ask its source of credentials again, and look whether the files of its certificate were
    /// replaced; a credential that differs is tried once, at once.
    ///
    /// # Errors
    ///
    /// Any other answer is [`Error::from_status`] or [`Error::garbage`], none is [`Error::unreachable`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the request.
    pub async fn send(&self, mut request: Request) -> Result<Response, Error> {
        for (name, value) in self.0.headers.iter() {
            request.headers_mut().add(name, value);
        }
        let cache = self.0.credentials.as_ref();
        let credential = match cache {
            Some(cache) => cache.current().await?,
            None => Credential::none(),
        };
        let answer = self.show(&request, &credential).await?;
        if answer.status() != 401 {
            return judged(answer).await;
        }
        let other = match cache {
            Some(cache) => cache.other_than(&credential).await?,
            None => None,
        };
        if !self.0.transport.has_changed() && other.is_none() {
            return judged(answer).await;
        }
        tracing::debug!("the credential was refused; another one is tried");
        judged(self.show(&request, &other.unwrap_or(credential)).await?).await
    }

    /// Waits until a list may be asked for: see [`ClientBuilder::list_rate`].
    pub(super) async fn list_turn(&self) {
        if let Some(lists) = &self.0.lists {
            lists.turn().await;
        }
    }

    async fn show(&self, request: &Request, credential: &Credential) -> Result<Response, Error> {
        let mut request = request.clone();
        if let Some(value) = credential.header() {
            request.headers_mut().set("Authorization", value);
        }
        self.0.transport.send(request, credential.identity().cloned()).await
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Client");
        out.field("server", &self.0.server).field("default_namespace", &self.0.default_namespace);
        out.field("credentials", &self.0.credentials.is_some()).finish_non_exhaustive()
    }
}
