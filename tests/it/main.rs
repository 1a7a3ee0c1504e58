//! One binary, one module per concern: linking is what tests cost.

mod api_server;
mod backoff;
mod objects;
mod on_error;
mod policy;
mod reflect;
mod resync;
mod script;
mod source;
mod tee;
mod until;
mod validate;
