//! What tests of lists, watches and pipelines are made of: an API server in this process, with faults on demand.

mod api_server;

pub use self::api_server::{
    ApiServer, ApiServerBuilder, At, Connection, Ending, Fault, Match, Request, Resource, Status, Times,
};
