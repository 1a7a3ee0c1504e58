//! One binary, one module per concern: linking is what tests cost.

mod api_server;
#[cfg(feature = "client")]
mod client_answers;
#[cfg(feature = "client")]
mod client_http;
#[cfg(feature = "client")]
mod client_requests;
#[cfg(any(feature = "client", feature = "kube-client"))]
mod decode_bodies;
mod objects;
mod source;
