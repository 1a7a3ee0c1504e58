//! The testing room: synthetic streams, scripted sources, an in-process API server, the laws of operators, perturbed
//! runs of whole consumers.
//!
//! All time is tokio's, so `start_paused` drives every test that needs no socket.

mod api_server;
pub mod laws;
#[cfg(feature = "client")]
pub mod perturb;
mod raw;
mod script;
mod scripted_api;

#[cfg(feature = "client")]
use self::api_server::WriteVerb;
pub use self::api_server::{
    ApiServer, ApiServerBuilder, At, Connection, Ending, Fault, Match, Refusal, Request, Resource, Times,
};
pub use self::raw::raw;
pub use self::script::{Script, events, script};
pub use self::scripted_api::{Call, ScriptedApi, Step};
