//! One binary, one module per concern: linking is what tests cost.

mod api_server;
mod backoff;
#[cfg(feature = "client")]
mod mirror;
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
