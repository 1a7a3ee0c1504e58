//! The API server over HTTP.
//!
//! [`Collection`] is what can be listed and watched, [`Client`] how the server is reached and who asks. Below them
//! [`Transport`] is the seam to whatever carries requests, and [`ListDecoder`] and [`WatchDecoder`] turn bodies into
//! objects, for sources of one's own.
#![cfg_attr(not(feature = "client"), allow(rustdoc::broken_intra_doc_links))]

mod decode;

#[cfg(feature = "client")]
mod answer;
#[cfg(feature = "client")]
mod builder;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod collection;
#[cfg(feature = "client")]
mod credentials;
#[cfg(feature = "client")]
mod headers;
#[cfg(feature = "client")]
mod http;
#[cfg(feature = "client")]
mod kubeconfig;
#[cfg(feature = "client")]
mod request;
#[cfg(feature = "client")]
mod response;
#[cfg(feature = "client")]
mod retry_after;
#[cfg(feature = "client")]
mod settings;
#[cfg(feature = "client")]
mod tls;
#[cfg(feature = "client")]
mod transport;

pub use self::decode::{ListDecoder, WatchDecoder};

#[cfg(feature = "client")]
pub use self::{
    builder::ClientBuilder,
    client::Client,
    collection::Collection,
    credentials::{Credential, CredentialSource, TokenFile},
    headers::Headers,
    request::{Request, RequestKind},
    response::Response,
    transport::Transport,
};
