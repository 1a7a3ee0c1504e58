use super::{
    credentials::Identity,
    kubeconfig::{Loaded, said},
};
use crate::Error;
use k8s_openapi::ByteString;
use kube_client::{Config, client::ConfigExt};
use reqwest::{
    Url,
    dns::{Addrs, Name, Resolve, Resolving},
};
use rustls::{ClientConfig, RootCertStore, crypto::ring::default_provider};
use std::{net::ToSocketAddrs, sync::Arc};

/// kube-client's TLS settings of a configuration, with the protocols that are offered.
pub(super) fn client_config(
    base: &Url,
    loaded: &Loaded,
    identity: Option<&Identity>,
    http2: bool,
) -> Result<ClientConfig, Error> {
    let mut tls = if base.scheme() == "https" { of_config(loaded, identity)? } else { unused()? };
    tls.alpn_protocols = if http2 { vec![b"h2".to_vec(), b"http/1.1".to_vec()] } else { vec![b"http/1.1".to_vec()] };
    Ok(tls)
}

fn of_config(loaded: &Loaded, identity: Option<&Identity>) -> Result<ClientConfig, Error> {
    // kube-client's builder takes the process's provider, and panics where there is none.
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        let _ = default_provider().install_default(); // lost a race: then there is one
    }
    let mut config = loaded.config.clone();
    let user = &mut config.auth_info;
    user.exec = None; // it would be run once more
    if let Some(Identity { certificate, key }) = identity {
        (user.client_certificate, user.client_key) = (None, None);
        user.client_certificate_data = Some(base64(certificate)?);
        user.client_key_data = Some(base64(key)?.into());
    }
    config.rustls_client_config().map_err(|error| match error {
        kube_client::Error::InferKubeconfig(error) => loaded.error(&said(&error)),
        // Errors of PEM and keys may quote them.
        _ => loaded.error("the certificate authority, or the client's certificate and key, cannot be used"),
    })
}

fn base64(text: &str) -> Result<String, Error> {
    let encoded = serde_json::to_value(ByteString(text.as_bytes().to_vec())).ok();
    encoded.and_then(|value| value.as_str().map(str::to_owned)).ok_or_else(|| Error::config("a certificate"))
}

/// reqwest wants a configuration even where it is not used.
fn unused() -> Result<ClientConfig, Error> {
    let builder =
        ClientConfig::builder_with_provider(Arc::new(default_provider())).with_safe_default_protocol_versions();
    let builder = builder.map_err(|_| Error::config("TLS"))?;
    Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth())
}

/// Resolves any name to the server's address: how `tls-server-name` is both what the TLS handshake asks for and what
/// the certificate is checked against.
pub(super) struct Elsewhere(Arc<str>);

impl Elsewhere {
    pub(super) fn of(config: &Config) -> Self {
        let host = config.cluster_url.host().unwrap_or_default();
        Elsewhere(host.trim_start_matches('[').trim_end_matches(']').into())
    }
}

impl Resolve for Elsewhere {
    fn resolve(&self, _: Name) -> Resolving {
        let host = Arc::clone(&self.0);
        Box::pin(async move {
            let found = tokio::task::spawn_blocking(move || (&*host, 0).to_socket_addrs()).await??;
            Ok(Box::new(found) as Addrs)
        })
    }
}
