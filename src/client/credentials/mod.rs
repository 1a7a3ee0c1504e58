//! Who a client says that it is, and where it has that from.

mod cache;
mod credential;
mod exec;
mod kubeconfig;
mod token_file;

pub use self::credential::Credential;
pub use self::token_file::TokenFile;

pub(super) use self::cache::Cache;
pub(super) use self::credential::Identity;
pub(super) use self::kubeconfig::of_config;

use crate::BoxError;
use futures::future::BoxFuture;
use std::future::Future;

/// Where credentials come from.
///
/// # Contract
///
/// * Asked before the first request, and again once the time of a credential is over
///   ([`valid_for`](Credential::valid_for)) or the server has refused it with 401. In between the client keeps it, for
///   all who share the client; they share one call, too.
/// * After a 401 a credential that differs from the refused one is tried once, at once.
/// * A failure leaves the last credential in use as long as the server takes it.
/// * An error's text goes into logs: it must hold no secret.
///
/// [`TokenFile`] is one; so is an `async` closure:
///
/// ```
/// use listwatch::{BoxError, client::{Client, Credential}};
/// use std::time::Duration;
///
/// let builder = Client::builder().credentials(async || {
///     let token = "whatever the vault says"; // ask it here
///     Ok::<_, BoxError>(Credential::bearer(token).valid_for(Duration::from_secs(600)))
/// });
/// assert!(builder.url("https://cluster.example").is_ok());
/// ```
pub trait CredentialSource: Send + Sync + 'static {
    /// A credential, as fresh as there is.
    fn fetch(&self) -> impl Future<Output = Result<Credential, BoxError>> + Send;
}

impl<F, Fut, E> CredentialSource for F
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Credential, E>> + Send,
    E: Into<BoxError>,
{
    async fn fetch(&self) -> Result<Credential, BoxError> {
        self().await.map_err(Into::into)
    }
}

/// The object-safe mirror of `CredentialSource`.
pub(super) trait AnySource: Send + Sync {
    fn fetch(&self) -> BoxFuture<'_, Result<Credential, BoxError>>;
}

impl<S: CredentialSource> AnySource for S {
    fn fetch(&self) -> BoxFuture<'_, Result<Credential, BoxError>> {
        Box::pin(CredentialSource::fetch(self))
    }
}
