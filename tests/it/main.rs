//! Tests of the library, one module per concern.

mod api_server;
