//! One binary, one module per concern: linking is what tests cost.

mod api_server;
mod objects;
mod source;
