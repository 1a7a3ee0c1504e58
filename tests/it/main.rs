//! One binary, one module per concern: linking is what tests cost.

mod api_server;
mod auto_traits;
mod backoff;
#[cfg(feature = "client")]
mod bounds;
#[cfg(feature = "client")]
mod certificates;
#[cfg(feature = "client")]
mod child;
#[cfg(feature = "client")]
mod client_answers;
#[cfg(feature = "client")]
mod client_config;
#[cfg(feature = "client")]
mod client_discovery;
#[cfg(feature = "client")]
mod client_exec;
#[cfg(feature = "client")]
mod client_http;
#[cfg(feature = "client")]
mod client_http2;
#[cfg(feature = "kube-client")]
mod client_kube;
#[cfg(feature = "client")]
mod client_leak;
#[cfg(feature = "client")]
mod client_mirrors;
#[cfg(feature = "client")]
mod client_object;
#[cfg(feature = "client")]
mod client_oidc;
#[cfg(feature = "client")]
mod client_proxy;
#[cfg(feature = "client")]
mod client_rate;
#[cfg(feature = "client")]
mod client_requests;
#[cfg(feature = "client")]
mod client_reuse;
#[cfg(feature = "client")]
mod client_server;
#[cfg(feature = "client")]
mod client_shard;
#[cfg(feature = "client")]
mod client_tls;
#[cfg(any(feature = "client", feature = "kube-client"))]
mod decode_bodies;
mod filter_objects;
#[cfg(feature = "client")]
mod folder;
#[cfg(feature = "kube-runtime")]
mod into_kube;
mod laws;
mod map_objects;
#[cfg(feature = "metrics")]
mod metrics;
#[cfg(feature = "client")]
mod mirror;
#[cfg(feature = "client")]
mod mirror_modules;
mod objects;
mod on_error;
mod only_changed_by;
mod package;
#[cfg(feature = "client")]
mod perturb;
mod policy;
mod reflect;
mod reflector;
mod resync;
mod script;
mod send_to;
mod source;
mod store;
mod tee;
mod texts;
#[cfg(feature = "client")]
mod tls_front;
mod until;
mod validate;
