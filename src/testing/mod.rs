//! The testing room: synthetic streams, scripted sources, an in-process API server, the laws of operators.
//!
//! All time is tokio's, so `start_paused` drives every test that needs no socket.

mod scripted_api;

pub use self::scripted_api::{Call, ScriptedApi, Step};
