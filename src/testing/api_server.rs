//! An API server in this process.

mod answer;
mod body;
mod builder;
mod built_in;
mod discovery;
mod encode;
mod fault;
mod field_selector;
#[cfg(feature = "client")]
mod fork;
mod handle;
mod history;
mod label_selector;
mod list;
mod listener;
mod options;
mod refusal;
mod request;
mod resource;
mod route;
mod rule;
mod serve;
mod settings;
mod shared;
mod socket;
mod state;
mod token;
#[cfg(feature = "client")]
mod transport;
mod watch;
mod write;

pub use self::{
    builder::ApiServerBuilder,
    fault::{At, Ending, Fault},
    handle::ApiServer,
    refusal::Refusal,
    request::{Connection, Request},
    resource::Resource,
    rule::{Match, Times},
};

#[cfg(feature = "client")]
pub(in crate::testing) use self::fork::WriteVerb;
