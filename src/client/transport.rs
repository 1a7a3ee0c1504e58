use super::{Request, Response, credentials::Identity};
use crate::Error;
use futures::future::BoxFuture;
use std::future::Future;

/// What carries requests: the seam below [`Collection`](super::Collection). [`Client::new`](super::Client::new) and
/// its like come with one over reqwest; [`Client::with_transport`](super::Client::with_transport) takes any other.
///
/// # Contract
///
/// * One request is one GET. The future resolves once status and headers are there, whatever the status is; redirects
///   are not followed, nothing is retried.
/// * No answer at all is [`Error::unreachable`]; a body that breaks off yields [`Error::interrupted`] and ends.
/// * The body yields chunks as they arrive, reads nothing ahead, and ends its request when dropped.
/// * A list may ask for compression, if the transport undoes it; a watch never may.
///
/// An `async` closure of a request is a transport:
///
/// ```
/// use listwatch::{Error, client::{Client, Request, Response}};
///
/// let client = Client::with_transport(async |request: Request| {
///     assert_eq!(request.path(), "/api/v1/pods");
///     Ok::<_, Error>(Response::json(200, r#"{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[]}"#))
/// });
/// # drop(client);
/// ```
pub trait Transport: Send + Sync + 'static {
    /// Sends one request.
    fn send(&self, request: Request) -> impl Future<Output = Result<Response, Error>> + Send;
}

impl<F, Fut> Transport for F
where
    F: Fn(Request) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Response, Error>> + Send,
{
    fn send(&self, request: Request) -> impl Future<Output = Result<Response, Error>> + Send {
        self(request)
    }
}

/// The object-safe mirror of `Transport`, with the client certificate that only the crate's own can show.
pub(super) trait AnyTransport: Send + Sync {
    fn send(&self, request: Request, identity: Option<Identity>) -> BoxFuture<'_, Result<Response, Error>>;

    /// The server has refused who asks: whether there is another certificate to show.
    fn has_changed(&self) -> bool {
        false
    }
}

impl<T: Transport> AnyTransport for T {
    fn send(&self, request: Request, _: Option<Identity>) -> BoxFuture<'_, Result<Response, Error>> {
        Box::pin(Transport::send(self, request))
    }
}
