//! One binary, one module per concern: linking is what tests cost.

mod api_server;
mod backoff;
#[cfg(feature = "client")]
mod client_answers;
#[cfg(feature = "client")]
mod client_http;
#[cfg(feature = "client")]
mod client_requests;
#[cfg(any(feature = "client", feature = "kube-client"))]
mod decode_bodies;
mod laws;
mod objects;
mod on_error;
mod policy;
mod reflect;
mod reflector;
mod resync;
mod script;
mod source;
mod tee;
mod until;
mod validate;
