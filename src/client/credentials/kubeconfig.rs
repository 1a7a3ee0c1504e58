use super::{AnySource, Credential, CredentialSource, TokenFile, exec::Exec};
use crate::{BoxError, Error, client::kubeconfig::Loaded};
use futures::{TryFutureExt, future::BoxFuture};
use http::HeaderValue;
use kube_client::client::{Body, ConfigExt, middleware::AuthLayer};
use std::time::Duration;
use tower::{Layer, ServiceExt};

/// What a configuration says about credentials; `None` where it says nothing but perhaps a client certificate.
pub(in crate::client) fn of_config(loaded: &Loaded) -> Result<Option<Box<dyn AnySource>>, Error> {
    let config = &loaded.config;
    let user = &config.auth_info;
    let provider = user.auth_provider.is_some();
    let basic = user.username.is_some() && user.password.is_some();
    if !provider && !basic {
        if let Some(path) = &user.token_file {
            return Ok(Some(Box::new(TokenFile::new(path))));
        }
        if user.token.is_none() {
            return Ok(user.exec.clone().map(|exec| Box::new(Exec(exec)) as _));
        }
    }
    // The error's own text may show what an auth provider's command printed.
    let layer = config.auth_layer().map_err(|_| {
        let field = if provider { "auth-provider" } else { "username and password, or token," };
        loaded.error(&format!("{field} of its user cannot be used"))
    })?;
    Ok(layer.map(|layer| Box::new(Kube { layer, renews: provider }) as _))
}

/// kube-client's own: tokens and passwords as they stand, OIDC and other providers that renew theirs by themselves.
struct Kube {
    layer: AuthLayer,
    renews: bool,
}

impl Kube {
    /// The header that the layer puts on a request.
    fn header(&self) -> BoxFuture<'static, Result<Option<HeaderValue>, BoxError>> {
        let only_header = tower::service_fn(async |request: http::Request<Body>| {
            let header = request.headers().get(http::header::AUTHORIZATION).cloned();
            Ok::<_, BoxError>(http::Response::new(header))
        });
        let answer = self.layer.layer(only_header).oneshot(http::Request::new(Body::empty()));
        Box::pin(answer.map_ok(http::Response::into_body))
    }
}

impl CredentialSource for Kube {
    async fn fetch(&self) -> Result<Credential, BoxError> {
        // The error's own text may show what a command printed.
        let header = self.header().await.map_err(|_| "the auth provider of the kubeconfig failed")?;
        let header = header.ok_or("the auth provider of the kubeconfig gave nothing")?;
        let credential = Credential::authorization(header.to_str().map_err(|_| "the credential is no text")?);
        // Its own cache knows when to renew.
        Ok(if self.renews { credential.valid_for(Duration::ZERO) } else { credential })
    }
}
