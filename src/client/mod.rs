//! The API server over HTTP.
//!
//! `Collection` is what can be listed and watched, or the one object that is waited for, `Client` how the server is reached and who asks. Below them
//! `Transport` is the seam to whatever carries requests, and [`ListDecoder`] and [`WatchDecoder`] turn bodies into
//! objects, for sources of one's own. `Mirrors` are many resources at once. With the feature `kube-client`, `kube::Api<K>` can be listed and watched as well.
#![cfg_attr(
    all(fuzzing, not(feature = "client")),
    allow(dead_code, unused_imports, reason = "the fuzz targets build the decoders alone")
)]

mod answer;
mod chain;
mod decode;
mod headers;
mod request;
mod response;
mod retry_after;

#[cfg(feature = "client")]
mod access;
#[cfg(feature = "client")]
mod builder;
#[cfg(feature = "client")]
mod collection;
#[cfg(feature = "client")]
mod credentials;
#[cfg(feature = "client")]
mod discovery;
#[cfg(feature = "client")]
mod http;
#[cfg(feature = "kube-client")]
mod kube;
#[cfg(feature = "client")]
mod kubeconfig;
#[cfg(feature = "client")]
mod list_rate;
#[cfg(feature = "client")]
mod mirrors;
#[cfg(feature = "client")]
mod object;
#[cfg(feature = "client")]
mod proxy;
#[cfg(feature = "client")]
mod settings;
#[cfg(feature = "client")]
mod sharded;
#[cfg(feature = "client")]
mod tls;
#[cfg(feature = "client")]
mod transport;

pub use self::decode::{ListDecoder, WatchDecoder};
pub use self::headers::Headers;
pub use self::request::{Request, RequestKind};
pub use self::response::Response;

#[cfg(feature = "client")]
pub use self::{
    access::Client,
    builder::ClientBuilder,
    collection::Collection,
    credentials::{Credential, CredentialSource, TokenFile},
    discovery::Discovered,
    list_rate::ListRate,
    mirrors::{MirrorState, MirrorStates, Mirrors, MirrorsBuilder, NotAllReady},
    object::ObjectStates,
    transport::Transport,
};
