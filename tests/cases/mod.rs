//! The parts of the runner: [`format`] reads a case, [`play`] plays it, [`judge`] says what is wrong.

pub mod format;
pub mod play;

mod clients;
mod errors;
mod exec_plugin;
mod generated;
mod ground;
mod http;
mod judge;
mod kinds;
mod laws;
mod memory;
mod mirror;
mod notes;
mod record;
mod replay;
mod responder;
mod script;
pub mod self_check;
mod server;
mod tls;
mod wanted;
mod wire;

pub use self::exec_plugin::{ARGUMENT as PLUGIN_ARGUMENT, exec_plugin};
